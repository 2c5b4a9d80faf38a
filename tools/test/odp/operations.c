// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Every operation with memory of which no page is present, at both ends. */
#include <stdio.h>
#include <string.h>

#include "odp.h"

static const struct {
	const char *name;
	enum ibv_wr_opcode opcode;
} moves[] = {
	{ "SEND", IBV_WR_SEND },
	{ "WRITE", IBV_WR_RDMA_WRITE },
	{ "WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "READ", IBV_WR_RDMA_READ },
};

static const uint32_t lengths[] = { 1, 4096, 1000003 };

static const char *name_of(const char *type, enum kind kind, const char *what)
{
	static char name[128];

	snprintf(name, sizeof(name), "%s, %s region: %s", type,
		 kind == IMPLICIT ? "implicit" : "explicit", what);
	return name;
}

/* Bytes around the moved ones stay as they are. */
static bool moves_alone(struct bench *bench, enum ibv_wr_opcode opcode, uint32_t length)
{
	const uint32_t offset = 12345, guard = 64;

	memory_fill(&bench->a, length);
	memset(bench->b.view, 0x55, MEMORY_SIZE);
	memory_cool(&bench->a);
	memory_cool(&bench->b);
	if (bench_move(bench, opcode, offset, length))
		return false;
	if (opcode == IBV_WR_RDMA_READ)
		return bench->a.view[offset] == 0x55 &&
		       bench_is_moved(bench, offset, length) &&
		       !bench_is_moved(bench, offset + length, guard);
	return bench_is_moved(bench, offset, length) &&
	       bench->b.view[offset - 41] == 0x55 &&
	       bench->b.view[offset + length] == 0x55;
}

static void test_moves(const char *type_name, enum ibv_qp_type type, enum kind kind,
		       unsigned int count, unsigned int sizes)
{
	struct bench bench;
	unsigned int i, n;

	bench_open(&bench, type, kind);
	for (i = 0; i < count; i++) {
		bool right = true;

		/* Nobody tells when a WRITE has arrived. */
		if (type == IBV_QPT_UC && moves[i].opcode == IBV_WR_RDMA_WRITE)
			continue;

		for (n = 0; n < sizes; n++)
			right = right && moves_alone(&bench, moves[i].opcode,
						     type == IBV_QPT_UD ? 1000 : lengths[n]);
		tap_true(name_of(type_name, kind, moves[i].name), right);
	}
	bench_close(&bench);
}

static uint64_t word(const struct memory *memory, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, memory->view + offset, sizeof(value));
	return value;
}

static bool executes_atomic(struct bench *bench, enum ibv_wr_opcode opcode)
{
	const uint32_t offset = 5 * PAGE + 8;
	struct ibv_sge sge = memory_sge(&bench->a, offset, 8);
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = {
			.remote_addr = (uintptr_t)bench->b.start + offset,
			.rkey = bench->b.mr->rkey,
			.compare_add = 7,
			.swap = 9,
		},
	}, *bad;
	struct ibv_wc wc;

	memset(bench->b.view, 0, MEMORY_SIZE);
	bench->b.view[offset] = 7;
	memory_cool(&bench->a);
	memory_cool(&bench->b);
	return !ibv_post_send(bench->duo.a.qp, &wr, &bad) &&
	       wait_wc(bench->duo.a.scq, &wc, PATIENCE_MS) && !wc.status &&
	       word(&bench->a, offset) == 7 &&
	       word(&bench->b, offset) == (opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? 9 : 14);
}

static void test_atomics(enum kind kind)
{
	struct bench bench;

	bench_open(&bench, IBV_QPT_RC, kind);
	tap_true(name_of("RC", kind, "fetch and add"),
		 executes_atomic(&bench, IBV_WR_ATOMIC_FETCH_AND_ADD));
	tap_true(name_of("RC", kind, "compare and swap"),
		 executes_atomic(&bench, IBV_WR_ATOMIC_CMP_AND_SWP));
	bench_close(&bench);
}

static void test_shared_receives(enum ibv_qp_type type, const char *name)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_sge sge;
	struct ibv_recv_wr receive = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct bench bench;
	struct duo plain, *d = &bench.duo;
	struct ibv_pd *pd;
	struct ibv_wc wc;

	/* The port of b */
	duo_open(&plain, NULL);
	pd = ibv_alloc_pd(plain.b.port->ctx);
	memset(&bench, 0, sizeof(bench));
	duo_open(d, &(struct duo_options){ .type = type, .srq = ibv_create_srq(pd, &init) });
	memory_open(&bench.a, d->a.pd, EXPLICIT);
	memory_open(&bench.b, pd, EXPLICIT);
	memory_fill(&bench.a, 1);
	memory_cool(&bench.a);
	sge = memory_sge(&bench.b, PAGE - 40, type == IBV_QPT_UD ? 1040 : 1000);
	if (type != IBV_QPT_UD)
		sge.addr += 40;
	tap_true(name, !ibv_post_srq_recv(d->opt.srq, &receive, &bad) &&
		 !post_send(&d->a, 2, memory_sge(&bench.a, PAGE, 1000), 0) &&
		 wait_wc(d->b.rcq, &wc, PATIENCE_MS) && !wc.status &&
		 bench_is_moved(&bench, PAGE, 1000));
	if (!wait_wc(d->a.scq, &wc, PATIENCE_MS))
		die("the message is not complete");
	memory_close(&bench.a);
	memory_close(&bench.b);
	if (ibv_destroy_qp(d->b.qp) || ibv_destroy_srq(d->opt.srq) || ibv_dealloc_pd(pd))
		die("the shared receive queue stays");
	d->b.qp = NULL;
	duo_close(d);
	duo_close(&plain);
}

/* Never touched, so that there is no page in the program either */
static void test_untouched(void)
{
	struct bench bench;
	uint8_t zeroes[PAGE] = {};

	bench_open_private(&bench);
	memset(bench.b.start, 0x55, MEMORY_SIZE);
	tap_true("memory that was never written to is sent as zeroes",
		 !bench_move(&bench, IBV_WR_RDMA_WRITE, PAGE, PAGE) &&
		 !memcmp(bench.b.start + PAGE, zeroes, PAGE));
	memset(bench.a.start + PAGE, 0xaa, PAGE);
	tap_true("the first write of the program after that is seen",
		 !bench_move(&bench, IBV_WR_RDMA_WRITE, PAGE, PAGE) &&
		 bench.b.start[PAGE] == 0xaa);
	bench_close(&bench);
}

void test_operations(void)
{
	enum kind kind;

	for (kind = EXPLICIT; kind <= IMPLICIT; kind++) {
		test_moves("RC", IBV_QPT_RC, kind, 4, ARRAY_SIZE(lengths));
		test_moves("UC", IBV_QPT_UC, kind, 3, 2);
		test_moves("UD", IBV_QPT_UD, kind, 1, 1);
		test_atomics(kind);
	}
	test_shared_receives(IBV_QPT_RC, "RC: a shared receive");
	test_shared_receives(IBV_QPT_UD, "UD: a shared receive");
	test_untouched();
}
