/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_XMIT_H
#define ROCE_XMIT_H

#include <linux/hrtimer.h>

#include "fault.h"
#include "flow.h"
#include "train.h"

struct roce_av;
struct roce_engine;
struct roce_qp;

/* Length of a stall, when the queue of the netdev is full or memory is missing */
#define ROCE_STALL_NANOSECONDS	(500 * NSEC_PER_USEC)

/* Consecutive stalls after which a train is dropped: of answers, or unreliable requests */
#define ROCE_MAX_STALLS		100

/**
 * struct roce_sender - the sending side of one half of a QP
 * @engine: of the half; owns the other fields
 * @half: which one it is
 * @timer: runs the engine at the end of a wait; also of other waits of the half
 * @wait_end: time before which nothing is sent, because of a stall, the rate of the flow,
 *	or an RNR NAK's delay; 0 without a wait
 * @pacing: @wait_end is that of a wait for the rate of the flow
 * @rnr_waiting: @wait_end is that of an RNR NAK's delay, and no gap has been found since
 * @stalls: consecutive stalls for the netdev; of answers, also for memory
 * @fault: nothing is sent as long as memory that must be sent next is not present
 */
struct roce_sender {
	struct roce_engine *engine;
	enum roce_half half;
	struct hrtimer timer;
	ktime_t wait_end;
	bool pacing;
	bool rnr_waiting;
	u32 stalls;
	struct roce_fault *fault;
};

/**
 * struct roce_xmit - a train that one half of a QP wants to send
 * @sender: of that half, whose engine is owned by the caller
 * @av: destination of the train
 * @source_port: of its UDP header
 * @data: it carries payload of a connection, and counts against its rate
 * @build: adds packets to the train; fails if it can add none
 * @sent_at: set to the time of sending, if round trips are measured
 * @train: set to the train
 */
struct roce_xmit {
	struct roce_sender *sender;
	struct roce_av *av;
	u16 source_port;
	bool data;
	int (*build)(struct roce_qp *qp, struct roce_train *train);
	u64 sent_at;
	struct roce_train train;
};

/**
 * roce_sender_is_delayed() - whether sending must wait for a time
 * @sender: its engine is owned by the caller
 *
 * Compares the time: the timer may be late, or for an earlier wait.
 */
static inline bool roce_sender_is_delayed(struct roce_sender *sender)
{
	if (!sender->wait_end)
		return false;
	if (ktime_before(ktime_get(), sender->wait_end))
		return true;
	WRITE_ONCE(sender->wait_end, 0);
	return false;
}

/** roce_sender_is_waiting() - whether sending must wait, for a time or for memory */
static inline bool roce_sender_is_waiting(struct roce_sender *sender)
{
	return roce_fault_is_pending(sender->fault) || roce_sender_is_delayed(sender);
}

/** roce_sender_obeys_rnr_nak() - whether sending must wait because the peer has said so */
static inline bool roce_sender_obeys_rnr_nak(struct roce_sender *sender)
{
	return sender->rnr_waiting && roce_sender_is_delayed(sender);
}

/**
 * roce_xmit_done() - number of packets of a train that need not be sent any more
 * @xmit: a train that was built
 * @err: returned by roce_xmit()
 *
 * Return: the packets that have left, or all of them if the train was dropped.
 */
static inline u32 roce_xmit_done(const struct roce_xmit *xmit, int err)
{
	return err == -EBUSY ? xmit->train.sent : xmit->train.packets;
}

/** roce_xmit_departure() - when a train that was sent leaves, nanoseconds */
static inline u64 roce_xmit_departure(const struct roce_xmit *xmit)
{
	return max(xmit->sent_at ?: ktime_get_ns(), xmit->train.departure);
}

void roce_sender_init(struct roce_sender *sender, struct roce_engine *engine,
		      enum roce_half half, struct roce_fault *fault);
void roce_sender_stop(struct roce_sender *sender);
void roce_sender_wait(struct roce_sender *sender, u64 nanoseconds);
bool roce_sender_advance(struct roce_qp *qp, struct roce_sender *sender,
			 bool (*send_next)(struct roce_qp *qp));
int roce_xmit(struct roce_qp *qp, struct roce_xmit *xmit);
int roce_xmit_built(struct roce_qp *qp, struct roce_xmit *xmit, int err);

#endif /* ROCE_XMIT_H */
