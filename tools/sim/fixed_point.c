// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The equilibrium of DCQCN, where each flow has its fair share: which share p of
 * the packets is marked then? Two answers.
 *
 * The fluid model (Zhu et al., "ECN or Delay", CoNEXT 2016), with all derivatives
 * zero: p solves
 *
 *	A^2 * alpha / ((b + d) * (c + e)) = tau^2 * R_AI * R_C
 *
 * whose left side grows with p. It puts means into products, and has CNPs at an even
 * distance.
 *
 * Cycles, from one CNP to the next: a cut leaves a gap of R_C * alpha / 2 between
 * target and rate, each increase halves the gap, and additive ones raise the target
 * before. The next cut makes the rate of then the target. In equilibrium what the
 * target has gained is what the gap still is, in the mean over all cycles. They are
 * as long as a receiver waits after a CNP, and then until a packet is marked.
 */
#include <math.h>

#include "fixed_point.h"

/* Probability that one of @packets is marked */
static double any(double p, double packets)
{
	return -expm1(packets * log1p(-p));
}

/* Increases per packet of a counter that takes @packets without a mark */
static double increases(double p, double packets)
{
	return p / expm1(-packets * log1p(-p));
}

static double fluid_excess(const struct fluid *fluid, double p)
{
	double timer = fluid->increase_period * fluid->share;
	double bytes = fluid->increase_packets;
	double a = any(p, fluid->cnp_interval * fluid->share);
	double b = bytes ? increases(p, bytes) : 0;
	double c = bytes ? b * pow(1 - p, fluid->threshold * bytes) : 0;
	double d = increases(p, timer);
	double e = d * pow(1 - p, fluid->threshold * timer);

	return a * a * any(p, fluid->alpha_period * fluid->share) / ((b + d) * (c + e)) -
	       fluid->cnp_interval * fluid->cnp_interval *
	       fluid->additive_increase * fluid->share;
}

/* Probability that no CNP comes for @time seconds behind one */
static double silence(const struct fluid *fluid, double p, double time)
{
	double late = time - fluid->cnp_interval;

	return late > 0 ? pow(1 - p, late * fluid->share) : 1;
}

/* Probability that there is a CNP in an alpha period */
static double cycle_alpha(const struct fluid *fluid, double p)
{
	double marks = p * fluid->share;
	double cycle = fluid->cnp_interval + 1 / marks;

	return (fmin(fluid->alpha_period, fluid->cnp_interval) +
		(1 - silence(fluid, p, fluid->alpha_period)) / marks) / cycle;
}

static double cycle_excess(const struct fluid *fluid, double p)
{
	double byte_period = fluid->increase_packets ?
			     fluid->increase_packets / fluid->share : INFINITY;
	double gap = fluid->share * cycle_alpha(fluid, p) / 2;
	double gained = 0, excess = 0, left = 1;
	double steps = 0, byte_steps = 0;

	while (left > 1e-9) {
		double by_time = (steps + 1) * fluid->increase_period;
		double by_bytes = (byte_steps + 1) * byte_period;
		double then = silence(fluid, p, fmin(by_time, by_bytes));

		excess += (left - then) * (gap - gained);
		left = then;
		if (fmax(steps, byte_steps) >= fluid->threshold - 1) {
			gained += fluid->additive_increase;
			gap += fluid->additive_increase;
		}
		gap /= 2;
		if (by_time < by_bytes)
			steps++;
		else
			byte_steps++;
	}
	return excess;
}

static double solve(const struct fluid *fluid,
		    double (*excess)(const struct fluid *fluid, double p))
{
	double low = 1e-7, high = 0.999;
	int i;

	for (i = 0; i < 100; i++) {
		double middle = sqrt(low * high);

		if (excess(fluid, middle) > 0)
			high = middle;
		else
			low = middle;
	}
	return low;
}

/**
 * fluid_marking() - the share of packets that is marked, says the fluid model
 * @fluid: the flows
 */
double fluid_marking(const struct fluid *fluid)
{
	return solve(fluid, fluid_excess);
}

/**
 * cycle_marking() - the share of packets that is marked, counted by cycles
 * @fluid: the flows
 */
double cycle_marking(const struct fluid *fluid)
{
	return solve(fluid, cycle_excess);
}
