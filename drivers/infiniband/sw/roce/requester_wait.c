// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What keeps a requester from sending: the delay of an RNR NAK, a netdev that takes no
 * more, want of memory, the rate of the flow, and that a short message waits for others.
 */
#include "compat.h"
#include "counters.h"
#include "cursor.h"
#include "engine.h"
#include "qp.h"
#include "request.h"
#include "requester.h"
#include "train.h"

/*
 * Work that keeps a peer busy while a short message waits for others, in bytes. A
 * packet is as much as some of them, besides its payload.
 */
#define ENOUGH_IN_FLIGHT	SZ_16K
#define PACKET_COST		SZ_1K

/* A round trip through a data centre; a longer one is not to be lengthened by much. */
#define MAX_WAIT_FOR_COMPANY	(100 * NSEC_PER_USEC)

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

/*
 * A short message costs a fraction in a train with others of its kind. So while the
 * peer has enough messages like this one to work on, it waits until a train is full.
 * (For TCP this is called autocorking.) Not while READs are under way, since their
 * PSNs do not tell how much that is, and not a READ: its response is most of the work.
 */
static bool wants_company(const struct roce_qp *qp,
			  const struct roce_request *request)
{
	const struct roce_requester *requester = &qp->requester;
	u32 length = min(request->length, qp->mtu);
	u32 waiting, train;

	if (!roce_qp_is_reliable(qp) || roce_request_is_read(request) ||
	    request->packets > 1 || roce_cursor_sent_before(requester) ||
	    requester->asked ||
	    roce_in_flight(requester) * (PACKET_COST + length) < ENOUGH_IN_FLIGHT)
		return false;
	waiting = requester->fetched - requester->current_request +
		  roce_requests_waiting(qp);
	train = min_t(u32, ROCE_TRAIN_MAX_PACKETS,
		      ROCE_TRAIN_MAX_BYTES / max(length, 1u));
	return waiting < train;
}

/**
 * roce_requester_waits_for_company() - whether a short message waits for others
 * @qp: its requester is owned by the caller
 * @request: at the cursor, which the window has room for
 *
 * An acknowledgment makes the requester look again. Where the peer is far away, that
 * would halve what a queue of some ten messages moves, and so there is a timer.
 *
 * Return: true if it waits, from now on or still.
 */
bool roce_requester_waits_for_company(struct roce_qp *qp,
				      const struct roce_request *request)
{
	struct roce_requester *requester = &qp->requester;

	if (!wants_company(qp, request))
		return false;
	if (requester->company_awaited)
		return hrtimer_is_queued(&requester->wait_timer);
	requester->company_awaited = true;
	hrtimer_start(&requester->wait_timer, MAX_WAIT_FOR_COMPANY, ROCE_WAIT_MODE);
	return true;
}

static enum hrtimer_restart requester_wait_is_over(struct hrtimer *timer)
{
	struct roce_requester *requester =
		container_of(timer, struct roce_requester, wait_timer);

	roce_engine_run(&requester->engine);
	return HRTIMER_NORESTART;
}

/**
 * roce_requester_wait_init() - set up the timer
 * @requester: new
 */
void roce_requester_wait_init(struct roce_requester *requester)
{
	hrtimer_setup(&requester->wait_timer, requester_wait_is_over, CLOCK_MONOTONIC,
		      ROCE_WAIT_MODE);
}

/**
 * roce_requester_wait_stop() - stop the timer, and wait for nothing
 * @requester: nothing starts the timer any more
 *
 * Process context.
 */
void roce_requester_wait_stop(struct roce_requester *requester)
{
	hrtimer_cancel(&requester->wait_timer);
	requester->wait_end = 0;
}
