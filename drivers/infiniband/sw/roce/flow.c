// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The flow of a QP: reports events to its algorithm, and enforces the rate that
 * the algorithm sets.
 *
 * All data that a QP sends, request packets of its requester and READ responses
 * of its responder, is one flow with one rate. @due is the earliest departure of
 * its next train; each train moves it on by the time that its bytes take at the
 * rate. A half that is too early waits for its own timer. If the rate changes
 * meanwhile, the rest of the wait is scaled. A wait lasts MAX_WAIT at most, and
 * a train TRAIN_TIME at most, so that neither is bound to an old rate for long.
 *
 *	     now       now + AHEAD
 *	------|-------------|---------------------> time
 *	   due: send now    |
 *	           due: send with that departure time, if fq will hold it
 *	                      due: wait
 *
 * The two halves run on different CPUs, each with its own owner. They share the
 * flow's lock, but only if the flow is limited. The clock is read under the lock,
 * so that time does not go back for the algorithm.
 */
#include <linux/etherdevice.h>
#include <linux/math64.h>
#include <net/inet_ecn.h>
#include <net/sch_generic.h>
#include <net/udp.h>

#include "cc.h"
#include "cc_parameters.h"
#include "congestion.h"
#include "counters.h"
#include "flow.h"
#include "qp.h"
#include "roce_wire.h"
#include "send.h"
#include "trace.h"
#include "train.h"

/* A train is handed to fq at most so long before its departure time. */
#define AHEAD		NSEC_PER_MSEC

/* The longest train of a limited flow, except for a single packet */
#define TRAIN_TIME	(NSEC_PER_MSEC / 2)

#define MAX_WAIT	NSEC_PER_MSEC

/* Delays by late timers are made up for, up to this. */
#define MAX_BEHIND	(20 * NSEC_PER_MSEC)

/* Header bytes in front of each packet of a train on Ethernet */
static u32 header_bytes(const struct roce_av *av)
{
	return ETH_HLEN + sizeof(struct udphdr) +
	       (av->ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
}

static u64 transmit_time(const struct roce_flow *flow, u64 bytes)
{
	return div64_u64(bytes * 8 * NSEC_PER_SEC, flow->cc.rate);
}

static u32 train_bytes(u64 rate)
{
	return min_t(u64, div_u64(rate, 8 * NSEC_PER_SEC / TRAIN_TIME),
		     ROCE_TRAIN_MAX_BYTES);
}

/* Adapt to the rate, if the algorithm has changed it. */
static void follow_rate(struct roce_qp *qp, u64 before, u64 now)
{
	struct roce_flow *flow = &qp->flow;
	u64 rate = flow->cc.rate;

	if (rate == before)
		return;
	trace_roce_rate_change(qp, before, rate);
	if (rate == ROCE_CC_UNLIMITED) {
		flow->slowed_by_loss = false;
		flow->due = now;
	} else if (before == ROCE_CC_UNLIMITED) {
		flow->due = now;
		flow->waiting = 0;
		flow->behind = false;
	} else if (flow->due > now) {
		flow->due = now + mul_u64_u64_div_u64(flow->due - now, before,
						      rate);
	}
	WRITE_ONCE(flow->train_bytes, train_bytes(rate));
	WRITE_ONCE(flow->limited, rate != ROCE_CC_UNLIMITED);
}

/* Tell the algorithm that time has passed. */
static void pass_time(struct roce_qp *qp, u64 now)
{
	struct roce_flow *flow = &qp->flow;
	u64 before = flow->cc.rate;

	if (flow->limited && flow->algorithm->ops->on_time) {
		flow->algorithm->ops->on_time(&flow->cc, now);
		follow_rate(qp, before, now);
	}
}

static bool is_on_for_priority(const struct roce_qp *qp)
{
	/* Racy: the path may change during a CNP, which counts for either path. */
	u8 priority = data_race(READ_ONCE(qp->av.priority));

	return READ_ONCE(qp->dev->congestion.priorities) & BIT(priority);
}

/* For the priority it was switched off: nothing else tells the algorithm. */
static void set_free(struct roce_qp *qp, u64 now)
{
	struct roce_flow *flow = &qp->flow;
	u64 before = flow->cc.rate;

	flow->cc.rate = ROCE_CC_UNLIMITED;
	follow_rate(qp, before, now);
}

/* Looks at the netdev that has our address, not at a netdev below a VLAN. */
static bool egress_is_fq(const struct roce_qp *qp)
{
	const struct net_device *netdev;
	struct netdev_queue *queue;

	netdev = rcu_dereference(qp->av.sgid_attr->ndev);
	if (!netdev)
		return false;
	queue = netdev_get_tx_queue(netdev, 0);
	return !strcmp(rcu_dereference(queue->qdisc)->ops->id, "fq");
}

/* Yield if this half sent last and the other half waits, too. */
static bool gives_way(struct roce_flow *flow, enum roce_half half)
{
	u8 others = flow->waiting & ~BIT(half);

	if (!others || flow->last != half)
		return false;
	/* Yield only once: the other half may no longer want to send. */
	flow->waiting &= BIT(half);
	return true;
}

/**
 * roce_flow_throttle() - time that data of a limited flow has to wait
 * @qp: the caller owns its @half
 * @half: the half that wants to send
 *
 * BH disabled, RCU read side. If it returns 0, the caller must send by
 * roce_flow_send(), a train of at most roce_flow_train_bytes().
 *
 * Return: nanoseconds until the next attempt, 0 if a train can be sent now.
 */
u64 roce_flow_throttle(struct roce_qp *qp, enum roce_half half)
{
	u64 ahead = egress_is_fq(qp) ? AHEAD : 0;
	struct roce_flow *flow = &qp->flow;
	u64 wait = 0;
	u64 now;

	spin_lock_bh(&flow->lock);
	now = ktime_get_ns();
	if (is_on_for_priority(qp))
		pass_time(qp, now);
	else
		set_free(qp, now);
	if (flow->limited) {
		if (flow->due > now + ahead)
			wait = min(flow->due - now - ahead, MAX_WAIT);
		else if (gives_way(flow, half))
			wait = clamp(flow->last_cost, 1, MAX_WAIT);
	}
	if (wait) {
		flow->waiting |= BIT(half);
		flow->behind = true;
	}
	spin_unlock_bh(&flow->lock);
	return wait;
}

/**
 * roce_flow_interrupt() - a half of a limited flow stops, but not for the rate
 * @qp: the caller owns its @half
 * @half: has nothing to send, or waits for the peer, the netdev or memory
 *
 * BH disabled. This pause is not made up for later; only delays by late timers of
 * the pacer are.
 */
void roce_flow_interrupt(struct roce_qp *qp, enum roce_half half)
{
	struct roce_flow *flow = &qp->flow;

	spin_lock_bh(&flow->lock);
	if (flow->waiting & BIT(half) || flow->last == half) {
		flow->waiting &= ~BIT(half);
		flow->behind = flow->waiting && flow->behind;
	}
	spin_unlock_bh(&flow->lock);
}

/* Account a train and return its departure time. */
static u64 take_turn(struct roce_flow *flow, enum roce_half half, u32 bytes,
		     u64 now)
{
	u64 departure;

	/* Only time spent waiting for the rate is made up for. */
	if (!flow->behind)
		flow->due = max(flow->due, now);
	flow->due = max(flow->due + MAX_BEHIND, now) - MAX_BEHIND;
	departure = flow->due;
	flow->last_cost = transmit_time(flow, bytes);
	flow->due += flow->last_cost;
	flow->behind = flow->due <= now;
	flow->waiting &= ~BIT(half);
	flow->last = half;
	return departure;
}

static int send_limited(struct roce_qp *qp, enum roce_half half,
			struct roce_av *av, struct roce_train *train)
{
	u32 bytes = train->bytes + train->packets * header_bytes(av);
	struct roce_flow *flow = &qp->flow;
	u64 departure = 0, before, now;
	u32 unsent = 0;
	int err;

	spin_lock_bh(&flow->lock);
	now = ktime_get_ns();
	if (flow->limited)
		departure = take_turn(flow, half, bytes, now);
	spin_unlock_bh(&flow->lock);

	if (departure > now)
		train->departure = max(train->departure, departure);
	if (train->departure > now)
		flow->departure[half] = train->departure;
	err = roce_send(qp, av, train);

	if (err == -EAGAIN)
		unsent = mul_u64_u32_div(bytes, train->packets - train->sent,
					 train->packets);
	spin_lock_bh(&flow->lock);
	now = ktime_get_ns();
	before = flow->cc.rate;
	if (flow->limited) {
		flow->due -= min(flow->due, transmit_time(flow, unsent));
		if (flow->algorithm->ops->on_sent)
			flow->algorithm->ops->on_sent(&flow->cc, now,
						      bytes - unsent);
		follow_rate(qp, before, now);
	}
	spin_unlock_bh(&flow->lock);
	return err;
}

/*
 * fq sends in the order of departure times, and a train without one at once. Such
 * a train must not overtake an earlier train of the same half.
 */
static void keep_order(struct roce_flow *flow, enum roce_half half,
		       struct roce_train *train)
{
	if (likely(!flow->departure[half]))
		return;
	if (flow->departure[half] <= ktime_get_ns())
		flow->departure[half] = 0;
	else
		train->departure = flow->departure[half];
}

/**
 * roce_flow_is_controlled() - whether congestion control is on for a QP
 * @qp: the QP
 *
 * Any context.
 */
bool roce_flow_is_controlled(const struct roce_qp *qp)
{
	const struct roce_cc_parameters *algorithm = qp->flow.algorithm;

	return algorithm && (algorithm->ops->on_cnp || algorithm->ops->on_ack) &&
	       is_on_for_priority(qp);
}

/**
 * roce_flow_send() - send a train of a QP
 * @qp: the caller owns its @half
 * @half: the sending half
 * @av: destination
 * @train: consumed; if it is marked as data, it counts against the rate
 *
 * BH disabled, RCU read side. Data is marked as ECN-capable if its algorithm reacts
 * to notifications. Other trains of a controlled flow are not (RFC 3168, and annex
 * A17 of the IBA specification). Without congestion control the consumer chooses
 * the codepoint by the traffic class.
 *
 * Return: see roce_send().
 */
int roce_flow_send(struct roce_qp *qp, enum roce_half half, struct roce_av *av,
		   struct roce_train *train)
{
	struct roce_flow *flow = &qp->flow;
	bool capable;

	if (roce_flow_is_controlled(qp)) {
		capable = train->data && flow->algorithm->ops->on_cnp;
		roce_train_set_ecn(train, capable ? INET_ECN_ECT_0 :
						    INET_ECN_NOT_ECT);
	}
	keep_order(flow, half, train);
	if (unlikely(roce_flow_is_limited(flow)) && train->data)
		return send_limited(qp, half, av, train);
	return roce_send(qp, av, train);
}

/**
 * roce_flow_notified() - handle a CNP for the data of a QP
 * @qp: the QP
 *
 * Softirq context, RCU read side.
 *
 * Return: false if the algorithm does not react to CNPs.
 */
bool roce_flow_notified(struct roce_qp *qp)
{
	struct roce_flow *flow = &qp->flow;
	u64 before, now;

	if (!roce_flow_is_controlled(qp) || !flow->algorithm->ops->on_cnp)
		return false;
	spin_lock_bh(&flow->lock);
	now = ktime_get_ns();
	before = flow->cc.rate;
	flow->cnps_handled++;
	flow->slowed_by_loss = false;
	flow->algorithm->ops->on_cnp(&flow->cc, now);
	follow_rate(qp, before, now);
	spin_unlock_bh(&flow->lock);
	return true;
}

/**
 * roce_flow_lost() - handle the loss of data of a QP
 * @qp: the QP
 * @loss: how the loss was noticed
 *
 * BH disabled. Also for algorithms that react to marks: a network may not mark.
 */
void roce_flow_lost(struct roce_qp *qp, enum roce_cc_loss loss)
{
	struct roce_flow *flow = &qp->flow;
	u64 before, now;

	if (!roce_flow_is_controlled(qp) || !flow->algorithm->ops->on_loss)
		return;
	spin_lock_bh(&flow->lock);
	now = ktime_get_ns();
	before = flow->cc.rate;
	flow->algorithm->ops->on_loss(&flow->cc, now, loss);
	follow_rate(qp, before, now);
	roce_count(qp, roce_slow_restart_cnps);
	if (loss == ROCE_CC_TIMEOUT)
		roce_count(qp, roce_slow_restart);
	if (flow->limited && !flow->slowed_by_loss) {
		flow->slowed_by_loss = true;
		roce_count(qp, roce_slow_restart_trans);
	}
	spin_unlock_bh(&flow->lock);
}

/**
 * roce_flow_acknowledged() - a round trip was measured
 * @qp: its requester is owned by the caller
 * @rtt: nanoseconds from the departure of a packet to its acknowledgment
 */
void roce_flow_acknowledged(struct roce_qp *qp, u64 rtt)
{
	struct roce_flow *flow = &qp->flow;
	u64 before, now;

	if (!roce_flow_is_controlled(qp) || !flow->algorithm->ops->on_ack)
		return;
	spin_lock_bh(&flow->lock);
	now = ktime_get_ns();
	before = flow->cc.rate;
	flow->algorithm->ops->on_ack(&flow->cc, now, rtt);
	follow_rate(qp, before, now);
	spin_unlock_bh(&flow->lock);
}

/**
 * roce_flow_look() - get a snapshot of a flow for operators
 * @qp: the QP
 * @view: to be filled in
 *
 * RCU read side, which keeps the names that @view points to: they may belong to a
 * module. Not in hard interrupt context.
 *
 * Return: false if the QP has no flow.
 */
bool roce_flow_look(struct roce_qp *qp, struct roce_flow_view *view)
{
	struct roce_flow *flow = &qp->flow;
	const struct roce_cc_ops *ops;

	spin_lock_bh(&flow->lock);
	if (!flow->algorithm) {
		spin_unlock_bh(&flow->lock);
		return false;
	}
	ops = flow->algorithm->ops;
	*view = (struct roce_flow_view) {
		.algorithm = ops->name,
		.rate = min(flow->cc.rate, flow->cc.line_rate),
		.limited = flow->limited,
		.cnps_sent = flow->cnps_sent,
		.cnps_handled = flow->cnps_handled,
	};
	if (ops->details)
		view->details = ops->details(&flow->cc, view->detail);
	spin_unlock_bh(&flow->lock);
	return true;
}

/**
 * roce_flow_init() - initialize the flow of a QP
 * @qp: new, of a known type
 *
 * Process context. A datagram QP sends to many destinations and has no flow.
 */
void roce_flow_init(struct roce_qp *qp)
{
	spin_lock_init(&qp->flow.lock);
	if (!roce_qp_is_datagram(qp))
		qp->flow.algorithm = roce_cc_get(qp->dev);
	qp->flow.cc.rate = ROCE_CC_UNLIMITED;
	qp->flow.train_bytes = train_bytes(ROCE_CC_UNLIMITED);
}

/**
 * roce_flow_start() - begin anew, unlimited
 * @qp: both engines are owned by the caller; its path is known
 */
void roce_flow_start(struct roce_qp *qp)
{
	struct roce_flow *flow = &qp->flow;

	if (!flow->algorithm)
		return;
	spin_lock_bh(&flow->lock);
	WRITE_ONCE(flow->limited, false);
	WRITE_ONCE(flow->train_bytes, train_bytes(ROCE_CC_UNLIMITED));
	flow->due = 0;
	flow->slowed_by_loss = false;
	flow->cnp_sent = 0;
	flow->cnps_sent = 0;
	flow->cnps_handled = 0;
	flow->cc = (struct roce_cc_flow) {
		.parameters = flow->algorithm->value,
		.line_rate = READ_ONCE(qp->dev->congestion.line_rate),
		.packet_bytes = header_bytes(&qp->av) + sizeof(struct roce_bth) +
				qp->mtu + ROCE_ICRC_SIZE,
		.rate = ROCE_CC_UNLIMITED,
	};
	if (flow->algorithm->ops->init)
		flow->algorithm->ops->init(&flow->cc, ktime_get_ns());
	follow_rate(qp, ROCE_CC_UNLIMITED, ktime_get_ns());
	spin_unlock_bh(&flow->lock);
}

/**
 * roce_flow_destroy() - release the algorithm of a flow
 * @qp: unused, except by roce_flow_look()
 */
void roce_flow_destroy(struct roce_qp *qp)
{
	const struct roce_cc_parameters *algorithm = qp->flow.algorithm;

	spin_lock_bh(&qp->flow.lock);
	qp->flow.algorithm = NULL;
	spin_unlock_bh(&qp->flow.lock);
	if (algorithm)
		roce_cc_put(algorithm);
}
