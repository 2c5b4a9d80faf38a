// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory that does not exist, regions that go, a program that exits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "odp.h"

/* The status of one message at the start of the second half, on a new connection */
static int move_hidden(enum ibv_wr_opcode opcode, int protection_a, int protection_b,
		       enum kind kind)
{
	struct bench bench;
	int status;

	bench_open(&bench, IBV_QPT_RC, kind);
	memory_protect(&bench.a, protection_a);
	memory_protect(&bench.b, protection_b);
	status = bench_move(&bench, opcode, MEMORY_SIZE / 2 - 5000, 10000);
	memory_protect(&bench.a, PROT_READ | PROT_WRITE);
	memory_protect(&bench.b, PROT_READ | PROT_WRITE);
	bench_close(&bench);
	return status;
}

static void test_hidden(enum kind kind)
{
	const int all = PROT_READ | PROT_WRITE;

	tap_int("a WRITE to memory that is not there", IBV_WC_REM_ACCESS_ERR,
		move_hidden(IBV_WR_RDMA_WRITE, all, PROT_NONE, kind));
	tap_int("a WRITE to memory that can only be read", IBV_WC_REM_ACCESS_ERR,
		move_hidden(IBV_WR_RDMA_WRITE, all, PROT_READ, kind));
	tap_int("a READ of memory that is not there", IBV_WC_REM_ACCESS_ERR,
		move_hidden(IBV_WR_RDMA_READ, all, PROT_NONE, kind));
	tap_int("a READ of memory that can only be read", IBV_WC_SUCCESS,
		move_hidden(IBV_WR_RDMA_READ, all, PROT_READ, kind));
	tap_int("a READ into memory that can only be read", IBV_WC_LOC_PROT_ERR,
		move_hidden(IBV_WR_RDMA_READ, PROT_READ, all, kind));
	tap_int("a WRITE from memory that is not there", IBV_WC_LOC_PROT_ERR,
		move_hidden(IBV_WR_RDMA_WRITE, PROT_NONE, all, kind));
}

static void test_registrations(void)
{
	struct bench bench;
	struct ibv_mr *mr;

	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	munmap(bench.b.start, MEMORY_SIZE);
	mr = memory_register(&bench.b, bench.duo.b.pd, EXPLICIT);
	tap_true("a region without memory", mr);
	tap_int("takes no WRITE", IBV_WC_REM_ACCESS_ERR,
		bench_move(&bench, IBV_WR_RDMA_WRITE, 0, 1));
	if (mr && ibv_dereg_mr(mr))
		die("it stays");
	tap_int("a region that is not pinned cannot be registered again", EOPNOTSUPP,
		rereg(bench.b.mr, IBV_REREG_MR_CHANGE_ACCESS, bench.duo.b.pd, NULL, 0, 0,
		      IBV_ACCESS_LOCAL_WRITE));
	bench_close(&bench);
}

/* Instead of what is there: pages that the kernel has no address for */
static void map_secret(const struct memory *memory)
{
	int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0 || ftruncate(fd, MEMORY_SIZE) ||
	    mmap(memory->start, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 fd, 0) == MAP_FAILED)
		die_errno(errno, "secret memory");
	close(fd);
}

static int move_secret(enum ibv_wr_opcode opcode, bool remote, enum kind kind)
{
	struct bench bench;
	int status;

	bench_open(&bench, IBV_QPT_RC, kind);
	map_secret(remote ? &bench.b : &bench.a);
	status = bench_move(&bench, opcode, 0, 100);
	bench_close(&bench);
	return status;
}

void test_secret(void)
{
	tap_int("a WRITE from secret memory", IBV_WC_LOC_PROT_ERR,
		move_secret(IBV_WR_RDMA_WRITE, false, EXPLICIT));
	tap_int("a READ into secret memory", IBV_WC_LOC_PROT_ERR,
		move_secret(IBV_WR_RDMA_READ, false, IMPLICIT));
	tap_int("a WRITE to secret memory", IBV_WC_REM_ACCESS_ERR,
		move_secret(IBV_WR_RDMA_WRITE, true, IMPLICIT));
	tap_int("a READ of secret memory", IBV_WC_REM_ACCESS_ERR,
		move_secret(IBV_WR_RDMA_READ, true, EXPLICIT));
}

/* Messages for cold memory are under way. */
static void post_many(struct bench *bench)
{
	unsigned int i;

	memory_cool(&bench->a);
	memory_cool(&bench->b);
	for (i = 0; i < 8; i++)
		if (post_rdma(&bench->duo, i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i,
			      memory_sge(&bench->a, 0, MEMORY_SIZE),
			      (uintptr_t)bench->b.start, bench->b.mr->rkey))
			die("ibv_post_send");
}

static bool complete(struct bench *bench, unsigned int count)
{
	struct ibv_wc wc;

	while (count--)
		if (!wait_wc(bench->duo.a.scq, &wc, PATIENCE_MS))
			return false;
	return true;
}

static void test_deregistration(bool remote)
{
	struct bench bench;
	struct ibv_mr **mr = remote ? &bench.b.mr : &bench.a.mr;

	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	post_many(&bench);
	tap_int("a region is deregistered while its pages are faulted in", 0,
		ibv_dereg_mr(*mr));
	*mr = NULL;
	tap_true("all requests complete", complete(&bench, 8));
	bench_close(&bench);
}

static void test_destruction(void)
{
	struct bench bench;

	bench_open(&bench, IBV_QPT_RC, IMPLICIT);
	post_many(&bench);
	tap_int("a QP in error flushes what waits for pages", 0,
		qp_to_state(bench.duo.b.qp, IBV_QPS_ERR));
	tap_int("a QP is destroyed that waits for pages", 0,
		ibv_destroy_qp(bench.duo.a.qp));
	bench.duo.a.qp = NULL;
	bench_close(&bench);
}

void test_failures(void)
{
	int round;

	test_hidden(EXPLICIT);
	test_hidden(IMPLICIT);
	test_registrations();
	for (round = 0; round < 3; round++) {
		test_deregistration(false);
		test_deregistration(true);
		test_destruction();
	}
}

/* The program is gone while its pages are faulted in. */
void test_exit(void)
{
	struct bench bench;

	bench_open(&bench, IBV_QPT_RC, IMPLICIT);
	post_many(&bench);
	_exit(0);
}
