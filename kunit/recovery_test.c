// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of the wire are repaired: by go-back-N, by timeouts, by asking for READ responses
 * again, by waiting for a receiver that is not ready. Every byte arrives, and every
 * request is executed once and completes once.
 */
#include "wire_fake.h"

#define MTU		256
#define PACKETS		5
#define SIZE		((PACKETS - 1) * MTU + 77)

static const struct way {
	const char *name;
	enum ib_wr_opcode opcode;
} ways[] = {
	{ "SEND", IB_WR_SEND },
	{ "WRITE", IB_WR_RDMA_WRITE },
	{ "WRITE with immediate", IB_WR_RDMA_WRITE_WITH_IMM },
};

static void prepare(struct wire *wire, enum ib_wr_opcode opcode, u32 wr_id)
{
	wire_forget(wire);
	wire_prepare(wire, opcode, wr_id, SIZE);
}

static void post(struct wire *wire, enum ib_wr_opcode opcode, u32 wr_id)
{
	wire_send(wire, opcode, wr_id, SIZE);
}

static void finish(struct wire *wire, enum ib_wr_opcode opcode, u32 wr_id)
{
	wire_finish(wire, opcode, wr_id, SIZE);
}

static void set_timeout(struct wire *wire, u8 timeout)
{
	wire->ends[0].qp->attr.timeout = timeout;
	wire->ends[1].qp->attr.timeout = timeout;
}

static struct wire *new_wire(struct kunit *test, u8 timeout)
{
	struct wire_setup setup = wire_defaults();

	setup.timeout = timeout;
	return wire_new(test, &setup);
}

/* One packet of the message is harmed; there are no timeouts. */
static void harm_each(struct kunit *test, enum wire_action action, u32 packets)
{
	const struct way *way = test->param_value;
	struct wire *wire = new_wire(test, 0);
	u32 i;

	for (i = 0; i < packets; i++) {
		prepare(wire, way->opcode, i);
		wire_fault(&wire->ends[0], i, action);
		post(wire, way->opcode, i);
		finish(wire, way->opcode, i);
	}
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], local_ack_timeout_err), 0);
}

static void a_lost_packet_is_sent_again(struct kunit *test)
{
	harm_each(test, WIRE_DROP, PACKETS - 1);
}

static void a_doubled_packet_is_executed_once(struct kunit *test)
{
	harm_each(test, WIRE_DUPLICATE, PACKETS);
}

static void packets_may_overtake_each_other(struct kunit *test)
{
	harm_each(test, WIRE_DELAY, PACKETS - 1);
}

static void a_damaged_packet_is_dropped_and_sent_again(struct kunit *test)
{
	harm_each(test, WIRE_CORRUPT, PACKETS - 1);
}

static void a_damaged_packet_is_counted(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);

	prepare(wire, IB_WR_SEND, 1);
	wire_fault(&wire->ends[0], 2, WIRE_CORRUPT);
	post(wire, IB_WR_SEND, 1);
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], rx_icrc_encapsulated), 1);
}

/* No later packet reveals the loss. */
static void a_lost_last_packet_is_noticed_by_timeout(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);

	prepare(wire, way->opcode, 1);
	wire_fault(&wire->ends[0], PACKETS - 1, WIRE_DROP);
	post(wire, way->opcode, 1);
	finish(wire, way->opcode, 1);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[0], local_ack_timeout_err), 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], out_of_sequence), 0);
}

static void a_lost_acknowledgment_is_asked_for_again(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);

	prepare(wire, way->opcode, 1);
	wire_fault(&wire->ends[1], 0, WIRE_DROP);
	post(wire, way->opcode, 1);
	finish(wire, way->opcode, 1);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[0], local_ack_timeout_err), 1);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[1], duplicate_request), PACKETS);
}

/* Later changes of the memory by the application are kept. */
static void a_repeated_write_writes_nothing(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	u8 *target = wire->ends[1].memory + WIRE_TARGET;

	prepare(wire, IB_WR_RDMA_WRITE, 1);
	wire_fault(&wire->ends[1], 0, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, memcmp(wire->ends[0].memory, target, SIZE), 0);

	memset(target, 0x77, SIZE);
	set_timeout(wire, WIRE_TIMEOUT);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[1], duplicate_request), 1);
	KUNIT_EXPECT_NULL(test, memchr_inv(target, 0x77, SIZE));
}

/* @kind: ROCE_AETH_NAK or ROCE_AETH_RNR_NAK */
static u32 count_naks(const struct wire *wire, u8 kind)
{
	const struct wire_record *ack;
	u32 i, n = 0;

	for (i = 0; (ack = wire_find(wire, 1, ROCE_ACKNOWLEDGE, i)); i++)
		n += (ack->syndrome & ROCE_AETH_KIND_MASK) == kind;
	return n;
}

/* The first one is as long as a message can be, and some take no PSN. */
static void a_request_is_found_by_its_psn(struct kunit *test)
{
	static const u32 packets[] = { 1 << 23, 1, 0, 0, 3, 100, 0 };
	struct wire *wire = new_wire(test, 0);
	struct roce_requester *requester = &wire->ends[0].qp->requester;
	u32 psn = requester->next_psn, i;

	requester->completed = -2;
	requester->fetched = requester->completed + ARRAY_SIZE(packets);
	for (i = 0; i < ARRAY_SIZE(packets); i++) {
		roce_request(requester, i - 2)->first_psn = psn;
		psn = roce_psn_add(psn, packets[i]);
	}
	for (i = 0; i < ARRAY_SIZE(packets); i++) {
		u32 first = roce_request(requester, i - 2)->first_psn;
		u32 last = roce_psn_add(first, packets[i] - 1);

		if (!packets[i])
			continue;
		KUNIT_EXPECT_EQ(test, roce_request_number(requester, last), i - 2);
		if (i > 0)
			KUNIT_EXPECT_EQ(test, i - 2,
					roce_request_number(requester, first));
	}
	requester->completed = 0;
	requester->fetched = 0;
}

static void there_is_one_nak_for_a_gap(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0];

	prepare(wire, IB_WR_RDMA_WRITE, 1);
	wire_fault(a, 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 1);
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_EQ(test, count_naks(wire, ROCE_AETH_NAK), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, packet_seq_err), 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], out_of_sequence), PACKETS - 2);
}

static void sending_resumes_at_the_gap(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0];
	const struct wire_record *nak;
	u32 i;

	prepare(wire, IB_WR_RDMA_WRITE, 1);
	wire_fault(a, 2, WIRE_DROP);
	post(wire, IB_WR_RDMA_WRITE, 1);
	finish(wire, IB_WR_RDMA_WRITE, 1);

	nak = wire_find(wire, 1, ROCE_ACKNOWLEDGE, 0);
	KUNIT_ASSERT_NOT_NULL(test, nak);
	KUNIT_EXPECT_EQ(test, nak->syndrome, 0x60);
	KUNIT_EXPECT_EQ(test, nak->psn, 0);
	KUNIT_EXPECT_EQ(test, a->sent, PACKETS + PACKETS - 2);
	KUNIT_EXPECT_EQ(test, SEEN(a, retransmitted_packets), PACKETS - 2);
	/* After the NAK in the log: packets 2, 3, 4 again */
	for (i = 0; i < PACKETS - 2; i++)
		KUNIT_EXPECT_EQ(test, nak[i + 1].psn, i);
}

static void a_lost_nak_is_replaced_by_a_timeout(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);

	prepare(wire, IB_WR_SEND, 1);
	wire_fault(&wire->ends[0], 0, WIRE_DROP);
	wire_fault(&wire->ends[1], 0, WIRE_DROP);
	post(wire, IB_WR_SEND, 1);
	finish(wire, IB_WR_SEND, 1);
}

static void two_gaps_are_filled(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);

	prepare(wire, IB_WR_RDMA_WRITE, 1);
	wire_fault(&wire->ends[0], 1, WIRE_DROP);
	wire_fault(&wire->ends[0], 3, WIRE_DROP);
	wire_fault(&wire->ends[0], PACKETS, WIRE_DROP);
	wire_fault(&wire->ends[0], PACKETS + 2, WIRE_CORRUPT);
	post(wire, IB_WR_RDMA_WRITE, 1);
	finish(wire, IB_WR_RDMA_WRITE, 1);
}

/* --- READ --- */

static void harm_each_response(struct kunit *test, enum wire_action action,
			       u32 packets)
{
	struct wire *wire = new_wire(test, 0);
	u32 i;

	for (i = 0; i < packets; i++) {
		prepare(wire, IB_WR_RDMA_READ, i);
		wire_fault(&wire->ends[1], i, action);
		post(wire, IB_WR_RDMA_READ, i);
		finish(wire, IB_WR_RDMA_READ, i);
	}
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], local_ack_timeout_err), 0);
}

static void a_lost_response_is_asked_for_again(struct kunit *test)
{
	harm_each_response(test, WIRE_DROP, PACKETS - 1);
}

static void a_doubled_response_is_taken_once(struct kunit *test)
{
	harm_each_response(test, WIRE_DUPLICATE, PACKETS);
}

static void responses_may_overtake_each_other(struct kunit *test)
{
	harm_each_response(test, WIRE_DELAY, PACKETS - 1);
}

static void a_damaged_response_is_asked_for_again(struct kunit *test)
{
	harm_each_response(test, WIRE_CORRUPT, PACKETS - 1);
}

static void a_read_resumes_at_the_first_missing_response(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	const struct wire_record *again;

	prepare(wire, IB_WR_RDMA_READ, 1);
	wire_fault(&wire->ends[1], 2, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ, 1);
	finish(wire, IB_WR_RDMA_READ, 1);

	again = wire_find(wire, 0, ROCE_READ_REQUEST, 1);
	KUNIT_ASSERT_NOT_NULL(test, again);
	KUNIT_EXPECT_EQ(test, again->psn, 0);
	KUNIT_EXPECT_EQ(test, again->length, SIZE - 2 * MTU);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 0, ROCE_READ_REQUEST), 2);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], implied_nak_seq_err), 1);
}

static void a_lost_last_response_is_noticed_by_timeout(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);

	prepare(wire, IB_WR_RDMA_READ, 1);
	wire_fault(&wire->ends[1], PACKETS - 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ, 1);
	finish(wire, IB_WR_RDMA_READ, 1);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[0], local_ack_timeout_err), 1);
}

static void a_lost_read_request_is_noticed_by_timeout(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);

	prepare(wire, IB_WR_RDMA_READ, 1);
	wire_fault(&wire->ends[0], 0, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ, 1);
	finish(wire, IB_WR_RDMA_READ, 1);
}

/* An acknowledgment of the WRITE reveals that the responses before it are lost. */
static void an_acknowledgment_behind_a_read_implies_a_nak(struct kunit *test)
{
	struct wire_op write = {
		.opcode = IB_WR_RDMA_WRITE, .wr_id = 2, .length = 10,
		.remote = 64 * 1024,
	};
	struct wire *wire = new_wire(test, 0);
	u32 i;

	prepare(wire, IB_WR_RDMA_READ, 1);
	for (i = 0; i < PACKETS; i++)
		wire_fault(&wire->ends[1], i, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ, 1);
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &write), 0);
	finish(wire, IB_WR_RDMA_READ, 1);
	wire_expect(wire, wire->ends[0].send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[0], implied_nak_seq_err), 1);
}

/* A responder must recognize repeated requests. */
static void a_long_read_is_resumed_in_the_pieces_it_had(struct kunit *test)
{
	struct wire_op op = {
		.opcode = IB_WR_RDMA_READ, .length = 400 * MTU, .local = WIRE_TARGET,
	};
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	const struct wire_record *first, *again;
	u32 i;

	fixture_fill(b->memory, op.length, 1);
	wire_fault(b, 100, WIRE_DROP);
	KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(b->memory, a->memory + WIRE_TARGET, op.length), 0);

	first = wire_find(wire, 0, ROCE_READ_REQUEST, 0);
	for (i = 0; (again = wire_find(wire, 0, ROCE_READ_REQUEST, i)); i++) {
		u32 offset = roce_psn_add(again->psn, -first->psn) * MTU;

		if (offset < first->length)
			KUNIT_EXPECT_LE(test, offset + again->length,
					first->length);
	}
	KUNIT_EXPECT_GT(test, i, 2);
}

/*
 * The requester has gone back, and will ask for the READ again. An acknowledgment of a
 * later packet would only make it go back once more.
 */
static void a_duplicate_is_acknowledged_up_to_the_next_read(struct kunit *test)
{
	struct roce_packet write = {
		.opcode = ROCE_SERVICE_RC | ROCE_WRITE_ONLY, .psn = 0xfffffe,
		.ack_request = true,
	};
	struct wire_op ops[] = {
		{ .opcode = IB_WR_RDMA_WRITE, .wr_id = 0 },
		{ .opcode = IB_WR_RDMA_WRITE, .wr_id = 1 },
		{ .opcode = IB_WR_RDMA_READ, .wr_id = 2, .length = 10 },
		{ .opcode = IB_WR_RDMA_WRITE, .wr_id = 3 },
	};
	struct wire *wire = new_wire(test, 0);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &ops[i]), 0);
		wire_expect(wire, wire->ends[0].send_cq, i, IB_WC_SUCCESS);
	}
	wire_forget(wire);
	KUNIT_ASSERT_EQ(test, wire_inject(&wire->ends[0], &write, NULL), 0);
	wire_run(wire);
	KUNIT_ASSERT_EQ(test, wire->ends[1].sent, 1);
	KUNIT_EXPECT_EQ(test, wire->log[1].opcode, ROCE_ACKNOWLEDGE);
	KUNIT_EXPECT_EQ(test, wire->log[1].psn, 0xffffff);
}

/* --- Receiver not ready --- */

static struct wire *new_unready_wire(struct kunit *test, u8 rnr_retry, u8 timer)
{
	struct wire_setup setup = wire_defaults();

	setup.rnr_retry = rnr_retry;
	setup.rnr_timer = timer;
	return wire_new(test, &setup);
}

static bool wait_for_rnr_naks(struct wire *wire, u32 count)
{
	unsigned long end = jiffies + PATIENCE;

	while (count_naks(wire, ROCE_AETH_RNR_NAK) < count && time_before(jiffies, end)) {
		wire_run(wire);
		usleep_range(500, 1000);
	}
	return count_naks(wire, ROCE_AETH_RNR_NAK) >= count;
}

/* However slow the machine is, the delay does not end before the test. */
static void extend_rnr_delay(struct wire_end *end)
{
	struct roce_requester *requester = &end->qp->requester;

	roce_engine_claim(&requester->engine);
	KUNIT_EXPECT_TRUE(end->wire->test, requester->sender.rnr_waiting);
	requester->sender.wait_end = KTIME_MAX;
	roce_engine_release(&requester->engine);
}

static void an_unready_receiver_is_waited_for(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct wire *wire = new_unready_wire(test, 7, 20);

	if (!wire_has_receive(way->opcode))
		kunit_skip(test, "needs no receive");
	wire_forget(wire);
	fixture_fill(wire->ends[0].memory, SIZE, 1);
	post(wire, way->opcode, 1);
	KUNIT_EXPECT_TRUE(test, wait_for_rnr_naks(wire, 2));
	KUNIT_EXPECT_EQ(test, wire_find(wire, 1, ROCE_ACKNOWLEDGE, 0)->syndrome,
			0x20 | 20);

	wire_receive(&wire->ends[1], 101, WIRE_TARGET, SIZE);
	finish(wire, way->opcode, 1);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[0], rnr_nak_retry_err), 2);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[1], out_of_buffer), 2);
}

/* A message of one packet */
static void post_short(struct wire *wire, u64 wr_id)
{
	struct wire_op op = {
		.opcode = IB_WR_SEND, .wr_id = wr_id, .length = 8,
	};

	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[0], &op), 0);
}

static void an_rnr_nak_is_obeyed_for_its_delay(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 7, 23);	/* 30.72 ms */
	ktime_t start = ktime_get();

	wire_forget(wire);
	post(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_TRUE(test, wait_for_rnr_naks(wire, 2));
	KUNIT_EXPECT_GE(test, ktime_us_delta(ktime_get(), start), 30720);
}

/* All waits share a timer, which may be about to fire when a wait begins. */
static void the_end_of_another_wait_does_not_end_an_rnr_delay(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 7, 0);	/* 655.36 ms */

	wire_forget(wire);
	post(wire, IB_WR_SEND, 1);
	KUNIT_ASSERT_TRUE(test, wait_for_rnr_naks(wire, 1));
	extend_rnr_delay(&wire->ends[0]);
	hrtimer_start(&wire->ends[0].qp->requester.sender.timer, 0, ROCE_WAIT_MODE);
	usleep_range(2000, 3000);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, count_naks(wire, ROCE_AETH_RNR_NAK), 1);
}

static void rnr_naks_run_out(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 2, 20);

	wire_forget(wire);
	post(wire, IB_WR_SEND, 1);
	post(wire, IB_WR_SEND, 2);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_RNR_RETRY_EXC_ERR);
	wire_expect(wire, wire->ends[0].send_cq, 2, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], rnr_nak_retry_err), 2);
	KUNIT_EXPECT_EQ(test, wire->ends[0].qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], req_rnr_retries_exceeded), 1);
}

static void rnr_retry_7_means_no_limit(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 7, 20);	/* 10.24 ms */

	wire_forget(wire);
	fixture_fill(wire->ends[0].memory, SIZE, 1);
	post(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_TRUE(test, wait_for_rnr_naks(wire, 10));
	wire_receive(&wire->ends[1], 101, WIRE_TARGET, SIZE);
	finish(wire, IB_WR_SEND, 1);
}

/* Waiting as requested is no failed attempt. */
static void an_rnr_delay_is_no_timeout(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 7, 29);	/* 245.76 ms */

	set_timeout(wire, WIRE_TIMEOUT);
	wire->ends[0].qp->requester.retries = 1;
	wire->ends[0].qp->attr.retry_cnt = 1;
	wire_forget(wire);
	fixture_fill(wire->ends[0].memory, SIZE, 1);
	post(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_TRUE(test, wait_for_rnr_naks(wire, 3));
	wire_receive(&wire->ends[1], 101, WIRE_TARGET, SIZE);
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], local_ack_timeout_err), 0);
}

/* Of three packets the first is lost when it is sent again. There is no timeout. */
static void lose_the_first_packet_after_an_rnr_delay(struct wire *wire, u32 refusals)
{
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	int i;

	wire_forget(wire);
	wire_fault(a, 3, WIRE_DROP);
	for (i = 1; i <= 3; i++)
		post_short(wire, i);
	KUNIT_ASSERT_TRUE(wire->test, wait_for_rnr_naks(wire, 1));
	a->refuse = refusals;
	for (i = 1; i <= 3; i++)
		wire_receive(b, 100 + i, WIRE_TARGET, SIZE);
	for (i = 1; i <= 3; i++)
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(wire->test, count_naks(wire, ROCE_AETH_RNR_NAK), 1);
	KUNIT_EXPECT_EQ(wire->test, a->refuse, 0);
}

static void the_first_packet_after_an_rnr_delay_may_be_lost(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 7, 0);	/* 655.36 ms */

	lose_the_first_packet_after_an_rnr_delay(wire, 0);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], out_of_seq_request), 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], packet_seq_err), 1);
}

/* After the delay the requester also waits for a netdev that is full. */
static void the_first_packet_after_two_waits_may_be_lost(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 7, 0);	/* 655.36 ms */

	lose_the_first_packet_after_an_rnr_delay(wire, 2);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], packet_seq_err), 1);
}

/* Whatever was told of lost packets before was about the first copies. */
static void with_sack_the_first_packet_after_an_rnr_delay_may_be_lost(struct kunit *test)
{
	struct wire_setup setup = wire_selective();
	struct wire *wire;

	setup.reordering_us = ROCE_REORDERING_US;
	setup.rnr_timer = 0;	/* 655.36 ms */
	wire = wire_new(test, &setup);
	lose_the_first_packet_after_an_rnr_delay(wire, 0);
	KUNIT_EXPECT_TRUE(test, wire->ends[0].qp->requester.sack_accepted);
}

static void a_packet_that_was_alone_may_be_lost_after_an_rnr_delay(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 7, 29);	/* 245.76 ms */
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	wire_forget(wire);
	wire_fault(a, 1, WIRE_DROP);
	post_short(wire, 1);
	KUNIT_ASSERT_TRUE(test, wait_for_rnr_naks(wire, 1));
	post_short(wire, 2);
	wire_receive(b, 101, WIRE_TARGET, SIZE);
	wire_receive(b, 102, WIRE_TARGET, SIZE);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, SEEN(b, out_of_seq_request), 1);
}

/* A responder may answer each packet after the one without a receive. */
static void a_sequence_nak_does_not_shorten_an_rnr_delay(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 7, 0);	/* 655.36 ms */
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet nak = {
		.opcode = ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE,
		.psn = a->qp->attr.sq_psn,
		.syndrome = ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR,
	};

	wire_forget(wire);
	post_short(wire, 1);
	post_short(wire, 2);
	KUNIT_ASSERT_TRUE(test, wait_for_rnr_naks(wire, 1));
	extend_rnr_delay(a);
	KUNIT_ASSERT_EQ(test, wire_inject(b, &nak, NULL), 0);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, a->sent, 2);
	KUNIT_EXPECT_EQ(test, SEEN(a, rcvd_seq_err), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, packet_seq_err), 0);
}

/* The delay of the first one is over; the requester waits for pages of a later message. */
static void an_rnr_nak_is_obeyed_while_memory_is_awaited(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 7, 20);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_fault *fault = a->qp->requester.sender.fault;
	unsigned long end = jiffies + PATIENCE;
	struct roce_packet nak = {
		.opcode = ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE,
		.psn = a->qp->attr.sq_psn, .syndrome = ROCE_AETH_RNR_NAK | 20,
	};

	wire_forget(wire);
	wire_fault(a, 1, WIRE_DROP);
	post_short(wire, 1);
	while (a->sent < 2 && time_before(jiffies, end)) {
		wire_run(wire);
		usleep_range(500, 1000);
	}
	KUNIT_ASSERT_EQ(test, SEEN(a, rnr_nak_retry_err), 1);
	WRITE_ONCE(fault->pending, true);
	KUNIT_EXPECT_EQ(test, wire_inject(b, &nak, NULL), 0);
	wire_run(wire);
	WRITE_ONCE(fault->pending, false);
	KUNIT_EXPECT_EQ(test, SEEN(a, rnr_nak_retry_err), 2);
	wire_receive(b, 101, WIRE_TARGET, SIZE);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
}

/* --- Faults that cannot be repaired --- */

/**
 * struct malformation - a fault that makes a request malformed
 * @name: of the case
 * @opcode: replaces that of the BTH, 0 to keep it
 * @pad: replaces that of the BTH
 * @cut: bytes that are missing at the end
 * @counter: counts it
 */
struct malformation {
	const char *name;
	u8 opcode;
	u8 pad;
	u32 cut;
	enum roce_counter counter;
};

static const struct malformation malformations[] = {
	{ "a reserved opcode", .opcode = ROCE_SERVICE_RC | 0x15,
	  .counter = ROCE_COUNTER_rx_dropped_opcode },
	{ "the last opcode of RC", .opcode = ROCE_SERVICE_RC | 0x1f,
	  .counter = ROCE_COUNTER_rx_dropped_opcode },
	{ "an odd length", .cut = 1, .counter = ROCE_COUNTER_rx_dropped_length },
	{ "a wrong pad", .cut = 1, .pad = 3,
	  .counter = ROCE_COUNTER_rx_dropped_length },
	{ "no room for all headers", .opcode = ROCE_SERVICE_RC | ROCE_FETCH_ADD,
	  .counter = ROCE_COUNTER_rx_dropped_length },
};

KUNIT_ARRAY_PARAM_DESC(malformation, malformations, name);

/* The ICRC is right, unless @icrc. */
static void malform(struct sk_buff *skb, const struct malformation *how, bool icrc)
{
	u8 *bth = skb_transport_header(skb) + sizeof(struct udphdr);

	if (how->opcode)
		bth[0] = how->opcode;
	bth[1] |= how->pad << ROCE_BTH_PAD_SHIFT;
	skb_trim(skb, skb->len - how->cut);
	udp_hdr(skb)->len = htons(skb->len);
	ip_hdr(skb)->tot_len = htons(skb->len + sizeof(struct iphdr));
	fixture_seal(skb_network_header(skb),
		     skb_tail_pointer(skb) - skb_network_header(skb));
	if (!icrc)
		skb_tail_pointer(skb)[-1] ^= 1;
}

/* IBA volume 1, 9.7.4.1.3 and 9.7.4.1.6 */
static void a_malformed_request_is_refused(struct kunit *test)
{
	const struct malformation *how = test->param_value;
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	wire_forget(wire);
	post_short(wire, 1);
	wire_start(wire);
	malform(skb_peek_tail(&wire->queue), how, true);
	wire_expect(wire, a->send_cq, 1, IB_WC_REM_INV_REQ_ERR);
	KUNIT_EXPECT_EQ(test, wire_find(wire, 1, ROCE_ACKNOWLEDGE, 0)->syndrome,
			ROCE_AETH_NAK | ROCE_NAK_INVALID_REQUEST);
	KUNIT_EXPECT_EQ(test, b->qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, test_bit(IB_EVENT_QP_REQ_ERR, &b->events));
	KUNIT_EXPECT_EQ(test, fixture_counter(b->dev, how->counter), 1);
}

/* A single wrong bit can make an opcode reserved. */
static void a_request_that_was_damaged_is_not_refused(struct kunit *test)
{
	const struct malformation *how = test->param_value;
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	wire_forget(wire);
	wire_receive(b, 101, WIRE_TARGET, SIZE);
	post_short(wire, 1);
	wire_start(wire);
	malform(skb_peek_tail(&wire->queue), how, false);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, b->qp->state, IB_QPS_RTS);
}

static void a_malformed_request_that_is_not_expected_is_dropped(struct kunit *test)
{
	const struct malformation *how = test->param_value;
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	wire_forget(wire);
	wire_receive(b, 101, WIRE_TARGET, SIZE);
	wire_receive(b, 102, WIRE_TARGET, SIZE);
	wire_fault(a, 0, WIRE_DROP);
	post_short(wire, 1);
	wire_start(wire);
	post_short(wire, 2);
	wire_start(wire);
	malform(skb_peek_tail(&wire->queue), how, true);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, fixture_counter(b->dev, how->counter), 1);
}

static void retries_run_out_and_the_rest_is_flushed(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire;
	u32 i;

	setup.timeout = WIRE_TIMEOUT;
	setup.retry_count = 2;
	wire = wire_new(test, &setup);
	wire->ends[0].cut = true;
	for (i = 0; i < 4; i++)
		post(wire, IB_WR_RDMA_WRITE, i);
	wire_expect(wire, wire->ends[0].send_cq, 0, IB_WC_RETRY_EXC_ERR);
	for (i = 1; i < 4; i++)
		wire_expect(wire, wire->ends[0].send_cq, i, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, wire->ends[0].qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, wire->ends[0].sent, 3 * 4 * PACKETS);
	KUNIT_EXPECT_EQ(test, 1,
			SEEN(&wire->ends[0], req_transport_retries_exceeded));
	KUNIT_EXPECT_EQ(test, 3, SEEN(&wire->ends[0], req_cqe_flush_error));
}

static void a_netdev_that_is_full_is_waited_for(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);

	prepare(wire, IB_WR_SEND, 1);
	wire->ends[0].refuse = 5;
	wire->ends[1].refuse = 3;
	post(wire, IB_WR_SEND, 1);
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], tx_stalled_queue), 5);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], tx_stalled_queue), 3);
	KUNIT_EXPECT_EQ(test, wire->ends[0].sent, PACKETS);

	prepare(wire, IB_WR_RDMA_READ, 2);
	wire->ends[0].refuse = 2;
	wire->ends[1].refuse = 2;
	post(wire, IB_WR_RDMA_READ, 2);
	finish(wire, IB_WR_RDMA_READ, 2);
}

static void a_netdev_that_gets_full_amid_a_train_is_waited_for(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);

	prepare(wire, IB_WR_SEND, 1);
	wire->ends[0].room = 2;
	post(wire, IB_WR_SEND, 1);
	finish(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], tx_stalled_queue), 1);
	KUNIT_EXPECT_EQ(test, wire->ends[0].sent, PACKETS);
}

/* The acknowledgment arrives while its packets wait to be sent again. */
static void an_acknowledgment_of_stalled_packets_ends_the_stall(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet ack = {
		.opcode = ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE,
		.psn = roce_psn_add(a->qp->attr.sq_psn, PACKETS - 1),
		.syndrome = ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS, .msn = 1,
	};
	unsigned long end = jiffies + PATIENCE;
	u64 timeouts;

	prepare(wire, IB_WR_RDMA_WRITE, 1);
	b->cut = true;
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_run(wire);
	a->refuse = U32_MAX;
	wire_end_timeouts(wire);
	while (!SEEN(a, tx_stalled_queue) && time_before(jiffies, end)) {
		wire_run(wire);
		usleep_range(100, 200);
	}
	KUNIT_EXPECT_GE(test, SEEN(a, tx_stalled_queue), 1);
	b->cut = false;
	KUNIT_ASSERT_EQ(test, wire_inject(b, &ack, NULL), 0);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	a->refuse = 0;
	KUNIT_EXPECT_EQ(test, a->qp->requester.sender.stalls, 0);

	timeouts = SEEN(a, local_ack_timeout_err);
	wire_end_timeouts(wire);
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), timeouts);
	KUNIT_EXPECT_EQ(test, a->qp->state, IB_QPS_RTS);
}

/*
 * A late packet arrives before the NAK for it is sent: the NAK is then for the packets
 * that came too early. There are no timeouts.
 */
static void a_delayed_nak_is_for_the_packet_missing_when_it_is_sent(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	const struct wire_record *answer;

	prepare(wire, IB_WR_RDMA_WRITE, 1);
	wire_fault(a, 0, WIRE_DELAY);
	roce_engine_claim(&b->qp->responder.engine);
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_run(wire);
	roce_engine_release(&b->qp->responder.engine);
	finish(wire, IB_WR_RDMA_WRITE, 1);
	answer = wire_find(wire, 1, ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE, 0);
	KUNIT_ASSERT_NOT_NULL(test, answer);
	KUNIT_EXPECT_EQ(test, answer->syndrome,
			ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE_ERROR);
	KUNIT_EXPECT_EQ(test, answer->psn, roce_psn_add(a->qp->attr.sq_psn, 1));
}

/* One acknowledgment covers those that the engine would have sent before it. */
static void waiting_acknowledgments_are_merged(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *b = &wire->ends[1];
	u32 i;

	roce_engine_claim(&b->qp->responder.engine);
	for (i = 1; i <= 3; i++)
		post(wire, IB_WR_RDMA_WRITE, i);
	wire_run(wire);
	roce_engine_release(&b->qp->responder.engine);
	for (i = 1; i <= 3; i++)
		wire_expect(wire, wire->ends[0].send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_GE(test, SEEN(b, ack_deferred), 1);
	KUNIT_EXPECT_EQ(test, 3 - SEEN(b, ack_deferred),
			wire_count(wire, 1, ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE));
}

/* --- Trains of READs --- */

/* Post all READs before the requester sends the first one. */
static void post_reads(struct wire *wire, u32 reads, u32 length)
{
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 i;

	fixture_fill(b->memory, reads * length, 1);
	roce_engine_claim(&a->qp->requester.engine);
	for (i = 0; i < reads; i++) {
		struct wire_op op = {
			.opcode = IB_WR_RDMA_READ, .wr_id = i, .length = length,
			.local = WIRE_TARGET + i * length, .remote = i * length,
		};

		KUNIT_ASSERT_EQ(wire->test, wire_post(a, &op), 0);
	}
	roce_engine_release(&a->qp->requester.engine);
}

/* Wait without delivering packets. */
static void wait_until_sent(struct wire *wire, u32 packets)
{
	struct wire_end *a = &wire->ends[0];
	unsigned long end = jiffies + PATIENCE;

	while (READ_ONCE(a->sent) < packets && time_before(jiffies, end)) {
		wire_start(wire);
		usleep_range(50, 100);
	}
	KUNIT_ASSERT_EQ(wire->test, READ_ONCE(a->sent), packets);
}

/* Deliver all requests before the responder answers the first one. */
static void let_all_arrive(struct wire *wire, u32 reads)
{
	struct wire_end *b = &wire->ends[1];

	wait_until_sent(wire, reads);
	roce_engine_claim(&b->qp->responder.engine);
	do
		wire_run(wire);
	while (!skb_queue_empty_lockless(&wire->queue));
	roce_engine_release(&b->qp->responder.engine);
}

static void finish_reads(struct wire *wire, u32 reads, u32 length)
{
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 i;

	for (i = 0; i < reads; i++)
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(wire->test, 0,
			memcmp(b->memory, a->memory + WIRE_TARGET, reads * length));
}

static void reads_that_are_posted_together_travel_together(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);

	post_reads(wire, 4, SIZE);
	finish_reads(wire, 4, SIZE);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 0, ROCE_READ_REQUEST), 4);
	KUNIT_EXPECT_EQ(test, wire->ends[0].trains, 1);
}

static void short_reads_are_answered_in_one_train(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);

	post_reads(wire, 4, 100);
	let_all_arrive(wire, 4);
	finish_reads(wire, 4, 100);
	KUNIT_EXPECT_EQ(test, wire->ends[1].sent, 4);
	KUNIT_EXPECT_EQ(test, wire->ends[1].trains, 1);
}

static void the_unsent_part_of_a_train_of_reads_follows(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	a->room = 3;
	post_reads(wire, 4, SIZE);
	finish_reads(wire, 4, SIZE);
	KUNIT_EXPECT_EQ(test, SEEN(a, tx_stalled_queue), 1);
	KUNIT_EXPECT_EQ(test, a->sent, 4);
	KUNIT_EXPECT_EQ(test, b->sent, 4 * PACKETS);
}

static void the_unsent_part_of_a_train_of_responses_follows(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *b = &wire->ends[1];

	post_reads(wire, 4, 100);
	b->room = 3;
	let_all_arrive(wire, 4);
	finish_reads(wire, 4, 100);
	KUNIT_EXPECT_EQ(test, SEEN(b, tx_stalled_queue), 1);
	KUNIT_EXPECT_EQ(test, b->sent, 4);
	KUNIT_EXPECT_EQ(test, b->trains, 2);
}

/* The first READ is asked for from its middle on. */
static void the_unsent_part_of_repeated_reads_follows(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0];

	wire_fault(&wire->ends[1], 2, WIRE_DROP);
	post_reads(wire, 3, SIZE);
	wait_until_sent(wire, 3);
	a->room = 2;
	finish_reads(wire, 3, SIZE);
	KUNIT_EXPECT_EQ(test, a->sent, 2 * 3);
	KUNIT_EXPECT_EQ(test, SEEN(a, tx_stalled_queue), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, retransmitted_packets), 3);
}

static void a_read_that_is_lost_from_a_train_is_sent_again(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0];

	wire_fault(a, 1, WIRE_DROP);
	post_reads(wire, 4, SIZE);
	finish_reads(wire, 4, SIZE);
	KUNIT_EXPECT_EQ(test, a->trains, 2);
	KUNIT_EXPECT_EQ(test, SEEN(a, retransmitted_packets), 3);
}

static void a_netdev_that_stays_full_is_like_a_loss(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire;

	/* A real timeout: wire_wait() would not end it, since the netdev is never idle. */
	setup.timeout = 15;
	setup.retry_count = 1;
	wire = wire_new(test, &setup);
	wire->ends[0].refuse = U32_MAX;
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, wire->ends[0].sent, 0);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], local_ack_timeout_err), 1);
}

/* The peer misses them when the next ones arrive, or after a timeout. */
static void answers_that_a_netdev_refuses_are_asked_for_again(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);

	prepare(wire, IB_WR_RDMA_READ, 1);
	wire->ends[1].refuse = ROCE_MAX_STALLS + 1;
	post(wire, IB_WR_RDMA_READ, 1);
	finish(wire, IB_WR_RDMA_READ, 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], tx_dropped_queue_full), 1);
	KUNIT_EXPECT_GE(test, SEEN(&wire->ends[0], implied_nak_seq_err) +
			      SEEN(&wire->ends[0], local_ack_timeout_err), 1);
}

static const struct refusal {
	const char *name;
	u32 trains;
	int err;
} refusals[] = {
	{ "a full queue", ROCE_MAX_STALLS + 1, -EAGAIN },
	{ "no route", 1, -EHOSTUNREACH },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, name);

static void refuse(struct wire_end *end, const struct refusal *refusal)
{
	end->refuse = refusal->trains;
	end->refusal = refusal->err;
}

/* The end has given up what it wanted to send. The peer may have asked again since. */
static bool has_given_up(struct wire *wire, struct wire_end *end)
{
	unsigned long until = jiffies + PATIENCE;

	while (READ_ONCE(end->refuse) && time_before(jiffies, until)) {
		wire_run(wire);
		usleep_range(500, 1000);
	}
	return !READ_ONCE(end->refuse);
}

static void a_nak_that_does_not_leave_is_not_counted(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	struct wire_end *b = &wire->ends[1];

	prepare(wire, IB_WR_RDMA_WRITE, 1);
	wire_fault(&wire->ends[0], 1, WIRE_DROP);
	refuse(b, test->param_value);
	post(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_ASSERT_TRUE(test, has_given_up(wire, b));
	finish(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_EQ(test, SEEN(b, out_of_seq_request), count_naks(wire, ROCE_AETH_NAK));
}

static void an_rnr_nak_that_does_not_leave_is_not_counted(struct kunit *test)
{
	struct wire *wire = new_unready_wire(test, 2, 1);
	struct wire_end *b = &wire->ends[1];

	set_timeout(wire, WIRE_TIMEOUT);
	refuse(b, test->param_value);
	post(wire, IB_WR_SEND, 1);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_RNR_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, b->refuse, 0);
	KUNIT_EXPECT_EQ(test, SEEN(b, send_rnr_err), count_naks(wire, ROCE_AETH_RNR_NAK));
}

static void packets_without_a_route_are_not_counted_as_sent_again(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire_end *a;
	struct wire *wire;

	setup.timeout = WIRE_TIMEOUT;
	setup.retry_count = 2;
	wire = wire_new(test, &setup);
	a = &wire->ends[0];
	a->refuse = U32_MAX;
	a->refusal = -EHOSTUNREACH;
	post(wire, IB_WR_RDMA_WRITE, 1);
	wire_expect(wire, a->send_cq, 1, IB_WC_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, a->sent, 0);
	KUNIT_EXPECT_EQ(test, SEEN(a, local_ack_timeout_err), 2);
	KUNIT_EXPECT_EQ(test, SEEN(a, retransmitted_packets), 0);
}

/* The peer asks for the first of them again, and then for the others. */
static void answers_are_dropped_together(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	struct wire_end *b = &wire->ends[1];

	refuse(b, test->param_value);
	post_reads(wire, 4, SIZE);
	let_all_arrive(wire, 4);
	KUNIT_ASSERT_TRUE(test, has_given_up(wire, b));
	finish_reads(wire, 4, SIZE);
}

static void a_part_of_a_dropped_answer_is_answered(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	struct roce_packet part = wire_request(wire, ROCE_READ_REQUEST, MTU);
	const struct wire_record *response;
	struct wire_end *b = &wire->ends[1];

	part.psn = roce_psn_add(part.psn, 1);
	part.va += MTU;
	prepare(wire, IB_WR_RDMA_READ, 1);
	refuse(b, test->param_value);
	post(wire, IB_WR_RDMA_READ, 1);
	KUNIT_ASSERT_TRUE(test, has_given_up(wire, b));
	KUNIT_ASSERT_EQ(test, wire_inject(&wire->ends[0], &part, NULL), 0);
	wire_run(wire);
	response = wire_find(wire, 1, ROCE_READ_RESPONSE_ONLY, 0);
	KUNIT_ASSERT_NOT_NULL(test, response);
	KUNIT_EXPECT_EQ(test, response->psn, part.psn);
	finish(wire, IB_WR_RDMA_READ, 1);
}

/* There are no timeouts. */
static void a_copy_of_a_read_that_is_not_answered_yet_changes_nothing(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct roce_packet copy = wire_request(wire, ROCE_READ_REQUEST, SIZE);
	struct wire_end *b = &wire->ends[1];

	prepare(wire, IB_WR_RDMA_READ, 1);
	/* An engine receives all packets before it answers. */
	roce_engine_claim(&b->qp->responder.engine);
	post(wire, IB_WR_RDMA_READ, 1);
	post(wire, IB_WR_RDMA_READ, 2);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, wire_inject(&wire->ends[0], &copy, NULL), 0);
	wire_run(wire);
	roce_engine_release(&b->qp->responder.engine);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
	finish(wire, IB_WR_RDMA_READ, 2);
	KUNIT_EXPECT_EQ(test, SEEN(b, duplicate_request), 1);
	KUNIT_EXPECT_EQ(test, b->sent, 2 * PACKETS);
}

/* There are no timeouts. */
static void a_late_copy_of_a_read_does_not_cancel_the_next_one(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet copy = wire_request(wire, ROCE_READ_REQUEST, SIZE);

	prepare(wire, IB_WR_RDMA_READ, 1);
	post(wire, IB_WR_RDMA_READ, 1);
	finish(wire, IB_WR_RDMA_READ, 1);
	prepare(wire, IB_WR_RDMA_READ, 2);
	roce_engine_claim(&b->qp->responder.engine);
	post(wire, IB_WR_RDMA_READ, 2);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, wire_inject(a, &copy, NULL), 0);
	wire_run(wire);
	roce_engine_release(&b->qp->responder.engine);
	finish(wire, IB_WR_RDMA_READ, 2);
	KUNIT_EXPECT_EQ(test, SEEN(b, duplicate_request), 1);
}

/* There are no timeouts. */
static void a_late_copy_does_not_cancel_an_acknowledgment(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet copy = wire_request(wire, ROCE_WRITE_FIRST, SIZE);

	copy.payload = MTU;
	roce_engine_claim(&b->qp->responder.engine);
	post(wire, IB_WR_RDMA_WRITE, 1);
	post(wire, IB_WR_RDMA_READ, 2);
	post(wire, IB_WR_RDMA_WRITE, 3);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, wire_inject(a, &copy, a->memory), 0);
	wire_run(wire);
	roce_engine_release(&b->qp->responder.engine);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, SEEN(b, duplicate_request), 1);
}

/* There are no timeouts. */
static void a_question_for_the_end_of_a_read_does_not_cancel_an_acknowledgment(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 end = roce_psn_add(a->qp->requester.limit_psn, PACKETS - 1);

	prepare(wire, IB_WR_RDMA_READ, 1);
	wire_fault(b, PACKETS - 1, WIRE_DROP);
	post(wire, IB_WR_RDMA_READ, 1);
	wire_run(wire);
	roce_engine_claim(&b->qp->responder.engine);
	post(wire, IB_WR_RDMA_READ, 2);
	wire_ask_for_end(wire, end, SIZE, 3);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 3, IB_WC_SUCCESS);
}

/* Their order makes parts of the train, which are charged for their own bytes only. */
static void duplicates_that_come_as_one_train_are_received_at_once(struct kunit *test)
{
	enum { DUPLICATES = 30 };
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet copy = wire_request(wire, ROCE_WRITE_ONLY, MTU);
	const u32 next = copy.psn;
	u64 at_once;
	u32 i;

	copy.payload = MTU;
	for (i = 0; i < DUPLICATES; i++) {
		copy.psn = roce_psn_add(next, i % 2 ? -2 : -1);
		KUNIT_ASSERT_EQ(test, wire_inject(a, &copy, a->memory), 0);
	}
	wire->merge = true;
	local_bh_disable();
	wire_deliver(wire);
	at_once = SEEN(b, duplicate_request);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, at_once, DUPLICATES);
}

static void modify(struct wire_end *end, enum ib_qp_state state,
		   struct ib_qp_attr *attr, int mask)
{
	attr->qp_state = state;
	wire_modify(end, attr, IB_QP_STATE | mask);
}

static void limits_that_change_in_sqd_hold_at_once(struct kunit *test)
{
	struct ib_qp_attr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);
	struct wire_setup setup = wire_defaults();
	struct wire_end *a, *b;
	struct wire *wire;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	setup.rnr_retry = 0;
	wire = wire_new(test, &setup);
	a = &wire->ends[0];
	b = &wire->ends[1];
	modify(a, IB_QPS_SQD, attr, 0);
	attr->rnr_retry = 7;
	modify(a, IB_QPS_SQD, attr, IB_QP_RNR_RETRY);
	modify(a, IB_QPS_RTS, attr, 0);
	post(wire, IB_WR_SEND, 1);
	wire_run(wire);
	KUNIT_EXPECT_GE(test, SEEN(b, out_of_buffer), 1);
	KUNIT_EXPECT_EQ(test, a->qp->state, IB_QPS_RTS);
	wire_receive(b, 101, WIRE_TARGET, SIZE);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
}

/* Late responses come, and the program of the requester says that it is done. */
static void responses_that_nobody_needs_any_more_break_nothing(struct kunit *test)
{
	const u32 *length = test->param_value;
	struct wire *wire = new_wire(test, 0);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet copy = wire_request(wire, ROCE_READ_REQUEST, *length);

	prepare(wire, IB_WR_RDMA_READ, 1);
	post(wire, IB_WR_RDMA_READ, 1);
	finish(wire, IB_WR_RDMA_READ, 1);
	b->refuse = 1;
	KUNIT_ASSERT_EQ(test, wire_inject(a, &copy, NULL), 0);
	wire_run(wire);
	KUNIT_ASSERT_EQ(test, b->refuse, 0);
	roce_mr_set_valid(b->mr, false);
	wire_receive(b, 2, 0, 0);
	wire_send(wire, IB_WR_SEND, 2, 0);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	wire_expect(wire, b->recv_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, SEEN(b, duplicate_request), 1);
	KUNIT_EXPECT_EQ(test, SEEN(b, resp_remote_access_errors), 0);
	KUNIT_EXPECT_EQ(test, b->qp->state, IB_QPS_RTS);
	roce_mr_set_valid(b->mr, true);
}

/* It was fetched, and waits, when the maximum is set to 0. */
static void a_read_that_is_not_allowed_any_more_fails(struct kunit *test)
{
	struct ib_qp_attr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);
	struct wire_setup setup = wire_defaults();
	struct wire_end *a;
	struct wire *wire;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	setup.reads = 1;
	wire = wire_new(test, &setup);
	a = &wire->ends[0];
	post_reads(wire, 2, 100);
	wire_start(wire);
	modify(a, IB_QPS_SQD, attr, 0);
	attr->max_rd_atomic = 0;
	modify(a, IB_QPS_SQD, attr, IB_QP_MAX_QP_RD_ATOMIC);
	modify(a, IB_QPS_RTS, attr, 0);
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 1, IB_WC_LOC_QP_OP_ERR);
}

/* Many requests, in both directions, over a bad wire */
static void messages_survive_a_bad_wire_in_both_directions(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	u32 i, end, n;

	wire_forget(wire);
	for (end = 0; end < 2; end++)
		for (n = 0; n < 8; n++)
			wire_fault(&wire->ends[end], 3 + 5 * n,
				   WIRE_DROP + (n + end) % 4);
	for (end = 0; end < 2; end++)
		fixture_fill(wire->ends[end].memory, 20 * 1024, end + 1);
	for (i = 0; i < 20; i++) {
		struct wire_op op = {
			.opcode = IB_WR_RDMA_WRITE, .wr_id = i, .length = 1000,
			.local = i * 1024, .remote = WIRE_TARGET + i * 1024,
		};

		for (end = 0; end < 2; end++)
			KUNIT_ASSERT_EQ(test, 0, wire_post(&wire->ends[end], &op));
	}
	for (end = 0; end < 2; end++) {
		for (i = 0; i < 20; i++) {
			wire_expect(wire, wire->ends[end].send_cq, i, IB_WC_SUCCESS);
			KUNIT_EXPECT_EQ(test, 0,
					memcmp(wire->ends[end].memory + i * 1024,
					       wire->ends[!end].memory + WIRE_TARGET +
					       i * 1024, 1000));
		}
	}
}

KUNIT_ARRAY_PARAM_DESC(way, ways, name);

/* Of a READ: all of it, and the first response */
static const u32 parts[] = { SIZE, MTU };

static void describe_part(const u32 *length, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "%u bytes of %u", *length, SIZE);
}

KUNIT_ARRAY_PARAM(part, parts, describe_part);

static struct kunit_case recovery_cases[] = {
	KUNIT_CASE_PARAM(a_lost_packet_is_sent_again, way_gen_params),
	KUNIT_CASE_PARAM(a_doubled_packet_is_executed_once, way_gen_params),
	KUNIT_CASE_PARAM(packets_may_overtake_each_other, way_gen_params),
	KUNIT_CASE_PARAM(a_damaged_packet_is_dropped_and_sent_again,
			 way_gen_params),
	KUNIT_CASE(a_damaged_packet_is_counted),
	KUNIT_CASE_PARAM(a_lost_last_packet_is_noticed_by_timeout, way_gen_params),
	KUNIT_CASE_PARAM(a_lost_acknowledgment_is_asked_for_again,
			 way_gen_params),
	KUNIT_CASE(a_repeated_write_writes_nothing),
	KUNIT_CASE(a_request_is_found_by_its_psn),
	KUNIT_CASE(there_is_one_nak_for_a_gap),
	KUNIT_CASE(sending_resumes_at_the_gap),
	KUNIT_CASE(a_lost_nak_is_replaced_by_a_timeout),
	KUNIT_CASE(two_gaps_are_filled),
	KUNIT_CASE(a_lost_response_is_asked_for_again),
	KUNIT_CASE(a_doubled_response_is_taken_once),
	KUNIT_CASE(responses_may_overtake_each_other),
	KUNIT_CASE(a_damaged_response_is_asked_for_again),
	KUNIT_CASE(a_read_resumes_at_the_first_missing_response),
	KUNIT_CASE(a_lost_last_response_is_noticed_by_timeout),
	KUNIT_CASE(a_lost_read_request_is_noticed_by_timeout),
	KUNIT_CASE(an_acknowledgment_behind_a_read_implies_a_nak),
	KUNIT_CASE(a_long_read_is_resumed_in_the_pieces_it_had),
	KUNIT_CASE(a_duplicate_is_acknowledged_up_to_the_next_read),
	KUNIT_CASE(a_question_for_the_end_of_a_read_does_not_cancel_an_acknowledgment),
	KUNIT_CASE(duplicates_that_come_as_one_train_are_received_at_once),
	KUNIT_CASE_PARAM(an_unready_receiver_is_waited_for, way_gen_params),
	KUNIT_CASE(an_rnr_nak_is_obeyed_for_its_delay),
	KUNIT_CASE(the_end_of_another_wait_does_not_end_an_rnr_delay),
	KUNIT_CASE(the_first_packet_after_an_rnr_delay_may_be_lost),
	KUNIT_CASE(the_first_packet_after_two_waits_may_be_lost),
	KUNIT_CASE(with_sack_the_first_packet_after_an_rnr_delay_may_be_lost),
	KUNIT_CASE(a_packet_that_was_alone_may_be_lost_after_an_rnr_delay),
	KUNIT_CASE(a_sequence_nak_does_not_shorten_an_rnr_delay),
	KUNIT_CASE(an_rnr_nak_is_obeyed_while_memory_is_awaited),
	KUNIT_CASE(rnr_naks_run_out),
	KUNIT_CASE(rnr_retry_7_means_no_limit),
	KUNIT_CASE(an_rnr_delay_is_no_timeout),
	KUNIT_CASE_PARAM(a_malformed_request_is_refused, malformation_gen_params),
	KUNIT_CASE_PARAM(a_request_that_was_damaged_is_not_refused,
			 malformation_gen_params),
	KUNIT_CASE_PARAM(a_malformed_request_that_is_not_expected_is_dropped,
			 malformation_gen_params),
	KUNIT_CASE(retries_run_out_and_the_rest_is_flushed),
	KUNIT_CASE(a_netdev_that_is_full_is_waited_for),
	KUNIT_CASE(a_netdev_that_gets_full_amid_a_train_is_waited_for),
	KUNIT_CASE(an_acknowledgment_of_stalled_packets_ends_the_stall),
	KUNIT_CASE(a_delayed_nak_is_for_the_packet_missing_when_it_is_sent),
	KUNIT_CASE(waiting_acknowledgments_are_merged),
	KUNIT_CASE(reads_that_are_posted_together_travel_together),
	KUNIT_CASE(short_reads_are_answered_in_one_train),
	KUNIT_CASE(the_unsent_part_of_a_train_of_reads_follows),
	KUNIT_CASE(the_unsent_part_of_a_train_of_responses_follows),
	KUNIT_CASE(the_unsent_part_of_repeated_reads_follows),
	KUNIT_CASE(a_read_that_is_lost_from_a_train_is_sent_again),
	KUNIT_CASE(a_netdev_that_stays_full_is_like_a_loss),
	KUNIT_CASE(answers_that_a_netdev_refuses_are_asked_for_again),
	KUNIT_CASE_PARAM(a_nak_that_does_not_leave_is_not_counted, refusal_gen_params),
	KUNIT_CASE_PARAM(an_rnr_nak_that_does_not_leave_is_not_counted,
			 refusal_gen_params),
	KUNIT_CASE(packets_without_a_route_are_not_counted_as_sent_again),
	KUNIT_CASE_PARAM(answers_are_dropped_together, refusal_gen_params),
	KUNIT_CASE_PARAM(a_part_of_a_dropped_answer_is_answered, refusal_gen_params),
	KUNIT_CASE(a_copy_of_a_read_that_is_not_answered_yet_changes_nothing),
	KUNIT_CASE(a_late_copy_of_a_read_does_not_cancel_the_next_one),
	KUNIT_CASE(a_late_copy_does_not_cancel_an_acknowledgment),
	KUNIT_CASE(limits_that_change_in_sqd_hold_at_once),
	KUNIT_CASE_PARAM(responses_that_nobody_needs_any_more_break_nothing, part_gen_params),
	KUNIT_CASE(a_read_that_is_not_allowed_any_more_fails),
	KUNIT_CASE(messages_survive_a_bad_wire_in_both_directions),
	{}
};

static struct kunit_suite recovery_suite = {
	.name = "roce_recovery",
	.test_cases = recovery_cases,
};

kunit_test_suite(recovery_suite);
