/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SRQ_H
#define ROCE_SRQ_H

#include <rdma/ib_verbs.h>

#include "ring.h"

struct roce_receive;

/**
 * struct roce_srq - shared receive queue
 * @ibsrq: what the RDMA core knows of it
 * @modify_lock: only its holder exchanges @ring
 * @lock: guards all that follows
 * @ring: of receives, which QPs on any CPU take
 * @max_sges: of a receive
 * @limit: the consumer is told, once, when less receives than this are left; 0
 *	if it need not be
 */
struct roce_srq {
	struct ib_srq ibsrq;
	struct mutex modify_lock; /* of exchanges of the ring */
	spinlock_t lock; /* of the rest */
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
