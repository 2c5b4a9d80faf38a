// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Retransmission: go-back-N (IBA volume 1, 9.7.6.1 and 9.9.2).
 *
 * A NAK or a timeout moves the requester's cursor back to the oldest unacknowledged
 * packet, and everything from there on is sent again: a responder may have dropped
 * the packets after a gap. Further signs of the same gap are ignored until there is
 * progress. Lost responses are asked for alone, see question.c.
 *
 * It is part of the requester's engine and works on its state.
 */
#include <linux/slab.h>

#include "cc.h"
#include "compat.h"
#include "counters.h"
#include "engine.h"
#include "flow.h"
#include "request.h"
#include "requester.h"
#include "roce_psn.h"
#include "sack.h"
#include "scoreboard.h"
#include "spread.h"
#include "trace.h"
#include "xmit.h"

/* 9.7.6.1.3: a timeout may last up to four times the value of the attribute. */
#define MAX_BACKOFF		2

/* Longer with every retry: the answer may be late because of a queue, not lost. */
static unsigned long ack_timeout(const struct roce_qp *qp)
{
	int backoff = clamp(qp->attr.retry_cnt - qp->requester.retries,
			    0, MAX_BACKOFF);

	/* 4.096 us * 2^timeout */
	return nsecs_to_jiffies(4096ull << (qp->attr.timeout + backoff)) + 2;
}

/**
 * roce_retransmit_expect_progress() - restart the local ACK timeout
 * @qp: its requester is owned by the caller
 */
void roce_retransmit_expect_progress(struct roce_qp *qp)
{
	qp->requester.ack_deadline = jiffies + ack_timeout(qp);
}

/**
 * roce_retransmit_renew() - reset the retries, and restart the timeout
 * @qp: its requester is owned by the caller; attr is set
 */
void roce_retransmit_renew(struct roce_qp *qp)
{
	qp->requester.retries = qp->attr.retry_cnt;
	qp->requester.rnr_retries = qp->attr.rnr_retry;
	roce_retransmit_expect_progress(qp);
}

/**
 * roce_retransmit_forget_losses() - clear the scoreboard
 * @qp: its requester is owned by the caller
 *
 * The peer may have dropped its kept packets: it does so after an RNR NAK, and nothing
 * is known of a peer that does not answer.
 */
void roce_retransmit_forget_losses(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->board)
		requester->board->gaps = 0;
	roce_spread_forget(requester);
	requester->probing = false;
	requester->silent = false;
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
	requester->recovering = roce_requester_awaits_response(requester);
	requester->sender.rnr_waiting = false;
	/* What is missing is asked for anyway. */
	requester->questions_due = false;
	requester->question_psn = requester->limit_psn;
	roce_retransmit_forget_losses(qp);
	requester->back_psn = requester->limit_psn;
	/* An acknowledgment would be ambiguous between the two copies. */
	requester->timed_at = 0;
	roce_retransmit_expect_progress(qp);
}

/**
 * roce_retransmit_retry() - go back, and count it against the retry limit
 * @qp: its requester is owned by the caller, with a request outstanding
 * @why: counter of the reason
 *
 * The oldest request fails if no retry is left (IBA volume 1, 9.9.2.4.1).
 */
void roce_retransmit_retry(struct roce_qp *qp, enum roce_counter why)
{
	struct roce_requester *requester = &qp->requester;

	if (!requester->retries) {
		roce_request_fail(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	roce_count_value(qp, why, 1);
	roce_count(qp, completer_retry_err);
	trace_roce_retry(qp, roce_counter_name(why));
	requester->retries--;
	roce_window_halve(requester);
	roce_retransmit_go_back(qp);
}

/**
 * roce_retransmit_send() - send one train that leaves the cursor where it is
 * @qp: its requester is owned by the caller
 * @xmit: build and data are set; retransmits packets, or asks for responses again
 *
 * BH disabled, RCU read side.
 *
 * Return: see roce_xmit().
 */
int roce_retransmit_send(struct roce_qp *qp, struct roce_xmit *xmit)
{
	int err;

	xmit->sender = &qp->requester.sender;
	xmit->av = &qp->av;
	xmit->source_port = qp->source_port;
	err = roce_xmit(qp, xmit);
	roce_count_add(qp, retransmitted_packets, xmit->train.sent);
	return err;
}

/* Remove acknowledged packets from the scoreboard. */
static void acknowledge_losses(struct roce_requester *requester)
{
	u32 psn = requester->unacked_psn;

	requester->news++;
	requester->probing = false;
	requester->back_psn = roce_psn_later(requester->back_psn, psn);
	if (roce_psn_diff(psn, requester->loss_end) >= 0)
		requester->losing = false;
	if (requester->board)
		roce_scoreboard_acknowledge(requester->board, psn);
}

/**
 * roce_retransmit_progressed() - the responder has acknowledged new packets
 * @qp: its requester is owned by the caller; unacked_psn has moved
 */
void roce_retransmit_progressed(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	requester->recovering = false;
	roce_sack_progressed(requester);
	roce_retransmit_renew(qp);
	acknowledge_losses(requester);
	roce_window_arrived(qp, requester->unacked_psn);

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
	    (!roce_in_flight(requester) && !requester->sender.stalls))
		return;
	if (!qp->attr.timeout || time_before(jiffies, requester->ack_deadline) ||
	    roce_sender_is_waiting(&requester->sender))
		return;

	roce_flow_lost(qp, ROCE_CC_TIMEOUT);
	roce_loss_told(requester);
	roce_retransmit_retry(qp, ROCE_COUNTER_local_ack_timeout_err);
}

/**
 * roce_retransmit_arm_timer() - start the timer of the local ACK timeout
 * @qp: its requester is owned by the caller
 *
 * Lazy: a pending timer may fire early, and is then set again. A timer is moved only
 * if it would fire too late, after a longer timeout.
 */
void roce_retransmit_arm_timer(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (roce_requester_awaits_response(requester) && qp->attr.timeout)
		timer_reduce(&requester->ack_timer, requester->ack_deadline);
}

static void ack_timer_fired(struct timer_list *timer)
{
	struct roce_requester *requester =
		timer_container_of(requester, timer, ack_timer);

	roce_engine_run(&requester->engine);
}

/**
 * roce_retransmit_init() - initialize the timer of a new QP
 * @qp: new
 */
void roce_retransmit_init(struct roce_qp *qp)
{
	timer_setup(&qp->requester.ack_timer, ack_timer_fired, 0);
}

/**
 * roce_retransmit_start() - reset retries and losses
 * @qp: both engines are owned by the caller; attr is set
 */
void roce_retransmit_start(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	requester->recovering = false;
	requester->questions_due = false;
	requester->back_psn = qp->attr.sq_psn;
	requester->losing = false;
	requester->loss_end = qp->attr.sq_psn;
	requester->repaired_alone = false;
	roce_retransmit_renew(qp);
}

/**
 * roce_retransmit_stop() - stop the timer, and free the scoreboard and the paths
 * @qp: in a state in which nothing starts it
 *
 * Process context.
 */
void roce_retransmit_stop(struct roce_qp *qp)
{
	timer_delete_sync(&qp->requester.ack_timer);
	kfree(qp->requester.board);
	qp->requester.board = NULL;
	roce_spread_stop(&qp->requester);
}
