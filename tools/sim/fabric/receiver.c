// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder of a flow: keeps what comes early, acknowledges, and tells what is
 * missing. When is it lost? By the rules of the driver's reorder.c, for packets instead of
 * sk_buffs. They count for senders with one path only.
 */
#include "clock.h"
#include "flow.h"
#include "memory.h"
#include "options.h"
#include "receiver.h"
#include "roce_psn.h"
#include "sack.h"

/* Of reorder.c and sysfs */
#define OVERTAKERS	3u
#define FIRST_WAIT	500000ull
#define MIN_WAIT	100000ull
#define LONGEST_WAIT	(10 * MSEC)
#define FORGET_LOSSES	16
#define CNP_INTERVAL	50000ull

struct receiver *receivers;

static u32 first_actor;

void receivers_begin(u32 actor)
{
	static u32 count;
	u32 i;

	for (i = 0; i < count; i++)
		free(receivers[i].islands);
	free(receivers);
	first_actor = actor;
	count = flow_count;
	receivers = allocate(count, sizeof(*receivers));
	for (i = 0; i < count; i++) {
		receivers[i].expected = flows[i].first_psn;
		receivers[i].wait = FIRST_WAIT;
	}
}

static u32 number_of(const struct receiver *receiver)
{
	return receiver - receivers;
}

static void send(struct receiver *receiver, struct packet packet, u64 now)
{
	packet.bytes = SMALL_BYTES;
	flow_send_back(number_of(receiver), packet, receiver->path, now);
}

/* --- What has come early --- */

static void remove_islands(struct receiver *receiver, u32 first, u32 count)
{
	u32 i;

	receiver->count -= count;
	for (i = first; i < receiver->count; i++)
		receiver->islands[i] = receiver->islands[i + count];
}

static void insert_island(struct receiver *receiver, u32 place, struct island island)
{
	u32 i;

	if (receiver->count == receiver->room) {
		receiver->room = receiver->room ? 2 * receiver->room : 4;
		receiver->islands = resize(receiver->islands, receiver->room,
					   sizeof(island));
	}
	for (i = receiver->count++; i > place; i--)
		receiver->islands[i] = receiver->islands[i - 1];
	receiver->islands[place] = island;
}

/* Returns false if the packet is there already. */
static bool keep(struct receiver *receiver, u32 psn, u64 now)
{
	struct island *islands = receiver->islands;
	u32 n = receiver->count;	/* the first island behind the packet */

	while (n && roce_psn_precedes(psn, islands[n - 1].begin))
		n--;
	if (n && roce_psn_precedes(psn, islands[n - 1].end))
		return false;
	if (n && islands[n - 1].end == psn) {
		islands[n - 1].end = roce_psn_add(psn, 1);
		if (n < receiver->count && islands[n].begin == islands[n - 1].end) {
			islands[n - 1].end = islands[n].end;
			remove_islands(receiver, n, 1);
		}
	} else if (n < receiver->count && islands[n].begin == roce_psn_add(psn, 1)) {
		islands[n].begin = psn;
	} else {
		insert_island(receiver, n, (struct island) {
			.begin = psn, .end = roce_psn_add(psn, 1),
			.since = n < receiver->count ? islands[n].since : now,
		});
	}
	return true;
}

/* Executes what is not early any more. */
static void advance(struct receiver *receiver)
{
	receiver->expected = roce_psn_add(receiver->expected, 1);
	if (!receiver->count || receiver->islands[0].begin != receiver->expected)
		return;
	receiver->expected = receiver->islands[0].end;
	remove_islands(receiver, 0, 1);
}

/* --- What is lost --- */

static u64 first_wait(const struct receiver *receiver)
{
	u64 wait = receiver->round_trip / 4;

	if (!receiver->round_trip || wait > FIRST_WAIT)
		return FIRST_WAIT;
	return wait > MIN_WAIT ? wait : MIN_WAIT;
}

static void forget_reordering(struct receiver *receiver)
{
	receiver->wait = first_wait(receiver);
	receiver->reorders = false;
}

static void count_loss(struct receiver *receiver)
{
	if (receiver->reorders && !--receiver->losses_left)
		forget_reordering(receiver);
}

static void allow(struct receiver *receiver, u64 late)
{
	u64 wait = late + late / 4;

	if (wait > receiver->wait)
		receiver->wait = wait < LONGEST_WAIT ? wait : LONGEST_WAIT;
	receiver->reorders = true;
	receiver->losses_left = FORGET_LOSSES;
}

static u32 last_kept(const struct receiver *receiver)
{
	return receiver->islands[receiver->count - 1].end;
}

static u32 kept(const struct receiver *receiver)
{
	u32 i, sum = 0;

	for (i = 0; i < receiver->count && sum < OVERTAKERS; i++)
		sum += roce_psn_add(receiver->islands[i].end, -receiver->islands[i].begin);
	return sum;
}

/* The first island before which everything missing is lost; count if none */
static u32 last_overtaker(const struct receiver *receiver, u64 now)
{
	u32 n = receiver->count, behind = 0;

	while (n--) {
		const struct island *island = &receiver->islands[n];

		behind += roce_psn_add(island->end, -island->begin);
		if (island->since + receiver->wait <= now ||
		    (!receiver->reorders && behind >= OVERTAKERS))
			return n;
	}
	return receiver->count;
}

/* What a SACK says is lost: everything missing before this PSN */
static u32 find_lost_end(struct receiver *receiver, u64 now)
{
	u32 n = last_overtaker(receiver, now), lost_end;

	receiver->look_at = 0;
	if (n == receiver->count || n + 1 < receiver->count) {
		receiver->look_at = now + receiver->wait;
		clock_set_earlier(first_actor + number_of(receiver), receiver->look_at);
	}
	if (n == receiver->count)
		return receiver->expected;
	lost_end = receiver->islands[n].begin;
	if (!receiver->recovering || roce_psn_precedes(receiver->recovery_end, lost_end)) {
		receiver->recovery_end = lost_end;
		count_loss(receiver);
	}
	receiver->recovering = true;
	return lost_end;
}

static void leave_gap(struct receiver *receiver, u64 now)
{
	bool filled = !roce_psn_precedes(receiver->expected, receiver->gap_end);
	bool repaired = receiver->recovering &&
			roce_psn_precedes(receiver->gap_psn, receiver->recovery_end);

	if (receiver->lost_at && receiver->count)
		receiver->recovery_end = last_kept(receiver);
	if (!roce_psn_precedes(receiver->expected, receiver->recovery_end))
		receiver->recovering = false;
	if (receiver->lost_at) {
		receiver->round_trip = now - receiver->lost_at;
		if (!receiver->reorders)
			receiver->wait = first_wait(receiver);
	} else if (filled && !repaired) {
		allow(receiver, now - receiver->gap_since);
	}
	receiver->gap_since = 0;
}

static bool has_waited(struct receiver *receiver, u64 now)
{
	u64 wait = receiver->wait, end;

	if (!receiver->reorders && !receiver->recovering && kept(receiver) >= OVERTAKERS)
		return true;
	if (receiver->recovering && wait < 2 * receiver->round_trip)
		wait = 2 * receiver->round_trip;
	end = receiver->gap_since + (wait < LONGEST_WAIT ? wait : LONGEST_WAIT);
	if (now >= end)
		return true;
	clock_set_earlier(first_actor + number_of(receiver), end);
	return false;
}

/* Returns true once for each gap. */
static bool is_lost(struct receiver *receiver, u64 now)
{
	if (receiver->gap_since && receiver->gap_psn != receiver->expected)
		leave_gap(receiver, now);
	if (!receiver->count) {
		receiver->look_at = 0;
		return false;
	}
	if (!receiver->gap_since) {
		receiver->gap_psn = receiver->expected;
		receiver->gap_end = receiver->islands[0].begin;
		receiver->gap_since = now;
		receiver->lost_at = 0;
	}
	if (receiver->lost_at || !has_waited(receiver, now))
		return false;
	receiver->lost_at = now;
	receiver->recovering = true;
	receiver->recovery_end = last_kept(receiver);
	count_loss(receiver);
	return true;
}

/* --- Answers --- */

static u32 describe(struct receiver *receiver, u64 now)
{
	u32 number = sack_new(), i;
	struct sack *sack = sack_get(number);

	sack->lost_end = find_lost_end(receiver, now);
	sack->count = receiver->count < ROCE_SACK_RANGES ? receiver->count : ROCE_SACK_RANGES;
	for (i = 0; i < sack->count; i++) {
		sack->begin[i] = receiver->islands[i].begin;
		sack->end[i] = receiver->islands[i].end;
	}
	return number;
}

static void acknowledge(struct receiver *receiver, u64 now)
{
	send(receiver, (struct packet) {
		.kind = PACKET_ACK, .psn = receiver->expected,
		.sack = receiver->count ? describe(receiver, now) : SACK_NONE,
	}, now);
}

static void notify(struct receiver *receiver, u64 now)
{
	if (!options.dcqcn || (receiver->cnp_at && now - receiver->cnp_at < CNP_INTERVAL))
		return;
	receiver->cnp_at = now;
	send(receiver, (struct packet) { .kind = PACKET_CNP, .sack = SACK_NONE }, now);
}

static void look_at_gap(struct receiver *receiver, bool acknowledged, u64 now)
{
	bool lost = is_lost(receiver, now);

	if (receiver->count && !acknowledged &&
	    (lost || (receiver->look_at && receiver->look_at <= now)))
		acknowledge(receiver, now);
}

static void take_data(struct receiver *receiver, const struct packet *packet, u64 now)
{
	s32 ahead = roce_psn_diff(packet->psn, receiver->expected);
	bool filled = false;

	receiver->packets++;
	if (packet->marked)
		notify(receiver, now);
	if (ahead == 0) {
		filled = receiver->count;
		advance(receiver);
	} else if (ahead < 0 || !keep(receiver, packet->psn, now)) {
		receiver->twice++;
		if (packet->asks)
			receiver->path = (receiver->path + 1) % path_count;
	} else {
		receiver->early++;
	}
	if (packet->asks || filled)
		acknowledge(receiver, now);
	look_at_gap(receiver, packet->asks || filled, now);
}

/** receiver_take() - a packet of the sender has come */
void receiver_take(const struct packet *packet, u64 now)
{
	struct receiver *receiver = &receivers[packet->flow];

	if (packet->kind == PACKET_PROBE)
		send(receiver, (struct packet) {
			.kind = PACKET_ANSWER, .psn = packet->psn, .sack = SACK_NONE,
		}, now);
	else
		take_data(receiver, packet, now);
}

/** receiver_wake() - it is time to look at gaps */
void receiver_wake(u32 number, u64 now)
{
	struct receiver *receiver = &receivers[number];

	clock_set(first_actor + number, CLOCK_NEVER);
	look_at_gap(receiver, false, now);
	if (receiver->look_at > now)
		clock_set_earlier(first_actor + number, receiver->look_at);
}
