// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * COMPARE_SWAP and FETCH_ADD: their effect on memory and their result, that a duplicate
 * is replayed and never repeated, and who may use them.
 */
#include "wire_fake.h"

#define NUMBER		1024		/* offset of the number in end 1's memory */
#define RESULT		2048		/* of where its old value goes, at end 0 */
#define AT_A_TIME	4

static u64 *number(struct wire *wire)
{
	return (u64 *)(wire->ends[1].memory + NUMBER);
}

static u64 *result(struct wire *wire, u32 i)
{
	return (u64 *)(wire->ends[0].memory + RESULT) + i;
}

static struct wire *new_wire(struct kunit *test, u8 timeout)
{
	struct wire_setup setup = wire_defaults();

	setup.timeout = timeout;
	setup.reads = AT_A_TIME;
	return wire_new(test, &setup);
}

static void post_add(struct wire *wire, u64 wr_id, u64 add)
{
	struct wire_op op = {
		.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .wr_id = wr_id,
		.local = RESULT + wr_id * sizeof(u64), .length = sizeof(u64),
		.remote = NUMBER, .compare_add = add,
	};

	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[0], &op), 0);
}

static void post_swap(struct wire *wire, u64 wr_id, u64 compare, u64 swap)
{
	struct wire_op op = {
		.opcode = IB_WR_ATOMIC_CMP_AND_SWP, .wr_id = wr_id,
		.local = RESULT + wr_id * sizeof(u64), .length = sizeof(u64),
		.remote = NUMBER, .compare_add = compare, .swap = swap,
	};

	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[0], &op), 0);
}

static void finish(struct wire *wire, u64 wr_id)
{
	wire_expect(wire, wire->ends[0].send_cq, wr_id, IB_WC_SUCCESS);
}

static void fetch_add_adds_and_brings_the_old_value(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);

	*number(wire) = 0xfffffffffffffff0;
	post_add(wire, 0, 0x0123456789abcdef);
	post_add(wire, 1, 1);
	finish(wire, 0);
	finish(wire, 1);
	KUNIT_EXPECT_EQ(test, *result(wire, 0), 0xfffffffffffffff0);
	KUNIT_EXPECT_EQ(test, *result(wire, 1), 0x0123456789abcddf);
	KUNIT_EXPECT_EQ(test, *number(wire), 0x0123456789abcde0);
}

static void compare_swap_swaps_what_is_equal(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);

	*number(wire) = 0x1122334455667788;
	post_swap(wire, 0, 0x1122334455667788, 0x99aabbccddeeff00);
	post_swap(wire, 1, 0x1122334455667788, 7);
	finish(wire, 0);
	finish(wire, 1);
	KUNIT_EXPECT_EQ(test, *result(wire, 0), 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, *result(wire, 1), 0x99aabbccddeeff00);
	KUNIT_EXPECT_EQ(test, *number(wire), 0x99aabbccddeeff00);
}

static void an_atomic_looks_as_the_iba_says(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	u32 first = 0xfffffe, i;
	static const u8 opcodes[] = { 0x14, 0x12, 0x13, 0x12 };

	post_add(wire, 0, 1);
	finish(wire, 0);
	post_swap(wire, 1, 1, 2);
	finish(wire, 1);
	KUNIT_ASSERT_EQ(test, wire->logged, 4);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, wire->log[i].opcode, opcodes[i]);
		KUNIT_EXPECT_EQ(test, wire->log[i].psn, first + i / 2);
	}
	KUNIT_EXPECT_EQ(test, wire->log[1].syndrome, 0x1f);
	KUNIT_EXPECT_EQ(test, wire->log[1].msn, 1);
	KUNIT_EXPECT_EQ(test, wire->log[3].msn, 2);
}

static void completions_say_what_was_done(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct ib_wc wc[2];

	post_add(wire, 0, 1);
	post_swap(wire, 1, 1, 2);
	KUNIT_ASSERT_EQ(test, wire_wait(wire, wire->ends[0].send_cq, wc, 2), 2);
	KUNIT_EXPECT_EQ(test, wc[0].opcode, IB_WC_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, wc[1].opcode, IB_WC_COMP_SWAP);
	KUNIT_EXPECT_EQ(test, wc[0].byte_len, 8);
	KUNIT_EXPECT_EQ(test, 2,
			fixture_count(wire->ends[1].dev, rx_atomic_requests));
}

static void exactly_eight_bytes_are_written(struct kunit *test)
{
	struct wire_op op = {
		.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .local = RESULT,
		.length = 15, .sges = 3, .remote = NUMBER, .compare_add = 1,
	};
	struct wire *wire = new_wire(test, 0);

	*number(wire) = 0x0807060504030201;
	memset(result(wire, 0), 0xee, 16);
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &op), 0);
	finish(wire, 0);
	KUNIT_EXPECT_EQ(test, *result(wire, 0), 0x0807060504030201);
	KUNIT_EXPECT_EQ(test, *result(wire, 1), 0xeeeeeeeeeeeeeeee);
}

static void a_doubled_request_adds_once(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);

	*number(wire) = 5;
	wire_fault(&wire->ends[0], 0, WIRE_DUPLICATE);
	post_add(wire, 0, 1);
	post_add(wire, 1, 1);
	finish(wire, 0);
	finish(wire, 1);
	KUNIT_EXPECT_EQ(test, *number(wire), 7);
	KUNIT_EXPECT_EQ(test, *result(wire, 0), 5);
	KUNIT_EXPECT_EQ(test, *result(wire, 1), 6);
}

/* The application may change the number meanwhile. */
static void a_lost_response_is_replayed(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);

	*number(wire) = 5;
	wire_fault(&wire->ends[1], 0, WIRE_DROP);
	post_add(wire, 0, 1);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, *number(wire), 6);
	*number(wire) = 100;

	finish(wire, 0);
	KUNIT_EXPECT_EQ(test, *result(wire, 0), 5);
	KUNIT_EXPECT_EQ(test, *number(wire), 100);
	KUNIT_EXPECT_GE(test, fixture_count(wire->ends[1].dev, duplicate_request),
			1);
	KUNIT_EXPECT_EQ(test, 1,
			fixture_count(wire->ends[1].dev, rx_atomic_requests));
}

static void all_outstanding_atomics_are_replayed(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	u32 i;

	*number(wire) = 1;
	for (i = 0; i < AT_A_TIME; i++) {
		wire_fault(&wire->ends[1], i, WIRE_DROP);
		post_add(wire, i, 10 << i);
	}
	for (i = 0; i < AT_A_TIME; i++)
		finish(wire, i);
	for (i = 0; i < AT_A_TIME; i++)
		KUNIT_EXPECT_EQ(test, *result(wire, i), 1 + 10 * ((1 << i) - 1));
	KUNIT_EXPECT_EQ(test, *number(wire), 151);
	KUNIT_EXPECT_EQ(test, AT_A_TIME,
			fixture_count(wire->ends[1].dev, rx_atomic_requests));
}

static void lost_requests_and_responses_are_told_apart(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	u32 lost, i;

	for (lost = 0; lost < 1 << (2 * AT_A_TIME); lost += 7) {
		wire_forget(wire);
		*number(wire) = 0;
		for (i = 0; i < AT_A_TIME; i++) {
			if (lost & BIT(i))
				wire_fault(&wire->ends[0], i, WIRE_DROP);
			if (lost & BIT(AT_A_TIME + i))
				wire_fault(&wire->ends[1], i, WIRE_DROP);
			post_add(wire, i, 1);
		}
		for (i = 0; i < AT_A_TIME; i++) {
			finish(wire, i);
			KUNIT_EXPECT_EQ(test, *result(wire, i), i);
		}
		KUNIT_EXPECT_EQ_MSG(test, *number(wire), AT_A_TIME,
				    "lost: %02x", lost);
	}
}

static void inject_add(struct wire *wire, u32 psn)
{
	struct roce_packet packet = {
		.opcode = ROCE_SERVICE_RC | ROCE_FETCH_ADD, .psn = psn,
		.va = (uintptr_t)number(wire),
		.rkey = wire->ends[1].mr->ibmr.rkey, .swap_add = 1,
	};

	KUNIT_ASSERT_EQ(wire->test, 0,
			wire_inject(&wire->ends[0], &packet, NULL));
	wire_run(wire);
}

/* A peer that keeps to the agreement does not ask for it any more. */
static void a_result_is_kept_until_its_resource_is_reused(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	u32 first = 0xfffffe, i;

	for (i = 0; i < AT_A_TIME + 1; i++) {
		post_add(wire, i, 1);
		finish(wire, i);
	}
	wire_forget(wire);
	inject_add(wire, first);
	KUNIT_EXPECT_EQ(test, wire->ends[1].sent, 0);
	inject_add(wire, first + 1);
	KUNIT_EXPECT_EQ(test, wire->ends[1].sent, 1);
	KUNIT_EXPECT_EQ(test, wire->log[2].psn, first + 1);
	KUNIT_EXPECT_EQ(test, *number(wire), AT_A_TIME + 1);
}

static void a_duplicate_of_another_kind_is_ignored(struct kunit *test)
{
	struct roce_packet read = {
		.opcode = ROCE_SERVICE_RC | ROCE_READ_REQUEST, .psn = 0xfffffe,
		.length = 8,
	};
	struct wire *wire = new_wire(test, 0);

	read.va = (uintptr_t)number(wire);
	read.rkey = wire->ends[1].mr->ibmr.rkey;
	post_add(wire, 0, 1);
	finish(wire, 0);
	wire_forget(wire);
	KUNIT_ASSERT_EQ(test, wire_inject(&wire->ends[0], &read, NULL), 0);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, wire->ends[1].sent, 0);
}

static void no_more_atomics_are_outstanding_than_agreed(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	struct wire_end *a = &wire->ends[0];
	u32 i;

	for (i = 0; i < 10; i++)
		post_add(wire, i, 1);
	wire->ends[1].cut = true;
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, a->sent, AT_A_TIME);
	/* Nor after the responses were asked for again */
	for (i = 0; i < 2; i++) {
		wire_end_timeouts(wire);
		wire_run(wire);
	}
	KUNIT_EXPECT_EQ(test, fixture_count(a->dev, local_ack_timeout_err), 2);
	KUNIT_EXPECT_EQ(test, a->qp->requester.asked, AT_A_TIME);
	KUNIT_EXPECT_EQ(test, AT_A_TIME,
			fixture_count(wire->ends[1].dev, rx_atomic_requests));
	wire->ends[1].cut = false;
	for (i = 0; i < 10; i++)
		finish(wire, i);
	KUNIT_EXPECT_EQ(test, *number(wire), 10);
}

static void allow(struct wire *wire, u8 at_a_time)
{
	struct ib_qp_attr *attr = kunit_kzalloc(wire->test, sizeof(*attr),
						GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(wire->test, attr);
	attr->max_rd_atomic = at_a_time;
	attr->max_dest_rd_atomic = 2 * AT_A_TIME;
	for (i = 0; i < 2; i++) {
		attr->qp_state = IB_QPS_SQD;
		wire_modify(&wire->ends[i], attr, IB_QP_STATE);
		wire_modify(&wire->ends[i], attr, IB_QP_MAX_QP_RD_ATOMIC |
						  IB_QP_MAX_DEST_RD_ATOMIC);
		attr->qp_state = IB_QPS_RTS;
		wire_modify(&wire->ends[i], attr, IB_QP_STATE);
	}
}

static void the_limit_changes_while_atomics_are_outstanding(struct kunit *test)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	struct wire_end *a = &wire->ends[0];
	u32 i;

	for (i = 0; i < 20; i++)
		post_add(wire, i, 1);
	wire->ends[1].cut = true;
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, a->qp->requester.asked, AT_A_TIME);
	allow(wire, 2 * AT_A_TIME);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, a->qp->requester.asked, 2 * AT_A_TIME);
	allow(wire, 1);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, a->qp->requester.asked, 2 * AT_A_TIME);
	allow(wire, 2 * AT_A_TIME);
	wire->ends[1].cut = false;
	for (i = 0; i < 20; i++)
		finish(wire, i);
	KUNIT_EXPECT_EQ(test, *number(wire), 20);
}

static void a_fence_waits_for_atomics(struct kunit *test)
{
	struct wire_op write = {
		.opcode = IB_WR_RDMA_WRITE, .length = 8, .wr_id = 1,
		.flags = IB_SEND_FENCE,
	};
	struct wire *wire = new_wire(test, 0);

	post_add(wire, 0, 1);
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &write), 0);
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, wire->ends[0].sent, 1);
	finish(wire, 0);
	finish(wire, 1);
}

static void requests_share_a_train(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire *wire;
	u32 i;

	setup.whole_trains = true;
	setup.reads = 16;
	wire = wire_new(test, &setup);
	local_bh_disable();
	for (i = 0; i < 16; i++)
		post_add(wire, i, 1);
	local_bh_enable();
	for (i = 0; i < 16; i++)
		finish(wire, i);
	KUNIT_EXPECT_LE(test, wire->ends[0].trains, 2);
	KUNIT_EXPECT_EQ(test, *number(wire), 16);
}

/* --- Refused --- */

static void expect_refusal(struct wire *wire, struct wire_op op,
			   enum ib_wc_status status)
{
	struct kunit *test = wire->test;

	*number(wire) = 0x55;
	op.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
	op.remote = op.remote ?: NUMBER;
	op.length = op.length ?: sizeof(u64);
	op.compare_add = 1;
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &op), 0);
	wire_expect(wire, wire->ends[0].send_cq, 0, status);
	KUNIT_EXPECT_EQ(test, *number(wire), 0x55);
}

static void an_unaligned_address_is_refused(struct kunit *test)
{
	int offset;

	for (offset = 1; offset < 8; offset++)
		expect_refusal(new_wire(test, 0),
			       (struct wire_op) { .remote = NUMBER + offset },
			       IB_WC_REM_INV_REQ_ERR);
}

static void a_wrong_key_is_refused(struct kunit *test)
{
	expect_refusal(new_wire(test, 0), (struct wire_op) { .bad_rkey = true },
		       IB_WC_REM_ACCESS_ERR);
}

static void the_memory_must_allow_remote_atomics(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();

	setup.mr_access &= ~IB_ACCESS_REMOTE_ATOMIC;
	expect_refusal(wire_new(test, &setup), (struct wire_op) {},
		       IB_WC_REM_ACCESS_ERR);
}

static void the_qp_must_allow_remote_atomics(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();

	setup.access &= ~IB_ACCESS_REMOTE_ATOMIC;
	expect_refusal(wire_new(test, &setup), (struct wire_op) {},
		       IB_WC_REM_INV_REQ_ERR);
}

static void the_result_must_fit_its_buffer(struct kunit *test)
{
	expect_refusal(new_wire(test, 0), (struct wire_op) { .length = 7 },
		       IB_WC_LOC_LEN_ERR);
}

static void an_atomic_cannot_be_inline(struct kunit *test)
{
	expect_refusal(new_wire(test, 0),
		       (struct wire_op) { .flags = IB_SEND_INLINE },
		       IB_WC_LOC_QP_OP_ERR);
}

static void an_atomic_fails_if_max_rd_atomic_is_0(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();

	setup.reads = 0;
	expect_refusal(wire_new(test, &setup), (struct wire_op) {},
		       IB_WC_LOC_QP_OP_ERR);
}

/* The responder counts itself, and does not rely on the requester's count. */
static void more_atomics_than_agreed_are_refused(struct kunit *test)
{
	struct wire *wire = new_wire(test, 0);
	struct wire_end *b = &wire->ends[1];
	u32 i;

	b->refuse = 1000;	/* so that responses pile up */
	for (i = 0; i < AT_A_TIME; i++)
		inject_add(wire, roce_psn_add(0xfffffe, i));
	KUNIT_EXPECT_FALSE(test, test_bit(IB_EVENT_QP_REQ_ERR, &b->events));
	inject_add(wire, roce_psn_add(0xfffffe, i));
	KUNIT_EXPECT_TRUE(test, test_bit(IB_EVENT_QP_REQ_ERR, &b->events));
	KUNIT_EXPECT_EQ(test, *number(wire), AT_A_TIME);
}

/* --- Among others, on a bad wire --- */

#define MIX		6
#define MIX_LENGTH	600		/* three packets */
#define MIX_PLACE(i)	(4096 * (1 + (i)))

static void post_mix(struct wire *wire)
{
	static const enum ib_wr_opcode opcodes[MIX] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_ATOMIC_FETCH_AND_ADD,
		IB_WR_SEND, IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_RDMA_READ,
	};
	u32 i;

	for (i = 0; i < MIX; i++) {
		struct wire_op op = {
			.opcode = opcodes[i], .wr_id = i, .length = MIX_LENGTH,
			.local = MIX_PLACE(i), .remote = MIX_PLACE(i),
		};

		if (opcodes[i] == IB_WR_ATOMIC_FETCH_AND_ADD)
			post_add(wire, i, 1);
		else
			KUNIT_ASSERT_EQ(wire->test, 0,
					wire_post(&wire->ends[0], &op));
	}
}

static void check_mix(struct wire *wire, u32 lost)
{
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct kunit *test = wire->test;
	u32 i;

	for (i = 0; i < MIX; i++)
		finish(wire, i);
	wire_expect(wire, b->recv_cq, 0, IB_WC_SUCCESS);
	for (i = 0; i < MIX; i++) {
		if (i == 2 || i == 4)
			KUNIT_EXPECT_EQ_MSG(test, *result(wire, i), i / 2 - 1,
					    "lost: %u", lost);
		else
			KUNIT_EXPECT_EQ_MSG(test, 0,
					    memcmp(a->memory + MIX_PLACE(i),
						   b->memory + MIX_PLACE(i),
						   MIX_LENGTH),
					    "lost: %u, request %u", lost, i);
	}
	KUNIT_EXPECT_EQ_MSG(test, *number(wire), 2, "lost: %u", lost);
}

static void lose_each_packet_of_a_mix(struct kunit *test, u32 end, u32 packets)
{
	struct wire *wire = new_wire(test, WIRE_TIMEOUT);
	u32 lost;

	for (lost = 0; lost < packets; lost++) {
		fixture_fill(wire->ends[0].memory, MIX_PLACE(MIX), lost);
		fixture_fill(wire->ends[1].memory, MIX_PLACE(MIX), lost + 1000);
		*number(wire) = 0;
		wire_receive(&wire->ends[1], 0, MIX_PLACE(3), MIX_LENGTH);
		wire_forget(wire);
		wire_fault(&wire->ends[end], lost, WIRE_DROP);
		post_mix(wire);
		check_mix(wire, lost);
		KUNIT_EXPECT_GT(test, wire->ends[end].sent, lost);
	}
}

static void any_request_may_be_lost(struct kunit *test)
{
	lose_each_packet_of_a_mix(test, 0, 10);
}

static void any_answer_may_be_lost(struct kunit *test)
{
	lose_each_packet_of_a_mix(test, 1, 9);
}

static struct kunit_case atomic_cases[] = {
	KUNIT_CASE(fetch_add_adds_and_brings_the_old_value),
	KUNIT_CASE(compare_swap_swaps_what_is_equal),
	KUNIT_CASE(an_atomic_looks_as_the_iba_says),
	KUNIT_CASE(completions_say_what_was_done),
	KUNIT_CASE(exactly_eight_bytes_are_written),
	KUNIT_CASE(a_doubled_request_adds_once),
	KUNIT_CASE(a_lost_response_is_replayed),
	KUNIT_CASE(all_outstanding_atomics_are_replayed),
	KUNIT_CASE(lost_requests_and_responses_are_told_apart),
	KUNIT_CASE(a_result_is_kept_until_its_resource_is_reused),
	KUNIT_CASE(a_duplicate_of_another_kind_is_ignored),
	KUNIT_CASE(no_more_atomics_are_outstanding_than_agreed),
	KUNIT_CASE(the_limit_changes_while_atomics_are_outstanding),
	KUNIT_CASE(a_fence_waits_for_atomics),
	KUNIT_CASE(requests_share_a_train),
	KUNIT_CASE(an_unaligned_address_is_refused),
	KUNIT_CASE(a_wrong_key_is_refused),
	KUNIT_CASE(the_memory_must_allow_remote_atomics),
	KUNIT_CASE(the_qp_must_allow_remote_atomics),
	KUNIT_CASE(the_result_must_fit_its_buffer),
	KUNIT_CASE(an_atomic_cannot_be_inline),
	KUNIT_CASE(an_atomic_fails_if_max_rd_atomic_is_0),
	KUNIT_CASE(more_atomics_than_agreed_are_refused),
	KUNIT_CASE(any_request_may_be_lost),
	KUNIT_CASE(any_answer_may_be_lost),
	{}
};

static struct kunit_suite atomic_suite = {
	.name = "roce_atomic",
	.test_cases = atomic_cases,
};

kunit_test_suite(atomic_suite);
