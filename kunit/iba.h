/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KUNIT_IBA_H
#define KUNIT_IBA_H

#include "roce_opcode.h"

/**
 * struct iba_opcode - a row of table 38 of the IBA specification
 * @opcode: first byte of the BTH
 * @headers: bytes between the BTH and the payload
 * @flags: flags that the driver's table must have
 */
struct iba_opcode {
	u8 opcode;
	u8 headers;
	u32 flags;
};

const struct iba_opcode *iba_opcode(u8 opcode);

#endif /* KUNIT_IBA_H */
