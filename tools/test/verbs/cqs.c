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
	if (!wait_wc(d->a.scq, &wc, 5000) || wc.status)
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
	tap_true("an armed CQ makes an event", event(&d.b, 3000));
	message(&d, 3, 0);
	tap_true("but only one", !event(&d.b, 50));
	ibv_req_notify_cq(d.b.rcq, 0);
	tap_true("a CQ that is armed with completions in it makes one at once",
		 event(&d.b, 3000));
	ibv_req_notify_cq(d.b.rcq, 1);
	message(&d, 4, 0);
	tap_true("a CQ armed for solicited completions ignores the others",
		 !event(&d.b, 50));
	message(&d, 5, IBV_SEND_SOLICITED);
	tap_true("and wakes for a solicited one", event(&d.b, 3000));
	tap_wcs("no completion was lost on the way", d.b.rcq, 2, 5,
		IBV_WC_SUCCESS);
	post_recv(&d.b, 6, sge_of(&d.b, 0, 8));
	ibv_req_notify_cq(d.b.rcq, 1);
	qp_to_state(d.b.qp, IBV_QPS_ERR);
	tap_true("a failed completion wakes a CQ armed for solicited ones",
		 event(&d.b, 3000));
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
		 wait_async(d.a.port->ctx, IBV_EVENT_CQ_ERR, 5000));
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
		if (!wait_wc(d.a.scq, &wc, 5000))
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

void test_completion_queues(void)
{
	events();
	overflow();
	resize();
}
