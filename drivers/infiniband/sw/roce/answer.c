// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The answers that the responder of a reliable connection must send (IBA volume 1,
 * 9.7.5.1 and 9.7.8). answer_send.c sends them.
 *
 * A READ, an atomic and the like take a resource. The peer was promised a number of
 * them. A resource knows which responses are still to be sent, and stays known as long
 * as the peer may ask for them again. All other requests are acknowledged, or refused
 * by a NAK. One acknowledgment covers all earlier requests.
 */
#include "answer.h"
#include "cc.h"
#include "counters.h"
#include "engine.h"
#include "flow.h"
#include "packet.h"
#include "qp.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "sack.h"

/**
 * roce_answer_owe() - set the acknowledgment or NAK to send, replacing any other
 * @responder: owned by the caller
 * @syndrome: of the AETH
 * @psn: PSN of the last packet that it covers; for a NAK, of the refused packet
 */
void roce_answer_owe(struct roce_responder *responder, u8 syndrome, u32 psn)
{
	responder->ack_due = true;
	responder->ack_syndrome = syndrome;
	responder->ack_psn = psn;
}

/* @psn: PSN of the last packet to acknowledge */
static void acknowledge(struct roce_qp *qp, u32 psn)
{
	if (qp->responder.ack_due)
		roce_count(qp, ack_deferred);
	roce_answer_owe(&qp->responder, ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS, psn);
}

/**
 * roce_answer_owes_nak() - whether a NAK must be sent
 * @responder: owned by the caller
 */
bool roce_answer_owes_nak(const struct roce_responder *responder)
{
	return responder->ack_due &&
	       (responder->ack_syndrome & ROCE_AETH_KIND_MASK) != ROCE_AETH_ACK;
}

/**
 * roce_answer_nak() - send a NAK for the expected packet
 * @qp: its responder is owned by the caller
 * @syndrome: of the AETH
 */
void roce_answer_nak(struct roce_qp *qp, u8 syndrome)
{
	roce_answer_owe(&qp->responder, syndrome, qp->responder.psn);
	qp->responder.nak_sent = true;
	qp->responder.rnr_at = 0;
}

/**
 * roce_answer_gap() - send a selective acknowledgment
 * @qp: its responder is owned by the caller; roce_sack_is_confirmed()
 *
 * It counts as a NAK for a sequence error until it is sent, but no silence follows
 * after it.
 */
void roce_answer_gap(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;

	/* No later packet was dropped. */
	if (!responder->nak_sent)
		responder->ahead_psn = roce_psn_add(responder->psn, -1);
	if (!roce_answer_owes_nak(responder))
		roce_answer_owe(responder, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR,
				responder->psn);
}

/* Whether packets were dropped because they were early, and some of them are next */
static bool misses_packets(const struct roce_responder *responder)
{
	return responder->ack_syndrome ==
	       (ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR) &&
	       roce_psn_diff(responder->ahead_psn, responder->psn) >= 0;
}

/**
 * roce_answer_executed() - acknowledge the expected packet, if necessary
 * @qp: of type RC; its responder is owned by the caller
 * @packet: was executed; the PSN after it is expected now
 *
 * Necessary if the packet asks for it, or if a NAK for it is not sent yet: the requester
 * must not go back to this packet any more, but to the next missing one.
 */
void roce_answer_executed(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	bool nak = roce_answer_owes_nak(responder);

	if (nak && misses_packets(responder))
		roce_answer_nak(qp, responder->ack_syndrome);
	else if (packet->info->flags & ROCE_HAS_RESPONSE)
		responder->ack_due = false; /* The response acknowledges. */
	else if (packet->ack_request || nak)
		acknowledge(qp, packet->psn);
}

static struct roce_resource *nth_resource(const struct roce_responder *responder,
					  u32 number)
{
	return &responder->resources[number & responder->resource_mask];
}

/**
 * roce_answer_packets() - number of PSNs of a request packet
 * @qp: the QP
 * @packet: a request; for a READ, the responses count
 */
u32 roce_answer_packets(const struct roce_qp *qp,
			const struct roce_packet *packet)
{
	if (!(packet->info->flags & ROCE_IS_READ))
		return 1;
	return max(1u, DIV_ROUND_UP(packet->length, qp->mtu));
}

/**
 * roce_answer_has_room() - whether the peer may send one more request with responses
 * @qp: its responder is owned by the caller
 *
 * Return: false if the peer has more such requests outstanding than agreed.
 */
bool roce_answer_has_room(const struct roce_qp *qp)
{
	const struct roce_responder *responder = &qp->responder;
	const struct roce_resource *next;

	if (!qp->attr.max_dest_rd_atomic)
		return false;
	next = nth_resource(responder, responder->taken);
	/* A new request implies that the peer has received repeated responses. */
	return !next->left || next->repeated;
}

static struct roce_resource *nth_part(struct roce_responder *responder, u32 number)
{
	return &responder->parts[number % ROCE_MAX_PARTS];
}

/**
 * roce_answer_next() - find the next request to answer
 * @responder: owned by the caller; answered requests are skipped
 *
 * Return: a request with responses left, or NULL.
 */
struct roce_resource *roce_answer_next(struct roce_responder *responder)
{
	for (; responder->part_answered != responder->part_taken;
	     responder->part_answered++)
		if (nth_part(responder, responder->part_answered)->left)
			return nth_part(responder, responder->part_answered);
	for (; responder->answered != responder->taken; responder->answered++)
		if (nth_resource(responder, responder->answered)->left)
			return nth_resource(responder, responder->answered);
	return NULL;
}

static void owe_responses(struct roce_qp *qp, struct roce_resource *resource,
			  const struct roce_packet *packet)
{
	resource->left = roce_answer_packets(qp, packet);
	resource->next_psn = packet->psn;
	resource->begin = true;
	resource->msn = qp->responder.msn;
	if (resource->kind == ROCE_IS_READ) {
		resource->address = packet->va;
		resource->length = packet->length;
		resource->rkey = packet->rkey;
	}
}

/**
 * roce_answer_respond() - respond to an executed request
 * @qp: its responder is owned by the caller; roce_answer_has_room()
 * @packet: the request
 * @original: for an atomic, the value that was in memory
 */
void roce_answer_respond(struct roce_qp *qp, const struct roce_packet *packet,
			 u64 original)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_resource *new = nth_resource(responder, responder->taken++);

	*new = (struct roce_resource) {
		.kind = packet->info->flags & ROCE_HAS_RESPONSE,
		.psn = packet->psn,
		.packets = roce_answer_packets(qp, packet),
		.original = original,
	};
	/* The new resource may have replaced the first unanswered one. */
	if (responder->taken - responder->answered > responder->resource_mask)
		responder->answered = responder->taken -
				      responder->resource_mask - 1;
	responder->msn = roce_psn_add(responder->msn, 1);
	responder->repeat_psn = roce_psn_add(new->psn, new->packets);
	owe_responses(qp, new, packet);
}

/*
 * The last PSN to acknowledge to a requester that asks again from @psn on. A later
 * acknowledgment, after a READ or an atomic that was answered, would say so, but the
 * requester may be about to ask for the responses again. Those that are still to be sent
 * leave before the acknowledgment: a requester that asks for a part alone waits for both.
 */
static u32 last_to_acknowledge(const struct roce_responder *responder, u32 psn)
{
	u32 last = roce_psn_add(responder->psn, -1);
	u32 n;

	for (n = 0; responder->resources && n <= responder->resource_mask; n++) {
		const struct roce_resource *this = nth_resource(responder, n);

		if (this->packets && !this->left &&
		    roce_psn_diff(this->psn, psn) > 0 &&
		    roce_psn_diff(this->psn, last) <= 0)
			last = roce_psn_add(this->psn, -1);
	}
	return last;
}

static bool is_part_of(const struct roce_qp *qp, const struct roce_packet *packet,
		       const struct roce_resource *resource)
{
	u32 index = roce_psn_add(packet->psn, -resource->psn);

	return resource->kind == (packet->info->flags & ROCE_HAS_RESPONSE) &&
	       index < resource->packets &&
	       roce_answer_packets(qp, packet) <= resource->packets - index;
}

/**
 * roce_answer_nth() - get one of the requests to answer
 * @responder: owned by the caller
 * @n: its number, in the order of answering; it may have no responses left
 *
 * Return: the request, or NULL after the last one.
 */
struct roce_resource *roce_answer_nth(struct roce_responder *responder, u32 n)
{
	u32 parts = responder->part_taken - responder->part_answered;

	if (n < parts)
		return nth_part(responder, responder->part_answered + n);
	n -= parts;
	return n < responder->taken - responder->answered ?
	       nth_resource(responder, responder->answered + n) : NULL;
}

/**
 * roce_answer_forget() - drop all responses that are left
 * @responder: owned by the caller
 *
 * The peer can ask for any of them again.
 */
void roce_answer_forget(struct roce_responder *responder)
{
	struct roce_resource *resource;

	while ((resource = roce_answer_next(responder)))
		resource->left = 0;
}

/*
 * Whether all responses to the request are still to be sent. A probe asks for the last
 * one of a READ alone, whatever was sent before. Others ask from a later PSN on because
 * they have all before that, and look at the opcode of the response.
 */
static bool is_owed_already(const struct roce_qp *qp,
			    const struct roce_packet *packet,
			    const struct roce_resource *resource, u32 number)
{
	if ((s32)(number - qp->responder.answered) < 0 || !resource->left)
		return false;
	if (roce_psn_diff(packet->psn, resource->next_psn) > 0)
		return roce_sack_is_confirmed(qp);
	return resource->begin && resource->next_psn == packet->psn &&
	       resource->left == roce_answer_packets(qp, packet);
}

/* Whether the request stops before the end: going back, it would ask for all the rest. */
static bool is_asked_for_alone(const struct roce_qp *qp,
			       const struct roce_packet *packet,
			       const struct roce_resource *resource)
{
	u32 end = roce_psn_add(packet->psn, roce_answer_packets(qp, packet));

	return roce_psn_diff(roce_psn_add(resource->psn, resource->packets), end) > 0;
}

/* Whether the network has duplicated the request */
static bool is_part_owed(struct roce_responder *responder, u32 psn)
{
	u32 n;

	for (n = responder->part_answered; n != responder->part_taken; n++)
		if (nth_part(responder, n)->begin &&
		    nth_part(responder, n)->next_psn == psn)
			return true;
	return false;
}

/* Most QPs never need it. */
static bool has_room_for_parts(struct roce_responder *responder)
{
	if (!responder->parts)
		responder->parts = roce_engine_alloc(ROCE_MAX_PARTS *
						     sizeof(*responder->parts));
	return responder->parts &&
	       responder->part_taken - responder->part_answered < ROCE_MAX_PARTS;
}

/*
 * The requester has the other responses, or will get them. Unsent responses are not sent
 * earlier. Without room, the requester asks once more, or goes back after its timeout.
 */
static void repeat_part(struct roce_qp *qp, const struct roce_packet *packet,
			const struct roce_resource *whole)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_resource *part;

	if (whole->left && roce_psn_diff(packet->psn, whole->next_psn) >= 0)
		return;
	if (is_part_owed(responder, packet->psn) || !has_room_for_parts(responder))
		return;
	if (responder->part_taken == responder->part_answered &&
	    roce_is_congestion(roce_answer_packets(qp, packet), whole->packets))
		roce_flow_lost(qp, ROCE_CC_NAK);
	part = nth_part(responder, responder->part_taken++);
	*part = (struct roce_resource) { .kind = whole->kind, .repeated = true };
	owe_responses(qp, part, packet);
}

/*
 * Whether responses that are asked for again are a sign of congestion. A requester that
 * sends SACKs does not go back for each loss: it asks for what it misses, or only probes.
 * So there must be many within a while.
 */
static bool tells_of_congestion(struct roce_qp *qp, u32 psn, u32 packets,
				const struct roce_resource *whole)
{
	struct roce_responder *responder = &qp->responder;

	if (!roce_sack_is_confirmed(qp))
		return true;
	if (roce_psn_add(psn, -responder->lost_since) >= ROCE_LOSS_SPAN) {
		responder->lost_since = psn;
		responder->lost = 0;
	}
	responder->lost += packets;
	if (!roce_is_congestion(responder->lost, whole->packets))
		return false;
	responder->lost = 0;
	return true;
}

/*
 * The requester went back and asks again, for all responses or for the last ones, and
 * will also ask again for later requests. If the network duplicated the request, the
 * requester will not do so: the responses of later requests must still be sent.
 */
static void repeat_responses(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u32 last = last_to_acknowledge(responder, packet->psn);
	u32 packets = roce_answer_packets(qp, packet);
	struct roce_resource *again;
	u32 number = responder->taken, left = responder->resource_mask + 1;

	if (!responder->resources)
		return;
	do {
		if (!left--)
			return;
		again = nth_resource(responder, --number);
	} while (!is_part_of(qp, packet, again));

	if (is_owed_already(qp, packet, again, number))
		return;
	if (is_asked_for_alone(qp, packet, again)) {
		repeat_part(qp, packet, again);
		return;
	}
	/*
	 * Responses are sent again because some were lost. A requester that goes back
	 * also asks again for all later requests, in their order.
	 */
	if (roce_answer_has_data(again) &&
	    roce_psn_diff(again->next_psn, packet->psn) > 0 &&
	    roce_psn_diff(packet->psn, responder->repeat_psn) < 0 &&
	    tells_of_congestion(qp, packet->psn, packets, again))
		roce_flow_lost(qp, ROCE_CC_NAK);
	responder->repeat_psn = roce_psn_add(packet->psn, packets);
	again->repeated = true;
	owe_responses(qp, again, packet);
	if ((s32)(number - responder->answered) < 0)
		responder->answered = number;
	/* A requester that sends SACKs keeps an acknowledgment that overtakes responses. */
	if (responder->ack_due && !roce_answer_owes_nak(responder) &&
	    !roce_sack_is_confirmed(qp))
		responder->ack_psn = roce_psn_earlier(responder->ack_psn, last);
}

/* An acknowledgment to send may be for later packets: the network duplicates, too. */
static void acknowledge_again(struct roce_qp *qp, u32 psn)
{
	const struct roce_responder *responder = &qp->responder;

	if (!responder->ack_due || roce_psn_diff(psn, responder->ack_psn) > 0)
		acknowledge(qp, psn);
}

/**
 * roce_answer_again() - answer a duplicate request
 * @qp: its responder is owned by the caller
 * @packet: the duplicate; if it is a READ, the access is allowed
 */
void roce_answer_again(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;

	if (packet->info->flags & ROCE_HAS_RESPONSE)
		repeat_responses(qp, packet);
	else if (!roce_answer_owes_nak(responder))
		acknowledge_again(qp, last_to_acknowledge(responder, packet->psn));
}

/**
 * roce_answer_set_resources() - adapt to a new maximum of READs and atomics that the
 *	peer may have outstanding
 * @qp: its responder is owned by the caller; attr.max_dest_rd_atomic is set
 * @resources: as many, rounded up to a power of two and zeroed, NULL if that is
 *	0; owned by the responder from now on
 *
 * The latest requests stay known, as far as there is room.
 */
void roce_answer_set_resources(struct roce_qp *qp,
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
