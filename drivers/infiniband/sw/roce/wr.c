// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of send work requests: the services and consumers that may post them, the
 * packets that they send, and their completion. &enum ib_wr_opcode has the opcodes;
 * compat.h has those that a kernel lacks.
 */
#include <linux/nospec.h>

#include "compat.h"
#include "roce_opcode.h"
#include "wr.h"

#define ANYBODY		(ROCE_WR_PROGRAM | ROCE_WR_KERNEL)
#define CONNECTED	(ROCE_WR_UC | ROCE_WR_RC)
#define ANY_SERVICE	(ROCE_WR_UD | CONNECTED)
#define ATOMIC		(ROCE_WR_RC | ANYBODY | ROCE_WR_IS_ATOMIC | \
			 ROCE_WR_HAS_RESPONSE | ROCE_WR_NOT_INLINE)
#define LOCAL		(CONNECTED | ROCE_WR_IS_LOCAL)

static const struct roce_wr_info wr_infos[] = {
	[IB_WR_SEND] = {
		ANY_SERVICE | ANYBODY, IB_WC_SEND,
		ROCE_SEND_FIRST, ROCE_SEND_MIDDLE,
		ROCE_SEND_LAST, ROCE_SEND_ONLY
	},
	[IB_WR_SEND_WITH_IMM] = {
		ANY_SERVICE | ANYBODY, IB_WC_SEND,
		ROCE_SEND_FIRST, ROCE_SEND_MIDDLE,
		ROCE_SEND_LAST_IMMEDIATE, ROCE_SEND_ONLY_IMMEDIATE
	},
	[IB_WR_SEND_WITH_INV] = {
		ROCE_WR_RC | ANYBODY, IB_WC_SEND,
		ROCE_SEND_FIRST, ROCE_SEND_MIDDLE,
		ROCE_SEND_LAST_INVALIDATE, ROCE_SEND_ONLY_INVALIDATE
	},
	[IB_WR_RDMA_WRITE] = {
		CONNECTED | ANYBODY, IB_WC_RDMA_WRITE,
		ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE,
		ROCE_WRITE_LAST, ROCE_WRITE_ONLY
	},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		CONNECTED | ANYBODY, IB_WC_RDMA_WRITE,
		ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE,
		ROCE_WRITE_LAST_IMMEDIATE, ROCE_WRITE_ONLY_IMMEDIATE
	},
	[IB_WR_RDMA_READ] = {
		ROCE_WR_RC | ANYBODY | ROCE_WR_HAS_RESPONSE | ROCE_WR_NOT_INLINE,
		IB_WC_RDMA_READ,
		ROCE_READ_REQUEST, ROCE_READ_REQUEST,
		ROCE_READ_REQUEST, ROCE_READ_REQUEST
	},
	[IB_WR_ATOMIC_CMP_AND_SWP] = {
		ATOMIC, IB_WC_COMP_SWAP, .only = ROCE_COMPARE_SWAP
	},
	[IB_WR_ATOMIC_FETCH_AND_ADD] = {
		ATOMIC, IB_WC_FETCH_ADD, .only = ROCE_FETCH_ADD
	},
	/* Kernel consumers have no work request for it. */
	[IB_WR_FLUSH] = {
		ROCE_WR_RC | ROCE_WR_HAS_RESPONSE |
		(ROCE_COMPAT_HAS_FLUSH ? ROCE_WR_PROGRAM : 0),
		IB_WC_FLUSH, .only = ROCE_FLUSH
	},
	[IB_WR_ATOMIC_WRITE] = {
		ROCE_WR_RC | ANYBODY | ROCE_WR_HAS_RESPONSE, IB_WC_ATOMIC_WRITE,
		.only = ROCE_ATOMIC_WRITE
	},
	[IB_WR_LOCAL_INV] = { LOCAL | ANYBODY, IB_WC_LOCAL_INV },
	/* Programs have windows, kernel consumers have fast registration. */
	[IB_WR_BIND_MW] = { LOCAL | ROCE_WR_PROGRAM, IB_WC_BIND_MW },
	[IB_WR_REG_MR] = { LOCAL | ROCE_WR_KERNEL, IB_WC_REG_MR },
};

/**
 * roce_wr_info() - look up the opcode of a work request
 * @opcode: any number, since a program may have written it
 *
 * Return: its properties; the flags are 0 for an opcode that does not exist.
 */
const struct roce_wr_info *roce_wr_info(u32 opcode)
{
	static const struct roce_wr_info none = { .completion = IB_WC_SEND };

	if (opcode >= ARRAY_SIZE(wr_infos))
		return &none;
	return &wr_infos[array_index_nospec(opcode, ARRAY_SIZE(wr_infos))];
}
