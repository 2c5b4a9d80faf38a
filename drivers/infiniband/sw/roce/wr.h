/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_WR_H
#define ROCE_WR_H

#include <linux/bits.h>
#include <rdma/ib_verbs.h>

/* What a send work request is, by its opcode */
enum roce_wr_flags {
	ROCE_WR_UD		= BIT(0),	/* of datagrams */
	ROCE_WR_UC		= BIT(1),
	ROCE_WR_RC		= BIT(2),
	ROCE_WR_PROGRAM		= BIT(3),	/* a program may post it */
	ROCE_WR_KERNEL		= BIT(4),	/* a kernel consumer may */
	ROCE_WR_IS_LOCAL	= BIT(5),	/* sends nothing and takes no PSN */
	ROCE_WR_IS_ATOMIC	= BIT(6),	/* compare and swap, or fetch and add */
	ROCE_WR_HAS_RESPONSE	= BIT(7),	/* rather than an acknowledgment */
	ROCE_WR_NOT_INLINE	= BIT(8),	/* its memory is written to */
};

/**
 * struct roce_wr_info - what there is to know of the opcode of a work request
 * @flags: of &enum roce_wr_flags, 0 for an opcode that does not exist
 * @completion: opcode of the completion
 * @first: operation of its first packet (&enum roce_operation)
 * @middle: of those between
 * @last: of its last packet
 * @only: of its packet, if it has one
 */
struct roce_wr_info {
	u32 flags;
	enum ib_wc_opcode completion;
	u8 first;
	u8 middle;
	u8 last;
	u8 only;
};

const struct roce_wr_info *roce_wr_info(u32 opcode);

#endif /* ROCE_WR_H */
