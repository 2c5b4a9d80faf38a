// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Retransmission: go-back-N (IBA volume 1, 9.7.6.1 and 9.9.2).
 *
 * A NAK, a timeout or a gap in the responses moves the requester's cursor back to
 * the oldest packet that is not acknowledged. The responder drops what comes behind
 * a gap, so everything from there on is sent again. Until something new is
 * acknowledged, further signs of the same gap are ignored.
 *
 * It is part of the requester's engine and works on its state.
 */
#include "qp.h"
#include "trace.h"

/*
 * Packets in flight. Some of them wait in a receiver's per-CPU backlog, which
 * drops silently from 1000 sk_buffs on. A loss halves the window, since each
 * packet behind a loss is sent in vain, and many QPs that send more than gets
 * through within their timeouts would send the same for ever. Every window that
 * arrives makes it wider by a step.
 */
#define MAX_WINDOW		256u
#define MIN_WINDOW		16u
#define WINDOW_STEP		4

/* 9.7.6.1.3: a timeout may take up to four times what the attribute says. */
#define MAX_BACKOFF		2

static bool awaits_response(const struct roce_requester *requester)
{
	return requester->unacked_psn != requester->limit_psn;
}

/* Longer with every retry: the answer may be late for a queue, not lost. */
static unsigned long ack_timeout(const struct roce_qp *qp)
{
	int backoff = clamp(qp->attr.retry_cnt - qp->requester.retries,
			    0, MAX_BACKOFF);

	/* 4.096 us * 2^timeout */
	return nsecs_to_jiffies(4096ull << (qp->attr.timeout + backoff)) + 2;
}

/**
 * roce_retransmit_expect_progress() - an answer is late from one timeout on
 * @qp: its requester is owned by the caller
 */
void roce_retransmit_expect_progress(struct roce_qp *qp)
{
	qp->requester.ack_deadline = jiffies + ack_timeout(qp);
}

/**
 * roce_retransmit_renew() - all retries again, and a whole timeout
 * @qp: its requester is owned by the caller; attr is set
 */
void roce_retransmit_renew(struct roce_qp *qp)
{
	qp->requester.retries = qp->attr.retry_cnt;
	qp->requester.rnr_retries = qp->attr.rnr_retry;
	roce_retransmit_expect_progress(qp);
}

/**
 * roce_retransmit_go_back() - send again from the oldest unacknowledged packet on
 * @qp: its requester is owned by the caller
 */
void roce_retransmit_go_back(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	requester->psn = requester->unacked_psn;
	requester->current_request = requester->completed;
	requester->ack_request_psn = roce_psn_add(requester->psn, -1);
	requester->recovering = awaits_response(requester);
	/* It could not be told which of two copies was acknowledged. */
	requester->timed_at = 0;
	roce_retransmit_expect_progress(qp);
}

/**
 * roce_retransmit_retry() - go back, and count it against the retry limit
 * @qp: its requester is owned by the caller, with a request outstanding
 * @why: the counter of what has happened
 *
 * The oldest request fails when no retry is left (IBA volume 1, 9.9.2.4.1).
 */
void roce_retransmit_retry(struct roce_qp *qp, enum roce_counter why)
{
	struct roce_requester *requester = &qp->requester;

	if (!requester->retries) {
		roce_requester_fail(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	roce_count_value(qp, why, 1);
	roce_count(qp, completer_retry_err);
	trace_roce_retry(qp, roce_counter_name(why));
	requester->retries--;
	requester->window = max(requester->window / 2, MIN_WINDOW);
	requester->window_psn = requester->limit_psn;
	roce_retransmit_go_back(qp);
}

/**
 * roce_retransmit_progressed() - the responder acknowledged something new
 * @qp: its requester is owned by the caller; unacked_psn has moved
 */
void roce_retransmit_progressed(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	requester->recovering = false;
	if (roce_psn_diff(requester->unacked_psn, requester->window_psn) >= 0) {
		requester->window = min(requester->window + WINDOW_STEP,
					MAX_WINDOW);
		requester->window_psn = requester->limit_psn;
	}
	roce_retransmit_renew(qp);

	while (requester->asked &&
	       roce_psn_diff(*roce_asked_end(requester, 0),
			     requester->unacked_psn) <= 0) {
		requester->asked--;
		requester->asked_first++;
	}
}

/**
 * roce_retransmit_check_timeout() - go back if the answer is late
 * @qp: its requester is owned by the caller
 */
void roce_retransmit_check_timeout(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->completed == requester->fetched ||
	    (!roce_in_flight(requester) && !requester->stalls))
		return;
	if (!qp->attr.timeout || time_before(jiffies, requester->ack_deadline) ||
	    roce_requester_is_waiting(requester))
		return;

	roce_flow_lost(qp, ROCE_CC_TIMEOUT);
	roce_retransmit_retry(qp, ROCE_COUNTER_local_ack_timeout_err);
}

/**
 * roce_retransmit_arm_timer() - come back when the answer is late
 * @qp: its requester is owned by the caller
 *
 * Lazily: a timer that is pending fires early, and is then set anew. Only what
 * a longer timeout has left behind is brought forward.
 */
void roce_retransmit_arm_timer(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (awaits_response(requester) && qp->attr.timeout)
		timer_reduce(&requester->ack_timer, requester->ack_deadline);
}

static void ack_timer_fired(struct timer_list *timer)
{
	struct roce_requester *requester =
		timer_container_of(requester, timer, ack_timer);

	roce_engine_run(&requester->engine);
}

/**
 * roce_retransmit_init() - set up what lives as long as the QP
 * @qp: new
 */
void roce_retransmit_init(struct roce_qp *qp)
{
	timer_setup(&qp->requester.ack_timer, ack_timer_fired, 0);
}

/**
 * roce_retransmit_start() - all retries and the widest window
 * @qp: both engines are owned by the caller; attr is set
 */
void roce_retransmit_start(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	requester->window = MAX_WINDOW;
	requester->window_psn = qp->attr.sq_psn;
	requester->recovering = false;
	roce_retransmit_renew(qp);
}

/**
 * roce_retransmit_stop() - stop the timer
 * @qp: in a state in which nothing starts it
 *
 * Process context.
 */
void roce_retransmit_stop(struct roce_qp *qp)
{
	timer_delete_sync(&qp->requester.ack_timer);
}
