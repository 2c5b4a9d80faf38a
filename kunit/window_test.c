// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The window grows to what a far peer needs, quickly at first, and not beyond what it needs
 * when queues are full.
 */
#include "repair.h"
#include "roce_psn.h"
#include "scoreboard.h"
#include "wire_fake.h"

#define SIZE		1000

static struct wire *new_wire(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();

	setup.timeout = 0;
	return wire_new(test, &setup);
}

static void transfer(struct wire *wire, u64 wr_id)
{
	wire_prepare(wire, IB_WR_RDMA_WRITE, wr_id, SIZE);
	wire_send(wire, IB_WR_RDMA_WRITE, wr_id, SIZE);
	wire_finish(wire, IB_WR_RDMA_WRITE, wr_id, SIZE);
}

static void a_loss_narrows_the_window_for_a_while(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	const u32 *window = &wire->ends[0].qp->requester.window;
	u32 i, whole = *window;

	wire_fault(&wire->ends[0], 1, WIRE_DROP);
	transfer(wire, 1);
	KUNIT_EXPECT_LT(test, *window, whole);
	KUNIT_EXPECT_GE(test, *window, whole / 2);

	for (i = 2; *window < whole && i < whole; i++)
		transfer(wire, i);
	KUNIT_EXPECT_GE(test, *window, whole);
	/* A step is one packet or four: the port may be crowded. */
	KUNIT_EXPECT_LT(test, *window, whole + 4);
}

/* --- Round trips --- */

/* Simulate a round trip of @ms milliseconds in which a window arrives. */
static void measure(struct wire *wire, u32 ms)
{
	struct roce_qp *qp = wire->ends[0].qp;

	roce_window_measured(qp, ms * NSEC_PER_MSEC, qp->requester.window);
	qp->requester.window_psn = roce_psn_add(qp->requester.unacked_psn, -1);
	roce_retransmit_progressed(qp);
}

static void a_far_peer_is_kept_busy(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct roce_qp *qp = wire->ends[0].qp;
	const u32 *window = &qp->requester.window;
	u32 i;

	measure(wire, 20);
	KUNIT_EXPECT_EQ(test, *window, 512);
	measure(wire, 20);
	KUNIT_EXPECT_EQ(test, *window, 1024);
	for (i = 0; i < 10; i++)
		measure(wire, 20);
	KUNIT_EXPECT_EQ(test, *window, ROCE_EARLY_PACKETS);
	qp->mtu = 4096;
	roce_window_start(qp);
	for (i = 0; i < 10; i++)
		measure(wire, 20);
	KUNIT_EXPECT_EQ(test, *window * qp->mtu, SZ_32M);
}

/* The round trip is longer than the shortest one: more packets would wait in queues. */
static void full_queues_do_not_widen_the_window(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	const u32 *window = &wire->ends[0].qp->requester.window;
	u32 i;

	measure(wire, 20);
	for (i = 0; i < 10; i++)
		measure(wire, 40);
	KUNIT_EXPECT_EQ(test, *window, 512);
}

/* A window is set when its packets are in flight. The first one of them is late. */
static void a_late_packet_does_not_delay_the_window(struct kunit *test)
{
	struct roce_qp *qp = new_wire(test)->ends[0].qp;
	struct roce_requester *requester = &qp->requester;

	requester->slow_start = false;
	requester->busy_packets = 1000;
	requester->limit_psn = roce_psn_add(requester->window_psn, 500);
	roce_window_arrived(qp, roce_psn_add(requester->window_psn, -1));
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW);
	roce_window_arrived(qp, requester->window_psn);
	KUNIT_EXPECT_EQ(test, requester->window, 1000);
	/* Once for a window */
	requester->busy_packets = 2000;
	roce_window_arrived(qp, roce_psn_add(requester->limit_psn, -1));
	KUNIT_EXPECT_EQ(test, requester->window, 1000);
}

/* RFC 6298, 2 */
static void round_trips_have_a_mean_and_a_deviation(struct kunit *test)
{
	struct roce_qp *qp = new_wire(test)->ends[0].qp;
	const struct roce_requester *requester = &qp->requester;

	roce_window_measured(qp, 1000, 1);
	KUNIT_EXPECT_EQ(test, requester->srtt, 1000);
	KUNIT_EXPECT_EQ(test, requester->rttvar, 500);
	roce_window_measured(qp, 1800, 1);
	KUNIT_EXPECT_EQ(test, requester->srtt, 1100);
	KUNIT_EXPECT_EQ(test, requester->rttvar, 575);
	roce_window_measured(qp, 300, 1);
	KUNIT_EXPECT_EQ(test, requester->srtt, 1000);
	KUNIT_EXPECT_EQ(test, requester->rttvar, 631);
}

/* --- Slow start --- */

/* A round trip has shown that @packets arrive in it. No window will end. */
static struct roce_requester *begin(struct wire *wire, u32 packets)
{
	struct roce_requester *requester = &wire->ends[0].qp->requester;

	requester->sack_accepted = true;
	requester->window_psn = roce_psn_add(requester->unacked_psn, 1 << 20);
	roce_window_measured(wire->ends[0].qp, 20 * NSEC_PER_MSEC, packets);
	return requester;
}

/* The peer acknowledges so many packets, one by one. */
static void arrive(struct wire *wire, u32 packets)
{
	struct roce_qp *qp = wire->ends[0].qp;

	while (packets--) {
		qp->requester.unacked_psn = roce_psn_add(qp->requester.unacked_psn, 1);
		roce_window_arrived(qp, qp->requester.unacked_psn);
	}
}

static void in_slow_start_the_window_doubles_in_a_round_trip(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct roce_requester *requester = begin(wire, ROCE_NEAR_WINDOW);

	arrive(wire, ROCE_NEAR_WINDOW);
	KUNIT_EXPECT_EQ(test, requester->window, 2 * ROCE_NEAR_WINDOW);
	arrive(wire, 2 * ROCE_NEAR_WINDOW);
	KUNIT_EXPECT_EQ(test, requester->window, 4 * ROCE_NEAR_WINDOW);
	begin(wire, ROCE_EARLY_PACKETS);
	arrive(wire, 2 * ROCE_EARLY_PACKETS);
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_EARLY_PACKETS);
}

static void in_slow_start_the_window_has_at_most_twice_what_it_needs(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct roce_requester *requester = begin(wire, 100);

	arrive(wire, 1000);
	KUNIT_EXPECT_EQ(test, requester->window, 400);
}

static void early_packets_widen_the_window_in_slow_start(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct roce_requester *requester = begin(wire, ROCE_NEAR_WINDOW);
	struct roce_scoreboard *board = roce_repair_board(requester);
	u32 psn = requester->unacked_psn;

	KUNIT_ASSERT_NOT_NULL(test, board);
	roce_scoreboard_expect(board, psn);
	roce_scoreboard_arrived(board, roce_psn_add(psn, 1), roce_psn_add(psn, 101), psn);
	roce_window_arrived(wire->ends[0].qp, roce_psn_add(board->high, -1));
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW + 100);
	/* They have arrived once. */
	roce_window_arrived(wire->ends[0].qp, roce_psn_add(board->high, -1));
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW + 100);
}

static void a_queue_as_long_as_the_path_ends_slow_start(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct roce_requester *requester = begin(wire, 1000);

	arrive(wire, ROCE_NEAR_WINDOW);
	roce_window_measured(wire->ends[0].qp, 39 * NSEC_PER_MSEC, 1000);
	arrive(wire, 10);
	KUNIT_EXPECT_EQ(test, requester->window, 2 * ROCE_NEAR_WINDOW + 10);
	roce_window_measured(wire->ends[0].qp, 50 * NSEC_PER_MSEC, 500);
	KUNIT_EXPECT_EQ(test, requester->window, 400);
	arrive(wire, 400);
	KUNIT_EXPECT_EQ(test, requester->window, 400);
}

static void many_losses_end_slow_start(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct roce_requester *requester = begin(wire, 200);

	arrive(wire, 1000);
	KUNIT_EXPECT_EQ(test, requester->window, 800);
	requester->psn = roce_psn_add(requester->unacked_psn, 800);
	roce_window_give_way(wire->ends[0].qp, 100);
	KUNIT_EXPECT_EQ(test, requester->window, 800);
	roce_window_give_way(wire->ends[0].qp, 101);
	KUNIT_EXPECT_EQ(test, requester->window, 400);
}

static void go_back_n_has_no_slow_start(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct roce_requester *requester = begin(wire, 1000);

	requester->sack_accepted = false;
	arrive(wire, ROCE_NEAR_WINDOW);
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW);
}

static void slow_start_begins_anew_with_the_shortest_round_trip(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct roce_requester *requester = begin(wire, 1000);

	roce_window_measured(wire->ends[0].qp, 50 * NSEC_PER_MSEC, 1000);
	arrive(wire, ROCE_NEAR_WINDOW);
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW);

	/* This one is about the packets of before. */
	requester->min_rtt_at -= 61 * HZ;
	roce_window_measured(wire->ends[0].qp, 21 * NSEC_PER_MSEC, 1000);
	KUNIT_EXPECT_EQ(test, requester->min_rtt, 21 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, requester->window_psn, requester->limit_psn);
	requester->window_psn = roce_psn_add(requester->unacked_psn, 1 << 20);
	arrive(wire, ROCE_NEAR_WINDOW);
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW);
	roce_window_measured(wire->ends[0].qp, 21 * NSEC_PER_MSEC, 1000);
	arrive(wire, ROCE_NEAR_WINDOW);
	KUNIT_EXPECT_EQ(test, requester->window, 2 * ROCE_NEAR_WINDOW);
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(a_loss_narrows_the_window_for_a_while),
	KUNIT_CASE(a_far_peer_is_kept_busy),
	KUNIT_CASE(full_queues_do_not_widen_the_window),
	KUNIT_CASE(a_late_packet_does_not_delay_the_window),
	KUNIT_CASE(round_trips_have_a_mean_and_a_deviation),
	KUNIT_CASE(in_slow_start_the_window_doubles_in_a_round_trip),
	KUNIT_CASE(in_slow_start_the_window_has_at_most_twice_what_it_needs),
	KUNIT_CASE(early_packets_widen_the_window_in_slow_start),
	KUNIT_CASE(a_queue_as_long_as_the_path_ends_slow_start),
	KUNIT_CASE(many_losses_end_slow_start),
	KUNIT_CASE(go_back_n_has_no_slow_start),
	KUNIT_CASE(slow_start_begins_anew_with_the_shortest_round_trip),
	{}
};

static struct kunit_suite window_suite = {
	.name = "roce_window",
	.test_cases = window_cases,
};

kunit_test_suite(window_suite);
