// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flushes the receives of a QP in the error state (IBA volume 1, 10.3.1), those posted
 * before and those posted later. The receive queue of a program is polled, less and less
 * often. Then the QP is idle: its queue is checked when the program enters the kernel.
 */
#include "cq.h"
#include "engine.h"
#include "qp.h"
#include "receive.h"
#include "section.h"

/* Receives to flush before the softirq yields */
#define FLUSH_BUDGET		64

/*
 * Interval between two checks of a program's receive queue in the error state. It grows
 * while the queue is empty.
 */
#define MIN_FLUSH_INTERVAL	(20 * NSEC_PER_MSEC)
#define MAX_FLUSH_INTERVAL	(512 * MIN_FLUSH_INTERVAL)

/*
 * Stop polling the receive queue of a program. From now on it is checked when the
 * program enters the kernel for the QP, or asks its CQ for an event.
 */
static void add_idle(struct roce_qp *qp)
{
	struct roce_cq *cq = roce_recv_cq(qp);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (list_empty(&qp->responder.idle)) {
		list_add_tail(&qp->responder.idle, &cq->idle_qps);
		cq->idle_count++;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * roce_receive_remove_idle() - remove a QP from the idle ones of its CQ
 * @qp: idle or not; its responder is owned by the caller
 *
 * Running sections may still have found it.
 */
void roce_receive_remove_idle(struct roce_qp *qp)
{
	struct roce_cq *cq = roce_recv_cq(qp);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (!list_empty(&qp->responder.idle)) {
		list_del_init(&qp->responder.idle);
		cq->idle_count--;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* Receives in a shared receive queue are for other QPs. */
static bool has_receive_to_flush(struct roce_qp *qp)
{
	return qp->responder.has_receive ||
	       (!roce_qp_srq(qp) && roce_receive_fetch(qp));
}

static void report_last_wqe(struct roce_qp *qp)
{
	if (qp->responder.last_wqe_reported)
		return;
	qp->responder.last_wqe_reported = true;
	roce_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/*
 * A program posts receives without telling the kernel. If it has posted none for long,
 * there is no timer any more. Packets do not restart it: a peer could send any number.
 */
static void flush_later(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;

	if (hrtimer_is_queued(&responder->sender.timer))
		return;
	if (responder->flush_interval >= MAX_FLUSH_INTERVAL) {
		add_idle(qp);
		return;
	}
	responder->flush_interval = clamp_t(u64, 2 * responder->flush_interval,
					    MIN_FLUSH_INTERVAL,
					    MAX_FLUSH_INTERVAL);
	hrtimer_start(&responder->sender.timer,
		      ns_to_ktime(responder->flush_interval), ROCE_WAIT_MODE);
}

/**
 * roce_receive_flush() - flush the receives of a QP
 * @qp: in the error state; its responder is owned by the caller
 *
 * BH disabled. Of a shared receive queue, only a receive in use is flushed.
 *
 * Return: true if there may be more: a program can post as fast as this flushes.
 */
bool roce_receive_flush(struct roce_qp *qp)
{
	struct roce_responder *responder = &qp->responder;
	int budget = FLUSH_BUDGET;

	while (has_receive_to_flush(qp)) {
		roce_receive_fail(qp, IB_WC_WR_FLUSH_ERR);
		roce_engine_charge(ROCE_COMPLETION_COST);
		responder->flush_interval = 0;
		if (!--budget)
			return true;
	}
	if (roce_qp_srq(qp))
		report_last_wqe(qp);
	else if (roce_qp_is_user(qp))
		flush_later(qp);
	return false;
}

/* Take the first QP of the list, and move it to the end. */
static struct roce_qp *next_idle(struct roce_cq *cq)
{
	struct roce_qp *qp;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	qp = list_first_entry_or_null(&cq->idle_qps, struct roce_qp,
				      responder.idle);
	if (qp)
		list_move_tail(&qp->responder.idle, &cq->idle_qps);
	spin_unlock_irqrestore(&cq->lock, flags);
	return qp;
}

/**
 * roce_receive_look() - flush receives of QPs that are not polled any more
 * @cq: of a program: the CQ of these receives
 *
 * Process context.
 */
void roce_receive_look(struct roce_cq *cq)
{
	u32 left = READ_ONCE(cq->idle_count);
	struct roce_qp *qp;

	while (left--) {
		local_bh_disable();
		roce_section_enter();
		qp = next_idle(cq);
		if (qp)
			roce_engine_run(&qp->responder.engine);
		roce_section_leave();
		local_bh_enable();
		cond_resched();
	}
}
