// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Patience and its end: RNR retries, ACK timeouts. */
#include <stdio.h>

#include "verbs.h"

static void no_receive(void)
{
	struct duo d;

	duo_open(&d, &(struct duo_options){ .rnr_retry = 0 });
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_wc("no receive and rnr_retry 0 ends in RNR_RETRY_EXC_ERR",
	       d.a.scq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	tap_state("its QP goes to ERR", IBV_QPS_ERR, d.a.qp);
	tap_state("the receiver's stays in RTS", IBV_QPS_RTS, d.b.qp);
	duo_close(&d);

	duo_open(&d, &(struct duo_options){ .rnr_retry = 2 });
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_wc("no receive and rnr_retry 2 ends in RNR_RETRY_EXC_ERR too",
	       d.a.scq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	duo_close(&d);
}

static void late_receive(void)
{
	struct duo d;
	int i;

	duo_open(&d, &(struct duo_options){ .rnr_retry = 7, .retry_cnt = 1, .timeout = 20 });
	for (i = 1; i <= 4; i++)
		post_send(&d.a, i, sge_of(&d.a, 0, 5000), 0);
	tap_no_wc("rnr_retry 7 waits for a receive", d.a.scq, 200);
	for (i = 11; i <= 14; i++)
		post_recv(&d.b, i, sge_of(&d.b, 0, 5000));
	tap_wcs("and succeeds once there is one", d.a.scq, 1, 4,
		IBV_WC_SUCCESS);
	tap_wcs("every message arrives once, in order", d.b.rcq, 11, 14,
		IBV_WC_SUCCESS);
	duo_close(&d);
}

/* 4.096 us << 12 is 17 ms; 3 tries; the clock may run to 4 times that. */
static void peer_gone(void)
{
	struct ibv_wc wc;
	double begin;
	struct duo d;
	int i;

	duo_open(&d, &(struct duo_options){ .timeout = 12, .retry_cnt = 2 });
	ibv_destroy_qp(d.b.qp);
	d.b.qp = NULL;
	begin = seconds();
	for (i = 1; i <= 5; i++)
		post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge_of(&d.a, 0, 3000),
			  (uintptr_t)d.b.buf, d.b.mr->rkey);
	if (!wait_wc(d.a.scq, &wc, PATIENCE_MS))
		wc.status = IBV_WC_SUCCESS;
	begin = seconds() - begin;
	tap_int("a peer that is gone ends in RETRY_EXC_ERR",
		IBV_WC_RETRY_EXC_ERR, wc.status);
	printf("# after %.0f ms\n", begin * 1e3);
	tap_true("not before timeout x (retry_cnt + 1)", begin > 0.045);
	tap_wcs("what was behind it is flushed", d.a.scq, 2, 5,
		IBV_WC_WR_FLUSH_ERR);
	duo_close(&d);
}

static void infinite_timeout(void)
{
	struct duo d;

	duo_open(&d, &(struct duo_options){ .infinite_timeout = true });
	ibv_destroy_qp(d.b.qp);
	d.b.qp = NULL;
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_no_wc("timeout 0 waits for ever", d.a.scq, 400);
	qp_to_state(d.a.qp, IBV_QPS_ERR);
	tap_wc("and is flushed when the QP is put into ERR", d.a.scq, 1,
	       IBV_WC_WR_FLUSH_ERR);
	duo_close(&d);
}

void test_retries(void)
{
	no_receive();
	late_receive();
	peer_gone();
	infinite_timeout();
}
