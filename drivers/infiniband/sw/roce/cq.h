/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_CQ_H
#define ROCE_CQ_H

#include <rdma/ib_verbs.h>

#include "compat.h"
#include "ring.h"

/**
 * struct roce_cq - completion queue
 * @ibcq: the core's part
 * @resize_lock: serializes exchanges of @ring
 * @lock: guards all fields below
 * @ring: of ib_uverbs_wc for a user program, of ib_wc for the kernel
 * @notify: IB_CQ_NEXT_COMP or IB_CQ_SOLICITED while armed, else 0
 * @unannounced: number of unpolled completions without an event
 * @overflowed: a completion was lost; no other one is added
 * @handler: calls the completion handler, without locks of the driver
 * @idle_qps: QPs in the error state whose receive queue is checked when the program
 *	asks for an event, see receive_flush.c
 * @idle_count: number of these QPs
 */
struct roce_cq {
	struct ib_cq ibcq;
	struct mutex resize_lock; /* see @resize_lock above */
	spinlock_t lock; /* see @lock above */
	struct roce_ring ring;
	enum ib_cq_notify_flags notify;
	u32 unannounced;
	bool overflowed;
	struct roce_bh handler;
	struct list_head idle_qps;
	u32 idle_count;
};

static inline struct roce_cq *to_roce_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct roce_cq, ibcq);
}

bool roce_cq_post(struct roce_cq *cq, const struct ib_wc *wc, u32 count,
		  bool solicited);

int roce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct ib_udata *udata);
int roce_resize_cq(struct ib_cq *ibcq, unsigned int entries,
		   struct ib_udata *udata);
int roce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int roce_poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc);
int roce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* ROCE_CQ_H */
