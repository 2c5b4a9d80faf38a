// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder: posts receives, verifies messages where they landed, and gives
 * the peer leave to send more once a slot may be used again.
 */
#include <arpa/inet.h>
#include <string.h>

#include "side.h"

/* What is still on its way so many seconds after the last message is lost. */
#define LAST_ONES 5.0

static bool lossy(struct side *s)
{
	return s->r->flags & ROUND_LOSSY;
}

static uint32_t grh_size(struct side *s)
{
	return s->r->qp_type == IBV_QPT_UD ? GRH_SIZE : 0;
}

/* A receive may be longer than the message: the rest stays untouched. */
static uint32_t slack(uint32_t i)
{
	return (i % 3) * 5;
}

static void recv_pieces(struct side *s, struct flow *f, uint32_t i,
			struct pieces *p)
{
	layout_pieces(p, s->r->rx_layout, rx_slot(s, f, i),
		      grh_size(s) + s->r->size + slack(i), i);
}

static void write_pieces(struct side *s, struct flow *f, uint32_t i,
			 struct pieces *p)
{
	p->len[0] = round_size(s->r, i);
	p->n = !!p->len[0];
	p->addr[0] = rx_slot(s, f, i) + target_offset(s->r, i);
}

static void post_recv(struct side *s, struct flow *f, uint32_t i)
{
	struct ibv_sge sge[MAX_SGE];
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = sge }, *bad;
	struct pieces p = { .n = 0 };
	int err;

	/* A write with immediate takes a receive, but none of its memory. */
	if (round_op(s->r, i) != OP_WRITE_IMM)
		recv_pieces(s, f, i, &p);
	fill_sges(sge, &p, s->rx_mr->lkey);
	wr.num_sge = p.n;
	err = ibv_post_recv(f->qp, &wr, &bad);
	if (err)
		fail_verb(s, "ibv_post_recv", err);
}

static void prepare_memory(struct side *s, struct flow *f, uint32_t i)
{
	struct pieces p;

	poison(rx_slot(s, f, i), s->stride);
	if (!op_fetches(round_op(s->r, i)))
		return;
	write_pieces(s, f, i, &p);
	pattern_fill(s->expected, round_size(s->r, i),
		     pattern_key(s->r, !s->server, f->index, i));
	pattern_scatter(&p, s->expected);
}

static void prepare_slot(struct side *s, struct flow *f, uint32_t i)
{
	prepare_memory(s, f, i);
	if (op_takes_recv(round_op(s->r, i)))
		post_recv(s, f, i);
}

static uint32_t first_slots(struct side *s, struct flow *f)
{
	if (!f->rx.active)
		return 0;
	return lossy(s) ? s->r->depth : min(s->r->depth, s->r->count);
}

void rx_prepare(struct side *s, struct flow *f)
{
	uint32_t i;

	for (i = 0; i < first_slots(s, f); i++)
		prepare_memory(s, f, i);
}

void rx_post_first(struct side *s, struct flow *f)
{
	uint32_t i;

	for (i = 0; i < first_slots(s, f); i++)
		if (op_takes_recv(round_op(s->r, i)))
			post_recv(s, f, i);
	f->rx.posted = first_slots(s, f);
}

static void check_metadata(struct side *s, struct flow *f, uint32_t i,
			   const struct ibv_wc *wc)
{
	bool ud = s->r->qp_type == IBV_QPT_UD;
	enum op op = round_op(s->r, i);
	enum ibv_wc_opcode opcode = op == OP_WRITE_IMM ?
		IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	unsigned int flags = (op_has_imm(op) ? IBV_WC_WITH_IMM : 0) |
			     (ud ? IBV_WC_GRH : 0);
	unsigned int mask = IBV_WC_WITH_IMM | IBV_WC_WITH_INV |
			    (ud ? IBV_WC_GRH : 0);

	if (wc->opcode != opcode)
		fail(s, "receive %u: expected opcode %s, seen %s", i,
		     wc_opcode_str(opcode), wc_opcode_str(wc->opcode));
	if (wc->byte_len != s->r->size + grh_size(s))
		fail(s, "receive %u: expected byte_len %u, seen %u", i,
		     s->r->size + grh_size(s), wc->byte_len);
	if ((wc->wc_flags & mask) != flags)
		fail(s, "receive %u: expected wc_flags %#x, seen %#x", i, flags,
		     wc->wc_flags);
	if (ud && wc->src_qp != f->remote_qpn)
		fail(s, "receive %u: expected src_qp %#x, seen %#x", i,
		     f->remote_qpn, wc->src_qp);
}

static void check_imm(struct side *s, struct flow *f, uint32_t i,
		      const struct ibv_wc *wc)
{
	uint32_t imm = round_imm(s->r, f->index, i);

	if (op_has_imm(round_op(s->r, i)) && wc->imm_data != imm)
		fail(s, "receive %u: expected imm_data %#x, seen %#x", i,
		     ntohl(imm), ntohl(wc->imm_data));
}

/*
 * The messages that take a receive come in the order in which they were sent,
 * none left out, none twice.
 */
static uint32_t next_recv(struct side *s, struct flow *f)
{
	uint32_t i = f->rx.received;

	while (!op_takes_recv(round_op(s->r, i)))
		i++;
	return i;
}

/* Unreliable and lossy: which message is it that came? Never an old one. */
static uint32_t identify(struct side *s, struct flow *f, uint32_t k)
{
	struct pieces p;
	uint32_t i;

	recv_pieces(s, f, k, &p);
	pattern_gather(&p, s->seen);
	for (i = f->rx.next; i < s->r->count; i++) {
		pattern_fill(s->expected, s->r->size,
			     pattern_key(s->r, !s->server, f->index, i));
		if (!memcmp(s->expected, s->seen + grh_size(s), s->r->size))
			return i;
	}
	fail(s, "receive %u is none of the messages from %u on", k, f->rx.next);
}

static void check_grh(struct side *s, struct flow *f, uint32_t i, uint32_t k)
{
	const char *wrong;
	struct pieces p;

	if (!grh_size(s))
		return;
	recv_pieces(s, f, k, &p);
	pattern_gather(&p, s->seen);
	wrong = grh_check(s->seen, &f->path.gid, &s->port->gid, s->r->size,
			  op_has_imm(round_op(s->r, i)));
	if (wrong)
		fail(s, "GRH of receive %u: %s", i, wrong);
}

static void verify_message(struct side *s, struct flow *f, uint32_t i,
			   uint32_t k)
{
	uint64_t key = pattern_key(s->r, !s->server, f->index, i);
	enum op op = round_op(s->r, i);
	struct pieces p;

	if (op == OP_READ)
		return;
	if (op == OP_SEND || op == OP_SEND_IMM) {
		recv_pieces(s, f, k, &p);
		check_bytes(s, f, "receive", i, &p, rx_slot(s, f, k),
			    grh_size(s), slack(k), key);
	} else if (op_is_atomic(op)) {
		struct atomic atomic = pattern_atomic(op, key, i);

		write_pieces(s, f, i, &p);
		memcpy(s->expected, &atomic.result, sizeof(atomic.result));
		check_expected(s, f, "atomic", i, &p, rx_slot(s, f, i), 0, 0);
	} else {
		write_pieces(s, f, i, &p);
		check_bytes(s, f, "write", i, &p, rx_slot(s, f, i), 0, 0, key);
	}
}

static void lossy_completion(struct side *s, struct flow *f,
			     const struct ibv_wc *wc)
{
	uint32_t k = wc->wr_id, i = identify(s, f, k);

	check_metadata(s, f, i, wc);
	check_imm(s, f, i, wc);
	check_grh(s, f, i, k);
	verify_message(s, f, i, k);
	f->rx.lost += i - f->rx.next;
	f->rx.next = i + 1;
	prepare_slot(s, f, f->rx.posted++);
}

/* A receive is flushed for a reason, which the send queue may know of. */
static void check_cause(struct side *s)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(s->scq, 1, &wc) == 1)
		check_success(s, &wc, "send");
}

void rx_completion(struct side *s, const struct ibv_wc *wc)
{
	struct flow *f = flow_of(s, wc->qp_num);
	uint32_t i = lossy(s) ? f->rx.received : next_recv(s, f);

	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		check_cause(s);
	check_success(s, wc, "receive");
	f->rx.last = seconds();
	if (wc->wr_id != i)
		fail(s, "receive completion: expected wr_id %u, seen %#lx", i,
		     wc->wr_id);
	if (i >= f->rx.posted)
		fail(s, "receive completion %u, but %u were posted", i,
		     f->rx.posted);
	f->rx.received = i + 1;
	if (lossy(s)) {
		lossy_completion(s, f, wc);
		return;
	}
	check_metadata(s, f, i, wc);
	check_imm(s, f, i, wc);
	check_grh(s, f, i, i);
}

/* UC says that a write is over when it is still on its way. */
static bool has_landed(struct side *s, struct flow *f, uint32_t i)
{
	struct pieces p;

	write_pieces(s, f, i, &p);
	pattern_fill(s->expected, s->r->size,
		     pattern_key(s->r, !s->server, f->index, i));
	pattern_gather(&p, s->seen);
	return !memcmp(s->expected, s->seen, s->r->size);
}

/*
 * A write is visible once a later message has taken a receive, or its requester
 * saw it complete. A read's source must stay until the latter.
 */
static bool verifiable(struct side *s, struct flow *f, uint32_t i)
{
	enum op op = round_op(s->r, i);

	if (op_takes_recv(op))
		return i < f->rx.received;
	if (s->r->qp_type == IBV_QPT_UC)
		return i < f->rx.received ||
		       (i < f->rx.announced && has_landed(s, f, i));
	return i < f->rx.announced || (op == OP_WRITE && i < f->rx.received);
}

static void grant(struct side *s, struct flow *f, uint32_t upto)
{
	if (upto > f->rx.granted && tell(s, f, NOTE_GRANT, upto))
		f->rx.granted = upto;
}

bool rx_process(struct side *s, struct flow *f)
{
	uint32_t before = f->rx.next;

	if (!f->rx.active)
		return false;
	if (lossy(s)) {
		grant(s, f, f->rx.announced + s->r->depth);
		return false;
	}
	while (f->rx.next < s->r->count && verifiable(s, f, f->rx.next)) {
		verify_message(s, f, f->rx.next, f->rx.next);
		f->rx.next++;
		if (f->rx.posted < s->r->count)
			prepare_slot(s, f, f->rx.posted++);
	}
	grant(s, f, f->rx.next + s->r->depth);
	return f->rx.next != before;
}

bool rx_finished(struct side *s, struct flow *f)
{
	if (!f->rx.active || f->rx.next == s->r->count)
		return true;
	if (!lossy(s) || f->rx.announced < s->r->count ||
	    seconds() < f->rx.last + LAST_ONES)
		return false;
	f->rx.lost += s->r->count - f->rx.next;
	f->rx.next = s->r->count;
	return true;
}
