// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fast registration, local invalidate and SEND with invalidate between two QPs: when they
 * take effect, when they complete, and the effect on a peer.
 */
#include "wire_fake.h"

#define SIZE	3000

static void free_region(void *ibmr)
{
	roce_dereg_mr(ibmr, NULL);
}

/* Make a fast region for the memory at WIRE_TARGET, mapped but not registered yet. */
static struct roce_mr *new_region(struct kunit *test, struct wire_end *end)
{
	struct ib_mr *ibmr = roce_alloc_mr(&end->pd->ibpd, IB_MR_TYPE_MEM_REG, 4);
	struct scatterlist sg;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_region,
							   ibmr));
	ibmr->page_size = PAGE_SIZE;
	sg_init_table(&sg, 1);
	sg_dma_address(&sg) = (uintptr_t)end->memory + WIRE_TARGET;
	sg_dma_len(&sg) = SIZE;
	KUNIT_ASSERT_EQ(test, roce_map_mr_sg(ibmr, &sg, 1, NULL), 1);
	return to_roce_mr(ibmr);
}

static void post(struct kunit *test, struct wire_end *end,
		 const struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad;

	KUNIT_ASSERT_EQ(test, roce_post_send(&end->qp->ibqp, wr, &bad), 0);
}

static void post_registration(struct kunit *test, struct wire_end *end, u64 wr_id,
			      struct roce_mr *mr)
{
	struct ib_reg_wr wr = {
		.wr = {
			.wr_id = wr_id,
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = &mr->ibmr,
		.key = mr->ibmr.rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_READ,
	};

	post(test, end, &wr.wr);
}

static void post_invalidate(struct kunit *test, struct wire_end *end, u64 wr_id,
			    enum ib_wr_opcode opcode, u32 key, int flags)
{
	struct ib_send_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.send_flags = IB_SEND_SIGNALED | flags,
		.ex.invalidate_rkey = key,
	};

	post(test, end, &wr);
}

/* Write into the peer's fast region. */
static void post_write(struct kunit *test, struct wire_end *end, u64 wr_id,
		       struct roce_mr *mr)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)end->memory,
		.length = SIZE,
		.lkey = end->mr->ibmr.lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_id = wr_id,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = mr->ibmr.iova,
		.rkey = mr->ibmr.rkey,
	};

	post(test, end, &wr.wr);
}

static void expect_opcode(struct wire *wire, struct roce_cq *cq, u64 wr_id,
			  enum ib_wc_opcode opcode)
{
	struct ib_wc wc = {};

	KUNIT_ASSERT_EQ(wire->test, wire_wait(wire, cq, &wc, 1), 1);
	KUNIT_EXPECT_EQ(wire->test, wc.wr_id, wr_id);
	KUNIT_EXPECT_EQ(wire->test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(wire->test, wc.opcode, opcode);
}

static struct wire *new_wire(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();

	return wire_new(test, &setup);
}

/* 67 ms */
static struct wire_setup with_timeout(void)
{
	struct wire_setup setup = wire_defaults();

	setup.timeout = WIRE_TIMEOUT;
	return setup;
}

static void the_peer_can_access_a_registered_region(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_mr *mr = new_region(test, b);

	post_registration(test, b, 1, mr);
	expect_opcode(wire, b->send_cq, 1, IB_WC_REG_MR);
	KUNIT_EXPECT_EQ(test, b->sent, 0);

	fixture_fill(a->memory, SIZE, 1);
	post_write(test, a, 2, mr);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(a->memory, b->memory + WIRE_TARGET, SIZE), 0);
}

static void the_peer_cannot_access_an_invalidated_region(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_mr *mr = new_region(test, b);

	post_registration(test, b, 1, mr);
	post_invalidate(test, b, 2, IB_WR_LOCAL_INV, mr->ibmr.rkey, 0);
	expect_opcode(wire, b->send_cq, 1, IB_WC_REG_MR);
	expect_opcode(wire, b->send_cq, 2, IB_WC_LOCAL_INV);
	post_write(test, a, 3, mr);
	wire_expect(wire, a->send_cq, 3, IB_WC_REM_ACCESS_ERR);
}

static void post_send_from(struct kunit *test, struct wire_end *end, u64 wr_id,
			   const struct roce_mr *mr)
{
	struct ib_sge sge = {
		.addr = mr->ibmr.iova, .length = SIZE, .lkey = mr->ibmr.lkey,
	};
	struct ib_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
		.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
	};

	post(test, end, &wr);
}

/* REG_MR takes effect before the next request: the SEND is from the region. */
static void a_registration_is_valid_for_later_requests(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_mr *mr = new_region(test, a);

	fixture_fill(a->memory + WIRE_TARGET, SIZE, 2);
	wire_receive(b, 7, 0, SIZE);
	post_registration(test, a, 1, mr);
	post_send_from(test, a, 2, mr);
	post_invalidate(test, a, 3, IB_WR_LOCAL_INV, mr->ibmr.lkey, IB_SEND_FENCE);
	expect_opcode(wire, a->send_cq, 1, IB_WC_REG_MR);
	expect_opcode(wire, a->send_cq, 2, IB_WC_SEND);
	expect_opcode(wire, a->send_cq, 3, IB_WC_LOCAL_INV);
	wire_expect(wire, b->recv_cq, 7, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(a->memory + WIRE_TARGET, b->memory, SIZE), 0);
}

/* Executed in between, completed in order, and not executed again after a loss */
static void local_operations_run_in_order(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0];
	struct roce_mr *mr = new_region(test, a);
	struct wire_op write = {
		.opcode = IB_WR_RDMA_WRITE, .length = 1000, .remote = WIRE_TARGET,
	};
	int i;

	for (i = 0; i < 8; i++) {
		wire_fault(a, i, i == 5 ? WIRE_DUPLICATE : WIRE_DROP);
		write.wr_id = 3 * i;
		KUNIT_ASSERT_EQ(test, wire_post(a, &write), 0);
		post_registration(test, a, 3 * i + 1, mr);
		post_invalidate(test, a, 3 * i + 2, IB_WR_LOCAL_INV,
				mr->ibmr.rkey, 0);
	}
	for (i = 0; i < 8; i++) {
		expect_opcode(wire, a->send_cq, 3 * i, IB_WC_RDMA_WRITE);
		expect_opcode(wire, a->send_cq, 3 * i + 1, IB_WC_REG_MR);
		expect_opcode(wire, a->send_cq, 3 * i + 2, IB_WC_LOCAL_INV);
	}
}

/* The lost SEND is sent again, so its memory must stay accessible until then. */
static void a_fenced_invalidate_waits_for_all_before_it(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_mr *mr = new_region(test, a);

	wire_receive(b, 7, 0, SIZE);
	post_registration(test, a, 1, mr);
	wire_fault(a, 1, WIRE_DROP);
	post_send_from(test, a, 2, mr);
	post_invalidate(test, a, 3, IB_WR_LOCAL_INV, mr->ibmr.lkey, IB_SEND_FENCE);
	wire_start(wire);
	KUNIT_EXPECT_TRUE(test, mr->valid);
	wire_expect(wire, a->send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, mr->valid);
}

static void a_failed_local_operation_ends_the_connection_in_order(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0];
	struct roce_mr *mr = new_region(test, a);
	struct wire_op write = {
		.opcode = IB_WR_RDMA_WRITE, .length = 1000, .remote = WIRE_TARGET,
	};

	KUNIT_ASSERT_EQ(test, wire_post(a, &write), 0);
	post_invalidate(test, a, 1, IB_WR_LOCAL_INV, mr->ibmr.rkey ^ 0x100, 0);
	post_registration(test, a, 2, mr);
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 1, IB_WC_MW_BIND_ERR);
	wire_expect(wire, a->send_cq, 2, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, a->qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_FALSE(test, mr->valid);
}

static void send_with_invalidate_invalidates_the_key(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_mr *mr = new_region(test, b);
	struct ib_wc wc = {};

	post_registration(test, b, 1, mr);
	wire_expect(wire, b->send_cq, 1, IB_WC_SUCCESS);
	wire_receive(b, 7, 0, 0);
	post_invalidate(test, a, 2, IB_WR_SEND_WITH_INV, mr->ibmr.rkey, 0);
	expect_opcode(wire, a->send_cq, 2, IB_WC_SEND);
	KUNIT_EXPECT_EQ(test, wire->log[0].opcode, ROCE_SEND_ONLY_INVALIDATE);

	KUNIT_ASSERT_EQ(test, wire_wait(wire, b->recv_cq, &wc, 1), 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey, mr->ibmr.rkey);
	KUNIT_EXPECT_FALSE(test, mr->valid);
}

/* FIRST, MIDDLE, and the key comes with LAST; a duplicate invalidates nothing. */
static void a_long_send_invalidates_at_its_end_and_once(struct kunit *test)
{
	struct wire_setup setup = with_timeout();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_mr *mr = new_region(test, b);
	struct ib_sge sge = {
		.addr = (uintptr_t)a->memory, .length = SIZE,
		.lkey = a->mr->ibmr.lkey,
	};
	struct ib_send_wr wr = {
		.wr_id = 2, .sg_list = &sge, .num_sge = 1,
		.opcode = IB_WR_SEND_WITH_INV, .send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = mr->ibmr.rkey,
	};

	post_registration(test, b, 1, mr);
	wire_expect(wire, b->send_cq, 1, IB_WC_SUCCESS);
	wire_receive(b, 7, 0, SIZE);
	/* The last acknowledgment is lost, and the end of the message is sent again. */
	wire_fault(b, 1, WIRE_DROP);
	post(test, a, &wr);
	wire_expect(wire, b->recv_cq, 7, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, mr->valid);
	post_registration(test, b, 3, mr);
	wire_expect(wire, b->send_cq, 3, IB_WC_SUCCESS);
	wire_expect(wire, a->send_cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, mr->valid);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 0, ROCE_SEND_ONLY_INVALIDATE), 0);
	KUNIT_EXPECT_GE(test, wire_count(wire, 0, ROCE_SEND_LAST_INVALIDATE), 2);
}

static void a_key_that_cannot_be_invalidated_is_an_access_error(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	/* The region of all memory cannot be invalidated. */
	wire_receive(b, 7, 0, 0);
	post_invalidate(test, a, 1, IB_WR_SEND_WITH_INV, b->mr->ibmr.rkey, 0);
	wire_expect(wire, a->send_cq, 1, IB_WC_REM_ACCESS_ERR);
	wire_expect(wire, b->recv_cq, 7, IB_WC_REM_INV_REQ_ERR);
	KUNIT_EXPECT_EQ(test, b->qp->state, IB_QPS_ERR);
	/* The completion is the report. */
	KUNIT_EXPECT_FALSE(test, test_bit(IB_EVENT_QP_ACCESS_ERR, &b->events));
	KUNIT_EXPECT_TRUE(test, b->mr->valid);
}

static void programs_cannot_post_fast_registrations(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct wire_end *a = &wire->ends[0];
	const struct ib_send_wr *bad;
	struct rxe_send_wqe *wqe;

	fixture_make_user(test, a->qp);
	wqe = roce_ring_peer_element(&a->qp->requester.ring);
	*wqe = (struct rxe_send_wqe) {
		.wr = { .wr_id = 5, .opcode = IB_WR_REG_MR },
	};
	roce_ring_peer_advance(&a->qp->requester.ring);
	wire_start(wire);
	KUNIT_EXPECT_EQ(test, roce_post_send(&a->qp->ibqp, NULL, &bad), 0);
	wire_expect(wire, a->send_cq, 5, IB_WC_LOC_QP_OP_ERR);
}

static struct kunit_case memory_operation_cases[] = {
	KUNIT_CASE(the_peer_can_access_a_registered_region),
	KUNIT_CASE(the_peer_cannot_access_an_invalidated_region),
	KUNIT_CASE(a_registration_is_valid_for_later_requests),
	KUNIT_CASE(local_operations_run_in_order),
	KUNIT_CASE(a_fenced_invalidate_waits_for_all_before_it),
	KUNIT_CASE(a_failed_local_operation_ends_the_connection_in_order),
	KUNIT_CASE(send_with_invalidate_invalidates_the_key),
	KUNIT_CASE(a_long_send_invalidates_at_its_end_and_once),
	KUNIT_CASE(a_key_that_cannot_be_invalidated_is_an_access_error),
	KUNIT_CASE(programs_cannot_post_fast_registrations),
	{}
};

static struct kunit_suite memory_operation_suite = {
	.name = "roce_memory_operation",
	.test_cases = memory_operation_cases,
};

kunit_test_suite(memory_operation_suite);
