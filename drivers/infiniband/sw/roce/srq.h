/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SRQ_H
#define ROCE_SRQ_H

#include <rdma/ib_verbs.h>

#include "ring.h"

struct roce_receive;

/**
 * struct roce_srq - shared receive queue
 * @ibsrq: the core's part
 * @modify_lock: serializes exchanges of @ring
 * @lock: guards all fields below
 * @ring: posted receives, which QPs take on any CPU
 * @max_sges: maximum scatter/gather elements of a receive
 * @limit: the consumer is notified, once, when fewer receives than this are left; 0
 *	if the limit is not armed
 */
struct roce_srq {
	struct ib_srq ibsrq;
	struct mutex modify_lock; /* see @modify_lock above */
	spinlock_t lock; /* see @lock above */
	struct roce_ring ring;
	u32 max_sges;
	u32 limit;
};

static inline struct roce_srq *to_roce_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct roce_srq, ibsrq);
}

bool roce_srq_fetch(struct roce_srq *srq, struct roce_receive *receive);

int roce_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		    struct ib_udata *udata);
int roce_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		    enum ib_srq_attr_mask mask, struct ib_udata *udata);
int roce_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int roce_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int roce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

#endif /* ROCE_SRQ_H */
