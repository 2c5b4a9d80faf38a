// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Decides about a request packet of a connection: execute it, keep it for later, answer
 * it again, refuse or drop it (IBA volume 1, 9.7.4 and 9.7.5.1 for RC, 9.8.2 for UC).
 *
 * Packets of RC are executed strictly in the order of their PSNs. A packet ahead of
 * the expected PSN reveals a gap: one NAK is sent, and no other until the gap is
 * filled. A packet before the expected PSN is a duplicate: it is answered again, but
 * only a READ is executed again, since that changes nothing. The result of an atomic is
 * kept for as long as the peer may ask for it again.
 *
 * UC has no answers. The message with a gap is lost, and the first packet of the next
 * message is accepted whatever its PSN is.
 */
#include "answer.h"
#include "cnp.h"
#include "codec.h"
#include "counters.h"
#include "execute.h"
#include "packet.h"
#include "qp.h"
#include "reorder.h"
#include "responder.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "run.h"
#include "sack.h"
#include "spread.h"

/* Packets in flight when an RNR NAK was sent arrive within this time. */
#define UNDER_WAY_TIME		NSEC_PER_MSEC

/* 9.7.4.1.2 and 9.7.4.1.6: the packet must continue the previous one. */
static bool fits_message(const struct roce_qp *qp,
			 const struct roce_packet *packet)
{
	u32 flags = packet->info->flags;
	u16 message = qp->responder.message;

	if (flags & ROCE_IS_FIRST ? message != 0 : !(flags & message))
		return false;
	if (!(flags & ROCE_HAS_PAYLOAD))
		return true;
	if (!(flags & ROCE_IS_LAST))
		return packet->payload == qp->mtu;
	if (!(flags & ROCE_IS_FIRST) && !packet->payload)
		return false;
	return packet->payload <= qp->mtu;
}

static void executed(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u32 flags = packet->info->flags;

	responder->nak_sent = false;
	responder->psn = roce_psn_add(packet->psn,
				      roce_answer_packets(qp, packet));
	if (!(flags & ROCE_HAS_RESPONSE)) {
		responder->message = flags & ROCE_IS_LAST ? 0 :
				     flags & (ROCE_IS_SEND | ROCE_IS_WRITE);
		if (flags & ROCE_IS_LAST)
			responder->msn = roce_psn_add(responder->msn, 1);
	}
	if (roce_qp_is_reliable(qp))
		roce_answer_executed(qp, packet);
}

/* Send a NAK for the expected request. The QP goes to the error state after it. */
static void refuse(struct roce_qp *qp, enum roce_verdict verdict)
{
	/* An error of a receive is reported by its completion (9.9.3). */
	bool reported = qp->responder.failed;

	if (verdict == ROCE_ACCESS_VIOLATION)
		roce_count(qp, resp_remote_access_errors);
	if (verdict == ROCE_ACCESS_VIOLATION && !reported)
		roce_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
	if (verdict == ROCE_INVALID && !reported)
		roce_qp_event(qp, IB_EVENT_QP_REQ_ERR);
	roce_answer_nak(qp, ROCE_AETH_NAK | verdict);
	qp->responder.failed = true;
}

static void not_ready(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;

	roce_answer_nak(qp, ROCE_AETH_RNR_NAK | qp->attr.min_rnr_timer);
	responder->ahead_psn = responder->psn;
	responder->rnr_at = ktime_get_ns();
	roce_reorder_drop(responder->reorder, qp);
}

/* Returns true if the rest of the run is kept for later. */
static bool receive_expected(struct roce_qp *qp, struct sk_buff *skb,
			     const struct roce_packet *packet)
{
	enum roce_verdict verdict = fits_message(qp, packet) ?
				    roce_execute(qp, packet) : ROCE_INVALID;

	switch (verdict) {
	case ROCE_DONE:
		executed(qp, packet);
		return false;
	case ROCE_NOT_PRESENT:
		return roce_qp_hold(&qp->responder.engine, skb, packet);
	case ROCE_NOT_READY:
		not_ready(qp);
		return false;
	default:
		refuse(qp, verdict);
		return false;
	}
}

/*
 * Whether the requester has waited for the time in an RNR NAK and sends again, but the
 * packet with the expected PSN is lost. Otherwise the packet was in flight when the RNR
 * NAK was sent: such packets come soon, and once each.
 */
static bool has_begun_again(const struct roce_qp *qp, u32 psn)
{
	const struct roce_responder *responder = &qp->responder;
	u64 delay = roce_codec_rnr_delay(qp->attr.min_rnr_timer);

	if (!responder->rnr_at)
		return false;
	if (responder->ahead_psn == responder->psn)
		delay = max_t(u64, delay, UNDER_WAY_TIME);
	else if (roce_psn_diff(psn, responder->ahead_psn) > 0)
		return false;
	return ktime_get_ns() - responder->rnr_at >= delay;
}

static void nak_gap(struct roce_qp *qp)
{
	roce_answer_nak(qp, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR);
}

/*
 * An early packet has asked for an acknowledgment. A probe is a copy of one, if the
 * requester has not received the acknowledgment of that.
 */
static void acknowledge_early(struct roce_qp *qp)
{
	struct roce_reorder *reorder = qp->responder.reorder;

	if (reorder->ack_requested && roce_sack_is_confirmed(qp)) {
		if (reorder->copied)
			roce_spread_duplicate_came(qp);
		roce_answer_gap(qp);
	}
	reorder->ack_requested = false;
	reorder->copied = false;
}

/* The requester sends all packets after an RNR NAK again anyway. */
static bool is_to_be_kept(const struct roce_responder *responder)
{
	return !(responder->nak_sent && responder->rnr_at);
}

/* Returns true if the rest of the run is kept for later. */
static bool receive_request_ahead(struct roce_qp *qp, struct sk_buff *skb,
				  const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	bool silent = responder->nak_sent && !has_begun_again(qp, packet->psn);

	if (!packet->again)
		roce_count(qp, out_of_sequence);
	if (is_to_be_kept(responder) &&
	    roce_reorder_prepare(&responder->reorder, &responder->engine, qp) &&
	    roce_reorder_keep(responder->reorder, qp, skb, packet, responder->psn)) {
		acknowledge_early(qp);
		return true;
	}
	if (!responder->nak_sent ||
	    roce_psn_diff(packet->psn, responder->ahead_psn) > 0)
		responder->ahead_psn = packet->psn;
	if (!silent)
		nak_gap(qp);
	return false;
}

static void receive_duplicate(struct roce_qp *qp,
			      const struct roce_packet *packet)
{
	roce_count(qp, duplicate_request);
	roce_reorder_came_twice(qp->responder.reorder, qp, packet->psn);
	if (packet->ack_request)
		roce_spread_duplicate_came(qp);
	if (packet->info->flags & ROCE_IS_READ &&
	    roce_execute_check_read(qp, packet) != ROCE_DONE)
		return;
	roce_answer_again(qp, packet);
}

/* Returns true if the rest of the run is kept for later. */
static bool receive_reliable(struct roce_qp *qp, struct sk_buff *skb,
			     const struct roce_packet *packet)
{
	s32 ahead = roce_psn_diff(packet->psn, qp->responder.psn);

	if (packet->ack_request)
		roce_sack_request_came(qp, packet);
	if (ahead > 0)
		return receive_request_ahead(qp, skb, packet);
	if (ahead == 0)
		return receive_expected(qp, skb, packet);
	if (!roce_run(skb)->early)
		receive_duplicate(qp, packet);
	else /* It was kept, but meanwhile a retransmission was executed. */
		roce_count(qp, duplicate_request);
	return false;
}

/* Returns true if the rest of the run is kept for later. */
static bool receive_unreliable(struct roce_qp *qp, struct sk_buff *skb,
			       const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	enum roce_verdict verdict = ROCE_INVALID;

	if (packet->psn != responder->psn && !packet->again)
		roce_count(qp, out_of_sequence);
	/* Drop an incomplete message; the next one reuses its receive. */
	if (packet->psn != responder->psn || packet->info->flags & ROCE_IS_FIRST)
		responder->message = 0;
	if (fits_message(qp, packet))
		verdict = roce_execute(qp, packet);
	else
		roce_drop(qp, rx_dropped_incomplete, packet);

	switch (verdict) {
	case ROCE_DONE:
		executed(qp, packet);
		return false;
	case ROCE_NOT_PRESENT:
		return roce_qp_hold(&qp->responder.engine, skb, packet);
	case ROCE_OPERATIONAL_ERROR:
		roce_qp_set_error(qp, IB_QPS_ERR);
		return false;
	case ROCE_ACCESS_VIOLATION:
		roce_count(qp, resp_remote_access_errors);
		break;
	case ROCE_NOT_READY:
		roce_drop(qp, rx_dropped_no_receive, packet);
		break;
	case ROCE_INVALID:
		break;
	}
	responder->message = 0;
	responder->psn = roce_psn_add(packet->psn, 1);
	return false;
}

/**
 * roce_connection_receive() - execute a request, keep it for later, or drop it
 * @qp: connected, in a state in which it receives; its responder is owned by the caller
 * @skb: a run
 * @packet: taken from @skb
 * @from_peer: it has the addresses of the connection
 *
 * BH disabled, in a section.
 *
 * Return: true if the rest of the run is kept for later, and @skb with it.
 */
bool roce_connection_receive(struct roce_qp *qp, struct sk_buff *skb,
			     const struct roce_packet *packet, bool from_peer)
{
	struct roce_responder *responder = &qp->responder;

	if ((packet->opcode & ROCE_SERVICE_MASK) != roce_qp_service(qp) ||
	    packet->info->flags & ROCE_IS_RESPONSE) {
		if (packet->opcode == ROCE_OPCODE_PATH_PROBE && from_peer)
			roce_spread_probe_came(qp, packet);
		else
			roce_drop(qp, rx_dropped_opcode, packet);
		return false;
	}
	if (!from_peer) {
		roce_drop(qp, rx_dropped_address, packet);
		return false;
	}
	if (responder->failed) {
		roce_drop(qp, rx_dropped_qp_state, packet);
		return false;
	}
	roce_cnp_notify(qp, skb, packet);
	if (READ_ONCE(qp->state) == IB_QPS_RTR && !responder->established) {
		responder->established = true;
		roce_qp_event(qp, IB_EVENT_COMM_EST);
	}

	if (roce_qp_is_reliable(qp))
		return receive_reliable(qp, skb, packet);
	return receive_unreliable(qp, skb, packet);
}

/**
 * roce_connection_refuse() - send a NAK for a malformed packet with the expected PSN
 * @qp: its responder is owned by the caller
 * @packet: malformed, and already counted as dropped
 * @from_peer: it has the addresses of the connection
 *
 * BH disabled, in a section.
 */
void roce_connection_refuse(struct roce_qp *qp, const struct roce_packet *packet,
			    bool from_peer)
{
	const struct roce_responder *responder = &qp->responder;

	if (roce_qp_can_receive(qp) && from_peer && !responder->failed &&
	    packet->psn == responder->psn)
		refuse(qp, ROCE_INVALID);
}

/**
 * roce_connection_tell_of_gap() - report a gap to the requester if packets are lost
 * @qp: of type RC; its responder is owned by the caller
 *
 * BH disabled, in a section.
 */
void roce_connection_tell_of_gap(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_reorder *reorder = responder->reorder;
	bool lost = roce_reorder_is_lost(reorder, qp, responder->psn);

	if (responder->failed)
		return;
	if (roce_sack_is_confirmed(qp)) {
		if (lost || roce_reorder_look_is_due(reorder))
			roce_answer_gap(qp);
	} else if (lost && !responder->nak_sent) {
		/* No later packet was dropped. */
		responder->ahead_psn = roce_psn_add(responder->psn, -1);
		nak_gap(qp);
	}
}
