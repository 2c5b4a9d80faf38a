// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FLUSH and ATOMIC WRITE (IBA volume 1, annex A19): their packets, who may use them, and
 * that a duplicate writes nothing. A FLUSH is posted as by a program, since kernel
 * consumers have no work request for it.
 */
#include "wire_fake.h"

#define NUMBER		1024

static struct wire_setup setup(void)
{
	struct wire_setup setup = wire_defaults();

	setup.access |= IB_ACCESS_FLUSH_GLOBAL;
	setup.mr_access |= IB_ACCESS_FLUSH_GLOBAL;
	return setup;
}

static u64 *number(struct wire *wire)
{
	return (u64 *)(wire->ends[1].memory + NUMBER);
}

/* --- ATOMIC WRITE --- */

static struct wire_op store(u64 wr_id)
{
	return (struct wire_op) {
		.opcode = IB_WR_ATOMIC_WRITE, .wr_id = wr_id, .length = 8,
		.remote = NUMBER,
	};
}

static void an_atomic_write_arrives(struct kunit *test)
{
	struct wire_setup as_usual = setup();
	struct wire *wire = wire_new(test, &as_usual);
	struct wire_end *a = &wire->ends[0];
	struct wire_op op = store(1);
	struct ib_wc wc;

	*(u64 *)a->memory = 0x0123456789abcdef;
	KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	KUNIT_ASSERT_EQ(test, wire_wait(wire, a->send_cq, &wc, 1), 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_ATOMIC_WRITE);
	KUNIT_EXPECT_EQ(test, *number(wire), 0x0123456789abcdef);

	KUNIT_ASSERT_EQ(test, wire->logged, 2);
	KUNIT_EXPECT_EQ(test, wire->log[0].opcode, 0x1d);
	KUNIT_EXPECT_EQ(test, wire->log[0].length, 8);
	KUNIT_EXPECT_EQ(test, wire->log[1].opcode, ROCE_READ_RESPONSE_ONLY);
	KUNIT_EXPECT_EQ(test, wire->log[1].psn, wire->log[0].psn);
	KUNIT_EXPECT_EQ(test, wire->log[1].msn, 1);
}

static void a_repeated_atomic_write_writes_nothing(struct kunit *test)
{
	struct wire_setup with_timeout = setup();
	struct wire_op op = store(1);
	struct wire *wire;

	with_timeout.timeout = WIRE_TIMEOUT;
	wire = wire_new(test, &with_timeout);
	*(u64 *)wire->ends[0].memory = 1;
	wire_fault(&wire->ends[1], 0, WIRE_DROP);
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &op), 0);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, *number(wire), 1);
	*number(wire) = 2;
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *number(wire), 2);
}

static void expect_refusal(struct kunit *test, const struct wire_setup *setup,
			   const struct wire_op *op, enum ib_wc_status status)
{
	struct wire *wire = wire_new(test, setup);

	*(u64 *)wire->ends[0].memory = 1;
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], op), 0);
	wire_expect(wire, wire->ends[0].send_cq, op->wr_id, status);
	KUNIT_EXPECT_NULL(test, memchr_inv(wire->ends[1].memory, 0, 4096));
}

static void a_malformed_atomic_write_is_refused(struct kunit *test)
{
	struct wire_setup usual = setup(), no_access = usual, no_mr_access = usual;
	struct wire_op right = store(1), unaligned = right, short_one = right;
	struct wire_op long_one = right, wrong_key = right;

	unaligned.remote += 4;
	short_one.length = 7;
	long_one.length = 9;
	wrong_key.bad_rkey = true;
	no_access.access &= ~IB_ACCESS_REMOTE_WRITE;
	no_mr_access.mr_access &= ~IB_ACCESS_REMOTE_WRITE;

	expect_refusal(test, &usual, &unaligned, IB_WC_REM_INV_REQ_ERR);
	expect_refusal(test, &usual, &short_one, IB_WC_LOC_LEN_ERR);
	expect_refusal(test, &usual, &long_one, IB_WC_LOC_LEN_ERR);
	expect_refusal(test, &usual, &wrong_key, IB_WC_REM_ACCESS_ERR);
	expect_refusal(test, &no_access, &right, IB_WC_REM_INV_REQ_ERR);
	expect_refusal(test, &no_mr_access, &right, IB_WC_REM_ACCESS_ERR);
}

/* Another implementation may send other lengths. */
static void the_responder_checks_the_length(struct kunit *test)
{
	static const u32 lengths[][2] = { { 8, 4 }, { 4, 8 }, { 12, 12 }, { 0, 0 } };
	struct wire_setup as_usual = setup();
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct wire *wire = wire_new(test, &as_usual);
		struct roce_packet packet = {
			.opcode = ROCE_SERVICE_RC | ROCE_ATOMIC_WRITE,
			.psn = 0xfffffe, .va = (uintptr_t)number(wire),
			.rkey = wire->ends[1].mr->ibmr.rkey,
			.length = lengths[i][0], .payload = lengths[i][1],
		};
		u8 ones[12];

		memset(ones, 1, sizeof(ones));
		KUNIT_ASSERT_EQ(test, 0,
				wire_inject(&wire->ends[0], &packet, ones));
		wire_run(wire);
		KUNIT_EXPECT_EQ(test, *number(wire), 0);
		KUNIT_EXPECT_TRUE(test, test_bit(IB_EVENT_QP_REQ_ERR,
						 &wire->ends[1].events));
	}
}

/* --- As a program posts them --- */

struct flush {
	u8 placement;
	u8 selectivity;
	u64 address;
	u32 length;
	u32 rkey;
};

static struct wire *new_program(struct kunit *test, struct wire_setup setup)
{
	struct wire *wire = wire_new(test, &setup);

	fixture_make_user(test, wire->ends[0].qp);
	return wire;
}

static void ring_doorbell(struct wire_end *end)
{
	const struct ib_send_wr *bad;

	roce_ring_peer_advance(&end->qp->requester.ring);
	KUNIT_EXPECT_EQ(end->wire->test, 0,
			roce_post_send(&end->qp->ibqp, NULL, &bad));
}

static struct rxe_send_wqe *new_wqe(struct wire_end *end)
{
	struct rxe_send_wqe *wqe =
		roce_ring_peer_element(&end->qp->requester.ring);

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr.wr_id = 1;
	wqe->wr.send_flags = IB_SEND_SIGNALED;
	return wqe;
}

static struct flush flush_of(struct wire *wire)
{
	return (struct flush) {
		.placement = IB_FLUSH_GLOBAL, .selectivity = IB_FLUSH_RANGE,
		.address = (uintptr_t)number(wire), .length = 100000,
		.rkey = wire->ends[1].mr->ibmr.rkey,
	};
}

static void post_flush(struct wire *wire, const struct flush *flush)
{
	struct rxe_send_wqe *wqe = new_wqe(&wire->ends[0]);

	wqe->wr.opcode = IB_WR_FLUSH;
	wqe->wr.wr.flush.remote_addr = flush->address;
	wqe->wr.wr.flush.length = flush->length;
	wqe->wr.wr.flush.rkey = flush->rkey;
	wqe->wr.wr.flush.type = flush->placement;
	wqe->wr.wr.flush.level = flush->selectivity;
	wqe->dma.length = flush->length;
	ring_doorbell(&wire->ends[0]);
}

static void a_program_writes_atomically(struct kunit *test)
{
	struct wire *wire = new_program(test, setup());
	struct rxe_send_wqe *wqe = new_wqe(&wire->ends[0]);
	u64 value = 0x1122334455667788;

	wqe->wr.opcode = IB_WR_ATOMIC_WRITE;
	wqe->wr.wr.rdma.remote_addr = (uintptr_t)number(wire);
	wqe->wr.wr.rdma.rkey = wire->ends[1].mr->ibmr.rkey;
	wqe->dma.length = sizeof(value);
	memcpy(wqe->dma.atomic_wr, &value, sizeof(value));
	ring_doorbell(&wire->ends[0]);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *number(wire), value);
}

static void a_flush_is_answered(struct kunit *test)
{
	struct wire *wire = new_program(test, setup());
	struct flush flush = flush_of(wire);
	struct ib_wc wc;

	post_flush(wire, &flush);
	KUNIT_ASSERT_EQ(test, 1,
			wire_wait(wire, wire->ends[0].send_cq, &wc, 1));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_FLUSH);
	KUNIT_ASSERT_EQ(test, wire->logged, 2);
	KUNIT_EXPECT_EQ(test, wire->log[0].opcode, 0x1c);
	KUNIT_EXPECT_EQ(test, wire->log[1].opcode, ROCE_READ_RESPONSE_ONLY);
	KUNIT_EXPECT_EQ(test, wire->log[1].psn, wire->log[0].psn);

	/* One PSN, however much is flushed */
	post_flush(wire, &flush);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wire->log[2].psn, wire->log[0].psn + 1);
}

static void a_region_is_flushed_whatever_the_address(struct kunit *test)
{
	struct wire *wire = new_program(test, setup());
	struct flush flush = flush_of(wire);

	flush.selectivity = IB_FLUSH_MR;
	flush.address = U64_MAX;
	post_flush(wire, &flush);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
}

static void a_lost_response_to_a_flush_is_sent_again(struct kunit *test)
{
	struct wire_setup with_timeout = setup();
	struct flush flush;
	struct wire *wire;

	with_timeout.timeout = WIRE_TIMEOUT;
	wire = new_program(test, with_timeout);
	flush = flush_of(wire);
	wire_fault(&wire->ends[1], 0, WIRE_DROP);
	post_flush(wire, &flush);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
}

static void expect_flush(struct kunit *test, struct wire_setup setup,
			 struct flush change, enum ib_wc_status status)
{
	struct wire *wire = new_program(test, setup);
	struct flush flush = flush_of(wire);

	if (change.placement)
		flush.placement = change.placement;
	flush.selectivity = change.selectivity;
	flush.rkey += change.rkey;
	post_flush(wire, &flush);
	wire_expect(wire, wire->ends[0].send_cq, 1, status);
}

static void a_flush_needs_the_right_to_it(struct kunit *test)
{
	struct wire_setup no_access = setup(), no_mr_access = setup();
	struct wire_setup persistent = setup();

	no_access.access &= ~IB_ACCESS_FLUSH_GLOBAL;
	no_mr_access.mr_access &= ~IB_ACCESS_FLUSH_GLOBAL;
	persistent.access |= IB_ACCESS_FLUSH_PERSISTENT;

	expect_flush(test, setup(), (struct flush) { .rkey = 1 },
		     IB_WC_REM_ACCESS_ERR);
	expect_flush(test, no_access, (struct flush) {}, IB_WC_REM_INV_REQ_ERR);
	expect_flush(test, no_mr_access, (struct flush) {}, IB_WC_REM_ACCESS_ERR);
	expect_flush(test, setup(),
		     (struct flush) { .placement = IB_FLUSH_PERSISTENT },
		     IB_WC_REM_INV_REQ_ERR);
	expect_flush(test, persistent,
		     (struct flush) { .placement = IB_FLUSH_PERSISTENT },
		     IB_WC_REM_ACCESS_ERR);
}

static void reserved_values_in_a_flush_are_refused(struct kunit *test)
{
	expect_flush(test, setup(), (struct flush) { .placement = 4 },
		     IB_WC_REM_INV_REQ_ERR);
	expect_flush(test, setup(), (struct flush) { .selectivity = 2 },
		     IB_WC_REM_INV_REQ_ERR);
	expect_flush(test, setup(), (struct flush) { .placement = 16 },
		     IB_WC_LOC_QP_OP_ERR);
	expect_flush(test, setup(), (struct flush) { .selectivity = 4 },
		     IB_WC_LOC_QP_OP_ERR);
}

static void a_kernel_consumer_cannot_post_a_flush(struct kunit *test)
{
	struct wire_setup as_usual = setup();
	struct wire *wire = wire_new(test, &as_usual);
	struct wire_op op = { .opcode = IB_WR_FLUSH };

	KUNIT_EXPECT_EQ(test, wire_post(&wire->ends[0], &op), -EOPNOTSUPP);
}

static struct kunit_case flush_cases[] = {
	KUNIT_CASE(an_atomic_write_arrives),
	KUNIT_CASE(a_repeated_atomic_write_writes_nothing),
	KUNIT_CASE(a_malformed_atomic_write_is_refused),
	KUNIT_CASE(the_responder_checks_the_length),
	KUNIT_CASE(a_program_writes_atomically),
	KUNIT_CASE(a_flush_is_answered),
	KUNIT_CASE(a_region_is_flushed_whatever_the_address),
	KUNIT_CASE(a_lost_response_to_a_flush_is_sent_again),
	KUNIT_CASE(a_flush_needs_the_right_to_it),
	KUNIT_CASE(reserved_values_in_a_flush_are_refused),
	KUNIT_CASE(a_kernel_consumer_cannot_post_a_flush),
	{}
};

static struct kunit_suite flush_suite = {
	.name = "roce_flush",
	.test_cases = flush_cases,
};

kunit_test_suite(flush_suite);
