/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_OPTIONS_H
#define FABRIC_OPTIONS_H

#include "dcqcn.h"

enum shape { WAYS, LEAF_SPINE, FAT_TREE };
enum traffic { PERMUTATION, INCAST };

#define MSEC 1000000ull

/* Number of paths that stands for switches that spray */
#define SPRAY 0u

/* Longest list of --paths */
#define MAX_RUNS 8

/**
 * struct options - what the user wants; sizes in bytes, times in nanoseconds
 * @runs: number of runs
 * @paths: of each run: paths of a flow, or SPRAY
 * @way_gbits: WAYS: of each way
 * @slow_gbits: of the first core switch; 0: as the others
 * @fails: number of the core switch that fails; negative: none
 * @fails_at: when
 * @heals_at: when it is back
 * @senders: INCAST: to one receiver
 * @messages: of each flow; 0: until the end
 * @fresh: the ends of a flow have yet to agree on selective repeat
 * @end: 0: when all flows are
 * @settled: when figures of flows without an end begin
 */
struct options {
	enum shape shape;
	u32 runs;
	u32 paths[MAX_RUNS];
	u32 ways, leaves, spines, hosts, ports;
	double gbits, uplink_gbits, way_gbits, slow_gbits;
	u64 delay, way_delay;
	double buffer, kmin, kmax, pmax;
	int fails;
	u64 fails_at, heals_at;
	enum traffic traffic;
	u32 flows, senders;
	u64 size;
	u64 messages;
	u32 outstanding;
	u32 payload;
	u32 timeout;
	u64 end, settled;
	bool dcqcn, fresh;
	u64 seed;
	bool json;
	u32 parameters[DCQCN_PARAMETER_COUNT];
};

extern struct options options;

void options_parse(int argc, char **argv);

#endif /* FABRIC_OPTIONS_H */
