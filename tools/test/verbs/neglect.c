// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Peers that do not do their part: they never post receives, or stop polling. */
#include <errno.h>

#include "verbs.h"

#define MESSAGES 8

static void send_some(struct duo *d)
{
	int i;

	for (i = 1; i <= MESSAGES; i++)
		if (post_send(&d->a, i, sge_of(&d->a, 0, 3000), 0))
			die("ibv_post_send");
}

static void never_posts(void)
{
	struct duo d;
	int i;

	duo_open(&d, &(struct duo_options){ .rnr_retry = 7 });
	send_some(&d);
	tap_no_wc("requests wait for a receiver that does not post", d.a.scq, 200);
	for (i = 1; i <= MESSAGES; i++)
		post_recv(&d.b, i, sge_of(&d.b, 0, 4096));
	tap_wcs("and are executed when it does", d.a.scq, 1, MESSAGES,
		IBV_WC_SUCCESS);
	duo_close(&d);

	duo_open(&d, &(struct duo_options){ .rnr_retry = 7 });
	send_some(&d);
	sleep_ms(50);
	duo_close(&d);
	tap_ok("a QP that waits for a receive can be destroyed");
}

static void stops_polling(void)
{
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };
	int i, entries;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .cqe = 4, .wr = 256 });
	entries = d.b.rcq->cqe;
	if (entries > 240)
		die("the smallest CQ has %d entries", entries);
	for (i = 0; i < entries + 8; i++)
		post_recv(&d.b, i, sge_of(&d.b, 0, 64));
	for (i = 0; i < entries + 8 && wc.status == IBV_WC_SUCCESS; i++)
		if (post_send(&d.a, i, sge_of(&d.a, 0, 64), 0) ||
		    !wait_wc(d.a.scq, &wc, PATIENCE_MS))
			break;
	tap_true("a receiver that stops polling gets as much as its CQ holds",
		 i >= entries);
	tap_true("and a CQ_ERR event",
		 wait_async(d.b.port->ctx, IBV_EVENT_CQ_ERR, PATIENCE_MS));
	tap_state("its QP is in error", IBV_QPS_ERR, d.b.qp);
	tap_true("the sender is told", wc.status != IBV_WC_SUCCESS);
	duo_close(&d);
}

void test_neglect(void)
{
	never_posts();
	stops_polling();
}
