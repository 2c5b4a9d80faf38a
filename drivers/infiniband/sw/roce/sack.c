// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Selective acknowledgments: who sends them to whom, and what they look like. Where a
 * peer of ours gets a NAK for a sequence error, it gets one of these: it says which
 * packets behind the gap have come, and how much of what is missing is lost.
 *
 * No other implementation sees one. The two halves at either end of a direction agree
 * first, by bits beside AckReq that are reserved (IBA volume 1, 9.2): whoever does
 * not know them sends zeros, and does not look at them. The ICRC covers them.
 *
 *	requester  --- AckReq, OFFER --->    responder
 *	           <-- AETH, ACCEPT ----
 *	           --- AckReq, CONFIRM ->    may send selective acknowledgments now
 *
 * A peer that sends back what it gets, or something constant, does not get there. Only
 * packets with AckReq, and with an AETH, have these bits: the middle of a train costs
 * nothing. Documentation/reliability.md describes all of it.
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

/** roce_sack_of_request() - the bits of a request with AckReq */
u8 roce_sack_of_request(const struct roce_qp *qp)
{
	if (!is_wanted(qp))
		return ROCE_BTH_SACK_NONE;
	return qp->requester.sack_accepted ? ROCE_BTH_SACK_CONFIRM :
					     ROCE_BTH_SACK_OFFER;
}

/** roce_sack_of_response() - the bits of a response with an AETH */
u8 roce_sack_of_response(const struct roce_qp *qp)
{
	return qp->responder.sack_state != ROCE_SACK_UNKNOWN && is_wanted(qp) ?
	       ROCE_BTH_SACK_ACCEPT : ROCE_BTH_SACK_NONE;
}

/**
 * roce_sack_request_came() - take note of what a request offers
 * @qp: of type RC; its responder is owned by the caller
 * @packet: of the peer, with AckReq
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
 * roce_sack_response_came() - take note of whether the offer is accepted
 * @qp: of type RC; its requester is owned by the caller
 * @packet: of the peer, for something in flight, with an AETH
 */
void roce_sack_response_came(struct roce_qp *qp, const struct roce_packet *packet)
{
	qp->requester.sack_accepted = packet->sack == ROCE_BTH_SACK_ACCEPT &&
				      is_wanted(qp);
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
 * roce_sack_describe() - describe a selective acknowledgment of what is kept now
 * @qp: its responder is owned by the caller; roce_sack_is_confirmed() and
 *	roce_reorder_has_gap()
 * @packet: to be filled in
 * @ranges: set to its payload; room for ROCE_SACK_RANGES
 */
void roce_sack_describe(struct roce_qp *qp, struct roce_packet *packet,
			struct roce_sack_range *ranges)
{
	struct roce_reorder *reorder = &qp->responder.reorder;
	u32 psn = qp->responder.psn;
	u32 count = roce_reorder_ranges(reorder, psn, ranges);
	u32 lost = roce_psn_add(roce_reorder_lost_end(reorder, qp, psn), -psn);
	u32 known = count ? be16_to_cpu(ranges[count - 1].end) - 1 : 0;

	*packet = (struct roce_packet) {
		.opcode = ROCE_OPCODE_SACK,
		.info = roce_opcode_info(ROCE_OPCODE_SACK),
		.qpn = qp->attr.dest_qp_num,
		.psn = psn,
		.payload = count * sizeof(*ranges),
		/* Behind the ranges there may be others, for which there is no room. */
		.lost = min(lost, known),
	};
}

/**
 * roce_sack_check() - copy a selective acknowledgment, and check it
 * @packet: received
 * @in_flight: packets from that of its PSN on that were sent
 * @ranges: set to its payload; room for ROCE_SACK_RANGES
 *
 * The ranges are apart from each other, in the order of their PSNs, and in flight;
 * something is missing before each of them.
 *
 * Return: how many there are, or -EINVAL.
 */
int roce_sack_check(const struct roce_packet *packet, u32 in_flight,
		    struct roce_sack_range *ranges)
{
	u32 count = packet->payload / sizeof(*ranges), end = 0, n;

	if (packet->seth_version != ROCE_SETH_VERSION || !count ||
	    count > ROCE_SACK_RANGES || packet->payload % sizeof(*ranges) ||
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
