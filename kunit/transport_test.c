// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requester, responder and completer together, over a wire without faults: messages
 * arrive once, at the right place, and complete on both sides.
 */
#include "wire_fake.h"
#include "xmit.h"

#define MTU	256
#define SOURCE	64

/* An operation, and how it is sent */
static const struct way {
	const char *name;
	enum ib_wr_opcode opcode;
	bool ipv6;
	bool whole_trains;
	enum ib_qp_type type;
} ways[] = {
	{ "SEND, packets", IB_WR_SEND, false, false, IB_QPT_RC },
	{ "SEND, trains", IB_WR_SEND, true, true, IB_QPT_RC },
	{ "SEND with immediate, packets", IB_WR_SEND_WITH_IMM, true, false, IB_QPT_RC },
	{ "SEND with immediate, trains", IB_WR_SEND_WITH_IMM, false, true, IB_QPT_RC },
	{ "WRITE, packets", IB_WR_RDMA_WRITE, false, false, IB_QPT_RC },
	{ "WRITE, trains", IB_WR_RDMA_WRITE, true, true, IB_QPT_RC },
	{ "WRITE with immediate, packets", IB_WR_RDMA_WRITE_WITH_IMM, true, false, IB_QPT_RC },
	{ "WRITE with immediate, trains", IB_WR_RDMA_WRITE_WITH_IMM, false, true, IB_QPT_RC },
	{ "READ, packets", IB_WR_RDMA_READ, false, false, IB_QPT_RC },
	{ "READ, trains", IB_WR_RDMA_READ, true, true, IB_QPT_RC },
	{ "SEND over UC", IB_WR_SEND, false, false, IB_QPT_UC },
	{ "SEND with immediate over UC, trains", IB_WR_SEND_WITH_IMM, true, true, IB_QPT_UC },
	{ "WRITE over UC, trains", IB_WR_RDMA_WRITE, false, true, IB_QPT_UC },
	{ "WRITE with immediate over UC", IB_WR_RDMA_WRITE_WITH_IMM, true, false, IB_QPT_UC },
};

static const u32 sizes[] = {
	0, 1, 2, 3, 4, MTU - 1, MTU, MTU + 1, 2 * MTU, 5 * MTU + 2, 100000
};

static bool is_send(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM;
}

static bool has_immediate(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND_WITH_IMM ||
	       opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static enum ib_wc_opcode completion(enum ib_wr_opcode opcode)
{
	if (is_send(opcode))
		return IB_WC_SEND;
	return opcode == IB_WR_RDMA_READ ? IB_WC_RDMA_READ : IB_WC_RDMA_WRITE;
}

static void check_receive(struct wire *wire, enum ib_wr_opcode opcode, u32 size)
{
	struct wire_end *b = &wire->ends[1];
	struct kunit *test = wire->test;
	struct ib_wc wc = {};

	KUNIT_ASSERT_EQ(test, wire_wait(wire, b->recv_cq, &wc, 1), 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 900 + size);
	KUNIT_EXPECT_EQ(test, wc.byte_len, size);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, &b->qp->ibqp);
	KUNIT_EXPECT_EQ(test, wc.src_qp, wire->ends[0].qp->ibqp.qp_num);
	KUNIT_EXPECT_EQ(test, wc.opcode, is_send(opcode) ? IB_WC_RECV :
						IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, has_immediate(opcode) ?
						IB_WC_WITH_IMM : 0);
	if (has_immediate(opcode))
		KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), WIRE_IMMEDIATE);
}

static void check_send(struct wire *wire, enum ib_wr_opcode opcode, u32 size)
{
	struct wire_end *a = &wire->ends[0];
	struct kunit *test = wire->test;
	struct ib_wc wc = {};

	KUNIT_ASSERT_EQ(test, wire_wait(wire, a->send_cq, &wc, 1), 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.wr_id, size);
	KUNIT_EXPECT_EQ(test, wc.opcode, completion(opcode));
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, &a->qp->ibqp);
}

/* Check that exactly @size bytes have changed, to the right values. */
static void check_bytes(struct kunit *test, const u8 *from, u8 *to, u32 size)
{
	KUNIT_EXPECT_EQ(test, memcmp(from, to + WIRE_TARGET, size), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(to + WIRE_TARGET - 16, 0xee, 16));
	KUNIT_EXPECT_NULL(test, memchr_inv(to + WIRE_TARGET + size, 0xee, 16));
}

static void transfer(struct wire *wire, enum ib_wr_opcode opcode, u32 size)
{
	bool read = opcode == IB_WR_RDMA_READ;
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u8 *from = read ? b->memory : a->memory, *to = read ? a->memory : b->memory;
	struct wire_op op = {
		.opcode = opcode, .wr_id = size, .length = size,
		.local = read ? WIRE_TARGET : SOURCE,
		.remote = read ? SOURCE : WIRE_TARGET,
	};

	fixture_fill(from + SOURCE, size, size);
	memset(to + WIRE_TARGET - 16, 0xee, size + 32);
	if (is_send(opcode))
		wire_receive(b, 900 + size, WIRE_TARGET, size + 10);
	else if (has_immediate(opcode))
		wire_receive(b, 900 + size, 0, 0);

	KUNIT_ASSERT_EQ(wire->test, wire_post(a, &op), 0);
	check_send(wire, opcode, size);
	if (is_send(opcode) || has_immediate(opcode))
		check_receive(wire, opcode, size);
	/* A UC request completes before it has arrived. */
	wire_run(wire);
	check_bytes(wire->test, from + SOURCE, to, size);
}

static void bytes_and_completions_arrive(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct wire_setup setup = wire_defaults();
	struct wire *wire;
	int i, end;

	setup.ipv6 = way->ipv6;
	setup.type = way->type;
	setup.whole_trains = way->whole_trains;
	wire = wire_new(test, &setup);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		transfer(wire, way->opcode, sizes[i]);
	for (end = 0; end < 2; end++) {
		struct roce_device *dev = wire->ends[end].dev;

		KUNIT_EXPECT_EQ(test, fixture_count(dev, retransmitted_packets), 0);
		KUNIT_EXPECT_EQ(test, fixture_count(dev, duplicate_request), 0);
		KUNIT_EXPECT_EQ(test, fixture_count(dev, out_of_sequence), 0);
		KUNIT_EXPECT_EQ(test, 0,
				fixture_count(dev, rx_dropped_unexpected_ack));
	}
}

static void every_path_mtu_works(struct kunit *test)
{
	static const enum ib_mtu mtus[] = {
		IB_MTU_256, IB_MTU_512, IB_MTU_1024, IB_MTU_2048, IB_MTU_4096
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(mtus); i++) {
		struct wire_setup setup = wire_defaults();
		int bytes = ib_mtu_enum_to_int(mtus[i]);
		struct wire *wire;

		setup.mtu = mtus[i];
		setup.whole_trains = i % 2;
		wire = wire_new(test, &setup);
		transfer(wire, IB_WR_RDMA_WRITE, 3 * bytes + 5);
		KUNIT_EXPECT_EQ(test, wire->ends[0].sent, 4);
		transfer(wire, IB_WR_SEND, 2 * bytes);
		transfer(wire, IB_WR_RDMA_READ, bytes + 1);
	}
}

static void memory_may_be_scattered(struct kunit *test)
{
	static const u32 lengths[] = { 3, 255, 256, 257, 1000, 5000 };
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct wire_op op = {
			.opcode = IB_WR_RDMA_WRITE, .wr_id = i, .sges = 4,
			.length = lengths[i], .remote = WIRE_TARGET,
		};

		fixture_fill(a->memory, lengths[i], i);
		KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, memcmp(a->memory, b->memory + WIRE_TARGET,
					     lengths[i]), 0);

		op.opcode = IB_WR_RDMA_READ;
		op.remote = WIRE_TARGET;
		op.local = WIRE_TARGET;
		KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, memcmp(a->memory, a->memory + WIRE_TARGET,
					     lengths[i]), 0);
	}
}

static void inline_data_is_taken_when_it_is_posted(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = WIRE_INLINE, .sges = 2,
		.remote = WIRE_TARGET, .flags = IB_SEND_INLINE, .bad_lkey = true,
	};
	u8 copy[WIRE_INLINE];

	fixture_fill(a->memory, WIRE_INLINE, 1);
	memcpy(copy, a->memory, WIRE_INLINE);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, wire_post(a, &op), 0);
	memset(a->memory, 0, WIRE_INLINE);
	local_bh_enable();
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(copy, b->memory + WIRE_TARGET, WIRE_INLINE), 0);
}

static void a_message_looks_as_the_iba_says(struct kunit *test)
{
	static const u8 opcodes[] = {
		ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE, ROCE_WRITE_MIDDLE,
		ROCE_WRITE_LAST_IMMEDIATE
	};
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	int i;

	transfer(wire, IB_WR_RDMA_WRITE_WITH_IMM, 3 * MTU + 1);
	KUNIT_ASSERT_EQ(test, wire->ends[0].sent, 4);
	for (i = 0; i < 4; i++) {
		const struct wire_record *record = &wire->log[i];

		KUNIT_EXPECT_EQ(test, record->from, 0);
		KUNIT_EXPECT_EQ(test, record->opcode, opcodes[i]);
		KUNIT_EXPECT_EQ(test, record->psn, (0xfffffe + i) & 0xffffff);
		KUNIT_EXPECT_EQ(test, record->ack_request, i == 3);
	}
	KUNIT_EXPECT_EQ(test, wire->log[0].length, 3 * MTU + 1);

	KUNIT_ASSERT_EQ(test, wire->logged, 5);
	KUNIT_EXPECT_EQ(test, wire->log[4].opcode, ROCE_ACKNOWLEDGE);
	KUNIT_EXPECT_EQ(test, wire->log[4].psn, 1);
	KUNIT_EXPECT_EQ(test, wire->log[4].syndrome, 0x1f);
	KUNIT_EXPECT_EQ(test, wire->log[4].msn, 1);
}

static void a_read_looks_as_the_iba_says(struct kunit *test)
{
	static const u8 opcodes[] = {
		ROCE_READ_REQUEST, ROCE_READ_RESPONSE_FIRST,
		ROCE_READ_RESPONSE_MIDDLE, ROCE_READ_RESPONSE_LAST
	};
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	int i;

	transfer(wire, IB_WR_RDMA_READ, 2 * MTU + 1);
	KUNIT_ASSERT_EQ(test, wire->logged, 4);
	for (i = 0; i < 4; i++) {
		u32 psn = 0xfffffe + (i ? i - 1 : 0);

		KUNIT_EXPECT_EQ(test, wire->log[i].opcode, opcodes[i]);
		KUNIT_EXPECT_EQ(test, wire->log[i].psn, psn & 0xffffff);
	}
	KUNIT_EXPECT_EQ(test, wire->log[0].length, 2 * MTU + 1);
	KUNIT_EXPECT_EQ(test, wire->log[1].msn, 1);
	/* The next request follows after the responses. */
	transfer(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_EQ(test, wire->log[4].psn, 1);
	KUNIT_EXPECT_EQ(test, wire->log[5].msn, 2);
}

/* The engine may complete a request before the next one of the list is posted. */
static void posted_requests_are_not_read_again(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0];
	const struct ib_send_wr *bad;
	struct ib_rdma_wr write[2] = {};
	int i;

	for (i = 0; i < 2; i++) {
		write[i].wr.wr_id = i;
		write[i].wr.opcode = IB_WR_RDMA_WRITE;
		write[i].wr.send_flags = IB_SEND_SIGNALED;
	}
	write[0].wr.next = &write[1].wr;
	fixture_take_requests_back(test);
	KUNIT_EXPECT_EQ(test, roce_post_send(&a->qp->ibqp, &write[0].wr, &bad), 0);
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
}

/* A wire that delivers whole trains */
static struct wire *new_wire_for_trains(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();

	setup.whole_trains = true;
	return wire_new(test, &setup);
}

static void post_short(struct wire *wire, int number)
{
	struct wire_op op = {
		.wr_id = number, .opcode = IB_WR_RDMA_WRITE, .length = 8,
		.remote = WIRE_TARGET,
	};

	KUNIT_EXPECT_EQ(wire->test, wire_post(&wire->ends[0], &op), 0);
}

/* Post without letting timers fire; returns the number of packets sent. */
static u32 post_short_one_by_one(struct wire *wire, int count)
{
	u32 sent;
	int i;

	local_bh_disable();
	for (i = 0; i < count; i++) {
		post_short(wire, i);
		wire_start(wire);
	}
	sent = wire->ends[0].sent;
	local_bh_enable();
	return sent;
}

static void expect_short(struct wire *wire, int count)
{
	int i;

	for (i = 0; i < count; i++)
		wire_expect(wire, wire->ends[0].send_cq, i, IB_WC_SUCCESS);
}

static void short_messages_share_a_train(struct kunit *test)
{
	struct wire *wire = new_wire_for_trains(test);
	struct wire_end *a = &wire->ends[0];
	int i;

	local_bh_disable();
	for (i = 0; i < 50; i++)
		post_short(wire, i);
	local_bh_enable();
	expect_short(wire, 50);
	KUNIT_EXPECT_EQ(test, a->sent, 50);
	KUNIT_EXPECT_LE(test, a->trains, 2);
	KUNIT_EXPECT_LE(test, wire->ends[1].sent, 2);
}

/* Each is posted alone, while the first ones are in flight. */
static void short_messages_wait_while_enough_are_in_flight(struct kunit *test)
{
	struct wire *wire = new_wire_for_trains(test);
	struct wire_end *a = &wire->ends[0];

	KUNIT_EXPECT_EQ(test, post_short_one_by_one(wire, 30), 16);
	expect_short(wire, 30);
	KUNIT_EXPECT_EQ(test, a->sent, 30);
	KUNIT_EXPECT_EQ(test, a->trains, 17);
}

/* Nothing arrives, so nothing is acknowledged. */
static void short_messages_do_not_wait_for_long(struct kunit *test)
{
	struct wire *wire = new_wire_for_trains(test);
	struct wire_end *a = &wire->ends[0];
	unsigned long end = jiffies + PATIENCE;

	post_short_one_by_one(wire, 30);
	while (a->sent < 30 && time_before(jiffies, end))
		usleep_range(500, 1000);
	KUNIT_EXPECT_EQ(test, a->sent, 30);
	KUNIT_EXPECT_EQ(test, a->trains, 17);
}

static void short_messages_that_fill_a_train_do_not_wait(struct kunit *test)
{
	struct wire *wire = new_wire_for_trains(test);
	struct wire_end *a = &wire->ends[0];

	post_short_one_by_one(wire, 16 + 64);
	KUNIT_EXPECT_EQ(test, a->sent, 16 + 64);
	KUNIT_EXPECT_EQ(test, a->trains, 17);
	expect_short(wire, 16 + 64);
}

static void packets_in_flight_are_bounded(struct kunit *test)
{
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = 400 * MTU, .remote = WIRE_TARGET,
	};
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0];
	int i;

	KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	for (i = 0; i < 20; i++)
		wire_start(wire);
	KUNIT_EXPECT_EQ(test, a->sent, 256);
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, a->sent, 400);
}

static void a_long_read_is_asked_for_in_pieces(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	u32 i, sum = 0, pieces;

	transfer(wire, IB_WR_RDMA_READ, 400 * MTU + 3);
	pieces = wire_count(wire, 0, ROCE_READ_REQUEST);
	KUNIT_EXPECT_GE(test, pieces, 2);
	for (i = 0; i < pieces; i++) {
		u32 length = wire_find(wire, 0, ROCE_READ_REQUEST, i)->length;

		KUNIT_EXPECT_LE(test, length, 256 * MTU);
		sum += length;
	}
	KUNIT_EXPECT_EQ(test, sum, 400 * MTU + 3);
	KUNIT_EXPECT_EQ(test, wire->ends[1].sent, 401);
}

static void no_more_reads_are_outstanding_than_agreed(struct kunit *test)
{
	struct wire_op op = {
		.opcode = IB_WR_RDMA_READ, .length = 1, .local = WIRE_TARGET,
	};
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0];
	int i;

	for (i = 0; i < 10; i++) {
		op.wr_id = i;
		KUNIT_EXPECT_EQ(test, wire_post(a, &op), 0);
	}
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, a->sent, 4);
	for (i = 0; i < 10; i++)
		wire_expect(wire, a->send_cq, i, IB_WC_SUCCESS);
}

static void a_fence_waits_for_reads(struct kunit *test)
{
	struct wire_op read = {
		.opcode = IB_WR_RDMA_READ, .length = 10, .local = WIRE_TARGET,
	};
	struct wire_op write = {
		.opcode = IB_WR_RDMA_WRITE, .length = 10, .remote = WIRE_TARGET,
		.wr_id = 1, .flags = IB_SEND_FENCE,
	};
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0];

	KUNIT_ASSERT_EQ(test, wire_post(a, &read), 0);
	KUNIT_ASSERT_EQ(test, wire_post(a, &write), 0);
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, a->sent, 1);
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wire->log[2].opcode, ROCE_WRITE_ONLY);
}

static void an_unsignaled_request_makes_no_completion(struct kunit *test)
{
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = 10, .remote = WIRE_TARGET,
		.wr_id = 2,
	};
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0];
	struct ib_sge sge = { .lkey = a->mr->ibmr.lkey };
	struct ib_rdma_wr silent = {
		.wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1,
			.opcode = IB_WR_RDMA_WRITE },
	};
	const struct ib_send_wr *bad;
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, roce_post_send(&a->qp->ibqp, &silent.wr, &bad), 0);
	KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, roce_poll_cq(&a->send_cq->ibcq, 1, &wc), 0);
}

static void post_mix(struct wire *wire, int end, int i)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_SEND
	};
	struct wire_op op = {
		.opcode = opcodes[i % 3], .wr_id = i, .length = 100 * i,
		.local = i * 4096,
		.remote = WIRE_TARGET + i * 4096,
	};

	if (op.opcode == IB_WR_SEND)
		wire_receive(&wire->ends[!end], i, op.remote, op.length);
	if (op.opcode == IB_WR_RDMA_READ)
		swap(op.local, op.remote);
	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[end], &op), 0);
}

static void check_mix(struct wire *wire, int end, int i)
{
	u8 *here = wire->ends[end].memory, *there = wire->ends[!end].memory;
	u32 at = i * 4096;

	if (i % 3 == 1)
		swap(here, there);
	KUNIT_EXPECT_EQ_MSG(wire->test, 0, memcmp(here + at, there + WIRE_TARGET + at,
						  100 * i),
			    "end %d, request %d", end, i);
}

static void both_directions_work_at_once(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	int trains, i, end;

	for (trains = 0; trains < 2; trains++) {
		struct wire *wire;

		setup.whole_trains = trains;
		wire = wire_new(test, &setup);
		for (end = 0; end < 2; end++)
			fixture_fill(wire->ends[end].memory, WIRE_TARGET, end + 7);
		for (i = 1; i < 30; i++)
			for (end = 0; end < 2; end++)
				post_mix(wire, end, i);
		for (i = 1; i < 30; i++)
			for (end = 0; end < 2; end++)
				wire_expect(wire, wire->ends[end].send_cq, i,
					    IB_WC_SUCCESS);
		for (i = 1; i < 30; i++)
			for (end = 0; end < 2; end++)
				check_mix(wire, end, i);
	}
}

static void the_first_packet_is_reported(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *b = &wire->ends[1];

	/* Only in the state in which the application waits for the event */
	b->qp->state = IB_QPS_RTR;
	transfer(wire, IB_WR_RDMA_WRITE, 1);
	KUNIT_EXPECT_TRUE(test, test_bit(IB_EVENT_COMM_EST, &b->events));
}

static int build_nothing(struct roce_qp *qp, struct roce_train *train)
{
	return (uintptr_t)qp->ibqp.qp_context;
}

/* The halves wait for memory, pages and a turn. Other errors are final. */
static void a_train_that_cannot_be_built_is_not_sent(struct kunit *test)
{
	static const int errors[][2] = {
		{ -ENOMEM, -EBUSY }, { -EACCES, -EACCES }, { -EFAULT, -EACCES },
		{ -EBUSY, -EACCES }, { -EINVAL, -EACCES },
	};
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		struct roce_xmit xmit = {
			.sender = &a->qp->requester.sender,
			.av = &a->qp->av, .build = build_nothing,
		};

		a->qp->ibqp.qp_context = (void *)(uintptr_t)errors[i][0];
		local_bh_disable();
		rcu_read_lock();
		KUNIT_EXPECT_EQ(test, roce_xmit(a->qp, &xmit), errors[i][1]);
		rcu_read_unlock();
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, xmit.train.sent, 0);
	}
	a->qp->ibqp.qp_context = a;
	KUNIT_EXPECT_EQ(test, a->sent, 0);
}

/* GRO for forwarding does not say that all packets have the same identification. */
static void trains_that_were_merged_to_be_forwarded_are_right(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);

	wire->merge = true;
	wire->forgets_identification = true;
	wire_prepare(wire, IB_WR_RDMA_WRITE, 1, 16 * 256);
	wire_send(wire, IB_WR_RDMA_WRITE, 1, 16 * 256);
	wire_finish(wire, IB_WR_RDMA_WRITE, 1, 16 * 256);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], rx_icrc_encapsulated), 0);
}

static int build_one(struct roce_qp *qp, struct roce_train *train)
{
	const struct roce_packet packet = {
		.opcode = ROCE_SERVICE_UC | ROCE_SEND_ONLY,
		.info = roce_opcode_info(ROCE_SERVICE_UC | ROCE_SEND_ONLY),
	};

	return roce_train_of_one(train, &qp->av, qp->source_port, &packet, NULL);
}

/* The stack has looped it back before the netdev refuses it. */
static void a_datagram_to_a_group_that_is_refused_is_not_sent_again(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0];
	struct roce_av group = a->qp->av;
	struct roce_xmit xmit = {
		.sender = &a->qp->requester.sender, .av = &group, .build = build_one,
	};

	ipv6_addr_set_v4mapped(htonl(INADDR_ALLHOSTS_GROUP), &group.destination);
	a->refuse = 1;
	local_bh_disable();
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, roce_xmit(a->qp, &xmit), -ENOBUFS);
	rcu_read_unlock();
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, SEEN(a, tx_dropped_queue_full), 1);
}

/* How many times in a row, of @times, a half waits for memory */
static u32 waits_for_memory(struct wire_end *end, struct roce_sender *sender, u32 times)
{
	struct roce_xmit xmit = {
		.sender = sender, .av = &end->qp->av, .build = build_nothing,
	};
	int err = -EBUSY;
	u32 waits = 0;

	end->qp->ibqp.qp_context = (void *)(uintptr_t)-ENOMEM;
	local_bh_disable();
	rcu_read_lock();
	while (err == -EBUSY && times--) {
		err = roce_xmit(end->qp, &xmit);
		waits += err == -EBUSY;
	}
	rcu_read_unlock();
	local_bh_enable();
	end->qp->ibqp.qp_context = end;
	KUNIT_EXPECT_EQ(end->wire->test, SEEN(end, tx_stalled_memory), waits);
	if (err != -EBUSY)
		KUNIT_EXPECT_EQ(end->wire->test, err, -ENOBUFS);
	return waits;
}

static void requests_wait_for_memory_without_a_limit(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_UC };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct wire_setup setup = wire_defaults();
		struct wire_end *a;

		setup.type = types[i];
		a = &wire_new(test, &setup)->ends[0];
		KUNIT_EXPECT_EQ(test, 2 * ROCE_MAX_STALLS,
				waits_for_memory(a, &a->qp->requester.sender,
						 2 * ROCE_MAX_STALLS));
		KUNIT_EXPECT_EQ(test, a->qp->requester.sender.stalls, 0);
	}
}

/* The peer asks for them again. */
static void answers_wait_for_memory_as_long_as_for_the_netdev(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire_end *a = &wire_new(test, &setup)->ends[0];

	KUNIT_EXPECT_EQ(test, ROCE_MAX_STALLS,
			waits_for_memory(a, &a->qp->responder.sender,
					 2 * ROCE_MAX_STALLS));
	KUNIT_EXPECT_EQ(test, a->qp->responder.sender.stalls, 0);
}

KUNIT_ARRAY_PARAM_DESC(way, ways, name);

static struct kunit_case transport_cases[] = {
	KUNIT_CASE_PARAM(bytes_and_completions_arrive, way_gen_params),
	KUNIT_CASE(every_path_mtu_works),
	KUNIT_CASE(memory_may_be_scattered),
	KUNIT_CASE(inline_data_is_taken_when_it_is_posted),
	KUNIT_CASE(a_message_looks_as_the_iba_says),
	KUNIT_CASE(a_read_looks_as_the_iba_says),
	KUNIT_CASE(posted_requests_are_not_read_again),
	KUNIT_CASE(short_messages_share_a_train),
	KUNIT_CASE(short_messages_wait_while_enough_are_in_flight),
	KUNIT_CASE(short_messages_do_not_wait_for_long),
	KUNIT_CASE(short_messages_that_fill_a_train_do_not_wait),
	KUNIT_CASE(packets_in_flight_are_bounded),
	KUNIT_CASE(a_long_read_is_asked_for_in_pieces),
	KUNIT_CASE(no_more_reads_are_outstanding_than_agreed),
	KUNIT_CASE(a_fence_waits_for_reads),
	KUNIT_CASE(an_unsignaled_request_makes_no_completion),
	KUNIT_CASE(both_directions_work_at_once),
	KUNIT_CASE(the_first_packet_is_reported),
	KUNIT_CASE(a_train_that_cannot_be_built_is_not_sent),
	KUNIT_CASE(trains_that_were_merged_to_be_forwarded_are_right),
	KUNIT_CASE(a_datagram_to_a_group_that_is_refused_is_not_sent_again),
	KUNIT_CASE(requests_wait_for_memory_without_a_limit),
	KUNIT_CASE(answers_wait_for_memory_as_long_as_for_the_netdev),
	{}
};

static struct kunit_suite transport_suite = {
	.name = "roce_transport",
	.test_cases = transport_cases,
};

kunit_test_suite(transport_suite);
