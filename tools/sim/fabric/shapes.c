// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The networks that can be had, from the options */
#include "network.h"
#include "options.h"
#include "shapes.h"

/* The first core switch may be slower than the others. */
static double core_gbits(u32 core, double gbits)
{
	return core == 0 && options.slow_gbits ? options.slow_gbits : gbits;
}

static u32 add_switch(void)
{
	return network_add_switch(false);
}

static void cable(u32 a, u32 b, double gbits)
{
	network_connect(a, b, gbits, options.delay, options.buffer);
}

static void add_hosts(u32 leaf, u32 count)
{
	while (count--)
		cable(network_add_host(), leaf, options.gbits);
}

/*
 * As tools/lab/scenes/paths:
 *
 *	         .--- way 0 ---.
 *	host -- r --- way 1 --- r -- host
 *	         '--- way 2 ---'
 */
static void build_ways(void)
{
	u32 left = add_switch(), right = add_switch(), i;

	add_hosts(left, 1);
	add_hosts(right, 1);
	for (i = 0; i < options.ways; i++) {
		u32 way = network_add_switch(true);

		cable(left, way, options.gbits);
		network_connect(way, right, core_gbits(i, options.way_gbits),
				options.way_delay, options.buffer);
	}
}

/* Each leaf has a cable to each spine. */
static void build_leaf_spine(void)
{
	u32 first = 0, i, n;

	for (i = 0; i < options.spines; i++) {
		u32 spine = network_add_switch(true);

		if (i == 0)
			first = spine;
	}
	for (i = 0; i < options.leaves; i++) {
		u32 leaf = add_switch();

		for (n = 0; n < options.spines; n++)
			cable(leaf, first + n, core_gbits(n, options.uplink_gbits));
		add_hosts(leaf, options.hosts);
	}
}

/* Half of the ports of an edge switch lead to hosts, the others to the pod's other half. */
static void build_pod(u32 first_core)
{
	u32 half = options.ports / 2, aggregation = 0, i, n;

	for (i = 0; i < half; i++) {
		u32 number = add_switch();

		if (i == 0)
			aggregation = number;
		for (n = 0; n < half; n++)
			cable(number, first_core + i * half + n,
			      core_gbits(i * half + n, options.uplink_gbits));
	}
	for (i = 0; i < half; i++) {
		u32 edge = add_switch();

		for (n = 0; n < half; n++)
			cable(edge, aggregation + n, options.uplink_gbits);
		add_hosts(edge, half);
	}
}

/* Three tiers of switches with so many ports each (Al-Fares et al., SIGCOMM 2008) */
static void build_fat_tree(void)
{
	u32 half = options.ports / 2, first = 0, i;

	for (i = 0; i < half * half; i++) {
		u32 core = network_add_switch(true);

		if (i == 0)
			first = core;
	}
	for (i = 0; i < options.ports; i++)
		build_pod(first);
}

/** shape_build() - build the network of the options */
void shape_build(void)
{
	network_begin();
	network.kmin = options.kmin;
	network.kmax = options.kmax;
	network.pmax = options.pmax;
	if (options.shape == WAYS)
		build_ways();
	else if (options.shape == LEAF_SPINE)
		build_leaf_spine();
	else
		build_fat_tree();
	network_complete();
}
