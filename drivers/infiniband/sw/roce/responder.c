// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder: request packets are executed, and answered (IBA volume 1,
 * 9.7.4 and 9.7.5.1 for RC, 9.8.2 for UC, 9.8.3 for datagrams).
 *
 * Packets of RC are executed strictly in the order of their PSNs. What is ahead
 * of the expected PSN shows a gap: one NAK, and silence until the gap is
 * filled. What is behind is a duplicate: it is answered again, but not executed
 * again; only a READ is, since that changes nothing. What an atomic found in
 * memory is remembered for as long as the peer may ask for it again.
 *
 * UC has no answers. A gap loses the message that it is in, and the first packet
 * of the next message is welcome whatever its PSN is.
 *
 * How answers are made and sent is in answer.c.
 */
#include "access.h"
#include "answer.h"
#include "codec.h"
#include "compat.h"
#include "congestion.h"
#include "counters.h"
#include "device.h"
#include "engine.h"
#include "packet.h"
#include "payload.h"
#include "qp.h"
#include "receive.h"
#include "request.h"
#include "requester.h"
#include "responder.h"
#include "ring.h"
#include "roce.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "run.h"
#include "sack.h"

/* Within this time what was under way when an RNR NAK left has arrived. */
#define UNDER_WAY_TIME		NSEC_PER_MSEC

/* What became of a request packet, besides a NAK code */
enum verdict {
	DONE			= -1,
	NOT_READY		= -2,
	INVALID			= ROCE_NAK_INVALID_REQUEST,
	ACCESS_VIOLATION	= ROCE_NAK_REMOTE_ACCESS_ERROR,
	OPERATIONAL_ERROR	= ROCE_NAK_REMOTE_OPERATIONAL_ERROR,
};

static struct roce_qp *responder_qp(struct roce_engine *engine)
{
	return container_of(engine, struct roce_qp, responder.engine);
}

static enum verdict fail_receive(struct roce_qp *qp, enum ib_wc_status status)
{
	roce_receive_fail(qp, status);
	switch (status) {
	case IB_WC_LOC_LEN_ERR:
		return INVALID;
	case IB_WC_REM_INV_REQ_ERR:
		return ACCESS_VIOLATION;
	default:
		return OPERATIONAL_ERROR;
	}
}

static enum verdict refuse_length(struct roce_qp *qp,
				  const struct roce_packet *packet)
{
	if (roce_qp_is_reliable(qp))
		return fail_receive(qp, IB_WC_LOC_LEN_ERR);
	/* Who is not told of it must not break the QP by it. */
	roce_drop(qp, rx_dropped_length, packet);
	return INVALID;
}

static enum verdict execute_send(struct roce_qp *qp,
				 const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u32 placed = packet->info->flags & ROCE_IS_FIRST ? 0 : responder->placed;
	enum ib_wc_status status;

	if (!roce_receive_ensure(qp))
		return NOT_READY;
	if (!responder->receive->valid)
		return fail_receive(qp, IB_WC_LOC_QP_OP_ERR);
	if ((u64)placed + packet->payload > responder->receive->length)
		return refuse_length(qp, packet);
	status = roce_receive_place(qp, packet, placed);
	if (status != IB_WC_SUCCESS)
		return fail_receive(qp, status);

	/* The consumer may use the memory again when it sees the completion. */
	if (packet->info->flags & ROCE_HAS_INVALIDATE &&
	    roce_invalidate(qp, packet->invalidate, true))
		return fail_receive(qp, IB_WC_REM_INV_REQ_ERR);

	responder->placed = placed + packet->payload;
	if (packet->info->flags & ROCE_IS_LAST) {
		struct ib_wc wc = {
			.opcode = IB_WC_RECV,
			.byte_len = responder->placed,
			.src_qp = qp->attr.dest_qp_num,
		};

		roce_receive_succeed(qp, &wc, packet);
	}
	return DONE;
}

static bool remote_access_is_allowed(const struct roce_qp *qp,
				     const struct roce_packet *packet,
				     int rights)
{
	struct roce_access access = roce_remote_access(qp, packet->rkey, packet->va,
						       packet->length, rights);

	return roce_access_is_allowed(&access);
}

static enum verdict begin_write(struct roce_qp *qp,
				const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE) ||
	    packet->length > ROCE_MAX_MESSAGE)
		return INVALID;
	if (!remote_access_is_allowed(qp, packet, IB_ACCESS_REMOTE_WRITE))
		return ACCESS_VIOLATION;
	responder->address = packet->va;
	responder->rkey = packet->rkey;
	responder->remaining = packet->length;
	responder->placed = 0;
	roce_count(qp, rx_write_requests);
	return DONE;
}

static enum verdict execute_write(struct roce_qp *qp,
				  const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u32 flags = packet->info->flags;
	u32 payload = packet->payload;
	struct roce_access access;
	enum verdict verdict;

	/* Before anything changes, since the packet comes again otherwise. */
	if (flags & ROCE_HAS_IMMEDIATE && !roce_receive_ensure(qp))
		return NOT_READY;
	if (flags & ROCE_IS_FIRST) {
		verdict = begin_write(qp, packet);
		if (verdict != DONE)
			return verdict;
	}
	if (payload > responder->remaining ||
	    (flags & ROCE_IS_LAST && payload != responder->remaining))
		return INVALID;

	/* Who polls memory and sees these bytes sees those of the packets before. */
	smp_wmb();
	access = roce_remote_access(qp, responder->rkey, responder->address,
				    payload, IB_ACCESS_REMOTE_WRITE);
	access.latest = &responder->latest_key;
	if (payload && roce_payload_write(&access, packet, 0))
		return ACCESS_VIOLATION;
	responder->address += payload;
	responder->remaining -= payload;
	responder->placed += payload;

	if (flags & ROCE_HAS_IMMEDIATE) {
		struct ib_wc wc = {
			.opcode = IB_WC_RECV_RDMA_WITH_IMM,
			.byte_len = responder->placed,
			.src_qp = qp->attr.dest_qp_num,
		};

		roce_receive_succeed(qp, &wc, packet);
	}
	return DONE;
}

static enum verdict check_read(struct roce_qp *qp,
			       const struct roce_packet *packet)
{
	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ) ||
	    packet->length > ROCE_MAX_MESSAGE)
		return INVALID;
	if (!remote_access_is_allowed(qp, packet, IB_ACCESS_REMOTE_READ))
		return ACCESS_VIOLATION;
	return DONE;
}

static enum verdict execute_read(struct roce_qp *qp,
				 const struct roce_packet *packet)
{
	enum verdict verdict;

	if (!roce_answer_has_room(qp))
		return INVALID;
	verdict = check_read(qp, packet);
	if (verdict != DONE)
		return verdict;

	roce_count(qp, rx_read_requests);
	roce_answer_respond(qp, packet, 0);
	return DONE;
}

/* -EACCES, -EINVAL for a number that is not aligned, or 0 */
static enum verdict verdict_of(int err)
{
	if (!err)
		return DONE;
	return err == -EACCES ? ACCESS_VIOLATION : INVALID;
}

static enum verdict execute_atomic(struct roce_qp *qp,
				   const struct roce_packet *packet)
{
	u8 operation = packet->opcode & ROCE_OPERATION_MASK;
	u64 original;
	struct roce_access access = roce_remote_access(qp, packet->rkey, packet->va,
						       sizeof(original),
						       IB_ACCESS_REMOTE_ATOMIC);
	int err;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC) ||
	    !roce_answer_has_room(qp))
		return INVALID;
	err = operation == ROCE_COMPARE_SWAP ?
	      roce_access_compare_swap(&access, packet->compare,
				       packet->swap_add, &original) :
	      roce_access_fetch_add(&access, packet->swap_add, &original);
	if (err)
		return verdict_of(err);

	roce_count(qp, rx_atomic_requests);
	roce_answer_respond(qp, packet, original);
	return DONE;
}

static enum verdict execute_atomic_write(struct roce_qp *qp,
					 const struct roce_packet *packet)
{
	u64 number;
	struct roce_access access = roce_remote_access(qp, packet->rkey, packet->va,
						       sizeof(number),
						       IB_ACCESS_REMOTE_WRITE);
	int err;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE) ||
	    packet->length != sizeof(number) ||
	    packet->payload != sizeof(number) || !roce_answer_has_room(qp) ||
	    roce_packet_copy(packet, 0, &number, sizeof(number)))
		return INVALID;
	err = roce_access_store(&access, number);
	if (err)
		return verdict_of(err);

	roce_answer_respond(qp, packet, 0);
	return DONE;
}

/* Nothing here persists: there is no access flag for it to be had. */
static enum verdict execute_flush(struct roce_qp *qp,
				  const struct roce_packet *packet)
{
	u32 placement = packet->flush & ROCE_FLUSH_PLACEMENT_MASK;
	u32 selectivity = packet->flush & ROCE_FLUSH_SELECTIVITY_MASK;
	bool range = selectivity == ROCE_FLUSH_RANGE;
	struct roce_access access =
		roce_remote_access(qp, packet->rkey, packet->va,
				   range ? packet->length : 0, 0);

	if (placement & ROCE_FLUSH_GLOBAL)
		access.rights |= IB_ACCESS_FLUSH_GLOBAL;
	if (placement & ROCE_FLUSH_PERSISTENT)
		access.rights |= IB_ACCESS_FLUSH_PERSISTENT;
	if (!access.rights ||
	    (qp->attr.qp_access_flags & access.rights) != access.rights ||
	    placement & ~(ROCE_FLUSH_GLOBAL | ROCE_FLUSH_PERSISTENT) ||
	    (!range && selectivity != ROCE_FLUSH_REGION) ||
	    !roce_answer_has_room(qp))
		return INVALID;
	if (roce_access_flush(&access))
		return ACCESS_VIOLATION;

	roce_answer_respond(qp, packet, 0);
	return DONE;
}

/* 9.7.4.1.2 and 9.7.4.1.6: the packet must go on where the last one ended. */
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

/* @packet fits into the message that is being received. */
static enum verdict execute(struct roce_qp *qp, const struct roce_packet *packet)
{
	u32 flags = packet->info->flags;

	if (flags & ROCE_IS_SEND)
		return execute_send(qp, packet);
	if (flags & ROCE_IS_WRITE)
		return execute_write(qp, packet);
	if (flags & ROCE_IS_READ)
		return execute_read(qp, packet);
	if (flags & ROCE_IS_ATOMIC)
		return execute_atomic(qp, packet);
	if (flags & ROCE_IS_ATOMIC_WRITE)
		return execute_atomic_write(qp, packet);
	if (flags & ROCE_IS_FLUSH)
		return execute_flush(qp, packet);
	return INVALID;
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

/* The request that is expected cannot be executed. The QP fails behind the NAK. */
static void refuse(struct roce_qp *qp, enum verdict verdict)
{
	switch (verdict) {
	case ACCESS_VIOLATION:
		roce_count(qp, resp_remote_access_errors);
		roce_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
		break;
	case INVALID:
		roce_qp_event(qp, IB_EVENT_QP_REQ_ERR);
		break;
	default:
		break;
	}
	roce_answer_nak(qp, ROCE_AETH_NAK | verdict);
	qp->responder.failed = true;
}

static void not_ready(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;

	roce_answer_nak(qp, ROCE_AETH_RNR_NAK | qp->attr.min_rnr_timer);
	responder->ahead_psn = responder->psn;
	responder->rnr_at = ktime_get_ns();
	roce_reorder_drop(&responder->reorder, qp);
}

static void receive_expected(struct roce_qp *qp, const struct roce_packet *packet)
{
	enum verdict verdict = fits_message(qp, packet) ? execute(qp, packet) :
							  INVALID;

	switch (verdict) {
	case DONE:
		executed(qp, packet);
		return;
	case NOT_READY:
		roce_count(qp, send_rnr_err);
		not_ready(qp);
		return;
	default:
		refuse(qp, verdict);
		return;
	}
}

/*
 * The requester has waited as an RNR NAK has asked it to, and has begun again, but the
 * packet that the RNR NAK was for is lost. Until then comes what was under way when
 * the RNR NAK left: each packet once, and soon.
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
	roce_count(qp, out_of_seq_request);
	roce_answer_nak(qp, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR);
}

/* Its requester wants to know what has come. */
static void acknowledge_early(struct roce_qp *qp)
{
	struct roce_reorder *reorder = &qp->responder.reorder;

	if (reorder->ack_requested && roce_sack_is_confirmed(qp))
		roce_answer_gap(qp);
	reorder->ack_requested = false;
}

/* What is behind an RNR NAK is sent again in any case. */
static bool is_to_be_kept(const struct roce_responder *responder)
{
	return !(responder->nak_sent && responder->rnr_at);
}

/* True if the rest of the run is kept for later. */
static bool receive_request_ahead(struct roce_qp *qp, struct sk_buff *skb,
				  const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	bool silent = responder->nak_sent && !has_begun_again(qp, packet->psn);

	if (!packet->again)
		roce_count(qp, out_of_sequence);
	if (is_to_be_kept(responder) &&
	    roce_reorder_keep(&responder->reorder, qp, skb, packet)) {
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
	roce_reorder_came_twice(&qp->responder.reorder, qp, packet->psn);
	if (packet->info->flags & ROCE_IS_READ && check_read(qp, packet) != DONE)
		return;
	roce_answer_again(qp, packet);
}

/* True if the rest of the run is kept for later. */
static bool receive_reliable(struct roce_qp *qp, struct sk_buff *skb,
			     const struct roce_packet *packet)
{
	s32 ahead = roce_psn_diff(packet->psn, qp->responder.psn);

	if (packet->ack_request)
		roce_sack_request_came(qp, packet);
	if (ahead > 0)
		return receive_request_ahead(qp, skb, packet);
	if (ahead == 0)
		receive_expected(qp, packet);
	else if (!roce_run(skb)->early)
		receive_duplicate(qp, packet);
	else /* It was sent again, and that was answered. */
		roce_count(qp, duplicate_request);
	return false;
}

static void receive_unreliable(struct roce_qp *qp,
			       const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	enum verdict verdict = INVALID;

	if (packet->psn != responder->psn)
		roce_count(qp, out_of_sequence);
	/* A message that is not whole is forgotten, its receive is not used up. */
	if (packet->psn != responder->psn || packet->info->flags & ROCE_IS_FIRST)
		responder->message = 0;
	if (fits_message(qp, packet))
		verdict = execute(qp, packet);
	else
		roce_drop(qp, rx_dropped_incomplete, packet);

	switch (verdict) {
	case DONE:
		executed(qp, packet);
		return;
	case OPERATIONAL_ERROR:
		roce_qp_set_error(qp, IB_QPS_ERR);
		return;
	case ACCESS_VIOLATION:
		roce_count(qp, resp_remote_access_errors);
		break;
	case NOT_READY:
		roce_drop(qp, rx_dropped_no_receive, packet);
		break;
	case INVALID:
		break;
	}
	responder->message = 0;
	responder->psn = roce_psn_add(packet->psn, 1);
}

/* True if the rest of the run is kept for later. */
static bool receive_connected(struct roce_qp *qp, struct sk_buff *skb,
			      const struct roce_packet *packet, bool from_peer)
{
	struct roce_responder *responder = &qp->responder;

	if ((packet->opcode & ROCE_SERVICE_MASK) != roce_qp_service(qp) ||
	    packet->info->flags & ROCE_IS_RESPONSE) {
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
	if (roce_run(skb)->congestion && !packet->again)
		roce_cnp_notify(qp);
	if (READ_ONCE(qp->state) == IB_QPS_RTR && !responder->established) {
		responder->established = true;
		roce_qp_event(qp, IB_EVENT_COMM_EST);
	}

	if (roce_qp_is_reliable(qp))
		return receive_reliable(qp, skb, packet);
	receive_unreliable(qp, packet);
	return false;
}

/* That it was dropped is counted already. */
static void receive_malformed(struct roce_qp *qp, const struct roce_packet *packet,
			      bool from_peer)
{
	const struct roce_responder *responder = &qp->responder;

	if (roce_qp_can_receive(qp) && from_peer && !responder->failed &&
	    packet->psn == responder->psn)
		refuse(qp, INVALID);
}

/* Consumes the sk_buff. */
static void receive_requests(struct roce_qp *qp, struct sk_buff *skb)
{
	bool from_peer = roce_qp_is_from_peer(qp, skb);
	struct roce_packet packet;

	qp->responder.latest_key = NULL;
	while (roce_run_next(skb, qp, &packet)) {
		if (packet.malformed)
			receive_malformed(qp, &packet, from_peer);
		else if (!roce_qp_can_receive(qp))
			roce_drop(qp, rx_dropped_qp_state, &packet);
		else if (roce_qp_is_datagram(qp))
			roce_datagram_receive(qp, skb, &packet);
		else if (receive_connected(qp, skb, &packet, from_peer))
			return;
	}
	consume_skb(skb);
}

static void receive(struct roce_engine *engine, struct sk_buff *skb)
{
	receive_requests(responder_qp(engine), skb);
}

/* Something is missing, and it is late. */
static void tell_of_gap(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_reorder *reorder = &responder->reorder;
	bool lost = roce_reorder_is_lost(reorder, qp, responder->psn);

	if (responder->failed)
		return;
	if (roce_sack_is_confirmed(qp)) {
		if (lost || roce_reorder_look_is_due(reorder))
			roce_answer_gap(qp);
	} else if (lost && !responder->nak_sent) {
		/* Nothing was dropped. */
		responder->ahead_psn = roce_psn_add(responder->psn, -1);
		nak_gap(qp);
	}
}

/* One run whose time has come. True if there may be another. */
static bool receive_early(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_reorder *reorder = &responder->reorder;
	struct sk_buff *skb = roce_reorder_take(reorder, qp, responder->psn);

	if (skb) {
		roce_engine_charge(skb->len);
		receive_requests(qp, skb);
		return true;
	}
	tell_of_gap(qp);
	return roce_reorder_free_some(reorder, qp);
}

static bool advance_responder(struct roce_engine *engine)
{
	struct roce_qp *qp = responder_qp(engine);
	bool more;

	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		return roce_reorder_drop(&qp->responder.reorder, qp) ||
		       roce_receive_flush(qp);
	if (!roce_qp_can_receive(qp) || roce_qp_is_datagram(qp))
		return false;
	more = !roce_reorder_is_idle(&qp->responder.reorder) && receive_early(qp);
	if (READ_ONCE(qp->responder.waiting))
		return more;
	return roce_answer_send(qp) || more;
}

static const struct roce_engine_ops responder_ops = {
	.receive = receive,
	.advance = advance_responder,
};

static enum hrtimer_restart responder_wait_is_over(struct hrtimer *timer)
{
	struct roce_responder *responder =
		container_of(timer, struct roce_responder, wait_timer);

	WRITE_ONCE(responder->waiting, false);
	roce_engine_run(&responder->engine);
	return HRTIMER_NORESTART;
}

/**
 * roce_responder_init() - set up what lives as long as the QP
 * @qp: new; its cap is set
 *
 * Return: 0 or -ENOMEM.
 */
int roce_responder_init(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	u32 max_sges = roce_qp_srq(qp) ? roce_qp_srq(qp)->max_sges :
					 qp->cap.max_recv_sge;

	roce_engine_init(&responder->engine, &responder_ops);
	roce_reorder_init(&responder->reorder, &responder->engine);
	spin_lock_init(&responder->post_lock);
	INIT_LIST_HEAD(&responder->idle);
	hrtimer_setup(&responder->wait_timer, responder_wait_is_over, CLOCK_MONOTONIC,
		      ROCE_WAIT_MODE);
	responder->receive = kzalloc(struct_size(responder->receive, sge,
						 max_sges),
				     GFP_KERNEL_ACCOUNT);
	responder->parts = kcalloc(ROCE_MAX_PARTS, sizeof(*responder->parts),
				   GFP_KERNEL_ACCOUNT);
	return responder->receive && responder->parts ? 0 : -ENOMEM;
}

/**
 * roce_responder_start() - take the attributes of a QP that becomes ready to receive
 * @qp: both engines are owned by the caller; attr is set
 */
void roce_responder_start(struct roce_qp *qp)
{
	qp->responder.psn = qp->attr.rq_psn;
	qp->responder.sack_state = ROCE_SACK_UNKNOWN;
}

/**
 * roce_responder_reset() - forget all receives and requests
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
	responder->stalls = 0;
	responder->established = false;
	responder->last_wqe_reported = false;
	responder->flush_interval = 0;
	responder->part_answered = responder->part_taken;
	roce_answer_set_resources(qp, NULL);
	if (!roce_qp_srq(qp))
		roce_ring_reset(&responder->ring);
}

/**
 * roce_responder_stop() - stop the timers, and drop what came early
 * @qp: in a state in which nothing starts them
 *
 * Process context.
 */
void roce_responder_stop(struct roce_qp *qp)
{
	hrtimer_cancel(&qp->responder.wait_timer);
	qp->responder.waiting = false;
	roce_reorder_stop(&qp->responder.reorder, qp);
}

/**
 * roce_responder_destroy() - free what the responder has
 * @qp: its engines are destroyed
 */
void roce_responder_destroy(struct roce_qp *qp)
{
	kfree(qp->responder.receive);
	kfree(qp->responder.resources);
	kfree(qp->responder.parts);
}
