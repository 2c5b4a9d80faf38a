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
 * Answers leave in the order of the PSNs too: responses first, then one
 * acknowledgment for everything that was received meanwhile. It may be a NAK,
 * and if it is a fatal one, then the QP goes to the error state behind it.
 */
#include <linux/if_vlan.h>

#include "qp.h"
#include "trace.h"

/* Requests that are answered by responses, rather than acknowledged */
#define HAS_RESPONSE		(ROCE_IS_READ | ROCE_IS_ATOMIC | \
				 ROCE_IS_FLUSH | ROCE_IS_ATOMIC_WRITE)

/* Trains of responses that are sent before the inbox is looked at again */
#define TRAINS_PER_STEP		4

/* How long to wait for a netdev that takes no more, or for memory */
#define STALL_NANOSECONDS	(500 * NSEC_PER_USEC)

/* Stalls after which an acknowledgment is given up; the peer asks again. */
#define MAX_STALLS		100

/* Receives that are flushed before softirq does something else */
#define FLUSH_BUDGET		64

/* How often a program's receive queue is flushed in the error state */
#define FLUSH_INTERVAL		(20 * NSEC_PER_MSEC)

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

static void owe_answer(struct roce_responder *responder, u8 syndrome, u32 psn)
{
	responder->ack_due = true;
	responder->ack_syndrome = syndrome;
	responder->ack_psn = psn;
}

static void owe_acknowledge(struct roce_responder *responder, u32 psn)
{
	owe_answer(responder, ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS, psn);
}

static bool owes_nak(const struct roce_responder *responder)
{
	return responder->ack_due &&
	       (responder->ack_syndrome & ROCE_AETH_KIND_MASK) != ROCE_AETH_ACK;
}

static void owe_nak(struct roce_responder *responder, u8 syndrome)
{
	owe_answer(responder, syndrome, responder->psn);
	responder->nak_sent = true;
}

/* The keys of a receive are those of the queue that it was posted to. */
static struct roce_pd *receive_pd(const struct roce_qp *qp)
{
	return qp->ibqp.srq ? to_roce_pd(qp->ibqp.srq->pd) : roce_qp_pd(qp);
}

static struct roce_sge_walk walk_receive(const struct roce_qp *qp, u64 offset,
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
	};
}

/* Copy payload to the receive in use, @offset bytes behind its start. */
static enum ib_wc_status place_in_receive(struct roce_qp *qp,
					  const struct roce_packet *packet,
					  u64 offset)
{
	struct roce_sge_walk walk = walk_receive(qp, offset, packet->payload);

	return roce_sge_scatter(&walk, packet->skb, packet->offset) ?
	       IB_WC_LOC_PROT_ERR : IB_WC_SUCCESS;
}

static enum verdict fail_receive(struct roce_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status, .opcode = IB_WC_RECV };

	roce_receive_complete(qp, &wc, false);
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

static bool has_receive(struct roce_qp *qp)
{
	if (qp->responder.has_receive || roce_receive_fetch(qp))
		return true;
	roce_count(qp, out_of_buffer);
	return false;
}

static void complete_receive(struct roce_qp *qp, struct ib_wc *wc,
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
	roce_receive_complete(qp, wc, packet->solicited);
}

static enum verdict execute_send(struct roce_qp *qp,
				 const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u32 placed = packet->info->flags & ROCE_IS_FIRST ? 0 : responder->placed;
	enum ib_wc_status status;

	if (!has_receive(qp))
		return NOT_READY;
	if (!responder->receive->valid)
		return fail_receive(qp, IB_WC_LOC_QP_OP_ERR);
	if ((u64)placed + packet->payload > responder->receive->length)
		return refuse_length(qp, packet);
	status = place_in_receive(qp, packet, placed);
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

		complete_receive(qp, &wc, packet);
	}
	return DONE;
}

static struct roce_access remote_access(const struct roce_qp *qp, u32 rkey,
					u64 address, u32 length, int rights)
{
	return (struct roce_access) {
		.pd = roce_qp_pd(qp),
		.qpn = qp->ibqp.qp_num,
		.key = rkey,
		.rights = rights,
		.address = address,
		.length = length,
	};
}

static bool remote_access_is_allowed(const struct roce_qp *qp,
				     const struct roce_packet *packet,
				     int rights)
{
	struct roce_access access = remote_access(qp, packet->rkey, packet->va,
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
	if (flags & ROCE_HAS_IMMEDIATE && !has_receive(qp))
		return NOT_READY;
	if (flags & ROCE_IS_FIRST) {
		verdict = begin_write(qp, packet);
		if (verdict != DONE)
			return verdict;
	}
	if (payload > responder->remaining ||
	    (flags & ROCE_IS_LAST && payload != responder->remaining))
		return INVALID;

	access = remote_access(qp, responder->rkey, responder->address, payload,
			       IB_ACCESS_REMOTE_WRITE);
	if (payload && roce_access_write(&access, packet->skb, packet->offset))
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

		complete_receive(qp, &wc, packet);
	}
	return DONE;
}

static struct roce_resource *nth_resource(const struct roce_responder *responder,
					  u32 number)
{
	return &responder->resources[number & responder->resource_mask];
}

static u32 response_packets(const struct roce_qp *qp,
			    const struct roce_packet *packet)
{
	if (!(packet->info->flags & ROCE_IS_READ))
		return 1;
	return max(1u, DIV_ROUND_UP(packet->length, qp->mtu));
}

/* False if the peer has more requests under way than agreed. */
static bool resource_is_free(const struct roce_qp *qp)
{
	const struct roce_responder *responder = &qp->responder;
	const struct roce_resource *next;

	if (!qp->attr.max_dest_rd_atomic)
		return false;
	next = nth_resource(responder, responder->taken);
	/*
	 * A new request says that the peer has got what it had asked for again.
	 */
	return !next->left || next->repeated;
}

/* The request that is answered next, NULL if all of them are */
static struct roce_resource *next_to_answer(struct roce_responder *responder)
{
	for (; responder->answered != responder->taken; responder->answered++)
		if (nth_resource(responder, responder->answered)->left)
			return nth_resource(responder, responder->answered);
	return NULL;
}

static void owe_responses(struct roce_qp *qp, struct roce_resource *resource,
			  const struct roce_packet *packet)
{
	resource->left = response_packets(qp, packet);
	resource->next_psn = packet->psn;
	resource->begin = true;
	resource->msn = qp->responder.msn;
	if (resource->kind == ROCE_IS_READ) {
		resource->address = packet->va;
		resource->length = packet->length;
		resource->rkey = packet->rkey;
	}
}

/* A request was executed, and is to be answered. */
static void take_resource(struct roce_qp *qp, const struct roce_packet *packet,
			  u64 original)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_resource *new = nth_resource(responder, responder->taken++);

	*new = (struct roce_resource) {
		.kind = packet->info->flags & HAS_RESPONSE,
		.psn = packet->psn,
		.packets = response_packets(qp, packet),
		.original = original,
	};
	/* Its place may have been that of the first one. */
	if (responder->taken - responder->answered > responder->resource_mask)
		responder->answered = responder->taken -
				      responder->resource_mask - 1;
	responder->msn = roce_psn_add(responder->msn, 1);
	owe_responses(qp, new, packet);
	/* The response acknowledges all that is before it. */
	if (!owes_nak(responder))
		responder->ack_due = false;
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

	if (!resource_is_free(qp))
		return INVALID;
	verdict = check_read(qp, packet);
	if (verdict != DONE)
		return verdict;

	roce_count(qp, rx_read_requests);
	take_resource(qp, packet, 0);
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
	struct roce_access access = remote_access(qp, packet->rkey, packet->va,
						  sizeof(original),
						  IB_ACCESS_REMOTE_ATOMIC);
	int err;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC) ||
	    !resource_is_free(qp))
		return INVALID;
	err = operation == ROCE_COMPARE_SWAP ?
	      roce_access_compare_swap(&access, packet->compare,
				       packet->swap_add, &original) :
	      roce_access_fetch_add(&access, packet->swap_add, &original);
	if (err)
		return verdict_of(err);

	roce_count(qp, rx_atomic_requests);
	take_resource(qp, packet, original);
	return DONE;
}

static enum verdict execute_atomic_write(struct roce_qp *qp,
					 const struct roce_packet *packet)
{
	u64 number;
	struct roce_access access = remote_access(qp, packet->rkey, packet->va,
						  sizeof(number),
						  IB_ACCESS_REMOTE_WRITE);
	int err;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE) ||
	    packet->length != sizeof(number) ||
	    packet->payload != sizeof(number) || !resource_is_free(qp) ||
	    skb_copy_bits(packet->skb, packet->offset, &number, sizeof(number)))
		return INVALID;
	err = roce_access_store(&access, number);
	if (err)
		return verdict_of(err);

	take_resource(qp, packet, 0);
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
		remote_access(qp, packet->rkey, packet->va,
			      range ? packet->length : 0, 0);

	if (placement & ROCE_FLUSH_GLOBAL)
		access.rights |= IB_ACCESS_FLUSH_GLOBAL;
	if (placement & ROCE_FLUSH_PERSISTENT)
		access.rights |= IB_ACCESS_FLUSH_PERSISTENT;
	if (!access.rights ||
	    (qp->attr.qp_access_flags & access.rights) != access.rights ||
	    placement & ~(ROCE_FLUSH_GLOBAL | ROCE_FLUSH_PERSISTENT) ||
	    (!range && selectivity != ROCE_FLUSH_REGION) ||
	    !resource_is_free(qp))
		return INVALID;
	if (roce_access_flush(&access))
		return ACCESS_VIOLATION;

	take_resource(qp, packet, 0);
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
	if (flags & HAS_RESPONSE) {
		responder->psn = roce_psn_add(packet->psn,
					      response_packets(qp, packet));
		return;
	}
	responder->psn = roce_psn_add(packet->psn, 1);
	responder->message = flags & ROCE_IS_LAST ? 0 :
			     flags & (ROCE_IS_SEND | ROCE_IS_WRITE);
	if (flags & ROCE_IS_LAST)
		responder->msn = roce_psn_add(responder->msn, 1);
	if (packet->ack_request && roce_qp_is_reliable(qp))
		owe_acknowledge(responder, packet->psn);
}

static void receive_expected(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	enum verdict verdict = fits_message(qp, packet) ? execute(qp, packet) :
							  INVALID;

	switch (verdict) {
	case DONE:
		executed(qp, packet);
		return;
	case NOT_READY:
		roce_count(qp, send_rnr_err);
		owe_nak(responder, ROCE_AETH_RNR_NAK | qp->attr.min_rnr_timer);
		return;
	case ACCESS_VIOLATION:
		roce_count(qp, resp_remote_access_errors);
		roce_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
		break;
	case INVALID:
		roce_qp_event(qp, IB_EVENT_QP_REQ_ERR);
		break;
	case OPERATIONAL_ERROR:
		break;
	}
	owe_nak(responder, ROCE_AETH_NAK | verdict);
	responder->failed = true;
}

static void receive_ahead(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;

	roce_count(qp, out_of_sequence);
	if (responder->nak_sent)
		return;
	roce_count(qp, out_of_seq_request);
	owe_nak(responder, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR);
}

/*
 * The last PSN to acknowledge to a requester that has gone back to @psn. An
 * acknowledgment behind a READ or an atomic would say that it was answered, and
 * the requester is about to ask for its answer again.
 */
static u32 last_to_acknowledge(const struct roce_responder *responder, u32 psn)
{
	u32 last = roce_psn_add(responder->psn, -1);
	u32 n;

	for (n = 0; responder->resources && n <= responder->resource_mask; n++) {
		const struct roce_resource *this = nth_resource(responder, n);

		if (this->packets && roce_psn_diff(this->psn, psn) > 0 &&
		    roce_psn_diff(this->psn, last) <= 0)
			last = roce_psn_add(this->psn, -1);
	}
	return last;
}

static bool is_part_of(const struct roce_qp *qp, const struct roce_packet *packet,
		       const struct roce_resource *resource)
{
	u32 index = roce_psn_add(packet->psn, -resource->psn);

	return resource->kind == (packet->info->flags & HAS_RESPONSE) &&
	       index < resource->packets &&
	       response_packets(qp, packet) <= resource->packets - index;
}

/*
 * The requester went back and asks again, for all of the responses or for the
 * last ones. It will ask again for later requests as well, so what is left of
 * those is not sent.
 */
static void repeat_responses(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u32 last = last_to_acknowledge(responder, packet->psn);
	struct roce_resource *again;
	u32 number = responder->taken, left = responder->resource_mask + 1;

	if (!responder->resources)
		return;
	do {
		if (!left--)
			return;
		again = nth_resource(responder, --number);
	} while (!is_part_of(qp, packet, again));
	if (again->kind == ROCE_IS_READ && check_read(qp, packet) != DONE)
		return;

	/* What was sent once is sent again because some of it was lost. */
	if (again->kind == ROCE_IS_READ &&
	    roce_psn_diff(again->next_psn, packet->psn) > 0)
		roce_flow_lost(qp, ROCE_CC_NAK);
	again->repeated = true;
	owe_responses(qp, again, packet);
	if ((s32)(number - responder->answered) < 0)
		responder->answered = number;
	while (++number != responder->taken)
		nth_resource(responder, number)->left = 0;
	if (responder->ack_due && !owes_nak(responder) &&
	    roce_psn_diff(responder->ack_psn, last) > 0)
		responder->ack_psn = last;
}

static void receive_duplicate(struct roce_qp *qp,
			      const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;

	roce_count(qp, duplicate_request);
	if (packet->info->flags & HAS_RESPONSE)
		repeat_responses(qp, packet);
	else if (!owes_nak(responder))
		owe_acknowledge(responder,
				last_to_acknowledge(responder, packet->psn));
}

static void receive_reliable(struct roce_qp *qp, const struct roce_packet *packet)
{
	s32 ahead = roce_psn_diff(packet->psn, qp->responder.psn);

	if (ahead == 0)
		receive_expected(qp, packet);
	else if (ahead > 0)
		receive_ahead(qp);
	else
		receive_duplicate(qp, packet);
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

static void receive_connected(struct roce_qp *qp, struct sk_buff *skb,
			      const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;

	if ((packet->opcode & ROCE_SERVICE_MASK) != roce_qp_service(qp) ||
	    packet->info->flags & ROCE_IS_RESPONSE) {
		roce_drop(qp, rx_dropped_opcode, packet);
		return;
	}
	if (!roce_qp_is_from_peer(qp, skb)) {
		roce_drop(qp, rx_dropped_address, packet);
		return;
	}
	if (responder->failed) {
		roce_drop(qp, rx_dropped_qp_state, packet);
		return;
	}
	if (roce_run(skb)->congestion)
		roce_cnp_notify(qp);
	if (READ_ONCE(qp->state) == IB_QPS_RTR && !responder->established) {
		responder->established = true;
		roce_qp_event(qp, IB_EVENT_COMM_EST);
	}

	if (roce_qp_is_reliable(qp))
		receive_reliable(qp, packet);
	else
		receive_unreliable(qp, packet);
}

/* What stands in front of a datagram in its receive (11.4.2.1, annex A17.4.7) */
static void make_grh(const struct sk_buff *skb, u8 grh[ROCE_GRH_SIZE])
{
	memset(grh, 0, ROCE_GRH_SIZE);
	if (ip_hdr(skb)->version == 6)
		memcpy(grh, ipv6_hdr(skb), sizeof(struct ipv6hdr));
	else
		memcpy(grh + ROCE_GRH_SIZE - sizeof(struct iphdr), ip_hdr(skb),
		       sizeof(struct iphdr));
}

static enum ib_wc_status place_datagram(struct roce_qp *qp,
					const struct sk_buff *skb,
					const struct roce_packet *packet)
{
	struct roce_sge_walk walk = walk_receive(qp, 0, ROCE_GRH_SIZE);
	u8 grh[ROCE_GRH_SIZE];

	if (!qp->responder.receive->valid)
		return IB_WC_LOC_QP_OP_ERR;
	if (ROCE_GRH_SIZE + (u64)packet->payload > qp->responder.receive->length)
		return IB_WC_LOC_LEN_ERR;
	make_grh(skb, grh);
	if (roce_sge_scatter_buffer(&walk, grh))
		return IB_WC_LOC_PROT_ERR;
	return place_in_receive(qp, packet, ROCE_GRH_SIZE);
}

static void receive_datagram(struct roce_qp *qp, struct sk_buff *skb,
			     const struct roce_packet *packet)
{
	bool ipv6 = ip_hdr(skb)->version == 6;
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = ROCE_GRH_SIZE + packet->payload,
		.src_qp = packet->source_qpn,
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
		.network_hdr_type = ipv6 ? RDMA_NETWORK_IPV6 : RDMA_NETWORK_IPV4,
	};
	enum ib_wc_status status;

	if ((packet->opcode & ROCE_SERVICE_MASK) != ROCE_SERVICE_UD) {
		roce_drop(qp, rx_dropped_opcode, packet);
		return;
	}
	if (packet->qkey != qp->attr.qkey) {
		roce_drop(qp, rx_dropped_qkey, packet);
		return;
	}
	if (packet->payload > qp->mtu) {
		roce_drop(qp, rx_dropped_length, packet);
		return;
	}
	if (!has_receive(qp)) {
		roce_drop(qp, rx_dropped_no_receive, packet);
		return;
	}

	status = place_datagram(qp, skb, packet);
	/* Anybody can send what is too long: it must not cost us the QP. */
	if (status == IB_WC_LOC_LEN_ERR) {
		roce_drop(qp, rx_dropped_length, packet);
		return;
	}
	if (status != IB_WC_SUCCESS) {
		fail_receive(qp, status);
		roce_qp_set_error(qp, IB_QPS_ERR);
		return;
	}
	if (roce_run(skb)->vlan_id < VLAN_N_VID) {
		wc.wc_flags |= IB_WC_WITH_VLAN;
		wc.vlan_id = roce_run(skb)->vlan_id;
	}
	complete_receive(qp, &wc, packet);
}

static bool can_receive(const struct roce_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RTR:
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return true;
	default:
		return false;
	}
}

static void receive(struct roce_engine *engine, struct sk_buff *skb)
{
	struct roce_qp *qp = responder_qp(engine);
	struct roce_packet packet;

	while (roce_run_next(skb, qp, &packet)) {
		if (!can_receive(qp))
			roce_drop(qp, rx_dropped_qp_state, &packet);
		else if (roce_qp_is_datagram(qp))
			receive_datagram(qp, skb, &packet);
		else
			receive_connected(qp, skb, &packet);
	}
	consume_skb(skb);
}

static void start_timer(struct roce_responder *responder, u64 nanoseconds)
{
	hrtimer_start(&responder->wait_timer, ns_to_ktime(nanoseconds),
		      HRTIMER_MODE_REL_SOFT);
}

/* Send nothing for a while. */
static void wait(struct roce_responder *responder, u64 nanoseconds)
{
	responder->waiting = true;
	start_timer(responder, nanoseconds);
}

static void stall(struct roce_qp *qp, int err)
{
	roce_count_stall(qp, err, STALL_NANOSECONDS);
	qp->responder.stalls++;
	wait(&qp->responder, STALL_NANOSECONDS);
}

static u8 read_response_operation(bool first, bool last)
{
	if (first)
		return last ? ROCE_READ_RESPONSE_ONLY : ROCE_READ_RESPONSE_FIRST;
	return last ? ROCE_READ_RESPONSE_LAST : ROCE_READ_RESPONSE_MIDDLE;
}

static void describe_response(const struct roce_qp *qp,
			      const struct roce_resource *resource,
			      struct roce_packet *packet)
{
	bool last = resource->left == 1;
	u8 operation = resource->kind == ROCE_IS_ATOMIC ?
		       ROCE_ATOMIC_ACKNOWLEDGE :
		       read_response_operation(resource->begin, last);

	*packet = (struct roce_packet) {
		.opcode = ROCE_SERVICE_RC | operation,
		.qpn = qp->attr.dest_qp_num,
		.psn = resource->next_psn,
		.payload = last ? resource->length : qp->mtu,
		.syndrome = ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS,
		.msn = resource->msn,
		.original = resource->original,
	};
	packet->info = roce_opcode_info(packet->opcode);
}

static int add_response(struct roce_qp *qp, const struct roce_resource *resource,
			const struct roce_packet *packet,
			struct roce_train *train)
{
	struct roce_access access = remote_access(qp, resource->rkey,
						  resource->address,
						  packet->payload,
						  IB_ACCESS_REMOTE_READ);
	int err;

	err = roce_train_begin_packet(train, packet);
	if (!err && packet->payload)
		err = roce_access_read(&access, train);
	if (!err)
		err = roce_train_end_packet(train, packet);
	if (err)
		roce_train_cancel_packet(train);
	return err;
}

static void advance_responses(const struct roce_qp *qp,
			      struct roce_resource *resource, u32 packets)
{
	u32 bytes = min_t(u64, resource->length, (u64)packets * qp->mtu);

	if (packets)
		resource->begin = false;
	resource->next_psn = roce_psn_add(resource->next_psn, packets);
	resource->left -= packets;
	resource->address += bytes;
	resource->length -= bytes;
}

static int fill_response_train(struct roce_qp *qp, struct roce_resource *resource,
			       struct roce_train *train)
{
	while (resource->left) {
		struct roce_packet packet;
		int err;

		describe_response(qp, resource, &packet);
		if (!roce_train_fits(train, roce_packet_size(&packet)))
			return 0;
		err = add_response(qp, resource, &packet, train);
		if (err)
			return train->packets ? 0 : err;
		advance_responses(qp, resource, 1);
	}
	return 0;
}

/* Memory that a READ was granted has gone meanwhile. */
static void revoke_reads(struct roce_qp *qp, u32 psn)
{
	struct roce_responder *responder = &qp->responder;

	roce_count(qp, resp_remote_access_errors);
	responder->answered = responder->taken;
	owe_answer(responder, ROCE_AETH_NAK | ROCE_NAK_REMOTE_ACCESS_ERROR,
		   psn);
	responder->failed = true;
	roce_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
}

/* Send one train of responses. False if the network takes no more. */
static bool send_responses(struct roce_qp *qp, struct roce_resource *resource)
{
	struct roce_responder *responder = &qp->responder;
	bool data = resource->kind == ROCE_IS_READ;
	u64 turn = data ? roce_flow_wait(qp, &qp->flow, ROCE_RESPONDER) : 0;
	struct roce_resource before = *resource;
	struct roce_packet packet;
	struct roce_train train;
	int err;

	if (turn) {
		wait(responder, turn);
		return false;
	}
	describe_response(qp, resource, &packet);
	err = roce_train_open(&train, &qp->av, qp->source_port, packet.psn,
			      roce_packet_size(&packet));
	if (!err) {
		train.data = data;
		train.limit = roce_flow_train_bytes(qp);
		err = fill_response_train(qp, resource, &train);
		if (err)
			roce_train_drop(&train);
		else
			err = roce_flow_send(qp, ROCE_RESPONDER, &qp->av,
					     &train);
	}
	if (err == -EACCES) {
		revoke_reads(qp, before.next_psn);
		return true;
	}
	if (err == -EAGAIN || err == -ENOMEM) {
		*resource = before;
		advance_responses(qp, resource, train.sent);
		stall(qp, err);
		return false;
	}
	responder->stalls = 0;
	return true;
}

static void send_acknowledge(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_packet packet = {
		.opcode = ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE,
		.info = roce_opcode_info(ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE),
		.qpn = qp->attr.dest_qp_num,
		.psn = responder->ack_psn,
		.syndrome = responder->ack_syndrome,
		.msn = responder->msn,
	};
	struct roce_train train;
	int err;

	if (owes_nak(responder))
		trace_roce_nak_sent(qp, packet.psn, packet.syndrome);
	err = roce_train_of_one(&train, &qp->av, qp->source_port, &packet) ?:
	      roce_flow_send(qp, ROCE_RESPONDER, &qp->av, &train);
	if ((err == -EAGAIN || err == -ENOMEM) &&
	    responder->stalls < MAX_STALLS) {
		stall(qp, err);
		return;
	}
	if (err == -EAGAIN)
		roce_count(qp, tx_dropped_queue_full);
	responder->stalls = 0;
	responder->ack_due = false;
}

/* What waits in a shared receive queue is for other QPs. */
static bool has_receive_to_flush(struct roce_qp *qp)
{
	return qp->responder.has_receive ||
	       (!roce_qp_srq(qp) && roce_receive_fetch(qp));
}

static void report_last_wqe(struct roce_qp *qp)
{
	if (qp->responder.last_wqe_reported)
		return;
	qp->responder.last_wqe_reported = true;
	roce_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* True if there is more: a program can post as fast as this flushes. */
static bool flush(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	int budget = FLUSH_BUDGET;

	while (has_receive_to_flush(qp)) {
		struct ib_wc wc = {
			.status = IB_WC_WR_FLUSH_ERR,
			.opcode = IB_WC_RECV,
		};

		roce_receive_complete(qp, &wc, false);
		if (!--budget)
			return true;
	}
	/* A program posts receives without telling the kernel. */
	if (roce_qp_srq(qp))
		report_last_wqe(qp);
	else if (roce_qp_is_user(qp))
		start_timer(responder, FLUSH_INTERVAL);
	return false;
}

static bool answer(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	int trains = TRAINS_PER_STEP;
	struct roce_resource *next;

	while ((next = next_to_answer(responder)) && trains &&
	       send_responses(qp, next))
		trains--;
	if (responder->waiting)
		return false;
	if (next)
		return true;

	if (responder->ack_due)
		send_acknowledge(qp);
	if (responder->failed && !responder->ack_due)
		roce_qp_set_error(qp, IB_QPS_ERR);
	return false;
}

static bool advance(struct roce_engine *engine)
{
	struct roce_qp *qp = responder_qp(engine);

	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		return flush(qp);
	if (!can_receive(qp) || roce_qp_is_datagram(qp) ||
	    READ_ONCE(qp->responder.waiting))
		return false;
	return answer(qp);
}

static const struct roce_engine_ops responder_ops = {
	.receive = receive,
	.advance = advance,
};

static enum hrtimer_restart wait_is_over(struct hrtimer *timer)
{
	struct roce_responder *responder =
		container_of(timer, struct roce_responder, wait_timer);

	WRITE_ONCE(responder->waiting, false);
	rcu_read_lock();
	roce_engine_run(&responder->engine);
	rcu_read_unlock();
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
	spin_lock_init(&responder->post_lock);
	hrtimer_setup(&responder->wait_timer, wait_is_over, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	responder->receive = kzalloc(struct_size(responder->receive, sge,
						 max_sges),
				     GFP_KERNEL_ACCOUNT);
	return responder->receive ? 0 : -ENOMEM;
}

/**
 * roce_responder_start() - take the attributes of a QP that becomes ready to receive
 * @qp: both engines are owned by the caller; attr is set
 */
void roce_responder_start(struct roce_qp *qp)
{
	qp->responder.psn = qp->attr.rq_psn;
}

/**
 * roce_responder_set_resources() - how many READs and atomics the peer may have
 *	under way changed
 * @qp: its responder is owned by the caller; attr.max_dest_rd_atomic is set
 * @resources: as many, rounded up to a power of two and zeroed, NULL if that is
 *	0; the responder's from now on
 *
 * The latest requests stay known, as far as there is room.
 */
void roce_responder_set_resources(struct roce_qp *qp,
				  struct roce_resource *resources)
{
	struct roce_responder *responder = &qp->responder;
	u32 count = resources ? roundup_pow_of_two(qp->attr.max_dest_rd_atomic) : 0;
	u32 known = responder->resources ? responder->resource_mask + 1 : 0;
	u32 n;

	for (n = 1; n <= min(known, count); n++)
		resources[(responder->taken - n) & (count - 1)] =
			*nth_resource(responder, responder->taken - n);
	kfree(responder->resources);
	responder->resources = resources;
	responder->resource_mask = count - 1;
	if (responder->taken - responder->answered > count)
		responder->answered = responder->taken - count;
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
	__skb_queue_purge(&responder->engine.inbox);
	responder->has_receive = false;
	responder->msn = 0;
	responder->message = 0;
	responder->nak_sent = false;
	responder->ack_due = false;
	responder->failed = false;
	responder->stalls = 0;
	responder->established = false;
	responder->last_wqe_reported = false;
	roce_responder_set_resources(qp, NULL);
	if (!roce_qp_srq(qp))
		roce_ring_reset(&responder->ring);
}

/**
 * roce_responder_stop() - stop the timer
 * @qp: in a state in which nothing starts it
 *
 * Process context.
 */
void roce_responder_stop(struct roce_qp *qp)
{
	hrtimer_cancel(&qp->responder.wait_timer);
	qp->responder.waiting = false;
}

/**
 * roce_responder_destroy() - free what the responder has
 * @qp: its engines are destroyed
 */
void roce_responder_destroy(struct roce_qp *qp)
{
	kfree(qp->responder.receive);
	kfree(qp->responder.resources);
}
