/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_WR_H
#define ROCE_WR_H

#include <linux/bits.h>
#include <rdma/ib_verbs.h>

/* Properties of the opcode of a send work request */
enum roce_wr_flags {
	ROCE_WR_UD		= BIT(0),	/* for datagrams */
	ROCE_WR_UC		= BIT(1),
	ROCE_WR_RC		= BIT(2),
	ROCE_WR_PROGRAM		= BIT(3),	/* programs may post it */
	ROCE_WR_KERNEL		= BIT(4),	/* kernel consumers may post it */
	ROCE_WR_IS_LOCAL	= BIT(5),	/* sends nothing and takes no PSN */
	ROCE_WR_IS_ATOMIC	= BIT(6),	/* compare and swap, or fetch and add */
	ROCE_WR_HAS_RESPONSE	= BIT(7),	/* not only an acknowledgment */
	ROCE_WR_NOT_INLINE	= BIT(8),	/* writes to its memory */
};

/**
 * struct roce_wr_info - properties of the opcode of a work request
 * @flags: of &enum roce_wr_flags, 0 for an opcode that does not exist
 * @completion: opcode of the completion
 * @first: operation of the first packet (&enum roce_operation)
 * @middle: operation of packets in the middle
 * @last: operation of the last packet
 * @only: operation of the packet of a short message
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
