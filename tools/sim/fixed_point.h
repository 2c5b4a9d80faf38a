/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SIM_FIXED_POINT_H
#define SIM_FIXED_POINT_H

/**
 * struct fluid - what its equilibrium depends on, all flows alike
 * @share: packets per second of each flow
 * @cnp_interval: tau, seconds
 * @alpha_period: tau', seconds
 * @increase_period: T, seconds
 * @increase_packets: B, packets; 0 for no byte counter
 * @threshold: F, as the paper counts: steps before additive increase, plus one
 * @additive_increase: R_AI, packets per second
 */
struct fluid {
	double share;
	double cnp_interval;
	double alpha_period;
	double increase_period;
	double increase_packets;
	double threshold;
	double additive_increase;
};

double fluid_marking(const struct fluid *fluid);
double cycle_marking(const struct fluid *fluid);

#endif /* SIM_FIXED_POINT_H */
