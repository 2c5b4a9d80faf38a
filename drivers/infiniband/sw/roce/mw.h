/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_MW_H
#define ROCE_MW_H

#include <rdma/ib_verbs.h>

#include "key.h"

struct roce_mr;
struct roce_qp;

/**
 * struct roce_mw - a memory window
 * @ibmw: the core's part
 * @key: the R_Key
 * @lock: serializes bind and invalidate; the lock of @mr nests in it
 * @mr: the region that it is bound to, or NULL. This and the fields below change
 *	under both locks, so a reader needs only one of them.
 * @qpn: for type 2: number of the QP that bound it, the only one that may use it
 * @access: IB_ACCESS_* flags
 * @start: address of the first byte, as packets use it
 * @address: address of the first byte in the region
 * @length: bytes
 */
struct roce_mw {
	struct ib_mw ibmw;
	struct roce_key key;
	spinlock_t lock;		/* see @lock above */
	struct roce_mr *mr;
	u32 qpn;
	int access;
	u64 start;
	u64 address;
	u64 length;
};

static inline struct roce_mw *to_roce_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct roce_mw, ibmw);
}

static inline struct roce_mw *roce_mw_of_key(struct roce_key *key)
{
	return container_of(key, struct roce_mw, key);
}

/**
 * struct roce_binding - a BIND_MW work request
 * @window_key: present R_Key of the window
 * @new_key: its new R_Key
 * @region_key: L_Key of the region
 * @access: IB_ACCESS_* flags
 * @address: of the first byte in the region
 * @length: bytes; 0 unbinds a window of type 1
 */
struct roce_binding {
	u32 window_key;
	u32 new_key;
	u32 region_key;
	int access;
	u64 address;
	u64 length;
};

int roce_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int roce_dealloc_mw(struct ib_mw *ibmw);

int roce_mw_bind(const struct roce_binding *binding, struct roce_qp *qp);
int roce_mw_invalidate(struct roce_mw *mw, u32 key, struct roce_qp *qp);

#endif /* ROCE_MW_H */
