// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Errors that a requester makes by itself, and the flush that follows. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

static void refused_sge(const char *what, struct duo *d, struct ibv_sge sge)
{
	char name[160];

	post_recv(&d->b, 10, sge_of(&d->b, 0, 8192));
	post_send(&d->a, 1, sge, 0);
	snprintf(name, sizeof(name), "%s ends in LOC_PROT_ERR", what);
	tap_wc(name, d->a.scq, 1, IBV_WC_LOC_PROT_ERR);
	snprintf(name, sizeof(name), "%s: its QP goes to ERR", what);
	tap_state(name, IBV_QPS_ERR, d->a.qp);
	snprintf(name, sizeof(name), "%s: the peer receives nothing", what);
	tap_no_wc(name, d->b.rcq, 50);
	snprintf(name, sizeof(name), "%s: the peer's QP stays in RTS", what);
	tap_state(name, IBV_QPS_RTS, d->b.qp);
}

static void bad_sges(void)
{
	struct ibv_sge sge;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct duo d;

	duo_open(&d, NULL);
	sge = sge_of(&d.a, 0, 100);
	sge.lkey ^= 0x5500;
	refused_sge("a send with an unknown lkey", &d, sge);
	duo_close(&d);

	duo_open(&d, NULL);
	refused_sge("a send past the end of its region", &d,
		    sge_of(&d.a, BUF_SIZE - 99, 100));
	duo_close(&d);

	duo_open(&d, NULL);
	pd = ibv_alloc_pd(d.a.port->ctx);
	mr = ibv_reg_mr(pd, d.a.buf, BUF_SIZE, IBV_ACCESS_LOCAL_WRITE);
	sge = sge_of(&d.a, 0, 100);
	sge.lkey = mr->lkey;
	refused_sge("a send from a region of another PD", &d, sge);
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	duo_close(&d);
}

static void read_into_read_only(void)
{
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct duo d;

	duo_open(&d, NULL);
	mr = ibv_reg_mr(d.a.pd, d.a.buf, BUF_SIZE, 0);
	sge = sge_of(&d.a, 0, 100);
	sge.lkey = mr->lkey;
	memset(d.a.buf, 0x33, 100);
	post_rdma(&d, IBV_WR_RDMA_READ, 1, sge, (uintptr_t)d.b.buf,
		  d.b.mr->rkey);
	tap_wc("a read into a region without LOCAL_WRITE ends in LOC_PROT_ERR",
	       d.a.scq, 1, IBV_WC_LOC_PROT_ERR);
	tap_true("and writes nothing", d.a.buf[0] == 0x33 && d.a.buf[99] == 0x33);
	ibv_dereg_mr(mr);
	duo_close(&d);
}

static void flush_after_error(void)
{
	struct ibv_sge bad;
	struct duo d;
	int i;

	duo_open(&d, NULL);
	bad = sge_of(&d.a, 0, 8);
	bad.lkey ^= 0x5500;
	for (i = 20; i < 25; i++)
		post_recv(&d.a, i, sge_of(&d.a, 0, 8));
	post_rdma(&d, IBV_WR_RDMA_WRITE, 1, bad, (uintptr_t)d.b.buf,
		  d.b.mr->rkey);
	for (i = 2; i < 10; i++)
		post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge_of(&d.a, 0, 8),
			  (uintptr_t)d.b.buf, d.b.mr->rkey);
	tap_wc("the request at fault says why", d.a.scq, 1,
	       IBV_WC_LOC_PROT_ERR);
	tap_wcs("the requests behind it are flushed in order", d.a.scq, 2, 9,
		IBV_WC_WR_FLUSH_ERR);
	tap_wcs("the receives are flushed in order", d.a.rcq, 20, 24,
		IBV_WC_WR_FLUSH_ERR);
	post_send(&d.a, 30, sge_of(&d.a, 0, 8), 0);
	tap_wc("a send posted in ERR is flushed", d.a.scq, 30,
	       IBV_WC_WR_FLUSH_ERR);
	post_recv(&d.a, 31, sge_of(&d.a, 0, 8));
	/* Posting a receive does not enter the kernel; arming the CQ does. */
	ibv_req_notify_cq(d.a.rcq, 0);
	tap_wc("a receive posted in ERR is flushed", d.a.rcq, 31,
	       IBV_WC_WR_FLUSH_ERR);
	tap_no_wc("nothing completes twice", d.a.scq, 20);
	duo_close(&d);
}

static void unsignaled_error(void)
{
	struct ibv_send_wr wr = { .wr_id = 5, .num_sge = 1 }, *bad;
	struct ibv_sge sge;
	struct duo d;

	duo_open(&d, NULL);
	sge = sge_of(&d.a, 0, 8);
	sge.lkey ^= 0x5500;
	wr.sg_list = &sge;
	wr.opcode = IBV_WR_SEND;
	ibv_post_send(d.a.qp, &wr, &bad);
	tap_wc("an unsignaled request that fails completes all the same",
	       d.a.scq, 5, IBV_WC_LOC_PROT_ERR);
	duo_close(&d);
}

static void tap_post(const char *name, bool refused, int err)
{
	if (refused != !!err)
		tap_not_ok(name, "expected %s, seen %d",
			   refused ? "an error" : "success", err);
	else
		tap_ok(name);
}

static void bad_posts(void)
{
	struct ibv_sge sges[33] = { 0 };
	struct ibv_send_wr wr = { .sg_list = sges, .opcode = IBV_WR_SEND }, *bad;
	struct duo d;
	int i, err = 0;

	duo_open(&d, NULL);
	wr.num_sge = 33;
	tap_post("a send with more sges than the QP has is refused", true,
		 ibv_post_send(d.a.qp, &wr, &bad));
	sges[0] = sge_of(&d.a, 0, 4096);
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_INLINE;
	tap_post("inline data beyond the QP's limit is refused", true,
		 ibv_post_send(d.a.qp, &wr, &bad));
	for (i = 0; i < 1000 && !err; i++)
		err = post_recv(&d.a, i, sge_of(&d.a, 0, 8));
	tap_errno("a receive queue that is full refuses the next one", ENOMEM,
		  err);
	tap_true("and holds at least what was asked for", i > 16);
	tap_alive("refused posts do no harm", &d);
	duo_close(&d);
}

void test_local_errors(void)
{
	bad_sges();
	read_into_read_only();
	flush_after_error();
	unsignaled_error();
	bad_posts();
}
