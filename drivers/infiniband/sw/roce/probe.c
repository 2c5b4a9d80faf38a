// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Probes: if the last packets are lost, no later packet reveals the loss. So after two
 * round trips, and the time by which one may be longer, the last packet is sent again. A
 * peer that sends selective acknowledgments answers with what it has received (RFC 8985,
 * 7). If known losses were sent again without success, these are sent once more instead.
 * Likewise missing responses are asked for once more.
 *
 * Probes are no retries. Each one waits twice as long as the one before, until there is
 * progress. The local ACK timeout runs at the same time.
 *
 * The timer is not touched when there is progress. When it fires, it looks for progress
 * since it was started, and continues from the end of the latest round trip. But after a
 * silence it is slow, and starts anew with a round trip. Other progress says nothing of how
 * long the answers to many copies take: probes would be quicker than the peer.
 */
#include "compat.h"
#include "cursor.h"
#include "engine.h"
#include "flow.h"
#include "qp.h"
#include "question.h"
#include "reorder.h"
#include "request.h"
#include "requester.h"
#include "roce_psn.h"
#include "scoreboard.h"
#include "spread.h"

/* Time for an answer besides the round trip: timers, other work of a CPU */
#define MIN_SLACK		(100 * NSEC_PER_USEC)
#define LONG_SLACK		NSEC_PER_MSEC
#define MAX_BACKOFF_SHIFT	10

/*
 * Many more packets in flight than were measured may wait in a queue. And a peer that
 * waits for late packets would take copies for these.
 */
static u64 slack(const struct roce_requester *requester)
{
	if (roce_in_flight(requester) > 2 * requester->measured_in_flight ||
	    (requester->board && roce_scoreboard_may_be_late(requester->board)))
		return LONG_SLACK;
	return max(4 * requester->rttvar, MIN_SLACK);
}

/* What fq holds back has not begun its round trip. */
static u64 probe_interval(const struct roce_qp *qp)
{
	const struct roce_requester *requester = &qp->requester;
	u64 interval = 2 * requester->srtt + slack(requester);

	return (interval << requester->probe_backoff) +
	       roce_flow_held(&qp->flow, ROCE_REQUESTER);
}

/* The peer acknowledges what asks for it. A flow that waits for its rate may not have asked. */
static bool has_asked(const struct roce_requester *requester)
{
	const struct roce_request *oldest;

	if (!roce_psn_precedes(requester->ack_request_psn, requester->unacked_psn) ||
	    roce_scoreboard_has_gaps(requester->board))
		return true;
	oldest = roce_request_of(requester, requester->unacked_psn);
	return oldest && roce_request_has_response(oldest);
}

static bool can_probe(const struct roce_qp *qp)
{
	const struct roce_requester *requester = &qp->requester;

	return requester->sack_accepted && requester->srtt && qp->attr.timeout &&
	       roce_requester_awaits_response(requester) && has_asked(requester);
}

static void start_timer(struct roce_requester *requester, u64 delay)
{
	requester->probe_armed = true;
	requester->probe_news = requester->news;
	hrtimer_start(&requester->probe_timer, ns_to_ktime(delay), ROCE_WAIT_MODE);
}

static void end_silence(struct roce_requester *requester)
{
	/* If it has just fired, roce_probe_check() finds that there was progress. */
	if (requester->probe_armed && hrtimer_try_to_cancel(&requester->probe_timer) != 1)
		return;
	requester->probe_armed = false;
	requester->probe_backoff = 0;
}

/**
 * roce_probe_arm() - start the timer of the next probe
 * @qp: its requester is owned by the caller
 */
void roce_probe_arm(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->probe_backoff &&
	    requester->round_trip_ended != requester->probe_backed_off)
		end_silence(requester);
	if (!requester->probe_armed && can_probe(qp))
		start_timer(requester, probe_interval(qp));
}

/* The time of the progress is known only if it ended a round trip. */
static void wait_for_more(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	u64 interval, since;

	requester->probe_backoff = 0;
	if (!can_probe(qp))
		return;
	interval = probe_interval(qp);
	since = ktime_get_ns() - requester->round_trip_ended;
	start_timer(requester, interval - min(since, interval / 2));
}

/* After going back, the window may be full of packets that are lost again. */
static bool cursor_can_repeat(struct roce_qp *qp)
{
	return roce_cursor_sent_before(&qp->requester) && roce_cursor_window_is_open(qp) &&
	       !roce_cursor_must_wait(qp, roce_cursor_request(qp));
}

/* The answer to a question takes as long as that to a packet. A second one makes a copy. */
static bool wait_for_answer(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	u64 interval = probe_interval(qp);
	u64 since = ktime_get_ns() - requester->question_at;

	if (!roce_reorder_has_lost(requester->reorder) || since >= interval)
		return false;
	start_timer(requester, interval - since);
	return true;
}

static void nothing_came(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->probe_backoff < MAX_BACKOFF_SHIFT)
		requester->probe_backoff++;
	requester->probe_backed_off = requester->round_trip_ended;
	/* The cursor sends anyway, or the peer has asked to wait. */
	if (cursor_can_repeat(qp) || roce_sender_obeys_rnr_nak(&requester->sender))
		return;
	roce_spread_unanswered(requester, requester->probe_backoff - 1);
	if (roce_scoreboard_has_gaps(requester->board)) {
		roce_spread_silence(qp);
		roce_scoreboard_silence(requester->board);
		requester->silent = true;
	} else if (roce_reorder_has_lost(requester->reorder)) {
		roce_questions_begin(requester, requester->unacked_psn);
	} else {
		requester->probing = true;
	}
}

/**
 * roce_probe_check() - make a probe due, if there was no progress for too long
 * @qp: its requester is owned by the caller
 */
void roce_probe_check(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (!READ_ONCE(requester->probe_fired))
		return;
	WRITE_ONCE(requester->probe_fired, false);
	requester->probe_armed = false;
	if (requester->news != requester->probe_news)
		wait_for_more(qp);
	else if (can_probe(qp) && !wait_for_answer(qp))
		nothing_came(qp);
}

static enum hrtimer_restart probe_timer_fired(struct hrtimer *timer)
{
	struct roce_requester *requester =
		container_of(timer, struct roce_requester, probe_timer);

	WRITE_ONCE(requester->probe_fired, true);
	roce_engine_run(&requester->engine);
	return HRTIMER_NORESTART;
}

/**
 * roce_probe_init() - initialize the timer of a new QP
 * @qp: new
 */
void roce_probe_init(struct roce_qp *qp)
{
	hrtimer_setup(&qp->requester.probe_timer, probe_timer_fired,
		      CLOCK_MONOTONIC, ROCE_WAIT_MODE);
}

/**
 * roce_probe_stop() - stop the timer
 * @qp: in a state in which nothing starts it
 *
 * Process context.
 */
void roce_probe_stop(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	hrtimer_cancel(&requester->probe_timer);
	requester->probe_armed = false;
	requester->probe_fired = false;
	requester->probing = false;
	requester->probe_backoff = 0;
}
