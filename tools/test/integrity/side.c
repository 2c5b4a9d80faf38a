// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Builds and takes down what a side needs for a round. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "side.h"

/* What the two sides tell each other of each QP. */
struct hello {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey;
	uint32_t qpn;
	uint32_t psn;
	uint32_t mtu;
};

void fail_as(struct side *s, int status, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s %s: %s: ", status == EXIT_GONE ? "GONE" : "FAIL",
		s->server ? "server" : "client", round_str(s->r));
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	note_failure(s->line);
	exit(status);
}

bool tell(struct side *s, struct flow *f, enum note_kind kind, uint32_t value)
{
	bool told = note_send(s->line, kind, f->index, value);

	s->line_full |= !told;
	return told;
}

static uint8_t *slots(struct side *s)
{
	void *mem;

	if (posix_memalign(&mem, 4096, s->mem_size))
		die("out of memory");
	poison(mem, s->mem_size);
	return mem;
}

static void create_memory(struct side *s)
{
	const struct round *r = s->r;
	const int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_REMOTE_ATOMIC;

	s->stride = slot_stride(r->size);
	s->mem_size = (size_t)s->stride * r->depth * r->qps;
	s->tx_mem = slots(s);
	s->rx_mem = slots(s);
	s->tx_mr = ibv_reg_mr(s->pd, s->tx_mem, s->mem_size,
			      IBV_ACCESS_LOCAL_WRITE);
	s->rx_mr = ibv_reg_mr(s->pd, s->rx_mem, s->mem_size,
			      IBV_ACCESS_LOCAL_WRITE | remote);
	if (!s->tx_mr || !s->rx_mr)
		fail_verb(s, "ibv_reg_mr", errno);
	s->expected = zalloc(s->stride);
	s->seen = zalloc(s->stride);
}

static void create_cqs(struct side *s)
{
	int entries = s->r->qps * s->r->depth + 1;

	if (s->r->flags & ROUND_EVENTS) {
		s->channel = ibv_create_comp_channel(s->port->ctx);
		if (!s->channel)
			fail_verb(s, "ibv_create_comp_channel", errno);
	}
	s->scq = ibv_create_cq(s->port->ctx, entries, NULL, s->channel, 0);
	s->rcq = ibv_create_cq(s->port->ctx, entries, NULL, s->channel, 0);
	if (!s->scq || !s->rcq)
		fail_verb(s, "ibv_create_cq", errno);
}

static void create_qp(struct side *s, struct flow *f)
{
	const struct round *r = s->r;
	struct ibv_qp_init_attr init = {
		.send_cq = s->scq,
		.recv_cq = s->rcq,
		.qp_type = r->qp_type,
		.sq_sig_all = 0,
		.cap = {
			.max_send_wr = r->depth,
			.max_recv_wr = r->depth,
			.max_send_sge = MAX_SGE,
			.max_recv_sge = MAX_SGE,
			.max_inline_data =
				r->flags & ROUND_INLINE ? r->size : 0,
		},
	};

	f->qp = ibv_create_qp(s->pd, &init);
	if (!f->qp)
		fail_verb(s, "ibv_create_qp", errno);
	if (init.cap.max_send_wr < r->depth || init.cap.max_send_sge < MAX_SGE)
		fail(s, "the QP got less than was asked for");
}

static void exchange_hello(struct side *s, struct flow *f)
{
	const struct round *r = s->r;
	struct hello me = {
		.gid = s->port->gid,
		.addr = (uintptr_t)rx_slot(s, f, 0),
		.rkey = s->rx_mr->rkey,
		.qpn = f->qp->qp_num,
		.mtu = mtu_bytes(s->port->attr.active_mtu),
	};
	struct hello peer;

	me.psn = (r->psn + f->index * 11 + s->server * 5) & 0xffffff;
	line_send(s->line, &me, sizeof(me));
	line_recv(s->line, &peer, sizeof(peer));
	if (r->mtu > me.mtu || r->mtu > peer.mtu)
		fail(s, "active MTU is %u here, %u there", me.mtu, peer.mtu);
	f->remote_qpn = peer.qpn;
	f->remote_addr = peer.addr;
	f->remote_rkey = peer.rkey;
	f->path = (struct path) {
		.gid = peer.gid,
		.qpn = peer.qpn,
		.rq_psn = peer.psn,
		.sq_psn = me.psn,
		.mtu = r->mtu,
		.timeout = r->timeout,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 1,
		.rd_atomic = min(s->port->dev.max_qp_rd_atom, 16),
	};
}

static void connect_qp(struct side *s, struct flow *f)
{
	int err;

	err = qp_to_init(f->qp, IBV_ACCESS_LOCAL_WRITE |
			 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			 IBV_ACCESS_REMOTE_ATOMIC);
	if (err)
		fail_verb(s, "to INIT", err);
	err = qp_to_rtr(f->qp, s->port, &f->path);
	if (err)
		fail_verb(s, "to RTR", err);
	err = qp_to_rts(f->qp, &f->path);
	if (err)
		fail_verb(s, "to RTS", err);
	if (s->r->qp_type != IBV_QPT_UD)
		return;
	f->ah = ah_create(s->pd, s->port, &f->path);
	if (!f->ah)
		fail_verb(s, "ibv_create_ah", errno);
}

static void create_flow(struct side *s, uint32_t index)
{
	bool bidir = s->r->flags & ROUND_BIDIR;
	struct flow *f = &s->flows[index];

	f->index = index;
	f->tx.active = bidir || !s->server;
	f->rx.active = bidir || s->server;
	f->tx.credit = s->r->depth;
	f->rx.granted = s->r->depth;
	create_qp(s, f);
	exchange_hello(s, f);
	connect_qp(s, f);
}

void side_create(struct side *s)
{
	uint32_t i;

	s->pd = ibv_alloc_pd(s->port->ctx);
	if (!s->pd)
		fail_verb(s, "ibv_alloc_pd", errno);
	create_memory(s);
	create_cqs(s);
	s->flows = zalloc(s->r->qps * sizeof(*s->flows));
	for (i = 0; i < s->r->qps; i++)
		create_flow(s, i);
}

static void must(struct side *s, const char *what, int err)
{
	if (err)
		fail_verb(s, what, err);
}

void side_destroy(struct side *s)
{
	uint32_t i;

	for (i = 0; i < s->r->qps; i++) {
		if (s->flows[i].ah)
			must(s, "ibv_destroy_ah", ibv_destroy_ah(s->flows[i].ah));
		must(s, "ibv_destroy_qp", ibv_destroy_qp(s->flows[i].qp));
	}
	ibv_ack_cq_events(s->scq, s->scq_events);
	ibv_ack_cq_events(s->rcq, s->rcq_events);
	must(s, "ibv_destroy_cq", ibv_destroy_cq(s->scq));
	must(s, "ibv_destroy_cq", ibv_destroy_cq(s->rcq));
	if (s->channel)
		must(s, "ibv_destroy_comp_channel",
		     ibv_destroy_comp_channel(s->channel));
	must(s, "ibv_dereg_mr", ibv_dereg_mr(s->tx_mr));
	must(s, "ibv_dereg_mr", ibv_dereg_mr(s->rx_mr));
	must(s, "ibv_dealloc_pd", ibv_dealloc_pd(s->pd));
	free(s->tx_mem);
	free(s->rx_mem);
	free(s->expected);
	free(s->seen);
	free(s->flows);
}
