// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The opcodes of the IBA specification (volume 1, release 1.4, table 38 and section 9.3
 * for the sizes of the headers; annex A19 for FLUSH and ATOMIC WRITE), written down row
 * by row and not derived from the driver.
 */
#include <linux/kernel.h>

#include "iba.h"

#define V	ROCE_IS_VALID
#define F	ROCE_IS_FIRST
#define L	ROCE_IS_LAST
#define S	ROCE_IS_SEND
#define W	ROCE_IS_WRITE
#define R	ROCE_IS_READ
#define A	ROCE_IS_ATOMIC
#define RSP	ROCE_IS_RESPONSE
#define PAY	ROCE_HAS_PAYLOAD
#define FL	ROCE_IS_FLUSH
#define AW	ROCE_IS_ATOMIC_WRITE
#define RETH	ROCE_HAS_RETH
#define FETH	ROCE_HAS_FETH
#define AETH	ROCE_HAS_AETH
#define DETH	ROCE_HAS_DETH
#define IMM	ROCE_HAS_IMMEDIATE
#define IETH	ROCE_HAS_INVALIDATE
#define AT	ROCE_HAS_ATOMIC_ETH
#define ATA	ROCE_HAS_ATOMIC_ACK_ETH

static const struct iba_opcode table[] = {
	/* Reliable connection */
	{ 0x00,  0, V | F | S | PAY },			/* SEND First */
	{ 0x01,  0, V | S | PAY },			/* SEND Middle */
	{ 0x02,  0, V | L | S | PAY },			/* SEND Last */
	{ 0x03,  4, V | L | S | PAY | IMM },		/* SEND Last, immediate */
	{ 0x04,  0, V | F | L | S | PAY },		/* SEND Only */
	{ 0x05,  4, V | F | L | S | PAY | IMM },	/* SEND Only, immediate */
	{ 0x06, 16, V | F | W | PAY | RETH },		/* WRITE First */
	{ 0x07,  0, V | W | PAY },			/* WRITE Middle */
	{ 0x08,  0, V | L | W | PAY },			/* WRITE Last */
	{ 0x09,  4, V | L | W | PAY | IMM },		/* WRITE Last, immediate */
	{ 0x0a, 16, V | F | L | W | PAY | RETH },	/* WRITE Only */
	{ 0x0b, 20, V | F | L | W | PAY | RETH | IMM },	/* WRITE Only, immediate */
	{ 0x0c, 16, V | F | L | R | RETH },		/* READ Request */
	{ 0x0d,  4, V | F | R | RSP | PAY | AETH },	/* READ response First */
	{ 0x0e,  0, V | R | RSP | PAY },		/* READ response Middle */
	{ 0x0f,  4, V | L | R | RSP | PAY | AETH },	/* READ response Last */
	{ 0x10,  4, V | F | L | R | RSP | PAY | AETH },	/* READ response Only */
	{ 0x11,  4, V | F | L | RSP | AETH },		/* Acknowledge */
	{ 0x12, 12, V | F | L | A | RSP | AETH | ATA },	/* ATOMIC Acknowledge */
	{ 0x13, 28, V | F | L | A | AT },		/* CmpSwap */
	{ 0x14, 28, V | F | L | A | AT },		/* FetchAdd */
	{ 0x16,  4, V | L | S | PAY | IETH },		/* SEND Last, invalidate */
	{ 0x17,  4, V | F | L | S | PAY | IETH },	/* SEND Only, invalidate */
	{ 0x1c, 20, V | F | L | FL | FETH | RETH },	/* FLUSH */
	{ 0x1d, 16, V | F | L | AW | PAY | RETH },	/* ATOMIC WRITE */

	/* Unreliable connection */
	{ 0x20,  0, V | F | S | PAY },			/* SEND First */
	{ 0x21,  0, V | S | PAY },			/* SEND Middle */
	{ 0x22,  0, V | L | S | PAY },			/* SEND Last */
	{ 0x23,  4, V | L | S | PAY | IMM },		/* SEND Last, immediate */
	{ 0x24,  0, V | F | L | S | PAY },		/* SEND Only */
	{ 0x25,  4, V | F | L | S | PAY | IMM },	/* SEND Only, immediate */
	{ 0x26, 16, V | F | W | PAY | RETH },		/* WRITE First */
	{ 0x27,  0, V | W | PAY },			/* WRITE Middle */
	{ 0x28,  0, V | L | W | PAY },			/* WRITE Last */
	{ 0x29,  4, V | L | W | PAY | IMM },		/* WRITE Last, immediate */
	{ 0x2a, 16, V | F | L | W | PAY | RETH },	/* WRITE Only */
	{ 0x2b, 20, V | F | L | W | PAY | RETH | IMM },	/* WRITE Only, immediate */

	/* Unreliable datagram */
	{ 0x64,  8, V | F | L | S | PAY | DETH },	/* SEND Only */
	{ 0x65, 12, V | F | L | S | PAY | DETH | IMM },	/* SEND Only, immediate */

	/* Congestion notification, annex A17; the reserved bytes are its payload */
	{ 0x81,  0, V | PAY },
};

/**
 * iba_opcode() - look up an opcode in the specification
 * @opcode: first byte of a BTH
 *
 * Return: its row, NULL if there is none.
 */
const struct iba_opcode *iba_opcode(u8 opcode)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].opcode == opcode)
			return &table[i];
	return NULL;
}
