// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the opcodes of the BTH mean: the headers of a packet, and its place in a message.
 */
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kernel.h>

#include "roce_opcode.h"
#include "roce_wire.h"

#define FIRST		(ROCE_IS_VALID | ROCE_IS_FIRST)
#define MIDDLE		ROCE_IS_VALID
#define LAST		(ROCE_IS_VALID | ROCE_IS_LAST)
#define ONLY		(ROCE_IS_VALID | ROCE_IS_FIRST | ROCE_IS_LAST)
#define SENDING		(ROCE_IS_SEND | ROCE_HAS_PAYLOAD)
#define WRITING		(ROCE_IS_WRITE | ROCE_HAS_PAYLOAD)
#define READ_RESPONSE	(ROCE_IS_READ | ROCE_IS_RESPONSE | ROCE_HAS_PAYLOAD)
#define ATOMIC		(ROCE_IS_ATOMIC | ROCE_HAS_ATOMIC_ETH)
#define ATOMIC_RESPONSE	(ROCE_IS_ATOMIC | ROCE_IS_RESPONSE | \
			 ROCE_HAS_ATOMIC_ACK_ETH)

#define RC(operation)	(ROCE_SERVICE_RC | ROCE_##operation)
#define UC(operation)	(ROCE_SERVICE_UC | ROCE_##operation)
#define UD(operation)	(ROCE_SERVICE_UD | ROCE_##operation)

/* roce_opcodes_init() adds the lengths. */
static struct roce_opcode_info opcodes[256] __ro_after_init = {
	[RC(SEND_FIRST)] = { FIRST | SENDING },
	[RC(SEND_MIDDLE)] = { MIDDLE | SENDING },
	[RC(SEND_LAST)] = { LAST | SENDING },
	[RC(SEND_LAST_IMMEDIATE)] = { LAST | SENDING | ROCE_HAS_IMMEDIATE },
	[RC(SEND_ONLY)] = { ONLY | SENDING },
	[RC(SEND_ONLY_IMMEDIATE)] = { ONLY | SENDING | ROCE_HAS_IMMEDIATE },
	[RC(WRITE_FIRST)] = { FIRST | WRITING | ROCE_HAS_RETH },
	[RC(WRITE_MIDDLE)] = { MIDDLE | WRITING },
	[RC(WRITE_LAST)] = { LAST | WRITING },
	[RC(WRITE_LAST_IMMEDIATE)] = { LAST | WRITING | ROCE_HAS_IMMEDIATE },
	[RC(WRITE_ONLY)] = { ONLY | WRITING | ROCE_HAS_RETH },
	[RC(WRITE_ONLY_IMMEDIATE)] = { ONLY | WRITING | ROCE_HAS_RETH | ROCE_HAS_IMMEDIATE },
	[RC(READ_REQUEST)] = { ONLY | ROCE_IS_READ | ROCE_HAS_RETH },
	[RC(READ_RESPONSE_FIRST)] = { FIRST | READ_RESPONSE | ROCE_HAS_AETH },
	[RC(READ_RESPONSE_MIDDLE)] = { MIDDLE | READ_RESPONSE },
	[RC(READ_RESPONSE_LAST)] = { LAST | READ_RESPONSE | ROCE_HAS_AETH },
	[RC(READ_RESPONSE_ONLY)] = { ONLY | READ_RESPONSE | ROCE_HAS_AETH },
	[RC(ACKNOWLEDGE)] = { ONLY | ROCE_IS_RESPONSE | ROCE_HAS_AETH },
	[RC(ATOMIC_ACKNOWLEDGE)] = { ONLY | ATOMIC_RESPONSE | ROCE_HAS_AETH },
	[RC(COMPARE_SWAP)] = { ONLY | ATOMIC },
	[RC(FETCH_ADD)] = { ONLY | ATOMIC },
	[RC(SEND_LAST_INVALIDATE)] = { LAST | SENDING | ROCE_HAS_INVALIDATE },
	[RC(SEND_ONLY_INVALIDATE)] = { ONLY | SENDING | ROCE_HAS_INVALIDATE },
	[RC(FLUSH)] = { ONLY | ROCE_IS_FLUSH | ROCE_HAS_FETH | ROCE_HAS_RETH },
	[RC(ATOMIC_WRITE)] = {
		ONLY | ROCE_IS_ATOMIC_WRITE | ROCE_HAS_RETH | ROCE_HAS_PAYLOAD
	},

	[UC(SEND_FIRST)] = { FIRST | SENDING },
	[UC(SEND_MIDDLE)] = { MIDDLE | SENDING },
	[UC(SEND_LAST)] = { LAST | SENDING },
	[UC(SEND_LAST_IMMEDIATE)] = { LAST | SENDING | ROCE_HAS_IMMEDIATE },
	[UC(SEND_ONLY)] = { ONLY | SENDING },
	[UC(SEND_ONLY_IMMEDIATE)] = { ONLY | SENDING | ROCE_HAS_IMMEDIATE },
	[UC(WRITE_FIRST)] = { FIRST | WRITING | ROCE_HAS_RETH },
	[UC(WRITE_MIDDLE)] = { MIDDLE | WRITING },
	[UC(WRITE_LAST)] = { LAST | WRITING },
	[UC(WRITE_LAST_IMMEDIATE)] = { LAST | WRITING | ROCE_HAS_IMMEDIATE },
	[UC(WRITE_ONLY)] = { ONLY | WRITING | ROCE_HAS_RETH },
	[UC(WRITE_ONLY_IMMEDIATE)] = { ONLY | WRITING | ROCE_HAS_RETH | ROCE_HAS_IMMEDIATE },

	[ROCE_OPCODE_SACK] = { ONLY | ROCE_IS_RESPONSE | ROCE_HAS_SETH | ROCE_HAS_PAYLOAD },
	[ROCE_OPCODE_PATH_PROBE] = { ONLY },
	[ROCE_OPCODE_PATH_ANSWER] = { ONLY | ROCE_IS_RESPONSE },

	[ROCE_OPCODE_CNP] = { ROCE_IS_VALID | ROCE_HAS_PAYLOAD },

	[UD(SEND_ONLY)] = { ONLY | SENDING | ROCE_HAS_DETH },
	[UD(SEND_ONLY_IMMEDIATE)] = { ONLY | SENDING | ROCE_HAS_DETH | ROCE_HAS_IMMEDIATE },
};

static const struct {
	u32 flag;
	u8 size;
} extended_headers[] = {
	{ ROCE_HAS_DETH, sizeof(struct roce_deth) },
	{ ROCE_HAS_FETH, sizeof(struct roce_feth) },
	{ ROCE_HAS_RETH, sizeof(struct roce_reth) },
	{ ROCE_HAS_AETH, sizeof(struct roce_aeth) },
	{ ROCE_HAS_ATOMIC_ETH, sizeof(struct roce_atomic_eth) },
	{ ROCE_HAS_ATOMIC_ACK_ETH, sizeof(struct roce_atomic_ack_eth) },
	{ ROCE_HAS_IMMEDIATE, sizeof(struct roce_immediate) },
	{ ROCE_HAS_INVALIDATE, sizeof(struct roce_immediate) },
	{ ROCE_HAS_SETH, sizeof(struct roce_seth) },
};

static u8 __init header_length(u32 flags)
{
	u8 length = sizeof(struct roce_bth);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(extended_headers); i++)
		if (flags & extended_headers[i].flag)
			length += extended_headers[i].size;
	return length;
}

/** roce_opcodes_init() - compute the length of the headers of each opcode */
void __init roce_opcodes_init(void)
{
	u32 opcode;

	for (opcode = 0; opcode < ARRAY_SIZE(opcodes); opcode++)
		if (opcodes[opcode].flags & ROCE_IS_VALID)
			opcodes[opcode].header_length =
				header_length(opcodes[opcode].flags);
}

/**
 * roce_opcode_info() - look up an opcode
 * @opcode: first byte of a BTH
 *
 * Return: its headers and properties; the flags are 0 for a reserved opcode, or one of a
 * service that this driver does not have (IBA volume 1, table 38).
 */
const struct roce_opcode_info *roce_opcode_info(__u8 opcode)
{
	return &opcodes[opcode];
}
