// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many flows over a network with many ways, packet by packet: what the driver's own choice
 * of paths (path.c), scoreboard (scoreboard.c) and reaction point (dcqcn.c) make of it.
 *
 *	options.c  traffic.c  shapes.c		what there is
 *	sender.c  rate.c  host.c		the end of a flow that sends,
 *	acknowledge.c  timers.c			and what it learns
 *	receiver.c  flow.c			the other end
 *	network.c  clock.c  packet.h  sack.c	what is between, and when
 *	report.c				what came of it
 */
#include <stdio.h>

#include "clock.h"
#include "flow.h"
#include "host.h"
#include "network.h"
#include "options.h"
#include "random.h"
#include "receiver.h"
#include "report.h"
#include "sender.h"
#include "shapes.h"
#include "traffic.h"

/* Flows of a fabric begin at random in this time, so that they do not go in step. */
#define START_TIME (MSEC / 10)

/* Moments at which something happens that no packet brings about */
enum moment { SETTLED, FAILS, HEALS, END, MOMENTS };

/* The clock's numbers of the first link, host, and so on */
static struct {
	u32 host, sender, receiver, moment;
} first;

static void number_actors(void)
{
	first.host = network.link_count;
	first.sender = first.host + network.node_count;
	first.receiver = first.sender + flow_count;
	first.moment = first.receiver + flow_count;
	clock_start(first.moment + MOMENTS);
}

static void set_moments(void)
{
	if (options.settled)
		clock_set(first.moment + SETTLED, options.settled);
	if (options.fails >= 0 && (u32)options.fails < network.core_count) {
		clock_set(first.moment + FAILS, options.fails_at);
		clock_set(first.moment + HEALS, options.heals_at);
	}
	if (options.end)
		clock_set(first.moment + END, options.end);
}

static void start_flows(void)
{
	u32 i;

	for (i = 0; i < flow_count; i++) {
		u64 start = options.shape == WAYS ? 0 : random_below(START_TIME);

		report_start(i, start);
		clock_set(first.sender + i, start);
	}
}

static void begin(u32 paths)
{
	random_seed(options.seed);
	shape_build();
	traffic_build();
	network.sprays = paths == SPRAY;
	path_count = paths == SPRAY ? 1 : paths;
	number_actors();
	hosts_begin(first.host, network.node_count);
	senders_begin(first.sender, options.gbits * 1e9);
	receivers_begin(first.receiver);
	report_begin();
	set_moments();
	start_flows();
}

static void take_packet(const struct packet *packet, u64 now)
{
	if (packet->kind == PACKET_DATA || packet->kind == PACKET_PROBE)
		receiver_take(packet, now);
	else
		sender_take(packet, now);
}

/* Returns false at the end. */
static bool happen(enum moment moment, u64 now)
{
	clock_set(first.moment + moment, CLOCK_NEVER);
	if (moment == SETTLED)
		report_settled(now);
	else if (moment != END)
		network.nodes[network.cores[options.fails]].is_dead = moment == FAILS;
	return moment != END;
}

static bool step(u32 actor, u64 now)
{
	struct packet packet;

	if (actor >= first.moment)
		return happen(actor - first.moment, now);
	if (actor >= first.receiver)
		receiver_wake(actor - first.receiver, now);
	else if (actor >= first.sender)
		sender_wake(actor - first.sender, now);
	else if (actor >= first.host)
		host_wake(actor - first.host, now);
	else if (network_deliver(actor, now, &packet))
		take_packet(&packet, now);
	return !report_is_complete();
}

/* Returns the time of the end. */
static u64 run(void)
{
	u64 now = 0;
	u32 actor;

	while (clock_next(&actor, &now))
		if (!step(actor, now))
			break;
	return now;
}

int main(int argc, char **argv)
{
	u32 i;

	options_parse(argc, argv);
	report_heading();
	for (i = 0; i < options.runs; i++) {
		begin(options.paths[i]);
		report_print(options.paths[i], run());
	}
	return 0;
}
