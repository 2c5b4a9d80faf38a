/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_RECEIVER_H
#define FABRIC_RECEIVER_H

#include "packet.h"

/**
 * struct island - packets behind a gap, without a gap between them
 * @begin: first PSN
 * @end: one past the last PSN
 * @since: when the first packet behind the gap came, nanoseconds
 */
struct island {
	u32 begin;
	u32 end;
	u64 since;
};

/**
 * struct receiver - the responder of a flow
 * @expected: PSN of the first packet that is missing
 * @islands: in the order of their PSNs
 * @count: number of them
 * @room: for so many
 * @path: of answers
 * @cnp_at: when the latest CNP was sent, 0 for never
 * @reorders: the network does, so only time tells what is lost
 * @losses_left: losses without reordering until that is forgotten
 * @wait: nanoseconds until a packet is lost
 * @gap_since: when the gap at @gap_psn was noticed; 0 for no gap
 * @gap_psn: expected at that time
 * @gap_end: end of that gap
 * @lost_at: when it was taken for lost, 0 for not
 * @round_trip: from such a moment to when it was filled
 * @recovering: what comes before @recovery_end was sent again
 * @recovery_end: a PSN
 * @look_at: when later gaps are looked at, 0 for never
 * @packets: packets with data that have come, also twice
 * @early: of these, behind a gap
 * @twice: of these, a second time
 */
struct receiver {
	u32 expected;
	struct island *islands;
	u32 count;
	u32 room;
	u32 path;
	u64 cnp_at;
	bool reorders;
	u32 losses_left;
	u64 wait;
	u64 gap_since;
	u32 gap_psn;
	u32 gap_end;
	u64 lost_at;
	u64 round_trip;
	bool recovering;
	u32 recovery_end;
	u64 look_at;
	u64 packets;
	u64 early;
	u64 twice;
};

extern struct receiver *receivers;

void receivers_begin(u32 first_actor);
void receiver_take(const struct packet *packet, u64 now);
void receiver_wake(u32 number, u64 now);

#endif /* FABRIC_RECEIVER_H */
