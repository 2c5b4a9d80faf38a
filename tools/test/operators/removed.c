// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * removed: a program from which its device is taken.
 *
 *	removed DEVICE GID_INDEX
 *
 * Prints "ready" and waits for IBV_EVENT_DEVICE_FATAL. From then on every verb
 * must fail with EIO, the rings can be read without a signal, and everything
 * can be let go of. The exit status is 0 if all of that was so.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "util.h"
#include "rdma.h"

#define BUF_SIZE 4096

struct belongings {
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t *buf;
};

static void take(struct belongings *b, struct ibv_context *ctx)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	b->buf = zalloc(BUF_SIZE);
	b->pd = ibv_alloc_pd(ctx);
	b->mr = b->pd ? ibv_reg_mr(b->pd, b->buf, BUF_SIZE,
				   IBV_ACCESS_LOCAL_WRITE) : NULL;
	b->cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	init.send_cq = b->cq;
	init.recv_cq = b->cq;
	b->qp = b->mr && b->cq ? ibv_create_qp(b->pd, &init) : NULL;
	if (!b->qp)
		die_errno(errno, "objects of a device that is still there");
	if (qp_to_init(b->qp, 0))
		die("ibv_modify_qp of a device that is still there");
}

static void wait_for_the_end(struct ibv_context *ctx)
{
	struct pollfd poller = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	do {
		if (poll(&poller, 1, PATIENCE_MS) != 1)
			die("nobody said that the device is gone");
		if (ibv_get_async_event(ctx, &event))
			die_errno(errno, "ibv_get_async_event");
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_DEVICE_FATAL);
}

static void must_fail(const char *verb, int err)
{
	if (err != EIO)
		die_errno(err, "%s without a device", verb);
}

static void no_verb_works(struct belongings *b, struct ibv_context *ctx)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)b->buf, .length = 8, .lkey = b->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_device_attr device;
	struct ibv_wc wc;

	must_fail("ibv_query_device", ibv_query_device(ctx, &device));
	must_fail("ibv_alloc_pd", ibv_alloc_pd(ctx) ? 0 : errno);
	must_fail("ibv_reg_mr", ibv_reg_mr(b->pd, b->buf, BUF_SIZE, 0) ? 0 : errno);
	must_fail("ibv_create_cq", ibv_create_cq(ctx, 1, NULL, NULL, 0) ? 0 : errno);
	must_fail("ibv_modify_qp", ibv_modify_qp(b->qp, &attr, IBV_QP_STATE));
	/* These are the library's: what they answer is its affair. */
	ibv_post_recv(b->qp, &wr, &bad);
	ibv_poll_cq(b->cq, 1, &wc);
}

static void let_go(struct belongings *b)
{
	if (ibv_destroy_qp(b->qp) || ibv_destroy_cq(b->cq) ||
	    ibv_dereg_mr(b->mr) || ibv_dealloc_pd(b->pd))
		die("what belonged to the device cannot be let go of");
	free(b->buf);
}

int main(int argc, char **argv)
{
	struct belongings belongings;
	struct port port;

	if (argc != 3)
		die("usage: removed DEVICE GID_INDEX");
	port_open(&port, argv[1], atoi(argv[2]));
	take(&belongings, port.ctx);
	puts("ready");
	fflush(stdout);
	wait_for_the_end(port.ctx);
	no_verb_works(&belongings, port.ctx);
	let_go(&belongings);
	port_close(&port);
	puts("the device was gone, and every verb said so");
	return 0;
}
