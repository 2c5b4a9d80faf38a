// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "roce_opcode.h"
#include "roce_wire.h"

#define FIRST		(ROCE_IS_VALID | ROCE_IS_FIRST)
#define MIDDLE		ROCE_IS_VALID
#define LAST		(ROCE_IS_VALID | ROCE_IS_LAST)
#define ONLY		(ROCE_IS_VALID | ROCE_IS_FIRST | ROCE_IS_LAST)
#define SEND		(ROCE_IS_SEND | ROCE_HAS_PAYLOAD)
#define WRITE		(ROCE_IS_WRITE | ROCE_HAS_PAYLOAD)
#define READ_RESPONSE	(ROCE_IS_READ | ROCE_IS_RESPONSE | ROCE_HAS_PAYLOAD)
#define ATOMIC		(ROCE_IS_ATOMIC | ROCE_HAS_ATOMIC_ETH)
#define ATOMIC_RESPONSE	(ROCE_IS_ATOMIC | ROCE_IS_RESPONSE | \
			 ROCE_HAS_ATOMIC_ACK_ETH)

#define BTH		sizeof(struct roce_bth)
#define DETH		sizeof(struct roce_deth)
#define RETH		sizeof(struct roce_reth)
#define AETH		sizeof(struct roce_aeth)
#define ATOMIC_ETH	sizeof(struct roce_atomic_eth)
#define ATOMIC_ACK_ETH	sizeof(struct roce_atomic_ack_eth)
#define IMMEDIATE	sizeof(struct roce_immediate)

#define RC(operation)	(ROCE_SERVICE_RC | ROCE_##operation)
#define UC(operation)	(ROCE_SERVICE_UC | ROCE_##operation)
#define UD(operation)	(ROCE_SERVICE_UD | ROCE_##operation)

static const struct roce_opcode_info opcodes[256] = {
	[RC(SEND_FIRST)] = { FIRST | SEND, BTH },
	[RC(SEND_MIDDLE)] = { MIDDLE | SEND, BTH },
	[RC(SEND_LAST)] = { LAST | SEND, BTH },
	[RC(SEND_LAST_IMMEDIATE)] = {
		LAST | SEND | ROCE_HAS_IMMEDIATE, BTH + IMMEDIATE
	},
	[RC(SEND_ONLY)] = { ONLY | SEND, BTH },
	[RC(SEND_ONLY_IMMEDIATE)] = {
		ONLY | SEND | ROCE_HAS_IMMEDIATE, BTH + IMMEDIATE
	},
	[RC(WRITE_FIRST)] = { FIRST | WRITE | ROCE_HAS_RETH, BTH + RETH },
	[RC(WRITE_MIDDLE)] = { MIDDLE | WRITE, BTH },
	[RC(WRITE_LAST)] = { LAST | WRITE, BTH },
	[RC(WRITE_LAST_IMMEDIATE)] = {
		LAST | WRITE | ROCE_HAS_IMMEDIATE, BTH + IMMEDIATE
	},
	[RC(WRITE_ONLY)] = { ONLY | WRITE | ROCE_HAS_RETH, BTH + RETH },
	[RC(WRITE_ONLY_IMMEDIATE)] = {
		ONLY | WRITE | ROCE_HAS_RETH | ROCE_HAS_IMMEDIATE, BTH + RETH + IMMEDIATE
	},
	[RC(READ_REQUEST)] = {
		ONLY | ROCE_IS_READ | ROCE_HAS_RETH, BTH + RETH
	},
	[RC(READ_RESPONSE_FIRST)] = {
		FIRST | READ_RESPONSE | ROCE_HAS_AETH, BTH + AETH
	},
	[RC(READ_RESPONSE_MIDDLE)] = { MIDDLE | READ_RESPONSE, BTH },
	[RC(READ_RESPONSE_LAST)] = {
		LAST | READ_RESPONSE | ROCE_HAS_AETH, BTH + AETH
	},
	[RC(READ_RESPONSE_ONLY)] = {
		ONLY | READ_RESPONSE | ROCE_HAS_AETH, BTH + AETH
	},
	[RC(ACKNOWLEDGE)] = {
		ONLY | ROCE_IS_RESPONSE | ROCE_HAS_AETH, BTH + AETH
	},
	[RC(ATOMIC_ACKNOWLEDGE)] = {
		ONLY | ATOMIC_RESPONSE | ROCE_HAS_AETH, BTH + AETH + ATOMIC_ACK_ETH
	},
	[RC(COMPARE_SWAP)] = { ONLY | ATOMIC, BTH + ATOMIC_ETH },
	[RC(FETCH_ADD)] = { ONLY | ATOMIC, BTH + ATOMIC_ETH },
	[RC(SEND_LAST_INVALIDATE)] = {
		LAST | SEND | ROCE_HAS_INVALIDATE, BTH + IMMEDIATE
	},
	[RC(SEND_ONLY_INVALIDATE)] = {
		ONLY | SEND | ROCE_HAS_INVALIDATE, BTH + IMMEDIATE
	},

	[UC(SEND_FIRST)] = { FIRST | SEND, BTH },
	[UC(SEND_MIDDLE)] = { MIDDLE | SEND, BTH },
	[UC(SEND_LAST)] = { LAST | SEND, BTH },
	[UC(SEND_LAST_IMMEDIATE)] = {
		LAST | SEND | ROCE_HAS_IMMEDIATE, BTH + IMMEDIATE
	},
	[UC(SEND_ONLY)] = { ONLY | SEND, BTH },
	[UC(SEND_ONLY_IMMEDIATE)] = {
		ONLY | SEND | ROCE_HAS_IMMEDIATE, BTH + IMMEDIATE
	},
	[UC(WRITE_FIRST)] = { FIRST | WRITE | ROCE_HAS_RETH, BTH + RETH },
	[UC(WRITE_MIDDLE)] = { MIDDLE | WRITE, BTH },
	[UC(WRITE_LAST)] = { LAST | WRITE, BTH },
	[UC(WRITE_LAST_IMMEDIATE)] = {
		LAST | WRITE | ROCE_HAS_IMMEDIATE, BTH + IMMEDIATE
	},
	[UC(WRITE_ONLY)] = { ONLY | WRITE | ROCE_HAS_RETH, BTH + RETH },
	[UC(WRITE_ONLY_IMMEDIATE)] = {
		ONLY | WRITE | ROCE_HAS_RETH | ROCE_HAS_IMMEDIATE, BTH + RETH + IMMEDIATE
	},

	[UD(SEND_ONLY)] = { ONLY | SEND | ROCE_HAS_DETH, BTH + DETH },
	[UD(SEND_ONLY_IMMEDIATE)] = {
		ONLY | SEND | ROCE_HAS_DETH | ROCE_HAS_IMMEDIATE, BTH + DETH + IMMEDIATE
	},
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
