// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FLUSH and ATOMIC WRITE. The stock provider has no call for the first and not
 * everywhere one for the second, but its ring takes any opcode: this finds the
 * ring, by looking over libibverbs' shoulder, and posts there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "user_rings.h"
#include "verbs.h"

#define WR_FLUSH		14
#define WR_ATOMIC_WRITE		15
#define WC_FLUSH		8
#define WC_ATOMIC_WRITE		9
#define ACCESS_FLUSH_GLOBAL	(1 << 8)
#define CAN_FLUSH_GLOBAL	(1ULL << 38)
#define CAN_ATOMIC_WRITE	(1ULL << 40)
#define ACCESS			(IBV_ACCESS_LOCAL_WRITE | \
				 IBV_ACCESS_REMOTE_WRITE | \
				 IBV_ACCESS_REMOTE_READ)

/* As struct rxe_send_wr has it where headers know of it */
struct flush_wr {
	uint64_t address;
	uint32_t length;
	uint32_t rkey;
	uint8_t placement;	/* 1: global visibility */
	uint8_t selectivity;	/* 0: a range, 1: the region */
};

/* A duo whose end a has a send queue that can be written to, and b regions. */
struct bench {
	struct duo duo;
	struct rxe_queue_buf *sq;
	struct ibv_mr *flushable;	/* as all of b's memory */
};

/* @right: IBV_ACCESS_ON_DEMAND, ACCESS_FLUSH_GLOBAL, which not all kernels know, or 0 */
static void bench_open(struct bench *bench, int right)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16,
			 .max_send_sge = 4, .max_recv_sge = 4 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.qp_access_flags = (ACCESS | right) & ~IBV_ACCESS_ON_DEMAND,
	};
	struct duo *d = &bench->duo;

	duo_open(d, &(struct duo_options){ .unconnected = true });
	ibv_destroy_qp(d->a.qp);
	init.send_cq = d->a.scq;
	init.recv_cq = d->a.rcq;
	record_rings();
	d->a.qp = ibv_create_qp(d->a.pd, &init);
	record_rings_end();
	if (!d->a.qp || !nr_rings)
		die_errno(errno, "ibv_create_qp");
	bench->sq = rings[nr_rings - 1].buf;
	duo_connect(d);
	if (ibv_modify_qp(d->b.qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS))
		die_errno(errno, "ibv_modify_qp");
	bench->flushable = ibv_reg_mr(d->b.pd, d->b.buf, BUF_SIZE, ACCESS | right);
	if (!bench->flushable)
		die_errno(errno, "ibv_reg_mr");
}

static void bench_close(struct bench *bench)
{
	ibv_dereg_mr(bench->flushable);
	duo_close(&bench->duo);
}

static void post(struct bench *bench, const struct rxe_send_wqe *wqe,
		 const void *inline_data, size_t size)
{
	struct rxe_queue_buf *sq = bench->sq;
	uint32_t at = sq->producer_index;
	struct rxe_send_wqe *slot;
	int err;

	slot = (void *)(sq->data + ((size_t)at << sq->log2_elem_size));
	*slot = *wqe;
	memcpy(slot->dma.inline_data, inline_data, size);
	__atomic_store_n(&sq->producer_index, (at + 1) & sq->index_mask,
			 __ATOMIC_RELEASE);
	err = ring_doorbell(bench->duo.a.qp, 0, 0, sizeof(*wqe));
	if (err)
		die_errno(err, "doorbell");
}

static void atomic_write(struct bench *bench, uint64_t wr_id, uint64_t address,
			 uint32_t rkey, uint64_t value)
{
	struct rxe_send_wqe wqe = {
		.wr = {
			.wr_id = wr_id,
			.opcode = WR_ATOMIC_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = address, .rkey = rkey },
		},
		.iova = address,
		.dma = { .length = sizeof(value), .resid = sizeof(value) },
	};

	post(bench, &wqe, &value, sizeof(value));
}

static void flush(struct bench *bench, uint64_t wr_id, uint32_t rkey,
		  uint32_t length, bool whole_region)
{
	const struct flush_wr flush = {
		.address = (uintptr_t)bench->duo.b.buf,
		.length = length,
		.rkey = rkey,
		.placement = 1,
		.selectivity = whole_region,
	};
	struct rxe_send_wqe wqe = {
		.wr = {
			.wr_id = wr_id,
			.opcode = WR_FLUSH,
			.send_flags = IBV_SEND_SIGNALED,
		},
		.iova = flush.address,
		.dma = { .length = length, .resid = length },
	};

	memcpy(&wqe.wr.wr, &flush, sizeof(flush));
	post(bench, &wqe, NULL, 0);
}

static void tap_done(const char *name, struct bench *bench, uint64_t wr_id,
		     int opcode)
{
	struct ibv_wc wc;

	if (!wait_wc(bench->duo.a.scq, &wc, PATIENCE_MS))
		tap_not_ok(name, "no completion");
	else if (wc.status || wc.wr_id != wr_id)
		tap_not_ok(name, "wr_id %lu with '%s'", wc.wr_id,
			   ibv_wc_status_str(wc.status));
	else
		tap_int(name, opcode, wc.opcode);
}

static void writes(void)
{
	struct bench bench;
	uint64_t *number;
	uint32_t rkey;

	bench_open(&bench, 0);
	number = (uint64_t *)bench.duo.b.buf;
	rkey = bench.duo.b.mr->rkey;
	atomic_write(&bench, 1, (uintptr_t)(number + 1), rkey,
		     0x0123456789abcdef);
	tap_done("ATOMIC WRITE is executed", &bench, 1, WC_ATOMIC_WRITE);
	tap_true("and writes its 8 bytes and no others", !number[0] &&
		 number[1] == 0x0123456789abcdef && !number[2]);
	tap_alive("requests after it are executed", &bench.duo);
	atomic_write(&bench, 2, (uintptr_t)number + 4, rkey, 1);
	tap_wc("one that is not aligned is refused", bench.duo.a.scq, 2,
	       IBV_WC_REM_INV_REQ_ERR);
	tap_true("and writes nothing", !number[0]);
	bench_close(&bench);

	bench_open(&bench, 0);
	atomic_write(&bench, 1, (uintptr_t)bench.duo.b.buf,
		     bench.duo.b.mr->rkey ^ 0x100, 1);
	tap_wc("one with a wrong key, too", bench.duo.a.scq, 1,
	       IBV_WC_REM_ACCESS_ERR);
	bench_close(&bench);
}

/* A region that is not pinned, and of which no page is present */
static void on_demand(int right)
{
	struct bench bench;
	struct end *a = &bench.duo.a, *b = &bench.duo.b;
	uint64_t *number;
	uint32_t rkey;

	bench_open(&bench, right | IBV_ACCESS_ON_DEMAND);
	rkey = bench.flushable->rkey;
	number = (uint64_t *)b->buf;
	if (!right) {
		madvise(b->buf, BUF_SIZE, MADV_DONTNEED);
		atomic_write(&bench, 1, (uintptr_t)(number + 1), rkey, 0x0123456789abcdef);
		tap_done("ATOMIC WRITE to memory that is not present", &bench, 1,
			 WC_ATOMIC_WRITE);
		tap_true("and writes its 8 bytes and no others", !number[0] &&
			 number[1] == 0x0123456789abcdef && !number[2]);
	} else {
		memset(a->buf, 0x42, 8192);
		madvise(b->buf, BUF_SIZE, MADV_DONTNEED);
		flush(&bench, 1, rkey, 8192, false);
		post_rdma(&bench.duo, IBV_WR_RDMA_WRITE, 2, sge_of(a, 0, 8192),
			  (uintptr_t)b->buf, rkey);
		flush(&bench, 3, rkey, 0, true);
		tap_done("FLUSH of memory that is not present", &bench, 1, WC_FLUSH);
		tap_wc("a WRITE to it", a->scq, 2, IBV_WC_SUCCESS);
		tap_done("FLUSH after that", &bench, 3, WC_FLUSH);
		tap_true("then the bytes are there, too", b->buf[0] == 0x42 &&
			 b->buf[8191] == 0x42);
	}
	bench_close(&bench);
}

static void flushes(void)
{
	struct bench bench;
	struct end *a = &bench.duo.a, *b = &bench.duo.b;
	struct ibv_sge sge;

	bench_open(&bench, ACCESS_FLUSH_GLOBAL);
	memset(a->buf, 0x42, 8192);
	sge = sge_of(a, 0, 8192);
	post_rdma(&bench.duo, IBV_WR_RDMA_WRITE, 1, sge, (uintptr_t)b->buf,
		  b->mr->rkey);
	flush(&bench, 2, bench.flushable->rkey, 8192, false);
	tap_wc("a WRITE is executed", a->scq, 1, IBV_WC_SUCCESS);
	tap_done("and the FLUSH of its range after it", &bench, 2, WC_FLUSH);
	tap_true("then the bytes are there", b->buf[0] == 0x42 &&
		 b->buf[8191] == 0x42);
	flush(&bench, 3, bench.flushable->rkey, 0, true);
	tap_done("so is the FLUSH of a whole region", &bench, 3, WC_FLUSH);
	tap_alive("requests after it are executed", &bench.duo);
	flush(&bench, 4, b->mr->rkey, 8, false);
	tap_wc("a FLUSH of what is not open to it is refused", a->scq, 4,
	       IBV_WC_REM_ACCESS_ERR);
	bench_close(&bench);

	bench_open(&bench, ACCESS_FLUSH_GLOBAL);
	flush(&bench, 1, bench.flushable->rkey, BUF_SIZE + 1, false);
	tap_wc("a FLUSH of more than the region is refused", bench.duo.a.scq, 1,
	       IBV_WC_REM_ACCESS_ERR);
	bench_close(&bench);
}

static bool both_can(uint64_t what)
{
	struct ibv_device_attr_ex a, b;
	struct duo d;

	duo_open(&d, NULL);
	if (ibv_query_device_ex(d.a.port->ctx, NULL, &a) ||
	    ibv_query_device_ex(d.b.port->ctx, NULL, &b))
		die_errno(errno, "ibv_query_device_ex");
	duo_close(&d);
	return a.device_cap_flags_ex & b.device_cap_flags_ex & what;
}

void test_atomic_write(void)
{
	tap_true("a device has ATOMIC WRITE", both_can(CAN_ATOMIC_WRITE));
	writes();
	on_demand(0);
}

/* Kernels have it from 6.2 on. */
void test_flush(void)
{
	if (both_can(CAN_FLUSH_GLOBAL)) {
		flushes();
		on_demand(ACCESS_FLUSH_GLOBAL);
		return;
	}
	tap_skip("FLUSH", "this kernel does not have it");
}
