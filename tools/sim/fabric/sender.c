// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester of a flow. Its paths (path.c), the scoreboard of what the receiver is
 * missing (scoreboard.c) and the reaction point (dcqcn.c) are those of the driver, and
 * what calls them here follows the driver's requester: cursor.c, repair.c, probe.c,
 * retransmit.c and flow.c. Both ends have agreed on selective repeat before, and so they
 * know the round trip without queues.
 */
#include "acknowledge.h"
#include "clock.h"
#include "host.h"
#include "memory.h"
#include "network.h"
#include "options.h"
#include "rate.h"
#include "roce_psn.h"
#include "sack.h"
#include "sender.h"
#include "timers.h"
#include "train_limits.h"
#include "window.h"

/* Of cursor.c and reorder.h */
#define ACK_REQUESTS	4
#define EARLY_BYTES	(128u << 20)
#define EARLY_WINDOWS	4u

struct sender *senders;

static u32 first_actor;

static void forget_senders(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		free(senders[i].paths);
		free(senders[i].board);
		free(senders[i].begun);
	}
	free(senders);
}

/** sender_spread() - use many paths from now on */
void sender_spread(struct sender *sender)
{
	if (path_count == 1)
		return;
	sender->paths = allocate(1, sizeof(*sender->paths));
	roce_paths_init(sender->paths, sender->unacked_psn);
}

/* Of a train without queues, as it was measured while the ends agreed */
static u64 idle_round_trip(const struct flow *flow)
{
	u64 bytes = ROCE_TRAIN_MAX_BYTES / options.payload * packet_bytes;

	return network_delay(flow->source, flow->target) +
	       network_delay(flow->target, flow->source) + bytes * 8 / options.gbits;
}

/**
 * senders_begin() - begin anew, all with nothing sent
 * @actor: the clock's number of the first one
 * @line_rate: of each host, bit/s
 */
void senders_begin(u32 actor, u64 line_rate)
{
	static u32 count;
	u32 i;

	forget_senders(count);
	first_actor = actor;
	count = flow_count;
	senders = allocate(count, sizeof(*senders));
	for (i = 0; i < count; i++) {
		u32 psn = flows[i].first_psn;
		u64 rtt = options.fresh ? 0 : idle_round_trip(&flows[i]);

		senders[i] = (struct sender) {
			.unacked_psn = psn, .psn = psn, .limit_psn = psn, .back_psn = psn,
			.ack_request_psn = roce_psn_add(psn, -1), .window_psn = psn,
			.window = NEAR_WINDOW, .slow_start = true, .srtt = rtt, .rttvar = rtt / 2,
			.min_rtt = rtt,
			.cc = {
				.parameters = options.parameters,
				.line_rate = line_rate, .packet_bytes = packet_bytes,
				.rate = ROCE_CC_UNLIMITED,
			},
		};
		senders[i].begun = allocate(flows[i].outstanding, sizeof(u64));
		if (!options.fresh)
			sender_spread(&senders[i]);
	}
}

/** sender_wait() - a sender wakes at that time, or earlier */
void sender_wait(const struct sender *sender, u64 time)
{
	clock_set_earlier(first_actor + sender_number(sender), time);
}

/* --- What may be sent --- */

static u32 window_room(const struct sender *sender)
{
	u32 ahead = sender_in_flight(sender), early = roce_scoreboard_early(sender->board);
	u32 used = ahead - min_of(ahead, early);
	u32 most = min_of(min_of(EARLY_WINDOWS * sender->window, EARLY_PACKETS),
			  EARLY_BYTES / options.payload);

	if (used >= sender->window || ahead >= most)
		return 0;
	return min_of(sender->window - used, most - ahead);
}

/* Packets of all messages that have begun or may begin */
static u64 posted(const struct sender *sender)
{
	const struct flow *flow = sender_flow(sender);
	u64 messages = sender->messages + flow->outstanding;

	if (flow->messages && messages > flow->messages)
		messages = flow->messages;
	return messages * flow->message;
}

static u32 left_to_send(const struct sender *sender)
{
	return posted(sender) - sender->acked - sender_in_flight(sender);
}

static bool has_arrived(const struct sender *sender, u32 psn)
{
	return sender->board && roce_scoreboard_has(sender->board, psn);
}

static void skip_what_has_arrived(struct sender *sender)
{
	while (roce_psn_precedes(sender->psn, sender->limit_psn) &&
	       has_arrived(sender, sender->psn))
		sender->psn = roce_psn_add(sender->psn, 1);
}

static u32 ack_interval(const struct sender *sender)
{
	u32 packets = min_of(sender->window, NEAR_WINDOW) / ACK_REQUESTS;

	return rate_is_limited(sender) || sender->paths ?
	       min_of(rate_train(sender), packets) : packets;
}

/* --- To send --- */

static void send_packet(struct sender *sender, u32 psn, u32 path, bool asks, bool again,
			u64 now)
{
	sender->sent++;
	sender->again += again;
	flow_send_forward(sender_number(sender), (struct packet) {
		.kind = PACKET_DATA, .psn = psn, .sack = SACK_NONE, .bytes = packet_bytes,
		.asks = asks, .again = again,
	}, path, now);
}

static void probe_paths(struct sender *sender, u64 now)
{
	u32 path = roce_paths_probe(sender->paths, now);

	if (path != ROCE_MAX_PATHS)
		flow_send_forward(sender_number(sender), (struct packet) {
			.kind = PACKET_PROBE, .psn = sender->paths->path[path].probe,
			.sack = SACK_NONE, .bytes = SMALL_BYTES,
		}, path, now);
}

static u32 choose_path(struct sender *sender, u64 now)
{
	if (!sender->paths)
		return 0;
	probe_paths(sender, now);
	return roce_paths_choose(sender->paths, path_count);
}

static void begin_round_trip(struct sender *sender, u32 begin, bool again, u64 now)
{
	if (sender->timed_at || again || roce_psn_precedes(sender->ack_request_psn, begin))
		return;
	sender->timed_psn = sender->ack_request_psn;
	sender->timed_delivered = window_delivered(sender);
	sender->timed_in_flight = sender_in_flight(sender);
	sender->timed_at = now;
}

/*
 * A train has packets of one message, and the first one is longer than the next, by its
 * RETH. So a train that begins with it has two packets.
 */
static u32 train_length(const struct sender *sender, u32 place)
{
	u32 rest = sender_flow(sender)->message - place;
	u32 most = place ? rate_train(sender) : min_of(rate_train(sender), 2);

	return min_of(min_of(most, rest), min_of(window_room(sender), left_to_send(sender)));
}

/* The first packet that asks after the first acknowledgment confirms the agreement. */
static void ask(struct sender *sender, u32 psn)
{
	sender->ack_request_psn = psn;
	if (sender->acked && !sender->confirmed) {
		sender->confirmed = true;
		sender->confirm_psn = psn;
	}
}

/* Place of the next packet in its message */
static u32 next_place(const struct sender *sender)
{
	return (sender->acked + sender_in_flight(sender)) % sender_flow(sender)->message;
}

static bool next_asks(const struct sender *sender)
{
	return next_place(sender) + 1 == sender_flow(sender)->message ||
	       roce_psn_add(sender->psn, -sender->ack_request_psn) >= ack_interval(sender);
}

/* Returns the number of packets that were sent: all new, or all sent before. */
static u32 send_train(struct sender *sender, u32 path, bool again, u64 now)
{
	u32 count = train_length(sender, next_place(sender)), n;

	for (n = 0; n < count; n++) {
		bool asks = next_asks(sender);

		if (n && (again != (sender->psn != sender->limit_psn) ||
			  has_arrived(sender, sender->psn)))
			break;
		if (asks)
			ask(sender, sender->psn);
		send_packet(sender, sender->psn, path, asks, again, now);
		sender->psn = roce_psn_add(sender->psn, 1);
		if (!again)
			sender->limit_psn = sender->psn;
	}
	return n;
}

/* Packets that were never sent, or those behind the place that it went back to */
static void send_next(struct sender *sender, u64 now)
{
	u32 begin = sender->psn, path = choose_path(sender, now), count;
	bool again = begin != sender->limit_psn;

	if (!sender_in_flight(sender))
		sender->deadline = now + timers_ack_timeout(sender);
	count = send_train(sender, path, again, now);
	begin_round_trip(sender, begin, again, now);
	if (sender->paths)
		roce_paths_sent(sender->paths, &(struct roce_departure) {
			.path = path, .begin = begin, .end = sender->psn, .packets = count,
			.asked = sender->ack_request_psn,
			.times = !roce_psn_precedes(sender->ack_request_psn, begin),
			.again = again, .time = now,
		});
	rate_sent(sender, count, now);
}

static void note_sent_again(struct sender *sender, u32 psn, u32 path, u64 now)
{
	if (sender->paths)
		roce_paths_sent(sender->paths, &(struct roce_departure) {
			.path = path, .begin = psn, .end = roce_psn_add(psn, 1),
			.packets = 1, .again = true, .time = now,
		});
}

static u32 choose_path_again(struct sender *sender, bool silence)
{
	return sender->paths ?
	       roce_paths_choose_again(sender->paths, path_count, silence) : 0;
}

static bool repair_is_due(const struct sender *sender)
{
	u32 begin, end;

	return sender->board && sender->board->gaps &&
	       roce_scoreboard_under_way(sender->board) <= sender->window / 2 &&
	       roce_scoreboard_next(sender->board, &begin, &end);
}

/* A train of what is lost; the last packet of each part of it asks. */
static void send_lost(struct sender *sender, u64 now)
{
	u32 path = choose_path_again(sender, sender->silent), count = 0, begin, end;

	while (count < rate_train(sender) && repair_is_due(sender)) {
		u32 psn;

		roce_scoreboard_next(sender->board, &begin, &end);
		end = roce_psn_earlier(end, roce_psn_add(begin, rate_train(sender) - count));
		for (psn = begin; psn != end; psn = roce_psn_add(psn, 1)) {
			send_packet(sender, psn, path, roce_psn_add(psn, 1) == end, true, now);
			note_sent_again(sender, psn, path, now);
			count++;
		}
		roce_scoreboard_resent(sender->board, begin, end, sender->limit_psn);
	}
	sender->silent = false;
	rate_sent(sender, count, now);
}

static void send_probe(struct sender *sender, u64 now)
{
	u32 psn = roce_psn_add(sender->limit_psn, -1), path = choose_path_again(sender, true);

	sender->probing = false;
	send_packet(sender, psn, path, true, true, now);
	note_sent_again(sender, psn, path, now);
	rate_sent(sender, 1, now);
}

/* --- The sender's turn --- */

static bool has_something(struct sender *sender)
{
	if (repair_is_due(sender) || sender->probing)
		return true;
	skip_what_has_arrived(sender);
	return window_room(sender) && left_to_send(sender);
}

/* Returns false if the sender must wait for the rate or for the host. */
static bool may_send(struct sender *sender, u64 now)
{
	u64 wait = rate_wait(sender, now);
	u32 node = sender_flow(sender)->source;

	if (wait) {
		sender_wait(sender, now + wait);
		return false;
	}
	if (sender->has_turn || (!sender->waits && host_has_room(node, now))) {
		sender->has_turn = false;
		return true;
	}
	if (!sender->waits)
		host_wait(node, sender_number(sender), now);
	sender->waits = true;
	return false;
}

static void run(struct sender *sender, u64 now)
{
	while (!sender->end && has_something(sender) && may_send(sender, now)) {
		if (repair_is_due(sender))
			send_lost(sender, now);
		else if (sender->probing)
			send_probe(sender, now);
		else
			send_next(sender, now);
	}
	timers_wait(sender, now);
}

/** sender_wake() - it begins, or a time has come */
void sender_wake(u32 number, u64 now)
{
	struct sender *sender = &senders[number];

	clock_set(first_actor + number, CLOCK_NEVER);
	if (!sender->sent) {
		u32 i;

		for (i = 0; i < flows[number].outstanding; i++)
			sender->begun[i] = now;
	}
	timers_timeout(sender, now);
	timers_probe(sender, now);
	run(sender, now);
}

/** sender_turn() - its host lets it send a train */
void sender_turn(u32 number, u64 now)
{
	senders[number].waits = false;
	senders[number].has_turn = true;
	run(&senders[number], now);
	senders[number].has_turn = false;
}

/** sender_take() - a packet of the receiver has come */
void sender_take(const struct packet *packet, u64 now)
{
	struct sender *sender = &senders[packet->flow];

	if (packet->kind == PACKET_ACK)
		acknowledge(sender, packet, now);
	else if (packet->kind == PACKET_CNP)
		rate_notified(sender, now);
	else
		acknowledge_probe(sender, packet->psn, now);
	run(sender, now);
}
