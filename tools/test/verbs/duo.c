// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Two ends in one process: devices are visible beyond their namespaces. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

static struct port *port_a, *port_b;

void duo_ports(struct port *a, struct port *b)
{
	port_a = a;
	port_b = b;
}

static struct ibv_cq *create_extended_cq(struct end *e, uint32_t cqe)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = e->channel,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(e->port->ctx, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static void end_open(struct end *e, struct port *port,
		     const struct duo_options *opt)
{
	struct ibv_qp_init_attr init = {
		.qp_type = opt->type,
		.srq = port == port_b ? opt->srq : NULL,
		.cap = {
			.max_send_wr = opt->wr,
			.max_recv_wr = opt->wr,
			.max_send_sge = opt->sge,
			.max_recv_sge = opt->sge,
			.max_inline_data = opt->inline_data,
		},
	};

	memset(e, 0, sizeof(*e));
	e->port = port;
	e->pd = ibv_alloc_pd(port->ctx);
	e->channel = ibv_create_comp_channel(port->ctx);
	e->scq = opt->extended_cq && port == port_a ?
		 create_extended_cq(e, opt->cqe) :
		 ibv_create_cq(port->ctx, opt->cqe, NULL, e->channel, 0);
	e->rcq = ibv_create_cq(port->ctx, opt->cqe, NULL, e->channel, 0);
	if (!e->pd || !e->channel || !e->scq || !e->rcq)
		die_errno(errno, "PD or CQ");
	init.send_cq = e->scq;
	init.recv_cq = e->rcq;
	e->qp = ibv_create_qp(e->pd, &init);
	if (!e->qp)
		die_errno(errno, "ibv_create_qp");
	if (posix_memalign((void **)&e->buf, 4096, BUF_SIZE))
		die("out of memory");
	memset(e->buf, 0, BUF_SIZE);
	e->mr = ibv_reg_mr(e->pd, e->buf, BUF_SIZE, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!e->mr)
		die_errno(errno, "ibv_reg_mr");
}

static void must(const char *what, int err)
{
	if (err)
		die_errno(err, "%s", what);
}

static void end_close(struct end *e)
{
	if (e->ah)
		must("ibv_destroy_ah", ibv_destroy_ah(e->ah));
	if (e->qp)
		must("ibv_destroy_qp", ibv_destroy_qp(e->qp));
	must("ibv_destroy_cq", ibv_destroy_cq(e->scq));
	must("ibv_destroy_cq", ibv_destroy_cq(e->rcq));
	must("ibv_destroy_comp_channel", ibv_destroy_comp_channel(e->channel));
	must("ibv_dereg_mr", ibv_dereg_mr(e->mr));
	must("ibv_dealloc_pd", ibv_dealloc_pd(e->pd));
	free(e->buf);
}

static void fill_path(struct duo *d, struct end *e, struct end *peer)
{
	e->path = (struct path) {
		.gid = peer->port->gid,
		.qpn = peer->qp->qp_num,
		/* both within a few packets of the 24 bit wrap */
		.sq_psn = e == &d->a ? 0xfffffe : 0xfffff8,
		.rq_psn = e == &d->a ? 0xfffff8 : 0xfffffe,
		.mtu = min(mtu_bytes(e->port->attr.active_mtu),
			   mtu_bytes(peer->port->attr.active_mtu)),
		.timeout = d->opt.infinite_timeout ? 0 : d->opt.timeout,
		.retry_cnt = d->opt.retry_cnt,
		.rnr_retry = d->opt.rnr_retry,
		.min_rnr_timer = 12,	/* 0.64 ms */
		.rd_atomic = 4,
	};
}

static void end_connect(struct duo *d, struct end *e, struct end *peer)
{
	unsigned int access = IBV_ACCESS_LOCAL_WRITE;

	if (!d->opt.no_remote_access)
		access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	fill_path(d, e, peer);
	must("to INIT", qp_to_init(e->qp, access));
	must("to RTR", qp_to_rtr(e->qp, e->port, &e->path));
	must("to RTS", qp_to_rts(e->qp, &e->path));
	if (e->qp->qp_type != IBV_QPT_UD || e->ah)
		return;
	e->ah = ah_create(e->pd, e->port, &e->path);
	if (!e->ah)
		die_errno(errno, "ibv_create_ah");
}

void duo_connect(struct duo *d)
{
	end_connect(d, &d->a, &d->b);
	end_connect(d, &d->b, &d->a);
}

static void set_defaults(struct duo_options *opt)
{
	opt->type = opt->type ?: IBV_QPT_RC;
	opt->wr = opt->wr ?: 16;
	opt->sge = opt->sge ?: 4;
	opt->cqe = opt->cqe ?: 64;
	opt->timeout = opt->timeout ?: 17;
	opt->retry_cnt = opt->retry_cnt ?: 3;
}

void duo_open(struct duo *d, const struct duo_options *opt)
{
	memset(d, 0, sizeof(*d));
	if (opt)
		d->opt = *opt;
	set_defaults(&d->opt);
	end_open(&d->a, port_a, &d->opt);
	end_open(&d->b, port_b, &d->opt);
	if (!d->opt.unconnected)
		duo_connect(d);
}

void duo_close(struct duo *d)
{
	end_close(&d->a);
	end_close(&d->b);
	drain_async(port_a->ctx);
	drain_async(port_b->ctx);
}

bool wait_wc(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms)
{
	double end = seconds() + ms / 1e3;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, wc);
		if (n)
			return n > 0;
		sleep_ms(1);
	} while (seconds() < end);
	return false;
}

/* Takes one event; returns its type or -1 after @ms. */
static int next_async(struct ibv_context *ctx, int ms)
{
	struct pollfd pfd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&pfd, 1, ms) <= 0 || ibv_get_async_event(ctx, &event))
		return -1;
	ibv_ack_async_event(&event);
	return event.event_type;
}

bool wait_async(struct ibv_context *ctx, enum ibv_event_type type,
		unsigned int ms)
{
	double end = seconds() + ms / 1e3;

	while (seconds() < end)
		if (next_async(ctx, 50) == (int)type)
			return true;
	return false;
}

void drain_async(struct ibv_context *ctx)
{
	while (next_async(ctx, 0) >= 0)
		;
}

struct ibv_sge sge_of(const struct end *e, uint32_t offset, uint32_t len)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)e->buf + offset,
		.length = len,
		.lkey = e->mr->lkey,
	};
}

int post_rdma(struct duo *d, enum ibv_wr_opcode opcode, uint64_t wr_id,
	      struct ibv_sge sge, uint64_t addr, uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = !!sge.length,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	}, *bad;

	return ibv_post_send(d->a.qp, &wr, &bad);
}

int post_send(struct end *e, uint64_t wr_id, struct ibv_sge sge,
	      unsigned int flags)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | flags,
	}, *bad;

	if (e->qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = e->ah;
		wr.wr.ud.remote_qpn = e->path.qpn;
		wr.wr.ud.remote_qkey = TEST_QKEY;
	}
	return ibv_post_send(e->qp, &wr, &bad);
}

int post_recv(struct end *e, uint64_t wr_id, struct ibv_sge sge)
{
	struct ibv_recv_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	return ibv_post_recv(e->qp, &wr, &bad);
}

void tap_alive(const char *name, struct duo *d)
{
	struct ibv_wc wc;

	memset(d->a.buf + 1000, 0x5a, 64);
	memset(d->b.buf + 1000, 0, 104);
	if (post_recv(&d->b, 901, sge_of(&d->b, 1000, 104)) ||
	    post_send(&d->a, 902, sge_of(&d->a, 1000, 64), 0)) {
		tap_not_ok(name, "a post failed");
		return;
	}
	if (!wait_wc(d->a.scq, &wc, PATIENCE_MS) || wc.status || wc.wr_id != 902)
		tap_not_ok(name, "no good send completion (status '%s')",
			   ibv_wc_status_str(wc.status));
	else if (!wait_wc(d->b.rcq, &wc, PATIENCE_MS) || wc.status || wc.wr_id != 901)
		tap_not_ok(name, "no good receive completion");
	else if (d->b.buf[1063] != 0x5a)
		tap_not_ok(name, "the bytes did not come");
	else
		tap_ok(name);
}
