// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues: limits, resize, sharing, errors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

static struct ibv_srq *create_of(struct end *e, struct ibv_srq_attr attr)
{
	struct ibv_srq_init_attr init = { .attr = attr };

	errno = 0;
	return ibv_create_srq(e->pd, &init);
}

static struct ibv_srq *create(struct end *e, uint32_t wr, uint32_t sge)
{
	return create_of(e, (struct ibv_srq_attr){ .max_wr = wr, .max_sge = sge });
}

static struct ibv_srq *must_create_with_limit(struct end *e, uint32_t wr, uint32_t limit)
{
	struct ibv_srq *srq = create_of(e, (struct ibv_srq_attr){ wr, 1, limit });

	if (!srq)
		die_errno(errno, "ibv_create_srq");
	return srq;
}

static struct ibv_srq *must_create(struct end *e, uint32_t wr)
{
	return must_create_with_limit(e, wr, 0);
}

static int post(struct ibv_srq *srq, const struct end *e, uint64_t id)
{
	struct ibv_sge sge = sge_of(e, 256 * id, 256);
	struct ibv_recv_wr wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static int modify(struct ibv_srq *srq, int mask, uint32_t wr, uint32_t limit)
{
	struct ibv_srq_attr attr = { .max_wr = wr, .srq_limit = limit };

	return ibv_modify_srq(srq, &attr, mask);
}

static struct ibv_srq_attr query(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr = {};

	if (ibv_query_srq(srq, &attr))
		die("ibv_query_srq");
	return attr;
}

/* One message from @d->a; the completion at b has the receive's @id. */
static void message(const char *name, struct duo *d, uint64_t id)
{
	struct ibv_wc wc;

	memset(d->a.buf, id, 64);
	post_send(&d->a, id, sge_of(&d->a, 0, 64), 0);
	if (!wait_wc(d->a.scq, &wc, PATIENCE_MS) || wc.status)
		tap_not_ok(name, "send: '%s'", ibv_wc_status_str(wc.status));
	else
		tap_wc(name, d->b.rcq, id, IBV_WC_SUCCESS);
}

static void limits(void)
{
	struct ibv_device_attr *dev;
	unsigned int bit, i, taken = 0;
	struct ibv_srq *srq;
	struct duo d;

	duo_open(&d, NULL);
	dev = &d.b.port->dev;
	tap_true("a device has SRQs", dev->max_srq > 0);
	tap_refused("an SRQ of nothing is refused", EINVAL, create(&d.b, 0, 1));
	tap_refused("an SRQ of max_srq_wr + 1 is refused", EINVAL,
		    create(&d.b, dev->max_srq_wr + 1, 1));
	tap_refused("an SRQ of max_srq_sge + 1 is refused", EINVAL,
		    create(&d.b, 1, dev->max_srq_sge + 1));
	srq = create(&d.b, dev->max_srq_wr, dev->max_srq_sge);
	tap_true("an SRQ of max_srq_wr with max_srq_sge", srq);
	if (srq)
		ibv_destroy_srq(srq);
	srq = must_create(&d.b, 10);
	tap_true("an SRQ has at least the size asked for",
		 query(srq).max_wr >= 10);
	tap_errno("a limit above the size is refused", EINVAL,
		  modify(srq, IBV_SRQ_LIMIT, 0, query(srq).max_wr + 1));
	for (i = 0; i < 8; i++)
		post(srq, &d.b, i);
	tap_errno("a limit can be set", 0, modify(srq, IBV_SRQ_LIMIT, 0, 7));
	tap_int("and is told", 7, query(srq).srq_limit);
	tap_errno("a size below the limit is refused", EINVAL,
		  modify(srq, IBV_SRQ_MAX_WR, 3, 0));
	for (bit = 2; bit < 32; bit++)
		taken += !modify(srq, 1u << bit | IBV_SRQ_LIMIT, 0, 3);
	tap_int("other attributes are refused", 0, taken);
	tap_int("and nothing beside them is taken", 7, query(srq).srq_limit);
	tap_errno("both attributes together are taken", 0,
		  modify(srq, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 20, 8));
	tap_true("and told", query(srq).max_wr >= 20 && query(srq).srq_limit == 8);
	tap_errno("no attribute at all changes nothing", 0, modify(srq, 0, 1, 1));
	tap_int("as is told", 8, query(srq).srq_limit);
	ibv_destroy_srq(srq);
	duo_close(&d);
}

/* @home owns the SRQ and the memory; messages come to QPs of other PDs. */
static void sharing(enum ibv_qp_type type)
{
	struct duo home, x, y;
	struct ibv_srq *srq;
	uint32_t skip;
	int i;

	duo_open(&home, NULL);
	srq = must_create(&home.b, 10);
	duo_open(&x, &(struct duo_options){ .type = type, .srq = srq });
	duo_open(&y, &(struct duo_options){ .type = type, .srq = srq });
	for (i = 0; i < 10; i++)
		post(srq, &home.b, i);
	message("a message takes the first receive", &x, 0);
	message("one to another QP the next", &y, 1);
	message("and so on", &x, 2);
	skip = type == IBV_QPT_UD ? 40 : 0;
	tap_int("each is where its receive said", 1,
		home.b.buf[256 + skip] == 1 && home.b.buf[512 + skip] == 2);
	tap_errno("an SRQ in use is not destroyed", EBUSY, ibv_destroy_srq(srq));

	qp_to_state(x.b.qp, IBV_QPS_ERR);
	tap_true("a QP in error has reached its last receive",
		 wait_async(x.b.port->ctx, IBV_EVENT_QP_LAST_WQE_REACHED, PATIENCE_MS));
	tap_no_wc("none that others can use was flushed", x.b.rcq, 50);
	message("and they do", &y, 3);
	duo_close(&x);
	message("also when it is destroyed", &y, 4);
	duo_close(&y);
	tap_errno("an SRQ without QPs is destroyed", 0, ibv_destroy_srq(srq));
	duo_close(&home);
}

static void watching(void)
{
	struct ibv_srq *srq;
	struct duo home, d;
	int i;

	duo_open(&home, NULL);
	srq = must_create(&home.b, 10);
	duo_open(&d, &(struct duo_options){ .srq = srq });
	for (i = 0; i < 10; i++)
		post(srq, &home.b, i);
	modify(srq, IBV_SRQ_LIMIT, 0, 9);
	message("nine receives are left", &d, 0);
	tap_true("which is not below a limit of nine",
		 !wait_async(d.b.port->ctx, IBV_EVENT_SRQ_LIMIT_REACHED, 100));
	message("eight are left", &d, 1);
	tap_true("that is an event",
		 wait_async(d.b.port->ctx, IBV_EVENT_SRQ_LIMIT_REACHED, PATIENCE_MS));
	tap_int("the limit has gone", 0, query(srq).srq_limit);
	message("seven are left", &d, 2);
	tap_true("which makes no further event",
		 !wait_async(d.b.port->ctx, IBV_EVENT_SRQ_LIMIT_REACHED, 100));
	modify(srq, IBV_SRQ_LIMIT, 0, 7);
	message("six are left", &d, 3);
	tap_true("an event again, for a limit that was armed again",
		 wait_async(d.b.port->ctx, IBV_EVENT_SRQ_LIMIT_REACHED, PATIENCE_MS));
	modify(srq, IBV_SRQ_LIMIT, 0, 7);
	tap_true("an event at once, for a limit that is reached when it is armed",
		 wait_async(d.b.port->ctx, IBV_EVENT_SRQ_LIMIT_REACHED, PATIENCE_MS));
	tap_int("it has gone, too", 0, query(srq).srq_limit);
	duo_close(&d);
	ibv_destroy_srq(srq);
	duo_close(&home);
}

static void limit_at_creation(void)
{
	struct ibv_srq *srq;
	struct duo home, d;

	duo_open(&home, NULL);
	srq = must_create_with_limit(&home.b, 10, UINT32_MAX);
	tap_int("a limit above the size is none at creation", 0, query(srq).srq_limit);
	ibv_destroy_srq(srq);
	srq = must_create_with_limit(&home.b, 10, 2);
	tap_int("a limit can be set at creation", 2, query(srq).srq_limit);
	duo_open(&d, &(struct duo_options){ .srq = srq });
	post(srq, &home.b, 0);
	post(srq, &home.b, 1);
	tap_true("receives that are posted make no event of it",
		 !wait_async(d.b.port->ctx, IBV_EVENT_SRQ_LIMIT_REACHED, 100));
	message("one is left", &d, 0);
	tap_true("that is an event",
		 wait_async(d.b.port->ctx, IBV_EVENT_SRQ_LIMIT_REACHED, PATIENCE_MS));
	duo_close(&d);
	ibv_destroy_srq(srq);
	duo_close(&home);
}

static void resizing(void)
{
	struct ibv_srq *srq;
	struct duo home, d;
	uint64_t i;

	duo_open(&home, NULL);
	srq = must_create(&home.b, 10);
	duo_open(&d, &(struct duo_options){ .srq = srq });
	for (i = 0; i < 10; i++)
		post(srq, &home.b, i);
	message("before it is resized", &d, 0);
	tap_errno("an SRQ grows", 0, modify(srq, IBV_SRQ_MAX_WR, 100, 0));
	tap_true("to at least the size asked for", query(srq).max_wr >= 100);
	for (i = 10; i < 100; i++)
		if (post(srq, &home.b, i))
			die("the SRQ did not grow");
	for (i = 1; i < 12; i++)
		message("old and new receives come in order", &d, i);
	tap_true("an SRQ does not shrink below what it holds",
		 modify(srq, IBV_SRQ_MAX_WR, 50, 0) != 0);
	tap_true("an SRQ does not grow beyond max_srq_wr",
		 modify(srq, IBV_SRQ_MAX_WR, d.b.port->dev.max_srq_wr + 1, 0));
	message("a refused resize loses nothing", &d, 12);
	duo_close(&d);
	ibv_destroy_srq(srq);
	duo_close(&home);
}

void test_shared_receive_queues(void)
{
	limits();
	sharing(IBV_QPT_RC);
	sharing(IBV_QPT_UC);
	sharing(IBV_QPT_UD);
	watching();
	limit_at_creation();
	resizing();
}
