// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reasons for a requester to wait: the delay of an RNR NAK, a full queue of the netdev,
 * missing memory, the rate of the flow, and other messages that a short one waits for.
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
 * Work in flight that keeps a peer busy while a short message waits for others, in bytes.
 * PACKET_COST is the cost of a packet in addition to its payload.
 */
#define ENOUGH_IN_FLIGHT	SZ_16K
#define PACKET_COST		SZ_1K

/* A round trip in a data centre; longer ones must not become much longer. */
#define MAX_WAIT_FOR_COMPANY	(100 * NSEC_PER_USEC)

/**
 * roce_requester_wait() - send nothing for a while
 * @qp: its requester is owned by the caller
 * @nanoseconds: length of the wait, which replaces any earlier one
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
 * @err: -EAGAIN or -ENOMEM, for the counters
 */
void roce_requester_stall(struct roce_qp *qp, int err)
{
	roce_count_stall(qp, err, ROCE_STALL_NANOSECONDS);
	roce_requester_wait(qp, ROCE_STALL_NANOSECONDS);
}

/**
 * roce_requester_wait_for_turn() - wait for the rate of the flow, or for a turn
 * @qp: its requester is owned by the caller
 * @nanoseconds: wait for the rate; 0 if the engine waits for its turn among the QPs of
 *	the host, and is scheduled then
 *
 * Resets the count of stalls, since this is no wait for the netdev.
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
 * A short message costs much less in a train with others. So while the peer has enough
 * messages to work on, a short message waits until a train is full. (TCP calls this
 * autocorking.) It does not wait while READs are outstanding, since their PSNs do not
 * tell the amount of work. A READ never waits: its response is most of the work.
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
 * @request: at the cursor, within the window
 *
 * An acknowledgment runs the requester again. With a distant peer this alone would halve
 * the throughput of a queue of about ten messages, so there is a timer, too.
 *
 * Return: true if the message waits.
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
 * roce_requester_wait_init() - initialize the timer
 * @requester: new
 */
void roce_requester_wait_init(struct roce_requester *requester)
{
	hrtimer_setup(&requester->wait_timer, requester_wait_is_over, CLOCK_MONOTONIC,
		      ROCE_WAIT_MODE);
}

/**
 * roce_requester_wait_stop() - stop the timer, and end the wait
 * @requester: nothing starts the timer any more
 *
 * Process context.
 */
void roce_requester_wait_stop(struct roce_requester *requester)
{
	hrtimer_cancel(&requester->wait_timer);
	requester->wait_end = 0;
}
