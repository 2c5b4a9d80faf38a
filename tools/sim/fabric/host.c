// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The queue of a host: its senders put at most ROCE_EGRESS_BYTES into it, and then take
 * turns, as in the driver's egress.c. A turn is good for a train.
 */
#include "clock.h"
#include "flow.h"
#include "host.h"
#include "memory.h"
#include "network.h"
#include "sender.h"

/* Of egress.h */
#define EGRESS_BYTES	(2 << 20)

/* Senders in their order, a list by their numbers */
struct line {
	u32 first;
	u32 last;
};

#define NOBODY U32_MAX

static struct line *lines;	/* of nodes */
static u32 *behind;		/* of senders: the one behind it */
static u32 first_actor;

void hosts_begin(u32 actor, u32 nodes)
{
	u32 i;

	free(lines);
	free(behind);
	first_actor = actor;
	lines = allocate(nodes, sizeof(*lines));
	behind = allocate(flow_count, sizeof(*behind));
	for (i = 0; i < nodes; i++)
		lines[i].first = NOBODY;
}

static const struct link *uplink(u32 node)
{
	return &network.links[network.nodes[node].uplink];
}

static bool is_short(u32 node, u64 now)
{
	return network_waiting(uplink(node), now) < EGRESS_BYTES;
}

/** host_has_room() - for a sender that has no turn */
bool host_has_room(u32 node, u64 now)
{
	return lines[node].first == NOBODY && is_short(node, now);
}

static void wake_when_short(u32 node, u64 now)
{
	double above = network_waiting(uplink(node), now) - EGRESS_BYTES;
	u64 wait = above > 0 ? above * 8 / uplink(node)->gbits : 0;

	clock_set(first_actor + node, now + wait + 1);
}

/** host_wait() - a sender joins the line */
void host_wait(u32 node, u32 sender, u64 now)
{
	struct line *line = &lines[node];

	behind[sender] = NOBODY;
	if (line->first == NOBODY) {
		line->first = sender;
		wake_when_short(node, now);
	} else {
		behind[line->last] = sender;
	}
	line->last = sender;
}

/** host_wake() - give turns, as long as the queue is short */
void host_wake(u32 node, u64 now)
{
	struct line *line = &lines[node];

	clock_set(first_actor + node, CLOCK_NEVER);
	while (line->first != NOBODY && is_short(node, now)) {
		u32 sender = line->first;

		line->first = behind[sender];
		sender_turn(sender, now);
	}
	if (line->first != NOBODY)
		wake_when_short(node, now);
}
