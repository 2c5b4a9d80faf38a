// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rates beside pinned memory: a table, and no assertion. "cold" takes all pages from both
 * programs before each round, so it also measures the kernel's page faults.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "odp.h"

#define LENGTH		65536u
#define BATCH		16u
#define MEASURE_SECONDS	1.0

struct way {
	const char *name;
	bool on_demand;
	bool cold;
};

static const struct way ways[] = {
	{ "pinned", false, false },
	{ "on demand", true, false },
	{ "on demand, cold", true, true },
};

static void pin(struct memory *memory, struct ibv_pd *pd)
{
	if (ibv_dereg_mr(memory->mr))
		die("ibv_dereg_mr");
	memory->mr = ibv_reg_mr(pd, memory->start, MEMORY_SIZE, RIGHTS);
	if (!memory->mr)
		die_errno(errno, "ibv_reg_mr");
}

static void round_of(struct bench *bench, enum ibv_wr_opcode opcode, bool cold)
{
	struct duo *d = &bench->duo;
	struct ibv_wc wc;
	uint32_t i, left = BATCH;

	if (cold) {
		memory_cool(&bench->a);
		memory_cool(&bench->b);
	}
	for (i = 0; i < BATCH; i++)
		if (post_rdma(d, opcode, i, memory_sge(&bench->a, i * LENGTH, LENGTH),
			      (uintptr_t)bench->b.start + i * LENGTH, bench->b.mr->rkey))
			die("ibv_post_send");
	while (left) {
		int n = ibv_poll_cq(d->a.scq, 1, &wc);

		if (n < 0 || (n && wc.status))
			die("status %d", wc.status);
		left -= n;
	}
}

static double rate(enum ibv_wr_opcode opcode, const struct way *way)
{
	struct bench bench;
	double begin, end;
	unsigned long rounds = 0;

	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	memory_fill(&bench.a, 1);
	memory_fill(&bench.b, 2);
	if (!way->on_demand) {
		pin(&bench.a, bench.duo.a.pd);
		pin(&bench.b, bench.duo.b.pd);
	}
	round_of(&bench, opcode, false);
	begin = seconds();
	do {
		round_of(&bench, opcode, way->cold);
		rounds++;
		end = seconds();
	} while (end - begin < MEASURE_SECONDS);
	bench_close(&bench);
	return rounds * BATCH * LENGTH / (end - begin) / 1e6;
}

void print_rates(void)
{
	unsigned int i;

	printf("| memory | WRITE, MB/s | READ, MB/s |\n| --- | ---: | ---: |\n");
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		printf("| %s | %.0f | %.0f |\n", ways[i].name,
		       rate(IBV_WR_RDMA_WRITE, &ways[i]), rate(IBV_WR_RDMA_READ, &ways[i]));
}
