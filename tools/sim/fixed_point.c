// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fixed point of DCQCN's fluid model: Zhu et al., "ECN or Delay", CoNEXT
 * 2016. With all derivatives zero and the rate at the fair share, the share of
 * marked packets p solves
 *
 *	A^2 * alpha / ((b + d) * (c + e)) = tau^2 * R_AI * R_C
 *
 * whose left side grows with p.
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

double fixed_point_alpha(const struct fluid *fluid, double p)
{
	return any(p, fluid->alpha_period * fluid->share);
}

static double excess(const struct fluid *fluid, double p)
{
	double timer = fluid->increase_period * fluid->share;
	double bytes = fluid->increase_packets;
	double a = any(p, fluid->cnp_interval * fluid->share);
	double b = bytes ? increases(p, bytes) : 0;
	double c = bytes ? b * pow(1 - p, fluid->threshold * bytes) : 0;
	double d = increases(p, timer);
	double e = d * pow(1 - p, fluid->threshold * timer);

	return a * a * fixed_point_alpha(fluid, p) / ((b + d) * (c + e)) -
	       fluid->cnp_interval * fluid->cnp_interval *
	       fluid->additive_increase * fluid->share;
}

/**
 * fixed_point_marking() - the share of packets that is marked in equilibrium
 * @fluid: the flows
 */
double fixed_point_marking(const struct fluid *fluid)
{
	double low = 1e-9, high = 0.999;
	int i;

	for (i = 0; i < 200; i++) {
		double middle = sqrt(low * high);

		if (excess(fluid, middle) > 0)
			high = middle;
		else
			low = middle;
	}
	return low;
}
