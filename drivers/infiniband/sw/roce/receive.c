// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receives in a ring, of a QP (receive_queue.c) or shared by several QPs (srq.c).
 */
#include "receive.h"
#include "ring.h"
#include "roce.h"
#include "sge.h"

/** roce_receive_size() - bytes of a receive in a ring; @max_sges: its maximum */
size_t roce_receive_size(u32 max_sges)
{
	return sizeof(struct rxe_recv_wqe) + max_sges * sizeof(struct rxe_sge);
}

/**
 * roce_receive_take() - take the next receive from a ring
 * @ring: of receives; the caller is its only consumer
 * @max_sges: maximum of a receive in this ring
 * @receive: filled in; has room for @max_sges
 *
 * Copies the receive once, since a program may change it at any time.
 *
 * Return: false if none was posted.
 */
bool roce_receive_take(struct roce_ring *ring, u32 max_sges,
		       struct roce_receive *receive)
{
	const struct rxe_recv_wqe *shared;
	u64 length = 0;

	if (!roce_ring_ready(ring, 0))
		return false;

	shared = roce_ring_element(ring, 0);
	receive->wr_id = READ_ONCE(shared->wr_id);
	receive->sges = READ_ONCE(shared->dma.num_sge);
	receive->valid = receive->sges <= max_sges;
	if (receive->valid) {
		roce_ring_copy(receive->sge, shared->dma.sge,
			       receive->sges * sizeof(struct ib_sge));
		length = roce_sge_length(receive->sge, receive->sges);
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
 * roce_receive_post() - add receives of a kernel consumer to a ring
 * @ring: of receives; the caller is its only producer
 * @max_sges: maximum of a receive in this ring
 * @wr: list of receives; the memory of each may be the consumer's again when it is posted
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
	const struct ib_recv_wr *next;
	int err = 0;

	for (; wr && !err; wr = next) {
		next = wr->next;
		*bad_wr = wr;
		err = post_receive(ring, max_sges, wr);
	}
	return err;
}
