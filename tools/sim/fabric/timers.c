// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a sender does when nothing comes: probes and the ACK timeout, as in probe.c and
 * retransmit.c of the driver.
 */
#include "options.h"
#include "rate.h"
#include "roce_psn.h"
#include "timers.h"
#include "window.h"

#define MIN_SLACK	100000ull
#define LONG_SLACK	MSEC
#define MAX_BACKOFF	10
#define MAX_RETRIES	2

/** timers_ack_timeout() - nanoseconds, longer with each retry */
u64 timers_ack_timeout(const struct sender *sender)
{
	return 4096ull << (options.timeout + min_of(sender->retries, MAX_RETRIES));
}

static u64 slack(const struct sender *sender)
{
	u64 deviation = 4 * sender->rttvar;

	if (sender_in_flight(sender) > 2 * sender->measured_in_flight ||
	    (sender->board && roce_scoreboard_may_be_late(sender->board)))
		return LONG_SLACK;
	return deviation > MIN_SLACK ? deviation : MIN_SLACK;
}

static u64 probe_interval(const struct sender *sender)
{
	return (2 * sender->srtt + slack(sender)) << sender->probe_backoff;
}

static bool can_probe(const struct sender *sender)
{
	return sender->srtt && sender->unacked_psn != sender->limit_psn &&
	       (!roce_psn_precedes(sender->ack_request_psn, sender->unacked_psn) ||
		(sender->board && sender->board->gaps));
}

static void start_probe_timer(struct sender *sender, u64 when)
{
	sender->probe_at = when;
	sender->probe_news = sender->news;
}

static void nothing_came(struct sender *sender, u64 now)
{
	struct roce_path_news news;

	sender->probe_backoff = min_of(sender->probe_backoff + 1, MAX_BACKOFF);
	if (sender->psn != sender->limit_psn)
		return;
	if (sender->paths)
		roce_paths_unanswered(sender->paths, sender->probe_backoff - 1);
	if (!sender->board || !sender->board->gaps) {
		sender->probing = true;
		return;
	}
	if (sender->paths) {
		roce_paths_silence(sender->paths, sender->board, now, &news);
		sender->left += __builtin_popcount(news.left);
	}
	roce_scoreboard_silence(sender->board);
	sender->silent = true;
}

/** timers_probe() - the last packet is due again, if nothing came for two round trips */
void timers_probe(struct sender *sender, u64 now)
{
	if (!sender->probe_at || sender->probe_at > now)
		return;
	sender->probe_at = 0;
	if (sender->news == sender->probe_news) {
		if (can_probe(sender))
			nothing_came(sender, now);
		return;
	}
	sender->probe_backoff = 0;
	if (can_probe(sender)) {
		u64 interval = probe_interval(sender), since = now - sender->round_trip_ended;

		start_probe_timer(sender, now + interval -
				  (since < interval / 2 ? since : interval / 2));
	}
}

static void forget_losses(struct sender *sender)
{
	if (sender->board)
		sender->board->gaps = 0;
	if (sender->paths)
		roce_paths_forget(sender->paths, sender->unacked_psn);
	sender->probing = false;
	sender->silent = false;
}

/** timers_timeout() - go back, if the ACK timeout has passed */
void timers_timeout(struct sender *sender, u64 now)
{
	if (sender->unacked_psn == sender->limit_psn || sender->deadline > now)
		return;
	sender->timeouts++;
	sender->retries++;
	sender->losing = true;
	sender->loss_end = sender->limit_psn;
	window_halve(sender);
	sender->psn = sender->unacked_psn;
	sender->ack_request_psn = roce_psn_add(sender->psn, -1);
	forget_losses(sender);
	sender->back_psn = sender->limit_psn;
	sender->timed_at = 0;
	sender->deadline = now + timers_ack_timeout(sender);
	rate_lost(sender, ROCE_CC_TIMEOUT, now);
}

/** timers_measured() - a round trip has ended, so a timer that backed off starts anew */
void timers_measured(struct sender *sender)
{
	if (sender->probe_backoff)
		sender->probe_at = 0;
	sender->probe_backoff = 0;
}

/** timers_wait() - see to it that the sender wakes in time */
void timers_wait(struct sender *sender, u64 now)
{
	if (sender->unacked_psn == sender->limit_psn)
		return;
	if (!sender->probe_at && can_probe(sender))
		start_probe_timer(sender, now + probe_interval(sender));
	if (sender->probe_at)
		sender_wait(sender, sender->probe_at);
	sender_wait(sender, sender->deadline);
}
