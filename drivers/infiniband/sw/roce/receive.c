// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receives in a ring, be it that of a QP (receive_queue.c) or one that several QPs
 * share (srq.c).
 */
#include "receive.h"
#include "ring.h"
#include "roce.h"

/**
 * roce_receive_take() - take the next receive out of a ring
 * @ring: of receives; the caller is its only consumer
 * @max_sges: of a receive in this ring
 * @receive: to be filled in, has room for as many
 *
 * Copies the receive, which a program may change at any time, once.
 *
 * Return: false if none was posted.
 */
bool roce_receive_take(struct roce_ring *ring, u32 max_sges,
		       struct roce_receive *receive)
{
	const struct rxe_recv_wqe *shared;
	u64 length = 0;
	u32 i;

	if (roce_ring_empty(ring))
		return false;

	shared = roce_ring_element(ring, 0);
	receive->wr_id = READ_ONCE(shared->wr_id);
	receive->sges = READ_ONCE(shared->dma.num_sge);
	receive->valid = receive->sges <= max_sges;
	if (receive->valid) {
		roce_ring_copy(receive->sge, shared->dma.sge,
			       receive->sges * sizeof(struct ib_sge));
		for (i = 0; i < receive->sges; i++)
			length += receive->sge[i].length;
	}
	receive->length = min_t(u64, length, ROCE_MAX_MESSAGE);
	roce_ring_advance(ring);
	return true;
}

static int post_receive(struct roce_ring *ring, u32 max_sges,
			const struct ib_recv_wr *wr)
{
	struct rxe_recv_wqe *wqe;

	if (wr->num_sge < 0 || wr->num_sge > max_sges)
		return -EINVAL;
	if (roce_ring_peer_full(ring))
		return -ENOMEM;

	wqe = roce_ring_peer_element(ring);
	wqe->wr_id = wr->wr_id;
	wqe->dma.num_sge = wr->num_sge;
	memcpy(wqe->dma.sge, wr->sg_list, wr->num_sge * sizeof(struct ib_sge));
	roce_ring_peer_advance(ring);
	return 0;
}

/**
 * roce_receive_post() - put receives of a kernel consumer into a ring
 * @ring: of receives; the caller is its only producer
 * @max_sges: of a receive in this ring
 * @wr: list of receives
 * @bad_wr: set to the first one that was refused
 *
 * Any context.
 *
 * Return: 0, -EINVAL with too many sges, -ENOMEM if the queue is full.
 */
int roce_receive_post(struct roce_ring *ring, u32 max_sges,
		      const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	int err = 0;

	for (; wr && !err; wr = wr->next) {
		*bad_wr = wr;
		err = post_receive(ring, max_sges, wr);
	}
	return err;
}
