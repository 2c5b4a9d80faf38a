// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Headers and opcodes are those of the IBA specification, which iba.h repeats in its own
 * words.
 */
#include <kunit/test.h>

#include "iba.h"
#include "roce_opcode.h"
#include "roce_wire.h"

#define BTH_SIZE	12

static void headers_are_as_long_as_the_iba_says(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(struct roce_bth), BTH_SIZE);
	KUNIT_EXPECT_EQ(test, sizeof(struct roce_reth), 16);
	KUNIT_EXPECT_EQ(test, sizeof(struct roce_aeth), 4);
	KUNIT_EXPECT_EQ(test, sizeof(struct roce_deth), 8);
	KUNIT_EXPECT_EQ(test, sizeof(struct roce_atomic_eth), 28);
	KUNIT_EXPECT_EQ(test, sizeof(struct roce_atomic_ack_eth), 8);
	KUNIT_EXPECT_EQ(test, sizeof(struct roce_immediate), 4);
}

static void fields_are_where_the_iba_puts_them(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_bth, opcode), 0);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_bth, flags), 1);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_bth, pkey), 2);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_bth, qpn), 4);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_bth, psn), 8);

	KUNIT_EXPECT_EQ(test, offsetof(struct roce_reth, va), 0);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_reth, rkey), 8);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_reth, length), 12);

	KUNIT_EXPECT_EQ(test, offsetof(struct roce_deth, qkey), 0);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_deth, source_qpn), 4);

	KUNIT_EXPECT_EQ(test, offsetof(struct roce_atomic_eth, va), 0);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_atomic_eth, rkey), 8);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_atomic_eth, swap_add), 12);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_atomic_eth, compare), 20);
}

static void bits_of_the_bth_are_where_the_iba_puts_them(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ROCE_BTH_SOLICITED, BIT(7));
	KUNIT_EXPECT_EQ(test, ROCE_BTH_MIGREQ, BIT(6));
	KUNIT_EXPECT_EQ(test, ROCE_BTH_PAD_MASK, 3 << 4);
	KUNIT_EXPECT_EQ(test, ROCE_BTH_PAD_SHIFT, 4);
	KUNIT_EXPECT_EQ(test, ROCE_BTH_VERSION_MASK, 0xf);
	KUNIT_EXPECT_EQ(test, ROCE_BTH_FECN, BIT(31));
	KUNIT_EXPECT_EQ(test, ROCE_BTH_BECN, BIT(30));
	KUNIT_EXPECT_EQ(test, ROCE_BTH_ACK_REQUEST, BIT(31));
	KUNIT_EXPECT_EQ(test, ROCE_UDP_PORT, 4791);
}

static void every_opcode_is_what_the_iba_says(struct kunit *test)
{
	int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct roce_opcode_info *info = roce_opcode_info(opcode);
		const struct iba_opcode *iba = iba_opcode(opcode);

		if (!iba)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, info->flags, iba->flags,
				    "opcode 0x%02x", opcode);
		KUNIT_EXPECT_EQ_MSG(test, info->header_length,
				    BTH_SIZE + iba->headers, "opcode 0x%02x",
				    opcode);
	}
}

static void all_other_opcodes_are_invalid(struct kunit *test)
{
	int opcode, invalid = 0;

	for (opcode = 0; opcode < 256; opcode++) {
		if (iba_opcode(opcode) || (opcode >= ROCE_OPCODE_SACK &&
					   opcode <= ROCE_OPCODE_PATH_ANSWER))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, roce_opcode_info(opcode)->flags, 0,
				    "opcode 0x%02x", opcode);
		invalid++;
	}
	KUNIT_EXPECT_EQ(test, invalid, 256 - 25 - 12 - 2 - 1 - 3);
}

/* The format in Documentation/reliability.md, for other implementations */
static void the_sack_format_is_as_documented(struct kunit *test)
{
	const struct roce_opcode_info *info = roce_opcode_info(0xe1);
	u32 opcode;

	KUNIT_EXPECT_EQ(test, ROCE_OPCODE_SACK, 0xe1);
	KUNIT_EXPECT_TRUE(test, info->flags & ROCE_IS_RESPONSE);
	KUNIT_EXPECT_EQ(test, info->header_length, BTH_SIZE + 4);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_seth, version), 0);
	KUNIT_EXPECT_EQ(test, offsetof(struct roce_seth, lost), 2);
	KUNIT_EXPECT_EQ(test, sizeof(struct roce_sack_range), 4);
	KUNIT_EXPECT_EQ(test, ROCE_OPCODE_PATH_PROBE, 0xe2);
	KUNIT_EXPECT_EQ(test, ROCE_OPCODE_PATH_ANSWER, 0xe3);
	for (opcode = 0xe2; opcode <= 0xe3; opcode++)
		KUNIT_EXPECT_EQ(test, roce_opcode_info(opcode)->header_length, BTH_SIZE);
	KUNIT_EXPECT_EQ(test, ROCE_BTH_SACK_MASK, 0xf << ROCE_BTH_SACK_SHIFT);
	KUNIT_EXPECT_EQ(test, ROCE_BTH_SACK_MASK &
			(ROCE_BTH_ACK_REQUEST | ROCE_BTH_LOW_24), 0);
}

static void no_opcode_has_more_headers_than_the_maximum(struct kunit *test)
{
	int opcode;

	for (opcode = 0; opcode < 256; opcode++)
		KUNIT_EXPECT_LE(test, roce_opcode_info(opcode)->header_length,
				ROCE_MAX_HEADERS);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(headers_are_as_long_as_the_iba_says),
	KUNIT_CASE(fields_are_where_the_iba_puts_them),
	KUNIT_CASE(bits_of_the_bth_are_where_the_iba_puts_them),
	KUNIT_CASE(every_opcode_is_what_the_iba_says),
	KUNIT_CASE(all_other_opcodes_are_invalid),
	KUNIT_CASE(the_sack_format_is_as_documented),
	KUNIT_CASE(no_opcode_has_more_headers_than_the_maximum),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "roce_wire",
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
