/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_OPCODE_H
#define ROCE_OPCODE_H

#include <linux/types.h>

/*
 * A BTH opcode is the transport service in its upper three bits and the
 * operation in its lower five (IBA volume 1, 9.2.1).
 */
enum roce_service {
	ROCE_SERVICE_RC		= 0x00,
	ROCE_SERVICE_UC		= 0x20,
	ROCE_SERVICE_UD		= 0x60,
	ROCE_SERVICE_CNP	= 0x80,
};

#define ROCE_SERVICE_MASK	0xe0
#define ROCE_OPERATION_MASK	0x1f

enum roce_operation {
	ROCE_SEND_FIRST			= 0x00,
	ROCE_SEND_MIDDLE		= 0x01,
	ROCE_SEND_LAST			= 0x02,
	ROCE_SEND_LAST_IMMEDIATE	= 0x03,
	ROCE_SEND_ONLY			= 0x04,
	ROCE_SEND_ONLY_IMMEDIATE	= 0x05,
	ROCE_WRITE_FIRST		= 0x06,
	ROCE_WRITE_MIDDLE		= 0x07,
	ROCE_WRITE_LAST			= 0x08,
	ROCE_WRITE_LAST_IMMEDIATE	= 0x09,
	ROCE_WRITE_ONLY			= 0x0a,
	ROCE_WRITE_ONLY_IMMEDIATE	= 0x0b,
	ROCE_READ_REQUEST		= 0x0c,
	ROCE_READ_RESPONSE_FIRST	= 0x0d,
	ROCE_READ_RESPONSE_MIDDLE	= 0x0e,
	ROCE_READ_RESPONSE_LAST		= 0x0f,
	ROCE_READ_RESPONSE_ONLY		= 0x10,
	ROCE_ACKNOWLEDGE		= 0x11,
	ROCE_ATOMIC_ACKNOWLEDGE		= 0x12,
	ROCE_COMPARE_SWAP		= 0x13,
	ROCE_FETCH_ADD			= 0x14,
	ROCE_SEND_LAST_INVALIDATE	= 0x16,
	ROCE_SEND_ONLY_INVALIDATE	= 0x17,
	ROCE_FLUSH			= 0x1c,
	ROCE_ATOMIC_WRITE		= 0x1d,
};

#define ROCE_OPCODE_CNP		0x81

/*
 * Our selective acknowledgment, the probe of a path and its answer: of the opcodes 0xc0 to
 * 0xff that are left to manufacturers, and none of those that MRC uses
 */
#define ROCE_OPCODE_SACK	0xe1
#define ROCE_OPCODE_PATH_PROBE	0xe2
#define ROCE_OPCODE_PATH_ANSWER	0xe3

/* What an opcode means; the headers behind the BTH follow in this order. */
enum roce_opcode_flags {
	ROCE_HAS_DETH		= 1 << 0,
	ROCE_HAS_RETH		= 1 << 1,
	ROCE_HAS_AETH		= 1 << 2,
	ROCE_HAS_ATOMIC_ETH	= 1 << 3,
	ROCE_HAS_ATOMIC_ACK_ETH	= 1 << 4,
	ROCE_HAS_IMMEDIATE	= 1 << 5,
	ROCE_HAS_INVALIDATE	= 1 << 6,
	ROCE_HAS_PAYLOAD	= 1 << 7,
	ROCE_IS_FIRST		= 1 << 8,	/* begins a message: FIRST or ONLY */
	ROCE_IS_LAST		= 1 << 9,	/* ends it: LAST or ONLY */
	ROCE_IS_SEND		= 1 << 10,
	ROCE_IS_WRITE		= 1 << 11,
	ROCE_IS_READ		= 1 << 12,
	ROCE_IS_ATOMIC		= 1 << 13,
	ROCE_IS_RESPONSE	= 1 << 14,	/* for the completer; else for the responder */
	ROCE_IS_VALID		= 1 << 15,
	ROCE_HAS_FETH		= 1 << 16,	/* in front of the RETH */
	ROCE_IS_FLUSH		= 1 << 17,
	ROCE_IS_ATOMIC_WRITE	= 1 << 18,
	ROCE_HAS_SETH		= 1 << 19,
};

/**
 * struct roce_opcode_info - what follows the BTH of an opcode
 * @flags: of &enum roce_opcode_flags, 0 for an opcode that does not exist
 * @header_length: bytes from the start of the BTH to the payload
 */
struct roce_opcode_info {
	__u32	flags;
	__u8	header_length;
};

void roce_opcodes_init(void);
const struct roce_opcode_info *roce_opcode_info(__u8 opcode);

#endif /* ROCE_OPCODE_H */
