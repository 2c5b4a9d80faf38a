// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The transmitter of both halves of a QP. A train waits for the rate of the flow and for
 * its turn among the QPs of the host, is built, and is handed to the network. If the
 * queue of the netdev is full or memory is missing, the half waits for a while. If the
 * memory to send is not present, it waits for a page fault.
 *
 * A half knows what its next packets are, and is told how many were sent.
 */
#include <rdma/ib_addr.h>

#include "compat.h"
#include "counters.h"
#include "egress.h"
#include "engine.h"
#include "flow.h"
#include "qp.h"
#include "train.h"
#include "xmit.h"

/* Trains to send before the engine looks at received packets */
#define TRAINS_PER_STEP		2

/**
 * roce_sender_wait() - send nothing for a while
 * @sender: its engine is owned by the caller
 * @nanoseconds: length of the wait, which replaces any earlier one
 */
void roce_sender_wait(struct roce_sender *sender, u64 nanoseconds)
{
	sender->rnr_waiting = false;
	sender->pacing = false;
	WRITE_ONCE(sender->wait_end, ktime_add_ns(ktime_get(), nanoseconds));
	hrtimer_start(&sender->timer, ns_to_ktime(nanoseconds), ROCE_WAIT_MODE);
}

/* If it must wait for a turn, the engine is scheduled then. */
static bool may_send_train(struct roce_qp *qp, const struct roce_xmit *xmit)
{
	struct roce_sender *sender = xmit->sender;
	u64 wait = xmit->data ? roce_flow_wait(qp, &qp->flow, sender->half) : 0;

	if (!wait && roce_egress_take_turn(qp, sender->engine))
		return true;
	/* This is no wait for the netdev. */
	sender->stalls = 0;
	if (wait) {
		roce_sender_wait(sender, wait);
		sender->pacing = true;
	}
	return false;
}

/*
 * The peer asks for lost answers again. So answers do not wait for long, neither for the
 * netdev nor for memory, and do not hold back the end of a QP that has failed. Nobody asks
 * for a request: reliable ones wait for the netdev until their acknowledgment is late, and
 * all of them wait for memory. What the netdev refuses of a datagram to a group, the stack
 * has already looped back: the members on this host would get it again.
 */
static bool gives_up(const struct roce_qp *qp, const struct roce_xmit *xmit, int err)
{
	struct roce_sender *sender = xmit->sender;
	bool answer = sender->half == ROCE_RESPONDER;

	if (err == -ENOMEM && !answer)
		return false;
	if (err == -EAGAIN && rdma_is_multicast_addr(&xmit->av->destination))
		return true;
	return sender->stalls++ >= ROCE_MAX_STALLS &&
	       (answer || !roce_qp_is_reliable(qp));
}

static int stall(struct roce_qp *qp, const struct roce_xmit *xmit, int err)
{
	struct roce_sender *sender = xmit->sender;

	if (!gives_up(qp, xmit, err)) {
		roce_count_stall(qp, err, ROCE_STALL_NANOSECONDS);
		roce_sender_wait(sender, ROCE_STALL_NANOSECONDS);
		return -EBUSY;
	}
	if (err == -EAGAIN)
		roce_count(qp, tx_dropped_queue_full);
	sender->stalls = 0;
	return -ENOBUFS;
}

/*
 * A train could not be built. If memory is not present, the half waits for it. Other errors
 * than these are those of the consumer's memory: waiting does not help.
 */
static int not_built(struct roce_qp *qp, const struct roce_xmit *xmit, int err)
{
	switch (err) {
	case -ENOMEM:
		return stall(qp, xmit, err);
	case -EAGAIN:
		roce_fault_start(xmit->sender->fault);
		return -EBUSY;
	default:
		return -EACCES;
	}
}

/**
 * roce_xmit_built() - send a train that waits for neither the rate nor a turn
 * @qp: the caller owns the half in @xmit
 * @xmit: the train to send
 * @err: of building it
 *
 * BH disabled, RCU read side.
 *
 * Return: see roce_xmit().
 */
int roce_xmit_built(struct roce_qp *qp, struct roce_xmit *xmit, int err)
{
	struct roce_sender *sender = xmit->sender;
	struct roce_train *train = &xmit->train;

	if (err)
		return not_built(qp, xmit, err);
	err = roce_flow_send(qp, sender->half, xmit->av, train);
	if (train->sent)
		sender->stalls = 0;
	if (err == -EAGAIN)
		return stall(qp, xmit, err);
	sender->stalls = 0;
	return err;
}

static int build(struct roce_qp *qp, struct roce_xmit *xmit)
{
	struct roce_train *train = &xmit->train;
	int err;

	roce_train_open(train, xmit->av, xmit->source_port);
	train->data = xmit->data;
	train->turn = true;
	if (xmit->data)
		train->limit = roce_flow_train_bytes(&qp->flow);
	err = xmit->build(qp, train);
	roce_engine_charge(train->bytes);
	if (err)
		roce_train_drop(train);
	else if (xmit->data && roce_flow_wants_rtt(&qp->flow))
		xmit->sent_at = ktime_get_ns();
	return err;
}

/**
 * roce_xmit() - send a train
 * @qp: the caller owns the half in @xmit
 * @xmit: the train to send
 *
 * BH disabled, RCU read side. Sets @xmit->train.sent to the number of packets that have
 * left.
 *
 * Return: 0 if these are all packets of the train. -EBUSY if the sender waits before it
 * can send the others: for the rate, its turn, the netdev, memory, or pages of the memory
 * to send. -EACCES if nothing could be built. If no packet has left and the train is
 * dropped: -ENOBUFS after too long a wait for the netdev, or of an answer for memory;
 * -EHOSTUNREACH without a route.
 */
int roce_xmit(struct roce_qp *qp, struct roce_xmit *xmit)
{
	if (!may_send_train(qp, xmit))
		return -EBUSY;
	return roce_xmit_built(qp, xmit, build(qp, xmit));
}

/**
 * roce_sender_advance() - send some trains
 * @qp: the caller owns the half of @sender
 * @sender: the sender
 * @send_next: sends one train; returns false if nothing more can be sent now
 *
 * BH disabled, RCU read side.
 *
 * Return: true if there may be more to send at once.
 */
bool roce_sender_advance(struct roce_qp *qp, struct roce_sender *sender,
			 bool (*send_next)(struct roce_qp *qp))
{
	int trains = TRAINS_PER_STEP;

	while (trains && !roce_sender_is_waiting(sender) && send_next(qp))
		trains = roce_engine_budget_is_used_up() ? 0 : trains - 1;
	if (trains && roce_flow_is_limited(&qp->flow) &&
	    !(sender->pacing && sender->wait_end))
		roce_flow_interrupt(qp, sender->half);
	return !trains;
}

static void memory_is_present(struct roce_fault *fault)
{
	roce_engine_run(fault->engine);
}

static enum hrtimer_restart wait_is_over(struct hrtimer *timer)
{
	struct roce_sender *sender = container_of(timer, struct roce_sender, timer);

	roce_engine_run(sender->engine);
	return HRTIMER_NORESTART;
}

/**
 * roce_sender_init() - initialize the sending side of one half of a new QP
 * @sender: to be filled in
 * @engine: of the half
 * @half: the half
 * @fault: to be filled in, for the memory to send
 */
void roce_sender_init(struct roce_sender *sender, struct roce_engine *engine,
		      enum roce_half half, struct roce_fault *fault)
{
	sender->engine = engine;
	sender->half = half;
	hrtimer_setup(&sender->timer, wait_is_over, CLOCK_MONOTONIC, ROCE_WAIT_MODE);
	sender->fault = fault;
	roce_fault_init(fault, engine, memory_is_present);
}

/**
 * roce_sender_stop() - stop timer and page fault, and end the wait
 * @sender: in a state in which nothing starts them
 *
 * Process context.
 */
void roce_sender_stop(struct roce_sender *sender)
{
	hrtimer_cancel(&sender->timer);
	roce_fault_cancel(sender->fault);
	sender->wait_end = 0;
	sender->rnr_waiting = false;
	sender->stalls = 0;
}
