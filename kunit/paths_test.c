// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many paths: how packets are spread, which ones are lost, which paths are left and come
 * back. First with made-up times and without a QP, then two QPs on a wire on which
 * single paths deliver nothing.
 */
#include <linux/slab.h>

#include "engine.h"
#include "path.h"
#include "reorder.h"
#include "roce_psn.h"
#include "scoreboard.h"
#include "spread.h"
#include "storm.h"

#define FIRST	0xffffc0u	/* PSNs wrap soon. */
#define FULL	14		/* packets of a flight, after which the path may change */
#define RTT	(100 * NSEC_PER_USEC)

/**
 * struct play - a requester and its paths, in made-up time
 * @test: the test
 * @count: number of paths
 * @paths: tested
 * @board: what the responder is missing
 * @news: of the latest acknowledgment
 * @now: nanoseconds
 * @sent: number of packets sent
 */
struct play {
	struct kunit *test;
	u32 count;
	struct roce_paths *paths;
	struct roce_scoreboard *board;
	struct roce_path_news news;
	u64 now;
	u32 sent;
};

static struct play new_play(struct kunit *test, u32 count)
{
	struct play play = { .test = test, .count = count, .now = NSEC_PER_SEC };

	play.paths = kunit_kzalloc(test, sizeof(*play.paths), GFP_KERNEL);
	play.board = kunit_kzalloc(test, sizeof(*play.board), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, play.paths);
	KUNIT_ASSERT_NOT_NULL(test, play.board);
	roce_paths_init(play.paths, FIRST);
	KUNIT_EXPECT_TRUE(test, roce_scoreboard_expect(play.board, FIRST));
	return play;
}

static u32 nth(u32 n)
{
	return roce_psn_add(FIRST, n);
}

/* Send some new packets, the last of which asks. Returns the path. */
static u32 send_some(struct play *play, u32 packets)
{
	struct roce_departure departure = {
		.path = roce_paths_choose(play->paths, play->count),
		.begin = nth(play->sent), .end = nth(play->sent + packets),
		.packets = packets, .asked = nth(play->sent + packets - 1),
		.times = true, .time = play->now,
	};

	roce_paths_sent(play->paths, &departure);
	play->sent += packets;
	return departure.path;
}

/* @count flights, a microsecond apart */
static void send_flights(struct play *play, u32 count)
{
	while (count--) {
		play->now += NSEC_PER_USEC;
		send_some(play, FULL);
	}
}

static void learn(struct play *play, u32 until)
{
	roce_paths_learn(play->paths, play->board, nth(until), play->now, &play->news);
}

/* The responder has everything before @until. */
static void acknowledge(struct play *play, u32 until)
{
	roce_scoreboard_acknowledge(play->board, nth(until));
	learn(play, until);
}

/* The responder expects @until, and has @begin to @end - 1. */
static void arrive(struct play *play, u32 until, u32 begin, u32 end)
{
	KUNIT_ASSERT_TRUE(play->test, roce_scoreboard_expect(play->board, nth(until)));
	roce_scoreboard_arrived(play->board, nth(begin), nth(end), FIRST);
	learn(play, until);
}

static void expect_lost(struct play *play, u32 begin, u32 end)
{
	u32 from, to;

	KUNIT_ASSERT_TRUE(play->test, roce_scoreboard_next(play->board, &from, &to));
	KUNIT_EXPECT_EQ(play->test, from, nth(begin));
	KUNIT_EXPECT_EQ(play->test, to, nth(end));
}

static void expect_nothing_lost(struct play *play)
{
	u32 from, to;

	KUNIT_EXPECT_FALSE(play->test, roce_scoreboard_next(play->board, &from, &to));
}

/* Each path carries a flight, and has a round trip. */
static void measure(struct play *play)
{
	u32 i;

	for (i = 0; i < play->count; i++) {
		KUNIT_EXPECT_EQ(play->test, send_some(play, FULL),
				(play->paths->current_path) % play->count);
		play->now += RTT;
		acknowledge(play, play->sent);
	}
	for (i = 0; i < play->count; i++)
		KUNIT_ASSERT_EQ(play->test, play->paths->path[i].srtt, RTT);
}

/* --- Spreading --- */

static void each_path_has_a_port_and_a_label(struct kunit *test)
{
	u32 port, i, k;

	for (port = 0xc000; port <= 0xffff; port += 0x3ff) {
		KUNIT_EXPECT_EQ(test, roce_path_source_port(port, 0), port);
		for (i = 0; i < ROCE_MAX_PATHS; i++) {
			u16 other = roce_path_source_port(port, i);

			KUNIT_EXPECT_GE(test, other, 0xc000);
			KUNIT_EXPECT_LE(test, roce_path_flow_label(port, i), 0xfffff);
			for (k = 0; k < i; k++) {
				KUNIT_EXPECT_NE(test, roce_path_source_port(port, k), other);
				KUNIT_EXPECT_NE(test, roce_path_flow_label(port, k),
						roce_path_flow_label(port, i));
			}
		}
	}
	KUNIT_EXPECT_EQ(test, roce_path_flow_label(0x12345, 0), 0x12345);
}

static void paths_take_turns(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 first = send_some(&play, FULL), i;

	for (i = 1; i < 16; i++)
		KUNIT_EXPECT_EQ(test, send_some(&play, FULL), (first + i) % 4);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, play.paths->path[i].under_way, 4 * FULL);
}

static void short_trains_fill_a_flight(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 path = send_some(&play, 2), i;

	for (i = 2; i < FULL; i += 2)
		KUNIT_EXPECT_EQ(test, send_some(&play, 2), path);
	KUNIT_EXPECT_NE(test, send_some(&play, 2), path);
	KUNIT_EXPECT_EQ(test, play.paths->next, 2);
}

/* Of a train of READ requests only the first PSN is noted. */
static void short_flights_take_turns_too(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 used = 0, i;

	for (i = 0; i < 16; i++) {
		used |= BIT(send_some(&play, FULL / 2));
		play.sent += FULL;
	}
	KUNIT_EXPECT_EQ(test, used, 0xf);
}

static void one_path_is_always_the_first(struct kunit *test)
{
	struct play play = new_play(test, 1);
	u32 i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, send_some(&play, FULL), 0);
}

static void the_number_of_paths_may_change(struct kunit *test)
{
	struct play play = new_play(test, ROCE_MAX_PATHS);

	send_flights(&play, ROCE_MAX_PATHS);
	play.count = 2;
	KUNIT_EXPECT_LT(test, send_some(&play, FULL), 2);
	acknowledge(&play, play.sent);
	play.count = 1;
	KUNIT_EXPECT_EQ(test, send_some(&play, FULL), 0);
}

/* Twice the round trip: half of the packets, or less */
static void a_slow_path_carries_less(struct kunit *test)
{
	struct play play = new_play(test, 2);

	measure(&play);
	play.paths->path[1].srtt = 2 * RTT;
	send_flights(&play, 30);
	KUNIT_EXPECT_LE(test, play.paths->path[1].under_way, 11 * FULL);
	KUNIT_EXPECT_GE(test, play.paths->path[1].under_way, 8 * FULL);
}

/* Without room for more flights the path does not change, and nothing is forgotten. */
static void the_number_of_flights_is_bounded(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 path, i, sum = 0;

	send_flights(&play, ROCE_MAX_FLIGHTS);
	path = play.paths->current_path;
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, send_some(&play, FULL), path);
	KUNIT_EXPECT_EQ(test, play.paths->next, ROCE_MAX_FLIGHTS);
	for (i = 0; i < 4; i++)
		sum += play.paths->path[i].under_way;
	KUNIT_EXPECT_EQ(test, sum, play.sent);
	acknowledge(&play, play.sent);
	KUNIT_EXPECT_EQ(test, play.paths->first, play.paths->next);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, play.paths->path[i].under_way, 0);
}

/* --- Losses --- */

/* Flights 1 to 3 of the other paths have overtaken it, and that is all. */
static void a_late_flight_is_not_lost(struct kunit *test)
{
	struct play play = new_play(test, 4);

	measure(&play);
	send_flights(&play, 4);
	play.now += RTT;
	arrive(&play, 4 * FULL, 5 * FULL, 8 * FULL);
	expect_nothing_lost(&play);
	KUNIT_EXPECT_EQ(test, play.news.left, 0);
	play.now += RTT;
	acknowledge(&play, play.sent);
	KUNIT_EXPECT_EQ(test, play.paths->first, play.paths->next);
}

static void overtaken_packets_of_a_path_are_lost(struct kunit *test)
{
	struct play play = new_play(test, 2);

	measure(&play);
	/* Flights 2 and 4 take one path, 3 and 5 the other one. */
	send_flights(&play, 4);
	play.now += RTT;
	/* Of flight 2 and 3 packets are missing. Something later of flight 3's path came. */
	KUNIT_ASSERT_TRUE(test, roce_scoreboard_expect(play.board, nth(2 * FULL)));
	roce_scoreboard_arrived(play.board, nth(3 * FULL + 2), nth(4 * FULL), FIRST);
	learn(&play, 2 * FULL);
	expect_lost(&play, 3 * FULL, 3 * FULL + 2);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(play.board), 2);
	/* It is sent again, and lost again. */
	roce_scoreboard_resent(play.board, nth(3 * FULL), nth(3 * FULL + 2), nth(play.sent));
	expect_nothing_lost(&play);
	/* Then flight 4 arrives, on the path of flight 2. */
	arrive(&play, 2 * FULL, 4 * FULL, 5 * FULL);
	expect_lost(&play, 2 * FULL, 3 * FULL);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(play.board), FULL + 2);
}

static void two_later_packets_are_not_enough(struct kunit *test)
{
	struct play play = new_play(test, 2);

	measure(&play);
	send_flights(&play, 1);
	play.now += RTT;
	arrive(&play, 2 * FULL, 3 * FULL - 2, 3 * FULL);
	expect_nothing_lost(&play);
	arrive(&play, 2 * FULL, 3 * FULL - 3, 3 * FULL);
	expect_lost(&play, 2 * FULL, 3 * FULL - 3);
}

static void a_lost_retransmission_is_sent_again(struct kunit *test)
{
	struct play play = new_play(test, 2);
	struct roce_departure again = {
		.begin = nth(2 * FULL), .end = nth(2 * FULL + 1), .packets = 1,
		.again = true,
	};

	measure(&play);
	send_flights(&play, 2);
	arrive(&play, 2 * FULL, 2 * FULL + 1, 4 * FULL);
	expect_lost(&play, 2 * FULL, 2 * FULL + 1);
	again.path = roce_paths_choose_again(play.paths, play.count, false);
	again.time = play.now;
	roce_paths_sent(play.paths, &again);
	roce_scoreboard_resent(play.board, again.begin, again.end, nth(play.sent));
	expect_nothing_lost(&play);
	send_flights(&play, 2);
	arrive(&play, 2 * FULL, 4 * FULL, 6 * FULL);
	expect_lost(&play, 2 * FULL, 2 * FULL + 1);
}

static void send_on(struct play *play, u32 path, u32 begin, u32 end, bool again)
{
	struct roce_departure departure = {
		.path = path, .begin = nth(begin), .end = nth(end),
		.packets = end - begin, .again = again, .time = play->now,
	};

	roce_paths_sent(play->paths, &departure);
	play->sent = max(play->sent, end);
}

/*
 * The second flight was taken for lost, and sent again on the path of the first one. It
 * arrives, but that may be the first copy, which took another path.
 */
static void a_repeated_flight_overtakes_nothing(struct kunit *test)
{
	struct play play = new_play(test, 2);

	measure(&play);
	send_on(&play, 0, 2 * FULL, 3 * FULL, false);
	play.now += 2 * RTT;
	send_on(&play, 0, 3 * FULL, 4 * FULL, true);
	arrive(&play, 2 * FULL, 3 * FULL + 1, 4 * FULL);
	expect_nothing_lost(&play);
	arrive(&play, 2 * FULL, 3 * FULL, 4 * FULL);
	expect_nothing_lost(&play);
	KUNIT_EXPECT_EQ(test, play.news.left, 0);
}

/* The queues that made the round trips long are empty now. */
static void a_repeated_flight_that_arrives_soon_tells_what_is_overdue(struct kunit *test)
{
	struct play play = new_play(test, 2);

	measure(&play);
	play.paths->path[0].srtt = 20 * RTT;
	play.paths->path[1].srtt = 20 * RTT;
	send_on(&play, 0, 2 * FULL, 3 * FULL, false);
	play.now += 50 * RTT;
	/* The first copy was lost before. */
	send_on(&play, 1, 3 * FULL, 4 * FULL, true);
	play.now += RTT;
	arrive(&play, 2 * FULL, 3 * FULL, 4 * FULL);
	expect_lost(&play, 2 * FULL, 3 * FULL);
	KUNIT_EXPECT_EQ(test, play.news.left, BIT(0));
}

/* A probe took the other path, and repeated the last packet. */
static void a_probe_does_not_hide_that_a_path_is_dead(struct kunit *test)
{
	struct play play = new_play(test, 2);

	measure(&play);
	send_on(&play, 0, 2 * FULL, 3 * FULL, false);
	play.now += 50 * RTT;
	send_on(&play, 1, 3 * FULL - 1, 3 * FULL, true);
	play.now += RTT;
	arrive(&play, 2 * FULL, 3 * FULL - 1, 3 * FULL);
	KUNIT_EXPECT_TRUE(test, play.board->gap[0].loss == ROCE_GAP_VANISHED);
	KUNIT_EXPECT_EQ(test, play.news.left, BIT(0));
}

/* One packet on path 0 gets no answer in time, and a probe on path 1 repeats it. */
static void send_and_probe(struct play *play)
{
	u32 psn = play->sent;

	send_on(play, 0, psn, psn + 1, false);
	play->now += 4 * RTT;
	send_on(play, 1, psn, psn + 1, true);
	play->now += RTT;
	acknowledge(play, psn + 1);
}

/* Whether it was late or lost, nobody knows: but not of all packets in a row. */
static void a_slow_peer_is_no_dead_path(struct kunit *test)
{
	struct play play = new_play(test, 2);
	u32 i;

	measure(&play);
	for (i = 0; i < 100; i++) {
		send_and_probe(&play);
		KUNIT_EXPECT_EQ(test, play.news.left, 0);
		send_and_probe(&play);
		KUNIT_EXPECT_EQ(test, play.news.left, 0);
		send_on(&play, 0, play.sent, play.sent + 1, false);
		acknowledge(&play, play.sent);
	}
	send_and_probe(&play);
	send_and_probe(&play);
	KUNIT_EXPECT_EQ(test, play.news.left, 0);
	send_and_probe(&play);
	KUNIT_EXPECT_EQ(test, play.news.left, BIT(0));
}

/* Both flights leave at the same time, as a coarse clock shows it. */
static void a_path_that_delivers_later_packets_is_not_dead(struct kunit *test)
{
	struct play play = new_play(test, 2);

	measure(&play);
	send_on(&play, 0, 2 * FULL, 3 * FULL, false);
	send_on(&play, 1, 3 * FULL, 4 * FULL, false);
	send_on(&play, 0, 4 * FULL, 4 * FULL + 2, false);
	play.now += 50 * RTT;
	send_on(&play, 1, 4 * FULL + 2, 5 * FULL, false);
	arrive(&play, 2 * FULL, 3 * FULL, 5 * FULL);
	expect_lost(&play, 2 * FULL, 3 * FULL);
	KUNIT_EXPECT_TRUE(test, play.board->gap[0].loss == ROCE_GAP_OVERTAKEN);
	KUNIT_EXPECT_EQ(test, play.news.left, 0);
}

/* The round trip of path 1 becomes long. */
static void a_queue_that_grows_loses_nothing(struct kunit *test)
{
	struct play play = new_play(test, 2);

	measure(&play);
	play.paths->current_path = 0;
	KUNIT_EXPECT_EQ(test, send_some(&play, FULL), 1);
	send_on(&play, 1, 3 * FULL, 4 * FULL, false);
	play.now += 20 * RTT;
	acknowledge(&play, 3 * FULL);
	send_on(&play, 0, 4 * FULL, 5 * FULL, false);
	play.now += RTT;
	arrive(&play, 3 * FULL, 4 * FULL, 5 * FULL);
	expect_nothing_lost(&play);
}

/* A packet that is sent again does not end a round trip. */
static void only_unambiguous_round_trips_count(struct kunit *test)
{
	struct play play = new_play(test, 2);
	struct roce_departure again = { .packets = 1, .again = true };

	measure(&play);
	send_flights(&play, 1);
	again.begin = nth(play.sent - 1);
	again.end = nth(play.sent);
	again.time = play.now;
	roce_paths_sent(play.paths, &again);
	play.now += 10 * RTT;
	acknowledge(&play, play.sent);
	KUNIT_EXPECT_EQ(test, play.paths->path[0].srtt, RTT);
	KUNIT_EXPECT_EQ(test, play.paths->path[1].srtt, RTT);
}

/* --- Leaving and coming back --- */

/* Send flights until another path has brought news that make the dark one overdue. */
static u32 darken(struct play *play)
{
	u32 dark, begin = play->sent;

	play->now += NSEC_PER_USEC;
	dark = send_some(play, FULL);
	play->now += 10 * RTT;
	while (send_some(play, FULL) == dark)
		;
	play->now += RTT;
	arrive(play, begin, play->sent - FULL, play->sent);
	return dark;
}

static void a_path_that_delivers_nothing_is_left(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 dark, begin, i;

	measure(&play);
	begin = play.sent;
	dark = darken(&play);
	expect_lost(&play, begin, begin + FULL);
	KUNIT_EXPECT_EQ(test, play.news.left, BIT(dark));
	/* That is no congestion. */
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(play.board), 0);
	for (i = 0; i < 12; i++)
		KUNIT_EXPECT_NE(test, send_some(&play, FULL), dark);
	KUNIT_EXPECT_NE(test, roce_paths_choose_again(play.paths, 4, false), dark);
}

/* Nothing was sent later on any path: that says nothing about one of them. */
static void a_standstill_is_nobodys_fault(struct kunit *test)
{
	struct play play = new_play(test, 4);

	measure(&play);
	send_flights(&play, 8);
	play.now += NSEC_PER_SEC;
	acknowledge(&play, 4 * FULL + 1);
	expect_nothing_lost(&play);
	KUNIT_EXPECT_EQ(test, play.news.left, 0);
}

/* Wait until the probe of @dark is due; returns its number. */
static u32 probe(struct play *play, u32 dark)
{
	struct roce_path *path = &play->paths->path[dark];

	play->now = path->probe_at - 1;
	KUNIT_EXPECT_EQ(play->test, roce_paths_probe(play->paths, play->now), ROCE_MAX_PATHS);
	play->now++;
	KUNIT_EXPECT_EQ(play->test, roce_paths_probe(play->paths, play->now), dark);
	/* Only one is sent. */
	KUNIT_EXPECT_EQ(play->test, roce_paths_probe(play->paths, play->now), ROCE_MAX_PATHS);
	KUNIT_EXPECT_NE(play->test, send_some(play, FULL), dark);
	return path->probe;
}

static void answer(struct play *play, u32 number)
{
	roce_paths_answered(play->paths, number, play->now, &play->news);
}

static void a_path_comes_back_with_a_probe(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 dark, number, used = 0, i;

	measure(&play);
	dark = darken(&play);
	number = probe(&play, dark);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_NE(test, send_some(&play, FULL), dark);
	play.now += RTT;
	acknowledge(&play, play.sent);
	answer(&play, number + 1);
	KUNIT_EXPECT_EQ(test, play.news.returned, 0);
	answer(&play, number);
	KUNIT_EXPECT_EQ(test, play.news.returned, BIT(dark));
	for (i = 0; i < 8; i++)
		used += send_some(&play, FULL) == dark;
	KUNIT_EXPECT_GE(test, used, 1);
	/* A copy of the answer is no news. */
	answer(&play, number);
	KUNIT_EXPECT_EQ(test, play.news.returned, 0);
}

static void a_path_that_answers_late_stays_away(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 dark, number;

	measure(&play);
	dark = darken(&play);
	number = probe(&play, dark);
	play.now += 20 * RTT;
	answer(&play, number);
	KUNIT_EXPECT_EQ(test, play.news.returned, 0);
	KUNIT_EXPECT_EQ(test, play.paths->path[dark].state, ROCE_PATH_LEFT);
}

static void probes_become_rare(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u64 wait, last = 0;
	u32 dark, i;

	measure(&play);
	dark = darken(&play);
	for (i = 0; i < 12; i++) {
		wait = play.paths->path[dark].probe_at - play.now;
		KUNIT_EXPECT_GE(test, wait, min(2 * last, 32ull * NSEC_PER_MSEC));
		KUNIT_EXPECT_LE(test, wait, 32ull * NSEC_PER_MSEC);
		last = wait;
		probe(&play, dark);
		acknowledge(&play, play.sent);
		/* It has never come back, so it is not left again. */
		KUNIT_EXPECT_EQ(test, play.news.left, 0);
	}
}

/* A path that is left again and again is alone for longer and longer, a good one is not. */
static void a_bad_time_is_remembered_for_a_while(struct kunit *test)
{
	struct play play = new_play(test, 2);
	u64 wait, last = 0;
	u32 i, dark = 0;

	for (i = 0; i < 12; i++) {
		measure(&play);
		dark = darken(&play);
		wait = play.paths->path[dark].probe_at - play.now;
		KUNIT_EXPECT_GE(test, wait, last);
		KUNIT_EXPECT_LE(test, wait, 256ull * NSEC_PER_MSEC);
		last = wait;
		acknowledge(&play, play.sent);
		answer(&play, probe(&play, dark));
		KUNIT_EXPECT_EQ(test, play.paths->path[dark].state, ROCE_PATH_GOOD);
		acknowledge(&play, play.sent);
		play.paths->path[0].srtt = 0;
		play.paths->path[1].srtt = 0;
	}
	KUNIT_EXPECT_GT(test, last, 16ull * NSEC_PER_MSEC);
	for (i = 0; i < 200; i++) {
		send_some(&play, FULL);
		acknowledge(&play, play.sent);
	}
	KUNIT_EXPECT_EQ(test, play.paths->path[dark].backoff, 0);
}

static void a_lossy_path_is_left(struct kunit *test)
{
	struct play play = new_play(test, 2);
	u32 rounds = 0, left = 0, end;

	measure(&play);
	/* Path 0 loses one packet in two flights, path 1 none. */
	while (!left && ++rounds < 100) {
		u32 path = send_some(&play, FULL);

		end = play.sent;
		play.now += RTT;
		if (path == 0)
			arrive(&play, end - FULL, end - FULL + 4, end);
		left |= play.news.left;
		acknowledge(&play, end);
		left |= play.news.left;
	}
	KUNIT_EXPECT_EQ(test, left, BIT(0));
}

static void paths_that_are_equally_lossy_stay(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 rounds;

	measure(&play);
	for (rounds = 0; rounds < 100; rounds++) {
		u32 begin = play.sent;

		send_some(&play, FULL);
		play.now += RTT;
		arrive(&play, begin, begin + 1, play.sent);
		KUNIT_EXPECT_EQ(test, play.news.left, 0);
		acknowledge(&play, play.sent);
		KUNIT_EXPECT_EQ(test, play.news.left, 0);
	}
}

static void a_path_that_is_much_slower_is_left(struct kunit *test)
{
	struct play play = new_play(test, 2);
	u32 path;

	measure(&play);
	/* The limit is twice the other's round trip and 200 us. */
	path = send_some(&play, FULL);
	play.paths->path[path].srtt = 4 * RTT;
	play.now += 4 * RTT;
	acknowledge(&play, play.sent);
	KUNIT_EXPECT_EQ(test, play.news.left, 0);
	KUNIT_EXPECT_EQ(test, play.paths->path[path].srtt, 4 * RTT);
	play.paths->path[!path].srtt = 5 * RTT;
	KUNIT_EXPECT_EQ(test, send_some(&play, FULL), path);
	play.paths->path[!path].srtt = RTT;
	play.now += 5 * RTT;
	acknowledge(&play, play.sent);
	KUNIT_EXPECT_EQ(test, play.news.left, BIT(path));
}

/* What it still carries comes as late as before. */
static void packets_of_a_slow_path_are_not_lost_when_it_is_left(struct kunit *test)
{
	struct play play = new_play(test, 2);

	measure(&play);
	play.paths->path[1].srtt = 20 * RTT;
	send_on(&play, 1, 2 * FULL, 3 * FULL, false);
	send_on(&play, 1, 3 * FULL, 4 * FULL, false);
	play.now += 10 * RTT;
	send_on(&play, 0, 4 * FULL, 5 * FULL, false);
	play.now += 10 * RTT;
	arrive(&play, 3 * FULL, 4 * FULL, 5 * FULL);
	KUNIT_EXPECT_EQ(test, play.news.left, BIT(1));
	expect_nothing_lost(&play);
}

static void the_last_good_path_stays(struct kunit *test)
{
	struct play play = new_play(test, 2);
	u32 path, other, begin;

	measure(&play);
	begin = play.sent;
	path = send_some(&play, FULL);
	play.now += 10 * RTT;
	other = send_some(&play, FULL);
	KUNIT_EXPECT_NE(test, path, other);
	play.paths->path[other].state = ROCE_PATH_LEFT;
	play.now += RTT;
	arrive(&play, begin, begin + FULL, begin + 2 * FULL);
	expect_lost(&play, begin, begin + FULL);
	KUNIT_EXPECT_EQ(test, play.news.left, 0);
	KUNIT_EXPECT_EQ(test, play.paths->path[0].state, ROCE_PATH_GOOD);
	KUNIT_EXPECT_EQ(test, play.paths->path[1].state, ROCE_PATH_GOOD);
}

/* A short window: nothing more is sent after the dark flight that could be much later. */
static void in_silence_a_later_arrival_is_enough(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 begin;

	measure(&play);
	begin = play.sent;
	send_flights(&play, 4);
	play.now += RTT;
	arrive(&play, begin, begin + FULL, play.sent);
	expect_nothing_lost(&play);
	roce_paths_silence(play.paths, play.board, play.now, &play.news);
	expect_lost(&play, begin, begin + FULL);
	KUNIT_EXPECT_EQ(test, hweight32(play.news.left), 1);
}

static void repeated_packets_take_turns_in_silence(struct kunit *test)
{
	struct play play = new_play(test, 4);
	u32 used = 0, i;

	measure(&play);
	for (i = 0; i < 4; i++)
		used |= BIT(roce_paths_choose_again(play.paths, 4, true));
	KUNIT_EXPECT_EQ(test, used, 0xf);
	/* Otherwise they take the path of the latest arrival. */
	play.paths->path[2].newest = play.now;
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, roce_paths_choose_again(play.paths, 4, false), 2);
}

/* Each good path has had a probe. */
static void paths_that_were_left_are_used_when_probes_get_no_answer(struct kunit *test)
{
	struct play play = new_play(test, 3);

	measure(&play);
	play.paths->path[1].state = ROCE_PATH_LEFT;
	roce_paths_unanswered(play.paths, 1);
	KUNIT_EXPECT_EQ(test, play.paths->path[1].state, ROCE_PATH_LEFT);
	roce_paths_unanswered(play.paths, 2);
	KUNIT_EXPECT_EQ(test, play.paths->path[1].state, ROCE_PATH_GOOD);
}

/* The peer alone knows whether packets that took no path are lost. */
static void the_oldest_flight_is_known(struct kunit *test)
{
	struct play play = new_play(test, 2);

	KUNIT_EXPECT_EQ(test, roce_paths_oldest(play.paths, nth(5)), nth(5));
	measure(&play);
	send_flights(&play, 2);
	KUNIT_EXPECT_EQ(test, roce_paths_oldest(play.paths, nth(5)), nth(5));
	KUNIT_EXPECT_EQ(test, roce_paths_oldest(play.paths, nth(play.sent)), nth(2 * FULL));
	roce_paths_forget(play.paths, FIRST);
	KUNIT_EXPECT_EQ(test, roce_paths_oldest(play.paths, nth(play.sent)), nth(play.sent));
}

/* --- On the wire --- */

#define MTU	256
#define SIZE	(64 * MTU)

static struct wire *new_wire(struct kunit *test, u32 paths, bool ipv6,
			     enum roce_loss_recovery of_responder)
{
	struct wire_setup setup = wire_selective();
	struct wire *wire;
	u32 i;

	setup.ipv6 = ipv6;
	setup.timeout = WIRE_TIMEOUT;
	setup.loss_recovery[1] = of_responder;
	wire = wire_new(test, &setup);
	for (i = 0; i < 2; i++)
		wire->ends[i].dev->paths = paths;
	return wire;
}

static void transfer(struct wire *wire, enum ib_wr_opcode opcode, u32 messages)
{
	u32 i;

	for (i = 0; i < messages; i++) {
		wire_prepare(wire, opcode, i, SIZE);
		wire_send(wire, opcode, i, SIZE);
		wire_finish(wire, opcode, i, SIZE);
	}
}

/* Number of different ports of end @from, or of flow labels */
static u32 count_ports(const struct wire *wire, u8 from, bool labels)
{
	u32 i, k, sum = 0;

	for (i = 0; i < wire->logged; i++) {
		const struct wire_record *record = &wire->log[i];

		if (record->from != from)
			continue;
		for (k = 0; k < i; k++)
			if (wire->log[k].from == from &&
			    (labels ? wire->log[k].flow_label == record->flow_label :
				      wire->log[k].port == record->port))
				break;
		sum += k == i;
	}
	return sum;
}

static void a_qp_has_one_path_unless_told_otherwise(struct kunit *test)
{
	struct wire *wire = new_wire(test, 1, false, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	transfer(wire, IB_WR_RDMA_WRITE, 4);
	transfer(wire, IB_WR_RDMA_READ, 2);
	KUNIT_EXPECT_EQ(test, count_ports(wire, 0, false), 1);
	KUNIT_EXPECT_EQ(test, count_ports(wire, 1, false), 1);
	KUNIT_EXPECT_EQ(test, wire->log[0].port, a->qp->source_port);
	KUNIT_EXPECT_NULL(test, a->qp->requester.paths);
}

static void other_peers_see_one_path(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, false, ROCE_TOLERATE);

	transfer(wire, IB_WR_RDMA_WRITE, 4);
	KUNIT_EXPECT_EQ(test, count_ports(wire, 0, false), 1);
	KUNIT_EXPECT_EQ(test, count_ports(wire, 1, false), 1);
	KUNIT_EXPECT_NULL(test, wire->ends[0].qp->requester.paths);
}

static void requests_are_spread(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, true, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	/* No probes: after a duplicate, which they make, answers take another path. */
	a->qp->attr.timeout = 0;
	/* With the first message and the next one the devices agree. */
	transfer(wire, IB_WR_RDMA_WRITE, 2);
	KUNIT_EXPECT_EQ(test, count_ports(wire, 0, false), 1);
	transfer(wire, IB_WR_SEND, 4);
	KUNIT_EXPECT_EQ(test, count_ports(wire, 0, false), 4);
	KUNIT_EXPECT_EQ(test, count_ports(wire, 0, true), 4);
	/* Answers take one path at a time. */
	KUNIT_EXPECT_EQ(test, count_ports(wire, 1, false), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, retransmitted_packets), SEEN(a, tail_loss_probes));
	/* Fewer paths are used at once. */
	a->dev->paths = 1;
	wire_forget(wire);
	transfer(wire, IB_WR_SEND, 4);
	KUNIT_EXPECT_EQ(test, count_ports(wire, 0, false), 1);
	KUNIT_EXPECT_EQ(test, wire->log[0].port, a->qp->source_port);
}

/* ... after any number of packets, and when the agreement is made anew */
static void many_paths_need_a_confirmation(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, false, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_requester *requester = &a->qp->requester;

	a->dev->paths = 1;
	transfer(wire, IB_WR_RDMA_WRITE, 3);
	/* As if half of all PSNs had passed since then */
	requester->confirm_psn = roce_psn_add(requester->confirm_psn, ROCE_PSN_MASK / 2 + 2);
	a->dev->paths = 4;
	KUNIT_EXPECT_TRUE(test, roce_spread_is_on(a->qp));
	transfer(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_NOT_NULL(test, requester->paths);
	a->dev->loss_recovery = ROCE_TOLERATE;
	transfer(wire, IB_WR_RDMA_WRITE, 2);
	KUNIT_EXPECT_FALSE(test, roce_spread_is_on(a->qp));
	/* It follows meanwhile, a message behind. */
	KUNIT_EXPECT_EQ(test, roce_psn_diff(requester->unacked_psn, requester->paths->until),
			SIZE / MTU);
}

static void a_new_connection_has_one_path(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, false, ROCE_SELECTIVE);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	struct wire_end *a = &wire->ends[0];

	transfer(wire, IB_WR_RDMA_WRITE, 3);
	KUNIT_EXPECT_NOT_NULL(test, a->qp->requester.paths);
	wire_modify(a, &attr, IB_QP_STATE);
	KUNIT_EXPECT_NULL(test, a->qp->requester.paths);
}

/* The devices agree, and the requester uses its paths. */
static struct roce_paths *use_paths(struct wire *wire)
{
	struct wire_end *a = &wire->ends[0];

	transfer(wire, IB_WR_RDMA_WRITE, 4);
	KUNIT_ASSERT_NOT_NULL(wire->test, a->qp->requester.paths);
	return a->qp->requester.paths;
}

/* Nothing is known of any path, so they take turns. */
static void forget_scores(struct roce_paths *paths)
{
	u32 i;

	for (i = 0; i < paths->count; i++) {
		paths->path[i].state = ROCE_PATH_GOOD;
		paths->path[i].srtt = 0;
	}
}

/* One path after the other is dark, and no request fails, though none may be retried. */
static void messages_leave_the_dark(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, false, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_paths *paths;
	u32 i, n;

	a->qp->attr.retry_cnt = 0;
	paths = use_paths(wire);
	for (i = 0; i < 4; i++) {
		a->dark = BIT(i);
		n = 0;
		do {
			forget_scores(paths);
			transfer(wire, IB_WR_SEND, 1);
		} while (paths->path[i].state == ROCE_PATH_GOOD && ++n < 100);
		KUNIT_EXPECT_EQ(test, paths->path[i].state, ROCE_PATH_LEFT);
	}
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
	KUNIT_EXPECT_EQ(test, SEEN(a, completer_retry_err), 0);
	KUNIT_EXPECT_EQ(test, a->qp->requester.retries, 0);
}

/* Each message is one packet, and a probe saves those that are lost. */
static void single_packets_leave_the_dark(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, false, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_paths *paths = use_paths(wire);
	u32 i;

	a->dark = BIT(2);
	for (i = 0; i < 100 && paths->path[2].state == ROCE_PATH_GOOD; i++) {
		forget_scores(paths);
		wire_prepare(wire, IB_WR_SEND, i, MTU);
		wire_send(wire, IB_WR_SEND, i, MTU);
		wire_finish(wire, IB_WR_SEND, i, MTU);
	}
	KUNIT_EXPECT_EQ(test, paths->path[2].state, ROCE_PATH_LEFT);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
}

/* Else later packets on the same path would seem to be overtaken by a repetition. */
static void a_repeated_packet_leaves_when_fq_lets_it(struct kunit *test)
{
	struct wire *wire = new_wire(test, 2, false, ROCE_SELECTIVE);
	u64 departure = ktime_get_ns() + 1000 * NSEC_PER_SEC, repeated = 0;
	struct wire_end *a = &wire->ends[0];
	struct roce_paths *paths;
	u32 n;

	a->qp->attr.timeout = 0;
	transfer(wire, IB_WR_RDMA_WRITE, 3);
	a->qp->flow.departure[ROCE_REQUESTER] = departure;
	wire_forget(wire);
	wire_fault(a, 2, WIRE_DROP);
	transfer(wire, IB_WR_RDMA_WRITE, 1);
	paths = a->qp->requester.paths;
	for (n = 0; n < ROCE_MAX_FLIGHTS; n++)
		if (paths->flight[n].again)
			repeated = paths->flight[n].sent_at;
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_repeats), 1);
	KUNIT_EXPECT_EQ(test, repeated, departure);
}

static void a_path_returns_from_the_dark(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, false, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_paths *paths = use_paths(wire);
	u32 i;

	a->dark = BIT(2);
	for (i = 0; i < 1000 && !SEEN(a, paths_left); i++) {
		forget_scores(paths);
		transfer(wire, IB_WR_SEND, 1);
	}
	KUNIT_EXPECT_GE(test, SEEN(a, paths_left), 1);
	a->dark = 0;
	for (i = 0; i < 10000 && !SEEN(a, paths_returned); i++) {
		transfer(wire, IB_WR_SEND, 1);
		usleep_range(500, 1000);
	}
	KUNIT_EXPECT_GE(test, SEEN(a, paths_returned), 1);
}

/* @probe_at: when it gets its next probe, nanoseconds */
static void leave_path(struct wire_end *end, u32 path, u64 probe_at)
{
	struct roce_requester *requester = &end->qp->requester;

	roce_engine_claim(&requester->engine);
	requester->paths->path[path].state = ROCE_PATH_LEFT;
	requester->paths->path[path].probe_at = probe_at;
	roce_engine_release(&requester->engine);
}

/* The other paths were left, though they are only slow. */
static void the_last_good_path_gets_dark(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, false, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	u32 i;

	forget_scores(use_paths(wire));
	for (i = 1; i < 4; i++)
		leave_path(a, i, U64_MAX);
	a->dark = BIT(0);
	transfer(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
}

static void unused_paths_get_no_probe(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, false, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	use_paths(wire);
	leave_path(a, 3, 0);
	a->dev->paths = 1;
	wire_forget(wire);
	transfer(wire, IB_WR_SEND, 2);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 0, ROCE_OPCODE_PATH_PROBE), 0);
	KUNIT_EXPECT_EQ(test, count_ports(wire, 0, false), 1);
}

/* Half of the ways of the peer are dark, its first one, too. */
static void answers_leave_the_dark(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ,
	};
	struct wire *wire = new_wire(test, 4, false, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 i;

	transfer(wire, IB_WR_RDMA_WRITE, 4);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		b->dark = BIT(b->qp->responder.path) | BIT((b->qp->responder.path + 1) % 4);
		transfer(wire, opcodes[i], 4);
	}
	KUNIT_EXPECT_EQ(test, SEEN(a, req_cqe_error), 0);
	KUNIT_EXPECT_GE(test, count_ports(wire, 1, false), 3);
}

/* A packet that comes early, of which a copy asks whether it has arrived */
static void inject_early(struct wire *wire, bool asks)
{
	static const u8 payload[16];
	struct roce_packet packet = {
		.opcode = ROCE_SERVICE_RC | ROCE_SEND_ONLY, .payload = sizeof(payload),
		.psn = roce_psn_add(wire->ends[1].qp->responder.psn, 5), .ack_request = asks,
		.sack = asks ? ROCE_BTH_SACK_CONFIRM : 0,
	};

	KUNIT_ASSERT_EQ(wire->test, 0, wire_inject(&wire->ends[0], &packet, payload));
	wire_run(wire);
}

/* A request and the way of the answers are in the dark together. */
static void a_copy_of_an_early_packet_moves_answers(struct kunit *test)
{
	struct wire *wire = new_wire(test, 4, false, ROCE_SELECTIVE);
	struct roce_responder *responder = &wire->ends[1].qp->responder;
	u32 path;

	transfer(wire, IB_WR_RDMA_WRITE, 4);
	path = responder->path;
	inject_early(wire, true);
	KUNIT_EXPECT_TRUE(test, roce_reorder_has_gap(responder->reorder, responder->psn));
	inject_early(wire, false);
	KUNIT_EXPECT_EQ(test, responder->path, path);
	inject_early(wire, true);
	KUNIT_EXPECT_EQ(test, responder->path, (path + 1) % 4);
	inject_early(wire, true);
	KUNIT_EXPECT_EQ(test, responder->path, (path + 2) % 4);
}

static void inject_probe(struct wire *wire, u8 opcode)
{
	struct roce_packet packet = { .opcode = opcode, .psn = 0xabcdef };

	KUNIT_ASSERT_EQ(wire->test, 0, wire_inject(&wire->ends[0], &packet, NULL));
	wire_run(wire);
}

/* A peer that has not agreed knows no probes, and sends no answers. */
static void probes_need_the_agreement(struct kunit *test)
{
	struct wire *wire = new_wire(test, 1, false, ROCE_SELECTIVE);
	struct wire_end *b = &wire->ends[1];
	const struct wire_record *record;

	inject_probe(wire, ROCE_OPCODE_PATH_PROBE);
	KUNIT_EXPECT_EQ(test, SEEN(b, rx_dropped_opcode), 1);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 1, ROCE_OPCODE_PATH_ANSWER), 0);
	transfer(wire, IB_WR_RDMA_WRITE, 2);
	inject_probe(wire, ROCE_OPCODE_PATH_PROBE);
	KUNIT_EXPECT_EQ(test, SEEN(b, rx_dropped_opcode), 1);
	KUNIT_ASSERT_EQ(test, wire_count(wire, 1, ROCE_OPCODE_PATH_ANSWER), 1);
	record = wire_find(wire, 1, ROCE_OPCODE_PATH_ANSWER, 0);
	KUNIT_EXPECT_EQ(test, record->psn, 0xabcdef);
	/* Nobody has asked. */
	inject_probe(wire, ROCE_OPCODE_PATH_ANSWER);
	KUNIT_EXPECT_EQ(test, SEEN(b, rx_dropped_opcode), 2);
	transfer(wire, IB_WR_SEND, 1);
}

static const struct storm storms[] = {
	{ "calm", 0, 0, 0, 0, 0 },
	{ "lost", 50, 0, 0, 0, 1 },
	{ "lost and late", 30, 0, 0, 100, 10 },
	{ "all of it", 20, 50, 20, 100, 40 },
};

static void every_byte_arrives_in_order_and_once(struct kunit *test)
{
	struct wire *wire = new_wire(test, ROCE_MAX_PATHS, false, ROCE_SELECTIVE);

	transfer(wire, IB_WR_RDMA_WRITE, 4);
	storm_begin(wire, test->param_value);
	storm_work(wire);
}

KUNIT_ARRAY_PARAM_DESC(storm, storms, name);

static struct kunit_case paths_cases[] = {
	KUNIT_CASE(each_path_has_a_port_and_a_label),
	KUNIT_CASE(paths_take_turns),
	KUNIT_CASE(short_trains_fill_a_flight),
	KUNIT_CASE(short_flights_take_turns_too),
	KUNIT_CASE(one_path_is_always_the_first),
	KUNIT_CASE(the_number_of_paths_may_change),
	KUNIT_CASE(a_slow_path_carries_less),
	KUNIT_CASE(the_number_of_flights_is_bounded),
	KUNIT_CASE(a_late_flight_is_not_lost),
	KUNIT_CASE(overtaken_packets_of_a_path_are_lost),
	KUNIT_CASE(two_later_packets_are_not_enough),
	KUNIT_CASE(a_lost_retransmission_is_sent_again),
	KUNIT_CASE(a_repeated_flight_overtakes_nothing),
	KUNIT_CASE(a_repeated_flight_that_arrives_soon_tells_what_is_overdue),
	KUNIT_CASE(a_probe_does_not_hide_that_a_path_is_dead),
	KUNIT_CASE(a_slow_peer_is_no_dead_path),
	KUNIT_CASE(a_path_that_delivers_later_packets_is_not_dead),
	KUNIT_CASE(a_queue_that_grows_loses_nothing),
	KUNIT_CASE(only_unambiguous_round_trips_count),
	KUNIT_CASE(a_path_that_delivers_nothing_is_left),
	KUNIT_CASE(a_standstill_is_nobodys_fault),
	KUNIT_CASE(a_path_comes_back_with_a_probe),
	KUNIT_CASE(a_path_that_answers_late_stays_away),
	KUNIT_CASE(probes_become_rare),
	KUNIT_CASE(a_bad_time_is_remembered_for_a_while),
	KUNIT_CASE(a_lossy_path_is_left),
	KUNIT_CASE(paths_that_are_equally_lossy_stay),
	KUNIT_CASE(a_path_that_is_much_slower_is_left),
	KUNIT_CASE(packets_of_a_slow_path_are_not_lost_when_it_is_left),
	KUNIT_CASE(the_last_good_path_stays),
	KUNIT_CASE(in_silence_a_later_arrival_is_enough),
	KUNIT_CASE(repeated_packets_take_turns_in_silence),
	KUNIT_CASE(paths_that_were_left_are_used_when_probes_get_no_answer),
	KUNIT_CASE(the_oldest_flight_is_known),
	KUNIT_CASE(a_qp_has_one_path_unless_told_otherwise),
	KUNIT_CASE(other_peers_see_one_path),
	KUNIT_CASE(requests_are_spread),
	KUNIT_CASE(many_paths_need_a_confirmation),
	KUNIT_CASE(a_new_connection_has_one_path),
	KUNIT_CASE(messages_leave_the_dark),
	KUNIT_CASE(single_packets_leave_the_dark),
	KUNIT_CASE(a_repeated_packet_leaves_when_fq_lets_it),
	KUNIT_CASE(a_path_returns_from_the_dark),
	KUNIT_CASE(the_last_good_path_gets_dark),
	KUNIT_CASE(unused_paths_get_no_probe),
	KUNIT_CASE(answers_leave_the_dark),
	KUNIT_CASE(a_copy_of_an_early_packet_moves_answers),
	KUNIT_CASE(probes_need_the_agreement),
	KUNIT_CASE_PARAM(every_byte_arrives_in_order_and_once, storm_gen_params),
	{}
};

static struct kunit_suite paths_suite = {
	.name = "roce_paths",
	.test_cases = paths_cases,
};

kunit_test_suite(paths_suite);
