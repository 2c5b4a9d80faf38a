// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The cursor of a requester: which packets are next, whether they must wait, and how
 * they get into a train.
 *
 * Packets are numbered when their work request is fetched. To send, a cursor (psn,
 * and the request of that packet) walks over the numbered packets:
 *
 *	unacked_psn           psn            limit_psn        next_psn
 *	   | sent, not acked   | sent before   | fetched, never  |
 *	   |                   | going back    | sent            |
 *
 * A loss moves the cursor back to unacked_psn, and everything from there on is sent
 * again, see retransmit.c. A window limits the packets between unacked_psn and the
 * cursor that may be in the network.
 *
 * A READ takes as many PSNs as its response has packets. Several request packets of at
 * most a window ask for a long READ, so that the responder never has more to send
 * than this side accepts in flight. After a loss, the same pieces or their ends are
 * asked for again: for a responder, a duplicate request lies within a request that it
 * has executed.
 */
#include "counters.h"
#include "cursor.h"
#include "flow.h"
#include "packet.h"
#include "qp.h"
#include "request.h"
#include "request_packet.h"
#include "requester.h"
#include "roce_psn.h"
#include "scoreboard.h"
#include "spread.h"
#include "train.h"

/*
 * Work in flight that keeps a peer busy while a short message waits for others, in bytes.
 * PACKET_COST is the cost of a packet in addition to its payload.
 */
#define ENOUGH_IN_FLIGHT	SZ_16K
#define PACKET_COST		SZ_1K

/* A round trip in a data centre; longer ones must not become much longer. */
#define MAX_WAIT_FOR_COMPANY	(100 * NSEC_PER_USEC)

/* Acknowledgments to ask for within a near window, at least */
#define ACK_REQUESTS		4

/* Packets of a message that is not long */
#define SHORT_MESSAGE		8

/*
 * Uncompleted requests before a local operation is executed: one acknowledgment
 * completes all of them. The window limits other requests.
 */
#define MAX_UNCOMPLETED		512

static u32 packet_index(const struct roce_requester *requester,
			const struct roce_request *request)
{
	return roce_psn_add(requester->psn, -request->first_psn);
}

/**
 * roce_cursor_request() - get the request at the cursor
 * @qp: its requester is owned by the caller, who is in a section
 *
 * Fetches the request if necessary.
 *
 * Return: the request, NULL if everything was sent, or the queue drains.
 */
struct roce_request *roce_cursor_request(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->current_request != requester->fetched)
		return roce_request(requester, requester->current_request);
	/* In SQD no new request is started. */
	if (READ_ONCE(qp->state) != IB_QPS_RTS)
		return NULL;
	return roce_request_fetch(qp);
}

/* Number of responses of the READ at the cursor to ask for now, 0 for none */
static u32 responses_to_ask_for(struct roce_qp *qp, const struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;
	u32 room = roce_window_room(qp), packets, end;

	if (roce_cursor_sent_before(requester)) {
		end = roce_request_packet_end(requester, requester->psn);
		packets = roce_psn_add(end, -requester->psn);
		return roce_in_flight(requester) && packets > room ? 0 : packets;
	}
	packets = min(request->packets - packet_index(requester, request),
		      requester->window);
	/* Wait rather than ask for a few responses. */
	return room < min(packets, requester->window / 4) ? 0 :
	       min(packets, room);
}

/* Number of PSNs of the packet at the cursor, 0 if it must wait */
static u32 psns_to_take(struct roce_qp *qp, const struct roce_request *request)
{
	return roce_request_is_read(request) ? responses_to_ask_for(qp, request) : 1;
}

static void move_cursor(struct roce_qp *qp, const struct roce_request *request,
			u32 packets)
{
	struct roce_requester *requester = &qp->requester;
	bool asks = roce_request_has_response(request) &&
		    !roce_cursor_sent_before(requester);

	/* With nothing in flight no answer is late yet, unless the netdev stalls. */
	if (!roce_in_flight(requester) && !requester->sender.stalls)
		roce_retransmit_expect_progress(qp);
	requester->psn = roce_psn_add(requester->psn, packets);
	if (asks)
		*roce_asked_end(requester, requester->asked++) = requester->psn;
	if (packet_index(requester, request) == request->packets)
		requester->current_request++;
	requester->limit_psn = roce_psn_later(requester->limit_psn, requester->psn);
}

static bool has_arrived(const struct roce_requester *requester, u32 psn)
{
	return requester->board && roce_scoreboard_has(requester->board, psn);
}

/**
 * roce_cursor_skip_what_has_arrived() - skip packets that the peer has received
 * @qp: its requester is owned by the caller, who is in a section
 *
 * For going back. Stops before local operations.
 */
void roce_cursor_skip_what_has_arrived(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	while (roce_cursor_sent_before(requester) &&
	       has_arrived(requester, requester->psn)) {
		const struct roce_request *request = roce_cursor_request(qp);
		u32 psn = requester->psn;

		if (roce_request_is_local(request))
			return;
		move_cursor(qp, request, !roce_request_is_read(request) ? 1 :
			    roce_psn_add(roce_request_packet_end(requester, psn), -psn));
	}
}

/*
 * Ask more often if packets wait for the rate: the acknowledgment must not be late. With
 * many paths each train ends a round trip.
 */
static u32 ack_request_interval(const struct roce_qp *qp)
{
	u32 packets = min(qp->requester.window, ROCE_NEAR_WINDOW) / ACK_REQUESTS;

	if (!roce_flow_is_limited(&qp->flow) &&
	    !qp->requester.engine.turn.waited && !roce_spread_is_on(qp))
		return packets;
	return min(roce_flow_train_bytes(&qp->flow) / qp->mtu, packets);
}

/*
 * The first packet of a connection asks: its answer tells the round trip while the network is
 * empty, and agrees on selective acknowledgments before packets are lost. A short message
 * asks soon enough at its end.
 */
static bool begins_connection(const struct roce_qp *qp, const struct roce_request *request)
{
	return qp->requester.psn == qp->attr.sq_psn && request->packets > SHORT_MESSAGE;
}

/* Number of packets to send before one that asks for an acknowledgment */
static u32 packets_until_ack_request(const struct roce_qp *qp,
				     const struct roce_request *request)
{
	const struct roce_requester *requester = &qp->requester;
	u32 since_request = roce_psn_add(requester->psn,
					 -requester->ack_request_psn);
	u32 interval = ack_request_interval(qp);

	if (begins_connection(qp, request))
		return 0;
	return interval > since_request ? interval - since_request : 0;
}

/**
 * roce_cursor_window_is_open() - whether the window allows another packet
 * @qp: its requester is owned by the caller; always true if it is not reliable
 */
bool roce_cursor_window_is_open(const struct roce_qp *qp)
{
	return !roce_qp_is_reliable(qp) || roce_window_room(qp);
}

/**
 * roce_cursor_must_wait() - whether a request waits for others, or for the window
 * @qp: its requester is owned by the caller
 * @request: at the cursor
 *
 * A fence waits for all READs and atomics, and the number of these is limited. A local
 * invalidate with a fence waits for all requests (IBA volume 1, 10.8.3.3). A request
 * that is sent again has waited before. A READ waits for room in the window each time.
 */
bool roce_cursor_must_wait(struct roce_qp *qp, const struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;

	if (!psns_to_take(qp, request))
		return true;
	if (roce_cursor_sent_before(requester))
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

/*
 * A short message costs much less in a train with others. So while the peer has enough
 * messages to work on, a short message waits until a train is full. (TCP calls this
 * autocorking.) It does not wait while READs are outstanding, since their PSNs do not
 * tell the amount of work. A READ never waits: its response is most of the work.
 */
static bool wants_company(const struct roce_qp *qp,
			  const struct roce_request *request)
{
	const struct roce_requester *requester = &qp->requester;
	u32 length = min(request->length, qp->mtu);
	u32 waiting, train;

	if (!roce_qp_is_reliable(qp) || roce_request_is_read(request) ||
	    request->packets > 1 || roce_cursor_sent_before(requester) ||
	    requester->asked ||
	    roce_in_flight(requester) * (PACKET_COST + length) < ENOUGH_IN_FLIGHT)
		return false;
	waiting = requester->fetched - requester->current_request +
		  roce_requests_waiting(qp);
	train = min_t(u32, ROCE_TRAIN_MAX_PACKETS,
		      ROCE_TRAIN_MAX_BYTES / max(length, 1u));
	return waiting < train;
}

/**
 * roce_cursor_waits_for_company() - whether a short message waits for others
 * @qp: its requester is owned by the caller
 * @request: at the cursor, within the window
 *
 * An acknowledgment runs the requester again. With a distant peer this alone would halve
 * the throughput of a queue of about ten messages, so there is a timer, too.
 *
 * Return: true if the message waits.
 */
bool roce_cursor_waits_for_company(struct roce_qp *qp,
				   const struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;
	struct hrtimer *timer = &requester->sender.timer;

	if (!wants_company(qp, request))
		return false;
	if (requester->company_awaited)
		return hrtimer_is_queued(timer);
	requester->company_awaited = true;
	hrtimer_start(timer, MAX_WAIT_FOR_COMPANY, ROCE_WAIT_MODE);
	return true;
}

/*
 * The request at the cursor if its packet can follow in the train, else NULL. READs do not
 * count against the rate, so they do not share a train with others.
 */
static struct roce_request *next_in_train(struct roce_qp *qp, bool reads)
{
	struct roce_request *request;

	/* The next datagram may have another destination. */
	if (roce_qp_is_datagram(qp) || !roce_cursor_window_is_open(qp))
		return NULL;
	request = roce_cursor_request(qp);
	if (!request || request->status != IB_WC_SUCCESS ||
	    roce_request_is_read(request) != reads ||
	    roce_request_is_local(request) ||
	    has_arrived(&qp->requester, qp->requester.psn) ||
	    roce_cursor_must_wait(qp, request))
		return NULL;
	return request;
}

/* Number of packets from the cursor on that differ only in the PSN */
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
	/* The peer may have some of them. */
	if (roce_cursor_sent_before(requester) &&
	    roce_scoreboard_has_gaps(requester->board))
		return 1;
	count = min(count, roce_window_room(qp));
	return min(count, packets_until_ack_request(qp, request));
}

/**
 * roce_cursor_fill_train() - fill a train from the cursor on
 * @qp: its requester is owned by the caller, who is in a section; the packet at the
 *	cursor need not wait
 * @train: empty
 *
 * Takes only READs or only other requests, like the first one. The packets may belong to
 * one message, or to several short ones. Moves the cursor. Sets the status of a request
 * whose memory cannot be read.
 *
 * Return: 0, or a negative errno if the train is empty because of it.
 */
int roce_cursor_fill_train(struct roce_qp *qp, struct roce_train *train)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_request *request = roce_cursor_request(qp);
	bool reads = roce_request_is_read(request);

	for (; request; request = next_in_train(qp, reads)) {
		u32 psns = psns_to_take(qp, request);
		u32 before = train->packets, count, added;
		struct roce_packet packet;
		int err;

		roce_request_describe(qp, request, requester->psn, psns, &packet);
		if (!packet.ack_request && roce_qp_is_reliable(qp) &&
		    !packets_until_ack_request(qp, request))
			roce_request_ask_for_ack(qp, &packet);
		if (!roce_train_fits(train, roce_packet_size(&packet)))
			return 0;
		count = count_requests_alike(qp, request, &packet, train);
		err = roce_request_add_packets(qp, request, &packet, count, train);
		if (err && err != -ENOMEM && err != -EAGAIN)
			request->status = IB_WC_LOC_PROT_ERR;
		/* Some packets may be complete despite the error. */
		added = train->packets - before;
		if (added && packet.ack_request)
			requester->ack_request_psn = packet.psn;
		if (added)
			move_cursor(qp, request, reads ? psns : added);
		if (err)
			return train->packets ? 0 : err;
	}
	return 0;
}

/**
 * roce_cursor_here() - save the cursor
 * @requester: owned by the caller
 */
struct roce_cursor_place roce_cursor_here(const struct roce_requester *requester)
{
	return (struct roce_cursor_place) {
		.psn = requester->psn,
		.request_number = requester->current_request,
		.limit_psn = requester->limit_psn,
		.ack_request_psn = requester->ack_request_psn,
	};
}

/* The PSN of the packet after @psn, in a train that begins at @place */
static u32 psn_behind(struct roce_requester *requester,
		      const struct roce_cursor_place *place, u32 psn)
{
	if (roce_request_is_read(roce_request(requester, place->request_number)))
		return roce_request_packet_end(requester, psn);
	return roce_psn_add(psn, 1);
}

/**
 * roce_cursor_return_to() - move the cursor back, to the unsent packets of a train
 * @requester: owned by the caller
 * @place: where the train began
 * @packets: number of packets of the train that need not be sent any more
 */
void roce_cursor_return_to(struct roce_requester *requester,
			   const struct roce_cursor_place *place, u32 packets)
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
	requester->limit_psn = roce_psn_later(place->limit_psn, requester->psn);
	if (!roce_psn_precedes(requester->ack_request_psn, requester->psn))
		requester->ack_request_psn = place->ack_request_psn;
	while (requester->asked &&
	       roce_psn_diff(*roce_asked_end(requester, requester->asked - 1),
			     requester->limit_psn) > 0)
		requester->asked--;
}

/**
 * roce_cursor_count_retransmitted() - count the packets of a train that were sent before
 * @qp: its requester is owned by the caller
 * @place: where the train began
 * @packets: number of packets of the train that were sent
 */
void roce_cursor_count_retransmitted(struct roce_qp *qp,
				     const struct roce_cursor_place *place, u32 packets)
{
	u32 again = 0, psn = place->psn;

	while (again < packets && roce_psn_diff(place->limit_psn, psn) > 0) {
		psn = psn_behind(&qp->requester, place, psn);
		again++;
	}
	if (again)
		roce_count_add(qp, retransmitted_packets, again);
}
