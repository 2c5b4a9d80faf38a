// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sends the answers of a responder (IBA volume 1, 9.7.5.1), which answer.c has decided
 * about.
 *
 * They are sent in the order of their PSNs, except for parts that are asked for again:
 * responses first, then the acknowledgment of later requests. After a fatal NAK the QP
 * goes to the error state.
 */
#include "access.h"
#include "answer.h"
#include "counters.h"
#include "packet.h"
#include "payload.h"
#include "qp.h"
#include "requester.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "sack.h"
#include "spread.h"
#include "trace.h"
#include "train.h"
#include "xmit.h"

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
	if (packet->info->flags & ROCE_HAS_AETH)
		packet->sack = roce_sack_of_response(qp);
}

/* Number of responses from the next one on that differ only in the PSN */
static u32 count_responses_alike(const struct roce_resource *resource,
				 const struct roce_packet *packet,
				 const struct roce_train *train)
{
	if (resource->begin || resource->left == 1)
		return 1;
	return min(resource->left - 1,
		   roce_train_capacity(train, roce_packet_size(packet)));
}

static int add_responses(struct roce_qp *qp, const struct roce_resource *resource,
			 const struct roce_packet *packet, u32 count,
			 struct roce_train *train)
{
	struct roce_access access = roce_remote_access(qp, resource->rkey,
						       resource->address,
						       count * packet->payload,
						       IB_ACCESS_REMOTE_READ);
	int err;

	access.ahead = resource->length;
	access.fault = qp->responder.sender.fault;
	err = roce_train_begin_packets(train, packet, count);
	if (!err && packet->payload)
		err = roce_payload_read(&access, train);
	if (!err)
		err = roce_train_end_packet(train);
	if (err)
		roce_train_cancel_packet(train);
	return err;
}

static void advance_response(const struct roce_qp *qp,
			     struct roce_resource *resource, u32 packets)
{
	u32 bytes = min(resource->length, packets * qp->mtu);

	resource->begin = false;
	resource->next_psn = roce_psn_add(resource->next_psn, packets);
	resource->left -= packets;
	resource->address += bytes;
	resource->length -= bytes;
}

/*
 * Fill the train with responses from the next one on, of one request or of several
 * short ones. Responses with data count against the rate, and do not share a train with
 * others.
 */
static int fill_response_train(struct roce_qp *qp, struct roce_train *train)
{
	struct roce_resource *next;
	u32 n;

	roce_spread_answer(qp, train);
	for (n = 0; (next = roce_answer_nth(&qp->responder, n)); n++) {
		struct roce_resource resource = *next;

		if (resource.left && roce_answer_has_data(&resource) != train->data)
			return 0;
		while (resource.left) {
			struct roce_packet packet;
			u32 count;
			int err;

			describe_response(qp, &resource, &packet);
			if (!roce_train_fits(train, roce_packet_size(&packet)))
				return 0;
			count = count_responses_alike(&resource, &packet, train);
			err = add_responses(qp, &resource, &packet, count, train);
			if (err)
				return train->packets ? 0 : err;
			advance_response(qp, &resource, count);
		}
	}
	return 0;
}

static void advance_responses(struct roce_qp *qp, u32 packets)
{
	while (packets) {
		struct roce_resource *resource = roce_answer_next(&qp->responder);
		u32 count = min(packets, resource->left);

		advance_response(qp, resource, count);
		packets -= count;
	}
}

/*
 * The memory of a READ is not accessible any more. If the responses were asked for again,
 * the peer may have got the late ones, and told the program that it is done. If it has
 * not, its retries run out.
 */
static void revoke_read(struct roce_qp *qp, struct roce_resource *resource)
{
	struct roce_responder *responder = &qp->responder;

	if (resource->repeated) {
		resource->left = 0;
		return;
	}
	roce_count(qp, resp_remote_access_errors);
	roce_answer_forget(responder);
	roce_answer_owe(responder, ROCE_AETH_NAK | ROCE_NAK_REMOTE_ACCESS_ERROR,
			resource->next_psn);
	responder->failed = true;
	roce_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
}

/*
 * Send one train of responses. Returns false if all or some must wait. If it is dropped,
 * all later ones are, too: the peer asks for them again together with this one.
 */
static bool send_responses(struct roce_qp *qp, struct roce_resource *resource)
{
	struct roce_xmit xmit = {
		.sender = &qp->responder.sender,
		.av = &qp->av,
		.source_port = qp->source_port,
		.data = roce_answer_has_data(resource),
		.build = fill_response_train,
	};
	int err = roce_xmit(qp, &xmit);

	switch (err) {
	case 0:
	case -EBUSY:
		advance_responses(qp, xmit.train.sent);
		break;
	case -EACCES:
		revoke_read(qp, resource);
		break;
	default:
		roce_answer_forget(&qp->responder);
		break;
	}
	return err != -EBUSY;
}

/* Whether the answer acknowledges all packets before a gap, and packets are kept after it */
static bool can_be_selective(const struct roce_qp *qp)
{
	const struct roce_responder *responder = &qp->responder;
	u32 psn = responder->ack_psn;

	switch (responder->ack_syndrome) {
	case ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS:
		psn = roce_psn_add(psn, 1);
		break;
	case ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR:
		break;
	default:
		return false;
	}
	return psn == responder->psn && roce_sack_is_confirmed(qp) &&
	       roce_reorder_has_gap(responder->reorder, psn);
}

static void describe_acknowledge(const struct roce_qp *qp, struct roce_packet *packet)
{
	const struct roce_responder *responder = &qp->responder;

	*packet = (struct roce_packet) {
		.opcode = ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE,
		.info = roce_opcode_info(ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE),
		.qpn = qp->attr.dest_qp_num,
		.psn = responder->ack_psn,
		.syndrome = responder->ack_syndrome,
		.msn = responder->msn,
		.sack = roce_sack_of_response(qp),
	};
}

static void count_nak(struct roce_qp *qp, u8 syndrome)
{
	if (syndrome == (ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR))
		roce_count(qp, out_of_seq_request);
	else if ((syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_RNR_NAK)
		roce_count(qp, send_rnr_err);
}

/* The acknowledgment has left. */
static void note_acknowledge(struct roce_qp *qp, const struct roce_packet *packet)
{
	if (packet->info->flags & ROCE_HAS_SETH) {
		roce_count(qp, selective_acks_sent);
		trace_roce_sack_sent(qp, packet->psn, packet->lost,
				     packet->payload / sizeof(struct roce_sack_range));
	} else if (roce_answer_owes_nak(&qp->responder)) {
		count_nak(qp, packet->syndrome);
		trace_roce_nak_sent(qp, packet->psn, packet->syndrome);
	}
}

static int build_acknowledge(struct roce_qp *qp, struct roce_packet *packet,
			     struct roce_train *train)
{
	const struct roce_sack_range *ranges = NULL;

	if (can_be_selective(qp))
		ranges = roce_sack_describe(qp, packet);
	else
		describe_acknowledge(qp, packet);
	return roce_train_of_one(train, &qp->av, roce_spread_answer_port(qp), packet,
				 ranges);
}

static void send_acknowledge(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_packet packet;
	struct roce_xmit xmit;
	int err;

	xmit.sender = &responder->sender;
	xmit.av = &qp->av;
	err = build_acknowledge(qp, &packet, &xmit.train);
	roce_spread_answer(qp, &xmit.train);
	err = roce_xmit_built(qp, &xmit, err);
	if (err == -EBUSY)
		return;
	if (!err)
		note_acknowledge(qp, &packet);
	responder->ack_due = false;
}

/* Send a train of responses, and after the last one the acknowledgment. */
static bool send_next_answer(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_resource *next = roce_answer_next(responder);

	if (next && !send_responses(qp, next))
		return false;
	if (roce_answer_next(responder))
		return true;
	if (responder->ack_due)
		send_acknowledge(qp);
	if (responder->failed && !responder->ack_due)
		roce_qp_set_error(qp, IB_QPS_ERR);
	return false;
}

/**
 * roce_answer_send() - send responses and acknowledgments
 * @qp: connected; its responder is owned by the caller
 *
 * BH disabled, RCU read side.
 *
 * Return: true if there is more to send at once.
 */
bool roce_answer_send(struct roce_qp *qp)
{
	return roce_sender_advance(qp, &qp->responder.sender, send_next_answer);
}
