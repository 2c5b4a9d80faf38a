// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The receive queue of a QP: receives go from the consumer to the responder, and their
 * completions back.
 */
#include "counters.h"
#include "cq.h"
#include "engine.h"
#include "packet.h"
#include "payload.h"
#include "pd.h"
#include "qp.h"
#include "receive.h"
#include "sge.h"
#include "srq.h"

/**
 * roce_receive_fetch() - take the next receive for a QP
 * @qp: its responder is owned by the caller and has no receive in use
 *
 * Return: false if none was posted, to the QP or to its shared receive queue.
 */
bool roce_receive_fetch(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_srq *srq = roce_qp_srq(qp);

	if (srq)
		responder->has_receive = roce_srq_fetch(srq, responder->receive);
	else
		responder->has_receive = roce_receive_take(&responder->ring,
							   qp->cap.max_recv_sge,
							   responder->receive);
	return responder->has_receive;
}

/**
 * roce_receive_ensure() - make sure that a receive is in use
 * @qp: its responder is owned by the caller
 *
 * In a section.
 *
 * Return: false if none was posted, to the QP or to its shared receive queue, which
 * is counted.
 */
bool roce_receive_ensure(struct roce_qp *qp)
{
	if (qp->responder.has_receive || roce_receive_fetch(qp))
		return true;
	roce_count(qp, out_of_buffer);
	return false;
}

/* The keys of a receive belong to the protection domain of its queue. */
static struct roce_pd *receive_pd(const struct roce_qp *qp)
{
	return qp->ibqp.srq ? to_roce_pd(qp->ibqp.srq->pd) : roce_qp_pd(qp);
}

/**
 * roce_receive_walk() - make a walk over a part of the receive in use
 * @qp: its responder is owned by the caller and has a receive
 * @offset: bytes from the start of the receive
 * @length: bytes
 */
struct roce_sge_walk roce_receive_walk(struct roce_qp *qp, u64 offset,
				       u32 length)
{
	const struct roce_receive *receive = qp->responder.receive;

	return (struct roce_sge_walk) {
		.pd = receive_pd(qp),
		.sge = receive->sge,
		.sges = receive->sges,
		.offset = offset,
		.left = length,
		.access = IB_ACCESS_LOCAL_WRITE,
		.fault = qp->responder.engine.fault,
	};
}

/**
 * roce_receive_place() - copy the payload of a packet to the receive in use
 * @qp: its responder is owned by the caller and has a receive
 * @packet: fits into the receive
 * @offset: bytes from the start of the receive
 *
 * In a section.
 *
 * Return: 0, or the error of roce_payload_scatter().
 */
int roce_receive_place(struct roce_qp *qp, const struct roce_packet *packet, u64 offset)
{
	struct roce_sge_walk walk = roce_receive_walk(qp, offset, packet->payload);

	walk.latest = &qp->responder.latest_key;
	return roce_payload_scatter(&walk, packet);
}

/* @wc: the completion without wr_id and QP */
static void complete_receive(struct roce_qp *qp, struct ib_wc *wc, bool solicited)
{
	struct roce_responder *responder = &qp->responder;

	wc->wr_id = responder->receive->wr_id;
	wc->qp = &qp->ibqp;
	wc->port_num = 1;
	responder->has_receive = false;

	if (wc->status == IB_WC_SUCCESS)
		roce_count(qp, rdma_recvs);
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		roce_count(qp, resp_cqe_flush_error);
	if (wc->status == IB_WC_LOC_LEN_ERR)
		roce_count(qp, resp_local_length_error);
	if (wc->status != IB_WC_SUCCESS)
		roce_count(qp, resp_cqe_error);
	if (!roce_cq_post(roce_recv_cq(qp), wc, 1, solicited))
		roce_qp_fail(qp, IB_EVENT_QP_FATAL);
}

/**
 * roce_receive_succeed() - complete the receive in use after the last packet
 * @qp: its responder is owned by the caller and has a receive
 * @wc: opcode, length and source of the message; the rest is filled in
 * @packet: the last one of the message
 */
void roce_receive_succeed(struct roce_qp *qp, struct ib_wc *wc,
			  const struct roce_packet *packet)
{
	wc->status = IB_WC_SUCCESS;
	if (packet->info->flags & ROCE_HAS_IMMEDIATE) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = packet->immediate;
	} else if (packet->info->flags & ROCE_HAS_INVALIDATE) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = packet->invalidate;
	}
	complete_receive(qp, wc, packet->solicited);
}

/**
 * roce_receive_fail() - complete the receive in use with an error
 * @qp: its responder is owned by the caller and has a receive
 * @status: of the completion
 */
void roce_receive_fail(struct roce_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status, .opcode = IB_WC_RECV };

	complete_receive(qp, &wc, false);
}

/**
 * roce_post_recv() - the post_recv verb, of kernel consumers
 * @ibqp: of a kernel consumer: the library of a program fills the ring itself
 * @wr: list of receives
 * @bad_wr: set to the first one that was refused
 *
 * Any context.
 *
 * Return: 0, -EINVAL in the wrong state, with a shared receive queue or with
 * too many sges, -ENOMEM if the queue is full.
 */
int roce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr)
{
	struct roce_qp *qp = to_roce_qp(ibqp);
	struct roce_responder *responder = &qp->responder;
	unsigned long flags;
	int err;

	*bad_wr = wr;
	if (roce_qp_is_user(qp) || roce_qp_srq(qp) ||
	    READ_ONCE(qp->state) == IB_QPS_RESET)
		return -EINVAL;

	spin_lock_irqsave(&responder->post_lock, flags);
	err = roce_receive_post(&responder->ring, qp->cap.max_recv_sge, wr,
				bad_wr);
	spin_unlock_irqrestore(&responder->post_lock, flags);

	/* Either the flush of the error state sees the receive, or we see the state. */
	smp_mb();
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		roce_engine_schedule(&responder->engine);
	return err;
}
