// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What keeps a requester from sending: the delay of an RNR NAK, a netdev that takes no
 * more, want of memory, and the rate of the flow.
 */
#include "compat.h"
#include "counters.h"
#include "qp.h"
#include "requester.h"
#include "train.h"

/**
 * roce_requester_wait() - send nothing for a while
 * @qp: its requester is owned by the caller
 * @nanoseconds: how long, from now on, whatever it was waiting for
 */
void roce_requester_wait(struct roce_qp *qp, u64 nanoseconds)
{
	struct roce_requester *requester = &qp->requester;

	requester->rnr_waiting = false;
	requester->pacing = false;
	WRITE_ONCE(requester->wait_end, ktime_add_ns(ktime_get(), nanoseconds));
	hrtimer_start(&requester->wait_timer, ns_to_ktime(nanoseconds),
		      ROCE_WAIT_MODE);
}

/**
 * roce_requester_stall() - wait for the netdev, or for memory
 * @qp: its requester is owned by the caller
 * @err: -EAGAIN or -ENOMEM, to be counted
 */
void roce_requester_stall(struct roce_qp *qp, int err)
{
	roce_count_stall(qp, err, ROCE_STALL_NANOSECONDS);
	roce_requester_wait(qp, ROCE_STALL_NANOSECONDS);
}

/**
 * roce_requester_wait_for_turn() - wait as the rate of the flow says
 * @qp: its requester is owned by the caller
 * @nanoseconds: how long; 0 if it waits for its turn among the QPs of the host, with
 *	which the engine is scheduled
 *
 * The netdev is not what it waits for now.
 */
void roce_requester_wait_for_turn(struct roce_qp *qp, u64 nanoseconds)
{
	qp->requester.stalls = 0;
	if (!nanoseconds)
		return;
	roce_requester_wait(qp, nanoseconds);
	qp->requester.pacing = true;
}
