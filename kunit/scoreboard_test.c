// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The scoreboard gives the same results as a bit for each packet. */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "roce_psn.h"
#include "scoreboard.h"

#define FIRST	0xffff80u	/* PSNs wrap soon. */
#define FLIGHT	2048

static struct roce_scoreboard *new_board(struct kunit *test)
{
	struct roce_scoreboard *board = kunit_kzalloc(test, sizeof(*board), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, board);
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_expect(board, FIRST));
	return board;
}

static u32 nth(u32 n)
{
	return roce_psn_add(FIRST, n);
}

static bool arrive(struct roce_scoreboard *board, u32 begin, u32 end)
{
	return roce_scoreboard_arrived(board, nth(begin), nth(end), FIRST);
}

static void expect_next(struct kunit *test, struct roce_scoreboard *board, u32 begin,
			u32 end)
{
	u32 from, to;

	KUNIT_ASSERT_TRUE(test, roce_scoreboard_next(board, &from, &to));
	KUNIT_EXPECT_EQ(test, from, nth(begin));
	KUNIT_EXPECT_EQ(test, to, nth(end));
}

static void expect_nothing(struct kunit *test, struct roce_scoreboard *board)
{
	u32 from, to;

	KUNIT_EXPECT_FALSE(test, roce_scoreboard_next(board, &from, &to));
}

static void only_lost_packets_are_sent_again(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);

	KUNIT_EXPECT_TRUE(test, arrive(board, 3, 5));
	KUNIT_EXPECT_TRUE(test, arrive(board, 7, 9));
	KUNIT_EXPECT_FALSE(test, arrive(board, 3, 9) && arrive(board, 3, 9));
	expect_nothing(test, board);
	roce_scoreboard_lose(board, nth(3));
	expect_next(test, board, 0, 3);
	roce_scoreboard_resent(board, nth(0), nth(2), nth(20));
	expect_next(test, board, 2, 3);
	roce_scoreboard_resent(board, nth(2), nth(3), nth(20));
	expect_nothing(test, board);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_under_way(board), 3);
}

static void retransmissions_can_be_lost_again(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);

	arrive(board, 1, 10);
	roce_scoreboard_lose(board, nth(5));
	roce_scoreboard_resent(board, nth(0), nth(1), nth(10));
	arrive(board, 10, 15);
	roce_scoreboard_lose(board, nth(9));
	expect_nothing(test, board);
	/* This packet was sent after the retransmission. */
	roce_scoreboard_lose(board, nth(10));
	expect_next(test, board, 0, 1);
	roce_scoreboard_resent(board, nth(0), nth(1), nth(15));
	roce_scoreboard_lose(board, nth(14));
	expect_nothing(test, board);
	roce_scoreboard_silence(board);
	expect_next(test, board, 0, 1);
}

/* A copy that is sent after a silence may be lost as any other. */
static void a_silence_loses_all_that_is_missing(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);

	arrive(board, 1, 5);
	arrive(board, 6, 7);
	roce_scoreboard_lose_range(board, nth(5), nth(6), ROCE_GAP_VANISHED);
	roce_scoreboard_silence(board);
	KUNIT_EXPECT_TRUE(test, board->gap[0].loss == ROCE_GAP_SILENT);
	KUNIT_EXPECT_TRUE(test, board->gap[1].loss == ROCE_GAP_VANISHED);
	roce_scoreboard_resent(board, nth(0), nth(1), nth(7));
	expect_next(test, board, 5, 6);
	KUNIT_EXPECT_TRUE(test, board->gap[0].loss == ROCE_GAP_SILENT);
	roce_scoreboard_lose(board, nth(7));
	expect_next(test, board, 0, 1);
	KUNIT_EXPECT_TRUE(test, board->gap[0].loss == ROCE_GAP_UNKNOWN);
}

static void packets_sent_by_going_back_are_not_sent_once_more(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);

	roce_scoreboard_arrived(board, nth(5), nth(6), nth(50));
	roce_scoreboard_lose(board, nth(5));
	expect_nothing(test, board);
	roce_scoreboard_arrived(board, nth(50), nth(55), nth(50));
	roce_scoreboard_lose(board, nth(50));
	expect_next(test, board, 0, 5);
}

static void unsent_retransmissions_are_sent_later(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);

	arrive(board, 4, 6);
	arrive(board, 8, 9);
	roce_scoreboard_lose(board, nth(8));
	roce_scoreboard_resent(board, nth(0), nth(4), nth(20));
	roce_scoreboard_resent(board, nth(6), nth(8), nth(20));
	roce_scoreboard_take_back(board, nth(7));
	expect_next(test, board, 7, 8);
	roce_scoreboard_take_back(board, nth(3));
	expect_next(test, board, 3, 4);
	/* What was sent again behind it was sent. */
	roce_scoreboard_resent(board, nth(3), nth(4), nth(20));
	expect_next(test, board, 7, 8);
}

/* Old acknowledgments are ignored. A responder that expects a known packet dropped it. */
static void a_responder_may_drop_kept_packets(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);

	arrive(board, 2, 8);
	arrive(board, 10, 12);
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_expect(board, nth(8)));
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_has(board, nth(11)));
	KUNIT_EXPECT_FALSE(test, roce_scoreboard_expect(board, nth(0)));
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_has(board, nth(11)));
	roce_scoreboard_acknowledge(board, nth(9));
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_has(board, nth(11)));
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_expect(board, nth(11)));
	KUNIT_EXPECT_EQ(test, board->gaps, 0);
}

static void the_number_of_gaps_is_bounded(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);
	u32 n;

	for (n = 0; n < 2 * ROCE_MAX_GAPS; n++)
		KUNIT_EXPECT_EQ(test, arrive(board, 2 * n + 1, 2 * n + 2),
				n < ROCE_MAX_GAPS);
	KUNIT_EXPECT_EQ(test, board->gaps, ROCE_MAX_GAPS);
	KUNIT_EXPECT_FALSE(test, roce_scoreboard_has(board,
						     nth(2 * ROCE_MAX_GAPS + 1)));
	/* Known gaps can still be filled, and make room. */
	KUNIT_EXPECT_TRUE(test, arrive(board, 2, 3));
	KUNIT_EXPECT_EQ(test, board->gaps, ROCE_MAX_GAPS - 1);
}

static void arrived_and_lost_packets_are_counted(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);

	KUNIT_EXPECT_EQ(test, roce_scoreboard_early(NULL), 0);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_early(board), 0);
	arrive(board, 3, 5);
	arrive(board, 7, 12);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_early(board), 2 + 5);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(board), 0);
	/* All before the fourth packet, half of the second gap, all of it */
	roce_scoreboard_lose(board, nth(3));
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(board), 3);
	roce_scoreboard_lose(board, nth(6));
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(board), 3 + 1);
	roce_scoreboard_lose(board, nth(7));
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(board), 3 + 2);
	/* Packets that were sent again are still missing. */
	roce_scoreboard_resent(board, nth(0), nth(3), nth(20));
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(board), 3 + 2);
	arrive(board, 0, 2);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_early(board), 2 + 2 + 5);
	roce_scoreboard_acknowledge(board, nth(5));
	KUNIT_EXPECT_EQ(test, roce_scoreboard_early(board), 5);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(board), 2);
	roce_scoreboard_acknowledge(board, nth(12));
	KUNIT_EXPECT_EQ(test, roce_scoreboard_early(board), 0);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(board), 0);
}

/* Without repeated losses: packets to send are lost, not resent yet, and not arrived. */
static void a_scoreboard_agrees_with_a_bitmap(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);
	unsigned long *arrived = kunit_kzalloc(test, FLIGHT / 8, GFP_KERNEL);
	unsigned long *sent = kunit_kzalloc(test, FLIGHT / 8, GFP_KERNEL);
	struct rnd_state random;
	u32 round, from, to, n, high = 0;

	KUNIT_ASSERT_NOT_NULL(test, arrived);
	KUNIT_ASSERT_NOT_NULL(test, sent);
	prandom_seed_state(&random, 1);
	for (round = 0; round < 300; round++) {
		from = 1 + prandom_u32_state(&random) % (FLIGHT - 70);
		to = from + 1 + prandom_u32_state(&random) % 64;
		if (board->gaps < ROCE_MAX_GAPS - 2) {
			arrive(board, from, to);
			bitmap_set(arrived, from, to - from);
			high = max(high, to);
		}
		roce_scoreboard_lose(board, nth(prandom_u32_state(&random) % high));
		if (!roce_scoreboard_next(board, &from, &to))
			continue;
		for (n = roce_psn_add(from, -FIRST); n < roce_psn_add(to, -FIRST); n++) {
			KUNIT_EXPECT_FALSE(test, test_bit(n, arrived));
			KUNIT_EXPECT_FALSE(test, test_and_set_bit(n, sent));
		}
		roce_scoreboard_resent(board, from, to, nth(2 * FLIGHT));
	}
	KUNIT_EXPECT_EQ(test, roce_scoreboard_early(board), bitmap_weight(arrived, FLIGHT));
	for (n = 0; n < high; n++)
		KUNIT_EXPECT_EQ_MSG(test, roce_scoreboard_has(board, nth(n)),
				    test_bit(n, arrived), "packet %u", n);
}

/* With many paths, what is missing around it may be only late. */
static void a_range_is_lost_alone(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);

	arrive(board, 10, 12);
	arrive(board, 20, 22);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_missing(board, nth(5), nth(30)), 5 + 8 + 8);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_missing(board, nth(10), nth(12)), 0);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lose_range(board, nth(6), nth(15),
							 ROCE_GAP_OVERTAKEN), 7);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(board), 7);
	expect_next(test, board, 6, 10);
	roce_scoreboard_resent(board, nth(6), nth(10), nth(22));
	expect_next(test, board, 12, 15);
	roce_scoreboard_resent(board, nth(12), nth(15), nth(22));
	expect_nothing(test, board);
	/* It is lost again, and then a part of it arrives. */
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lose_range(board, nth(6), nth(10),
							 ROCE_GAP_VANISHED), 4);
	arrive(board, 7, 8);
	expect_next(test, board, 6, 7);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(board), 3);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_missing(board, FIRST, nth(22)), 18 - 1);
	roce_scoreboard_acknowledge(board, nth(14));
	/* What is left of the other range is on its way. */
	expect_nothing(test, board);
}

static void without_room_more_of_a_gap_is_lost(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);
	u32 n, from, to, lost = 0;

	for (n = 0; n < ROCE_MAX_GAPS; n++)
		arrive(board, 8 * n + 4, 8 * n + 8);
	KUNIT_EXPECT_EQ(test, board->gaps, ROCE_MAX_GAPS);
	roce_scoreboard_lose_range(board, nth(9), nth(10), ROCE_GAP_OVERTAKEN);
	while (roce_scoreboard_next(board, &from, &to)) {
		lost += roce_psn_add(to, -from);
		roce_scoreboard_resent(board, from, to, nth(2 * FLIGHT));
	}
	KUNIT_EXPECT_EQ(test, board->gaps, ROCE_MAX_GAPS);
	KUNIT_EXPECT_EQ(test, lost, 4);
}

static void a_missing_packet_may_be_late_until_it_is_lost(struct kunit *test)
{
	struct roce_scoreboard *board = new_board(test);

	KUNIT_EXPECT_FALSE(test, roce_scoreboard_may_be_late(board));
	arrive(board, 1, 2);
	arrive(board, 3, 4);
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_may_be_late(board));
	roce_scoreboard_lose(board, nth(1));
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_may_be_late(board));
	roce_scoreboard_lose(board, nth(3));
	KUNIT_EXPECT_FALSE(test, roce_scoreboard_may_be_late(board));
	arrive(board, 5, 6);
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_may_be_late(board));
	roce_scoreboard_lose_range(board, nth(4), nth(5), ROCE_GAP_OVERTAKEN);
	KUNIT_EXPECT_FALSE(test, roce_scoreboard_may_be_late(board));
}

static struct kunit_case scoreboard_cases[] = {
	KUNIT_CASE(only_lost_packets_are_sent_again),
	KUNIT_CASE(retransmissions_can_be_lost_again),
	KUNIT_CASE(a_silence_loses_all_that_is_missing),
	KUNIT_CASE(packets_sent_by_going_back_are_not_sent_once_more),
	KUNIT_CASE(unsent_retransmissions_are_sent_later),
	KUNIT_CASE(a_responder_may_drop_kept_packets),
	KUNIT_CASE(the_number_of_gaps_is_bounded),
	KUNIT_CASE(arrived_and_lost_packets_are_counted),
	KUNIT_CASE(a_range_is_lost_alone),
	KUNIT_CASE(without_room_more_of_a_gap_is_lost),
	KUNIT_CASE(a_missing_packet_may_be_late_until_it_is_lost),
	KUNIT_CASE(a_scoreboard_agrees_with_a_bitmap),
	{}
};

static struct kunit_suite scoreboard_suite = {
	.name = "roce_scoreboard",
	.test_cases = scoreboard_cases,
};

kunit_test_suite(scoreboard_suite);
