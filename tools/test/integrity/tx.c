// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The requester: posts messages, verifies its completions and what it read. */
#include <string.h>

#include "side.h"

#define MAX_LIST 8	/* requests given to one ibv_post_send */

static uint64_t wr_id(struct side *s, struct flow *f, uint32_t i)
{
	return (uint64_t)(s->r->number & 0xffff) << 48 |
	       (uint64_t)f->index << 32 | i;
}

static void fill_slot(struct side *s, struct flow *f, uint32_t i,
		      const struct pieces *p)
{
	uint8_t *slot = tx_slot(s, f, i);

	poison(slot, s->stride);
	if (op_fetches(round_op(s->r, i)))
		return;
	pattern_fill(s->expected, s->r->size,
		     pattern_key(s->r, s->server, f->index, i));
	if (!s->server && i + 1 == s->r->spoiled)
		s->expected[0] ^= 1;
	pattern_scatter(p, s->expected);
}

static bool wants_solicited(struct side *s, uint32_t i)
{
	if (!(s->r->flags & ROUND_SOLICITED) ||
	    !op_takes_recv(round_op(s->r, i)))
		return false;
	return s->r->op >= OP_MIX || i == s->r->count - 1 ||
	       i % max(s->r->depth / 2, 1u) == 0;
}

static enum ibv_wr_opcode wr_opcode(enum op op)
{
	switch (op) {
	case OP_SEND:
		return IBV_WR_SEND;
	case OP_SEND_IMM:
		return IBV_WR_SEND_WITH_IMM;
	case OP_WRITE:
		return IBV_WR_RDMA_WRITE;
	case OP_WRITE_IMM:
		return IBV_WR_RDMA_WRITE_WITH_IMM;
	case OP_FETCH_ADD:
		return IBV_WR_ATOMIC_FETCH_AND_ADD;
	case OP_COMPARE_SWAP:
		return IBV_WR_ATOMIC_CMP_AND_SWP;
	default:
		return IBV_WR_RDMA_READ;
	}
}

static void fill_target(struct side *s, struct flow *f, uint32_t i,
			struct ibv_send_wr *wr)
{
	enum op op = round_op(s->r, i);
	uint64_t target;

	if (s->r->qp_type == IBV_QPT_UD) {
		wr->wr.ud.ah = f->ah;
		wr->wr.ud.remote_qpn = f->remote_qpn;
		wr->wr.ud.remote_qkey = TEST_QKEY;
		return;
	}
	/* The peer's slots lie as ours do. */
	target = f->remote_addr + (uint64_t)(i % s->r->depth) * s->stride +
		 target_offset(s->r, i);
	if (op_is_atomic(op)) {
		struct atomic atomic = pattern_atomic(op,
			pattern_key(s->r, s->server, f->index, i), i);

		wr->wr.atomic.remote_addr = target;
		wr->wr.atomic.rkey = f->remote_rkey;
		wr->wr.atomic.compare_add = atomic.compare_add;
		wr->wr.atomic.swap = atomic.swap;
	} else {
		wr->wr.rdma.remote_addr = target;
		wr->wr.rdma.rkey = f->remote_rkey;
	}
}

static void fill_wr(struct side *s, struct flow *f, uint32_t i,
		    struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	enum op op = round_op(s->r, i);
	bool is_inline = s->r->flags & ROUND_INLINE && !op_fetches(op);
	struct pieces p;

	layout_pieces(&p, s->r->tx_layout, tx_slot(s, f, i),
		      round_size(s->r, i), i);
	fill_slot(s, f, i, &p);
	/* Inline data has no key: whatever stands there is not looked at. */
	fill_sges(sge, &p, is_inline ? 0xdeadbeef : s->tx_mr->lkey);
	*wr = (struct ibv_send_wr) {
		.wr_id = wr_id(s, f, i),
		.sg_list = sge,
		.num_sge = p.n,
		.opcode = wr_opcode(op),
		.send_flags = (round_signaled(s->r, i) ? IBV_SEND_SIGNALED : 0) |
			      (wants_solicited(s, i) ? IBV_SEND_SOLICITED : 0) |
			      (is_inline ? IBV_SEND_INLINE : 0),
	};
	if (op_has_imm(op))
		wr->imm_data = round_imm(s->r, f->index, i);
	fill_target(s, f, i, wr);
}

/* Inline data was copied when the post returned: the memory is ours again. */
static void spoil_inline(struct side *s, struct flow *f, uint32_t i, int n)
{
	if (!(s->r->flags & ROUND_INLINE))
		return;
	for (; n; n--, i++)
		if (!op_fetches(round_op(s->r, i)))
			poison(tx_slot(s, f, i), s->stride);
}

void tx_post(struct side *s, struct flow *f)
{
	struct ibv_sge sges[MAX_LIST][MAX_SGE];
	struct ibv_send_wr wr[MAX_LIST], *bad;
	uint32_t limit, first = f->tx.posted;
	int n, err;

	if (!f->tx.active)
		return;
	limit = min(f->tx.credit, f->tx.completed + s->r->depth);
	limit = min(limit, s->r->count);
	for (n = 0; n < MAX_LIST && f->tx.posted < limit; n++) {
		fill_wr(s, f, f->tx.posted++, &wr[n], sges[n]);
		wr[n].next = NULL;
		if (n)
			wr[n - 1].next = &wr[n];
	}
	if (!n)
		return;
	err = ibv_post_send(f->qp, wr, &bad);
	if (err)
		fail_verb(s, "ibv_post_send", err);
	spoil_inline(s, f, first, n);
}

static enum ibv_wc_opcode wc_opcode(enum op op)
{
	switch (op) {
	case OP_SEND:
	case OP_SEND_IMM:
		return IBV_WC_SEND;
	case OP_WRITE:
	case OP_WRITE_IMM:
		return IBV_WC_RDMA_WRITE;
	case OP_FETCH_ADD:
		return IBV_WC_FETCH_ADD;
	case OP_COMPARE_SWAP:
		return IBV_WC_COMP_SWAP;
	default:
		return IBV_WC_RDMA_READ;
	}
}

/* A read brings the pattern, an atomic the number that it begins with. */
static void verify_fetched(struct side *s, struct flow *f, uint32_t i)
{
	struct pieces p;

	if (!op_fetches(round_op(s->r, i)))
		return;
	layout_pieces(&p, s->r->tx_layout, tx_slot(s, f, i),
		      round_size(s->r, i), i);
	check_bytes(s, f, "result", i, &p, tx_slot(s, f, i), 0, 0,
		    pattern_key(s->r, s->server, f->index, i));
}

/* Which message's completion comes next. */
static uint32_t next_signaled(struct side *s, struct flow *f)
{
	uint32_t i = f->tx.completed;

	while (!round_signaled(s->r, i))
		i++;
	return i;
}

static void check_metadata(struct side *s, struct flow *f, uint32_t i,
			   const struct ibv_wc *wc)
{
	enum op op = round_op(s->r, i);

	if (wc->wr_id != wr_id(s, f, i))
		fail(s, "send completion: expected wr_id %#lx (message %u), seen %#lx",
		     wr_id(s, f, i), i, wc->wr_id);
	if (wc->opcode != wc_opcode(op))
		fail(s, "send completion %u: expected opcode %s, seen %s", i,
		     wc_opcode_str(wc_opcode(op)), wc_opcode_str(wc->opcode));
	if (op_fetches(op) && wc->byte_len != round_size(s->r, i))
		fail(s, "send completion %u: expected byte_len %u, seen %u", i,
		     round_size(s->r, i), wc->byte_len);
}

void tx_completion(struct side *s, const struct ibv_wc *wc)
{
	struct flow *f = flow_of(s, wc->qp_num);
	uint32_t i;

	check_success(s, wc, "send");
	if (f->tx.completed == f->tx.posted)
		fail(s, "QP %u: a completion with nothing posted, wr_id %#lx",
		     wc->qp_num, wc->wr_id);
	i = next_signaled(s, f);
	check_metadata(s, f, i, wc);
	while (f->tx.completed <= i)
		verify_fetched(s, f, f->tx.completed++);
}
