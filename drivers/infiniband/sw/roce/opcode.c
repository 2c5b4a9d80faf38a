// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "roce_opcode.h"
#include "roce_wire.h"

#define FIRST		(ROCE_IS_VALID | ROCE_IS_FIRST)
#define MIDDLE		ROCE_IS_VALID
#define LAST		(ROCE_IS_VALID | ROCE_IS_LAST)
#define ONLY		(ROCE_IS_VALID | ROCE_IS_FIRST | ROCE_IS_LAST)
#define SENDING	(ROCE_IS_SEND | ROCE_HAS_PAYLOAD)
#define WRITING	(ROCE_IS_WRITE | ROCE_HAS_PAYLOAD)
#define READ_RESPONSE	(ROCE_IS_READ | ROCE_IS_RESPONSE | ROCE_HAS_PAYLOAD)
#define ATOMIC		(ROCE_IS_ATOMIC | ROCE_HAS_ATOMIC_ETH)

#define HEADER(flags, has, type) ((flags) & (has) ? sizeof(struct type) : 0)
#define HEADER_LENGTH(flags) (sizeof(struct roce_bth) + \
	HEADER(flags, ROCE_HAS_DETH, roce_deth) + \
	HEADER(flags, ROCE_HAS_RETH, roce_reth) + \
	HEADER(flags, ROCE_HAS_AETH, roce_aeth) + \
	HEADER(flags, ROCE_HAS_ATOMIC_ETH, roce_atomic_eth) + \
	HEADER(flags, ROCE_HAS_ATOMIC_ACK_ETH, roce_atomic_ack_eth) + \
	HEADER(flags, ROCE_HAS_IMMEDIATE, roce_immediate) + \
	HEADER(flags, ROCE_HAS_INVALIDATE, roce_immediate))

#define OPCODE(service, operation, _flags) \
	[ROCE_SERVICE_##service | ROCE_##operation] = { \
		.flags = (_flags), .header_length = HEADER_LENGTH(_flags) \
	}

/* What RC and UC have in common */
#define SENDS_AND_WRITES(service) \
	OPCODE(service, SEND_FIRST, FIRST | SENDING), \
	OPCODE(service, SEND_MIDDLE, MIDDLE | SENDING), \
	OPCODE(service, SEND_LAST, LAST | SENDING), \
	OPCODE(service, SEND_LAST_IMMEDIATE, LAST | SENDING | ROCE_HAS_IMMEDIATE), \
	OPCODE(service, SEND_ONLY, ONLY | SENDING), \
	OPCODE(service, SEND_ONLY_IMMEDIATE, ONLY | SENDING | ROCE_HAS_IMMEDIATE), \
	OPCODE(service, WRITE_FIRST, FIRST | WRITING | ROCE_HAS_RETH), \
	OPCODE(service, WRITE_MIDDLE, MIDDLE | WRITING), \
	OPCODE(service, WRITE_LAST, LAST | WRITING), \
	OPCODE(service, WRITE_LAST_IMMEDIATE, LAST | WRITING | ROCE_HAS_IMMEDIATE), \
	OPCODE(service, WRITE_ONLY, ONLY | WRITING | ROCE_HAS_RETH), \
	OPCODE(service, WRITE_ONLY_IMMEDIATE, \
	       ONLY | WRITING | ROCE_HAS_RETH | ROCE_HAS_IMMEDIATE)

static const struct roce_opcode_info opcodes[256] = {
	SENDS_AND_WRITES(RC),
	OPCODE(RC, READ_REQUEST, ONLY | ROCE_IS_READ | ROCE_HAS_RETH),
	OPCODE(RC, READ_RESPONSE_FIRST, FIRST | READ_RESPONSE | ROCE_HAS_AETH),
	OPCODE(RC, READ_RESPONSE_MIDDLE, MIDDLE | READ_RESPONSE),
	OPCODE(RC, READ_RESPONSE_LAST, LAST | READ_RESPONSE | ROCE_HAS_AETH),
	OPCODE(RC, READ_RESPONSE_ONLY, ONLY | READ_RESPONSE | ROCE_HAS_AETH),
	OPCODE(RC, ACKNOWLEDGE, ONLY | ROCE_IS_RESPONSE | ROCE_HAS_AETH),
	OPCODE(RC, ATOMIC_ACKNOWLEDGE, ONLY | ROCE_IS_ATOMIC | ROCE_IS_RESPONSE |
	       ROCE_HAS_AETH | ROCE_HAS_ATOMIC_ACK_ETH),
	OPCODE(RC, COMPARE_SWAP, ONLY | ATOMIC),
	OPCODE(RC, FETCH_ADD, ONLY | ATOMIC),
	OPCODE(RC, SEND_LAST_INVALIDATE, LAST | SENDING | ROCE_HAS_INVALIDATE),
	OPCODE(RC, SEND_ONLY_INVALIDATE, ONLY | SENDING | ROCE_HAS_INVALIDATE),

	SENDS_AND_WRITES(UC),

	OPCODE(UD, SEND_ONLY, ONLY | SENDING | ROCE_HAS_DETH),
	OPCODE(UD, SEND_ONLY_IMMEDIATE,
	       ONLY | SENDING | ROCE_HAS_DETH | ROCE_HAS_IMMEDIATE),
};

/**
 * roce_opcode_info() - look an opcode up
 * @opcode: first byte of a BTH
 *
 * Return: what follows the BTH; the flags are 0 for an opcode of no service
 * that this driver speaks (IBA volume 1, table 38).
 */
const struct roce_opcode_info *roce_opcode_info(__u8 opcode)
{
	return &opcodes[opcode];
}
