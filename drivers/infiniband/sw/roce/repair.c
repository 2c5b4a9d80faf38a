// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Retransmissions that leave the cursor where it is:
 *
 * - requests for lost responses, see question.c;
 * - lost requests, if the peer reports them by a selective acknowledgment;
 * - the last packet, as a probe: its acknowledgment reports the losses before it.
 *
 * It is part of the requester's engine and works on its state.
 */
#include "counters.h"
#include "engine.h"
#include "flow.h"
#include "packet.h"
#include "qp.h"
#include "question.h"
#include "repair.h"
#include "request.h"
#include "request_packet.h"
#include "requester.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "scoreboard.h"
#include "spread.h"
#include "train.h"
#include "xmit.h"

/* One of so many retransmitted packets asks for an acknowledgment; a power of two. */
#define ACK_INTERVAL		32

/* --- Lost requests --- */

/* Whether a request packet of the READ has the PSN @psn */
static bool is_asked_from(struct roce_requester *requester,
			  const struct roce_request *request, u32 psn)
{
	u32 n;

	if (psn == request->first_psn || psn == requester->unacked_psn)
		return true;
	for (n = 0; n < requester->asked; n++)
		if (*roce_asked_end(requester, n) == psn)
			return true;
	return false;
}

/*
 * Find the next lost request packet, and count those that follow in the same gap and the
 * same request; false if there is none. The cursor sends the packets after it.
 */
static bool find_lost(struct roce_requester *requester, struct roce_missing *missing)
{
	struct roce_scoreboard *board = requester->board;
	const struct roce_request *request;
	u32 begin, end, behind;

	while (roce_scoreboard_next(board, &begin, &end)) {
		if (roce_psn_diff(begin, requester->psn) >= 0)
			return false;
		request = roce_request_of(requester, begin);
		if (!request)
			return false;
		behind = roce_request_end(request);
		if (roce_request_is_read(request)) {
			behind = roce_request_packet_end(requester, begin);
			end = behind;
		}
		if (!roce_request_is_read(request) ||
		    is_asked_from(requester, request, begin)) {
			*missing = (struct roce_missing) {
				.request = request,
				.psn = begin,
				.packets = min(roce_psn_add(end, -begin),
					       roce_psn_add(behind, -begin)),
			};
			return true;
		}
		/* The request packet of this response was sent again already. */
		roce_scoreboard_resent(board, begin, behind, requester->limit_psn);
	}
	return false;
}

/*
 * Describe a lost packet, and return the number of similar packets to send. The last
 * one of a gap asks for an acknowledgment, and so do some before it.
 */
static u32 describe_lost(struct roce_qp *qp, const struct roce_missing *missing,
			 const struct roce_train *train, struct roce_packet *packet)
{
	const struct roce_request *request = missing->request;
	u32 index = roce_psn_add(missing->psn, -request->first_psn);
	u32 count = ACK_INTERVAL - 1 - missing->psn % ACK_INTERVAL;

	roce_request_describe(qp, request, missing->psn, missing->packets, packet);
	if (packet->ack_request)
		return 1;
	count = min(count, missing->packets - 1);
	if (!count) {
		roce_request_ask_for_ack(qp, packet);
		return 1;
	}
	if (!index)
		return 1;
	return min(count, roce_train_capacity(train, roce_packet_size(packet)));
}

/* Like going back, retransmissions fill half the window at most. */
static bool has_room_to_repair(const struct roce_requester *requester)
{
	return roce_scoreboard_under_way(requester->board) <= requester->window / 2;
}

static void note_sent_again(struct roce_requester *requester, u32 psn, u32 end,
			    u32 first, u32 packets)
{
	u32 n;

	for (n = 0; n < packets; n++)
		requester->board->repaired[first + n] = roce_psn_add(psn, n);
	roce_scoreboard_resent(requester->board, psn, end, requester->limit_psn);
}

static int repeat_lost(struct roce_qp *qp, struct roce_train *train)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_missing missing;

	roce_spread_train_again(qp, train, requester->silent);
	while (find_lost(requester, &missing)) {
		bool read = roce_request_is_read(missing.request);
		u32 before = train->packets, count, added, end;
		struct roce_packet packet;
		int err;

		if (before && (read == train->data ||
			       !has_room_to_repair(requester)))
			return 0;
		count = describe_lost(qp, &missing, train, &packet);
		if (!roce_train_fits(train, roce_packet_size(&packet)))
			return 0;
		err = roce_request_add_packets(qp, missing.request, &packet, count,
					       train);
		added = train->packets - before;
		end = roce_psn_add(missing.psn, read ? missing.packets : added);
		if (added)
			note_sent_again(requester, missing.psn, end, before, added);
		if (err)
			return train->packets ? 0 : err;
	}
	return 0;
}

/* --- Probes --- */

/* Send the last packet again; for a READ, the request for its last response alone. */
static int probe(struct roce_qp *qp, struct roce_train *train)
{
	u32 psn = roce_psn_add(qp->requester.limit_psn, -1);
	const struct roce_request *request = roce_request_of(&qp->requester, psn);
	struct roce_packet packet;

	if (!request)
		return -ENOENT;
	roce_spread_train_again(qp, train, true);
	roce_request_describe(qp, request, psn, 1, &packet);
	if (!packet.ack_request)
		roce_request_ask_for_ack(qp, &packet);
	return roce_request_add_packets(qp, request, &packet, 1, train);
}

/* --- Sending --- */

static bool lost_is_due(struct roce_requester *requester)
{
	struct roce_missing missing;

	return roce_scoreboard_has_gaps(requester->board) &&
	       has_room_to_repair(requester) && find_lost(requester, &missing);
}

/**
 * roce_repair_is_due() - whether packets must be sent again without moving the cursor
 * @requester: owned by the caller
 */
bool roce_repair_is_due(struct roce_requester *requester)
{
	return roce_questions_are_due(requester) || lost_is_due(requester) ||
	       requester->probing;
}

/*
 * Sending the oldest packet again is a retry, except as a probe of a silent peer, and after
 * a path that delivers nothing: others do.
 */
static bool is_retry(const struct roce_scoreboard *board, u32 psn)
{
	return psn == board->expected && board->gap[0].loss != ROCE_GAP_SILENT &&
	       board->gap[0].loss != ROCE_GAP_VANISHED;
}

static bool send_lost(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_xmit xmit = { .build = repeat_lost };
	struct roce_missing missing;
	bool retry;
	u32 done, n;
	int err;

	if (!find_lost(requester, &missing))
		return true;
	retry = is_retry(requester->board, missing.psn);
	if (retry && !requester->retries) {
		roce_request_fail(qp, IB_WC_RETRY_EXC_ERR);
		return true;
	}
	xmit.data = !roce_request_is_read(missing.request);
	err = roce_retransmit_send(qp, &xmit);
	done = roce_xmit_done(&xmit, err);
	roce_count_add(qp, selective_repeats, xmit.train.sent);
	roce_spread_sent_again(qp, &xmit, requester->board->repaired);
	for (n = done; n < xmit.train.packets; n++)
		roce_scoreboard_take_back(requester->board, requester->board->repaired[n]);
	if (done)
		requester->silent = false;
	if (done && retry) {
		requester->retries--;
		roce_retransmit_expect_progress(qp);
	}
	/* No access to the memory any more: the request fails when the cursor gets there. */
	if (err == -EACCES)
		roce_retransmit_go_back(qp);
	return err != -EBUSY;
}

/* No data to the flow: a probe does not wait for its rate, and so is not ECN-capable. */
static bool send_probe(struct roce_qp *qp)
{
	u32 psn = roce_psn_add(qp->requester.limit_psn, -1);
	struct roce_xmit xmit = { .build = probe };
	int err;

	err = roce_retransmit_send(qp, &xmit);
	qp->requester.probing = err == -EBUSY;
	if (xmit.train.sent)
		qp->requester.timed_copied = true;
	roce_spread_sent_again(qp, &xmit, &psn);
	roce_count_add(qp, tail_loss_probes, xmit.train.sent);
	return err != -EBUSY;
}

/**
 * roce_repair_send() - send one train of retransmissions
 * @qp: its requester is owned by the caller; roce_repair_is_due()
 *
 * BH disabled, RCU read side.
 *
 * Return: false if nothing can be sent now.
 */
bool roce_repair_send(struct roce_qp *qp)
{
	if (roce_questions_are_due(&qp->requester))
		return roce_questions_send(qp);
	if (lost_is_due(&qp->requester))
		return send_lost(qp);
	return send_probe(qp);
}

/* --- Received selective acknowledgments --- */

/**
 * roce_repair_board() - get the scoreboard of a requester
 * @requester: owned by the caller
 *
 * Return: the scoreboard, or NULL without memory for the first one.
 */
struct roce_scoreboard *roce_repair_board(struct roce_requester *requester)
{
	if (!requester->board)
		requester->board = roce_engine_alloc(sizeof(*requester->board));
	return requester->board;
}

/*
 * React to a loss once for all packets in flight together: by the window over a crowded
 * port, else by the rate if much is lost.
 */
static void tell_of_loss(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_scoreboard *board = requester->board;
	struct roce_missing missing;
	u32 lost;

	if (!find_lost(requester, &missing) ||
	    roce_loss_is_told(requester, missing.psn))
		return;
	lost = roce_scoreboard_lost(board);
	if (!roce_window_give_way(qp, lost)) {
		if (!roce_is_congestion(lost, roce_psn_add(board->high,
							   -board->expected)))
			return;
		roce_flow_lost(qp, ROCE_CC_NAK);
	}
	roce_loss_told(requester);
}

/**
 * roce_repair_alone() - handle a NAK of a peer that has accepted selective acknowledgments
 * @qp: its requester is owned by the caller; the oldest packet in flight is missing
 *
 * The peer keeps what came early, but may not tell before it has received CONFIRM. So the
 * missing packet is sent again alone, and with it CONFIRM. That the next one has arrived
 * is a guess, which the answer corrects. If there are more NAKs, many packets are missing.
 *
 * Return: false if the requester must go back.
 */
bool roce_repair_alone(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	u32 psn = requester->unacked_psn, next = roce_psn_add(psn, 1);
	struct roce_scoreboard *board;

	if (!requester->sack_accepted || !roce_psn_precedes(next, requester->limit_psn))
		return false;
	board = roce_repair_board(requester);
	if (!board)
		return false;
	if (!roce_scoreboard_expect(board, psn) || board->gaps)
		return true;
	if (requester->repaired_alone)
		return false;
	requester->repaired_alone = true;
	roce_scoreboard_arrived(board, next, roce_psn_add(next, 1), psn);
	roce_scoreboard_lose(board, next);
	tell_of_loss(qp);
	return true;
}

/* A selective acknowledgment of the timed packet ends the round trip, too. */
static void look_at_timed(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	u32 psn = requester->timed_psn;

	if (!requester->timed_at ||
	    roce_psn_diff(psn, requester->board->expected) < 0 ||
	    roce_psn_diff(psn, requester->board->high) >= 0)
		return;
	if (roce_scoreboard_has(requester->board, psn))
		roce_window_end_round_trip(qp);
	requester->timed_at = 0;
}

/*
 * The end of a range that has arrived. Of a READ the peer names the PSN of the request
 * packet; its responses have PSNs, too, but nothing that could be missing.
 */
static u32 end_of_arrival(struct roce_requester *requester, u32 end)
{
	u32 last = roce_psn_add(end, -1);
	const struct roce_request *request = roce_request_of(requester, last);

	if (!request || !roce_request_is_read(request))
		return end;
	return roce_request_packet_end(requester, last);
}

/**
 * roce_repair_learn() - handle a selective acknowledgment
 * @qp: its requester is owned by the caller; the scoreboard has the ranges, checked by
 *	roce_sack_check()
 * @packet: the acknowledgment
 * @count: number of ranges
 *
 * The engine sends lost packets again when it sends next.
 */
void roce_repair_learn(struct roce_qp *qp, const struct roce_packet *packet, u32 count)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_scoreboard *board = requester->board;
	bool news = false;
	u32 n, lost_end;

	if (!roce_scoreboard_expect(board, packet->psn))
		return;
	for (n = 0; n < count; n++) {
		const struct roce_sack_range *range = &board->ranges[n];
		u32 begin = roce_psn_add(packet->psn, be16_to_cpu(range->begin));
		u32 end = roce_psn_add(packet->psn, be16_to_cpu(range->end));

		if (roce_scoreboard_arrived(board, begin, end_of_arrival(requester, end),
					    requester->back_psn))
			news = true;
	}
	roce_spread_learn(qp, packet->psn);
	lost_end = roce_spread_unknown(requester, roce_psn_add(packet->psn, packet->lost));
	roce_scoreboard_lose(board, lost_end);
	if (news) {
		requester->news++;
		roce_retransmit_expect_progress(qp);
	}
	tell_of_loss(qp);
}

/**
 * roce_repair_count_news() - count what a selective acknowledgment has told of
 * @qp: its requester is owned by the caller, and has moved on to the PSN of the
 *	acknowledgment, after roce_repair_learn()
 */
void roce_repair_count_news(struct roce_qp *qp)
{
	look_at_timed(qp);
	roce_window_arrived(qp, roce_psn_add(qp->requester.board->high, -1));
}
