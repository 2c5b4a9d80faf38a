// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: each receive goes to one QP, the consumer is notified when few
 * are left, and a program that damages the ring harms only itself.
 */
#include <linux/delay.h>
#include <linux/kthread.h>

#include <kunit/test-bug.h>

#include "fixture.h"

#define MAX_WR	15
#define MAX_SGE	2

/**
 * struct shared - a shared receive queue, and its events
 * @test: the test
 * @dev: its device
 * @pd: its protection domain
 * @srq: the queue
 * @receive: room for a receive
 * @limits: number of limit events
 */
struct shared {
	struct kunit *test;
	struct roce_device *dev;
	struct roce_pd *pd;
	struct roce_srq *srq;
	struct roce_receive *receive;
	int limits;
};

static void count_limit(struct ib_event *event, void *context)
{
	struct shared *shared = context;

	KUNIT_EXPECT_EQ(shared->test, event->event, IB_EVENT_SRQ_LIMIT_REACHED);
	KUNIT_EXPECT_PTR_EQ(shared->test, event->element.srq,
			    &shared->srq->ibsrq);
	shared->limits++;
}

static struct shared *make_shared_of(struct kunit *test, struct ib_srq_attr attr)
{
	struct shared *shared = kunit_kzalloc(test, sizeof(*shared), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, shared);
	shared->test = test;
	shared->dev = fixture_device(test);
	shared->pd = fixture_pd(test, shared->dev);
	shared->srq = fixture_srq(test, shared->pd, attr);
	shared->srq->ibsrq.event_handler = count_limit;
	shared->srq->ibsrq.srq_context = shared;
	shared->receive = kunit_kzalloc(test, struct_size(shared->receive, sge,
							  MAX_SGE), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, shared->receive);
	return shared;
}

static struct shared *make_shared(struct kunit *test)
{
	return make_shared_of(test, (struct ib_srq_attr) {
		.max_wr = MAX_WR, .max_sge = MAX_SGE,
	});
}

static int post(struct roce_srq *srq, u64 wr_id, int sges)
{
	struct ib_sge sge[MAX_SGE + 1] = {
		{ .addr = 0x1000, .length = 100, .lkey = 1 },
		{ .addr = 0x2000, .length = 50, .lkey = 2 },
	};
	struct ib_recv_wr wr = {
		.wr_id = wr_id, .sg_list = sge, .num_sge = sges,
	};
	const struct ib_recv_wr *bad;

	return roce_post_srq_recv(&srq->ibsrq, &wr, &bad);
}

static void post_many(struct shared *shared, u64 first, int count)
{
	for (; count; count--)
		KUNIT_ASSERT_EQ(shared->test, post(shared->srq, first++, 1), 0);
}

static void expect_next(struct shared *shared, u64 wr_id)
{
	KUNIT_ASSERT_TRUE(shared->test,
			  roce_srq_fetch(shared->srq, shared->receive));
	KUNIT_EXPECT_EQ(shared->test, shared->receive->wr_id, wr_id);
	KUNIT_EXPECT_TRUE(shared->test, shared->receive->valid);
}

static int modify(struct shared *shared, int mask, u32 max_wr, u32 limit)
{
	struct ib_srq_attr attr = { .max_wr = max_wr, .srq_limit = limit };

	return roce_modify_srq(&shared->srq->ibsrq, &attr, mask, NULL);
}

static u32 capacity(struct shared *shared)
{
	struct ib_srq_attr attr;

	roce_query_srq(&shared->srq->ibsrq, &attr);
	return attr.max_wr;
}

static u32 limit(struct shared *shared)
{
	struct ib_srq_attr attr;

	roce_query_srq(&shared->srq->ibsrq, &attr);
	return attr.srq_limit;
}

static void receives_come_out_as_they_were_posted(struct kunit *test)
{
	struct shared *shared = make_shared(test);
	u64 i;

	KUNIT_EXPECT_FALSE(test, roce_srq_fetch(shared->srq, shared->receive));
	for (i = 0; i < 3 * MAX_WR; i++) {
		KUNIT_ASSERT_EQ(test, post(shared->srq, i, 2), 0);
		expect_next(shared, i);
		KUNIT_EXPECT_EQ(test, shared->receive->length, 150);
		KUNIT_EXPECT_EQ(test, shared->receive->sge[1].lkey, 2);
	}
	KUNIT_EXPECT_FALSE(test, roce_srq_fetch(shared->srq, shared->receive));
}

static void too_many_receives_or_sges_are_refused(struct kunit *test)
{
	struct shared *shared = make_shared(test);

	KUNIT_EXPECT_EQ(test, post(shared->srq, 0, MAX_SGE + 1), -EINVAL);
	post_many(shared, 0, MAX_WR);
	KUNIT_EXPECT_EQ(test, post(shared->srq, MAX_WR, 1), -ENOMEM);
	expect_next(shared, 0);
	KUNIT_EXPECT_EQ(test, post(shared->srq, MAX_WR, 1), 0);
}

static void the_limit_is_reported_once(struct kunit *test)
{
	struct shared *shared = make_shared(test);
	u64 i;

	post_many(shared, 0, MAX_WR);
	KUNIT_ASSERT_EQ(test, modify(shared, IB_SRQ_LIMIT, 0, 10), 0);
	for (i = 0; i < MAX_WR - 10; i++)
		expect_next(shared, i);
	KUNIT_EXPECT_EQ(test, shared->limits, 0);
	KUNIT_EXPECT_EQ(test, limit(shared), 10);

	expect_next(shared, i++);
	KUNIT_EXPECT_EQ(test, shared->limits, 1);
	KUNIT_EXPECT_EQ(test, limit(shared), 0);
	for (; i < MAX_WR; i++)
		expect_next(shared, i);
	KUNIT_EXPECT_EQ(test, shared->limits, 1);
}

static void the_limit_can_be_armed_again(struct kunit *test)
{
	struct shared *shared = make_shared(test);
	int round;

	for (round = 1; round < 4; round++) {
		post_many(shared, 0, 1);
		KUNIT_ASSERT_EQ(test, modify(shared, IB_SRQ_LIMIT, 0, 1), 0);
		KUNIT_EXPECT_EQ(test, limit(shared), 1);
		expect_next(shared, 0);
		KUNIT_EXPECT_EQ(test, shared->limits, round);
	}
	KUNIT_EXPECT_EQ(test, -EINVAL,
			modify(shared, IB_SRQ_LIMIT, 0, MAX_WR + 1));
}

static void a_limit_that_is_reached_already_is_reported_at_once(struct kunit *test)
{
	struct shared *shared = make_shared(test);

	post_many(shared, 0, 2);
	KUNIT_ASSERT_EQ(test, modify(shared, IB_SRQ_LIMIT, 0, 2), 0);
	KUNIT_EXPECT_EQ(test, shared->limits, 0);
	KUNIT_ASSERT_EQ(test, modify(shared, IB_SRQ_LIMIT, 0, 3), 0);
	KUNIT_EXPECT_EQ(test, shared->limits, 1);
	KUNIT_EXPECT_EQ(test, limit(shared), 0);
	expect_next(shared, 0);
	KUNIT_EXPECT_EQ(test, shared->limits, 1);
}

/* No receive can be posted yet, so there is no event. */
static void a_limit_can_be_armed_at_creation(struct kunit *test)
{
	struct ib_srq_attr attr = { .max_wr = MAX_WR, .max_sge = 1, .srq_limit = 2 };
	struct shared *shared = make_shared_of(test, attr);

	KUNIT_EXPECT_EQ(test, limit(shared), 2);
	post_many(shared, 0, 3);
	expect_next(shared, 0);
	KUNIT_EXPECT_EQ(test, shared->limits, 0);
	expect_next(shared, 1);
	KUNIT_EXPECT_EQ(test, shared->limits, 1);
}

static void resizing_keeps_posted_receives(struct kunit *test)
{
	struct shared *shared = make_shared(test);
	u64 i;

	post_many(shared, 0, MAX_WR);
	for (i = 0; i < 5; i++)
		expect_next(shared, i);
	KUNIT_ASSERT_EQ(test, modify(shared, IB_SRQ_MAX_WR, 100, 0), 0);
	KUNIT_EXPECT_EQ(test, capacity(shared), 127);
	post_many(shared, MAX_WR, 100);
	for (; i < MAX_WR + 100; i++)
		expect_next(shared, i);
	KUNIT_EXPECT_FALSE(test, roce_srq_fetch(shared->srq, shared->receive));
}

static void posted_receives_must_fit_the_new_size(struct kunit *test)
{
	struct shared *shared = make_shared(test);

	post_many(shared, 0, 8);
	KUNIT_EXPECT_EQ(test, modify(shared, IB_SRQ_MAX_WR, 7, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify(shared, IB_SRQ_MAX_WR, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL, modify(shared, IB_SRQ_MAX_WR,
					      ROCE_MAX_SRQ_WR + 1, 0));
	KUNIT_EXPECT_EQ(test, capacity(shared), MAX_WR);
	expect_next(shared, 0);
	KUNIT_EXPECT_EQ(test, modify(shared, IB_SRQ_MAX_WR, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, capacity(shared), 7);
	expect_next(shared, 1);
}

static void size_and_limit_change_together_or_not_at_all(struct kunit *test)
{
	const int both = IB_SRQ_MAX_WR | IB_SRQ_LIMIT;
	struct shared *shared = make_shared(test);

	post_many(shared, 0, 7);
	KUNIT_EXPECT_EQ(test, modify(shared, both, 7, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, capacity(shared), MAX_WR);
	KUNIT_EXPECT_EQ(test, limit(shared), 0);
	KUNIT_EXPECT_EQ(test, modify(shared, both, 7, 7), 0);
	KUNIT_EXPECT_EQ(test, capacity(shared), 7);
	KUNIT_EXPECT_EQ(test, limit(shared), 7);
	KUNIT_EXPECT_EQ(test, modify(shared, IB_SRQ_MAX_WR, 3, 0), -EINVAL);
}

/* The program changes its index and fills the ring with any bytes. */
static void a_hostile_ring_yields_at_most_what_it_holds(struct kunit *test)
{
	static const u32 indices[] = { 1, MAX_WR, MAX_WR + 1, 0x80000000, ~0 };
	struct shared *shared = make_shared(test);
	struct roce_ring *ring = &shared->srq->ring;
	u32 fetched, i;

	memset(ring->buf->data, 0xff, (MAX_WR + 1) * ring->element_size);
	for (i = 0; i < ARRAY_SIZE(indices); i++) {
		WRITE_ONCE(ring->buf->producer_index, indices[i]);
		WRITE_ONCE(ring->buf->consumer_index, indices[i]);
		WRITE_ONCE(ring->buf->index_mask, ~0);
		for (fetched = 0; roce_srq_fetch(shared->srq, shared->receive);
		     fetched++) {
			KUNIT_EXPECT_FALSE(test, shared->receive->valid);
			KUNIT_EXPECT_EQ(test, shared->receive->length, 0);
			KUNIT_ASSERT_LT(test, fetched, MAX_WR);
		}
		KUNIT_EXPECT_EQ(test, ring->index, indices[i] & MAX_WR);
	}
	WRITE_ONCE(ring->buf->producer_index, ring->index - 1);
	KUNIT_EXPECT_EQ(test, modify(shared, IB_SRQ_MAX_WR, 31, 0), 0);
	KUNIT_EXPECT_EQ(test, roce_ring_used(ring), MAX_WR);
}

#define FETCHERS	2
#define FETCHES		1000

struct fetcher {
	struct shared *shared;
	struct task_struct *task;
	struct roce_receive *receive;
	unsigned long *seen;
	int twice;
};

static int fetch_many(void *context)
{
	struct fetcher *fetcher = context;

	while (!kthread_should_stop()) {
		if (roce_srq_fetch(fetcher->shared->srq, fetcher->receive))
			fetcher->twice += test_and_set_bit(fetcher->receive->wr_id,
							   fetcher->seen);
		else
			usleep_range(10, 50);
	}
	return 0;
}

static void each_receive_is_taken_once(struct kunit *test)
{
	struct shared *shared = make_shared(test);
	struct fetcher fetchers[FETCHERS] = {};
	unsigned long *seen;
	int i;

	seen = kunit_kcalloc(test, BITS_TO_LONGS(FETCHES), sizeof(*seen),
			     GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < FETCHERS; i++) {
		fetchers[i].shared = shared;
		fetchers[i].seen = seen;
		fetchers[i].receive =
			kunit_kzalloc(test, struct_size(shared->receive, sge,
							MAX_SGE), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, fetchers[i].receive);
	}
	for (i = 0; i < FETCHERS; i++)
		fetchers[i].task = kthread_run(fetch_many, &fetchers[i],
					       "roce-fetch/%d", i);

	for (i = 0; i < FETCHES; i++) {
		while (post(shared->srq, i, 1) == -ENOMEM)
			usleep_range(10, 50);
		if (i % 250 == 125)
			KUNIT_EXPECT_EQ(test, 0, modify(shared, IB_SRQ_MAX_WR,
							capacity(shared) + 1, 0));
	}
	for (i = 0; i < 1000 && !bitmap_full(seen, FETCHES); i++)
		msleep(20);

	for (i = 0; i < FETCHERS; i++) {
		kthread_stop(fetchers[i].task);
		KUNIT_EXPECT_EQ(test, fetchers[i].twice, 0);
	}
	KUNIT_EXPECT_TRUE(test, bitmap_full(seen, FETCHES));
}

static void note_event(struct ib_event *event, void *context)
{
	int *last_wqes = context;

	*last_wqes += event->event == IB_EVENT_QP_LAST_WQE_REACHED;
}

static struct roce_qp *make_qp(struct shared *shared, struct roce_cq *cq,
			       int *last_wqes)
{
	struct fixture_qp_attr attr = {
		.type = IB_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.srq = shared->srq,
		.cap = { .max_send_wr = 1, .max_recv_wr = ~0 },
		.event_handler = note_event,
		.context = last_wqes,
	};

	return fixture_qp(shared->test, shared->pd, &attr);
}

static void set_state(struct roce_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state, .port_num = 1 };
	int mask = IB_QP_STATE;

	if (state == IB_QPS_INIT)
		mask |= IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS;
	KUNIT_ASSERT_EQ(kunit_get_current_test(), 0,
			roce_modify_qp(&qp->ibqp, &attr, mask, NULL));
	fixture_flush_engine(&qp->responder.engine);
}

static void an_error_flushes_only_what_the_qp_has_taken(struct kunit *test)
{
	struct shared *shared = make_shared(test);
	struct roce_cq *cq = fixture_cq(test, shared->dev, 10);
	int last_wqes = 0;
	struct roce_qp *qp = make_qp(shared, cq, &last_wqes);
	struct ib_wc wc[2];

	post_many(shared, 0, 3);
	set_state(qp, IB_QPS_INIT);
	KUNIT_ASSERT_TRUE(test, roce_receive_fetch(qp));
	set_state(qp, IB_QPS_ERR);

	KUNIT_ASSERT_EQ(test, roce_poll_cq(&cq->ibcq, 2, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 0);
	KUNIT_EXPECT_EQ(test, wc[0].status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, &qp->ibqp);
	expect_next(shared, 1);
	expect_next(shared, 2);
}

static void the_last_wqe_is_reported_once_per_error(struct kunit *test)
{
	struct shared *shared = make_shared(test);
	struct roce_cq *cq = fixture_cq(test, shared->dev, 10);
	int last_wqes = 0, others = 0;
	struct roce_qp *qp = make_qp(shared, cq, &last_wqes);

	make_qp(shared, cq, &others);
	set_state(qp, IB_QPS_INIT);
	set_state(qp, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, last_wqes, 1);
	set_state(qp, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, last_wqes, 1);
	set_state(qp, IB_QPS_RESET);
	set_state(qp, IB_QPS_INIT);
	set_state(qp, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, last_wqes, 2);
	KUNIT_EXPECT_EQ(test, others, 0);
}

static void a_qp_with_a_shared_queue_has_none_of_its_own(struct kunit *test)
{
	struct shared *shared = make_shared(test);
	struct roce_cq *cq = fixture_cq(test, shared->dev, 10);
	int last_wqes = 0;
	struct roce_qp *qp = make_qp(shared, cq, &last_wqes);
	const struct ib_recv_wr *bad;
	struct ib_recv_wr wr = {};

	KUNIT_EXPECT_EQ(test, qp->cap.max_recv_wr, 0);
	KUNIT_EXPECT_EQ(test, roce_post_recv(&qp->ibqp, &wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, &wr);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(receives_come_out_as_they_were_posted),
	KUNIT_CASE(too_many_receives_or_sges_are_refused),
	KUNIT_CASE(the_limit_is_reported_once),
	KUNIT_CASE(the_limit_can_be_armed_again),
	KUNIT_CASE(a_limit_that_is_reached_already_is_reported_at_once),
	KUNIT_CASE(a_limit_can_be_armed_at_creation),
	KUNIT_CASE(resizing_keeps_posted_receives),
	KUNIT_CASE(posted_receives_must_fit_the_new_size),
	KUNIT_CASE(size_and_limit_change_together_or_not_at_all),
	KUNIT_CASE(a_hostile_ring_yields_at_most_what_it_holds),
	KUNIT_CASE(each_receive_is_taken_once),
	KUNIT_CASE(an_error_flushes_only_what_the_qp_has_taken),
	KUNIT_CASE(the_last_wqe_is_reported_once_per_error),
	KUNIT_CASE(a_qp_with_a_shared_queue_has_none_of_its_own),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "roce_srq",
	.test_cases = srq_cases,
};

kunit_test_suite(srq_suite);
