// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Selective repeat between two devices of this driver: they find each other, only lost
 * packets are sent again, and other implementations notice nothing.
 */
#include "cursor.h"
#include "reorder.h"
#include "repair.h"
#include "requester.h"
#include "sack.h"
#include "scoreboard.h"
#include "storm.h"

#define MTU		256
#define PACKETS		8
#define SIZE		((PACKETS - 1) * MTU + 77)

/* @timeout: 0 disables probes */
static struct wire *new_wire(struct kunit *test, u8 timeout,
			     enum roce_loss_recovery of_responder)
{
	struct wire_setup setup = wire_selective();
	struct wire *wire;

	setup.timeout = timeout;
	setup.loss_recovery[1] = of_responder;
	wire = wire_new(test, &setup);
	/* A slow machine must not make packets late. */
	wire_set_wait(wire, NSEC_PER_SEC);
	return wire;
}

static void post(struct wire *wire, enum ib_wr_opcode opcode, u64 wr_id)
{
	wire_prepare(wire, opcode, wr_id, SIZE);
	wire_send(wire, opcode, wr_id, SIZE);
}

static void finish(struct wire *wire, enum ib_wr_opcode opcode, u64 wr_id)
{
	wire_finish(wire, opcode, wr_id, SIZE);
}

/* The offer and the confirmation need a message each. */
static void get_acquainted(struct wire *wire)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		post(wire, IB_WR_RDMA_WRITE, 1000);
		finish(wire, IB_WR_RDMA_WRITE, 1000);
	}
	wire_forget(wire);
}

static u32 sacks(const struct wire *wire)
{
	return wire_count(wire, 1, ROCE_OPCODE_SACK);
}

static void expect_no_news(struct wire *wire)
{
	u32 i;

	for (i = 0; i < wire->logged; i++)
		KUNIT_EXPECT_EQ(wire->test, wire->log[i].sack, 0);
	KUNIT_EXPECT_EQ(wire->test, sacks(wire), 0);
}

/* --- The handshake --- */

static void two_devices_find_each_other(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 i;

	post(wire, IB_WR_RDMA_WRITE, 1);
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_EQ(test, b->qp->responder.sack_state, ROCE_SACK_OFFERED);
	KUNIT_EXPECT_TRUE(test, a->qp->requester.sack_accepted);
	for (i = 0; i < wire->logged; i++) {
		const struct wire_record *record = &wire->log[i];
		u8 code = record->from ? ROCE_BTH_SACK_ACCEPT : ROCE_BTH_SACK_OFFER;

		/* Packets in the middle of a message have no bits. */
		if (!record->from && !record->ack_request)
			code = ROCE_BTH_SACK_NONE;
		KUNIT_EXPECT_EQ(test, record->sack, code);
	}
	wire_forget(wire);
	post(wire, IB_WR_RDMA_WRITE, 2);
	finish(wire, IB_WR_RDMA_WRITE, 2);
	KUNIT_EXPECT_EQ(test, b->qp->responder.sack_state, ROCE_SACK_CONFIRMED);
	KUNIT_EXPECT_EQ(test, wire_find(wire, 0, ROCE_WRITE_LAST, 0)->sack,
			ROCE_BTH_SACK_CONFIRM);
	/* The other direction has a handshake of its own. */
	KUNIT_EXPECT_FALSE(test, b->qp->requester.sack_accepted);
}

static void an_offer_without_answer_changes_nothing(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_TOLERATE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 i;

	for (i = 0; i < 3; i++) {
		wire_forget(wire);
		wire_fault(a, 1, WIRE_DROP);
		post(wire, IB_WR_RDMA_WRITE, 1);
		finish(wire, IB_WR_RDMA_WRITE, 1);
		KUNIT_EXPECT_EQ(test, sacks(wire), 0);
		KUNIT_EXPECT_EQ(test, a->sent, 2 * PACKETS - 1);
	}
	KUNIT_EXPECT_FALSE(test, a->qp->requester.sack_accepted);
	KUNIT_EXPECT_EQ(test, SEEN(a, packet_seq_err), 3);
	KUNIT_EXPECT_EQ(test, SEEN(b, selective_acks_sent), 0);
}

static void a_device_without_sack_sets_no_bits(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);

	wire_fault(&wire->ends[0], 1, WIRE_DROP);
	post(wire, IB_WR_SEND, 1);
	finish(wire, IB_WR_SEND, 1);
	expect_no_news(wire);
}

/* A device that keeps no early packets has no use for it. */
static void with_reordering_us_0_sack_is_not_offered(struct kunit *test)
{
	struct wire_setup setup = wire_selective();
	struct wire *wire;

	setup.reordering_us = 0;
	wire = wire_new(test, &setup);
	post(wire, IB_WR_SEND, 1);
	finish(wire, IB_WR_SEND, 1);
	expect_no_news(wire);
}

/* Neither reflected bits nor constant ones are an agreement. */
static void meaningless_bits_are_no_agreement(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet packet = { .ack_request = true };
	u8 code;

	for (code = 0; code <= 0xf; code++) {
		packet.sack = code;
		b->qp->responder.sack_state = ROCE_SACK_UNKNOWN;
		roce_sack_request_came(b->qp, &packet);
		roce_sack_request_came(b->qp, &packet);
		KUNIT_EXPECT_FALSE(test, roce_sack_is_confirmed(b->qp));
		roce_sack_response_came(a->qp, &packet);
		KUNIT_EXPECT_EQ(test, a->qp->requester.sack_accepted,
				code == ROCE_BTH_SACK_ACCEPT);
	}
	KUNIT_EXPECT_NE(test, ROCE_BTH_SACK_ACCEPT, ROCE_BTH_SACK_OFFER);
	KUNIT_EXPECT_NE(test, ROCE_BTH_SACK_ACCEPT, ROCE_BTH_SACK_CONFIRM);
}

static void a_new_connection_begins_anew(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	get_acquainted(wire);
	wire_fault(a, 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 1);
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_NOT_NULL(test, a->qp->requester.board);
	wire_modify(a, &attr, IB_QP_STATE);
	wire_modify(b, &attr, IB_QP_STATE);
	KUNIT_EXPECT_FALSE(test, a->qp->requester.sack_accepted);
	KUNIT_EXPECT_NULL(test, a->qp->requester.board);
	KUNIT_EXPECT_EQ(test, b->qp->responder.sack_state, ROCE_SACK_UNKNOWN);
}

static void sack_can_be_switched_off_during_a_connection(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	get_acquainted(wire);
	b->dev->loss_recovery = ROCE_TOLERATE;
	wire_fault(a, 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 1);
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_EQ(test, sacks(wire), 0);
	KUNIT_EXPECT_EQ(test, SEEN(a, packet_seq_err), 1);
	KUNIT_EXPECT_FALSE(test, a->qp->requester.sack_accepted);
}

/* --- Lost packets --- */

static const struct way {
	const char *name;
	enum ib_wr_opcode opcode;
} ways[] = {
	{ "SEND", IB_WR_SEND },
	{ "WRITE", IB_WR_RDMA_WRITE },
	{ "WRITE with immediate", IB_WR_RDMA_WRITE_WITH_IMM },
};

static void a_lost_packet_is_sent_again_alone(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 i, window;

	get_acquainted(wire);
	window = a->qp->requester.window;
	/* Three packets follow each one and reveal its loss. */
	for (i = 0; i < PACKETS - 3; i++) {
		wire_forget(wire);
		wire_fault(a, i, WIRE_DROP);
		post(wire, way->opcode, 1);
		finish(wire, way->opcode, 1);
		KUNIT_EXPECT_EQ(test, a->sent, PACKETS + 1);
		KUNIT_EXPECT_GE(test, sacks(wire), 1);
	}
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_repeats), PACKETS - 3);
	KUNIT_EXPECT_EQ(test, SEEN(a, retransmitted_packets), PACKETS - 3);
	KUNIT_EXPECT_EQ(test, SEEN(a, completer_retry_err), 0);
	KUNIT_EXPECT_GE(test, SEEN(b, selective_acks_sent), PACKETS - 3);
	KUNIT_EXPECT_GE(test, SEEN(a, selective_acks_received), PACKETS - 3);
	KUNIT_EXPECT_EQ(test, SEEN(b, out_of_seq_request), 0);
	KUNIT_EXPECT_EQ(test, a->in_vain, 0);
	KUNIT_EXPECT_EQ(test, a->qp->requester.window, window);
}

static void all_gaps_are_filled_by_one_train(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	get_acquainted(wire);
	wire_fault(a, 0, WIRE_DROP);
	wire_fault(a, 2, WIRE_DROP);
	wire_fault(a, 3, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 1);
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_EQ(test, a->sent, PACKETS + 3);
	KUNIT_EXPECT_EQ(test, a->in_vain, 0);
}

/* Three more messages, each of which arrives as a train, reveal what the first one lacks. */
static void what_a_nic_merges_behind_a_gap_is_not_sent_again(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	u32 i;

	get_acquainted(wire);
	wire->merge = true;
	wire_fault(a, 0, WIRE_DROP);
	wire_fault(a, 3, WIRE_DROP);
	for (i = 0; i < 4; i++)
		post(wire, IB_WR_RDMA_WRITE, i);
	for (i = 0; i < 4; i++)
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, a->sent, 4 * PACKETS + 2);
}

/* The responses take PSNs, but one packet asks for all of them. */
static void a_lost_read_request_is_sent_again_alone(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct wire_op read = {
		.opcode = IB_WR_RDMA_READ, .wr_id = 1, .length = SIZE,
		.local = 64 * 1024, .remote = WIRE_TARGET,
	};

	get_acquainted(wire);
	wire_fault(a, 0, WIRE_DROP);
	KUNIT_ASSERT_EQ(test, wire_post(a, &read), 0);
	post(wire, IB_WR_RDMA_WRITE, 2);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	finish(wire, IB_WR_RDMA_WRITE, 2);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 0, ROCE_READ_REQUEST), 2);
	KUNIT_EXPECT_EQ(test, a->sent, PACKETS + 2);
	KUNIT_EXPECT_EQ(test, SEEN(a, completer_retry_err), 0);
}

static void post_read(struct wire *wire, u64 wr_id, u32 length)
{
	struct wire_op read = {
		.opcode = IB_WR_RDMA_READ, .wr_id = wr_id, .length = length,
		.local = 64 * 1024 + wr_id * SIZE, .remote = WIRE_TARGET,
	};

	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[0], &read), 0);
}

/*
 * The repetition of the first of four READs was lost, too. Another WRITE, after so many
 * requests, reveals that.
 */
static void finish_four_reads(struct wire *wire, u64 requests)
{
	u64 i;

	post(wire, IB_WR_RDMA_WRITE, requests);
	for (i = 0; i < requests; i++)
		wire_expect(wire, wire->ends[0].send_cq, i, IB_WC_SUCCESS);
	finish(wire, IB_WR_RDMA_WRITE, requests);
	KUNIT_EXPECT_EQ(wire->test, wire_count(wire, 0, ROCE_READ_REQUEST), 4 + 2);
}

/* A SACK names their requests alone. */
static void responses_of_early_reads_are_not_lost(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u64 i;

	get_acquainted(wire);
	/* The first request, and its repetition */
	wire_fault(a, 0, WIRE_DROP);
	wire_fault(a, 4 + 4 * PACKETS, WIRE_DROP);
	for (i = 0; i < 8; i++) {
		/* One SACK tells everything. */
		b->cut = i < 7;
		if (i < 4)
			post_read(wire, i, SIZE);
		else
			post(wire, IB_WR_RDMA_WRITE, i);
		wire_run(wire);
	}
	KUNIT_ASSERT_EQ(test, SEEN(a, selective_repeats), 1);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_lost(a->qp->requester.board), PACKETS);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_under_way(a->qp->requester.board), PACKETS);
	finish_four_reads(wire, 8);
}

/* They share a datagram. Their responses are still to come, and take room in the window. */
static void all_early_reads_of_a_train_are_known(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	u64 i;

	get_acquainted(wire);
	/* The first request, and its repetition */
	wire_fault(a, 0, WIRE_DROP);
	wire_fault(a, 4 + PACKETS, WIRE_DROP);
	post_read(wire, 0, SIZE);
	wire_run(wire);
	/* The next ones wait for each other. */
	a->refuse = U32_MAX;
	wire->whole_trains = true;
	for (i = 1; i < 4; i++)
		post_read(wire, i, SIZE);
	spin_lock_bh(&wire->lock);
	a->refuse = 0;
	spin_unlock_bh(&wire->lock);
	while (a->trains < 2) {
		usleep_range(500, 1000);
		wire_run(wire);
	}
	KUNIT_EXPECT_EQ(test, a->sent, 4);
	wire->whole_trains = false;
	post(wire, IB_WR_RDMA_WRITE, 4);
	wire_run(wire);
	KUNIT_ASSERT_EQ(test, SEEN(a, selective_repeats), 1);
	KUNIT_EXPECT_EQ(test, a->qp->requester.board->gaps, 1);
	KUNIT_EXPECT_EQ(test, roce_window_delivered(&a->qp->requester),
			roce_psn_add(a->qp->requester.unacked_psn, 3 + PACKETS));
	finish_four_reads(wire, 5);
}

/* The SACK has the PSN of the lost request, and waits for a lost response before it. */
static void a_kept_sack_does_not_take_the_place_of_a_response(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	get_acquainted(wire);
	wire_fault(&wire->ends[1], 0, WIRE_DROP);
	wire_fault(a, 1, WIRE_DROP);
	post_read(wire, 0, MTU);
	post_read(wire, 1, MTU);
	post(wire, IB_WR_RDMA_WRITE, 2);
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	finish(wire, IB_WR_RDMA_WRITE, 2);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_repeats), 1);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 0, ROCE_READ_REQUEST), 2 + 2);
}

static void inject_sack(struct wire *wire, u32 psn, const struct roce_sack_range *ranges,
			u32 count)
{
	struct roce_packet packet = {
		.opcode = ROCE_OPCODE_SACK, .psn = psn, .payload = count * sizeof(*ranges),
	};

	KUNIT_ASSERT_EQ(wire->test, 0, wire_inject(&wire->ends[1], &packet, (u8 *)ranges));
	wire_run(wire);
}

static void a_repeated_sack_is_kept_once(struct kunit *test)
{
	const struct roce_sack_range range = { cpu_to_be16(1), cpu_to_be16(2) };
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	u32 i;

	get_acquainted(wire);
	a->cut = true;
	post_read(wire, 0, MTU);
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_run(wire);
	for (i = 0; i < 4; i++)
		inject_sack(wire, roce_psn_add(a->qp->requester.unacked_psn, 1), &range, 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_acks_received), 4);
	KUNIT_EXPECT_EQ(test, SEEN(a, reorder_kept), 1);
}

/* The second one comes when one packet has filled the gap of the first one. */
static void sacks_widen_the_window_by_what_they_tell(struct kunit *test)
{
	const struct roce_sack_range first = { cpu_to_be16(1), cpu_to_be16(101) };
	const struct roce_sack_range second = { cpu_to_be16(1), cpu_to_be16(51) };
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_requester *requester = &a->qp->requester;
	u32 psn;

	get_acquainted(wire);
	a->cut = true;
	wire_send(wire, IB_WR_RDMA_WRITE, 1, 200 * MTU);
	wire_run(wire);
	psn = requester->unacked_psn;
	requester->slow_start = true;
	requester->delivered = psn;
	requester->busy_packets = 1000;
	requester->timed_at = 0;
	requester->window_psn = roce_psn_add(psn, 1 << 20);
	inject_sack(wire, psn, &first, 1);
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW + 100);
	inject_sack(wire, roce_psn_add(psn, 101), &second, 1);
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW + 101 + 50);
}

/* Without timeouts, so that nothing else moves the deadline */
static void news_of_the_peer_put_the_timeout_off(struct kunit *test)
{
	const struct roce_sack_range range = { cpu_to_be16(1), cpu_to_be16(2) };
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_requester *requester = &a->qp->requester;
	unsigned long passed;

	get_acquainted(wire);
	a->cut = true;
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_run(wire);
	passed = requester->ack_deadline - HZ;
	requester->ack_deadline = passed;
	inject_sack(wire, requester->unacked_psn, &range, 1);
	KUNIT_EXPECT_TRUE(test, time_after(requester->ack_deadline, passed));
	/* This one tells nothing new. */
	requester->ack_deadline = passed;
	inject_sack(wire, requester->unacked_psn, &range, 1);
	KUNIT_EXPECT_EQ(test, requester->ack_deadline, passed);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_acks_received), 2);
}

/* One atomic is lost on its way, and each is executed once. */
static void a_lost_atomic_is_executed_once(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u64 *counter = (u64 *)b->memory, i;

	get_acquainted(wire);
	*counter = 0;
	wire_fault(a, 0, WIRE_DROP);
	for (i = 0; i < 4; i++) {
		struct wire_op op = {
			.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .wr_id = i,
			.length = sizeof(u64), .compare_add = 1,
			.local = 64 * 1024 + i * sizeof(u64),
		};

		KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	}
	for (i = 0; i < 4; i++)
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *counter, 4);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_repeats), 1);
	KUNIT_EXPECT_EQ(test, a->sent, 5);
}

/* A packet of a message, and what is sent to repair that. */
static void lose_twice(struct wire *wire, enum ib_wr_opcode opcode, u32 number)
{
	struct wire_end *from = wire_source(wire, opcode);

	get_acquainted(wire);
	wire_fault(from, number, WIRE_DROP);
	wire_fault(from, PACKETS, WIRE_DROP);
	post(wire, opcode, 1);
	wire_run(wire);
	KUNIT_EXPECT_EQ(wire->test, from->sent, PACKETS + 1);
}

static void a_later_packet_reveals_a_lost_retransmission(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	lose_twice(wire, IB_WR_RDMA_WRITE, 0);
	post(wire, IB_WR_RDMA_WRITE, 2);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	finish(wire, IB_WR_RDMA_WRITE, 2);
	KUNIT_EXPECT_EQ(test, a->sent, 2 * PACKETS + 2);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_repeats), 2);
	KUNIT_EXPECT_EQ(test, a->in_vain, 0);
}

/* The wire must not lose a probe that a slow machine sends before. */
static void begin_timeouts(struct wire_end *end)
{
	struct roce_qp *qp = end->qp;

	local_bh_disable();
	qp->attr.timeout = WIRE_TIMEOUT;
	roce_retransmit_expect_progress(qp);
	roce_engine_run(&qp->requester.engine);
	local_bh_enable();
}

static void a_timer_reveals_a_lost_retransmission(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	lose_twice(wire, IB_WR_RDMA_WRITE, 0);
	begin_timeouts(a);
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_GE(test, SEEN(a, selective_repeats), 2);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
}

static void a_timer_asks_for_a_response_that_is_lost_twice(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	lose_twice(wire, IB_WR_RDMA_READ, 1);
	begin_timeouts(a);
	finish(wire, IB_WR_RDMA_READ, 1);
	KUNIT_EXPECT_GE(test, SEEN(a, responses_asked_again), 2);
	/* Its answer would only be another copy of the last response. */
	KUNIT_EXPECT_EQ(test, SEEN(a, tail_loss_probes), 0);
}

/* The answer to the question for the first one does not come. */
static void responses_that_are_lost_together_are_asked_for_together(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 i;

	get_acquainted(wire);
	wire_fault(b, 1, WIRE_DROP);
	wire_fault(b, PACKETS + 1, WIRE_DROP);
	wire_fault(b, 3 * PACKETS, WIRE_DROP);
	for (i = 0; i < 3; i++)
		post(wire, IB_WR_RDMA_READ, i);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 2);
	begin_timeouts(a);
	for (i = 0; i < 3; i++)
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 3);
}

/* The second READ is answered already, and there are no timeouts. */
static void a_question_before_an_answered_read_does_not_cancel_an_acknowledgment(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 end;

	get_acquainted(wire);
	end = roce_psn_add(a->qp->requester.limit_psn, PACKETS - 1);
	wire_fault(b, PACKETS - 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ, 1);
	wire_send(wire, IB_WR_RDMA_READ, 2, 77);
	wire_run(wire);
	roce_engine_claim(&b->qp->responder.engine);
	wire_ask_for_end(wire, end, SIZE, 3);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 3, IB_WC_SUCCESS);
}

/* Nothing has come for two round trips, the next ones take longer, and no retry is left. */
static void begin_silence(struct wire_end *end)
{
	struct roce_requester *requester = &end->qp->requester;

	roce_engine_claim(&requester->engine);
	end->qp->attr.timeout = WIRE_TIMEOUT;
	end->qp->attr.retry_cnt = 0;
	roce_retransmit_renew(end->qp);
	requester->srtt = 100 * NSEC_PER_SEC;
	requester->probe_news = requester->news;
	requester->probe_fired = true;
	roce_engine_release(&requester->engine);
}

/* The window is too narrow for all of it at once. */
static void what_a_silence_loses_is_sent_again_without_retries(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	u32 packets = 40, lost = 16, i;

	get_acquainted(wire);
	for (i = 0; i < lost; i++) {
		wire_fault(a, i, WIRE_DROP);
		wire_fault(a, packets + i, WIRE_DROP);
	}
	wire_send(wire, IB_WR_RDMA_WRITE, 1, packets * MTU);
	wire_run(wire);
	KUNIT_ASSERT_EQ(test, SEEN(a, selective_repeats), lost);
	a->qp->requester.window = 8;
	begin_silence(a);
	wire_finish(wire, IB_WR_RDMA_WRITE, 1, packets * MTU);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_repeats), 2 * lost);
}

/* The SACK has come, and is of no use. */
static void without_memory_a_timeout_finds_the_loss(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	unsigned long end = jiffies + PATIENCE;

	get_acquainted(wire);
	fixture_withhold_memory(test);
	wire_fault(a, 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 1);
	while (!SEEN(a, selective_acks_received) && time_before(jiffies, end))
		wire_run(wire);
	a->qp->attr.timeout = WIRE_TIMEOUT;
	wire_end_timeouts(wire);
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_GE(test, SEEN(a, selective_acks_received), 1);
	KUNIT_EXPECT_GE(test, SEEN(a, local_ack_timeout_err), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_repeats), 0);
	KUNIT_EXPECT_NULL(test, a->qp->requester.board);
}

static void retries_run_out_if_nothing_else_is_lost(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	u32 i;

	get_acquainted(wire);
	a->qp->attr.retry_cnt = 1;
	a->qp->requester.retries = 1;
	wire_fault(a, 0, WIRE_DROP);
	wire_fault(a, PACKETS, WIRE_DROP);
	wire_fault(a, 2 * PACKETS + 1, WIRE_DROP);
	for (i = 1; i <= 2; i++) {
		post(wire, IB_WR_RDMA_WRITE, i);
		wire_run(wire);
	}
	wire_expect(wire, a->send_cq, 1, IB_WC_RETRY_EXC_ERR);
	wire_expect(wire, a->send_cq, 2, IB_WC_WR_FLUSH_ERR);
}

static void retransmissions_that_a_netdev_refuses_are_sent_later(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	get_acquainted(wire);
	wire_fault(a, 0, WIRE_DROP);
	wire_fault(a, 1, WIRE_DROP);
	wire_fault(a, 3, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_start(wire);
	a->room = 2;
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_EQ(test, a->sent, PACKETS + 3);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_repeats), 3);
}

static void a_sack_that_does_not_leave_is_not_counted(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *b = &wire->ends[1];

	get_acquainted(wire);
	wire_fault(&wire->ends[0], 1, WIRE_DROP);
	b->refuse = ROCE_MAX_STALLS + 1;
	post(wire, IB_WR_RDMA_WRITE, 1);
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_GE(test, SEEN(b, tx_dropped_queue_full), 1);
	KUNIT_EXPECT_EQ(test, SEEN(b, selective_acks_sent), sacks(wire));
}

/* Every second packet is lost. */
static void a_sack_fills_the_path_mtu(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	const struct roce_sack_range *ranges;
	struct wire_end *b = &wire->ends[1];
	struct roce_packet packet;
	u32 i;

	get_acquainted(wire);
	for (i = 0; i < 100; i++)
		wire_fault(&wire->ends[0], 2 * i, WIRE_DROP);
	b->cut = true;
	wire_send(wire, IB_WR_RDMA_WRITE, 1, 200 * MTU);
	wire_run(wire);
	ranges = roce_sack_describe(b->qp, &packet);
	KUNIT_EXPECT_EQ(test, packet.payload, MTU);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(ranges[MTU / sizeof(*ranges) - 1].end),
			2 * MTU / sizeof(*ranges));
}

/* The peer knows of the agreement after the first repetition only. */
static void lose_before_the_agreement(struct kunit *test, bool repaired_alone)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	a->qp->requester.repaired_alone = repaired_alone;
	wire_fault(a, 2, WIRE_DROP);
	wire_send(wire, IB_WR_RDMA_WRITE, 1, 16 * MTU);
	wire_finish(wire, IB_WR_RDMA_WRITE, 1, 16 * MTU);
	KUNIT_EXPECT_EQ(test, SEEN(a, rcvd_seq_err), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, packet_seq_err), repaired_alone);
	KUNIT_EXPECT_EQ(test, a->sent, repaired_alone ? 16 + 14 : 16 + 1);
}

static void after_the_first_nak_a_lost_packet_is_sent_again_alone(struct kunit *test)
{
	lose_before_the_agreement(test, false);
}

static void after_more_naks_the_requester_goes_back(struct kunit *test)
{
	lose_before_the_agreement(test, true);
}

/* So a connection is known before many packets of its first long message are lost. */
static void the_first_packet_of_a_long_message_asks(struct kunit *test)
{
	static const u32 sizes[] = { 8 * MTU, 9 * MTU };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
		u32 asking = 0, n;

		wire_send(wire, IB_WR_RDMA_WRITE, 1, sizes[i]);
		wire_finish(wire, IB_WR_RDMA_WRITE, 1, sizes[i]);
		for (n = 0; n < wire->logged; n++)
			asking += wire->log[n].from == 0 && wire->log[n].ack_request;
		KUNIT_EXPECT_EQ(test, asking, i + 1);
		KUNIT_EXPECT_EQ(test, wire->log[0].ack_request, i == 1);
		wire_send(wire, IB_WR_RDMA_WRITE, 2, sizes[i]);
		wire_finish(wire, IB_WR_RDMA_WRITE, 2, sizes[i]);
		KUNIT_EXPECT_EQ(test, wire_count(wire, 1, ROCE_ACKNOWLEDGE), i + 2);
	}
}

/* --- Losses that no later packet reveals --- */

static void a_probe_finds_a_lost_end(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	get_acquainted(wire);
	wire_fault(a, PACKETS - 1, WIRE_DROP);
	post(wire, way->opcode, 1);
	finish(wire, way->opcode, 1);
	KUNIT_EXPECT_GE(test, SEEN(a, tail_loss_probes), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
	KUNIT_EXPECT_EQ(test, a->qp->requester.retries, 7);
}

static void a_probe_finds_a_lost_acknowledgment(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	get_acquainted(wire);
	wire_fault(&wire->ends[1], 0, WIRE_DROP);
	post(wire, IB_WR_SEND, 1);
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_GE(test, SEEN(a, tail_loss_probes), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
}

/* A slow machine probes before the test looks. Nothing leaves while it has the engine. */
static u32 sent_without_probes(struct wire_end *end, u64 earlier)
{
	struct roce_engine *engine = &end->qp->requester.engine;
	u32 sent;

	roce_engine_claim(engine);
	sent = end->sent - (SEEN(end, tail_loss_probes) - earlier);
	roce_engine_release(engine);
	return sent;
}

/* Only the probe arrives. */
static void a_probe_finds_that_all_packets_are_lost(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	u64 probes;

	get_acquainted(wire);
	probes = SEEN(a, tail_loss_probes);
	wire->ends[1].qp->responder.reorder->wait = NSEC_PER_MSEC;
	a->cut = true;
	post(wire, IB_WR_SEND, 1);
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, sent_without_probes(a, probes), PACKETS);
	a->cut = false;
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_GE(test, SEEN(a, tail_loss_probes), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
}

/* The window was wide, and became narrow. So the cursor is not at the end again. */
static void a_probe_finds_that_all_is_lost_after_going_back(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	u64 probes;

	get_acquainted(wire);
	probes = SEEN(a, tail_loss_probes);
	a->cut = true;
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_start(wire);
	roce_engine_claim(&a->qp->requester.engine);
	a->qp->requester.window = PACKETS / 2;
	roce_retransmit_go_back(a->qp);
	roce_engine_release(&a->qp->requester.engine);
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, sent_without_probes(a, probes), PACKETS + PACKETS / 2);
	a->cut = false;
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_GE(test, SEEN(a, tail_loss_probes), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
}

static void a_probe_finds_a_lost_read(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct wire_op read = {
		.opcode = IB_WR_RDMA_READ, .wr_id = 1, .length = SIZE,
		.local = 64 * 1024, .remote = WIRE_TARGET,
	};

	get_acquainted(wire);
	b->qp->responder.reorder->wait = NSEC_PER_MSEC;
	wire_fault(a, 0, WIRE_DROP);
	KUNIT_ASSERT_EQ(test, wire_post(a, &read), 0);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, memcmp(a->memory + 64 * 1024, b->memory + WIRE_TARGET,
					SIZE));
	KUNIT_EXPECT_GE(test, SEEN(a, tail_loss_probes), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
}

/* Its delay is over when the end is lost. */
static void a_probe_finds_a_lost_end_after_an_rnr_nak(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	get_acquainted(wire);
	fixture_fill(a->memory, SIZE, 1);
	wire_send(wire, IB_WR_SEND, 1, SIZE);
	wire_run(wire);
	KUNIT_EXPECT_GE(test, SEEN(a, rnr_nak_retry_err), 1);
	wire_receive(&wire->ends[1], 101, WIRE_TARGET, SIZE);
	finish(wire, IB_WR_SEND, 1);
	wire_forget(wire);
	wire_fault(a, PACKETS - 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 2);
	finish(wire, IB_WR_RDMA_WRITE, 2);
	KUNIT_EXPECT_GE(test, SEEN(a, tail_loss_probes), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
}

/* Nanoseconds */
static s64 until_probe(struct wire_end *end)
{
	return ktime_to_ns(hrtimer_get_remaining(&end->qp->requester.probe_timer));
}

/* All packets of the message are lost, and no timer sends one of them again. */
static struct wire *lose_a_message(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	get_acquainted(wire);
	a->cut = true;
	post(wire, IB_WR_SEND, 1);
	wire_run(wire);
	a->cut = false;
	return wire;
}

static void make_probe_due(struct wire_end *end)
{
	struct roce_requester *requester = &end->qp->requester;

	roce_engine_claim(&requester->engine);
	requester->probing = true;
	roce_engine_release(&requester->engine);
}

static void a_probe_that_the_netdev_refuses_is_sent_later(struct kunit *test)
{
	struct wire *wire = lose_a_message(test);
	struct wire_end *a = &wire->ends[0];

	a->refuse = 1;
	make_probe_due(a);
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, tx_stalled_queue), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, tail_loss_probes), 1);
}

/* It would be a very long one. */
static void the_answer_to_a_probe_is_no_sample_for_congestion(struct kunit *test)
{
	struct wire *wire = lose_a_message(test);
	struct roce_requester *requester = &wire->ends[0].qp->requester;
	u64 shortest = requester->min_rtt, mean = requester->srtt;

	KUNIT_ASSERT_NE(test, requester->timed_at, 0);
	requester->timed_at = 1;
	requester->slow_start = true;
	requester->busy_packets = 12345;
	make_probe_due(&wire->ends[0]);
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, requester->timed_at, 0);
	KUNIT_EXPECT_TRUE(test, requester->slow_start);
	KUNIT_EXPECT_EQ(test, requester->busy_packets, 12345);
	KUNIT_EXPECT_EQ(test, requester->min_rtt, shortest);
	KUNIT_EXPECT_GT(test, requester->srtt, mean);
}

static void a_train_without_a_route_begins_no_round_trip(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	get_acquainted(wire);
	a->refuse = 1;
	a->refusal = -EHOSTUNREACH;
	post(wire, IB_WR_SEND, 1);
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, a->refuse, 0);
	KUNIT_EXPECT_EQ(test, a->qp->requester.timed_at, 0);
}

/* A message is lost, and probes have become rare. Each round trip takes minutes. */
static struct wire *be_silent_for_long(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_requester *requester = &a->qp->requester;

	get_acquainted(wire);
	roce_probe_stop(a->qp);
	requester->probe_backoff = 10;
	requester->probe_backed_off = requester->round_trip_ended;
	requester->srtt = 100 * NSEC_PER_SEC;
	a->cut = true;
	post(wire, IB_WR_SEND, 1);
	wire_start(wire);
	a->cut = false;
	KUNIT_ASSERT_TRUE(test, requester->probe_armed);
	KUNIT_ASSERT_GT(test, until_probe(a), 100000 * NSEC_PER_SEC);
	KUNIT_ASSERT_NE(test, requester->timed_at, 0);
	return wire;
}

/* All of a second message is lost, too. */
static void after_a_silence_probes_are_quick_again(struct kunit *test)
{
	struct wire *wire = be_silent_for_long(test);
	struct wire_end *a = &wire->ends[0];

	make_probe_due(a);
	/* The clock of the laboratory stands while code runs: the round trip ends later. */
	usleep_range(100, 200);
	finish(wire, IB_WR_SEND, 1);
	a->cut = true;
	post(wire, IB_WR_SEND, 2);
	wire_start(wire);
	KUNIT_EXPECT_TRUE(test, a->qp->requester.probe_armed);
	KUNIT_EXPECT_LT(test, until_probe(a), 1000 * NSEC_PER_SEC);
}

/* Else they would be quicker than a peer that is slow. */
static void after_a_silence_probes_wait_for_a_round_trip(struct kunit *test)
{
	struct wire *wire = be_silent_for_long(test);
	struct wire_end *a = &wire->ends[0];

	a->qp->requester.timed_at = 0;
	make_probe_due(a);
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_GT(test, until_probe(a), 100000 * NSEC_PER_SEC);
}

/* The window became narrower than the READ at the cursor, which waits for the WRITE. */
static void a_probe_finds_that_all_is_lost_before_a_long_read(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_requester *requester = &a->qp->requester;
	struct wire_op write = {
		.opcode = IB_WR_RDMA_WRITE, .wr_id = 1, .length = 8, .remote = WIRE_TARGET,
	};
	struct wire_op read = {
		.opcode = IB_WR_RDMA_READ, .wr_id = 2, .length = SIZE,
		.local = 64 * 1024, .remote = WIRE_TARGET + 64,
	};
	u64 probes;

	get_acquainted(wire);
	probes = SEEN(a, tail_loss_probes);
	a->cut = true;
	KUNIT_ASSERT_EQ(test, wire_post(a, &write), 0);
	KUNIT_ASSERT_EQ(test, wire_post(a, &read), 0);
	wire_start(wire);
	KUNIT_ASSERT_EQ(test, sent_without_probes(a, probes), 2);
	roce_engine_claim(&requester->engine);
	requester->window = PACKETS / 2;
	roce_retransmit_go_back(a->qp);
	roce_engine_release(&requester->engine);
	wire_start(wire);
	KUNIT_ASSERT_TRUE(test, roce_cursor_sent_before(requester));
	a->cut = false;
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_GE(test, SEEN(a, tail_loss_probes), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 0);
}

/* The netdev takes three packets of a train whose last one asks, and the others later. */
/* The responder has not answered yet, and reads both requests before it does. */
static void a_probe_does_not_cancel_responses(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet probe = wire_request(wire, ROCE_READ_REQUEST, 77);

	get_acquainted(wire);
	roce_engine_claim(&b->qp->responder.engine);
	probe.psn = roce_psn_add(a->qp->requester.unacked_psn, PACKETS - 1);
	probe.va += (PACKETS - 1) * MTU;
	post(wire, IB_WR_RDMA_READ, 1);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, wire_inject(a, &probe, NULL), 0);
	wire_run(wire);
	roce_engine_release(&b->qp->responder.engine);
	finish(wire, IB_WR_RDMA_READ, 1);
	KUNIT_EXPECT_EQ(test, SEEN(b, duplicate_request), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, retransmitted_packets), 0);
	KUNIT_EXPECT_EQ(test, SEEN(a, reorder_kept), 0);
}

static void packets_that_have_not_asked_are_not_probed(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_requester *requester = &a->qp->requester;
	u32 i, copies = 0, third;

	get_acquainted(wire);
	/* A probe would be due before. */
	requester->srtt = 10 * NSEC_PER_USEC;
	requester->rttvar = 0;
	requester->measured_in_flight = PACKETS;
	third = roce_psn_add(requester->psn, 2);
	a->room = 3;
	post(wire, IB_WR_SEND, 1);
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, tx_stalled_queue), 1);
	for (i = 0; i < wire->logged; i++)
		copies += wire->log[i].from == 0 && wire->log[i].psn == third;
	KUNIT_EXPECT_EQ(test, copies, 1);
}

static void a_qp_without_a_timeout_sends_no_probes(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];

	get_acquainted(wire);
	wire_fault(a, PACKETS - 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_run(wire);
	msleep(50);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, a->sent, PACKETS);
}

/* --- Gaps behind gaps --- */

/* A packet of a WRITE that nobody has posted, @ahead of the expected one, 0 the first */
static void come(struct wire *wire, u32 ahead, bool ack_request)
{
	struct roce_packet packet = wire_request(wire, ahead ? ROCE_WRITE_MIDDLE : ROCE_WRITE_FIRST,
						 PACKETS * MTU);
	struct wire_end *a = &wire->ends[0];

	packet.psn = roce_psn_add(a->qp->requester.psn, ahead);
	packet.payload = MTU;
	packet.ack_request = ack_request;
	packet.sack = ack_request ? ROCE_BTH_SACK_CONFIRM : ROCE_BTH_SACK_NONE;
	KUNIT_ASSERT_EQ(wire->test, wire_inject(a, &packet, a->memory), 0);
	wire_run(wire);
}

/* The timer runs for the first one, which is lost before it has waited. */
static void a_gap_behind_a_lost_one_is_told_of_when_it_has_waited(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	u32 told, tries = 1000;

	get_acquainted(wire);
	wire_set_wait(wire, 200 * NSEC_PER_MSEC);
	come(wire, 1, false);
	msleep(50);
	come(wire, 2, false);
	come(wire, 3, false);
	told = sacks(wire);
	come(wire, 5, true);
	/* One is asked for, the other one tells of the gap. wire_run() would have b look. */
	while (tries-- && sacks(wire) < told + 2)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, sacks(wire), told + 2);
	wire_run(wire);
}

static void a_gap_that_is_filled_leaves_nothing_to_tell(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	const struct roce_reorder *reorder;

	get_acquainted(wire);
	come(wire, 1, true);
	reorder = wire->ends[1].qp->responder.reorder;
	KUNIT_ASSERT_NOT_NULL(test, reorder);
	KUNIT_EXPECT_NE(test, reorder->look_at, 0);
	come(wire, 0, false);
	KUNIT_EXPECT_EQ(test, reorder->runs, 0);
	KUNIT_EXPECT_EQ(test, reorder->look_at, 0);
}

/* --- Forgeries --- */

static const struct forgery {
	const char *name;
	u16 lost;
	u32 payload;
	u16 ranges[4];
	s32 psn;	/* from the oldest one in flight on */
	bool unsolicited;
} forgeries[] = {
	{ "nothing has come", 0, 0 },
	{ "what is expected has come", 0, 4, { 0, 2 } },
	{ "an empty range", 0, 4, { 2, 2 } },
	{ "a range backwards", 0, 4, { 3, 2 } },
	{ "ranges that touch", 0, 8, { 1, 2, 2, 3 } },
	{ "ranges in disorder", 0, 8, { 4, 5, 1, 2 } },
	{ "what was never sent has come", 0, 4, { 1, PACKETS + 1 } },
	{ "everything has come", 0, 4, { 1, 0xffff } },
	{ "more is lost than has come", 3, 4, { 1, 3 } },
	{ "half a range", 0, 6, { 1, 2, 4, 5 } },
	{ "of the past", 1, 4, { 1, 2 }, -5 },
	{ "of the latest that has arrived", 1, 4, { 2, 3 }, -1 },
	{ "of the future", 1, 4, { 1, 2 }, PACKETS },
	{ "of the far future", 1, 4, { 1, 2 }, 0x7fffff },
	{ "without an agreement", 1, 4, { 1, 2 }, .unsolicited = true },
};

static u64 drops(struct wire_end *end)
{
	return SEEN(end, rx_dropped_header) + SEEN(end, rx_dropped_length) +
	       SEEN(end, rx_dropped_unexpected_ack);
}

static void a_forged_sack_is_dropped(struct kunit *test)
{
	const struct forgery *forgery = test->param_value;
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct wire_end *a = &wire->ends[0];
	struct roce_packet packet = {
		.opcode = ROCE_OPCODE_SACK, .lost = forgery->lost,
		.payload = forgery->payload,
	};
	__be16 ranges[4];
	u64 before;
	u32 i;

	get_acquainted(wire);
	for (i = 0; i < 4; i++)
		ranges[i] = cpu_to_be16(forgery->ranges[i]);
	a->cut = true;
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_run(wire);
	if (forgery->unsolicited)
		a->qp->requester.sack_accepted = false;
	packet.psn = roce_psn_add(a->qp->requester.unacked_psn, forgery->psn);
	before = drops(a);
	KUNIT_ASSERT_EQ(test, 0, wire_inject(&wire->ends[1], &packet, (u8 *)ranges));
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, drops(a), before + 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_acks_received), 0);
	KUNIT_EXPECT_EQ(test, a->sent, PACKETS);
	KUNIT_EXPECT_EQ(test, roce_scoreboard_early(a->qp->requester.board), 0);
	KUNIT_EXPECT_EQ(test, roce_in_flight(&a->qp->requester), PACKETS);
}

static void a_sack_beyond_the_path_mtu_is_dropped(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0, ROCE_SELECTIVE);
	struct roce_sack_range ranges[MTU / sizeof(struct roce_sack_range) + 1];
	struct wire_end *a = &wire->ends[0];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		ranges[i].begin = cpu_to_be16(2 * i + 1);
		ranges[i].end = cpu_to_be16(2 * i + 2);
	}
	get_acquainted(wire);
	a->cut = true;
	wire_send(wire, IB_WR_RDMA_WRITE, 1, 200 * MTU);
	wire_run(wire);
	inject_sack(wire, a->qp->requester.unacked_psn, ranges, ARRAY_SIZE(ranges));
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_acks_received), 0);
	KUNIT_EXPECT_EQ(test, drops(a), 1);
	inject_sack(wire, a->qp->requester.unacked_psn, ranges, ARRAY_SIZE(ranges) - 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, selective_acks_received), 1);
}

/* --- Everything at once --- */

static const struct storm storms[] = {
	{ "lost", 50, 0, 0, 0, 1, .one_way = true },
	{ "often lost", 200, 0, 0, 0, 1, .one_way = true },
	{ "lost in both directions", 50, 0, 0, 0, 1 },
	{ "late", 0, 0, 0, 250, 20 },
	{ "lost and late", 30, 0, 0, 100, 10 },
	{ "lost and doubled", 30, 100, 0, 0, 5 },
	{ "all of it", 20, 50, 20, 100, 40 },
	{ "all of it, and merged", 20, 50, 20, 100, 40, .merge = true },
};

static struct wire *stormy_wire(struct kunit *test, const struct storm *storm)
{
	struct wire_setup setup = wire_selective();
	struct wire *wire;

	setup.timeout = WIRE_TIMEOUT;
	setup.reordering_us = ROCE_REORDERING_US;
	wire = wire_new(test, &setup);
	get_acquainted(wire);
	storm_begin(wire, storm);
	return wire;
}

/* Except for probes, which only ask for an answer */
static void expect_nothing_in_vain(struct wire *wire)
{
	struct wire_end *a = &wire->ends[0];

	KUNIT_EXPECT_LE(wire->test, a->in_vain, SEEN(a, tail_loss_probes));
}

static void every_byte_arrives_in_order_and_once(struct kunit *test)
{
	struct wire *wire = stormy_wire(test, test->param_value);

	storm_work(wire);
	expect_nothing_in_vain(wire);
}

/* More than a window of packets, most of them similar */
static void long_messages_arrive(struct kunit *test)
{
	struct wire *wire = stormy_wire(test, test->param_value);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = WIRE_TARGET, .remote = WIRE_TARGET,
	};
	u32 i;

	for (i = 0; i < 3; i++) {
		op.wr_id = i;
		KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	}
	for (i = 0; i < 3; i++)
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, memcmp(a->memory, b->memory + WIRE_TARGET, WIRE_TARGET));
	expect_nothing_in_vain(wire);
}

KUNIT_ARRAY_PARAM_DESC(way, ways, name);
KUNIT_ARRAY_PARAM_DESC(forgery, forgeries, name);
KUNIT_ARRAY_PARAM_DESC(storm, storms, name);

static struct kunit_case sack_cases[] = {
	KUNIT_CASE(two_devices_find_each_other),
	KUNIT_CASE(an_offer_without_answer_changes_nothing),
	KUNIT_CASE(a_device_without_sack_sets_no_bits),
	KUNIT_CASE(with_reordering_us_0_sack_is_not_offered),
	KUNIT_CASE(meaningless_bits_are_no_agreement),
	KUNIT_CASE(a_new_connection_begins_anew),
	KUNIT_CASE(sack_can_be_switched_off_during_a_connection),
	KUNIT_CASE_PARAM(a_lost_packet_is_sent_again_alone, way_gen_params),
	KUNIT_CASE(all_gaps_are_filled_by_one_train),
	KUNIT_CASE(what_a_nic_merges_behind_a_gap_is_not_sent_again),
	KUNIT_CASE(a_lost_read_request_is_sent_again_alone),
	KUNIT_CASE(responses_of_early_reads_are_not_lost),
	KUNIT_CASE(all_early_reads_of_a_train_are_known),
	KUNIT_CASE(a_kept_sack_does_not_take_the_place_of_a_response),
	KUNIT_CASE(a_repeated_sack_is_kept_once),
	KUNIT_CASE(sacks_widen_the_window_by_what_they_tell),
	KUNIT_CASE(news_of_the_peer_put_the_timeout_off),
	KUNIT_CASE(a_lost_atomic_is_executed_once),
	KUNIT_CASE(a_later_packet_reveals_a_lost_retransmission),
	KUNIT_CASE(a_timer_reveals_a_lost_retransmission),
	KUNIT_CASE(a_timer_asks_for_a_response_that_is_lost_twice),
	KUNIT_CASE(responses_that_are_lost_together_are_asked_for_together),
	KUNIT_CASE(a_question_before_an_answered_read_does_not_cancel_an_acknowledgment),
	KUNIT_CASE(what_a_silence_loses_is_sent_again_without_retries),
	KUNIT_CASE(without_memory_a_timeout_finds_the_loss),
	KUNIT_CASE(retries_run_out_if_nothing_else_is_lost),
	KUNIT_CASE(retransmissions_that_a_netdev_refuses_are_sent_later),
	KUNIT_CASE(a_sack_that_does_not_leave_is_not_counted),
	KUNIT_CASE(a_sack_fills_the_path_mtu),
	KUNIT_CASE(after_the_first_nak_a_lost_packet_is_sent_again_alone),
	KUNIT_CASE(after_more_naks_the_requester_goes_back),
	KUNIT_CASE(the_first_packet_of_a_long_message_asks),
	KUNIT_CASE_PARAM(a_probe_finds_a_lost_end, way_gen_params),
	KUNIT_CASE(a_probe_finds_a_lost_acknowledgment),
	KUNIT_CASE(a_probe_finds_that_all_packets_are_lost),
	KUNIT_CASE(a_probe_finds_that_all_is_lost_after_going_back),
	KUNIT_CASE(a_probe_finds_a_lost_read),
	KUNIT_CASE(a_probe_finds_a_lost_end_after_an_rnr_nak),
	KUNIT_CASE(a_probe_that_the_netdev_refuses_is_sent_later),
	KUNIT_CASE(the_answer_to_a_probe_is_no_sample_for_congestion),
	KUNIT_CASE(a_train_without_a_route_begins_no_round_trip),
	KUNIT_CASE(after_a_silence_probes_are_quick_again),
	KUNIT_CASE(after_a_silence_probes_wait_for_a_round_trip),
	KUNIT_CASE(a_probe_finds_that_all_is_lost_before_a_long_read),
	KUNIT_CASE(a_probe_does_not_cancel_responses),
	KUNIT_CASE(packets_that_have_not_asked_are_not_probed),
	KUNIT_CASE(a_qp_without_a_timeout_sends_no_probes),
	KUNIT_CASE(a_gap_behind_a_lost_one_is_told_of_when_it_has_waited),
	KUNIT_CASE(a_gap_that_is_filled_leaves_nothing_to_tell),
	KUNIT_CASE_PARAM(a_forged_sack_is_dropped, forgery_gen_params),
	KUNIT_CASE(a_sack_beyond_the_path_mtu_is_dropped),
	KUNIT_CASE_PARAM(every_byte_arrives_in_order_and_once, storm_gen_params),
	KUNIT_CASE_PARAM(long_messages_arrive, storm_gen_params),
	{}
};

static struct kunit_suite sack_suite = {
	.name = "roce_sack",
	.test_cases = sack_cases,
};

kunit_test_suite(sack_suite);
