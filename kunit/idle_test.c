// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QPs of programs in the error state: their receive queues are polled for a while, and
 * later checked when the program enters the kernel.
 */
#include "fixture.h"

#define MOST_POLLS	12
#define LAST_INTERVAL	(10 * NSEC_PER_SEC)	/* at least */

static struct roce_cq *new_cq(struct kunit *test)
{
	return fixture_cq(test, fixture_device(test), 16);
}

static void set_state(struct kunit *test, struct roce_qp *qp,
		      enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state, .port_num = 1 };
	int mask = IB_QP_STATE;

	if (state == IB_QPS_INIT)
		mask |= IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS;
	KUNIT_ASSERT_EQ(test, 0, roce_modify_qp(&qp->ibqp, &attr, mask, NULL));
	fixture_flush_engine(&qp->responder.engine);
}

/* Make a QP of a program, which has just gone to the error state. */
static struct roce_qp *new_qp(struct kunit *test, struct roce_cq *cq)
{
	struct fixture_qp_attr wanted = {
		.type = IB_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 4, .max_recv_sge = 1 },
	};
	struct roce_pd *pd = fixture_pd(test, to_roce_device(cq->ibcq.device));
	struct roce_qp *qp = fixture_qp(test, pd, &wanted);

	fixture_make_user(test, qp);
	set_state(test, qp, IB_QPS_INIT);
	set_state(test, qp, IB_QPS_ERR);
	return qp;
}

static void look(struct roce_qp *qp)
{
	local_bh_disable();
	roce_engine_run(&qp->responder.engine);
	local_bh_enable();
}

static void poll(struct roce_qp *qp)
{
	hrtimer_cancel(&qp->responder.sender.timer);
	look(qp);
}

static bool is_polled(struct roce_qp *qp)
{
	return hrtimer_is_queued(&qp->responder.sender.timer);
}

static void poll_until_idle(struct kunit *test, struct roce_qp *qp)
{
	u32 polls = 0;

	for (; is_polled(qp) && polls <= MOST_POLLS; polls++)
		poll(qp);
	KUNIT_EXPECT_LE(test, polls, MOST_POLLS);
	KUNIT_EXPECT_GE(test, qp->responder.flush_interval, LAST_INTERVAL);
}

static void post(struct kunit *test, struct roce_qp *qp, u64 wr_id)
{
	const struct ib_recv_wr wr = { .wr_id = wr_id };
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(test, 0, roce_receive_post(&qp->responder.ring, 1, &wr,
						   &bad));
}

static void expect_flushed(struct kunit *test, struct roce_qp *qp, u64 wr_id)
{
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, roce_poll_cq(qp->ibqp.recv_cq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, wr_id);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, &qp->ibqp);
}

static void polling_an_empty_receive_queue_ends(struct kunit *test)
{
	struct roce_cq *cq = new_cq(test);
	struct roce_qp *qp = new_qp(test, cq);

	KUNIT_EXPECT_TRUE(test, is_polled(qp));
	poll_until_idle(test, qp);
	KUNIT_EXPECT_EQ(test, cq->idle_count, 1);
	look(qp);
	KUNIT_EXPECT_FALSE(test, is_polled(qp));
	KUNIT_EXPECT_EQ(test, cq->idle_count, 1);
}

/* Anyone can send packets to a QP in the error state. */
static void packets_do_not_end_the_polling(struct kunit *test)
{
	struct roce_qp *qp = new_qp(test, new_cq(test));
	u32 i;

	for (i = 0; i < 2 * MOST_POLLS; i++)
		look(qp);
	KUNIT_EXPECT_TRUE(test, is_polled(qp));
	poll_until_idle(test, qp);
}

static void a_late_receive_is_flushed_with_the_next_request_for_an_event(struct kunit *test)
{
	struct roce_cq *cq = new_cq(test);
	struct roce_qp *first = new_qp(test, cq), *second = new_qp(test, cq);

	poll_until_idle(test, first);
	poll_until_idle(test, second);
	post(test, second, 5);
	roce_receive_look(cq);
	expect_flushed(test, second, 5);
	KUNIT_EXPECT_TRUE(test, is_polled(second));
	KUNIT_EXPECT_FALSE(test, is_polled(first));

	poll_until_idle(test, second);
	KUNIT_EXPECT_EQ(test, cq->idle_count, 2);
	post(test, first, 6);
	roce_receive_look(cq);
	expect_flushed(test, first, 6);
}

static void a_late_receive_is_flushed_with_the_next_doorbell(struct kunit *test)
{
	struct roce_qp *qp = new_qp(test, new_cq(test));
	const struct ib_send_wr *bad;

	poll_until_idle(test, qp);
	post(test, qp, 7);
	KUNIT_EXPECT_EQ(test, roce_post_send(&qp->ibqp, NULL, &bad), 0);
	expect_flushed(test, qp, 7);
}

static void a_qp_that_leaves_the_error_state_is_not_polled(struct kunit *test)
{
	struct roce_cq *cq = new_cq(test);
	struct roce_qp *qp = new_qp(test, cq);

	poll_until_idle(test, qp);
	set_state(test, qp, IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, cq->idle_count, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&cq->idle_qps));
	roce_receive_look(cq);
	KUNIT_EXPECT_FALSE(test, is_polled(qp));
}

static struct kunit_case idle_cases[] = {
	KUNIT_CASE(polling_an_empty_receive_queue_ends),
	KUNIT_CASE(packets_do_not_end_the_polling),
	KUNIT_CASE(a_late_receive_is_flushed_with_the_next_request_for_an_event),
	KUNIT_CASE(a_late_receive_is_flushed_with_the_next_doorbell),
	KUNIT_CASE(a_qp_that_leaves_the_error_state_is_not_polled),
	{}
};

static struct kunit_suite idle_suite = {
	.name = "roce_idle",
	.test_cases = idle_cases,
};

kunit_test_suite(idle_suite);
