// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The reaction point against a model in floating point, which was written from the
 * equations: tools/dcqcn_model.py printed the events of a flow, and the resulting rates
 * and alphas.
 */
#include <kunit/test.h>

#include "dcqcn.h"

#define USEC	1000ull

enum event {
	CNP,
	NAK,
	TIMEOUT,
	SENT,
	LOOK,
};

/* An event and its result; a rate of 0 means no limit. */
struct step {
	u32 microseconds;
	enum event event;
	u32 bytes;
	u64 rate;
	u32 alpha;
};

struct scenario {
	const char *name;
	u64 line_rate;
	u32 packet_bytes;
	u32 first_step;
	u32 steps;
	u32 parameters[DCQCN_PARAMETER_COUNT];
};

#include "dcqcn_vectors.h"

static void happen(struct roce_cc_flow *flow, const struct step *step)
{
	u64 now = step->microseconds * USEC;

	if (flow->rate != ROCE_CC_UNLIMITED)
		roce_dcqcn.on_time(flow, now);
	switch (step->event) {
	case CNP:
		roce_dcqcn.on_cnp(flow, now);
		break;
	case NAK:
		roce_dcqcn.on_loss(flow, now, ROCE_CC_NAK);
		break;
	case TIMEOUT:
		roce_dcqcn.on_loss(flow, now, ROCE_CC_TIMEOUT);
		break;
	case SENT:
		if (flow->rate != ROCE_CC_UNLIMITED)
			roce_dcqcn.on_sent(flow, now, step->bytes);
		break;
	case LOOK:
		break;
	}
}

/* Integers round a little in each step. */
static bool is_close(u64 seen, u64 expected, u64 tolerance)
{
	return (seen > expected ? seen - expected : expected - seen) <= tolerance;
}

static void rate_and_alpha_are_those_of_the_model(struct kunit *test)
{
	const struct scenario *scenario = test->param_value;
	const struct step *steps = dcqcn_steps + scenario->first_step;
	struct roce_cc_flow flow = {
		.parameters = scenario->parameters,
		.line_rate = scenario->line_rate,
		.packet_bytes = scenario->packet_bytes,
		.rate = ROCE_CC_UNLIMITED,
	};
	u32 i;

	for (i = 0; i < scenario->steps; i++) {
		u64 expected = steps[i].rate ?: ROCE_CC_UNLIMITED;

		happen(&flow, &steps[i]);
		KUNIT_EXPECT_TRUE_MSG(test,
				      is_close(flow.rate, expected,
					       expected / 2000),
				      "%u us: rate %llu instead of %llu",
				      steps[i].microseconds, flow.rate, expected);
		KUNIT_EXPECT_TRUE_MSG(test,
				      is_close(dcqcn(&flow)->alpha,
					       steps[i].alpha, 128),
				      "%u us: alpha %u instead of %u",
				      steps[i].microseconds,
				      dcqcn(&flow)->alpha, steps[i].alpha);
	}
}

static void initial_parameters(u32 *parameters)
{
	u32 i;

	for (i = 0; i < DCQCN_PARAMETER_COUNT; i++)
		parameters[i] = roce_dcqcn.parameters[i].initial;
}

static void initial_values_lie_in_their_ranges(struct kunit *test)
{
	u32 i;

	KUNIT_ASSERT_EQ(test, roce_dcqcn.parameter_count, DCQCN_PARAMETER_COUNT);
	for (i = 0; i < DCQCN_PARAMETER_COUNT; i++) {
		const struct roce_cc_parameter *p = &roce_dcqcn.parameters[i];

		KUNIT_EXPECT_NOT_NULL(test, p->name);
		KUNIT_EXPECT_GE_MSG(test, p->initial, p->minimum, "%s", p->name);
		KUNIT_EXPECT_LE_MSG(test, p->initial, p->maximum, "%s", p->name);
	}
}

static struct roce_cc_flow new_flow(const u32 *parameters, u64 line_rate)
{
	return (struct roce_cc_flow) {
		.parameters = parameters,
		.line_rate = line_rate,
		.packet_bytes = 1090,
		.rate = ROCE_CC_UNLIMITED,
	};
}

/* Full packets, 100 microseconds apart */
static void send(struct roce_cc_flow *flow, u64 *now, u32 packets)
{
	while (packets--) {
		*now += 100 * USEC;
		if (flow->rate != ROCE_CC_UNLIMITED)
			roce_dcqcn.on_sent(flow, *now, flow->packet_bytes);
	}
}

/* Sends packets until the next increase by time; returns its time. */
static u64 await_increase(struct roce_cc_flow *flow, u64 *now)
{
	u16 events = dcqcn(flow)->time_events;

	while (flow->rate != ROCE_CC_UNLIMITED &&
	       dcqcn(flow)->time_events == events)
		send(flow, now, 1);
	return dcqcn(flow)->increase_period.start;
}

/*
 * With the value 0 they are 1/5000 and 1/500 of the line rate, or of rpg_max_rate, and
 * at least 1 Mbit/s.
 */
static void increases_scale_with_the_line_rate(struct kunit *test)
{
	static const struct {
		u64 line;
		u32 max_rate;
		u64 increase;
	} lines[] = {
		{ 100000000, 0, 1000000 },
		{ 25000000000ull, 0, 5000000 },
		{ 400000000000ull, 0, 80000000 },
		{ 400000000000ull, 50000, 10000000 },
	};
	u32 parameters[DCQCN_PARAMETER_COUNT];
	u32 i;

	initial_parameters(parameters);
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		struct roce_cc_flow flow = new_flow(parameters, lines[i].line);
		u64 now = 10 * USEC, target;

		parameters[DCQCN_RPG_MAX_RATE] = lines[i].max_rate;
		roce_dcqcn.on_cnp(&flow, now);
		await_increase(&flow, &now);
		roce_dcqcn.on_cnp(&flow, now);
		target = dcqcn(&flow)->target;
		await_increase(&flow, &now);
		KUNIT_EXPECT_EQ(test, dcqcn(&flow)->target, target);
		await_increase(&flow, &now);
		KUNIT_EXPECT_EQ(test, dcqcn(&flow)->target - target,
				lines[i].increase);
	}
}

/* 320 packets, ten of each of 32 flows, if that is longer than rpg_time_reset */
static void periods_scale_with_the_line_rate(struct kunit *test)
{
	static const struct {
		u64 line;
		u32 max_rate;
		u64 length;
	} lines[] = {
		{ 400000000000ull, 0, 300 * USEC },
		{ 10000000000ull, 0, 300 * USEC },
		{ 1000000000, 0, 320 * 1090 * 8 },
		{ 100000000, 0, 320 * 1090 * 80 },
		{ 10000000000ull, 100, 320 * 1090 * 80 },
	};
	u32 parameters[DCQCN_PARAMETER_COUNT];
	u32 i;

	initial_parameters(parameters);
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		struct roce_cc_flow flow = new_flow(parameters, lines[i].line);
		u64 now = 10 * USEC, begin = now;

		parameters[DCQCN_RPG_MAX_RATE] = lines[i].max_rate;
		roce_dcqcn.on_cnp(&flow, now);
		roce_dcqcn.on_sent(&flow, now, 10 * flow.packet_bytes);
		KUNIT_EXPECT_EQ(test, await_increase(&flow, &now) - begin,
				lines[i].length);
	}
}

/* A flow with a 32nd of the line gains as often as one with nearly all of it. */
static void slow_flows_gain_as_often_as_fast_ones(struct kunit *test)
{
	const u64 packet_time = 1090 * 8 * 10;	/* at 100 Mbit/s */
	u64 flow_time[2] = { packet_time, 32 * packet_time };
	u32 parameters[DCQCN_PARAMETER_COUNT];
	u32 i;

	initial_parameters(parameters);
	for (i = 0; i < ARRAY_SIZE(flow_time); i++) {
		struct roce_cc_flow flow = new_flow(parameters, 100000000);
		u64 now = 1;

		roce_dcqcn.on_cnp(&flow, now);
		while (now < 1 + 5 * 320 * packet_time)
			roce_dcqcn.on_sent(&flow, now += flow_time[i],
					   flow.packet_bytes);
		KUNIT_EXPECT_EQ(test, dcqcn(&flow)->time_events, 5);
	}
}

static void the_extremes_do_not_overflow(struct kunit *test)
{
	u32 parameters[DCQCN_PARAMETER_COUNT];
	struct roce_cc_flow flow = {
		.parameters = parameters,
		.line_rate = ROCE_CC_MAX_RATE,
		.packet_bytes = U16_MAX,
		.rate = ROCE_CC_UNLIMITED,
	};
	u64 now = 1, before;
	u32 i, end;

	for (end = 0; end < 2; end++) {
		for (i = 0; i < DCQCN_PARAMETER_COUNT; i++)
			parameters[i] = end ? roce_dcqcn.parameters[i].maximum :
					      roce_dcqcn.parameters[i].minimum;
		flow.rate = ROCE_CC_UNLIMITED;
		roce_dcqcn.on_cnp(&flow, now);
		for (i = 0; i < 2000; i++) {
			before = flow.rate;
			roce_dcqcn.on_cnp(&flow, now += 7 * USEC);
			if (flow.rate != ROCE_CC_UNLIMITED)
				KUNIT_EXPECT_LE(test, flow.rate, ROCE_CC_MAX_RATE);
			if (before != ROCE_CC_UNLIMITED)
				roce_dcqcn.on_sent(&flow, now, 65000 * end + 100);
			KUNIT_EXPECT_GT(test, flow.rate, 0);
		}
		KUNIT_EXPECT_LE(test, dcqcn(&flow)->alpha,
				1u << DCQCN_ALPHA_BITS);
		now += NSEC_PER_SEC;
	}
}

KUNIT_ARRAY_PARAM_DESC(scenario, dcqcn_scenarios, name);

static struct kunit_case dcqcn_cases[] = {
	KUNIT_CASE_PARAM(rate_and_alpha_are_those_of_the_model,
			 scenario_gen_params),
	KUNIT_CASE(initial_values_lie_in_their_ranges),
	KUNIT_CASE(increases_scale_with_the_line_rate),
	KUNIT_CASE(periods_scale_with_the_line_rate),
	KUNIT_CASE(slow_flows_gain_as_often_as_fast_ones),
	KUNIT_CASE(the_extremes_do_not_overflow),
	{}
};

static struct kunit_suite dcqcn_suite = {
	.name = "roce_dcqcn",
	.test_cases = dcqcn_cases,
};

kunit_test_suite(dcqcn_suite);
