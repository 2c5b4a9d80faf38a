// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the responder of a reliable connection owes its peer (IBA volume 1, 9.7.5.1 and
 * 9.7.8). How that leaves is in answer_send.c.
 *
 * A READ, an atomic and the like take a resource, of which the peer was promised
 * a number; it says which responses are still to be sent, and stays known as long
 * as the peer may ask for them again. Everything else is acknowledged, or refused
 * by a NAK, and one acknowledgment speaks for all that came before.
 */
#include "answer.h"
#include "cc.h"
#include "congestion.h"
#include "counters.h"
#include "packet.h"
#include "qp.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"

/**
 * roce_answer_owe() - owe an acknowledgment or a NAK, in place of what was owed
 * @responder: owned by the caller
 * @syndrome: of the AETH
 * @psn: of the last packet that it is for; of a NAK, of the one that is refused
 */
void roce_answer_owe(struct roce_responder *responder, u8 syndrome, u32 psn)
{
	responder->ack_due = true;
	responder->ack_syndrome = syndrome;
	responder->ack_psn = psn;
}

/* @psn: of the last packet that it is for */
static void acknowledge(struct roce_qp *qp, u32 psn)
{
	if (qp->responder.ack_due)
		roce_count(qp, ack_deferred);
	roce_answer_owe(&qp->responder, ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS, psn);
}

/**
 * roce_answer_owes_nak() - whether what is owed is a NAK
 * @responder: owned by the caller
 */
bool roce_answer_owes_nak(const struct roce_responder *responder)
{
	return responder->ack_due &&
	       (responder->ack_syndrome & ROCE_AETH_KIND_MASK) != ROCE_AETH_ACK;
}

/**
 * roce_answer_nak() - owe a NAK for the packet that is expected
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
 * roce_answer_gap() - owe a selective acknowledgment
 * @qp: its responder is owned by the caller; roce_sack_is_confirmed()
 *
 * It is a NAK for a sequence error until it leaves, but nobody has to be silent
 * behind it.
 */
void roce_answer_gap(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;

	/* Nothing was dropped. */
	if (!responder->nak_sent)
		responder->ahead_psn = roce_psn_add(responder->psn, -1);
	if (!roce_answer_owes_nak(responder))
		roce_answer_owe(responder, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR,
				responder->psn);
}

/* Packets were dropped because they came too early, and some of them are next. */
static bool misses_packets(const struct roce_responder *responder)
{
	return responder->ack_syndrome ==
	       (ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR) &&
	       roce_psn_diff(responder->ahead_psn, responder->psn) >= 0;
}

/**
 * roce_answer_executed() - acknowledge the expected packet, if need be
 * @qp: of type RC; its responder is owned by the caller
 * @packet: was executed; the PSN behind it is expected now
 *
 * It is if that was asked for, or if a NAK for it still waits to be sent: its
 * requester must not go back to it any more, but to what is missing now.
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
 * roce_answer_packets() - how many PSNs a request packet takes
 * @qp: the QP
 * @packet: a request; of a READ, those of its response count
 */
u32 roce_answer_packets(const struct roce_qp *qp,
			const struct roce_packet *packet)
{
	if (!(packet->info->flags & ROCE_IS_READ))
		return 1;
	return max(1u, DIV_ROUND_UP(packet->length, qp->mtu));
}

/**
 * roce_answer_has_room() - whether the peer may have one more request answered
 * @qp: its responder is owned by the caller
 *
 * Return: false if the peer has more requests under way than agreed.
 */
bool roce_answer_has_room(const struct roce_qp *qp)
{
	const struct roce_responder *responder = &qp->responder;
	const struct roce_resource *next;

	if (!qp->attr.max_dest_rd_atomic)
		return false;
	next = nth_resource(responder, responder->taken);
	/* A new request says that the peer has got what it asked for again. */
	return !next->left || next->repeated;
}

static struct roce_resource *nth_part(struct roce_responder *responder, u32 number)
{
	return &responder->parts[number % ROCE_MAX_PARTS];
}

/**
 * roce_answer_next() - the request that is answered next
 * @responder: owned by the caller; those that are answered are left behind
 *
 * Return: one that has responses left, NULL if all are answered.
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
 * roce_answer_respond() - a request was executed, and is to be answered
 * @qp: its responder is owned by the caller; roce_answer_has_room()
 * @packet: the request
 * @original: what an atomic has found in memory
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
	/* Its place may have been that of the first one. */
	if (responder->taken - responder->answered > responder->resource_mask)
		responder->answered = responder->taken -
				      responder->resource_mask - 1;
	responder->msn = roce_psn_add(responder->msn, 1);
	responder->repeat_psn = roce_psn_add(new->psn, new->packets);
	owe_responses(qp, new, packet);
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

	return resource->kind == (packet->info->flags & ROCE_HAS_RESPONSE) &&
	       index < resource->packets &&
	       roce_answer_packets(qp, packet) <= resource->packets - index;
}

/**
 * roce_answer_nth() - one of the requests that are to be answered
 * @responder: owned by the caller
 * @n: which one, in their order; some may have no responses left
 *
 * Return: NULL behind the last one.
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
 * roce_answer_forget() - send none of the responses that are left
 * @responder: owned by the caller
 */
void roce_answer_forget(struct roce_responder *responder)
{
	responder->answered = responder->taken;
	responder->part_answered = responder->part_taken;
}

/* None of it was sent since it was asked for. */
static bool is_owed_already(const struct roce_qp *qp,
			    const struct roce_packet *packet,
			    const struct roce_resource *resource, u32 number)
{
	return (s32)(number - qp->responder.answered) >= 0 &&
	       resource->begin && resource->next_psn == packet->psn &&
	       resource->left == roce_answer_packets(qp, packet);
}

/* It does not reach to the end: who goes back asks for all of the rest. */
static bool is_asked_for_alone(const struct roce_qp *qp,
			       const struct roce_packet *packet,
			       const struct roce_resource *resource)
{
	u32 end = roce_psn_add(packet->psn, roce_answer_packets(qp, packet));

	return roce_psn_diff(roce_psn_add(resource->psn, resource->packets), end) > 0;
}

/* The network made a copy of the request. */
static bool is_part_owed(struct roce_responder *responder, u32 psn)
{
	u32 n;

	for (n = responder->part_answered; n != responder->part_taken; n++)
		if (nth_part(responder, n)->begin &&
		    nth_part(responder, n)->next_psn == psn)
			return true;
	return false;
}

/*
 * The requester has the rest, or is about to get it. What was not sent yet is not
 * sent earlier for that.
 */
static void repeat_part(struct roce_qp *qp, const struct roce_packet *packet,
			const struct roce_resource *whole)
{
	struct roce_responder *responder = &qp->responder;
	struct roce_resource *part;

	if (whole->left && roce_psn_diff(packet->psn, whole->next_psn) >= 0)
		return;
	if (is_part_owed(responder, packet->psn) ||
	    responder->part_taken - responder->part_answered == ROCE_MAX_PARTS)
		return;
	if (responder->part_taken == responder->part_answered &&
	    roce_is_congestion(roce_answer_packets(qp, packet), whole->packets))
		roce_flow_lost(qp, ROCE_CC_NAK);
	part = nth_part(responder, responder->part_taken++);
	*part = (struct roce_resource) { .kind = whole->kind };
	owe_responses(qp, part, packet);
}

/*
 * The requester went back and asks again, for all of the responses or for the
 * last ones; and it will ask again for later requests as well. Or the network made
 * a copy, and nobody will: so what is left of later ones is still owed.
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

	if (is_owed_already(qp, packet, again, number))
		return;
	if (is_asked_for_alone(qp, packet, again)) {
		repeat_part(qp, packet, again);
		return;
	}
	/*
	 * What was sent once is sent again because some of it was lost. Who goes back
	 * asks for all that is behind as well, in its order.
	 */
	if (roce_answer_has_data(again) &&
	    roce_psn_diff(again->next_psn, packet->psn) > 0 &&
	    roce_psn_diff(packet->psn, responder->repeat_psn) < 0)
		roce_flow_lost(qp, ROCE_CC_NAK);
	responder->repeat_psn =
		roce_psn_add(packet->psn, roce_answer_packets(qp, packet));
	again->repeated = true;
	owe_responses(qp, again, packet);
	if ((s32)(number - responder->answered) < 0)
		responder->answered = number;
	if (responder->ack_due && !roce_answer_owes_nak(responder) &&
	    roce_psn_diff(responder->ack_psn, last) > 0)
		responder->ack_psn = last;
}

/* What is owed already may be for later packets: the network makes copies, too. */
static void acknowledge_again(struct roce_qp *qp, u32 psn)
{
	const struct roce_responder *responder = &qp->responder;

	if (!responder->ack_due || roce_psn_diff(psn, responder->ack_psn) > 0)
		acknowledge(qp, psn);
}

/**
 * roce_answer_again() - a request came that was executed already
 * @qp: its responder is owned by the caller
 * @packet: the duplicate; if it is a READ, one that is allowed
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
 * roce_answer_set_resources() - how many READs and atomics the peer may have
 *	under way changed
 * @qp: its responder is owned by the caller; attr.max_dest_rd_atomic is set
 * @resources: as many, rounded up to a power of two and zeroed, NULL if that is
 *	0; the responder's from now on
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
