// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Arithmetic of 24-bit packet sequence numbers.
 */
#include <kunit/test.h>

#include "roce_psn.h"

#define HALF	0x800000

static void adding_wraps_at_24_bits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, roce_psn_add(0, 1), 1);
	KUNIT_EXPECT_EQ(test, roce_psn_add(0xfffffe, 1), 0xffffff);
	KUNIT_EXPECT_EQ(test, roce_psn_add(0xffffff, 1), 0);
	KUNIT_EXPECT_EQ(test, roce_psn_add(0xffffff, 0x100), 0xff);
	KUNIT_EXPECT_EQ(test, roce_psn_add(5, 1 << 24), 5);
}

static void a_negative_count_goes_back(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, roce_psn_add(1, -1), 0);
	KUNIT_EXPECT_EQ(test, roce_psn_add(0, -1), 0xffffff);
	KUNIT_EXPECT_EQ(test, roce_psn_add(0x10, -0x20), 0xfffff0);
}

static void distance_is_signed_and_counts_across_the_wrap(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, roce_psn_diff(7, 7), 0);
	KUNIT_EXPECT_EQ(test, roce_psn_diff(8, 7), 1);
	KUNIT_EXPECT_EQ(test, roce_psn_diff(7, 8), -1);
	KUNIT_EXPECT_EQ(test, roce_psn_diff(0, 0xffffff), 1);
	KUNIT_EXPECT_EQ(test, roce_psn_diff(0xffffff, 0), -1);
	KUNIT_EXPECT_EQ(test, roce_psn_diff(0x10, 0xfffff0), 0x20);
}

static void half_of_all_psns_are_behind(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, roce_psn_diff(HALF - 1, 0), HALF - 1);
	KUNIT_EXPECT_EQ(test, roce_psn_diff(HALF, 0), -HALF);
	KUNIT_EXPECT_EQ(test, roce_psn_diff(0, HALF), -HALF);
	KUNIT_EXPECT_EQ(test, roce_psn_diff(5, HALF + 6), HALF - 1);
}

static void distance_undoes_addition(struct kunit *test)
{
	static const u32 starts[] = { 0, 1, HALF - 1, HALF, 0xfffffe, 0xffffff };
	static const s32 steps[] = { 0, 1, -1, 255, -256, HALF - 1, -HALF };
	int i, j;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		for (j = 0; j < ARRAY_SIZE(steps); j++)
			KUNIT_EXPECT_EQ(test, steps[j],
					roce_psn_diff(roce_psn_add(starts[i],
								   steps[j]),
						      starts[i]));
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE(adding_wraps_at_24_bits),
	KUNIT_CASE(a_negative_count_goes_back),
	KUNIT_CASE(distance_is_signed_and_counts_across_the_wrap),
	KUNIT_CASE(half_of_all_psns_are_behind),
	KUNIT_CASE(distance_undoes_addition),
	{}
};

static struct kunit_suite psn_suite = {
	.name = "roce_psn",
	.test_cases = psn_cases,
};

kunit_test_suite(psn_suite);
