/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_RECEIVE_H
#define ROCE_RECEIVE_H

#include <rdma/ib_verbs.h>

struct roce_cq;
struct roce_packet;
struct roce_qp;
struct roce_ring;
struct roce_sge_walk;

/**
 * struct roce_receive - a receive work request, copied from its ring
 * @wr_id: the consumer's
 * @valid: it may be written to; a program can post anything
 * @length: bytes of all @sge
 * @sges: number of elements of @sge
 * @sge: where the message goes
 */
struct roce_receive {
	u64 wr_id;
	bool valid;
	u32 length;
	u32 sges;
	struct ib_sge sge[];
};

/* receive.c: in a ring */
size_t roce_receive_size(u32 max_sges);
bool roce_receive_take(struct roce_ring *ring, u32 max_sges,
		       struct roce_receive *receive);
int roce_receive_post(struct roce_ring *ring, u32 max_sges,
		      const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);

/* receive_queue.c: of a QP */
bool roce_receive_fetch(struct roce_qp *qp);
bool roce_receive_ensure(struct roce_qp *qp);
struct roce_sge_walk roce_receive_walk(struct roce_qp *qp, u64 offset,
				       u32 length);
int roce_receive_place(struct roce_qp *qp, const struct roce_packet *packet, u64 offset);
void roce_receive_succeed(struct roce_qp *qp, struct ib_wc *wc,
			  const struct roce_packet *packet);
void roce_receive_fail(struct roce_qp *qp, enum ib_wc_status status);
int roce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);

/* receive_flush.c: of a QP in the error state */
bool roce_receive_flush(struct roce_qp *qp);
void roce_receive_remove_idle(struct roce_qp *qp);
void roce_receive_look(struct roce_cq *cq);

#endif /* ROCE_RECEIVE_H */
