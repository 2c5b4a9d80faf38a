// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The flow of a queue pair: what happens to it is told to its algorithm, and
 * the rate that the algorithm sets is kept.
 *
 * All data that a QP sends, request packets of its requester and READ responses
 * of its responder, is one flow with one rate. @due is when its next train may
 * leave; each train moves it on by the time that its bytes take at the rate.
 * Who comes too early waits for a timer of his own half, and if the rate
 * changes meanwhile, the time that is left shrinks or grows with it. No wait is
 * longer than MAX_WAIT, and no train longer than TRAIN_TIME allows, so that
 * neither is bound to a rate of the past.
 *
 *	     now       now + AHEAD
 *	------|-------------|---------------------> time
 *	   due: send now    |
 *	           due: send with that departure time, if fq will hold it
 *	                      due: wait
 *
 * The two halves run on different CPUs, each with its own owner. They meet at
 * the flow's lock, but only if the flow is limited. Under it the clock is read,
 * so that for the algorithm time does not go back.
 */
#include <linux/etherdevice.h>
#include <linux/math64.h>
#include <net/inet_ecn.h>
#include <net/sch_generic.h>
#include <net/udp.h>

#include "cc.h"
#include "congestion.h"
#include "counters.h"
#include "qp.h"
#include "roce_wire.h"
#include "trace.h"
#include "train.h"

/* How far ahead of its departure time a train is handed to fq */
#define AHEAD		NSEC_PER_MSEC

/* Trains of a limited flow are no longer than this, but for a single packet. */
#define TRAIN_TIME	(NSEC_PER_MSEC / 2)

#define MAX_WAIT	NSEC_PER_MSEC

/* What a late timer has lost is made up for, up to this. */
#define MAX_BEHIND	(20 * NSEC_PER_MSEC)

/* What stands in front of each packet of a train on an Ethernet */
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

/* The algorithm may have set another rate. */
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

/* Let the algorithm know that time has passed. */
static void pass_time(struct roce_qp *qp, u64 now)
{
	struct roce_flow *flow = &qp->flow;
	u64 before = flow->cc.rate;

	if (flow->limited && flow->algorithm->ops->on_time) {
		flow->algorithm->ops->on_time(&flow->cc, now);
		follow_rate(qp, before, now);
	}
}

/* Of the netdev that has our address; what is below a VLAN does not count. */
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

/* The other half waits as well, and this one had the last turn. */
static bool gives_way(struct roce_flow *flow, enum roce_half half)
{
	u8 others = flow->waiting & ~BIT(half);

	if (!others || flow->last != half)
		return false;
	/* Once: who has changed his mind does not come. */
	flow->waiting &= BIT(half);
	return true;
}

/**
 * roce_flow_throttle() - how long data of a limited flow has to wait
 * @qp: of which @half is owned by the caller
 * @half: that wants to send
 *
 * BH disabled, RCU read side. What can be sent now has to be sent by
 * roce_flow_send(), in a train of at most roce_flow_train_bytes().
 *
 * Return: nanoseconds after which to ask again, 0 if a train can be sent now.
 */
u64 roce_flow_throttle(struct roce_qp *qp, enum roce_half half)
{
	u64 ahead = egress_is_fq(qp) ? AHEAD : 0;
	struct roce_flow *flow = &qp->flow;
	u64 wait = 0;
	u64 now;

	spin_lock_bh(&flow->lock);
	now = ktime_get_ns();
	pass_time(qp, now);
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
 * roce_flow_interrupt() - a half of a limited flow stops for another reason than rate
 * @qp: of which @half is owned by the caller
 * @half: that has nothing to send, or waits for the peer, the netdev or memory
 *
 * BH disabled. What it does not send from now on is not made up for: that is for
 * timers of the pacer that are late.
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

/* The turn of a train: when it may leave, and the time that it takes. */
static u64 take_turn(struct roce_flow *flow, enum roce_half half, u32 bytes,
		     u64 now)
{
	u64 departure;

	/* Time that nobody has waited in is lost. */
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
	err = qp->dev->send(qp, av, train);

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
 * fq sends in the order of departure times, and a train without one at once.
 * It must not overtake a train of the same half that waits there.
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
	/* A CNP may come while the path changes: it counts for either one. */
	u8 priority = data_race(READ_ONCE(qp->av.priority));

	return algorithm && (algorithm->ops->on_cnp || algorithm->ops->on_ack) &&
	       READ_ONCE(qp->dev->congestion.priorities) & BIT(priority);
}

/**
 * roce_flow_send() - send a train of a QP
 * @qp: of which @half is owned by the caller
 * @half: whose train it is
 * @av: where it goes
 * @train: consumed; with its data flag, it counts against the rate
 *
 * BH disabled, RCU read side. Data whose algorithm reacts to notifications is
 * marked as ECN-capable, and what else a controlled flow sends is not (RFC 3168,
 * and annex A17 of the IBA specification). Without congestion control the
 * codepoint is what the consumer has put into the traffic class.
 *
 * Return: what the device's send function returns.
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
	return qp->dev->send(qp, av, train);
}

/**
 * roce_flow_notified() - a CNP came for what a QP sends
 * @qp: the QP
 *
 * Softirq context, RCU read side.
 *
 * Return: false if nobody reacts to it.
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
 * roce_flow_lost() - something that a QP has sent was lost
 * @qp: the QP
 * @loss: how that was noticed
 *
 * BH disabled. A network that does not mark must not collapse either.
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
 * roce_flow_look() - what operators may know of a flow
 * @qp: the QP
 * @view: to be filled in
 *
 * RCU read side, which keeps the names that @view points to: those of a module,
 * perhaps. Any context but that of an interrupt.
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
 * roce_flow_init() - give a QP a flow
 * @qp: new, of a known type
 *
 * Process context. Datagrams go wherever, so they are no flow.
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
 * roce_flow_destroy() - let go of the algorithm
 * @qp: nobody uses it any more; operators may still look
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
