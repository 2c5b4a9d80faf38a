// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester: work requests become request packets (IBA volume 1, 9.7.3 for
 * RC, 9.8.2 for UC, 9.8.3 for datagrams). cursor.c decides which packets are next.
 */
#include <rdma/ib_addr.h>

#include "cursor.h"
#include "engine.h"
#include "flow.h"
#include "qp.h"
#include "repair.h"
#include "request.h"
#include "requester.h"
#include "ring.h"
#include "roce_psn.h"
#include "section.h"
#include "send.h"
#include "spread.h"
#include "train.h"
#include "xmit.h"

/* Requests to flush in one call */
#define FLUSH_BUDGET		64

static struct roce_av *request_av(struct roce_qp *qp,
				  const struct roce_request *request)
{
	struct roce_av *av;

	if (!roce_qp_is_datagram(qp))
		return &qp->av;
	if (!roce_qp_is_user(qp))
		return request->av;
	av = xa_load(&qp->dev->address_vectors, request->ah_number);
	return av && av->pd == qp->ibqp.pd ? av : NULL;
}

static u16 source_port(const struct roce_qp *qp, const struct roce_av *av,
		       const struct roce_request *request)
{
	return roce_qp_is_datagram(qp) ?
	       roce_udp_source_port(av, qp->ibqp.qp_num, request->remote_qpn) :
	       qp->source_port;
}

/**
 * roce_requester_complete_local() - complete the next local operations
 * @qp: its requester is owned by the caller
 *
 * Local operations are executed and completed in order, after all earlier requests.
 */
void roce_requester_complete_local(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	while (requester->completed != requester->fetched) {
		struct roce_request *request =
			roce_request(requester, requester->completed);

		if (!roce_request_is_local(request) || !request->executed)
			return;
		/* After going back the cursor may be at this request. */
		if (requester->current_request == requester->completed)
			requester->current_request++;
		roce_request_complete(qp, IB_WC_SUCCESS);
	}
}

/*
 * Flush some requests, fetched or not. Returns true if there may be more. Sending can
 * continue after the last of them.
 */
static bool flush_some(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	bool more = roce_reorder_drop(requester->reorder, qp);
	u32 budget = FLUSH_BUDGET;

	while (budget && (requester->completed != requester->fetched ||
			  roce_request_fetch(qp))) {
		roce_request_complete(qp, IB_WC_WR_FLUSH_ERR);
		roce_engine_charge(ROCE_COMPLETION_COST);
		budget--;
	}
	requester->current_request = requester->fetched;
	requester->psn = requester->next_psn;
	requester->limit_psn = requester->next_psn;
	requester->unacked_psn = requester->next_psn;
	requester->window_psn = requester->next_psn;
	requester->asked = 0;
	requester->sender.stalls = 0;
	roce_retransmit_forget_losses(qp);
	return more || !budget;
}

/**
 * roce_requester_flush() - flush a send queue in error
 * @qp: in the SQE state; its requester is owned by the caller
 *
 * Process context. On return all requests are flushed that were posted before the call.
 */
void roce_requester_flush(struct roce_qp *qp)
{
	/* Bounded, because a program may post as fast as this flushes. */
	u32 rounds = DIV_ROUND_UP(qp->requester.slot_mask + 1, FLUSH_BUDGET);
	bool more;

	do {
		local_bh_disable();
		roce_section_enter();
		more = flush_some(qp);
		roce_section_leave();
		local_bh_enable();
		cond_resched();
	} while (more && rounds--);
}

/*
 * Measure a round trip, if this train asks for an acknowledgment. Not for retransmitted
 * packets: the acknowledgment may be for the first copy.
 */
static void begin_round_trip(struct roce_requester *requester,
			     const struct roce_xmit *xmit,
			     const struct roce_cursor_place *place)
{
	if (requester->timed_at || !xmit->train.sent ||
	    place->psn != place->limit_psn ||
	    roce_psn_diff(requester->ack_request_psn, place->psn) < 0)
		return;
	requester->timed_psn = requester->ack_request_psn;
	/* Packets kept after a gap have arrived before this round trip. */
	requester->timed_delivered = roce_window_delivered(requester);
	requester->timed_in_flight = roce_in_flight(requester);
	requester->timed_data = xmit->sent_at;
	requester->timed_copied = false;
	requester->timed_at = roce_xmit_departure(xmit);
}

/* An unreliable message completes when it is sent, but for one to a group. */
static void complete_sent(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (roce_qp_is_reliable(qp))
		return;
	requester->unacked_psn = requester->psn;
	roce_requests_complete(qp, requester->current_request - requester->completed);
}

/*
 * The stack loops datagrams to a group back to the members on this host, also what the
 * qdisc refuses. They complete after that, as with a NIC: a program may then post a
 * receive that gets the answer, and not its own datagram.
 */
static bool is_looped_back(const struct roce_xmit *xmit, u32 done)
{
	return done && rdma_is_multicast_addr(&xmit->av->destination);
}

/* A train that began at @place was built. The cursor goes back to packets that must wait. */
static void settle_messages(struct roce_qp *qp, const struct roce_xmit *xmit,
			    const struct roce_cursor_place *place, int err)
{
	struct roce_requester *requester = &qp->requester;
	u32 done = roce_xmit_done(xmit, err);

	roce_cursor_count_retransmitted(qp, place, xmit->train.sent);
	if (done < xmit->train.packets) {
		roce_cursor_return_to(requester, place, done);
	} else {
		requester->company_awaited = false;
		begin_round_trip(requester, xmit, place);
	}
	if (is_looped_back(xmit, done))
		roce_engine_rest(&requester->engine);
	else
		complete_sent(qp);
}

static int fill_on_path(struct roce_qp *qp, struct roce_train *train)
{
	roce_spread_train(qp, train);
	return roce_cursor_fill_train(qp, train);
}

static bool send_messages(struct roce_qp *qp, struct roce_request *request)
{
	const struct roce_cursor_place place = roce_cursor_here(&qp->requester);
	struct roce_av *av = request_av(qp, request);
	bool stalled = qp->requester.sender.stalls;
	struct roce_xmit xmit = {
		.sender = &qp->requester.sender,
		.av = av,
		.data = !roce_qp_is_datagram(qp) && !roce_request_is_read(request),
		.build = roce_spread_is_on(qp) ? fill_on_path : roce_cursor_fill_train,
	};
	int err;

	if (!av) {
		request->status = IB_WC_LOC_QP_OP_ERR;
		return true;
	}
	xmit.source_port = source_port(qp, av, request);
	err = roce_xmit(qp, &xmit);
	if (stalled && xmit.train.sent)
		roce_retransmit_expect_progress(qp);
	if (xmit.train.packets)
		settle_messages(qp, &xmit, &place, err);
	if (unlikely(qp->requester.paths))
		roce_spread_sent(qp, &xmit, &place);
	/* After -EACCES the request has the status of its failure. */
	return err != -EBUSY && !roce_engine_is_resting(&qp->requester.engine);
}

/*
 * A bad request fails after all earlier requests have completed. Until then it waits.
 */
static bool fail_request(struct roce_qp *qp, const struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->completed == requester->current_request)
		roce_request_fail(qp, request->status);
	return false;
}

/* Execute only once, even if the cursor goes back. */
static bool execute_local(struct roce_qp *qp, struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;

	if (!request->executed) {
		request->status = roce_request_execute(qp, request);
		if (request->status != IB_WC_SUCCESS)
			return true;
		request->executed = true;
	}
	requester->current_request++;
	roce_requester_complete_local(qp);
	return true;
}

/* Send one train. Returns false if nothing can be sent now. */
static bool send_next(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_request *request;

	if (!roce_qp_is_sending(qp))
		return false;
	if (roce_repair_is_due(requester))
		return roce_repair_send(qp);
	roce_cursor_skip_what_has_arrived(qp);
	if (!roce_cursor_window_is_open(qp))
		return false;
	request = roce_cursor_request(qp);
	if (!request)
		return false;
	/* max_rd_atomic may have been larger when the request was fetched. */
	if (roce_request_has_response(request) && !qp->attr.max_rd_atomic &&
	    !roce_cursor_sent_before(requester))
		request->status = IB_WC_LOC_QP_OP_ERR;
	if (request->status != IB_WC_SUCCESS)
		return fail_request(qp, request);
	if (roce_cursor_must_wait(qp, request))
		return false;
	if (roce_request_is_local(request))
		return execute_local(qp, request);
	if (roce_cursor_waits_for_company(qp, request))
		return false;
	return send_messages(qp, request);
}

static void check_drained(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->draining && requester->completed == requester->fetched) {
		requester->draining = false;
		roce_qp_event(qp, IB_EVENT_SQ_DRAINED);
	}
}

/*
 * Whether the requester waits for its own memory: to send, or for a response that is here.
 * Meanwhile, and immediately after it, no answer is late.
 */
static bool waits_for_pages(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	bool waits = roce_engine_is_held(&requester->engine) ||
		     roce_fault_is_pending(requester->sender.fault);

	if (waits || requester->paging)
		roce_retransmit_expect_progress(qp);
	requester->paging = waits;
	return waits;
}

static bool advance_requester(struct roce_engine *engine)
{
	struct roce_qp *qp = roce_requester_qp(engine);
	bool more = false;

	switch (READ_ONCE(qp->state)) {
	case IB_QPS_SQE:
	case IB_QPS_ERR:
		return flush_some(qp);
	default:
		if (!roce_qp_is_sending(qp))
			return false;
	}

	/* Datagrams to a group for which the engine has rested */
	complete_sent(qp);
	if (!waits_for_pages(qp)) {
		if (!roce_reorder_is_idle(qp->requester.reorder))
			more = roce_completer_receive_early(qp);
		if (!roce_qp_is_sending(qp))
			return true;
		roce_retransmit_check_timeout(qp);
		roce_probe_check(qp);
	}
	more |= roce_sender_advance(qp, &qp->requester.sender, send_next);
	/* A request has failed: come back to flush the others. */
	if (!roce_qp_is_sending(qp))
		return true;
	roce_retransmit_arm_timer(qp);
	roce_probe_arm(qp);
	check_drained(qp);
	return more;
}

static const struct roce_engine_ops requester_ops = {
	.receive = roce_completer_receive,
	.advance = advance_requester,
};

/**
 * roce_requester_init() - initialize the state of a new QP
 * @qp: new
 */
void roce_requester_init(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	roce_engine_init(&requester->engine, &requester_ops,
			 &qp->faults[ROCE_FAULT_RESPONSE]);
	spin_lock_init(&requester->post_lock);
	roce_sender_init(&requester->sender, &requester->engine, ROCE_REQUESTER,
			 &qp->faults[ROCE_FAULT_REQUEST]);
	roce_retransmit_init(qp);
	roce_probe_init(qp);
}

/**
 * roce_requester_start() - start with the attributes of a QP that goes to RTS
 * @qp: both engines are owned by the caller; attr is set
 */
void roce_requester_start(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	requester->psn = qp->attr.sq_psn;
	requester->limit_psn = qp->attr.sq_psn;
	requester->unacked_psn = qp->attr.sq_psn;
	requester->next_psn = qp->attr.sq_psn;
	requester->ack_request_psn = roce_psn_add(qp->attr.sq_psn, -1);
	requester->timed_at = 0;
	requester->sack_accepted = false;
	requester->sack_confirmed = false;
	roce_retransmit_start(qp);
	roce_window_start(qp);
}

/**
 * roce_requester_set_asked_end() - adapt to a new maximum of outstanding READs and
 *	atomics
 * @qp: its requester is owned by the caller; attr.max_rd_atomic is set
 * @asked_end: room for as many, rounded up to a power of two, NULL if that is 0;
 *	owned by the requester from now on
 *
 * More requests may be outstanding than the new maximum: the room never shrinks.
 */
void roce_requester_set_asked_end(struct roce_qp *qp, u32 *asked_end)
{
	struct roce_requester *requester = &qp->requester;
	u32 room = asked_end ? roundup_pow_of_two(qp->attr.max_rd_atomic) : 0;
	u32 n;

	if (room <= requester->asked_room) {
		kfree(asked_end);
		return;
	}
	for (n = 0; n < requester->asked; n++)
		asked_end[(requester->asked_first + n) & (room - 1)] =
			*roce_asked_end(requester, n);
	kfree(requester->asked_end);
	requester->asked_end = asked_end;
	requester->asked_room = room;
}

/**
 * roce_requester_reset() - drop all work requests
 * @qp: in the RESET state, its requester is owned by the caller
 *
 * Process context.
 */
void roce_requester_reset(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	unsigned long flags;

	roce_requester_stop(qp);
	roce_engine_purge(&requester->engine);

	spin_lock_irqsave(&requester->post_lock, flags);
	requester->posted = 0;
	requester->fetched = 0;
	requester->completed = 0;
	spin_unlock_irqrestore(&requester->post_lock, flags);
	requester->current_request = 0;
	requester->asked = 0;
	requester->draining = false;
	requester->company_awaited = false;
	if (roce_qp_is_user(qp))
		roce_ring_reset(&requester->ring);
}

/**
 * roce_requester_stop() - stop timers and page faults, and drop packets that came early
 * @qp: in a state in which nothing starts them
 *
 * Process context.
 */
void roce_requester_stop(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	roce_retransmit_stop(qp);
	roce_probe_stop(qp);
	roce_sender_stop(&requester->sender);
	roce_reorder_end(&requester->reorder, qp);
	roce_fault_cancel(requester->engine.fault);
	requester->paging = false;
}
