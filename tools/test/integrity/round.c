// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a round consists of: pure functions of the round's description. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "round.h"

const char *const op_names[] = {
	"send", "send_imm", "write", "write_imm", "read", "fetch_add",
	"compare_swap", "mix", "push", "all", NULL
};

const char *const layout_names[] = {
	"one", "odd", "uneven", "holes", "many", "tiny", NULL
};

static const char *qp_type_str(uint32_t type)
{
	switch (type) {
	case IBV_QPT_RC:
		return "RC";
	case IBV_QPT_UC:
		return "UC";
	default:
		return "UD";
	}
}

const char *round_str(const struct round *r)
{
	static char buf[256];

	snprintf(buf, sizeof(buf),
		 "%s %s size %u mtu %u sges %s>%s count %u depth %u qps %u%s%s%s%s%s%s%s",
		 qp_type_str(r->qp_type), op_names[r->op], r->size, r->mtu,
		 layout_names[r->tx_layout], layout_names[r->rx_layout],
		 r->count, r->depth, r->qps,
		 r->flags & ROUND_BIDIR ? " bidir" : "",
		 r->flags & ROUND_INLINE ? " inline" : "",
		 r->flags & ROUND_UNSIGNALED ? " unsignaled" : "",
		 r->flags & ROUND_EVENTS ? " events" : "",
		 r->flags & ROUND_SOLICITED ? " solicited" : "",
		 r->flags & ROUND_RNR ? " rnr" : "",
		 r->flags & ROUND_LOSSY ? " lossy" : "");
	return buf;
}

enum op round_op(const struct round *r, uint32_t i)
{
	static const enum op mix[] = {
		OP_WRITE, OP_SEND, OP_READ, OP_WRITE_IMM, OP_WRITE,
		OP_SEND_IMM, OP_READ,
	};

	static const enum op push[] = {
		OP_WRITE, OP_SEND, OP_WRITE_IMM, OP_WRITE, OP_SEND_IMM,
	};

	static const enum op all[] = {
		OP_WRITE, OP_FETCH_ADD, OP_SEND, OP_READ, OP_COMPARE_SWAP,
		OP_WRITE_IMM, OP_FETCH_ADD, OP_SEND_IMM, OP_READ,
	};

	if (r->op == OP_ALL)
		return all[i % ARRAY_SIZE(all)];
	if (r->op == OP_MIX)
		return mix[i % ARRAY_SIZE(mix)];
	if (r->op == OP_PUSH)
		return push[i % ARRAY_SIZE(push)];
	return r->op;
}

bool op_takes_recv(enum op op)
{
	return op == OP_SEND || op == OP_SEND_IMM || op == OP_WRITE_IMM;
}

bool op_has_imm(enum op op)
{
	return op == OP_SEND_IMM || op == OP_WRITE_IMM;
}

bool op_is_atomic(enum op op)
{
	return op == OP_FETCH_ADD || op == OP_COMPARE_SWAP;
}

bool op_fetches(enum op op)
{
	return op == OP_READ || op_is_atomic(op);
}

uint32_t round_size(const struct round *r, uint32_t i)
{
	return op_is_atomic(round_op(r, i)) ? sizeof(uint64_t) : r->size;
}

uint32_t round_imm(const struct round *r, uint32_t qp, uint32_t i)
{
	return htonl((uint32_t)mix64(r->seed ^ ((uint64_t)qp << 32 | i)));
}

bool round_signaled(const struct round *r, uint32_t i)
{
	uint32_t every = max(r->depth / 2, 1u);

	return !(r->flags & ROUND_UNSIGNALED) || i % every == every - 1 ||
	       i == r->count - 1;
}
