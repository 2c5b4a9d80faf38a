// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The unreliable connection: messages arrive whole, in order and once, or not at all.
 * Nothing reports losses, and no fault of one side stops the other side's QP.
 * (transport_test.c has messages over a good wire.)
 */
#include "wire_fake.h"

#define MTU	256
#define PACKETS	3
#define SIZE	((PACKETS - 1) * MTU + 7)
#define PLACE(i) (4096 * ((i) + 1))

static struct wire *new_wire(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();

	setup.type = IB_QPT_UC;
	return wire_new(test, &setup);
}

static void post(struct wire *wire, enum ib_wr_opcode opcode, u32 i)
{
	struct wire_op op = {
		.opcode = opcode, .wr_id = i, .length = SIZE,
		.local = PLACE(i), .remote = PLACE(i),
	};

	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[0], &op), 0);
}

static bool arrived(struct wire *wire, u32 i, u32 place)
{
	return !memcmp(wire->ends[0].memory + PLACE(i),
		       wire->ends[1].memory + PLACE(place), SIZE);
}

static bool nothing_received(struct wire *wire)
{
	struct ib_wc wc;

	wire_run(wire);
	return !roce_poll_cq(&wire->ends[1].recv_cq->ibcq, 1, &wc);
}

static void a_request_completes_when_it_is_sent(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct ib_wc wc;

	post(wire, IB_WR_RDMA_WRITE, 0);
	wire_start(wire);
	KUNIT_ASSERT_EQ(test, 1,
			roce_poll_cq(&wire->ends[0].send_cq->ibcq, 1, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RDMA_WRITE);
}

static void no_acknowledgment_is_sent_or_requested(struct kunit *test)
{
	static const u8 opcodes[] = { 0x26, 0x27, 0x28, 0x24 };
	struct wire_op op = { .opcode = IB_WR_SEND, .length = 8 };
	struct wire *wire = new_wire(test);
	u32 i;

	wire_receive(&wire->ends[1], 0, 0, SIZE);
	post(wire, IB_WR_RDMA_WRITE, 0);
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &op), 0);
	wire_run(wire);
	KUNIT_ASSERT_EQ(test, wire->logged, ARRAY_SIZE(opcodes));
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		KUNIT_EXPECT_EQ(test, wire->log[i].opcode, opcodes[i]);
		KUNIT_EXPECT_FALSE(test, wire->log[i].ack_request);
		KUNIT_EXPECT_EQ(test, wire->log[i].psn,
				roce_psn_add(0xfffffe, i));
	}
}

static void there_is_no_window(struct kunit *test)
{
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = 400 * MTU,
	};
	struct wire *wire = new_wire(test);
	int i;

	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &op), 0);
	for (i = 0; i < 100 && wire->ends[0].sent < 400; i++)
		wire_start(wire);
	KUNIT_EXPECT_EQ(test, wire->ends[0].sent, 400);
}

/* The receive of the lost message is used for the next one. */
static void a_lost_packet_costs_its_message(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	u32 lost;

	for (lost = 0; lost < PACKETS; lost++) {
		fixture_fill(wire->ends[0].memory, PLACE(3), lost);
		memset(wire->ends[1].memory, 0, PLACE(3));
		wire_forget(wire);
		wire_fault(&wire->ends[0], PACKETS + lost, WIRE_DROP);
		wire_receive(&wire->ends[1], 10, PLACE(0), SIZE);
		wire_receive(&wire->ends[1], 11, PLACE(1), SIZE);
		post(wire, IB_WR_SEND, 0);
		post(wire, IB_WR_SEND, 1);
		post(wire, IB_WR_SEND, 2);
		wire_expect(wire, wire->ends[1].recv_cq, 10, IB_WC_SUCCESS);
		wire_expect(wire, wire->ends[1].recv_cq, 11, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, arrived(wire, 0, 0));
		KUNIT_EXPECT_TRUE(test, arrived(wire, 2, 1));
	}
	KUNIT_EXPECT_EQ(test, PACKETS,
			fixture_count(wire->ends[1].dev, out_of_sequence));
}

static void an_incomplete_write_is_not_reported(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	u32 lost;

	wire_receive(&wire->ends[1], 10, 0, 0);
	for (lost = 0; lost < PACKETS; lost++) {
		wire_forget(wire);
		wire_fault(&wire->ends[0], lost, WIRE_DROP);
		post(wire, IB_WR_RDMA_WRITE_WITH_IMM, 0);
		KUNIT_EXPECT_TRUE(test, nothing_received(wire));
	}
	post(wire, IB_WR_RDMA_WRITE_WITH_IMM, 0);
	wire_expect(wire, wire->ends[1].recv_cq, 10, IB_WC_SUCCESS);
}

static void halves_of_two_messages_are_no_message(struct kunit *test)
{
	struct wire *wire = new_wire(test);

	wire_receive(&wire->ends[1], 10, PLACE(5), SIZE);
	wire_fault(&wire->ends[0], PACKETS - 1, WIRE_DROP);
	wire_fault(&wire->ends[0], PACKETS, WIRE_DROP);
	post(wire, IB_WR_SEND, 0);
	post(wire, IB_WR_SEND, 1);
	KUNIT_EXPECT_TRUE(test, nothing_received(wire));
	KUNIT_EXPECT_EQ(test, 2,
			fixture_count(wire->ends[1].dev, rx_dropped_incomplete));
	post(wire, IB_WR_SEND, 2);
	wire_expect(wire, wire->ends[1].recv_cq, 10, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, arrived(wire, 2, 5));
}

static void a_message_that_breaks_off_is_dropped(struct kunit *test)
{
	struct roce_packet first = {
		.opcode = ROCE_SERVICE_UC | ROCE_SEND_FIRST, .payload = MTU,
		.psn = 0xfffffe,
	};
	struct roce_packet only = {
		.opcode = ROCE_SERVICE_UC | ROCE_SEND_ONLY, .payload = 8,
		.psn = 0xffffff,
	};
	struct wire *wire = new_wire(test);
	u8 *bytes = kunit_kmalloc(test, MTU, GFP_KERNEL);
	struct ib_wc wc;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	fixture_fill(bytes, MTU, 1);
	wire_receive(&wire->ends[1], 10, PLACE(0), SIZE);
	KUNIT_ASSERT_EQ(test, wire_inject(&wire->ends[0], &first, bytes), 0);
	KUNIT_ASSERT_EQ(test, wire_inject(&wire->ends[0], &only, bytes), 0);
	KUNIT_ASSERT_EQ(test, wire_wait(wire, wire->ends[1].recv_cq, &wc, 1), 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 8);
}

static void without_a_receive_a_message_is_dropped(struct kunit *test)
{
	struct wire *wire = new_wire(test);

	post(wire, IB_WR_SEND, 0);
	KUNIT_EXPECT_TRUE(test, nothing_received(wire));
	KUNIT_EXPECT_EQ(test, 1,
			fixture_count(wire->ends[1].dev, rx_dropped_no_receive));
	wire_receive(&wire->ends[1], 10, PLACE(1), SIZE);
	post(wire, IB_WR_SEND, 1);
	wire_expect(wire, wire->ends[1].recv_cq, 10, IB_WC_SUCCESS);
}

static void a_message_that_is_too_long_is_dropped(struct kunit *test)
{
	struct wire_op op = { .opcode = IB_WR_SEND, .length = 100 };
	struct wire *wire = new_wire(test);

	wire_receive(&wire->ends[1], 10, PLACE(1), 100);
	post(wire, IB_WR_SEND, 0);
	KUNIT_EXPECT_TRUE(test, nothing_received(wire));
	KUNIT_EXPECT_EQ(test, 1,
			fixture_count(wire->ends[1].dev, rx_dropped_length));
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &op), 0);
	wire_expect(wire, wire->ends[1].recv_cq, 10, IB_WC_SUCCESS);
}

static void a_write_that_is_not_allowed_is_dropped(struct kunit *test)
{
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = SIZE, .remote = PLACE(1),
		.bad_rkey = true,
	};
	struct wire *wire = new_wire(test);

	memset(wire->ends[0].memory, 0x11, SIZE);
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &op), 0);
	wire_run(wire);
	KUNIT_EXPECT_NULL(test, memchr_inv(wire->ends[1].memory + PLACE(1), 0,
					   SIZE));
	KUNIT_EXPECT_EQ(test, wire->ends[1].sent, 0);
	KUNIT_EXPECT_EQ(test, 1, fixture_count(wire->ends[1].dev,
					       resp_remote_access_errors));
	KUNIT_EXPECT_EQ(test, wire->ends[1].qp->state, IB_QPS_RTS);
	post(wire, IB_WR_RDMA_WRITE, 0);
	wire_run(wire);
	KUNIT_EXPECT_TRUE(test, arrived(wire, 0, 0));
}

static void packets_of_another_service_are_dropped(struct kunit *test)
{
	static const u8 opcodes[] = {
		ROCE_SERVICE_RC | ROCE_SEND_ONLY,
		ROCE_SERVICE_RC | ROCE_READ_REQUEST,
		ROCE_SERVICE_RC | ROCE_FETCH_ADD,
		ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE,
		ROCE_SERVICE_UD | ROCE_SEND_ONLY,
	};
	struct wire *wire = new_wire(test);
	u32 i;

	wire_receive(&wire->ends[1], 10, 0, SIZE);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct roce_packet packet = {
			.opcode = opcodes[i], .psn = 0xfffffe,
		};

		KUNIT_ASSERT_EQ(test, 0,
				wire_inject(&wire->ends[0], &packet, NULL));
	}
	KUNIT_EXPECT_TRUE(test, nothing_received(wire));
	KUNIT_EXPECT_EQ(test, wire->ends[1].sent, 0);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(opcodes),
			fixture_count(wire->ends[1].dev, rx_dropped_opcode));
}

static void a_netdev_that_is_full_is_waited_for(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	u32 i;

	wire->ends[0].refuse = ROCE_MAX_STALLS;
	for (i = 0; i < 4; i++) {
		wire_receive(&wire->ends[1], 10 + i, PLACE(i), SIZE);
		post(wire, IB_WR_SEND, i);
	}
	for (i = 0; i < 4; i++)
		wire_expect(wire, wire->ends[1].recv_cq, 10 + i, IB_WC_SUCCESS);
	for (i = 0; i < 4; i++)
		wire_expect(wire, wire->ends[0].send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wire->ends[0].sent, 4 * PACKETS);
}

static void packets_are_dropped_if_the_netdev_stays_full(struct kunit *test)
{
	struct wire *wire = new_wire(test);

	wire->ends[0].refuse = U32_MAX;
	post(wire, IB_WR_SEND, 0);
	wire_expect(wire, wire->ends[0].send_cq, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wire->ends[0].sent, 0);
	KUNIT_EXPECT_GE(test, fixture_count(wire->ends[0].dev,
					    tx_dropped_queue_full), 1);
}

/* Completions of one run of the requester, whose engine is claimed */
static u32 completions_of_one_step(struct wire_end *end)
{
	struct roce_engine *engine = &end->qp->requester.engine;
	struct ib_wc wc;
	u32 count = 0;

	local_bh_disable();
	rcu_read_lock();
	engine->ops->advance(engine);
	rcu_read_unlock();
	local_bh_enable();
	while (roce_poll_cq(&end->send_cq->ibcq, 1, &wc))
		count++;
	return count;
}

static void a_long_send_queue_is_flushed_in_pieces(struct kunit *test)
{
	struct wire_op op = {
		.opcode = IB_WR_SEND, .length = 8, .bad_lkey = true,
	};
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0];
	u32 i, count = 0, most = 0, steps = 0;

	roce_engine_claim(&a->qp->requester.engine);
	for (i = 0; i < WIRE_QUEUE; i++)
		KUNIT_EXPECT_EQ(test, wire_post(a, &op), 0);
	while (count < WIRE_QUEUE && steps++ < WIRE_QUEUE) {
		u32 some = completions_of_one_step(a);

		count += some;
		most = max(most, some);
	}
	roce_engine_release(&a->qp->requester.engine);
	KUNIT_EXPECT_EQ(test, count, WIRE_QUEUE);
	KUNIT_EXPECT_LE(test, most, 64);
}

/* The program may have seen the error, and may want to continue. */
static void a_send_queue_is_empty_when_it_works_again(struct kunit *test)
{
	struct wire_op op = {
		.opcode = IB_WR_SEND, .length = 8, .bad_lkey = true,
	};
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0];
	struct ib_wc wc;
	u32 i, count;

	roce_engine_claim(&a->qp->requester.engine);
	for (i = 0; i < WIRE_QUEUE; i++)
		KUNIT_EXPECT_EQ(test, wire_post(a, &op), 0);
	count = completions_of_one_step(a);
	KUNIT_EXPECT_EQ(test, a->qp->state, IB_QPS_SQE);
	roce_requester_flush(a->qp);
	while (roce_poll_cq(&a->send_cq->ibcq, 1, &wc))
		count++;
	roce_engine_release(&a->qp->requester.engine);
	KUNIT_EXPECT_EQ(test, count, WIRE_QUEUE);
}

static void a_local_error_stops_the_send_queue_only(struct kunit *test)
{
	struct wire_op bad = {
		.opcode = IB_WR_SEND, .wr_id = 1, .length = 8, .bad_lkey = true,
	};
	struct ib_qp_attr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0];

	KUNIT_ASSERT_NOT_NULL(test, attr);
	wire_receive(&wire->ends[1], 10, PLACE(0), SIZE);
	local_bh_disable();
	post(wire, IB_WR_SEND, 0);
	KUNIT_EXPECT_EQ(test, wire_post(a, &bad), 0);
	post(wire, IB_WR_SEND, 2);
	local_bh_enable();
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 1, IB_WC_LOC_PROT_ERR);
	wire_expect(wire, a->send_cq, 2, IB_WC_WR_FLUSH_ERR);
	wire_expect(wire, wire->ends[1].recv_cq, 10, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, a->qp->state, IB_QPS_SQE);

	attr->qp_state = IB_QPS_RTS;
	attr->cur_qp_state = IB_QPS_SQE;
	wire_modify(a, attr, IB_QP_STATE | IB_QP_CUR_STATE);
	wire_receive(&wire->ends[1], 11, PLACE(3), SIZE);
	post(wire, IB_WR_SEND, 3);
	wire_expect(wire, a->send_cq, 3, IB_WC_SUCCESS);
	wire_expect(wire, wire->ends[1].recv_cq, 11, IB_WC_SUCCESS);
}

/* More than one call flushes; the program sets RTS before the rest is flushed. */
static void a_send_queue_goes_on_while_it_is_being_flushed(struct kunit *test)
{
	struct wire_op bad = {
		.opcode = IB_WR_SEND, .wr_id = 0, .length = 8, .bad_lkey = true,
	};
	struct wire_op op = { .opcode = IB_WR_SEND, .length = 8 };
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0];
	struct roce_engine *engine = &a->qp->requester.engine;
	u32 flushed, i;

	KUNIT_EXPECT_EQ(test, wire_post(a, &bad), 0);
	wire_expect(wire, a->send_cq, 0, IB_WC_LOC_PROT_ERR);
	roce_engine_claim(engine);
	for (op.wr_id = 1; op.wr_id <= 100; op.wr_id++)
		KUNIT_EXPECT_EQ(test, wire_post(a, &op), 0);
	local_bh_disable();
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, engine->ops->advance(engine));
	rcu_read_unlock();
	local_bh_enable();
	flushed = a->qp->requester.completed - 1;
	KUNIT_EXPECT_LT(test, flushed, 100);
	/* Like modify_qp with a claimed engine */
	WRITE_ONCE(a->qp->state, IB_QPS_RTS);
	roce_engine_release(engine);
	for (i = 1; i <= 100; i++)
		wire_expect(wire, a->send_cq, i, i <= flushed ?
			    IB_WC_WR_FLUSH_ERR : IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, a->sent, 100 - flushed);
}

/* Later messages of the train may fail without being sent. */
static void sent_messages_complete_before_the_rest_of_their_train(struct kunit *test)
{
	struct wire_op op = { .opcode = IB_WR_RDMA_WRITE, .length = 8 };
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0];
	struct ib_wc wc[4];

	local_bh_disable();
	for (op.wr_id = 0; op.wr_id < 4; op.wr_id++)
		KUNIT_EXPECT_EQ(test, wire_post(a, &op), 0);
	a->room = 2;
	wire_start(wire);
	a->refuse = 20;
	KUNIT_EXPECT_EQ(test, 2, roce_poll_cq(&a->send_cq->ibcq, 4, wc));
	local_bh_enable();
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, a->sent, 4);
}

static void requests_with_responses_cannot_be_posted(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP,
		IB_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct wire *wire = new_wire(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct wire_op op = { .opcode = opcodes[i], .length = 8 };

		KUNIT_EXPECT_EQ(test, wire_post(&wire->ends[0], &op),
				-EOPNOTSUPP);
	}
}

static struct kunit_case uc_cases[] = {
	KUNIT_CASE(a_request_completes_when_it_is_sent),
	KUNIT_CASE(no_acknowledgment_is_sent_or_requested),
	KUNIT_CASE(there_is_no_window),
	KUNIT_CASE(a_lost_packet_costs_its_message),
	KUNIT_CASE(an_incomplete_write_is_not_reported),
	KUNIT_CASE(halves_of_two_messages_are_no_message),
	KUNIT_CASE(a_message_that_breaks_off_is_dropped),
	KUNIT_CASE(without_a_receive_a_message_is_dropped),
	KUNIT_CASE(a_message_that_is_too_long_is_dropped),
	KUNIT_CASE(a_write_that_is_not_allowed_is_dropped),
	KUNIT_CASE(packets_of_another_service_are_dropped),
	KUNIT_CASE(a_netdev_that_is_full_is_waited_for),
	KUNIT_CASE(packets_are_dropped_if_the_netdev_stays_full),
	KUNIT_CASE(a_long_send_queue_is_flushed_in_pieces),
	KUNIT_CASE(a_send_queue_is_empty_when_it_works_again),
	KUNIT_CASE(a_local_error_stops_the_send_queue_only),
	KUNIT_CASE(a_send_queue_goes_on_while_it_is_being_flushed),
	KUNIT_CASE(sent_messages_complete_before_the_rest_of_their_train),
	KUNIT_CASE(requests_with_responses_cannot_be_posted),
	{}
};

static struct kunit_suite uc_suite = {
	.name = "roce_uc",
	.test_cases = uc_cases,
};

kunit_test_suite(uc_suite);
