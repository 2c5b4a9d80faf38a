// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of a device and of the QPs that are bound to a counter: each packet and each
 * stall is counted once, and no count is lost.
 */
#include <rdma/ib_verbs.h>

#include "fixture.h"
#include "section.h"

static void free_stats(void *stats)
{
	rdma_free_hw_stats_struct(stats);
}

/* A counter of "rdma statistic qp", as the core makes it */
static struct rdma_counter *make_counter(struct kunit *test)
{
	struct roce_device *dev = test->priv;
	struct rdma_counter *counter =
		kunit_kzalloc(test, sizeof(*counter), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, counter);
	counter->device = &dev->ibdev;
	counter->stats = roce_counter_alloc_stats(counter);
	KUNIT_ASSERT_NOT_NULL(test, counter->stats);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_stats,
							   counter->stats));
	return counter;
}

static u64 value_of(struct kunit *test, const struct rdma_hw_stats *stats,
		    const char *name)
{
	int i;

	for (i = 0; i < stats->num_counters; i++)
		if (!strcmp(stats->descs[i].name, name))
			return stats->value[i];
	KUNIT_FAIL(test, "no counter %s", name);
	return 0;
}

static u64 value_in(struct kunit *test, struct rdma_counter *counter,
		    const char *name)
{
	KUNIT_EXPECT_EQ(test, 0, roce_counter_update_stats(counter));
	return value_of(test, counter->stats, name);
}

static void a_bound_qp_counts_separately(struct kunit *test)
{
	struct roce_device *dev = test->priv;
	struct roce_qp *bound = fixture_bare_qp(test, dev);
	struct roce_qp *other = fixture_bare_qp(test, dev);
	struct rdma_counter *counter = make_counter(test);

	KUNIT_ASSERT_EQ(test, 0, roce_counter_bind_qp(counter, &bound->ibqp));
	KUNIT_EXPECT_PTR_EQ(test, counter, bound->ibqp.counter);
	fixture_add(bound, tx_packets, 3);
	fixture_add(other, tx_packets, 1);
	KUNIT_EXPECT_EQ(test, 3, value_in(test, counter, "tx_packets"));
	KUNIT_EXPECT_EQ(test, 1, fixture_count(dev, tx_packets));
	KUNIT_EXPECT_EQ(test, 4, roce_counter_total(dev, ROCE_COUNTER_tx_packets));

	KUNIT_EXPECT_EQ(test, 0, roce_counter_unbind_qp(&bound->ibqp));
	KUNIT_EXPECT_NULL(test, bound->ibqp.counter);
	fixture_add(bound, tx_packets, 1);
	KUNIT_EXPECT_EQ(test, 3, value_in(test, counter, "tx_packets"));
	KUNIT_EXPECT_EQ(test, 2, fixture_count(dev, tx_packets));
	roce_counter_dealloc(counter);
}

static void two_qps_can_share_a_counter(struct kunit *test)
{
	struct roce_device *dev = test->priv;
	struct roce_qp *one = fixture_bare_qp(test, dev);
	struct roce_qp *two = fixture_bare_qp(test, dev);
	struct rdma_counter *counter = make_counter(test);

	KUNIT_ASSERT_EQ(test, 0, roce_counter_bind_qp(counter, &one->ibqp));
	KUNIT_ASSERT_EQ(test, 0, roce_counter_bind_qp(counter, &two->ibqp));
	fixture_add(one, rx_packets, 1);
	fixture_add(two, rx_packets, 1);
	KUNIT_EXPECT_EQ(test, 2, value_in(test, counter, "rx_packets"));
	roce_counter_unbind_qp(&one->ibqp);
	roce_counter_unbind_qp(&two->ibqp);
	roce_counter_dealloc(counter);
}

/* The core tells counters apart by their ID; 0 means none. */
static void counter_ids_are_not_0_and_not_reused_soon(struct kunit *test)
{
	struct roce_device *dev = test->priv;
	struct roce_qp *one = fixture_bare_qp(test, dev);
	struct roce_qp *two = fixture_bare_qp(test, dev);
	struct rdma_counter *first = make_counter(test);
	struct rdma_counter *second = make_counter(test);
	u32 number;

	KUNIT_ASSERT_EQ(test, 0, roce_counter_bind_qp(first, &one->ibqp));
	number = first->id;
	KUNIT_EXPECT_NE(test, 0, number);
	roce_counter_unbind_qp(&one->ibqp);
	roce_counter_dealloc(first);

	/* The core may still use the ID of the first one. */
	KUNIT_ASSERT_EQ(test, 0, roce_counter_bind_qp(second, &two->ibqp));
	KUNIT_EXPECT_NE(test, 0, second->id);
	KUNIT_EXPECT_NE(test, number, second->id);
	roce_counter_unbind_qp(&two->ibqp);
	roce_counter_dealloc(second);
}

static void the_device_keeps_the_counts_of_a_freed_counter(struct kunit *test)
{
	struct roce_device *dev = test->priv;
	struct roce_qp *qp = fixture_bare_qp(test, dev);
	struct rdma_counter *counter = make_counter(test);

	KUNIT_ASSERT_EQ(test, 0, roce_counter_bind_qp(counter, &qp->ibqp));
	fixture_add(qp, tx_bytes, 1000);
	roce_counter_unbind_qp(&qp->ibqp);
	roce_counter_dealloc(counter);
	KUNIT_EXPECT_EQ(test, 0, fixture_count(dev, tx_bytes));
	KUNIT_EXPECT_EQ(test, 1000,
			roce_counter_total(dev, ROCE_COUNTER_tx_bytes));
}

static void a_counter_without_qps_is_zero(struct kunit *test)
{
	struct rdma_counter *counter = make_counter(test);

	KUNIT_EXPECT_EQ(test, 0, value_in(test, counter, "tx_packets"));
}

static void an_alias_shows_its_counter(struct kunit *test)
{
	struct roce_device *dev = test->priv;
	struct rdma_hw_stats *stats = roce_alloc_hw_port_stats(&dev->ibdev, 1);

	KUNIT_ASSERT_NOT_NULL(test, stats);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, free_stats, stats));
	fixture_add(dev, tx_packets, 7);
	fixture_add(dev, req_rnr_retries_exceeded, 1);
	KUNIT_EXPECT_EQ(test, stats->num_counters,
			roce_get_hw_stats(&dev->ibdev, stats, 1, 0));
	KUNIT_EXPECT_EQ(test, 7, value_of(test, stats, "tx_packets"));
	KUNIT_EXPECT_EQ(test, 7, value_of(test, stats, "sent_pkts"));
	KUNIT_EXPECT_EQ(test, 1, value_of(test, stats, "retry_rnr_exceeded_err"));
	KUNIT_EXPECT_EQ(test, 0, value_of(test, stats, "rcvd_pkts"));
	fixture_add(dev, tx_bytes, 1000);
	fixture_add(dev, rx_bytes, 2000);
	fixture_add(dev, tx_stalled_queue, 1);
	roce_get_hw_stats(&dev->ibdev, stats, 1, 0);
	KUNIT_EXPECT_EQ(test, 1000, value_of(test, stats, "sent_bytes"));
	KUNIT_EXPECT_EQ(test, 2000, value_of(test, stats, "rcvd_bytes"));
	KUNIT_EXPECT_EQ(test, 1, value_of(test, stats, "send_err"));
}

static void counter_names_are_unique(struct kunit *test)
{
	struct rdma_counter *counter = make_counter(test);
	const struct rdma_hw_stats *stats = counter->stats;
	int i, j;

	for (i = 0; i < stats->num_counters; i++)
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, stats->descs[i].name,
					    stats->descs[j].name);
}

static void a_stall_is_counted_by_its_reason(struct kunit *test)
{
	struct roce_device *dev = test->priv;
	struct roce_qp *qp = fixture_bare_qp(test, dev);

	local_bh_disable();
	roce_count_stall(qp, -EAGAIN, 1000 * NSEC_PER_USEC);
	roce_count_stall(qp, -ENOMEM, 234 * NSEC_PER_USEC);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, 1, fixture_count(dev, tx_stalled_queue));
	KUNIT_EXPECT_EQ(test, 1, fixture_count(dev, tx_stalled_memory));
	KUNIT_EXPECT_EQ(test, 1234, fixture_count(dev, tx_wait_us));
}

/* Three packets of 20 bytes, with nothing in them */
static struct sk_buff *make_run(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(60, GFP_ATOMIC);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, 60);
	*roce_run(skb) = (struct roce_run) { .end = 60, .segment = 20 };
	return skb;
}

static void all_packets_of_a_run_are_dropped(struct kunit *test)
{
	struct roce_device *dev = test->priv;

	local_bh_disable();
	roce_drop_run(dev, dev->counters, make_run(test),
		      ROCE_COUNTER_rx_dropped_no_memory);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, 3, fixture_count(dev, rx_dropped_no_memory));
}

static void packets_beyond_the_inbox_limit_are_dropped(struct kunit *test)
{
	struct roce_device *dev = test->priv;
	struct roce_qp *qp = fixture_qp(test, fixture_pd(test, dev),
					&(struct fixture_qp_attr) {
		.type = IB_QPT_RC,
		.send_cq = fixture_cq(test, dev, 4),
		.recv_cq = fixture_cq(test, dev, 4),
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
	});
	struct roce_engine *engine = &qp->responder.engine;
	int runs = 0;

	/* With the engine claimed, the packets stay in the inbox. */
	roce_engine_claim(engine);
	while (!fixture_count(dev, rx_dropped_inbox_full) && runs++ < 20000) {
		local_bh_disable();
		roce_section_enter();
		roce_qp_receive(qp, engine, make_run(test));
		roce_section_leave();
		local_bh_enable();
	}
	KUNIT_EXPECT_EQ(test, 3, fixture_count(dev, rx_dropped_inbox_full));
	KUNIT_EXPECT_EQ(test, runs, skb_queue_len(&engine->inbox) + 1);
	/* The packets have no headers, so they must not be received. */
	roce_engine_purge(engine);
	roce_engine_release(engine);
}

static int make_device(struct kunit *test)
{
	test->priv = fixture_device(test);
	return 0;
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_bound_qp_counts_separately),
	KUNIT_CASE(two_qps_can_share_a_counter),
	KUNIT_CASE(counter_ids_are_not_0_and_not_reused_soon),
	KUNIT_CASE(the_device_keeps_the_counts_of_a_freed_counter),
	KUNIT_CASE(a_counter_without_qps_is_zero),
	KUNIT_CASE(an_alias_shows_its_counter),
	KUNIT_CASE(counter_names_are_unique),
	KUNIT_CASE(a_stall_is_counted_by_its_reason),
	KUNIT_CASE(all_packets_of_a_run_are_dropped),
	KUNIT_CASE(packets_beyond_the_inbox_limit_are_dropped),
	{}
};

static struct kunit_suite suite = {
	.name = "roce_counters",
	.init = make_device,
	.test_cases = cases,
};

kunit_test_suite(suite);
