/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_SENDER_H
#define FABRIC_SENDER_H

#include "cc.h"
#include "flow.h"
#include "packet.h"
#include "path.h"
#include "roce_psn.h"
#include "scoreboard.h"

/* Packets, as in reorder.h */
#define EARLY_PACKETS	32768u

/**
 * struct sender - the requester of a flow; PSNs as in the driver's requester.h
 * @cc: rate, for the driver's reaction point
 * @due: when the rate allows the next train, nanoseconds
 * @paths: if there are many; the driver's
 * @board: what the receiver is missing; the driver's
 * @unacked_psn: all before has arrived
 * @psn: of the next packet
 * @limit_psn: of the first packet that was never sent
 * @ack_request_psn: of the latest packet that asked for an acknowledgment
 * @back_psn: everything before was sent again by going back
 * @acked: number of packets before @unacked_psn
 * @messages: number of messages that have completed
 * @begun: when those that are outstanding began: a ring, by their numbers
 * @confirmed: it has told that it takes selective acknowledgments
 * @confirm_psn: PSN of that packet
 * @window: packets that may be in flight
 * @window_psn: when all before it has arrived, or it or a later one, the window may grow
 * @slow_start: the window grows with each packet that arrives
 * @delivered: number of packets that had arrived by the latest acknowledgment in slow start
 * @busy_packets: twice what was acknowledged in the shortest round trip
 * @timed_psn: of the packet that ends a round trip
 * @timed_delivered: number of packets that had arrived when it was sent
 * @timed_in_flight: number of packets in flight then, with it
 * @timed_at: when it was sent, 0 for no such packet
 * @round_trip_ended: when the latest one ended
 * @srtt: mean round trip
 * @rttvar: mean deviation from that
 * @measured_in_flight: @timed_in_flight of the latest round trip
 * @min_rtt: the shortest
 * @losing: a loss before @loss_end was reported to congestion control
 * @loss_end: a PSN
 * @probing: the last packet is due again
 * @silent: nothing has come for too long: the next copies take another path
 * @news: number of times that something was learned
 * @probe_news: @news when the timer was started
 * @probe_backoff: log2 of the times it lasts
 * @probe_at: when it fires, 0 for never
 * @deadline: when the ACK timeout passes
 * @retries: timeouts without progress between
 * @waits: for a turn at the host
 * @has_turn: may send one train now
 * @end: when it was done, 0 before
 * @sent: number of packets with data
 * @again: of these, sent before
 * @timeouts: number of them
 * @left: how often a path was left
 * @returned: how often one was used again
 */
struct sender {
	struct roce_cc_flow cc;
	u64 due;
	struct roce_paths *paths;
	struct roce_scoreboard *board;
	u32 unacked_psn;
	u32 psn;
	u32 limit_psn;
	u32 ack_request_psn;
	u32 back_psn;
	u64 acked;
	u64 messages;
	u64 *begun;
	bool confirmed;
	u32 confirm_psn;
	u32 window;
	u32 window_psn;
	bool slow_start;
	u64 delivered;
	u32 busy_packets;
	u32 timed_psn;
	u64 timed_delivered;
	u32 timed_in_flight;
	u64 timed_at;
	u64 round_trip_ended;
	u64 srtt;
	u64 rttvar;
	u32 measured_in_flight;
	u64 min_rtt;
	bool losing;
	u32 loss_end;
	bool probing;
	bool silent;
	u32 news;
	u32 probe_news;
	u32 probe_backoff;
	u64 probe_at;
	u64 deadline;
	u32 retries;
	bool waits;
	bool has_turn;
	u64 end;
	u64 sent;
	u64 again;
	u64 timeouts;
	u64 left;
	u64 returned;
};

extern struct sender *senders;

static inline u32 min_of(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 max_of(u32 a, u32 b)
{
	return a > b ? a : b;
}

/** sender_in_flight() - number of packets from the oldest unacknowledged one on */
static inline u32 sender_in_flight(const struct sender *sender)
{
	return roce_psn_add(sender->psn, -sender->unacked_psn);
}

/** sender_number() - that of its flow */
static inline u32 sender_number(const struct sender *sender)
{
	return sender - senders;
}

static inline const struct flow *sender_flow(const struct sender *sender)
{
	return &flows[sender_number(sender)];
}

void senders_begin(u32 first_actor, u64 line_rate);
void sender_take(const struct packet *packet, u64 now);
void sender_wake(u32 number, u64 now);
void sender_turn(u32 number, u64 now);
void sender_wait(const struct sender *sender, u64 time);
void sender_spread(struct sender *sender);

#endif /* FABRIC_SENDER_H */
