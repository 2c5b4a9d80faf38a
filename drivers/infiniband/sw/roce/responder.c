// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder: executes request packets and answers them (IBA volume 1, 9.7.4 and
 * 9.7.5.1 for RC, 9.8.2 for UC, 9.8.3 for datagrams).
 *
 * This file has its initialization and its engine. A request of a connection goes to
 * connection.c, and from there to execute.c when its PSN is expected. A datagram goes to
 * datagram.c. answer.c decides about answers, and answer_send.c sends them.
 * receive_flush.c flushes receives in the error state.
 */
#include "answer.h"
#include "compat.h"
#include "counters.h"
#include "engine.h"
#include "flow.h"
#include "packet.h"
#include "qp.h"
#include "receive.h"
#include "reorder.h"
#include "responder.h"
#include "ring.h"
#include "run.h"
#include "sack.h"

static struct roce_qp *responder_qp(struct roce_engine *engine)
{
	return container_of(engine, struct roce_qp, responder.engine);
}

/* Consumes the sk_buff. */
static void receive_requests(struct roce_qp *qp, struct sk_buff *skb)
{
	bool from_peer = roce_qp_is_from_peer(qp, skb);
	struct roce_packet packet;

	roce_engine_charge(roce_run_bytes(skb));
	qp->responder.latest_key = NULL;
	while (roce_run_next(skb, qp, &packet)) {
		if (packet.malformed)
			roce_connection_refuse(qp, &packet, from_peer);
		else if (!roce_qp_can_receive(qp))
			roce_drop(qp, rx_dropped_qp_state, &packet);
		else if (roce_qp_is_datagram(qp) ?
			 roce_datagram_receive(qp, skb, &packet) :
			 roce_connection_receive(qp, skb, &packet, from_peer))
			return;
	}
	consume_skb(skb);
}

static void receive(struct roce_engine *engine, struct sk_buff *skb)
{
	receive_requests(responder_qp(engine), skb);
}

/* Handle one kept run that is not early any more. Returns true if there may be more. */
static bool receive_early(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_reorder *reorder = responder->reorder;
	struct sk_buff *skb = roce_reorder_take(reorder, qp, responder->psn);

	if (skb) {
		receive_requests(qp, skb);
		return true;
	}
	roce_connection_tell_of_gap(qp);
	return roce_reorder_free_some(reorder, qp);
}

static bool advance_responder(struct roce_engine *engine)
{
	struct roce_qp *qp = responder_qp(engine);
	bool more;

	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		return roce_reorder_drop(qp->responder.reorder, qp) ||
		       roce_receive_flush(qp);
	if (!roce_qp_can_receive(qp) || roce_qp_is_datagram(qp))
		return false;
	more = !roce_reorder_is_idle(qp->responder.reorder) &&
	       !roce_engine_is_held(engine) && receive_early(qp);
	return roce_answer_send(qp) || more;
}

static const struct roce_engine_ops responder_ops = {
	.receive = receive,
	.advance = advance_responder,
};

/**
 * roce_responder_init() - initialize the state of a new QP
 * @qp: new; its cap is set
 *
 * Return: 0 or -ENOMEM.
 */
int roce_responder_init(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	u32 max_sges = roce_qp_srq(qp) ? roce_qp_srq(qp)->max_sges :
					 qp->cap.max_recv_sge;

	roce_engine_init(&responder->engine, &responder_ops,
			 &qp->faults[ROCE_FAULT_RECEIVE]);
	roce_sender_init(&responder->sender, &responder->engine, ROCE_RESPONDER,
			 &qp->faults[ROCE_FAULT_ANSWER]);
	spin_lock_init(&responder->post_lock);
	INIT_LIST_HEAD(&responder->idle);
	responder->receive = kzalloc(struct_size(responder->receive, sge,
						 max_sges),
				     GFP_KERNEL_ACCOUNT);
	return responder->receive ? 0 : -ENOMEM;
}

/**
 * roce_responder_start() - start with the attributes of a QP that goes to RTR
 * @qp: both engines are owned by the caller; attr is set
 */
void roce_responder_start(struct roce_qp *qp)
{
	qp->responder.psn = qp->attr.rq_psn;
	qp->responder.sack_state = ROCE_SACK_UNKNOWN;
	qp->responder.path = 0;
}

/**
 * roce_responder_reset() - drop all receives and requests
 * @qp: in the RESET state, its responder is owned by the caller
 *
 * Process context.
 */
void roce_responder_reset(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;

	roce_responder_stop(qp);
	roce_receive_remove_idle(qp);
	roce_engine_purge(&responder->engine);
	responder->has_receive = false;
	responder->msn = 0;
	responder->message = 0;
	responder->nak_sent = false;
	responder->ack_due = false;
	responder->failed = false;
	responder->established = false;
	responder->last_wqe_reported = false;
	responder->flush_interval = 0;
	responder->part_answered = responder->part_taken;
	roce_answer_set_resources(qp, NULL);
	if (!roce_qp_srq(qp))
		roce_ring_reset(&responder->ring);
}

/**
 * roce_responder_stop() - stop timers and page faults, and drop packets that came early
 * @qp: in a state in which nothing starts them
 *
 * Process context.
 */
void roce_responder_stop(struct roce_qp *qp)
{
	roce_sender_stop(&qp->responder.sender);
	roce_reorder_end(&qp->responder.reorder, qp);
	roce_fault_cancel(qp->responder.engine.fault);
}

/**
 * roce_responder_destroy() - free the memory of the responder
 * @qp: its engines are destroyed
 */
void roce_responder_destroy(struct roce_qp *qp)
{
	kfree(qp->responder.receive);
	kfree(qp->responder.resources);
	kfree(qp->responder.parts);
}
