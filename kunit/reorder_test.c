// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that overtake others are kept until they are not early any more, and lost
 * packets are told from late ones. Whatever the network does, every byte arrives, and
 * requests are executed in order, once, and complete once.
 */
#include "storm.h"

#define MTU		256
#define PACKETS		5
#define SIZE		((PACKETS - 1) * MTU + 77)
#define RNR_655_MS	0	/* a code of the AETH: 655.36 ms */

static struct roce_reorder *of_responder(struct wire *wire)
{
	return wire->ends[1].qp->responder.reorder;
}

static struct wire *new_waiting_wire(struct kunit *test, u8 timeout, u32 wait_us)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire;

	setup.timeout = timeout;
	setup.reordering_us = wait_us;
	wire = wire_new(test, &setup);
	wire_set_wait(wire, (u64)wait_us * NSEC_PER_USEC);
	return wire;
}

/* A long wait, so that a slow machine does not make packets late. */
static struct wire *new_wire(struct kunit *test, u8 timeout)
{
	return new_waiting_wire(test, timeout, ROCE_REORDERING_MAX_US);
}

/* A late packet comes before the wait for it ends, however slow the machine is. */
static struct wire *new_patient_wire(struct kunit *test)
{
	return new_waiting_wire(test, 0, 1000 * USEC_PER_SEC);
}

static const struct way {
	const char *name;
	enum ib_wr_opcode opcode;
} ways[] = {
	{ "SEND", IB_WR_SEND },
	{ "WRITE", IB_WR_RDMA_WRITE },
	{ "WRITE with immediate", IB_WR_RDMA_WRITE_WITH_IMM },
	{ "READ", IB_WR_RDMA_READ },
};

static void post(struct wire *wire, enum ib_wr_opcode opcode)
{
	wire_prepare(wire, opcode, 1, SIZE);
	wire_send(wire, opcode, 1, SIZE);
}

static void finish(struct wire *wire, enum ib_wr_opcode opcode)
{
	wire_finish(wire, opcode, 1, SIZE);
}

/* Send packets from @from on, of a message that is never completed. */
static void come_early(struct wire *wire, u32 from, u32 count)
{
	struct wire_end *a = &wire->ends[0];
	struct roce_packet packet = {
		.opcode = ROCE_SERVICE_RC | ROCE_WRITE_MIDDLE, .payload = MTU,
	};

	while (count--) {
		packet.psn = roce_psn_add(a->qp->attr.sq_psn, from++);
		KUNIT_ASSERT_EQ(wire->test, wire_inject(a, &packet, a->memory), 0);
		wire_run(wire);
	}
}

/* --- Late packets --- */

static void overtaken_packets_are_not_sent_again(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct wire *wire = new_patient_wire(test);
	struct wire_end *from = wire_source(wire, way->opcode);
	u32 i;

	for (i = 0; i < PACKETS - 1; i++) {
		wire_forget(wire);
		wire_fault(from, i, WIRE_DELAY);
		post(wire, way->opcode);
		finish(wire, way->opcode);
		KUNIT_EXPECT_EQ(test, from->sent, PACKETS);
	}
	KUNIT_EXPECT_EQ(test, SEEN(from->peer, reorder_kept), PACKETS - 1);
	KUNIT_EXPECT_EQ(test, SEEN(from->peer, reorder_late), PACKETS - 1);
	KUNIT_EXPECT_EQ(test, SEEN(from, retransmitted_packets), 0);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], implied_nak_seq_err), 0);
}

/* The second packet comes after the third, and the NIC merges all of them. */
static void late_packets_are_not_hidden_by_a_nic_that_merges(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct wire *wire = new_patient_wire(test);
	struct wire_end *from = wire_source(wire, way->opcode);

	wire->merge = true;
	wire_fault(from, 1, WIRE_DELAY);
	post(wire, way->opcode);
	finish(wire, way->opcode);
	KUNIT_EXPECT_EQ(test, from->sent, PACKETS);
	KUNIT_EXPECT_EQ(test, SEEN(from->peer, reorder_late), 1);
	KUNIT_EXPECT_EQ(test, SEEN(from, retransmitted_packets), 0);
	KUNIT_EXPECT_EQ(test, SEEN(from->peer, duplicate_request), 0);
}

/* The READ response is late, and the acknowledgment of the next WRITE comes first. */
static void an_acknowledgment_that_overtakes_a_response_is_kept(struct kunit *test)
{
	struct wire *wire = new_patient_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .wr_id = 2, .length = 100,
		.local = 64 * 1024, .remote = 64 * 1024,
	};

	wire_fault(b, PACKETS - 1, WIRE_DELAY);
	post(wire, IB_WR_RDMA_READ);
	KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	finish(wire, IB_WR_RDMA_READ);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, SEEN(a, reorder_kept), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, implied_nak_seq_err), 0);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 0, ROCE_READ_REQUEST), 1);
}

/* ... and not from the time when the gap before it was filled */
static void a_packet_is_late_from_its_overtaker_on(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct roce_packet first = wire_request(wire, ROCE_WRITE_FIRST, 4 * MTU);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u64 overtaken;

	first.payload = MTU;
	come_early(wire, 1, 1);
	come_early(wire, 3, 1);
	overtaken = ktime_get_ns();
	usleep_range(1000, 2000);
	KUNIT_ASSERT_EQ(test, wire_inject(a, &first, a->memory), 0);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, b->qp->responder.reorder->gap_psn,
			roce_psn_add(a->qp->attr.sq_psn, 2));
	KUNIT_EXPECT_LE(test, b->qp->responder.reorder->gap_overtaken, overtaken);
}

static void with_reordering_us_0_early_packets_are_dropped(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);

	wire_fault(&wire->ends[0], 1, WIRE_DELAY);
	post(wire, IB_WR_RDMA_WRITE);
	finish(wire, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], reorder_kept), 0);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[1], out_of_seq_request), 1);
	KUNIT_EXPECT_GT(test, wire->ends[0].sent, PACKETS);
}

/* A kept train is counted like any other: each packet once. */
static void a_kept_packet_is_counted_once(struct kunit *test)
{
	struct wire *wire = new_patient_wire(test);

	wire_fault(&wire->ends[0], 0, WIRE_DELAY);
	post(wire, IB_WR_RDMA_WRITE);
	finish(wire, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], rx_packets), PACKETS);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], out_of_sequence), 1);
}

/* --- Early packets without memory --- */

static void without_memory_early_packets_are_dropped(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct wire_setup setup = wire_defaults();
	struct wire_end *from, *to;
	struct wire *wire;

	setup.reordering_us = ROCE_REORDERING_MAX_US;
	wire = wire_new(test, &setup);
	from = wire_source(wire, way->opcode);
	to = from->peer;
	fixture_withhold_memory(test);
	wire_fault(from, 1, WIRE_DELAY);
	post(wire, way->opcode);
	finish(wire, way->opcode);
	KUNIT_EXPECT_GE(test, SEEN(to, reorder_no_room), 1);
	KUNIT_EXPECT_EQ(test, SEEN(to, reorder_kept), 0);

	fixture_grant_memory(test);
	wire_forget(wire);
	wire_fault(from, 1, WIRE_DELAY);
	post(wire, way->opcode);
	finish(wire, way->opcode);
	KUNIT_EXPECT_GE(test, SEEN(to, reorder_kept), 1);
}

static void lose_a_response(struct wire *wire)
{
	struct wire_end *a = &wire->ends[0];
	u64 asked = SEEN(a, responses_asked_again);
	unsigned long end = jiffies + PATIENCE;

	wire_forget(wire);
	wire_fault(&wire->ends[1], 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ);
	while (SEEN(a, responses_asked_again) == asked && time_before(jiffies, end))
		wire_run(wire);
	wire_run(wire);
}

/* The requester asks for it alone, and gets no answer. */
static void without_memory_a_timeout_repeats_the_lost_response(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	fixture_withhold_memory(test);
	lose_a_response(wire);
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 1);
	KUNIT_EXPECT_EQ(test, b->sent, PACKETS);
	a->qp->attr.timeout = WIRE_TIMEOUT;
	wire_end_timeouts(wire);
	finish(wire, IB_WR_RDMA_READ);
	KUNIT_EXPECT_GE(test, SEEN(a, local_ack_timeout_err), 1);
	KUNIT_EXPECT_NULL(test, b->qp->responder.parts);

	fixture_grant_memory(test);
	a->qp->attr.timeout = 0;
	lose_a_response(wire);
	finish(wire, IB_WR_RDMA_READ);
	KUNIT_EXPECT_EQ(test, b->sent, PACKETS + 1);
}

/* --- Lost packets --- */

static void three_overtakers_reveal_a_loss(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	wire_fault(a, 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE);
	finish(wire, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, SEEN(b, out_of_seq_request), 1);
	KUNIT_EXPECT_EQ(test, SEEN(b, reorder_late), 0);
	KUNIT_EXPECT_EQ(test, SEEN(a, packet_seq_err), 1);
}

static void fewer_overtakers_reveal_a_loss_after_a_time(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	wire_set_wait(wire, NSEC_PER_MSEC);
	wire_fault(a, PACKETS - 2, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE);
	finish(wire, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, SEEN(b, out_of_seq_request), 1);
}

/* The repair of a loss has shown how long a round trip takes. */
static void after_a_loss_the_time_is_a_quarter_of_the_round_trip(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	const struct roce_reorder *reorder;

	wire_fault(&wire->ends[0], 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE);
	finish(wire, IB_WR_RDMA_WRITE);
	reorder = of_responder(wire);
	KUNIT_EXPECT_GT(test, reorder->round_trip, 0);
	KUNIT_EXPECT_EQ(test, reorder->wait,
			clamp_t(u64, reorder->round_trip / 4, 100 * NSEC_PER_USEC,
				500 * NSEC_PER_USEC));
}

static void a_lost_response_is_noticed_after_a_time(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0];

	wire_set_wait(wire, NSEC_PER_MSEC);
	wire_fault(&wire->ends[1], PACKETS - 2, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ);
	finish(wire, IB_WR_RDMA_READ);
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 1);
}

static void a_lost_response_is_asked_for_alone(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	const struct wire_record *again;

	wire_fault(b, 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ);
	finish(wire, IB_WR_RDMA_READ);
	again = wire_find(wire, 0, ROCE_READ_REQUEST, 1);
	KUNIT_ASSERT_NOT_NULL(test, again);
	KUNIT_EXPECT_EQ(test, again->psn, roce_psn_add(a->qp->attr.sq_psn, 1));
	KUNIT_EXPECT_EQ(test, again->length, MTU);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 0, ROCE_READ_REQUEST), 2);
	KUNIT_EXPECT_EQ(test, b->sent, PACKETS + 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, retransmitted_packets), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, completer_retry_err), 0);
}

/* Lose a response of each of two READs. */
static void lose_two_responses(struct wire *wire)
{
	struct wire_end *b = &wire->ends[1];

	wire_fault(b, 1, WIRE_DROP);
	wire_fault(b, PACKETS + 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ);
	wire_send(wire, IB_WR_RDMA_READ, 2, SIZE);
}

/* @nth: of the READ requests; @answer: of the READ responses that are no part of a longer one */
static bool is_asked_before(const struct wire *wire, u32 nth, u32 answer)
{
	const struct wire_record *question = wire_find(wire, 0, ROCE_READ_REQUEST, nth);
	const struct wire_record *response = wire_find(wire, 1, ROCE_READ_RESPONSE_ONLY, answer);

	KUNIT_ASSERT_NOT_NULL(wire->test, question);
	KUNIT_ASSERT_NOT_NULL(wire->test, response);
	return question < response;
}

static void missing_responses_of_all_reads_are_asked_for_at_once(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	lose_two_responses(wire);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, is_asked_before(wire, 3, 0));
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 2);
	KUNIT_EXPECT_EQ(test, b->sent, 2 * PACKETS + 2);
}

static void missing_responses_of_a_read_are_asked_for_at_once(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	wire_fault(b, 0, WIRE_DROP);
	wire_fault(b, 2, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ);
	finish(wire, IB_WR_RDMA_READ);
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 2);
	KUNIT_EXPECT_EQ(test, a->trains, 2);
	KUNIT_EXPECT_EQ(test, b->sent, PACKETS + 2);
}

/* It would not answer the first question after the second one. */
static void rdma_rxe_is_asked_one_question_about_a_read_at_a_time(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	b->never_migrated = true;
	wire_fault(b, 0, WIRE_DROP);
	wire_fault(b, 2, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ);
	finish(wire, IB_WR_RDMA_READ);
	KUNIT_EXPECT_FALSE(test, is_asked_before(wire, 2, 0));
	KUNIT_EXPECT_TRUE(test, is_asked_before(wire, 2, 1));
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 2);
	KUNIT_EXPECT_EQ(test, b->sent, PACKETS + 2);
}

/* It is not executed again. */
static void a_lost_response_of_an_atomic_is_asked_for_alone(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u64 *counter = (u64 *)b->memory, i;

	*counter = 0;
	wire_fault(b, 0, WIRE_DROP);
	for (i = 0; i < 4; i++) {
		struct wire_op op = {
			.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .wr_id = i,
			.length = sizeof(u64), .compare_add = 1,
			.local = i * sizeof(u64),
		};

		KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	}
	for (i = 0; i < 4; i++) {
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, ((u64 *)a->memory)[i], i);
	}
	KUNIT_EXPECT_EQ(test, *counter, 4);
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 1);
	KUNIT_EXPECT_EQ(test, b->sent, 5);
}

/* Unlike other requests with a response, its request carries payload. */
static void a_lost_response_of_an_atomic_write_is_asked_for_alone(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire_end *a, *b;
	struct wire *wire;
	u64 i;

	setup.reordering_us = ROCE_REORDERING_MAX_US;
	wire = wire_new(test, &setup);
	wire_set_wait(wire, NSEC_PER_SEC);
	a = &wire->ends[0];
	b = &wire->ends[1];
	fixture_fill(a->memory, 4 * sizeof(u64), 1);
	wire_fault(b, 0, WIRE_DROP);
	for (i = 0; i < 4; i++) {
		struct wire_op op = {
			.opcode = IB_WR_ATOMIC_WRITE, .wr_id = i,
			.length = sizeof(u64), .local = i * sizeof(u64),
			.remote = i * sizeof(u64),
		};

		KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	}
	for (i = 0; i < 4; i++)
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(a->memory, b->memory, 4 * sizeof(u64)), 0);
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 1);
	KUNIT_EXPECT_EQ(test, b->sent, 5);
}

/* A READ must not be acknowledged: it is asked for again, and there is no endless loop. */
static void an_acknowledgment_in_place_of_a_response_is_not_kept(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet ack = {
		.opcode = ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE,
		.psn = a->qp->attr.sq_psn, .syndrome = ROCE_AETH_ACK,
	};

	/* The first response, after the acknowledgment */
	wire_fault(b, 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ);
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, wire_inject(b, &ack, NULL), 0);
	finish(wire, IB_WR_RDMA_READ);
	KUNIT_EXPECT_EQ(test, SEEN(a, implied_nak_seq_err), 1);
}

/* The sender goes back, so a kept packet arrives again. */
static void a_copy_of_a_kept_packet_is_dropped(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *b = &wire->ends[1];

	come_early(wire, 10, 3);
	come_early(wire, 10, 3);
	KUNIT_EXPECT_EQ(test, SEEN(b, reorder_kept), 3);
	KUNIT_EXPECT_EQ(test, SEEN(b, duplicate_request), 3);
	KUNIT_EXPECT_EQ(test, of_responder(wire)->runs, 3);
}

/* The rest of the READ is not sent yet when a part of it is asked for again. */
static void a_part_that_is_asked_for_again_does_not_cancel_the_rest(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet part = wire_request(wire, ROCE_READ_REQUEST, MTU);

	b->room = 2;
	post(wire, IB_WR_RDMA_READ);
	while (!b->sent)
		wire_run(wire);
	KUNIT_EXPECT_EQ(test, wire_inject(a, &part, NULL), 0);
	finish(wire, IB_WR_RDMA_READ);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, SEEN(b, duplicate_request), 1);
	KUNIT_EXPECT_EQ(test, b->sent, PACKETS + 1);
}

/* The lost packet fills the gap, and kept packets are not needed again. */
static void packets_kept_after_a_loss_are_executed(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	wire_fault(a, 0, WIRE_DROP);
	/* Of the retransmissions, only the lost packet arrives. */
	wire_fault(a, PACKETS + 1, WIRE_DROP);
	wire_fault(a, PACKETS + 2, WIRE_DROP);
	wire_fault(a, PACKETS + 3, WIRE_DROP);
	wire_fault(a, PACKETS + 4, WIRE_DROP);
	post(wire, IB_WR_SEND);
	finish(wire, IB_WR_SEND);
	KUNIT_EXPECT_EQ(test, SEEN(b, reorder_kept), PACKETS - 1);
	KUNIT_EXPECT_EQ(test, a->sent, 2 * PACKETS);
}

static void a_late_packet_that_was_taken_for_lost_extends_the_wait(struct kunit *test)
{
	struct wire *wire = new_patient_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet late = wire_request(wire, ROCE_WRITE_FIRST, SIZE);

	late.va += WIRE_TARGET;
	late.payload = MTU;
	wire_fault(a, 0, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE);
	finish(wire, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_FALSE(test, of_responder(wire)->reorders);
	KUNIT_EXPECT_EQ(test, wire_inject(a, &late, a->memory), 0);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, SEEN(b, reorder_not_lost), 1);
	KUNIT_EXPECT_TRUE(test, of_responder(wire)->reorders);
	/* But only once, not for another copy */
	KUNIT_EXPECT_EQ(test, wire_inject(a, &late, a->memory), 0);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, SEEN(b, reorder_not_lost), 1);
}

static void losses_reset_the_wait_for_late_packets(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0];
	u32 i;

	wire_fault(a, 1, WIRE_DELAY);
	post(wire, IB_WR_RDMA_WRITE);
	finish(wire, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_TRUE(test, of_responder(wire)->reorders);
	for (i = 0; of_responder(wire)->reorders && i < 100; i++) {
		wire_set_wait(wire, NSEC_PER_MSEC);
		wire_forget(wire);
		wire_fault(a, 1, WIRE_DROP);
		post(wire, IB_WR_RDMA_WRITE);
		finish(wire, IB_WR_RDMA_WRITE);
	}
	KUNIT_EXPECT_EQ(test, i, 16);
}

/* Everything behind it is lost, too, if it is missing: nothing is. */
static void a_lost_response_is_one_loss(struct kunit *test)
{
	struct wire *wire = new_patient_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 size = 40 * MTU;

	wire_fault(b, 1, WIRE_DELAY);
	post(wire, IB_WR_RDMA_READ);
	finish(wire, IB_WR_RDMA_READ);
	KUNIT_EXPECT_TRUE(test, a->qp->requester.reorder->reorders);
	wire_set_wait(wire, 0);
	wire_forget(wire);
	wire_fault(b, 1, WIRE_DROP);
	wire_prepare(wire, IB_WR_RDMA_READ, 2, size);
	wire_send(wire, IB_WR_RDMA_READ, 2, size);
	wire_finish(wire, IB_WR_RDMA_READ, 2, size);
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 1);
	KUNIT_EXPECT_TRUE(test, a->qp->requester.reorder->reorders);
}

/* --- Memory --- */

/* Pretend that so many bytes are kept. */
static void take_room(struct wire *wire, u32 bytes)
{
	of_responder(wire)->bytes += bytes;
	atomic_long_add(bytes, &wire->ends[1].dev->early_bytes);
}

static void early_packets_of_a_qp_take_half_of_the_memory(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	struct wire_end *b = &wire->ends[1];
	long half = roce_reorder_memory() / 2;

	take_room(wire, half - SZ_64K);
	come_early(wire, 1000, 100);
	KUNIT_EXPECT_GT(test, SEEN(b, reorder_kept), 0);
	KUNIT_EXPECT_GT(test, SEEN(b, reorder_no_room), 0);
	KUNIT_EXPECT_EQ(test, SEEN(b, reorder_kept) + SEEN(b, reorder_no_room), 100);
	KUNIT_EXPECT_LE(test, of_responder(wire)->bytes, half);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&b->dev->early_bytes),
			of_responder(wire)->bytes);
	/* From now on it is go-back-N. */
	wire_forget(wire);
	wire_fault(&wire->ends[0], 1, WIRE_DELAY);
	post(wire, IB_WR_RDMA_WRITE);
	finish(wire, IB_WR_RDMA_WRITE);
}

static void the_memory_of_all_qps_of_a_device_is_bounded(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *b = &wire->ends[1];

	atomic_long_set(&b->dev->early_bytes, LONG_MAX / 2);
	wire_fault(&wire->ends[0], 1, WIRE_DELAY);
	post(wire, IB_WR_RDMA_WRITE);
	finish(wire, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, SEEN(b, reorder_kept), 0);
	KUNIT_EXPECT_GE(test, SEEN(b, reorder_no_room), 1);
	atomic_long_set(&b->dev->early_bytes, 0);
}

/* The gap is never filled. */
static void early_packets_are_not_kept_forever(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *b = &wire->ends[1];

	come_early(wire, 10, 3);
	KUNIT_EXPECT_EQ(test, SEEN(b, out_of_seq_request), 1);
	KUNIT_EXPECT_EQ(test, of_responder(wire)->runs, 3);
	of_responder(wire)->lost_at -= 11 * NSEC_PER_SEC;
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, of_responder(wire)->runs, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&b->dev->early_bytes), 0);
}

/* Freeing thousands of runs at once would delay the softirq. */
static void dropped_packets_are_freed_in_parts(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *b = &wire->ends[1];
	struct roce_engine *engine = &b->qp->responder.engine;
	long kept;

	come_early(wire, 10, 200);
	roce_engine_claim(engine);
	KUNIT_EXPECT_EQ(test, of_responder(wire)->runs, 200);
	kept = atomic_long_read(&b->dev->early_bytes);
	local_bh_disable();
	roce_reorder_drop(of_responder(wire), b->qp);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, of_responder(wire)->runs, 0);
	KUNIT_EXPECT_GT(test, atomic_long_read(&b->dev->early_bytes), kept / 2);
	roce_engine_release(engine);
	roce_engine_schedule(engine);
	fixture_flush_engine(engine);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&b->dev->early_bytes), 0);
	KUNIT_EXPECT_TRUE(test, roce_reorder_is_idle(of_responder(wire)));
}

static const struct ending {
	const char *name;
	enum ib_qp_state state;
} endings[] = {
	{ "reset", IB_QPS_RESET },
	{ "error", IB_QPS_ERR },
};

static void kept_packets_are_freed_with_the_connection(struct kunit *test)
{
	const struct ending *ending = test->param_value;
	struct wire *wire = new_wire(test, 0);
	struct ib_qp_attr attr = { .qp_state = ending->state };
	struct wire_end *b = &wire->ends[1];

	come_early(wire, 10, 5);
	KUNIT_EXPECT_GT(test, atomic_long_read(&b->dev->early_bytes), 0);
	wire_modify(b, &attr, IB_QP_STATE);
	fixture_flush_engine(&b->qp->responder.engine);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&b->dev->early_bytes), 0);
	KUNIT_EXPECT_TRUE(test, roce_reorder_is_idle(of_responder(wire)));
}

/* Wait until end 0 wants lost responses again, and its netdev does not take the question. */
static void refuse_questions(struct wire *wire)
{
	struct wire_end *a = &wire->ends[0];
	unsigned long end = jiffies + PATIENCE;

	a->refuse = U32_MAX;
	while (!READ_ONCE(a->qp->requester.questions_due) && time_before(jiffies, end)) {
		wire_run(wire);
		usleep_range(100, 200);
	}
	KUNIT_EXPECT_TRUE(wire->test, a->qp->requester.questions_due);
}

/* The request to send them again waits when the connection ends. */
static void a_reset_forgets_lost_responses(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	struct wire_end *a = &wire->ends[0];

	wire_fault(&wire->ends[1], 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ);
	wire_start(wire);
	refuse_questions(wire);
	wire_modify(a, &attr, IB_QP_STATE);
	KUNIT_EXPECT_FALSE(test, a->qp->requester.questions_due);
	KUNIT_EXPECT_NULL(test, a->qp->requester.reorder);
}

/* The netdev takes one of two requests for them. */
static void lost_responses_are_asked_for_once(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0];
	struct roce_engine *engine = &a->qp->requester.engine;

	lose_two_responses(wire);
	wire_start(wire);
	refuse_questions(wire);
	roce_engine_claim(engine);
	a->refuse = 0;
	a->room = 1;
	roce_engine_release(engine);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, SEEN(a, responses_asked_again), 2);
}

/* All packets are sent again. */
static void nothing_is_kept_behind_an_rnr_nak(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire_op op = {
		.opcode = IB_WR_SEND, .wr_id = 1, .length = SIZE,
	};
	struct wire_end *a, *b;
	struct wire *wire;

	/* A long delay: a slow machine must drop all packets before they are sent again. */
	setup.rnr_timer = RNR_655_MS;
	setup.reordering_us = ROCE_REORDERING_MAX_US;
	wire = wire_new(test, &setup);
	wire_set_wait(wire, NSEC_PER_SEC);
	a = &wire->ends[0];
	b = &wire->ends[1];
	wire_fault(a, 0, WIRE_DELAY);
	KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	wire_run(wire);
	KUNIT_EXPECT_GE(test, SEEN(b, send_rnr_err), 1);
	KUNIT_EXPECT_TRUE(test, !of_responder(wire)->runs);
	wire_receive(b, 101, WIRE_TARGET, SIZE);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, b->recv_cq, 101, IB_WC_SUCCESS);
}

/* --- Everything at once --- */

static const struct storm storms[] = {
	{ "late", 0, 0, 0, 250, 20, .reordering_us = ROCE_REORDERING_US },
	{ "late and doubled", 0, 100, 0, 250, 20, .reordering_us = ROCE_REORDERING_US },
	{ "lost", 50, 0, 0, 0, 1, .reordering_us = ROCE_REORDERING_US },
	{ "lost and late", 30, 0, 0, 100, 10, .reordering_us = ROCE_REORDERING_US },
	{ "all of it", 20, 50, 20, 100, 40, .reordering_us = ROCE_REORDERING_US },
	{ "all of it, and no patience", 20, 50, 20, 100, 40 },
	{ "all of it, and hardly any patience", 20, 50, 20, 100, 40, .reordering_us = 1 },
	{ "lost and late, and merged", 30, 0, 0, 100, 10, .merge = true,
	  .reordering_us = ROCE_REORDERING_US },
};

static void every_byte_arrives_in_order_and_once(struct kunit *test)
{
	const struct storm *storm = test->param_value;
	struct wire_setup setup = wire_defaults();
	struct wire *wire;

	setup.timeout = WIRE_TIMEOUT;
	setup.retry_count = 7;
	setup.reordering_us = storm->reordering_us;
	wire = wire_new(test, &setup);
	storm_begin(wire, storm);
	storm_work(wire);
}

KUNIT_ARRAY_PARAM_DESC(way, ways, name);
KUNIT_ARRAY_PARAM_DESC(ending, endings, name);
KUNIT_ARRAY_PARAM_DESC(storm, storms, name);

static struct kunit_case reorder_cases[] = {
	KUNIT_CASE_PARAM(overtaken_packets_are_not_sent_again, way_gen_params),
	KUNIT_CASE_PARAM(late_packets_are_not_hidden_by_a_nic_that_merges, way_gen_params),
	KUNIT_CASE(an_acknowledgment_that_overtakes_a_response_is_kept),
	KUNIT_CASE(a_packet_is_late_from_its_overtaker_on),
	KUNIT_CASE(with_reordering_us_0_early_packets_are_dropped),
	KUNIT_CASE(a_kept_packet_is_counted_once),
	KUNIT_CASE_PARAM(without_memory_early_packets_are_dropped, way_gen_params),
	KUNIT_CASE(without_memory_a_timeout_repeats_the_lost_response),
	KUNIT_CASE(three_overtakers_reveal_a_loss),
	KUNIT_CASE(fewer_overtakers_reveal_a_loss_after_a_time),
	KUNIT_CASE(after_a_loss_the_time_is_a_quarter_of_the_round_trip),
	KUNIT_CASE(a_lost_response_is_noticed_after_a_time),
	KUNIT_CASE(a_lost_response_is_asked_for_alone),
	KUNIT_CASE(missing_responses_of_all_reads_are_asked_for_at_once),
	KUNIT_CASE(missing_responses_of_a_read_are_asked_for_at_once),
	KUNIT_CASE(rdma_rxe_is_asked_one_question_about_a_read_at_a_time),
	KUNIT_CASE(a_lost_response_of_an_atomic_is_asked_for_alone),
	KUNIT_CASE(a_lost_response_of_an_atomic_write_is_asked_for_alone),
	KUNIT_CASE(an_acknowledgment_in_place_of_a_response_is_not_kept),
	KUNIT_CASE(a_copy_of_a_kept_packet_is_dropped),
	KUNIT_CASE(a_part_that_is_asked_for_again_does_not_cancel_the_rest),
	KUNIT_CASE(packets_kept_after_a_loss_are_executed),
	KUNIT_CASE(a_late_packet_that_was_taken_for_lost_extends_the_wait),
	KUNIT_CASE(losses_reset_the_wait_for_late_packets),
	KUNIT_CASE(a_lost_response_is_one_loss),
	KUNIT_CASE(early_packets_of_a_qp_take_half_of_the_memory),
	KUNIT_CASE(the_memory_of_all_qps_of_a_device_is_bounded),
	KUNIT_CASE(early_packets_are_not_kept_forever),
	KUNIT_CASE(dropped_packets_are_freed_in_parts),
	KUNIT_CASE_PARAM(kept_packets_are_freed_with_the_connection, ending_gen_params),
	KUNIT_CASE(a_reset_forgets_lost_responses),
	KUNIT_CASE(lost_responses_are_asked_for_once),
	KUNIT_CASE(nothing_is_kept_behind_an_rnr_nak),
	KUNIT_CASE_PARAM(every_byte_arrives_in_order_and_once, storm_gen_params),
	{}
};

static struct kunit_suite reorder_suite = {
	.name = "roce_reorder",
	.test_cases = reorder_cases,
};

kunit_test_suite(reorder_suite);
