// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder: request packets are executed, and answered (IBA volume 1,
 * 9.7.4 and 9.7.5.1 for RC, 9.8.3 for datagrams).
 *
 * Packets of RC are executed strictly in the order of their PSNs. What is ahead
 * of the expected PSN shows a gap: one NAK, and silence until the gap is
 * filled. What is behind is a duplicate: it is answered again, but not executed
 * again; only a READ is, since that changes nothing.
 *
 * Answers leave in the order of the PSNs too: responses of READs first, then
 * one acknowledgment for everything that was received meanwhile. It may be a
 * NAK, and if it is a fatal one, then the QP goes to the error state behind it.
 */
#include <linux/if_vlan.h>

#include "qp.h"
#include "sge.h"

/* Trains of READ responses that are sent before the inbox is looked at again */
#define TRAINS_PER_STEP		4

#define STALL_JIFFIES		1

/* Stalls after which an acknowledgment is given up; the peer asks again. */
#define MAX_STALLS		100

/* Receives that are flushed before softirq does something else */
#define FLUSH_BUDGET		64

/* How often a program's receive queue is flushed in the error state */
#define FLUSH_INTERVAL		msecs_to_jiffies(20)

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

static void owe_acknowledge(struct roce_responder *responder, u8 syndrome,
			    u32 psn)
{
	responder->ack_due = true;
	responder->ack_syndrome = syndrome;
	responder->ack_psn = psn;
}

static bool owes_nak(const struct roce_responder *responder)
{
	return responder->ack_due &&
	       (responder->ack_syndrome & ROCE_AETH_KIND_MASK) != ROCE_AETH_ACK;
}

static void owe_nak(struct roce_responder *responder, u8 syndrome)
{
	owe_acknowledge(responder, syndrome, responder->psn);
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
		return fail_receive(qp, IB_WC_LOC_LEN_ERR);
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
	u16 flags = packet->info->flags;
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

static struct roce_read *nth_read(const struct roce_qp *qp, u32 n)
{
	const struct roce_responder *responder = &qp->responder;

	return &responder->reads[(responder->read_head + n) %
				 qp->attr.max_dest_rd_atomic];
}

static u32 read_packets(const struct roce_qp *qp,
			const struct roce_packet *packet)
{
	return max(1u, DIV_ROUND_UP(packet->length, qp->mtu));
}

static void finish_read(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;

	responder->read_head = (responder->read_head + 1) %
			       qp->attr.max_dest_rd_atomic;
	responder->read_count--;
}

static void queue_read(struct roce_qp *qp, const struct roce_packet *packet,
		       bool repeated)
{
	struct roce_responder *responder = &qp->responder;

	*nth_read(qp, responder->read_count++) = (struct roce_read) {
		.psn = packet->psn,
		.first_psn = packet->psn,
		.packets = read_packets(qp, packet),
		.address = packet->va,
		.length = packet->length,
		.rkey = packet->rkey,
		.msn = responder->msn,
		.repeated = repeated,
	};
	/* New responses acknowledge all that is before them. */
	if (!repeated && !owes_nak(responder))
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
	struct roce_responder *responder = &qp->responder;
	enum verdict verdict;

	/*
	 * More than max_dest_rd_atomic at a time. But a new request says that
	 * the peer has got what it had asked for again.
	 */
	if (responder->read_count == qp->attr.max_dest_rd_atomic) {
		if (!responder->read_count || !nth_read(qp, 0)->repeated)
			return INVALID;
		finish_read(qp);
	}
	verdict = check_read(qp, packet);
	if (verdict != DONE)
		return verdict;

	roce_count(qp, rx_read_requests);
	responder->msn = roce_psn_add(responder->msn, 1);
	queue_read(qp, packet, false);
	return DONE;
}

/* 9.7.4.1.2 and 9.7.4.1.6: the packet must go on where the last one ended. */
static bool fits_message(const struct roce_qp *qp,
			 const struct roce_packet *packet)
{
	u16 flags = packet->info->flags;
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

static enum verdict execute(struct roce_qp *qp, const struct roce_packet *packet)
{
	u16 flags = packet->info->flags;

	if (!fits_message(qp, packet))
		return INVALID;
	if (flags & ROCE_IS_SEND)
		return execute_send(qp, packet);
	if (flags & ROCE_IS_WRITE)
		return execute_write(qp, packet);
	if (flags & ROCE_IS_READ)
		return execute_read(qp, packet);
	return INVALID;
}

static void executed(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u16 flags = packet->info->flags;

	responder->nak_sent = false;
	if (flags & ROCE_IS_READ) {
		responder->psn = roce_psn_add(packet->psn,
					      read_packets(qp, packet));
		return;
	}
	responder->psn = roce_psn_add(packet->psn, 1);
	responder->message = flags & ROCE_IS_LAST ? 0 :
			     flags & (ROCE_IS_SEND | ROCE_IS_WRITE);
	if (flags & ROCE_IS_LAST)
		responder->msn = roce_psn_add(responder->msn, 1);
	if (packet->ack_request)
		owe_acknowledge(responder,
				ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS,
				packet->psn);
}

static void receive_expected(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	enum verdict verdict = execute(qp, packet);

	switch (verdict) {
	case DONE:
		executed(qp, packet);
		return;
	case NOT_READY:
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
	owe_nak(responder, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR);
}

/*
 * The requester went back and asks again. It will ask again for all later READs
 * as well, so what is left of them is not sent.
 */
static void repeat_read(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u32 end = roce_psn_add(packet->psn, read_packets(qp, packet));

	if (!qp->attr.max_dest_rd_atomic ||
	    roce_psn_diff(end, responder->psn) > 0 ||
	    check_read(qp, packet) != DONE)
		return;

	while (responder->read_count) {
		struct roce_read *last = nth_read(qp, responder->read_count - 1);

		/* The network made two of it, and the answer is still to come. */
		if (last->psn == packet->psn && last->first_psn == packet->psn &&
		    last->length == packet->length)
			return;
		if (roce_psn_diff(last->first_psn, packet->psn) < 0 &&
		    roce_psn_diff(last->psn, packet->psn) < 0)
			break;
		responder->read_count--;
	}
	if (responder->read_count < qp->attr.max_dest_rd_atomic)
		queue_read(qp, packet, true);
}

static void receive_duplicate(struct roce_qp *qp,
			      const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;

	roce_count(qp, duplicate_request);
	if (packet->info->flags & ROCE_IS_READ)
		repeat_read(qp, packet);
	else if (!owes_nak(responder))
		owe_acknowledge(responder,
				ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS,
				roce_psn_add(responder->psn, -1));
}

static void receive_connected(struct roce_qp *qp, const struct sk_buff *skb,
			      const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	s32 ahead;

	if ((packet->opcode & ROCE_SERVICE_MASK) != ROCE_SERVICE_RC ||
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
	if (READ_ONCE(qp->state) == IB_QPS_RTR && !responder->established) {
		responder->established = true;
		roce_qp_event(qp, IB_EVENT_COMM_EST);
	}

	ahead = roce_psn_diff(packet->psn, responder->psn);
	if (ahead == 0)
		receive_expected(qp, packet);
	else if (ahead > 0)
		receive_ahead(qp);
	else
		receive_duplicate(qp, packet);
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

static void stall(struct roce_responder *responder)
{
	responder->stalled = true;
	responder->stalls++;
	mod_timer(&responder->wait_timer, jiffies + STALL_JIFFIES);
}

static u8 response_operation(bool first, bool last)
{
	if (first)
		return last ? ROCE_READ_RESPONSE_ONLY : ROCE_READ_RESPONSE_FIRST;
	return last ? ROCE_READ_RESPONSE_LAST : ROCE_READ_RESPONSE_MIDDLE;
}

static void describe_response(const struct roce_qp *qp,
			      const struct roce_read *read,
			      struct roce_packet *packet)
{
	bool first = read->psn == read->first_psn;
	bool last = read->packets == 1;

	*packet = (struct roce_packet) {
		.opcode = ROCE_SERVICE_RC | response_operation(first, last),
		.qpn = qp->attr.dest_qp_num,
		.psn = read->psn,
		.payload = last ? read->length : qp->mtu,
		.syndrome = ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS,
		.msn = read->msn,
	};
	packet->info = roce_opcode_info(packet->opcode);
}

static int add_response(struct roce_qp *qp, const struct roce_read *read,
			const struct roce_packet *packet,
			struct roce_train *train)
{
	struct roce_access access = remote_access(qp, read->rkey, read->address,
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

static int fill_response_train(struct roce_qp *qp, struct roce_read *read,
			       struct roce_train *train)
{
	while (read->packets) {
		struct roce_packet packet;
		int err;

		describe_response(qp, read, &packet);
		if (!roce_train_fits(train, roce_packet_size(&packet)))
			return 0;
		err = add_response(qp, read, &packet, train);
		if (err)
			return train->packets ? 0 : err;
		read->psn = roce_psn_add(read->psn, 1);
		read->packets--;
		read->address += packet.payload;
		read->length -= packet.payload;
	}
	return 0;
}

/* Memory that a READ was granted has gone meanwhile. */
static void revoke_reads(struct roce_qp *qp, u32 psn)
{
	struct roce_responder *responder = &qp->responder;

	roce_count(qp, resp_remote_access_errors);
	responder->read_count = 0;
	owe_acknowledge(responder,
			ROCE_AETH_NAK | ROCE_NAK_REMOTE_ACCESS_ERROR, psn);
	responder->failed = true;
	roce_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
}

/* Send one train of responses. False if the network takes no more. */
static bool send_responses(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_read *read = nth_read(qp, 0);
	struct roce_read before = *read;
	struct roce_packet packet;
	struct roce_train train;
	int err;

	describe_response(qp, read, &packet);
	err = roce_train_open(&train, &qp->av, qp->source_port, read->psn,
			      roce_packet_size(&packet));
	if (!err) {
		err = fill_response_train(qp, read, &train);
		if (err)
			roce_train_drop(&train);
		else
			err = qp->dev->send(qp, &qp->av, &train);
	}
	if (err == -EACCES) {
		revoke_reads(qp, before.psn);
		return true;
	}
	if (err == -EAGAIN || err == -ENOMEM) {
		*read = before;
		roce_count(qp, tx_stalled);
		stall(responder);
		return false;
	}
	responder->stalls = 0;
	if (!read->packets)
		finish_read(qp);
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

	err = roce_train_of_one(&train, &qp->av, qp->source_port, &packet) ?:
	      qp->dev->send(qp, &qp->av, &train);
	if ((err == -EAGAIN || err == -ENOMEM) &&
	    responder->stalls < MAX_STALLS) {
		roce_count(qp, tx_stalled);
		stall(responder);
		return;
	}
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
		mod_timer(&responder->wait_timer, jiffies + FLUSH_INTERVAL);
	return false;
}

static bool answer(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	int trains = TRAINS_PER_STEP;

	while (responder->read_count && trains && send_responses(qp))
		trains--;
	if (responder->stalled)
		return false;
	if (responder->read_count)
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
	    qp->responder.stalled)
		return false;
	return answer(qp);
}

static const struct roce_engine_ops responder_ops = {
	.receive = receive,
	.advance = advance,
};

static void wait_is_over(struct timer_list *timer)
{
	struct roce_responder *responder =
		timer_container_of(responder, timer, wait_timer);

	WRITE_ONCE(responder->stalled, false);
	rcu_read_lock();
	roce_engine_run(&responder->engine);
	rcu_read_unlock();
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
	timer_setup(&responder->wait_timer, wait_is_over, 0);
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
 * roce_responder_set_reads() - how many READs can be answered at a time changed
 * @qp: its responder is owned by the caller; attr.max_dest_rd_atomic is set
 * @reads: room for as many, NULL if that is 0; the responder's from now on
 *
 * Requests that wait for their answer are forgotten; the peer asks again.
 */
void roce_responder_set_reads(struct roce_qp *qp, struct roce_read *reads)
{
	struct roce_responder *responder = &qp->responder;

	kfree(responder->reads);
	responder->reads = reads;
	responder->read_head = 0;
	responder->read_count = 0;
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
	responder->read_head = 0;
	responder->read_count = 0;
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
	timer_delete_sync(&qp->responder.wait_timer);
	qp->responder.stalled = false;
}

/**
 * roce_responder_destroy() - free what the responder has
 * @qp: its engines are destroyed
 */
void roce_responder_destroy(struct roce_qp *qp)
{
	kfree(qp->responder.receive);
	kfree(qp->responder.reads);
}
