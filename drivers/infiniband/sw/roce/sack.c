// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Selective acknowledgments: their negotiation and format. A responder sends one
 * instead of a NAK for a sequence error, if the peer runs this driver, too. It
 * contains the packets after the gap that have come, and up to which PSN missing
 * packets are lost.
 *
 * No other implementation receives one. The two halves at the ends of a direction
 * agree first, by reserved bits next to AckReq (IBA volume 1, 9.2): other
 * implementations send zeros and ignore these bits. The ICRC covers them.
 *
 *	requester  --- AckReq, OFFER --->    responder
 *	           <-- AETH, ACCEPT ----
 *	           --- AckReq, CONFIRM ->    may send selective acknowledgments now
 *
 * A peer that echoes the bits, or sends constant ones, does not get through this
 * handshake. Only packets with AckReq or an AETH have these bits, so packets in the
 * middle of a train cost nothing. Documentation/reliability.md has the details.
 */
#include "device.h"
#include "packet.h"
#include "qp.h"
#include "reorder.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "sack.h"

static bool is_wanted(const struct roce_qp *qp)
{
	return READ_ONCE(qp->dev->loss_recovery) == ROCE_SELECTIVE &&
	       READ_ONCE(qp->dev->reordering_us);
}

/** roce_sack_of_request() - the SACK bits of a request with AckReq */
u8 roce_sack_of_request(const struct roce_qp *qp)
{
	if (!is_wanted(qp))
		return ROCE_BTH_SACK_NONE;
	return qp->requester.sack_accepted ? ROCE_BTH_SACK_CONFIRM :
					     ROCE_BTH_SACK_OFFER;
}

/** roce_sack_of_response() - the SACK bits of a response with an AETH */
u8 roce_sack_of_response(const struct roce_qp *qp)
{
	return qp->responder.sack_state != ROCE_SACK_UNKNOWN && is_wanted(qp) ?
	       ROCE_BTH_SACK_ACCEPT : ROCE_BTH_SACK_NONE;
}

/**
 * roce_sack_request_came() - handle the SACK bits of a request
 * @qp: of type RC; its responder is owned by the caller
 * @packet: from the peer, with AckReq
 */
void roce_sack_request_came(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;

	switch (packet->sack) {
	case ROCE_BTH_SACK_OFFER:
		if (responder->sack_state == ROCE_SACK_UNKNOWN)
			responder->sack_state = ROCE_SACK_OFFERED;
		break;
	case ROCE_BTH_SACK_CONFIRM:
		if (responder->sack_state == ROCE_SACK_OFFERED)
			responder->sack_state = ROCE_SACK_CONFIRMED;
		break;
	default:
		responder->sack_state = ROCE_SACK_UNKNOWN;
		break;
	}
}

/**
 * roce_sack_response_came() - handle the SACK bits of a response
 * @qp: of type RC; its requester is owned by the caller
 * @packet: from the peer, for a packet in flight, with an AETH
 */
void roce_sack_response_came(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_requester *requester = &qp->requester;
	bool accepted = packet->sack == ROCE_BTH_SACK_ACCEPT && is_wanted(qp);

	if (accepted && !requester->sack_accepted)
		requester->confirm_psn = requester->limit_psn;
	requester->sack_accepted = accepted;
	requester->sack_confirmed &= accepted;
}

/**
 * roce_sack_progressed() - look whether the responder has had a confirmation
 * @requester: owned by the caller; unacked_psn has moved
 */
void roce_sack_progressed(struct roce_requester *requester)
{
	if (requester->sack_accepted &&
	    roce_psn_precedes(requester->confirm_psn, requester->unacked_psn))
		requester->sack_confirmed = true;
}

/**
 * roce_sack_is_confirmed() - whether selective acknowledgments can be sent
 * @qp: its responder is owned by the caller
 */
bool roce_sack_is_confirmed(const struct roce_qp *qp)
{
	return qp->responder.sack_state == ROCE_SACK_CONFIRMED && is_wanted(qp);
}

/**
 * roce_sack_describe() - describe a selective acknowledgment of the kept packets
 * @qp: its responder is owned by the caller; roce_sack_is_confirmed() and
 *	roce_reorder_has_gap()
 * @packet: to be filled in
 *
 * Return: its payload, until the next call.
 */
const struct roce_sack_range *roce_sack_describe(struct roce_qp *qp,
						 struct roce_packet *packet)
{
	struct roce_reorder *reorder = qp->responder.reorder;
	struct roce_sack_range *ranges = reorder->ranges;
	u32 psn = qp->responder.psn;
	u32 most = min_t(u32, ROCE_SACK_RANGES, qp->mtu / sizeof(*ranges));
	u32 count = roce_reorder_ranges(reorder, psn, ranges, most);
	u32 lost = roce_psn_add(roce_reorder_lost_end(reorder, qp, psn), -psn);
	u32 known = count ? be16_to_cpu(ranges[count - 1].end) - 1 : 0;

	*packet = (struct roce_packet) {
		.opcode = ROCE_OPCODE_SACK,
		.info = roce_opcode_info(ROCE_OPCODE_SACK),
		.qpn = qp->attr.dest_qp_num,
		.psn = psn,
		.payload = count * sizeof(*ranges),
		/* There may be more ranges than fit, so limit this to the last one. */
		.lost = min(lost, known),
	};
	return ranges;
}

/**
 * roce_sack_check() - copy and check a selective acknowledgment
 * @qp: its requester is owned by the caller
 * @packet: received
 * @ranges: set to its payload; room for ROCE_SACK_RANGES
 *
 * The ranges must be separate, in the order of their PSNs, and in flight, with a gap
 * before each of them. They take no more bytes than the path MTU.
 *
 * Return: number of ranges, or -EINVAL.
 */
int roce_sack_check(const struct roce_qp *qp, const struct roce_packet *packet,
		    struct roce_sack_range *ranges)
{
	u32 in_flight = roce_psn_add(qp->requester.limit_psn, -packet->psn);
	u32 count = packet->payload / sizeof(*ranges), end = 0, n;

	if (packet->seth_version != ROCE_SETH_VERSION || packet->payload > qp->mtu ||
	    !count || count > ROCE_SACK_RANGES || packet->payload % sizeof(*ranges) ||
	    roce_packet_copy(packet, 0, ranges, packet->payload))
		return -EINVAL;
	for (n = 0; n < count; n++) {
		u32 begin = be16_to_cpu(ranges[n].begin);

		if (begin <= end)
			return -EINVAL;
		end = be16_to_cpu(ranges[n].end);
		if (end <= begin || end > in_flight)
			return -EINVAL;
	}
	return packet->lost < end ? (int)count : -EINVAL;
}
