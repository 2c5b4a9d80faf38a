// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 *	idle_qps DEVICE GID-INDEX PEER-GID COUNT ENTRIES
 *
 * Connects COUNT RC QPs with rings of ENTRIES entries, and destroys them. Says how
 * long it took to connect them, and what memory of the kernel they took: the rings
 * that programs map, and the rest; and what was not free afterwards. Prints
 * "SECONDS RING-BYTES OTHER-BYTES LEFT-BYTES" for one QP each.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "program.h"

/* Bytes: what is free, and what the kernel and this process have allocated */
struct memory {
	double free, kernel, process;
};

/* What is free but on the lists of single CPUs, which MemFree does not count */
static double free_on_cpu_lists(void)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	double pages = 0, count;
	char line[128];

	if (!f)
		err(1, "/proc/zoneinfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %lf", &count) == 1)
			pages += count;
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

static struct memory look_at_memory(void)
{
	struct memory m = { .free = free_on_cpu_lists() };
	char line[128], name[64];
	double kib;
	FILE *f = fopen("/proc/meminfo", "r");

	if (!f)
		err(1, "/proc/meminfo");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63[^:]: %lf", name, &kib) != 2)
			continue;
		if (!strcmp(name, "MemFree"))
			m.free += kib * 1024;
		if (!strcmp(name, "Slab") || !strcmp(name, "Percpu"))
			m.kernel += kib * 1024;
		if (!strcmp(name, "AnonPages") || !strcmp(name, "PageTables"))
			m.process += kib * 1024;
	}
	fclose(f);
	return m;
}

static void connect_qp(struct ibv_qp *qp, int gid_index, const union ibv_gid *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		err(1, "INIT");

	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = *peer,
				.sgid_index = gid_index,
				.hop_limit = 64,
			},
		},
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		err(1, "RTR");

	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			  IBV_QP_MAX_QP_RD_ATOMIC))
		err(1, "RTS");
}

/* What RCU still has to free is not memory of a QP. */
static struct memory look_at_memory_later(void)
{
	sleep(2);
	return look_at_memory();
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	double start, seconds, rings, other, left;
	struct memory before, with, after;
	struct ibv_context *context;
	struct ibv_qp **qps;
	union ibv_gid peer;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	int i, count;

	if (argc != 6 || inet_pton(AF_INET6, argv[3], &peer) != 1)
		errx(2, "see the head of idle_qps.c");
	count = atoi(argv[4]);
	context = open_device(argv[1]);
	if (!context)
		err(1, "%s", argv[1]);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	if (!pd || !cq)
		err(1, "PD or CQ");
	init.send_cq = cq;
	init.recv_cq = cq;
	init.cap = (struct ibv_qp_cap) {
		.max_send_wr = atoi(argv[5]), .max_recv_wr = atoi(argv[5]),
		.max_send_sge = 1, .max_recv_sge = 1,
	};

	qps = calloc(count, sizeof(*qps));
	if (!qps)
		err(1, "calloc");

	before = look_at_memory();
	start = now();
	for (i = 0; i < count; i++) {
		struct ibv_qp_init_attr attr = init;

		qps[i] = ibv_create_qp(pd, &attr);
		if (!qps[i])
			err(1, "QP number %d", i);
		connect_qp(qps[i], atoi(argv[2]), &peer);
	}
	seconds = now() - start;
	with = look_at_memory_later();
	for (i = 0; i < count; i++)
		if (ibv_destroy_qp(qps[i]))
			err(1, "ibv_destroy_qp");
	after = look_at_memory_later();

	other = with.kernel - before.kernel;
	rings = before.free - with.free - other -
		(with.process - before.process);
	left = before.free - after.free - (after.process - before.process);
	printf("%.6f %.0f %.0f %.0f\n", seconds / count, rings / count,
	       other / count, left / count);
	return 0;
}
