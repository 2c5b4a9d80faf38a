// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The completer: acknowledgments and responses complete work requests (IBA
 * volume 1, 9.7.5.2 and 9.7.6). It is part of the requester's engine and works
 * on its state.
 *
 * An acknowledgment covers all earlier PSNs. A READ or an atomic is acknowledged only
 * by its responses. So if a later packet is acknowledged and a response is missing, the
 * response was overtaken or lost. Early responses are kept, see reorder.c. Lost ones are
 * asked for again, without going back.
 */
#include "cc.h"
#include "cnp.h"
#include "codec.h"
#include "counters.h"
#include "engine.h"
#include "flow.h"
#include "payload.h"
#include "qp.h"
#include "question.h"
#include "reorder.h"
#include "repair.h"
#include "request.h"
#include "requester.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "run.h"
#include "sack.h"
#include "scoreboard.h"
#include "sge.h"
#include "spread.h"
#include "trace.h"

/* The oldest uncompleted request, NULL if there is none */
static struct roce_request *oldest_request(const struct roce_requester *requester)
{
	if (requester->completed == requester->fetched)
		return NULL;
	return roce_request(requester, requester->completed);
}

/*
 * The cursor must not stay before the acknowledged packets: a late acknowledgment saves
 * retransmissions.
 */
static void pull_cursor(struct roce_requester *requester)
{
	if (roce_psn_diff(requester->unacked_psn, requester->psn) <= 0)
		return;
	requester->psn = requester->unacked_psn;
	requester->sender.stalls = 0;
	requester->ack_request_psn = roce_psn_add(requester->psn, -1);
	requester->current_request = requester->completed;
}

/* Complete the oldest requests, and the local operations behind them. */
static void complete_requests(struct roce_qp *qp, u32 count)
{
	roce_requests_complete(qp, count);
	roce_engine_charge(count * ROCE_COMPLETION_COST);
	roce_requester_complete_local(qp);
}

/*
 * Number of requests without a response, from the oldest one on, that end at @psn or
 * before; @psn is behind unacked_psn.
 */
static u32 count_acknowledged(const struct roce_requester *requester, u32 psn)
{
	u32 number;

	for (number = requester->completed; number != requester->fetched; number++) {
		const struct roce_request *request = roce_request(requester, number);

		if (roce_request_is_local(request) || roce_request_has_response(request) ||
		    roce_psn_diff(psn, roce_request_end(request)) < 0)
			break;
	}
	return number - requester->completed;
}

static void finish_round_trip(struct roce_qp *qp)
{
	const struct roce_requester *requester = &qp->requester;

	if (requester->timed_at &&
	    roce_psn_diff(requester->unacked_psn, requester->timed_psn) > 0)
		roce_window_end_round_trip(qp);
}

/*
 * The responder has received everything before @psn. Returns false if a READ or an atomic
 * in between still waits for responses.
 */
static bool acknowledge_until(struct roce_qp *qp, u32 psn)
{
	struct roce_requester *requester = &qp->requester;
	const struct roce_request *request;
	u32 before = requester->unacked_psn;
	bool whole = true;
	u32 count;

	while (roce_psn_diff(psn, requester->unacked_psn) > 0 &&
	       (count = count_acknowledged(requester, psn))) {
		request = roce_request(requester, requester->completed + count - 1);
		requester->unacked_psn = roce_request_end(request);
		complete_requests(qp, count);
	}
	request = oldest_request(requester);
	if (request && roce_psn_diff(psn, requester->unacked_psn) > 0) {
		whole = !roce_request_has_response(request);
		if (whole)
			requester->unacked_psn = psn;
	}

	if (requester->unacked_psn != before)
		roce_retransmit_progressed(qp);
	finish_round_trip(qp);
	pull_cursor(requester);
	if (unlikely(requester->paths))
		roce_spread_acknowledged(qp, psn);
	return whole;
}

/*
 * A sign of loss may be about the gap for which the requester has gone back, or about
 * packets that the peer has dropped after an RNR NAK. After the delay of an RNR NAK it is
 * about a new loss, as soon as something was sent.
 */
static bool is_recovering(struct roce_requester *requester)
{
	return requester->recovering || !roce_in_flight(requester) ||
	       roce_sender_obeys_rnr_nak(&requester->sender);
}

static void implied_nak(struct roce_qp *qp)
{
	if (is_recovering(&qp->requester))
		return;
	roce_retransmit_retry(qp, ROCE_COUNTER_implied_nak_seq_err);
}

/*
 * The first missing response, from the oldest unacknowledged PSN on; @limit if there is
 * none before that
 */
static u32 find_awaited_response(const struct roce_requester *requester, u32 limit)
{
	u32 psn, number;

	if (!requester->asked)
		return limit;
	number = roce_request_number(requester,
				     roce_psn_add(*roce_asked_end(requester, 0), -1));
	psn = number == requester->completed ? requester->unacked_psn :
	      roce_request(requester, number)->first_psn;
	return roce_psn_earlier(psn, limit);
}

/*
 * This packet implies a response that is missing. Returns true if the packet is kept for
 * later, with the rest of its run. An acknowledgment in place of the response itself is
 * not kept: it was not overtaken.
 */
static bool receive_response_ahead(struct roce_qp *qp, struct sk_buff *skb,
				   const struct roce_packet *packet)
{
	struct roce_requester *requester = &qp->requester;

	requester->one_question = !packet->migrated;
	if (find_awaited_response(requester, packet->psn) != packet->psn &&
	    roce_reorder_prepare(&requester->reorder, &requester->engine, qp) &&
	    roce_reorder_keep(requester->reorder, qp, skb, packet,
			      requester->unacked_psn))
		return true;
	implied_nak(qp);
	return false;
}

static void receiver_not_ready(struct roce_qp *qp, u8 syndrome)
{
	struct roce_requester *requester = &qp->requester;
	u64 delay = roce_codec_rnr_delay(syndrome);

	roce_count(qp, rcvd_rnr_err);
	/* A copy of the same NAK */
	if (roce_sender_obeys_rnr_nak(&requester->sender))
		return;
	if (!requester->rnr_retries) {
		roce_request_fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	roce_count(qp, rnr_nak_retry_err);
	trace_roce_retry(qp, roce_counter_name(ROCE_COUNTER_rnr_nak_retry_err));
	/* 7 means no limit. */
	if (qp->attr.rnr_retry != 7)
		requester->rnr_retries--;
	/* The peer answers, so this is no timeout. */
	requester->retries = qp->attr.retry_cnt;
	roce_retransmit_go_back(qp);
	roce_sender_wait(&requester->sender, delay);
	requester->sender.rnr_waiting = true;
	/* The peer has kept nothing. What it will tell of is what is sent after the delay. */
	requester->recovering = false;
	requester->back_psn = requester->unacked_psn;
	/* Nothing is sent during the delay, so the answer comes later, too. */
	requester->ack_deadline += nsecs_to_jiffies(delay) + 1;
}

static void sequence_error(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	roce_count(qp, rcvd_seq_err);
	if (is_recovering(requester) || roce_repair_alone(qp))
		return;
	if (!roce_loss_is_told(requester, requester->unacked_psn)) {
		roce_flow_lost(qp, ROCE_CC_NAK);
		roce_loss_told(requester);
	}
	roce_retransmit_retry(qp, ROCE_COUNTER_packet_seq_err);
}

static void negative_acknowledge(struct roce_qp *qp, u8 syndrome)
{
	switch (syndrome & ROCE_AETH_VALUE_MASK) {
	case ROCE_NAK_PSN_SEQUENCE_ERROR:
		sequence_error(qp);
		break;
	case ROCE_NAK_INVALID_REQUEST:
		roce_request_fail(qp, IB_WC_REM_INV_REQ_ERR);
		break;
	case ROCE_NAK_REMOTE_ACCESS_ERROR:
		roce_request_fail(qp, IB_WC_REM_ACCESS_ERR);
		break;
	case ROCE_NAK_REMOTE_OPERATIONAL_ERROR:
		roce_request_fail(qp, IB_WC_REM_OP_ERR);
		break;
	default:
		roce_request_fail(qp, IB_WC_BAD_RESP_ERR);
		break;
	}
}

/* Returns true if the packet is kept for later. */
static bool receive_acknowledge(struct roce_qp *qp, struct sk_buff *skb,
				const struct roce_packet *packet)
{
	struct roce_requester *requester = &qp->requester;

	switch (packet->syndrome & ROCE_AETH_KIND_MASK) {
	case ROCE_AETH_ACK:
		return !acknowledge_until(qp, roce_psn_add(packet->psn, 1)) &&
		       receive_response_ahead(qp, skb, packet);
	case ROCE_AETH_RNR_NAK:
	case ROCE_AETH_NAK:
		break;
	default:
		roce_drop(qp, rx_dropped_header, packet);
		return false;
	}

	if (!packet->again)
		trace_roce_nak_received(qp, packet->psn, packet->syndrome);
	/* A NAK acknowledges all earlier packets. */
	if (!acknowledge_until(qp, packet->psn))
		return receive_response_ahead(qp, skb, packet);
	/* Outdated: its packet was acknowledged since. */
	if (requester->unacked_psn != packet->psn || !oldest_request(requester))
		return false;

	if ((packet->syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_RNR_NAK)
		receiver_not_ready(qp, packet->syndrome);
	else
		negative_acknowledge(qp, packet->syndrome);
	return false;
}

/* Returns the number of ranges, or -EINVAL. Without memory it is 0: the timeout repairs. */
static int read_ranges(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_scoreboard *board;

	if (!qp->requester.sack_accepted)
		return -EINVAL;
	board = roce_repair_board(&qp->requester);
	if (!board)
		return 0;
	return roce_sack_check(qp, packet, board->ranges);
}

/* Returns true if the packet is kept for later. It acknowledges all earlier PSNs. */
static bool receive_selective(struct roce_qp *qp, struct sk_buff *skb,
			      const struct roce_packet *packet)
{
	int count = read_ranges(qp, packet);
	bool whole;

	if (count < 0) {
		roce_drop(qp, rx_dropped_header, packet);
		return false;
	}
	if (!packet->again) {
		roce_count(qp, selective_acks_received);
		trace_roce_sack_received(qp, packet->psn, packet->lost, count);
		if (count)
			roce_repair_learn(qp, packet, count);
	}
	whole = acknowledge_until(qp, packet->psn);
	if (!packet->again && count)
		roce_repair_count_news(qp);
	return !whole && receive_response_ahead(qp, skb, packet);
}

/*
 * The response to FLUSH and ATOMIC WRITE is that of an empty READ. Returns 0, -EBADMSG, or
 * the error of roce_payload_scatter().
 */
static int take_read_response(struct roce_qp *qp, const struct roce_request *request,
			      const struct roce_packet *packet)
{
	u32 offset = roce_psn_add(packet->psn, -request->first_psn) * qp->mtu;
	u32 expected = request->opcode != IB_WR_RDMA_READ ? 0 :
		       min(request->length - offset, qp->mtu);
	struct roce_sge_walk walk = roce_request_walk(qp, request, offset,
						      packet->payload,
						      IB_ACCESS_LOCAL_WRITE);

	if (packet->payload != expected)
		return -EBADMSG;
	walk.latest = &qp->requester.latest_key;
	return roce_payload_scatter(&walk, packet);
}

/* The original value is a number, so it is stored in host byte order. */
static int take_atomic_response(struct roce_qp *qp, const struct roce_request *request,
				const struct roce_packet *packet)
{
	u64 original = packet->original;
	struct roce_sge_walk walk = roce_request_walk(qp, request, 0,
						      sizeof(original),
						      IB_ACCESS_LOCAL_WRITE);

	return roce_sge_scatter_buffer(&walk, &original);
}

/* Returns true if the packet is kept for later. */
static bool receive_response(struct roce_qp *qp, struct sk_buff *skb,
			     const struct roce_packet *packet)
{
	bool atomic = packet->info->flags & ROCE_IS_ATOMIC;
	struct roce_requester *requester = &qp->requester;
	struct roce_request *request;
	int err;

	if (!acknowledge_until(qp, packet->psn))
		return receive_response_ahead(qp, skb, packet);
	request = oldest_request(requester);
	if (requester->unacked_psn != packet->psn || !request ||
	    !roce_request_has_response(request) ||
	    roce_request_is_atomic(request) != atomic) {
		roce_drop(qp, rx_dropped_unexpected_ack, packet);
		return false;
	}

	err = atomic ? take_atomic_response(qp, request, packet) :
		       take_read_response(qp, request, packet);
	if (err == -EAGAIN)
		return roce_qp_hold(&requester->engine, skb, packet);
	if (err) {
		roce_request_fail(qp, err == -EBADMSG ? IB_WC_BAD_RESP_ERR :
							IB_WC_LOC_PROT_ERR);
		return false;
	}
	requester->unacked_psn = roce_psn_add(packet->psn, 1);
	roce_retransmit_progressed(qp);
	finish_round_trip(qp);
	if (requester->unacked_psn == roce_request_end(request))
		complete_requests(qp, 1);
	pull_cursor(requester);
	return false;
}

/* An acknowledgment names the latest packet that has arrived, a selective one the next. */
static bool is_expected(const struct roce_requester *requester,
			const struct roce_packet *packet)
{
	s32 first = packet->info->flags & ROCE_HAS_SETH ? 0 : -1;

	return roce_psn_diff(packet->psn, requester->unacked_psn) >= first &&
	       roce_psn_diff(packet->psn, requester->limit_psn) < 0;
}

/* Returns true if the packet is kept for later, with the rest of its run. */
static bool receive_answer(struct roce_qp *qp, struct sk_buff *skb,
			   const struct roce_packet *packet)
{
	if (((packet->opcode & ROCE_SERVICE_MASK) != ROCE_SERVICE_RC &&
	     packet->opcode != ROCE_OPCODE_SACK) ||
	    qp->ibqp.qp_type != IB_QPT_RC ||
	    !(packet->info->flags & ROCE_IS_RESPONSE)) {
		if (packet->opcode != ROCE_OPCODE_PATH_ANSWER ||
		    !roce_spread_answer_came(qp, packet))
			roce_drop(qp, rx_dropped_opcode, packet);
		return false;
	}
	if (!is_expected(&qp->requester, packet)) {
		roce_reorder_came_twice(qp->requester.reorder, qp, packet->psn);
		roce_drop(qp, rx_dropped_unexpected_ack, packet);
		return false;
	}

	if (packet->info->flags & ROCE_HAS_SETH)
		return receive_selective(qp, skb, packet);
	if (packet->info->flags & ROCE_HAS_AETH)
		roce_sack_response_came(qp, packet);
	if (packet->info->flags & (ROCE_IS_READ | ROCE_IS_ATOMIC))
		return receive_response(qp, skb, packet);
	return receive_acknowledge(qp, skb, packet);
}

/* Consumes the sk_buff. */
static void receive_responses(struct roce_qp *qp, struct sk_buff *skb)
{
	bool from_peer = roce_qp_is_from_peer(qp, skb);
	struct roce_packet packet;

	roce_engine_charge(roce_run_bytes(skb));
	qp->requester.latest_key = NULL;
	while (roce_run_next(skb, qp, &packet)) {
		if (!roce_qp_is_sending(qp)) {
			roce_drop(qp, rx_dropped_qp_state, &packet);
			continue;
		}
		if (!from_peer) {
			roce_drop(qp, rx_dropped_address, &packet);
			continue;
		}
		roce_cnp_notify(qp, skb, &packet);
		if (receive_answer(qp, skb, &packet))
			return;
	}
	consume_skb(skb);
}

/**
 * roce_completer_receive() - handle a run of acknowledgments and responses
 * @engine: the requester of a QP, owned by the caller
 * @skb: consumed
 */
void roce_completer_receive(struct roce_engine *engine, struct sk_buff *skb)
{
	receive_responses(roce_requester_qp(engine), skb);
}

static void ask_again(struct roce_qp *qp, u32 psn)
{
	roce_questions_begin(&qp->requester, psn);
	roce_retransmit_expect_progress(qp);
}

/**
 * roce_completer_receive_early() - handle kept packets that are not early any more
 * @qp: its requester is owned by the caller, with packets kept, missing, or to be freed
 *
 * Return: true if there may be more.
 */
bool roce_completer_receive_early(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	u32 psn = find_awaited_response(requester, requester->limit_psn);
	struct sk_buff *skb = roce_reorder_take(requester->reorder, qp, psn);

	if (skb) {
		receive_responses(qp, skb);
		return true;
	}
	if (roce_reorder_is_lost(requester->reorder, qp, psn))
		ask_again(qp, psn);
	else if (roce_reorder_has_lost(requester->reorder))
		roce_questions_go_on(requester,
				     roce_reorder_lost_end(requester->reorder, qp, psn));
	return roce_reorder_free_some(requester->reorder, qp);
}
