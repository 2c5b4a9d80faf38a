// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: events, overflow, resize. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

/* Takes a completion event within @ms. */
static bool event(struct end *e, int ms)
{
	struct pollfd pfd = { .fd = e->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, ms) <= 0)
		return false;
	if (ibv_get_cq_event(e->channel, &cq, &context))
		die_errno(errno, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return true;
}

static void message(struct duo *d, uint64_t id, unsigned int flags)
{
	struct ibv_wc wc;

	post_recv(&d->b, id, sge_of(&d->b, 0, 8));
	post_send(&d->a, id, sge_of(&d->a, 0, 8), flags);
	if (!wait_wc(d->a.scq, &wc, PATIENCE_MS) || wc.status)
		die("a message did not get through");
}

static void events(void)
{
	struct duo d;

	duo_open(&d, NULL);
	message(&d, 1, 0);
	tap_true("a CQ that is not armed makes no event", !event(&d.b, 50));
	tap_wcs("the completion is there all the same", d.b.rcq, 1, 1,
		IBV_WC_SUCCESS);
	ibv_req_notify_cq(d.b.rcq, 0);
	tap_true("a CQ that is armed makes no event while it is empty",
		 !event(&d.b, 50));
	message(&d, 2, 0);
	tap_true("an armed CQ makes an event", event(&d.b, PATIENCE_MS));
	message(&d, 3, 0);
	tap_true("but only one", !event(&d.b, 50));
	ibv_req_notify_cq(d.b.rcq, 0);
	tap_true("a CQ that is armed with completions in it makes one at once",
		 event(&d.b, PATIENCE_MS));
	ibv_req_notify_cq(d.b.rcq, 1);
	message(&d, 4, 0);
	tap_true("a CQ armed for solicited completions ignores the others",
		 !event(&d.b, 50));
	message(&d, 5, IBV_SEND_SOLICITED);
	tap_true("and wakes for a solicited one", event(&d.b, PATIENCE_MS));
	tap_wcs("no completion was lost on the way", d.b.rcq, 2, 5,
		IBV_WC_SUCCESS);
	post_recv(&d.b, 6, sge_of(&d.b, 0, 8));
	ibv_req_notify_cq(d.b.rcq, 1);
	qp_to_state(d.b.qp, IBV_QPS_ERR);
	tap_true("a failed completion wakes a CQ armed for solicited ones",
		 event(&d.b, PATIENCE_MS));
	duo_close(&d);
}

/* As perftest: it asks for the next event before it reads the completion of this one. */
static void one_event_for_one_completion(void)
{
	struct duo d;

	duo_open(&d, NULL);
	ibv_req_notify_cq(d.b.rcq, 0);
	message(&d, 1, 0);
	if (!event(&d.b, PATIENCE_MS))
		die("a completion made no event");
	ibv_req_notify_cq(d.b.rcq, 0);
	tap_true("a CQ armed before the completion of its event is read makes no second event",
		 !event(&d.b, 50));
	ibv_req_notify_cq(d.b.rcq, 0);
	message(&d, 2, 0);
	tap_true("the next completion makes one", event(&d.b, PATIENCE_MS));
	message(&d, 3, 0);
	ibv_req_notify_cq(d.b.rcq, 0);
	tap_true("so does one that came while the CQ was not armed",
		 event(&d.b, PATIENCE_MS));
	tap_wcs("each event stands for one completion", d.b.rcq, 1, 3, IBV_WC_SUCCESS);
	message(&d, 4, 0);
	ibv_req_notify_cq(d.b.rcq, 0);
	tap_true("a program that has read all of them is told of the next one",
		 event(&d.b, PATIENCE_MS));
	duo_close(&d);
}

static void overflow(void)
{
	struct duo d;
	int i, entries;

	duo_open(&d, &(struct duo_options){ .cqe = 4, .wr = 256 });
	entries = d.a.scq->cqe;
	if (entries > 240)
		die("the smallest CQ has %d entries", entries);
	for (i = 0; i < entries + 8; i++)
		post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge_of(&d.a, 0, 8),
			  (uintptr_t)d.b.buf, d.b.mr->rkey);
	tap_true("a CQ that overflows makes a CQ_ERR event",
		 wait_async(d.a.port->ctx, IBV_EVENT_CQ_ERR, PATIENCE_MS));
	duo_close(&d);
}

static void resize(void)
{
	struct ibv_wc wc;
	struct duo d;
	int i, err;

	duo_open(&d, &(struct duo_options){ .cqe = 20 });
	for (i = 1; i <= 10; i++)
		post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge_of(&d.a, 0, 8),
			  (uintptr_t)d.b.buf, d.b.mr->rkey);
	sleep_ms(100);
	/* Move the indices, so that the ring is not copied from its start. */
	for (i = 1; i <= 3; i++)
		if (!wait_wc(d.a.scq, &wc, PATIENCE_MS))
			die("no completion");
	err = ibv_resize_cq(d.a.scq, 200);
	tap_errno("a CQ grows", 0, err);
	tap_true("to at least the entries asked for", d.a.scq->cqe >= 200);
	tap_wcs("what was not polled yet is in the new ring", d.a.scq, 4, 10,
		IBV_WC_SUCCESS);
	for (i = 11; i <= 18; i++)
		post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge_of(&d.a, 0, 8),
			  (uintptr_t)d.b.buf, d.b.mr->rkey);
	sleep_ms(100);
	tap_true("a CQ does not shrink below what it holds",
		 ibv_resize_cq(d.a.scq, 2) != 0);
	tap_wcs("a refused resize loses nothing", d.a.scq, 11, 18,
		IBV_WC_SUCCESS);
	tap_errno("an empty CQ shrinks", 0, ibv_resize_cq(d.a.scq, 16));
	tap_alive("and works", &d);
	tap_true("a CQ does not grow beyond max_cqe",
		 ibv_resize_cq(d.a.scq, d.a.port->dev.max_cqe + 1) != 0);
	duo_close(&d);
}

/* How many completions a batch has; the loop is that of ibv_create_cq_ex(3). */
static int poll_batch(struct ibv_cq *cq, uint64_t *last_id)
{
	struct ibv_cq_ex *extended = (struct ibv_cq_ex *)cq;
	struct ibv_poll_cq_attr attr = {};
	int seen = 0, err;

	err = ibv_start_poll(extended, &attr);
	if (err == ENOENT)
		return 0;
	if (err)
		die_errno(err, "ibv_start_poll");
	do {
		*last_id = extended->wr_id;
		seen++;
		err = ibv_next_poll(extended);
	} while (!err);
	ibv_end_poll(extended);
	if (err != ENOENT)
		die_errno(err, "ibv_next_poll");
	return seen;
}

static void arm(struct ibv_cq *cq, int solicited_only)
{
	int err = ibv_req_notify_cq(cq, solicited_only);

	if (err)
		die_errno(err, "ibv_req_notify_cq");
}

/*
 * ibv_end_poll() of librxe before rdma-core 55 leaves a consumer index that is ahead
 * of the producer. That is no overflow, and who waits for an event before each batch
 * does not notice. There are enough rounds to go around the ring several times.
 */
static void extended_batches(void)
{
	int round, rounds, right = 0;
	uint64_t id = 0;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .cqe = 4, .extended_cq = true });
	rounds = 4 * (d.a.scq->cqe + 2);
	for (round = 1; round <= rounds; round++) {
		arm(d.a.scq, 0);
		post_rdma(&d, IBV_WR_RDMA_WRITE, round, sge_of(&d.a, 0, 8),
			  (uintptr_t)d.b.buf, d.b.mr->rkey);
		if (!event(&d.a, PATIENCE_MS))
			break;
		right += poll_batch(d.a.scq, &id) == 1 && id == (uint64_t)round;
	}
	tap_int("batches of an extended CQ have one completion for each event",
		rounds, right);
	tap_state("its QP stays in RTS", IBV_QPS_RTS, d.a.qp);
	tap_true("and it does not overflow",
		 !wait_async(d.a.port->ctx, IBV_EVENT_CQ_ERR, 1));
	duo_close(&d);
}

/* Polls batches, without an event, until @target has the byte; gives up in the end. */
static bool poll_until_written(struct ibv_cq *cq, const volatile uint8_t *target,
			       uint8_t byte)
{
	double end = seconds() + PATIENCE_MS / 1000.;
	uint64_t id;

	do {
		if (seconds() > end)
			return false;
		poll_batch(cq, &id);
	} while (*target != byte);
	return true;
}

/* Old completions that librxe before 55 invents are not counted, see compatibility.md. */
static void extended_batches_without_events(void)
{
	int round, rounds, written = 0;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .cqe = 4, .extended_cq = true });
	rounds = 4 * (d.a.scq->cqe + 2);
	for (round = 1; round <= rounds; round++) {
		d.a.buf[0] = round;
		post_rdma(&d, IBV_WR_RDMA_WRITE, round, sge_of(&d.a, 0, 1),
			  (uintptr_t)d.b.buf, d.b.mr->rkey);
		if (!poll_until_written(d.a.scq, d.b.buf, round))
			break;
		written++;
	}
	tap_int("who polls an extended CQ without events writes all there is to write",
		rounds, written);
	tap_state("its QP, too, stays in RTS", IBV_QPS_RTS, d.a.qp);
	tap_true("and its CQ does not overflow",
		 !wait_async(d.a.port->ctx, IBV_EVENT_CQ_ERR, 1));
	duo_close(&d);
}

/* An error counts as solicited, so its event says that the others are there, too. */
static void extended_batch_of_all(void)
{
	const struct duo_options options = {
		.cqe = 7, .wr = 32, .extended_cq = true,
	};
	uint64_t id = 0;
	int i, entries;
	struct duo d;

	duo_open(&d, &options);
	entries = d.a.scq->cqe;
	if (entries > 32)
		die("a CQ for 7 has %d entries", entries);
	arm(d.a.scq, 1);
	for (i = 1; i <= entries; i++) {
		struct ibv_sge sge = sge_of(&d.a, 0, 8);

		sge.lkey ^= i == entries;
		post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge, (uintptr_t)d.b.buf,
			  d.b.mr->rkey);
	}
	tap_true("an extended CQ fills up", event(&d.a, PATIENCE_MS));
	arm(d.a.scq, 1);
	tap_int("one batch has all that it can hold", entries,
		poll_batch(d.a.scq, &id));
	post_rdma(&d, IBV_WR_RDMA_WRITE, 100, sge_of(&d.a, 0, 8),
		  (uintptr_t)d.b.buf, d.b.mr->rkey);
	tap_true("and there is room for the next one",
		 event(&d.a, PATIENCE_MS) && poll_batch(d.a.scq, &id) == 1 && id == 100);
	tap_true("without an overflow",
		 !wait_async(d.a.port->ctx, IBV_EVENT_CQ_ERR, 1));
	duo_close(&d);
}

/* As perftest does, whose queues are for one request, when an event came early */
static void who_is_behind(void)
{
	struct duo d;
	int i, posted = 0;

	duo_open(&d, &(struct duo_options){ .cqe = 1, .wr = 1 });
	for (i = 1; i <= 4; i++) {
		posted += !post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge_of(&d.a, 0, 8),
				     (uintptr_t)d.b.buf, d.b.mr->rkey);
		sleep_ms(20);
	}
	tap_int("queues for one request have room for some more", 4, posted);
	tap_wcs("and for their completions", d.a.scq, 1, 4, IBV_WC_SUCCESS);
	duo_close(&d);
}

void test_completion_queues(void)
{
	events();
	one_event_for_one_completion();
	overflow();
	who_is_behind();
	extended_batches();
	extended_batches_without_events();
	extended_batch_of_all();
	resize();
}
