// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester: work requests become request packets (IBA volume 1, 9.7.3 for
 * RC, 9.8.2 for UC, 9.8.3 for datagrams).
 *
 * Packets are numbered when their work request is fetched, so sending is a
 * walk of a cursor (psn, and the request that it lies in) over numbered
 * packets:
 *
 *	unacked_psn           psn            limit_psn        next_psn
 *	   | sent, not acked   | sent before   | fetched, never  |
 *	   |                   | going back    | sent            |
 *
 * Loss moves the cursor back to unacked_psn, and everything behind it is sent
 * again, see retransmit.c. The distance from unacked_psn to the cursor is bounded
 * by a window.
 *
 * A READ takes as many PSNs as its response has packets. A long one is asked
 * for in pieces of at most a window, so that the responder never has more to
 * send than what this side is ready to see in flight. What was asked for in one
 * piece is asked for in one piece again, or its rest is: a responder knows a
 * duplicate by its lying within a request that it has executed.
 */
#include "answer.h"
#include "compat.h"
#include "congestion.h"
#include "counters.h"
#include "engine.h"
#include "packet.h"
#include "qp.h"
#include "repair.h"
#include "request.h"
#include "request_packet.h"
#include "requester.h"
#include "ring.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "scoreboard.h"
#include "send.h"
#include "sge.h"
#include "train.h"
#include "wr.h"
#include "xmit.h"

/* What may be ahead of the oldest packet that is missing */
#define EARLY_WINDOWS		4u
#define MAX_EARLY_BYTES		SZ_16M
#define MAX_EARLY_PACKETS	8192u

/* Acknowledgments that are asked for in a near window, at least */
#define ACK_REQUESTS		4

/*
 * Work that keeps a peer busy while a short message waits for others, in bytes. A
 * packet is as much as some of them, besides its payload.
 */
#define ENOUGH_IN_FLIGHT	SZ_16K
#define PACKET_COST		SZ_1K

/* A round trip through a data centre; a longer one is not to be lengthened by much. */
#define MAX_WAIT_FOR_COMPANY	(100 * NSEC_PER_USEC)

/* Requests that are flushed at a time */
#define FLUSH_BUDGET		64

/*
 * Requests that may wait to be completed when a local operation is executed: one
 * acknowledgment completes them all. Others are bounded by the window.
 */
#define MAX_UNCOMPLETED		512

static u32 packet_index(const struct roce_requester *requester,
			const struct roce_request *request)
{
	return roce_psn_add(requester->psn, -request->first_psn);
}

/* The request that the cursor is in, NULL if everything was sent */
static struct roce_request *request_at_cursor(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->current_request != requester->fetched)
		return roce_request(requester, requester->current_request);
	/* A queue that drains starts nothing new. */
	if (READ_ONCE(qp->state) != IB_QPS_RTS)
		return NULL;
	return roce_request_fetch(qp);
}

/* What is at the cursor was sent before: this is after going back. */
static bool sent_before(const struct roce_requester *requester)
{
	return requester->psn != requester->limit_psn;
}

/* Packets that may be in the network: not those that wait behind a gap (RFC 6675, pipe) */
static u32 under_way(const struct roce_requester *requester)
{
	u32 packets = roce_in_flight(requester);
	u32 early = requester->board ? roce_scoreboard_early(requester->board) : 0;

	return packets - min(packets, early);
}

/*
 * How many packets the window has room for. The peer keeps what waits behind a gap, in
 * memory that is bounded.
 */
static u32 window_room(const struct roce_qp *qp)
{
	const struct roce_requester *requester = &qp->requester;
	u32 used = under_way(requester), ahead = roce_in_flight(requester);
	u32 most = min3(EARLY_WINDOWS * requester->window, MAX_EARLY_PACKETS,
			MAX_EARLY_BYTES / (u32)qp->mtu);

	if (used >= requester->window || ahead >= most)
		return 0;
	return min(requester->window - used, most - ahead);
}

/* How many responses of the READ at the cursor to ask for now, 0 for none */
static u32 responses_to_ask_for(struct roce_qp *qp, const struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;
	u32 room = window_room(qp), packets;

	if (sent_before(requester)) {
		packets = roce_psn_add(roce_asked_together(requester,
							   requester->psn),
				       -requester->psn);
		return roce_in_flight(requester) && packets > room ? 0 : packets;
	}
	packets = min(request->packets - packet_index(requester, request),
		      requester->window);
	/* Rather wait than ask for crumbs. */
	return room < min(packets, requester->window / 4) ? 0 :
	       min(packets, room);
}

/* How many PSNs the packet at the cursor takes, 0 if it must wait */
static u32 psns_to_take(struct roce_qp *qp, const struct roce_request *request)
{
	return roce_request_is_read(request) ? responses_to_ask_for(qp, request) : 1;
}

static void move_cursor(struct roce_qp *qp, const struct roce_request *request,
			u32 packets)
{
	struct roce_requester *requester = &qp->requester;
	bool asks = roce_request_has_response(request) && !sent_before(requester);

	/* After a wait the answer is not late yet, unless the netdev stalls us. */
	if (!roce_in_flight(requester) && !requester->stalls)
		roce_retransmit_expect_progress(qp);
	requester->psn = roce_psn_add(requester->psn, packets);
	if (asks)
		*roce_asked_end(requester, requester->asked++) = requester->psn;
	if (packet_index(requester, request) == request->packets)
		requester->current_request++;
	if (roce_psn_diff(requester->psn, requester->limit_psn) > 0)
		requester->limit_psn = requester->psn;
}

/* After going back: what the peer has got meanwhile is not sent again. */
static bool has_arrived(const struct roce_requester *requester, u32 psn)
{
	return requester->board && requester->board->gaps &&
	       roce_scoreboard_has(requester->board, psn);
}

static void skip_what_has_arrived(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	while (sent_before(requester) && has_arrived(requester, requester->psn)) {
		const struct roce_request *request = request_at_cursor(qp);
		u32 psn = requester->psn;

		if (roce_request_is_local(request))
			return;
		move_cursor(qp, request, !roce_request_is_read(request) ? 1 :
			    roce_psn_add(roce_asked_together(requester, psn), -psn));
	}
}

/* Fewer packets if they have to wait: the acknowledgment must not be late. */
static u32 ack_request_interval(const struct roce_qp *qp)
{
	u32 packets = min(qp->requester.window, ROCE_NEAR_WINDOW) / ACK_REQUESTS;

	if (!roce_flow_is_limited(&qp->flow) &&
	    !qp->requester.engine.turn.waited)
		return packets;
	return min(roce_flow_train_bytes(&qp->flow) / qp->mtu, packets);
}

/* How many that need not ask for an acknowledgment may be sent before one that does */
static u32 packets_until_ack_request(const struct roce_qp *qp)
{
	const struct roce_requester *requester = &qp->requester;
	u32 since_request = roce_psn_add(requester->psn,
					 -requester->ack_request_psn);
	u32 interval = ack_request_interval(qp);

	return interval > since_request ? interval - since_request : 0;
}

static bool window_is_open(const struct roce_qp *qp)
{
	return !roce_qp_is_reliable(qp) || window_room(qp);
}

/*
 * For READs and atomics: a fence waits for all of them, and there are only so
 * many at a time. A local invalidate with a fence waits for everything
 * (10.8.3.3). What was sent before has waited then. A READ waits for room in the
 * window, each time.
 */
static bool must_wait(struct roce_qp *qp, const struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;

	if (!psns_to_take(qp, request))
		return true;
	if (sent_before(requester))
		return false;
	if (roce_request_is_local(request) &&
	    requester->current_request - requester->completed >= MAX_UNCOMPLETED)
		return true;
	if (request->flags & IB_SEND_FENCE &&
	    packet_index(requester, request) == 0 &&
	    (requester->asked ||
	     (request->opcode == IB_WR_LOCAL_INV &&
	      requester->completed != requester->current_request)))
		return true;
	return roce_request_has_response(request) &&
	       requester->asked >= qp->attr.max_rd_atomic;
}

/* READs do not count against the rate, and so travel with their kind only. */
static bool can_share_train(const struct roce_request *request, bool reads)
{
	return request->status == IB_WC_SUCCESS &&
	       roce_request_is_read(request) == reads &&
	       !roce_request_is_local(request);
}

/*
 * A short message costs a fraction in a train with others of its kind. So while the
 * peer has enough messages like this one to work on, it waits until a train is full.
 * (For TCP this is called autocorking.) Not while READs are under way, since their
 * PSNs do not tell how much that is, and not a READ: its response is most of the work.
 */
static bool wants_company(const struct roce_qp *qp,
			  const struct roce_request *request)
{
	const struct roce_requester *requester = &qp->requester;
	u32 length = min(request->length, qp->mtu);
	u32 waiting, train;

	if (!roce_qp_is_reliable(qp) || roce_request_is_read(request) ||
	    request->packets > 1 || sent_before(requester) ||
	    requester->asked ||
	    roce_in_flight(requester) * (PACKET_COST + length) < ENOUGH_IN_FLIGHT)
		return false;
	waiting = requester->fetched - requester->current_request +
		  roce_requests_waiting(qp);
	train = min_t(u32, ROCE_TRAIN_MAX_PACKETS,
		      ROCE_TRAIN_MAX_BYTES / max(length, 1u));
	return waiting < train;
}

/*
 * An acknowledgment makes the requester look again. Where the peer is far away, that
 * would halve what a queue of some ten messages moves, and so there is a timer.
 */
static bool waits_for_company(struct roce_qp *qp,
			      const struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;

	if (!wants_company(qp, request))
		return false;
	if (requester->company_awaited)
		return hrtimer_is_queued(&requester->wait_timer);
	requester->company_awaited = true;
	hrtimer_start(&requester->wait_timer, MAX_WAIT_FOR_COMPANY, ROCE_WAIT_MODE);
	return true;
}

/* How many packets from the one at the cursor on differ in nothing but the PSN */
static u32 count_requests_alike(const struct roce_qp *qp, const struct roce_request *request,
				const struct roce_packet *packet,
				const struct roce_train *train)
{
	const struct roce_requester *requester = &qp->requester;
	u32 index = packet_index(requester, request), count;

	if (index == 0 || index + 1 >= request->packets || packet->ack_request ||
	    roce_request_is_read(request))
		return 1;
	count = min(request->packets - 1 - index,
		    roce_train_capacity(train, roce_packet_size(packet)));
	if (!roce_qp_is_reliable(qp))
		return count;
	/* Some of them may have arrived. */
	if (sent_before(requester) && requester->board && requester->board->gaps)
		return 1;
	count = min(count, window_room(qp));
	return min(count, packets_until_ack_request(qp));
}

/*
 * Fill the train from the cursor on, with requests of READs or with other ones, as the
 * first one is. The packets may be of one message, or of several short ones.
 */
static int fill_train(struct roce_qp *qp, struct roce_train *train)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_request *request = request_at_cursor(qp);
	bool reads = roce_request_is_read(request);

	while (window_is_open(qp) && (request = request_at_cursor(qp)) &&
	       !has_arrived(requester, requester->psn) &&
	       can_share_train(request, reads) && !must_wait(qp, request)) {
		u32 psns = psns_to_take(qp, request);
		u32 before = train->packets, count, added;
		struct roce_packet packet;
		int err;

		roce_request_describe(qp, request, requester->psn, psns, &packet);
		if (!packet.ack_request && roce_qp_is_reliable(qp) &&
		    !packets_until_ack_request(qp))
			roce_request_ask_for_ack(qp, &packet);
		if (!roce_train_fits(train, roce_packet_size(&packet)))
			return 0;
		count = count_requests_alike(qp, request, &packet, train);
		err = roce_request_add_packets(qp, request, &packet, count, train);
		if (err && err != -ENOMEM)
			request->status = IB_WC_LOC_PROT_ERR;
		/* Before an error some may be complete. */
		added = train->packets - before;
		if (added && packet.ack_request)
			requester->ack_request_psn = packet.psn;
		if (added)
			move_cursor(qp, request, reads ? psns : added);
		if (err)
			return train->packets ? 0 : err;
		/* The next datagram has a destination of its own. */
		if (roce_qp_is_datagram(qp))
			return 0;
	}
	return 0;
}

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
 * roce_requester_complete_local() - complete the local operations that are next
 * @qp: its requester is owned by the caller
 *
 * They are executed in their turn and complete in it: when all before them are
 * over.
 */
void roce_requester_complete_local(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	while (requester->completed != requester->fetched) {
		struct roce_request *request =
			roce_request(requester, requester->completed);

		if (!roce_request_is_local(request) || !request->executed)
			return;
		/* Going back has put the cursor in front of it. */
		if (requester->current_request == requester->completed)
			requester->current_request++;
		roce_request_complete(qp, IB_WC_SUCCESS);
	}
}

/*
 * Some of the requests, fetched or not. True if there may be others. Sending can go
 * on behind the last of them.
 */
static bool flush_some(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	bool more = roce_reorder_drop(&requester->reorder, qp);
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
	requester->stalls = 0;
	roce_retransmit_forget_losses(qp);
	return more || !budget;
}

/**
 * roce_requester_flush() - flush what was posted to a send queue in error
 * @qp: in the SQE state; its requester is owned by the caller
 *
 * Process context. When this returns, nothing is left that was posted before.
 */
void roce_requester_flush(struct roce_qp *qp)
{
	/* A program can post as fast as this flushes. */
	u32 rounds = DIV_ROUND_UP(qp->requester.slot_mask + 1, FLUSH_BUDGET);
	bool more;

	do {
		local_bh_disable();
		more = flush_some(qp);
		local_bh_enable();
		cond_resched();
	} while (more && rounds--);
}

/* Where the cursor is, and how far it ever was */
struct place {
	u32 psn;
	u32 request_number;
	u32 limit_psn;
};

static struct place here(const struct roce_requester *requester)
{
	return (struct place) {
		.psn = requester->psn,
		.request_number = requester->current_request,
		.limit_psn = requester->limit_psn,
	};
}

/* The PSN of the packet behind that of @psn, in a train that begins at @place */
static u32 psn_behind(struct roce_requester *requester,
		      const struct place *place, u32 psn)
{
	if (roce_request_is_read(roce_request(requester, place->request_number)))
		return roce_asked_together(requester, psn);
	return roce_psn_add(psn, 1);
}

/* Let the cursor be @packets behind @place, as if no more had been sent. */
static void return_to(struct roce_requester *requester,
		      const struct place *place, u32 packets)
{
	u32 number = place->request_number;

	requester->psn = place->psn;
	while (packets--)
		requester->psn = psn_behind(requester, place, requester->psn);
	while (number != requester->fetched &&
	       packet_index(requester, roce_request(requester, number)) >=
	       roce_request(requester, number)->packets)
		number++;
	requester->current_request = number;
	requester->limit_psn = place->limit_psn;
	if (roce_psn_diff(requester->psn, requester->limit_psn) > 0)
		requester->limit_psn = requester->psn;
	while (requester->asked &&
	       roce_psn_diff(*roce_asked_end(requester, requester->asked - 1),
			     requester->limit_psn) > 0)
		requester->asked--;
}

static void count_retransmitted(struct roce_qp *qp, const struct place *place,
				u32 packets)
{
	u32 again = 0, psn = place->psn;

	while (again < packets && roce_psn_diff(place->limit_psn, psn) > 0) {
		psn = psn_behind(&qp->requester, place, psn);
		again++;
	}
	if (again)
		roce_count_add(qp, retransmitted_packets, again);
}

/*
 * An acknowledgment that this train asks for ends a round trip. Not of what was
 * sent before: the acknowledgment may be that of the first copy.
 */
static void begin_round_trip(struct roce_requester *requester,
			     const struct roce_xmit *xmit,
			     const struct place *place)
{
	if (requester->timed_at ||
	    place->psn != place->limit_psn ||
	    roce_psn_diff(requester->ack_request_psn, place->psn) < 0)
		return;
	requester->timed_psn = requester->ack_request_psn;
	requester->timed_unacked = requester->unacked_psn;
	requester->timed_data = xmit->sent_at;
	requester->timed_at = max(xmit->sent_at ?: ktime_get_ns(),
				  xmit->train.departure);
}

/* Unreliable messages are over when they are sent. */
static void complete_sent(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (roce_qp_is_reliable(qp))
		return;
	requester->unacked_psn = requester->psn;
	while (requester->completed != requester->current_request)
		roce_request_complete(qp, IB_WC_SUCCESS);
}

/*
 * A train that begins at @place was handed to the network. A netdev that takes no more
 * is no loss: the cursor goes back to what did not leave, and the engine waits.
 * If that lasts too long, an unreliable QP loses the train, and for a reliable
 * one the acknowledgment is late.
 */
static bool settle_messages(struct roce_qp *qp, const struct roce_xmit *xmit,
			    const struct place *place, int err)
{
	u32 packets = err == -EAGAIN ? xmit->train.sent : xmit->train.packets;
	struct roce_requester *requester = &qp->requester;

	if (packets && requester->stalls) {
		requester->stalls = 0;
		roce_retransmit_expect_progress(qp);
	}
	count_retransmitted(qp, place, packets);
	if (err == -EAGAIN && (requester->stalls++ < ROCE_MAX_STALLS ||
			       roce_qp_is_reliable(qp))) {
		return_to(requester, place, packets);
		complete_sent(qp);
		roce_requester_stall(qp, err);
		return false;
	}
	if (err == -EAGAIN)
		roce_count(qp, tx_dropped_queue_full);
	requester->stalls = 0;
	requester->company_awaited = false;
	begin_round_trip(requester, xmit, place);
	complete_sent(qp);
	return true;
}

static bool send_messages(struct roce_qp *qp, struct roce_request *request)
{
	const struct place place = here(&qp->requester);
	struct roce_av *av = request_av(qp, request);
	struct roce_xmit xmit = {
		.half = ROCE_REQUESTER,
		.engine = &qp->requester.engine,
		.av = av,
		.data = !roce_qp_is_datagram(qp) && !roce_request_is_read(request),
		.build = fill_train,
	};
	int err;

	if (!av) {
		request->status = IB_WC_LOC_QP_OP_ERR;
		return true;
	}
	xmit.source_port = source_port(qp, av, request);
	err = roce_xmit(qp, &xmit);
	if (xmit.built)
		return settle_messages(qp, &xmit, &place, err);
	switch (err) {
	case -EBUSY:
		roce_requester_wait_for_turn(qp, xmit.wait);
		return false;
	case -ENOMEM:
		roce_requester_stall(qp, err);
		return false;
	default:
		/* fill_train() has said so in the request. */
		return true;
	}
}

/*
 * A request that cannot be sent fails when all before it are over. Others wait
 * for their turn.
 */
static bool fail_request(struct roce_qp *qp, const struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->completed == requester->current_request)
		roce_request_fail(qp, request->status);
	return false;
}

/* Once, however often the cursor comes by. */
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

/* Send one train. False if nothing can be sent now. */
static bool send_next(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_request *request;

	if (roce_requester_is_waiting(requester))
		return false;
	if (roce_repair_is_due(requester))
		return roce_repair_send(qp);
	skip_what_has_arrived(qp);
	if (!window_is_open(qp))
		return false;
	request = request_at_cursor(qp);
	if (!request)
		return false;
	/* It may have been 1 when the request was fetched. */
	if (roce_request_has_response(request) && !qp->attr.max_rd_atomic &&
	    !sent_before(requester))
		request->status = IB_WC_LOC_QP_OP_ERR;
	if (request->status != IB_WC_SUCCESS)
		return fail_request(qp, request);
	if (must_wait(qp, request))
		return false;
	if (roce_request_is_local(request))
		return execute_local(qp, request);
	if (waits_for_company(qp, request))
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

/* It waits for its turn at the rate of the flow, and for nothing else. */
static bool is_pacing(struct roce_requester *requester)
{
	return requester->pacing && roce_requester_is_waiting(requester);
}

static bool advance_requester(struct roce_engine *engine)
{
	struct roce_qp *qp = roce_requester_qp(engine);
	int trains = ROCE_TRAINS_PER_STEP;
	bool more = false;

	switch (READ_ONCE(qp->state)) {
	case IB_QPS_SQE:
	case IB_QPS_ERR:
		return flush_some(qp);
	default:
		if (!roce_qp_is_sending(qp))
			return false;
	}

	if (!roce_reorder_is_idle(&qp->requester.reorder))
		more = roce_completer_receive_early(qp);
	if (!roce_qp_is_sending(qp))
		return true;
	roce_retransmit_check_timeout(qp);
	roce_probe_check(qp);
	while (trains && roce_qp_is_sending(qp) && send_next(qp))
		trains = roce_engine_budget_is_used_up() ? 0 : trains - 1;
	/* A request failed, and the others are to be flushed. */
	if (!roce_qp_is_sending(qp))
		return true;
	if (trains && roce_flow_is_limited(&qp->flow) && !is_pacing(&qp->requester))
		roce_flow_interrupt(qp, ROCE_REQUESTER);
	roce_retransmit_arm_timer(qp);
	roce_probe_arm(qp);
	check_drained(qp);
	return !trains || more;
}

static const struct roce_engine_ops requester_ops = {
	.receive = roce_completer_receive,
	.advance = advance_requester,
};

static enum hrtimer_restart requester_wait_is_over(struct hrtimer *timer)
{
	struct roce_requester *requester =
		container_of(timer, struct roce_requester, wait_timer);

	roce_engine_run(&requester->engine);
	return HRTIMER_NORESTART;
}

/**
 * roce_requester_init() - set up what lives as long as the QP
 * @qp: new
 */
void roce_requester_init(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	roce_engine_init(&requester->engine, &requester_ops);
	roce_reorder_init(&requester->reorder, &requester->engine);
	spin_lock_init(&requester->post_lock);
	hrtimer_setup(&requester->wait_timer, requester_wait_is_over, CLOCK_MONOTONIC,
		      ROCE_WAIT_MODE);
	roce_retransmit_init(qp);
	roce_probe_init(qp);
}

/**
 * roce_requester_start() - take the attributes of a QP that becomes ready to send
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
	roce_retransmit_start(qp);
	/* What was posted too early was refused, but lies in the ring. */
	if (roce_qp_is_user(qp))
		roce_ring_skip(&requester->ring);
}

/**
 * roce_requester_set_asked_end() - how many READs and atomics may be under way
 *	changed
 * @qp: its requester is owned by the caller; attr.max_rd_atomic is set
 * @asked_end: room for as many, rounded up to a power of two, NULL if that is 0;
 *	the requester's from now on
 *
 * More than are allowed from now on may be under way: the room never shrinks.
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
 * roce_requester_reset() - forget all work requests
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
	requester->stalls = 0;
	if (roce_qp_is_user(qp))
		roce_ring_reset(&requester->ring);
}

/**
 * roce_requester_stop() - stop the timers, and drop what came early
 * @qp: in a state in which nothing starts them
 *
 * Process context.
 */
void roce_requester_stop(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	roce_retransmit_stop(qp);
	roce_probe_stop(qp);
	hrtimer_cancel(&requester->wait_timer);
	requester->wait_end = 0;
	roce_reorder_stop(&requester->reorder, qp);
}
