// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The packets of a request: their headers, and how they are added to a train. A packet
 * is the same when it is sent again.
 */
#include "packet.h"
#include "payload.h"
#include "qp.h"
#include "request.h"
#include "request_packet.h"
#include "requester.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "sack.h"
#include "sge.h"
#include "train.h"
#include "wr.h"

/**
 * roce_request_packet_end() - find the end of the request packet of a response
 * @requester: owned by the caller
 * @psn: PSN of a response that was asked for
 *
 * Return: one past the last PSN that the same request packet asked for.
 */
u32 roce_request_packet_end(struct roce_requester *requester, u32 psn)
{
	u32 n = requester->asked, end = requester->limit_psn;

	while (n-- && roce_psn_diff(*roce_asked_end(requester, n), psn) > 0)
		end = *roce_asked_end(requester, n);
	return end;
}

static u8 packet_opcode(const struct roce_qp *qp,
			const struct roce_request *request, bool first, bool last)
{
	const struct roce_wr_info *info = request->info;

	return roce_qp_service(qp) | (first && last ? info->only :
				      first ? info->first :
				      last ? info->last :
				      info->middle);
}

static void address_datagram(const struct roce_qp *qp,
			     const struct roce_request *request,
			     struct roce_packet *packet)
{
	packet->qpn = request->remote_qpn & ROCE_BTH_LOW_24;
	/* A Q_Key with the top bit set means the QP's own Q_Key. */
	packet->qkey = request->remote_qkey & BIT(31) ? qp->attr.qkey :
							request->remote_qkey;
	packet->source_qpn = qp->ibqp.qp_num;
}

/**
 * roce_request_ask_for_ack() - ask for an acknowledgment of a packet
 * @qp: of type RC; its requester is owned by the caller
 * @packet: of a request
 */
void roce_request_ask_for_ack(const struct roce_qp *qp, struct roce_packet *packet)
{
	packet->ack_request = true;
	packet->sack = roce_sack_of_request(qp);
}

/**
 * roce_request_describe() - describe a packet of a request
 * @qp: its requester is owned by the caller
 * @request: of @qp
 * @psn: of the packet
 * @psns: for a READ, the number of responses that it asks for; else ignored
 * @packet: to be filled in; asks for an acknowledgment if it ends the request
 */
void roce_request_describe(struct roce_qp *qp, const struct roce_request *request,
			   u32 psn, u32 psns, struct roce_packet *packet)
{
	u32 index = roce_psn_add(psn, -request->first_psn);
	bool last = index == request->packets - 1;

	*packet = (struct roce_packet) {
		.opcode = packet_opcode(qp, request, index == 0, last),
		.psn = psn,
		.qpn = qp->attr.dest_qp_num,
		.solicited = last && request->flags & IB_SEND_SOLICITED &&
			     !roce_request_has_response(request),
		.immediate = request->immediate,
		.invalidate = request->invalidate,
		.flush = request->flush,
		.va = request->remote_address,
		.rkey = request->rkey,
		.length = request->length,
		.swap_add = request->swap_add,
		.compare = request->compare,
	};
	packet->info = roce_opcode_info(packet->opcode);
	if (packet->info->flags & ROCE_HAS_PAYLOAD)
		packet->payload = min(request->length - index * qp->mtu, qp->mtu);
	if (roce_request_is_read(request)) {
		packet->va += (u64)index * qp->mtu;
		packet->length = min_t(u64, request->length - index * qp->mtu,
				       (u64)psns * qp->mtu);
	}
	if (roce_qp_is_datagram(qp))
		address_datagram(qp, request, packet);
	if (roce_qp_is_reliable(qp) && (last || roce_request_is_read(request)))
		roce_request_ask_for_ack(qp, packet);
}

/* @offset and @length may span several packets of the message. */
static int append_payload(struct roce_qp *qp, const struct roce_request *request,
			  u64 offset, u32 length, struct roce_train *train)
{
	struct roce_sge_walk walk = roce_request_walk(qp, request, offset,
						      length, 0);

	if (request->flags & IB_SEND_INLINE)
		return roce_train_append(train, request->inline_data + offset,
					 length);
	return roce_payload_gather(&walk, train);
}

/**
 * roce_request_add_packets() - add packets of a request to a train
 * @qp: its requester is owned by the caller
 * @request: of @qp
 * @packet: the first of them, which fits
 * @count: number of packets that differ only in the PSN, see roce_train_begin_packets()
 * @train: the train; after an error no other packet can be added
 *
 * Return: 0, -ENOMEM, or an error of the consumer's memory. After an error some packets
 * may be complete.
 */
int roce_request_add_packets(struct roce_qp *qp, const struct roce_request *request,
			     const struct roce_packet *packet, u32 count,
			     struct roce_train *train)
{
	u64 offset = (u64)roce_psn_add(packet->psn, -request->first_psn) * qp->mtu;
	int err;

	err = roce_train_begin_packets(train, packet, count) ?:
	      append_payload(qp, request, offset, count * packet->payload, train) ?:
	      roce_train_end_packet(train);
	if (err)
		roce_train_cancel_packet(train);
	return err;
}
