// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completions that are posted together.
 */
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "wire_fake.h"

#define CAPACITY	6

/**
 * struct listener - what the consumer of a CQ hears
 * @events: number of completion events
 * @errors: number of asynchronous events
 * @ring: send ring of a program, or NULL
 * @consumed: the driver's index in @ring at the last asynchronous event
 */
struct listener {
	u32 events;
	u32 errors;
	struct roce_ring *ring;
	u32 consumed;
};

static void hear_event(struct ib_cq *ibcq, void *context)
{
	struct listener *listener = context;

	listener->events++;
}

static void hear_error(struct ib_event *event, void *context)
{
	struct listener *listener = context;

	listener->errors++;
	if (listener->ring)
		listener->consumed = READ_ONCE(listener->ring->buf->consumer_index);
}

static struct listener *listen(struct kunit *test, struct roce_cq *cq)
{
	struct listener *listener = kunit_kzalloc(test, sizeof(*listener), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, listener);
	cq->ibcq.comp_handler = hear_event;
	cq->ibcq.event_handler = hear_error;
	cq->ibcq.cq_context = listener;
	return listener;
}

static bool post(struct roce_cq *cq, u64 first, u32 count)
{
	struct ib_wc wc[CAPACITY + 1] = {};
	bool posted;
	u32 i;

	for (i = 0; i < count; i++)
		wc[i].wr_id = first + i;
	posted = roce_cq_post(cq, wc, count, false);
	roce_bh_flush(&cq->handler);
	return posted;
}

static void expect(struct kunit *test, struct roce_cq *cq, u64 first, u32 count)
{
	struct ib_wc wc;

	for (; count; count--, first++) {
		KUNIT_ASSERT_EQ(test, roce_poll_cq(&cq->ibcq, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.wr_id, first);
	}
	KUNIT_EXPECT_EQ(test, roce_poll_cq(&cq->ibcq, 1, &wc), 0);
}

static struct roce_cq *new_cq(struct kunit *test)
{
	struct roce_cq *cq = fixture_cq(test, fixture_device(test), CAPACITY);

	KUNIT_ASSERT_EQ(test, roce_ring_capacity(&cq->ring), CAPACITY);
	return cq;
}

static void completions_come_out_in_their_order(struct kunit *test)
{
	struct roce_cq *cq = new_cq(test);
	u64 first;

	/* Around the end of the ring */
	for (first = 0; first < 100; first += CAPACITY) {
		KUNIT_EXPECT_TRUE(test, post(cq, first, 2));
		KUNIT_EXPECT_TRUE(test, post(cq, first + 2, CAPACITY - 2));
		expect(test, cq, first, CAPACITY);
	}
}

static void completions_that_do_not_fit_are_lost(struct kunit *test)
{
	struct roce_cq *cq = new_cq(test);
	struct listener *listener = listen(test, cq);

	KUNIT_EXPECT_TRUE(test, post(cq, 0, CAPACITY - 2));
	KUNIT_EXPECT_EQ(test, listener->errors, 0);
	KUNIT_EXPECT_FALSE(test, post(cq, CAPACITY - 2, 3));
	KUNIT_EXPECT_EQ(test, listener->errors, 1);
	expect(test, cq, 0, CAPACITY);
	KUNIT_EXPECT_FALSE(test, post(cq, CAPACITY, 1));
	KUNIT_EXPECT_EQ(test, listener->errors, 1);
	expect(test, cq, 0, 0);
}

static void several_completions_make_one_event(struct kunit *test)
{
	struct roce_cq *cq = new_cq(test);
	struct listener *listener = listen(test, cq);

	KUNIT_EXPECT_TRUE(test, post(cq, 0, 1));
	KUNIT_EXPECT_EQ(test, listener->events, 0);
	roce_req_notify_cq(&cq->ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_TRUE(test, post(cq, 1, 3));
	KUNIT_EXPECT_EQ(test, listener->events, 1);
	KUNIT_EXPECT_EQ(test, cq->unannounced, 3);
	expect(test, cq, 0, 4);
	KUNIT_EXPECT_TRUE(test, post(cq, 4, 2));
	KUNIT_EXPECT_EQ(test, listener->events, 1);
	KUNIT_EXPECT_EQ(test, cq->unannounced, 2);
}

static void write_as_a_program(struct wire_end *end)
{
	struct rxe_send_wqe *wqe = roce_ring_peer_element(&end->qp->requester.ring);

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr.opcode = IB_WR_RDMA_WRITE;
	wqe->wr.send_flags = IB_SEND_SIGNALED;
	wqe->wr.wr.rdma.remote_addr = (uintptr_t)end->peer->memory;
	wqe->wr.wr.rdma.rkey = end->peer->mr->ibmr.rkey;
	roce_ring_peer_advance(&end->qp->requester.ring);
}

static void fill(struct kunit *test, struct roce_cq *cq)
{
	while (roce_ring_unconsumed(&cq->ring) < roce_ring_capacity(&cq->ring))
		KUNIT_ASSERT_TRUE(test, post(cq, 0, 1));
}

/* The event of an overflow comes at the moment in which completions become visible. */
static void slots_are_free_before_their_completions_are_seen(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	const struct ib_send_wr *bad;
	struct listener *listener;
	struct wire_end *end;
	struct wire *wire;

	/* One acknowledgment for both */
	setup.whole_trains = true;
	wire = wire_new(test, &setup);
	end = &wire->ends[0];
	fixture_make_user(test, end->qp);
	fill(test, end->send_cq);
	listener = listen(test, end->send_cq);
	listener->ring = &end->qp->requester.ring;

	write_as_a_program(end);
	write_as_a_program(end);
	KUNIT_ASSERT_EQ(test, 0, roce_post_send(&end->qp->ibqp, NULL, &bad));
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, listener->errors, 1);
	KUNIT_EXPECT_EQ(test, listener->consumed, 2);
}

/* A send queue that is to work again is flushed, and its CQ is full. */
static void an_overflow_leaves_a_qp_in_error(struct kunit *test)
{
	struct ib_qp_attr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);
	struct wire_setup setup = wire_defaults();
	const struct ib_send_wr *bad;
	struct rxe_send_wqe *wqe;
	struct wire_end *end;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	setup.type = IB_QPT_UC;
	end = &wire_new(test, &setup)->ends[0];
	fixture_make_user(test, end->qp);
	wqe = roce_ring_peer_element(&end->qp->requester.ring);
	write_as_a_program(end);
	wqe->wr.opcode = IB_WR_RDMA_READ;
	KUNIT_ASSERT_EQ(test, 0, roce_post_send(&end->qp->ibqp, NULL, &bad));
	KUNIT_ASSERT_EQ(test, end->qp->state, IB_QPS_SQE);

	write_as_a_program(end);
	fill(test, end->send_cq);
	attr->qp_state = IB_QPS_RTS;
	attr->cur_qp_state = IB_QPS_SQE;
	wire_modify(end, attr, IB_QP_STATE | IB_QP_CUR_STATE);
	KUNIT_EXPECT_EQ(test, end->qp->state, IB_QPS_ERR);
}

/**
 * struct destruction - a program that destroys a QP while the handler of its CQ runs
 * @handler: runs on another CPU
 * @work: waits for it, as the destruction does
 * @runs: the handler has begun
 * @go_on: it may end
 * @ended: it has
 * @waits: the destruction is about to wait
 * @waited: the value of @ended after that
 */
struct destruction {
	struct roce_bh handler;
	struct work_struct work;
	bool runs;
	bool go_on;
	bool ended;
	bool waits;
	bool waited;
};

static void run_long(struct roce_bh *bh)
{
	struct destruction *destruction = container_of(bh, struct destruction, handler);
	unsigned long end = jiffies + PATIENCE;

	WRITE_ONCE(destruction->runs, true);
	while (!READ_ONCE(destruction->go_on) && time_before(jiffies, end))
		cpu_relax();
	WRITE_ONCE(destruction->ended, true);
}

static void destroy(struct work_struct *work)
{
	struct destruction *destruction = container_of(work, struct destruction, work);

	WRITE_ONCE(destruction->waits, true);
	roce_bh_flush(&destruction->handler);
	destruction->waited = READ_ONCE(destruction->ended);
}

static void schedule_handler(void *context)
{
	struct destruction *destruction = context;

	roce_bh_schedule(&destruction->handler);
}

/* As NVMe does over fabrics; the kernel warns of what it does not like. */
static void a_handler_is_waited_for_where_memory_is_reclaimed(struct kunit *test)
{
	struct destruction *destruction = kunit_kzalloc(test, sizeof(*destruction), GFP_KERNEL);
	int there = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	unsigned long end = jiffies + PATIENCE;
	struct workqueue_struct *queue;

	KUNIT_ASSERT_NOT_NULL(test, destruction);
	if (there >= nr_cpu_ids)
		kunit_skip(test, "there is one CPU only");
	queue = alloc_workqueue("roce_test", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, queue);
	roce_bh_init(&destruction->handler, run_long);
	INIT_WORK(&destruction->work, destroy);
	smp_call_function_single(there, schedule_handler, destruction, true);
	while (!READ_ONCE(destruction->runs) && time_before(jiffies, end))
		usleep_range(50, 100);
	queue_work(queue, &destruction->work);
	while (!READ_ONCE(destruction->waits) && time_before(jiffies, end))
		usleep_range(50, 100);
	usleep_range(1000, 2000);
	WRITE_ONCE(destruction->go_on, true);
	destroy_workqueue(queue);
	KUNIT_EXPECT_TRUE(test, destruction->runs);
	KUNIT_EXPECT_TRUE(test, destruction->waited);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(completions_come_out_in_their_order),
	KUNIT_CASE(completions_that_do_not_fit_are_lost),
	KUNIT_CASE(several_completions_make_one_event),
	KUNIT_CASE(slots_are_free_before_their_completions_are_seen),
	KUNIT_CASE(an_overflow_leaves_a_qp_in_error),
	KUNIT_CASE(a_handler_is_waited_for_where_memory_is_reclaimed),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "roce_cq",
	.test_cases = cq_cases,
};

kunit_test_suite(cq_suite);
