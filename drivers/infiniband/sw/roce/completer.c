// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The completer: acknowledgments and responses complete work requests (IBA
 * volume 1, 9.7.5.2 and 9.7.6). It is part of the requester's engine and works
 * on its state.
 *
 * An acknowledgment of a PSN stands for all before it. A READ or an atomic is
 * only ever acknowledged by its responses, so if anything later is acknowledged
 * while a response is missing, then responses were lost: an implied NAK, and
 * the missing ones are asked for again.
 */
#include "qp.h"
#include "trace.h"

/* The oldest request that is not over, NULL if there is none */
static struct roce_request *oldest_request(const struct roce_requester *requester)
{
	if (requester->completed == requester->fetched)
		return NULL;
	return roce_request(requester, requester->completed);
}

static u32 end_psn(const struct roce_request *request)
{
	return roce_psn_add(request->first_psn, request->packets);
}

/*
 * The cursor must not stay behind what is acknowledged: late acknowledgments
 * spare us what was to be sent again.
 */
static void pull_cursor(struct roce_requester *requester)
{
	if (roce_psn_diff(requester->unacked_psn, requester->psn) <= 0)
		return;
	requester->psn = requester->unacked_psn;
	requester->stalls = 0;
	requester->ack_request_psn = roce_psn_add(requester->psn, -1);
	requester->current_request = requester->completed;
}

static void complete_oldest(struct roce_qp *qp)
{
	roce_request_complete(qp, IB_WC_SUCCESS);
	roce_requester_complete_local(qp);
}

static void finish_round_trip(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	u64 now;

	if (!requester->timed_at ||
	    roce_psn_diff(requester->unacked_psn, requester->timed_psn) <= 0)
		return;
	now = ktime_get_ns();
	if (now > requester->timed_at)
		roce_flow_acknowledged(qp, now - requester->timed_at);
	requester->timed_at = 0;
}

/*
 * Everything before @psn has arrived at the responder. False if that cannot be
 * said of a READ or an atomic in between.
 */
static bool acknowledge_until(struct roce_qp *qp, u32 psn)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_request *request;
	u32 before = requester->unacked_psn;
	bool whole = true;

	while (roce_psn_diff(psn, requester->unacked_psn) > 0) {
		u32 end;

		request = oldest_request(requester);
		if (!request)
			break;
		if (roce_request_has_response(request)) {
			whole = false;
			break;
		}
		end = end_psn(request);
		if (roce_psn_diff(psn, end) < 0) {
			requester->unacked_psn = psn;
			break;
		}
		requester->unacked_psn = end;
		complete_oldest(qp);
	}

	if (requester->unacked_psn != before)
		roce_retransmit_progressed(qp);
	finish_round_trip(qp);
	pull_cursor(requester);
	return whole;
}

static void implied_nak(struct roce_qp *qp)
{
	if (qp->requester.recovering)
		return;
	roce_retransmit_retry(qp, ROCE_COUNTER_implied_nak_seq_err);
}

/* 9.7.5.2.8, table 46: the delays that the RNR NAK timer field stands for */
static u64 rnr_delay(u8 timer)
{
	static const u32 hundredths_of_ms[32] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
		12288, 16384, 24576, 32768, 49152
	};

	return (u64)hundredths_of_ms[timer & ROCE_AETH_VALUE_MASK] *
	       10 * NSEC_PER_USEC;
}

static void receiver_not_ready(struct roce_qp *qp, u8 syndrome)
{
	struct roce_requester *requester = &qp->requester;
	u64 delay = rnr_delay(syndrome);

	roce_count(qp, rcvd_rnr_err);
	/* The same NAK again */
	if (roce_requester_is_waiting(requester) && requester->rnr_waiting)
		return;
	if (!requester->rnr_retries) {
		roce_requester_fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	roce_count(qp, rnr_nak_retry_err);
	trace_roce_retry(qp, roce_counter_name(ROCE_COUNTER_rnr_nak_retry_err));
	/* 7 stands for forever. */
	if (qp->attr.rnr_retry != 7)
		requester->rnr_retries--;
	roce_retransmit_go_back(qp);
	roce_requester_wait(qp, delay);
	requester->rnr_waiting = true;
	/* The answer to what is not sent yet is not late. */
	requester->ack_deadline += nsecs_to_jiffies(delay) + 1;
}

static void sequence_error(struct roce_qp *qp)
{
	roce_count(qp, rcvd_seq_err);
	if (qp->requester.recovering)
		return;
	roce_flow_lost(qp, ROCE_CC_NAK);
	roce_retransmit_retry(qp, ROCE_COUNTER_packet_seq_err);
}

static void negative_acknowledge(struct roce_qp *qp, u8 syndrome)
{
	switch (syndrome & ROCE_AETH_VALUE_MASK) {
	case ROCE_NAK_PSN_SEQUENCE_ERROR:
		sequence_error(qp);
		break;
	case ROCE_NAK_INVALID_REQUEST:
		roce_requester_fail(qp, IB_WC_REM_INV_REQ_ERR);
		break;
	case ROCE_NAK_REMOTE_ACCESS_ERROR:
		roce_requester_fail(qp, IB_WC_REM_ACCESS_ERR);
		break;
	case ROCE_NAK_REMOTE_OPERATIONAL_ERROR:
		roce_requester_fail(qp, IB_WC_REM_OP_ERR);
		break;
	default:
		roce_requester_fail(qp, IB_WC_BAD_RESP_ERR);
		break;
	}
}

static void receive_acknowledge(struct roce_qp *qp,
				const struct roce_packet *packet)
{
	struct roce_requester *requester = &qp->requester;

	switch (packet->syndrome & ROCE_AETH_KIND_MASK) {
	case ROCE_AETH_ACK:
		if (!acknowledge_until(qp, roce_psn_add(packet->psn, 1)))
			implied_nak(qp);
		return;
	case ROCE_AETH_RNR_NAK:
	case ROCE_AETH_NAK:
		break;
	default:
		roce_drop(qp, rx_dropped_header, packet);
		return;
	}

	trace_roce_nak_received(qp, packet->psn, packet->syndrome);
	/* A NAK acknowledges what is before it. */
	if (!acknowledge_until(qp, packet->psn)) {
		implied_nak(qp);
		return;
	}
	/* Stale: what it is about has been acknowledged since. */
	if (requester->unacked_psn != packet->psn || !oldest_request(requester))
		return;

	if ((packet->syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_RNR_NAK)
		receiver_not_ready(qp, packet->syndrome);
	else
		negative_acknowledge(qp, packet->syndrome);
}

/* FLUSH and ATOMIC WRITE are answered by the response of an empty READ. */
static enum ib_wc_status take_read_response(struct roce_qp *qp,
					    const struct roce_request *request,
					    const struct roce_packet *packet)
{
	u32 offset = roce_psn_add(packet->psn, -request->first_psn) * qp->mtu;
	u32 expected = request->opcode != IB_WR_RDMA_READ ? 0 :
		       min(request->length - offset, qp->mtu);
	struct roce_sge_walk walk = roce_request_walk(qp, request, offset,
						      packet->payload,
						      IB_ACCESS_LOCAL_WRITE);

	if (packet->payload != expected)
		return IB_WC_BAD_RESP_ERR;
	return roce_sge_scatter(&walk, packet->skb, packet->offset) ?
	       IB_WC_LOC_PROT_ERR : IB_WC_SUCCESS;
}

/* What was in memory: a number, so it comes in our byte order. */
static enum ib_wc_status take_atomic_response(struct roce_qp *qp,
					      const struct roce_request *request,
					      const struct roce_packet *packet)
{
	u64 original = packet->original;
	struct roce_sge_walk walk = roce_request_walk(qp, request, 0,
						      sizeof(original),
						      IB_ACCESS_LOCAL_WRITE);

	return roce_sge_scatter_buffer(&walk, &original) ?
	       IB_WC_LOC_PROT_ERR : IB_WC_SUCCESS;
}

static void receive_response(struct roce_qp *qp,
			     const struct roce_packet *packet)
{
	bool atomic = packet->info->flags & ROCE_IS_ATOMIC;
	struct roce_requester *requester = &qp->requester;
	struct roce_request *request;
	enum ib_wc_status status;

	if (!acknowledge_until(qp, packet->psn)) {
		implied_nak(qp);
		return;
	}
	request = oldest_request(requester);
	if (requester->unacked_psn != packet->psn || !request ||
	    !roce_request_has_response(request) ||
	    roce_request_is_atomic(request) != atomic) {
		roce_drop(qp, rx_dropped_unexpected_ack, packet);
		return;
	}

	status = atomic ? take_atomic_response(qp, request, packet) :
			  take_read_response(qp, request, packet);
	if (status != IB_WC_SUCCESS) {
		roce_requester_fail(qp, status);
		return;
	}
	requester->unacked_psn = roce_psn_add(packet->psn, 1);
	roce_retransmit_progressed(qp);
	finish_round_trip(qp);
	if (requester->unacked_psn == end_psn(request))
		complete_oldest(qp);
	pull_cursor(requester);
}

static bool is_expected(const struct roce_requester *requester, u32 psn)
{
	return roce_psn_diff(psn, requester->unacked_psn) >= -1 &&
	       roce_psn_diff(psn, requester->limit_psn) < 0;
}

static void receive_packet(struct roce_qp *qp, const struct roce_packet *packet)
{
	if ((packet->opcode & ROCE_SERVICE_MASK) != ROCE_SERVICE_RC ||
	    qp->ibqp.qp_type != IB_QPT_RC ||
	    !(packet->info->flags & ROCE_IS_RESPONSE)) {
		roce_drop(qp, rx_dropped_opcode, packet);
		return;
	}
	if (!is_expected(&qp->requester, packet->psn)) {
		roce_drop(qp, rx_dropped_unexpected_ack, packet);
		return;
	}

	if (packet->info->flags & (ROCE_IS_READ | ROCE_IS_ATOMIC))
		receive_response(qp, packet);
	else
		receive_acknowledge(qp, packet);
}

/**
 * roce_completer_receive() - take a run of acknowledgments and responses
 * @engine: the requester of a QP, owned by the caller
 * @skb: consumed
 */
void roce_completer_receive(struct roce_engine *engine, struct sk_buff *skb)
{
	struct roce_qp *qp = roce_requester_qp(engine);
	struct roce_packet packet;

	while (roce_run_next(skb, qp, &packet)) {
		if (!roce_qp_is_sending(qp)) {
			roce_drop(qp, rx_dropped_qp_state, &packet);
			continue;
		}
		if (!roce_qp_is_from_peer(qp, skb)) {
			roce_drop(qp, rx_dropped_address, &packet);
			continue;
		}
		if (roce_run(skb)->congestion)
			roce_cnp_notify(qp);
		receive_packet(qp, &packet);
	}
	consume_skb(skb);
}
