/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_FLOW_H
#define ROCE_FLOW_H

/*
 * Congestion control of a QP: how fast it may send data. cc.h has the interface of an
 * algorithm.
 */
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "cc.h"
#include "cc_parameters.h"

struct roce_av;
struct roce_qp;
struct roce_train;

/* A half of a QP; both send on the same flow. */
enum roce_half {
	ROCE_REQUESTER,
	ROCE_RESPONDER,
};

/**
 * struct roce_flow - the data that a QP sends, under congestion control
 * @lock: guards all fields that do not say otherwise
 * @limited: the rate is limited; read without the lock
 * @train_bytes: maximum length of a train of data; read without the lock
 * @algorithm: chosen when the QP was created; NULL for datagrams
 * @cc: the algorithm's view
 * @due: earliest departure of the next train, CLOCK_MONOTONIC
 * @behind: a half waited for @due, so lateness is made up for
 * @waiting: halves that were told to wait, a bit each
 * @last: half that sent last
 * @last_cost: nanoseconds that the last train takes at the rate
 * @slowed_by_loss: limited because of a loss, without a CNP since then
 * @departure: departure time of the latest train of each half, if it lies in the
 *	future; belongs to the half's engine
 * @cnp_sent: time of the latest CNP to the peer
 * @cnps_sent: number of CNPs to the peer
 * @cnps_handled: number of CNPs received for this flow
 */
struct roce_flow {
	spinlock_t lock;		/* see @lock above */
	bool limited;
	u32 train_bytes;
	const struct roce_cc_parameters *algorithm;
	struct roce_cc_flow cc;
	u64 due;
	bool behind;
	u8 waiting;
	u8 last;
	u32 last_cost;
	bool slowed_by_loss;
	u64 departure[2];
	u64 cnp_sent;
	u64 cnps_sent;
	u64 cnps_handled;
};

/**
 * struct roce_flow_view - a snapshot of a flow, for operators
 * @algorithm: its name
 * @rate: bits per second; the line rate if there is no limit
 * @limited: the rate is limited
 * @cnps_sent: number of CNPs to the peer
 * @cnps_handled: number of CNPs received for this flow
 * @detail: details of the algorithm
 * @details: number of details
 */
struct roce_flow_view {
	const char *algorithm;
	u64 rate;
	bool limited;
	u64 cnps_sent;
	u64 cnps_handled;
	struct roce_detail detail[ROCE_CC_MAX_DETAILS];
	u32 details;
};

void roce_flow_init(struct roce_qp *qp);
void roce_flow_start(struct roce_qp *qp);
void roce_flow_destroy(struct roce_qp *qp);
bool roce_flow_is_controlled(const struct roce_qp *qp);
u64 roce_flow_throttle(struct roce_qp *qp, enum roce_half half);
void roce_flow_interrupt(struct roce_qp *qp, enum roce_half half);
int roce_flow_send(struct roce_qp *qp, enum roce_half half, struct roce_av *av,
		   struct roce_train *train);
bool roce_flow_notified(struct roce_qp *qp);
void roce_flow_lost(struct roce_qp *qp, enum roce_cc_loss loss);
void roce_flow_acknowledged(struct roce_qp *qp, u64 rtt);
bool roce_flow_look(struct roce_qp *qp, struct roce_flow_view *view);

/* Losses are judged as a share of so many packets at least. */
#define ROCE_LOSS_SPAN	64u

/**
 * roce_is_congestion() - whether losses mean congestion
 * @lost: number of packets lost
 * @sent: number of packets sent
 *
 * A queue that overflows loses many packets together, a bad cable loses single ones.
 * Up to an eighth is no sign of congestion: flows above the capacity of a port lose
 * more.
 */
static inline bool roce_is_congestion(u32 lost, u32 sent)
{
	return 8 * lost > max(sent, ROCE_LOSS_SPAN);
}

static inline bool roce_flow_is_limited(const struct roce_flow *flow)
{
	return READ_ONCE(flow->limited);
}

/**
 * roce_flow_train_bytes() - maximum length of a train of data
 * @flow: of the QP
 *
 * Return: bytes, from BTH to ICRC of all packets. A single packet may be longer.
 */
static inline u32 roce_flow_train_bytes(const struct roce_flow *flow)
{
	return READ_ONCE(flow->train_bytes);
}

/** roce_flow_wants_rtt() - whether the algorithm needs round trip times */
static inline bool roce_flow_wants_rtt(const struct roce_flow *flow)
{
	return flow->algorithm && flow->algorithm->ops->on_ack;
}

/**
 * roce_flow_wait() - time that data has to wait for the rate
 * @qp: the caller owns its @half
 * @flow: its flow
 * @half: the half that wants to send
 *
 * An unlimited flow costs neither a lock nor a look at the clock.
 *
 * Return: nanoseconds, 0 if a train can be sent now.
 */
static inline u64 roce_flow_wait(struct roce_qp *qp,
				 const struct roce_flow *flow,
				 enum roce_half half)
{
	return unlikely(roce_flow_is_limited(flow)) ?
	       roce_flow_throttle(qp, half) : 0;
}

/**
 * roce_flow_held() - how long fq still holds the latest train of a half
 * @flow: the flow
 * @half: owned by the caller
 *
 * Return: nanoseconds, mostly 0.
 */
static inline u64 roce_flow_held(const struct roce_flow *flow, enum roce_half half)
{
	u64 departure = flow->departure[half];

	return departure ? departure - min(departure, ktime_get_ns()) : 0;
}

#endif /* ROCE_FLOW_H */
