// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that go while requests need them. When the verb returns nobody touches
 * the memory any more, and every request that was posted to a QP that is still
 * there completes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

#define REQUESTS	12
#define ROUNDS		8
#define DEPARTURES	200

static void post_many(struct duo *d, enum ibv_wr_opcode opcode,
		      const struct ibv_mr *remote)
{
	uint64_t i;

	for (i = 0; i < REQUESTS; i++)
		if (post_rdma(d, opcode, i, sge_of(&d->a, 0, BUF_SIZE),
			      (uintptr_t)d->b.buf, remote->rkey))
			die("ibv_post_send");
}

/* How many completed in order, the successful ones first; -1 if out of order. */
static int completed(struct duo *d, enum ibv_wc_status error)
{
	bool failed = false;
	struct ibv_wc wc;
	uint64_t i;

	for (i = 0; i < REQUESTS; i++) {
		if (!wait_wc(d->a.scq, &wc, PATIENCE_MS))
			return i;
		if (wc.wr_id != i ||
		    wc.status != (failed ? IBV_WC_WR_FLUSH_ERR :
					   wc.status ? error : IBV_WC_SUCCESS))
			return -1;
		failed |= wc.status != IBV_WC_SUCCESS;
	}
	return i;
}

static bool is_zero(const uint8_t *buffer)
{
	return !buffer[0] && !memcmp(buffer, buffer + 1, BUF_SIZE - 1);
}

static void remote_region_goes(void)
{
	int round, complete = 0, untouched = 0, refused = 0;

	for (round = 0; round < ROUNDS; round++) {
		struct ibv_mr *mr;
		struct duo d;

		duo_open(&d, NULL);
		mr = ibv_reg_mr(d.b.pd, d.b.buf, BUF_SIZE,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		if (!mr)
			die_errno(errno, "ibv_reg_mr");
		memset(d.a.buf, 0x42, BUF_SIZE);
		post_many(&d, IBV_WR_RDMA_WRITE, mr);
		sleep_ms(round);
		refused += !!ibv_dereg_mr(mr);
		memset(d.b.buf, 0, BUF_SIZE);
		complete += completed(&d, IBV_WC_REM_ACCESS_ERR) == REQUESTS;
		untouched += is_zero(d.b.buf);
		duo_close(&d);
	}
	tap_int("a region that the peer writes to can be deregistered", 0, refused);
	tap_int("is not written to from then on", ROUNDS, untouched);
	tap_int("and the peer's requests complete", ROUNDS, complete);
}

static void local_region_goes(void)
{
	int round, complete = 0, refused = 0;

	for (round = 0; round < ROUNDS; round++) {
		struct duo d;

		duo_open(&d, NULL);
		post_many(&d, IBV_WR_RDMA_WRITE, d.b.mr);
		sleep_ms(round);
		refused += !!ibv_dereg_mr(d.a.mr);
		complete += completed(&d, IBV_WC_LOC_PROT_ERR) == REQUESTS;
		d.a.mr = ibv_reg_mr(d.a.pd, d.a.buf, BUF_SIZE, IBV_ACCESS_LOCAL_WRITE);
		duo_close(&d);
	}
	tap_int("a region that is being sent from can be deregistered", 0, refused);
	tap_int("and the requests complete", ROUNDS, complete);
}

static void qp_goes(void)
{
	int round, untouched = 0, refused = 0;

	for (round = 0; round < ROUNDS; round++) {
		struct ibv_wc wc;
		struct duo d;

		duo_open(&d, NULL);
		memset(d.b.buf, 0x42, BUF_SIZE);
		post_many(&d, IBV_WR_RDMA_READ, d.b.mr);
		sleep_ms(round);
		refused += !!ibv_destroy_qp(d.a.qp);
		d.a.qp = NULL;
		memset(d.a.buf, 0, BUF_SIZE);
		sleep_ms(100);
		untouched += is_zero(d.a.buf);
		while (ibv_poll_cq(d.a.scq, 1, &wc) > 0)
			;
		duo_close(&d);
	}
	tap_int("a QP with READs under way can be destroyed", 0, refused);
	tap_int("and they write nothing from then on", ROUNDS, untouched);
}

static void *leave_with_the_message(void *arg)
{
	double end = seconds() + 10;
	struct end *e = arg;
	struct ibv_wc wc;

	while (!ibv_poll_cq(e->rcq, 1, &wc) && seconds() < end)
		;
	if (ibv_destroy_qp(e->qp))
		die("ibv_destroy_qp");
	e->qp = NULL;
	return NULL;
}

/* As pingpongs end: the peer must get its acknowledgment all the same. */
static void receiver_goes(void)
{
	int round, complete = 0;

	for (round = 0; round < DEPARTURES; round++) {
		pthread_t thread;
		struct ibv_wc wc;
		struct duo d;

		duo_open(&d, NULL);
		post_recv(&d.b, 1, sge_of(&d.b, 0, 8));
		if (pthread_create(&thread, NULL, leave_with_the_message, &d.b))
			die("pthread_create");
		post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
		pthread_join(thread, NULL);
		complete += wait_wc(d.a.scq, &wc, PATIENCE_MS) && !wc.status;
		duo_close(&d);
	}
	tap_int("who has its message may leave: the sender knows it", DEPARTURES,
		complete);
}

void test_in_flight(void)
{
	remote_region_goes();
	local_region_goes();
	qp_goes();
	receiver_goes();
}
