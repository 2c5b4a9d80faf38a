// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The window of a sender, as in window.c of the driver. Many losses end slow start, but do
 * not make it narrower over a crowded port, as roce_window_give_way() does.
 */
#include "options.h"
#include "roce_psn.h"
#include "timers.h"
#include "window.h"

#define MIN_WINDOW	16u
#define WINDOW_BYTES	(32u << 20)
#define WINDOW_STEP	4
#define CROWDED		50000	/* nanoseconds */

static u32 widest(void)
{
	return min_of(WINDOW_BYTES / options.payload, EARLY_PACKETS);
}

/** window_delivered() - number of packets that have arrived, since the beginning */
u64 window_delivered(const struct sender *sender)
{
	return sender->acked + roce_scoreboard_early(sender->board);
}

static void widen(struct sender *sender)
{
	u32 least = sender->window;

	if (least < NEAR_WINDOW)
		least += WINDOW_STEP;
	sender->window = min_of(max_of(sender->busy_packets, least), max_of(widest(), least));
	sender->window_psn = sender->limit_psn;
}

static void grow_in_slow_start(struct sender *sender)
{
	u32 most = min_of(2 * sender->busy_packets, widest());
	u64 before = sender->delivered;

	sender->delivered = window_delivered(sender);
	if (sender->delivered > before)
		sender->window = max_of(sender->window,
					min_of(sender->window + sender->delivered - before, most));
}

/** window_end_slow_start() - many packets were lost, or wait in a queue */
void window_end_slow_start(struct sender *sender)
{
	u32 needed = max_of(sender->busy_packets, NEAR_WINDOW);

	if (sender->slow_start)
		sender->window = min_of(sender->window, needed);
	sender->slow_start = false;
}

/** window_arrived() - @psn is the oldest one that is missing, or the latest that has arrived */
void window_arrived(struct sender *sender, u32 psn)
{
	if (sender->slow_start)
		grow_in_slow_start(sender);
	if (!roce_psn_precedes(psn, sender->window_psn))
		widen(sender);
}

static void smooth(struct sender *sender, u64 rtt)
{
	u64 deviation = rtt > sender->srtt ? rtt - sender->srtt : sender->srtt - rtt;

	sender->rttvar = sender->srtt ? (3 * sender->rttvar + deviation) / 4 : rtt / 2;
	sender->srtt = sender->srtt ? (7 * sender->srtt + rtt) / 8 : rtt;
}

/** window_end_round_trip() - the timed packet has arrived */
void window_end_round_trip(struct sender *sender, u64 now)
{
	u64 packets = window_delivered(sender) - sender->timed_delivered;
	u64 rtt = now - sender->timed_at;

	smooth(sender, rtt);
	sender->measured_in_flight = sender->timed_in_flight;
	if (!sender->min_rtt || rtt < sender->min_rtt)
		sender->min_rtt = rtt;
	sender->busy_packets = 2 * packets * sender->min_rtt / rtt;
	sender->timed_at = 0;
	sender->round_trip_ended = now;
	timers_measured(sender);
	if (rtt > sender->min_rtt + max_of(sender->min_rtt, CROWDED))
		window_end_slow_start(sender);
}

/** window_halve() - send less, before going back */
void window_halve(struct sender *sender)
{
	sender->window = max_of(sender->window / 2, min_of(sender->window, MIN_WINDOW));
	sender->busy_packets = 0;
	sender->window_psn = sender->limit_psn;
}
