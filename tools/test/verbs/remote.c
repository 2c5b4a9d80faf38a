// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the responder refuses, and how both ends learn of it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

/* A remote access that must be refused: who is told what. */
static void refused_access(const char *what, struct duo *d,
			   enum ibv_wr_opcode opcode, uint64_t addr,
			   uint32_t rkey, uint32_t len,
			   enum ibv_wc_status status)
{
	char name[160];

	memset(d->b.buf, 0x77, BUF_SIZE);
	snprintf(name, sizeof(name), "%s ends in %s", what,
		 ibv_wc_status_str(status));
	if (post_rdma(d, opcode, 1, sge_of(&d->a, 0, len), addr, rkey))
		die("ibv_post_send");
	tap_wc(name, d->a.scq, 1, status);
	snprintf(name, sizeof(name), "%s: the requester's QP goes to ERR", what);
	tap_state(name, IBV_QPS_ERR, d->a.qp);
	snprintf(name, sizeof(name), "%s: the responder's QP goes to ERR", what);
	tap_state(name, IBV_QPS_ERR, d->b.qp);
	snprintf(name, sizeof(name), "%s: not a byte is written", what);
	tap_true(name, d->b.buf[0] == 0x77 &&
		 !memcmp(d->b.buf, d->b.buf + 1, BUF_SIZE - 1));
}

static void bad_keys(void)
{
	struct duo d;

	duo_open(&d, NULL);
	refused_access("a write with an unknown rkey", &d, IBV_WR_RDMA_WRITE,
		       (uintptr_t)d.b.buf, d.b.mr->rkey ^ 0x5500, 100,
		       IBV_WC_REM_ACCESS_ERR);
	duo_close(&d);

	duo_open(&d, NULL);
	refused_access("a write with another variant of a key", &d,
		       IBV_WR_RDMA_WRITE, (uintptr_t)d.b.buf,
		       d.b.mr->rkey ^ 1, 100, IBV_WC_REM_ACCESS_ERR);
	duo_close(&d);

	duo_open(&d, NULL);
	refused_access("a read with an unknown rkey", &d, IBV_WR_RDMA_READ,
		       (uintptr_t)d.b.buf, d.b.mr->rkey ^ 0x5500, 100,
		       IBV_WC_REM_ACCESS_ERR);
	duo_close(&d);
}

static void bad_ranges(void)
{
	static const struct {
		const char *name;
		long offset;
		uint32_t len;
	} cases[] = {
		{ "a write one byte past the end of a region", BUF_SIZE - 99, 100 },
		{ "a write one byte before a region", -1, 100 },
		{ "a write of 9000 bytes over the end", BUF_SIZE - 8999, 9000 },
	};
	struct duo d;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		duo_open(&d, NULL);
		refused_access(cases[i].name, &d, IBV_WR_RDMA_WRITE,
			       (uintptr_t)d.b.buf + cases[i].offset,
			       d.b.mr->rkey, cases[i].len,
			       IBV_WC_REM_ACCESS_ERR);
		duo_close(&d);
	}
	duo_open(&d, NULL);
	refused_access("a write around the end of the address space", &d,
		       IBV_WR_RDMA_WRITE, -50l, d.b.mr->rkey, 100,
		       IBV_WC_REM_ACCESS_ERR);
	duo_close(&d);
	duo_open(&d, NULL);
	refused_access("a read past the end of a region", &d, IBV_WR_RDMA_READ,
		       (uintptr_t)d.b.buf + BUF_SIZE - 50, d.b.mr->rkey, 100,
		       IBV_WC_REM_ACCESS_ERR);
	duo_close(&d);
}

static void missing_access(void)
{
	struct ibv_mr *mr;
	struct duo d;

	duo_open(&d, NULL);
	mr = ibv_reg_mr(d.b.pd, d.b.buf, BUF_SIZE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	refused_access("a write to a region without REMOTE_WRITE", &d,
		       IBV_WR_RDMA_WRITE, (uintptr_t)d.b.buf, mr->rkey, 100,
		       IBV_WC_REM_ACCESS_ERR);
	ibv_dereg_mr(mr);
	duo_close(&d);

	duo_open(&d, NULL);
	mr = ibv_reg_mr(d.b.pd, d.b.buf, BUF_SIZE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	refused_access("a read from a region without REMOTE_READ", &d,
		       IBV_WR_RDMA_READ, (uintptr_t)d.b.buf, mr->rkey, 100,
		       IBV_WC_REM_ACCESS_ERR);
	ibv_dereg_mr(mr);
	duo_close(&d);

	duo_open(&d, &(struct duo_options){ .no_remote_access = true });
	refused_access("a write to a QP that does not allow it", &d,
		       IBV_WR_RDMA_WRITE, (uintptr_t)d.b.buf, d.b.mr->rkey,
		       100, IBV_WC_REM_INV_REQ_ERR);
	duo_close(&d);

	duo_open(&d, &(struct duo_options){ .no_remote_access = true });
	refused_access("a read from a QP that does not allow it", &d,
		       IBV_WR_RDMA_READ, (uintptr_t)d.b.buf, d.b.mr->rkey,
		       100, IBV_WC_REM_INV_REQ_ERR);
	duo_close(&d);
}

static void foreign_regions(void)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct duo d;
	uint32_t rkey;

	duo_open(&d, NULL);
	pd = ibv_alloc_pd(d.b.port->ctx);
	mr = ibv_reg_mr(pd, d.b.buf, BUF_SIZE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	refused_access("a write to a region of another PD", &d,
		       IBV_WR_RDMA_WRITE, (uintptr_t)d.b.buf, mr->rkey, 100,
		       IBV_WC_REM_ACCESS_ERR);
	rkey = mr->rkey;
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	duo_close(&d);

	duo_open(&d, NULL);
	mr = ibv_reg_mr(d.b.pd, d.b.buf, BUF_SIZE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	rkey = mr->rkey;
	ibv_dereg_mr(mr);
	refused_access("a write to a deregistered region", &d,
		       IBV_WR_RDMA_WRITE, (uintptr_t)d.b.buf, rkey, 100,
		       IBV_WC_REM_ACCESS_ERR);
	duo_close(&d);
}

/* The specification exempts messages of no bytes from every key check. */
static void zero_length(void)
{
	struct ibv_sge none = { 0 };
	struct duo d;

	duo_open(&d, NULL);
	post_rdma(&d, IBV_WR_RDMA_WRITE, 1, none, 0, 0xdead00);
	tap_wc("a write of no bytes needs no rkey", d.a.scq, 1, IBV_WC_SUCCESS);
	post_rdma(&d, IBV_WR_RDMA_READ, 2, none, 0, 0xdead00);
	tap_wc("a read of no bytes needs no rkey", d.a.scq, 2, IBV_WC_SUCCESS);
	tap_alive("the connection lives on after them", &d);
	duo_close(&d);
}

static void short_receive(void)
{
	struct duo d;

	duo_open(&d, NULL);
	post_recv(&d.b, 10, sge_of(&d.b, 0, 99));
	post_recv(&d.b, 11, sge_of(&d.b, 200, 99));
	memset(d.b.buf, 0x77, BUF_SIZE);
	post_send(&d.a, 1, sge_of(&d.a, 0, 100), 0);
	tap_wc("a receive that is too small ends in LOC_LEN_ERR", d.b.rcq, 10,
	       IBV_WC_LOC_LEN_ERR);
	tap_wc("its sender sees REM_INV_REQ_ERR", d.a.scq, 1,
	       IBV_WC_REM_INV_REQ_ERR);
	tap_wc("the receive after it is flushed", d.b.rcq, 11,
	       IBV_WC_WR_FLUSH_ERR);
	tap_true("no byte past the receive is written", d.b.buf[99] == 0x77);
	tap_state("a receive too small: the receiver's QP goes to ERR",
		  IBV_QPS_ERR, d.b.qp);
	duo_close(&d);
}

static void bad_receive(void)
{
	struct ibv_sge sge;
	struct duo d;

	duo_open(&d, NULL);
	sge = sge_of(&d.b, 0, 100);
	sge.lkey ^= 0x5500;
	post_recv(&d.b, 10, sge);
	post_send(&d.a, 1, sge_of(&d.a, 0, 100), 0);
	tap_wc("a receive with a bad lkey ends in LOC_PROT_ERR", d.b.rcq, 10,
	       IBV_WC_LOC_PROT_ERR);
	tap_wc("its sender sees REM_OP_ERR", d.a.scq, 1, IBV_WC_REM_OP_ERR);
	duo_close(&d);
}

static void neighbours(void)
{
	struct duo bad, good;

	duo_open(&bad, NULL);
	duo_open(&good, NULL);
	post_rdma(&bad, IBV_WR_RDMA_WRITE, 1, sge_of(&bad.a, 0, 8), 0, 0);
	tap_wc("one connection fails", bad.a.scq, 1, IBV_WC_REM_ACCESS_ERR);
	tap_alive("the connection beside it does not notice", &good);
	duo_close(&bad);
	duo_close(&good);
}

void test_remote_errors(void)
{
	bad_keys();
	bad_ranges();
	missing_access();
	foreign_regions();
	zero_length();
	short_receive();
	bad_receive();
	neighbours();
}
