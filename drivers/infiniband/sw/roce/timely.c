// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * TIMELY: Mittal et al., "TIMELY: RTT-based Congestion Control for the
 * Datacenter", SIGCOMM 2015. An example of an algorithm in a module of its own: it
 * uses nothing of the driver but cc.h.
 *
 * A queue shows in the round trip time long before it overflows, and its growth
 * shows in the gradient of that time:
 *
 *	rtt < t_low			rate + delta
 *	rtt > t_high			rate * (1 - beta * (1 - t_high / rtt))
 *	between, shrinking		rate + delta, after a while 5 * delta
 *	between, growing		rate * (1 - beta * gradient)
 *
 * It needs neither marks nor notifications, and does not react to them.
 */
#include <linux/math64.h>
#include <linux/module.h>

#include "cc.h"

/* The step becomes longer after so many round trips in a row that did not grow. */
#define CALM_ROUND_TRIPS	5
#define LONG_STEP		5

#define MBIT			1000000ull

enum timely_parameter {
	T_LOW,
	T_HIGH,
	MIN_RTT,
	DELTA,
	BETA,
	WEIGHT,
	MIN_RATE,
	PARAMETER_COUNT,
};

/*
 * The paper has 50, 500 and 20 microseconds, measured by an adapter. Software
 * measures interrupts and softirqs as well.
 */
static const struct roce_cc_parameter parameters[PARAMETER_COUNT] = {
	[T_LOW] = { "t_low", 1, 1000000, 200 },			/* us */
	[T_HIGH] = { "t_high", 1, 1000000, 2000 },		/* us */
	[MIN_RTT] = { "min_rtt", 1, 1000000, 100 },		/* us */
	[DELTA] = { "delta", 1, 100000, 10 },			/* Mbit/s */
	[BETA] = { "beta", 1, 1024, 819 },			/* 1/1024 */
	[WEIGHT] = { "weight", 1, 1024, 896 },			/* 1/1024 */
	[MIN_RATE] = { "min_rate", 1, 4000000, 1 },		/* Mbit/s */
};

/**
 * struct timely - state of a flow
 * @rtt: the latest round trip time, nanoseconds; 0 before the first one
 * @difference: moving average of the change from one round trip time to the next
 * @updated: time of the latest change of the rate, nanoseconds
 * @calm: round trips in a row that did not get longer
 */
struct timely {
	u64 rtt;
	s64 difference;
	u64 updated;
	u32 calm;
};

static struct timely *state(struct roce_cc_flow *flow)
{
	BUILD_BUG_ON(sizeof(struct timely) > sizeof(flow->state));
	return (struct timely *)flow->state;
}

static u64 parameter(const struct roce_cc_flow *flow, enum timely_parameter which)
{
	return READ_ONCE(flow->parameters[which]);
}

static u64 microseconds(const struct roce_cc_flow *flow,
			enum timely_parameter which)
{
	return parameter(flow, which) * NSEC_PER_USEC;
}

static void set_rate(struct roce_cc_flow *flow, u64 rate)
{
	rate = max(rate, parameter(flow, MIN_RATE) * MBIT);
	flow->rate = rate < flow->line_rate ? rate : ROCE_CC_UNLIMITED;
}

/* Lower the rate by a share; @share and beta are in 1/1024. */
static void decrease(struct roce_cc_flow *flow, u64 share)
{
	u64 beta = parameter(flow, BETA);

	state(flow)->calm = 0;
	set_rate(flow, flow->rate - ((flow->rate * beta >> 10) * share >> 10));
}

static void step_up(struct roce_cc_flow *flow)
{
	u64 delta = parameter(flow, DELTA) * MBIT;

	if (state(flow)->calm >= CALM_ROUND_TRIPS)
		delta *= LONG_STEP;
	set_rate(flow, flow->rate + delta);
}

static void follow_gradient(struct roce_cc_flow *flow)
{
	struct timely *s = state(flow);
	u64 share;

	if (s->difference <= 0) {
		s->calm++;
		step_up(flow);
		return;
	}
	share = div64_u64((u64)s->difference << 10, microseconds(flow, MIN_RTT));
	decrease(flow, min(share, 1024));
}

static void set_rate_for(struct roce_cc_flow *flow, u64 rtt)
{
	u64 t_high = microseconds(flow, T_HIGH);

	if (rtt < microseconds(flow, T_LOW))
		step_up(flow);
	else if (rtt > t_high)
		decrease(flow, div64_u64((rtt - t_high) << 10, rtt));
	else
		follow_gradient(flow);
}

static void on_ack(struct roce_cc_flow *flow, u64 now, u64 rtt)
{
	s64 weight = parameter(flow, WEIGHT);
	struct timely *s = state(flow);

	if (s->rtt)
		s->difference = div_s64((1024 - weight) * s->difference +
					weight * ((s64)rtt - (s64)s->rtt), 1024);
	s->rtt = rtt;
	if (flow->rate == ROCE_CC_UNLIMITED) {
		if (rtt <= microseconds(flow, T_HIGH))
			return;
		flow->rate = flow->line_rate;
	}
	/* React at most once per round trip: older packets do not know the new rate. */
	if (now - s->updated < rtt)
		return;
	s->updated = now;
	set_rate_for(flow, rtt);
}

static void on_loss(struct roce_cc_flow *flow, u64 now, enum roce_cc_loss loss)
{
	if (flow->rate == ROCE_CC_UNLIMITED)
		flow->rate = flow->line_rate;
	state(flow)->updated = now;
	state(flow)->calm = 0;
	set_rate(flow, flow->rate / 2);
}

static struct roce_cc_ops timely = {
	.name = "timely",
	.owner = THIS_MODULE,
	.parameters = parameters,
	.parameter_count = PARAMETER_COUNT,
	.on_ack = on_ack,
	.on_loss = on_loss,
};

static int __init timely_init(void)
{
	return roce_cc_register(&timely);
}

static void __exit timely_exit(void)
{
	roce_cc_unregister(&timely);
}

module_init(timely_init);
module_exit(timely_exit);

MODULE_DESCRIPTION("TIMELY, a congestion control algorithm for roce");
MODULE_AUTHOR("The roce authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS("roce-cc-timely");
