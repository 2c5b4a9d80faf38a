// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rings whose other side is a program, which writes anything at any time to any place it
 * can reach.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/random.h>

#include "fixture.h"

#define ELEMENT		48	/* becomes 64 */

static const u32 hostile[] = {
	0, 1, 2, 6, 7, 8, 9, 15, 16, 0x7f, 0xff, 0x7fffffff, 0x80000000,
	0xfffffff0, 0xfffffff8, 0xfffffffe, 0xffffffff,
};

static void free_ring(void *context)
{
	struct roce_ring *ring = context;

	roce_ring_free(ring);
	kfree(ring);
}

static struct roce_ring *make_ring(struct kunit *test, u32 capacity,
				   bool produced_here)
{
	struct roce_ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ring);
	KUNIT_ASSERT_EQ(test, roce_ring_init(ring, capacity, ELEMENT,
					     produced_here, NULL, NULL), 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_ring, ring));
	return ring;
}

/* The index that the other side writes */
static u32 *peer(struct roce_ring *ring)
{
	return ring->produced_here ? &ring->buf->consumer_index :
				     &ring->buf->producer_index;
}

static u32 *ours(struct roce_ring *ring)
{
	return ring->produced_here ? &ring->buf->producer_index :
				     &ring->buf->consumer_index;
}

static void a_ring_holds_at_least_the_requested_elements(struct kunit *test)
{
	static const u32 wanted[] = { 1, 2, 3, 4, 6, 7, 8, 100 };
	static const u32 elements[2][ARRAY_SIZE(wanted)] = {
		{ 2, 4, 4, 8, 8, 8, 16, 128 }, { 4, 4, 8, 8, 8, 16, 16, 128 },
	};
	int side, i;

	for (side = 0; side < 2; side++) {
		for (i = 0; i < ARRAY_SIZE(wanted); i++) {
			struct roce_ring *ring = make_ring(test, wanted[i], side);
			u32 spare = side ? 2 : 1;

			KUNIT_EXPECT_EQ(test, roce_ring_capacity(ring),
					elements[side][i] - spare);
			KUNIT_EXPECT_EQ(test, ring->element_size, 64);
			KUNIT_EXPECT_EQ(test, ring->buf->log2_elem_size, 6);
			KUNIT_EXPECT_EQ(test, ring->buf->index_mask,
					elements[side][i] - 1);
		}
	}
}

static void more_than_32_bits_of_bytes_are_refused(struct kunit *test)
{
	struct roce_ring ring;

	KUNIT_EXPECT_EQ(test, -ENOMEM, roce_ring_init(&ring, 0xfffff, 8192, true,
						      NULL, NULL));
}

static void the_layout_is_that_of_the_user_abi(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 2, true);

	KUNIT_EXPECT_EQ(test, offsetof(struct rxe_queue_buf, producer_index), 128);
	KUNIT_EXPECT_EQ(test, offsetof(struct rxe_queue_buf, consumer_index), 256);
	KUNIT_EXPECT_EQ(test, (u8 *)roce_ring_element(ring, 0) - (u8 *)ring->buf,
			384);
	KUNIT_EXPECT_EQ(test, (u8 *)roce_ring_element(ring, 3) - (u8 *)ring->buf,
			384 + 3 * 64);
	KUNIT_EXPECT_PTR_EQ(test, roce_ring_element(ring, 4),
			    roce_ring_element(ring, 0));
}

static bool is_full(const struct roce_ring *ring)
{
	return roce_ring_used(ring) == roce_ring_capacity(ring);
}

static void a_new_ring_is_empty(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 7, true);

	KUNIT_EXPECT_TRUE(test, roce_ring_empty(ring));
	KUNIT_EXPECT_FALSE(test, is_full(ring));
	ring = make_ring(test, 7, false);
	KUNIT_EXPECT_TRUE(test, roce_ring_empty(ring));
	KUNIT_EXPECT_FALSE(test, is_full(ring));
}

static void a_full_ring_is_not_an_empty_one(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 6, true);
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 6; i++) {
			KUNIT_EXPECT_EQ(test, roce_ring_unconsumed(ring), i);
			roce_ring_advance(ring);
			KUNIT_EXPECT_EQ(test, roce_ring_used(ring), i + 1);
		}
		KUNIT_EXPECT_EQ(test, roce_ring_unconsumed(ring),
				roce_ring_capacity(ring));
		KUNIT_EXPECT_NE(test, *ours(ring), *peer(ring));
		for (i = 0; i < 6; i++)
			roce_ring_peer_advance(ring);
		KUNIT_EXPECT_TRUE(test, roce_ring_empty(ring));
		KUNIT_EXPECT_EQ(test, roce_ring_unconsumed(ring), 0);
	}
}

/* librxe before rdma-core 55 is one element ahead after ibv_end_poll(). */
static void a_consumer_ahead_of_the_producer_is_put_back(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 6, true);
	int used, i;

	for (used = 0; used <= 6; used++) {
		for (i = 0; i < used; i++) {
			KUNIT_EXPECT_LT(test, roce_ring_unconsumed(ring), 6);
			roce_ring_advance(ring);
		}
		for (i = 0; i < used + 1; i++)
			roce_ring_peer_advance(ring);
		KUNIT_EXPECT_EQ(test, roce_ring_unconsumed(ring), 0);
		KUNIT_EXPECT_EQ(test, *peer(ring), *ours(ring));
	}
}

static void a_consumer_behind_the_producer_is_left_alone(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 6, true);
	int round, used, i;

	for (round = 0; round < 3; round++) {
		for (used = 0; used < 6; used++)
			roce_ring_advance(ring);
		for (i = 0; i < 6; i++) {
			u32 before = *peer(ring);

			KUNIT_EXPECT_EQ(test, roce_ring_unconsumed(ring), 6 - i);
			KUNIT_EXPECT_EQ(test, *peer(ring), before);
			roce_ring_peer_advance(ring);
		}
	}
}

static void elements_come_out_in_order(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 7, false);
	u32 in = 0, out = 0;

	while (out < 1000) {
		while (!is_full(ring) && (in * 7 + out) % 5) {
			*(u32 *)roce_ring_peer_element(ring) = in++;
			roce_ring_peer_advance(ring);
		}
		if (roce_ring_empty(ring)) {
			*(u32 *)roce_ring_peer_element(ring) = in++;
			roce_ring_peer_advance(ring);
		}
		KUNIT_ASSERT_EQ(test, *(u32 *)roce_ring_element(ring, 0), out);
		roce_ring_advance(ring);
		out++;
	}
}

static void produce(struct roce_ring *ring, u32 elements)
{
	while (elements--)
		roce_ring_peer_advance(ring);
}

static void the_producer_is_looked_at_when_nothing_is_left(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 7, false);

	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 0), 0);
	produce(ring, 3);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 0), 3);
	produce(ring, 4);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 2), 1);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 3), 4);
	roce_ring_advance(ring);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 6), 0);
	produce(ring, 1);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 6), 1);
}

static void a_producer_that_goes_back_takes_nothing_back(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 7, false);

	produce(ring, 4);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 2), 2);
	WRITE_ONCE(*peer(ring), 1);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 2), 2);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 4), 0);
}

static void elements_that_are_skipped_are_not_ready(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 7, false);

	produce(ring, 5);
	roce_ring_skip(ring);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 0), 0);
	produce(ring, 1);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 0), 1);
	roce_ring_reset(ring);
	KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 0), 0);
}

static bool is_inside(struct roce_ring *ring, u8 *element)
{
	u8 *data = ring->buf->data;

	return element >= data &&
	       element + ring->element_size <= data + 8 * ring->element_size &&
	       (element - data) % ring->element_size == 0;
}

static void check_index(struct kunit *test, struct roce_ring *ring, u32 index)
{
	u32 used;

	WRITE_ONCE(*peer(ring), index);
	used = roce_ring_used(ring);
	KUNIT_EXPECT_LE(test, used, 7);
	KUNIT_EXPECT_EQ(test, roce_ring_empty(ring), used == 0);
	KUNIT_EXPECT_LE(test, roce_ring_ready(ring, 0), 7);
	KUNIT_EXPECT_LE(test, roce_ring_ready(ring, 5), 2);
	KUNIT_EXPECT_EQ(test, roce_ring_peer_index(ring), index & 7);
	KUNIT_EXPECT_TRUE(test, is_inside(ring, roce_ring_element(ring, used)));
}

static void any_index_of_the_other_side_is_survived(struct kunit *test)
{
	int side, place, i;

	for (side = 0; side < 2; side++) {
		struct roce_ring *ring = make_ring(test, 6, side);

		for (place = 0; place < 8; place++) {
			for (i = 0; i < ARRAY_SIZE(hostile); i++) {
				check_index(test, ring, hostile[i]);
				if (side)
					KUNIT_EXPECT_LE(test, roce_ring_unconsumed(ring),
							place);
			}
			roce_ring_advance(ring);
		}
	}
}

static void any_distance_ahead_stays_within_the_ring(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 7, false);
	int i;

	for (i = 0; i < ARRAY_SIZE(hostile); i++)
		KUNIT_EXPECT_TRUE(test, is_inside(ring,
						  roce_ring_element(ring,
								    hostile[i])));
}

/* A program cannot change the driver's index by writing to the shared copy. */
static void the_index_of_the_driver_is_never_read_back(struct kunit *test)
{
	int side, i;

	for (side = 0; side < 2; side++) {
		struct roce_ring *ring = make_ring(test, 6, side);

		for (i = 0; i < ARRAY_SIZE(hostile); i++) {
			u32 used = roce_ring_used(ring);

			WRITE_ONCE(*ours(ring), hostile[i]);
			KUNIT_EXPECT_EQ(test, roce_ring_used(ring), used);
			roce_ring_advance(ring);
			KUNIT_EXPECT_EQ(test, *ours(ring), (i + 1) & 7);
		}
	}
}

static void the_header_is_never_read_back(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 7, false);
	u8 *third = roce_ring_element(ring, 3);

	ring->buf->log2_elem_size = 31;
	ring->buf->index_mask = U32_MAX;
	WRITE_ONCE(*peer(ring), U32_MAX);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)roce_ring_element(ring, 3), third);
	KUNIT_EXPECT_EQ(test, roce_ring_used(ring), 7);
	KUNIT_EXPECT_EQ(test, roce_ring_capacity(ring), 7);
}

static void a_reset_ring_is_empty(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 7, false);

	WRITE_ONCE(*peer(ring), 0xfffffffd);
	roce_ring_advance(ring);
	roce_ring_reset(ring);
	KUNIT_EXPECT_TRUE(test, roce_ring_empty(ring));
	KUNIT_EXPECT_EQ(test, ring->index, 0);
	KUNIT_EXPECT_EQ(test, *ours(ring), 0);
}

static int scribble(void *context)
{
	struct roce_ring *ring = context;
	u32 n = 0;

	while (!kthread_should_stop()) {
		WRITE_ONCE(*peer(ring), get_random_u32());
		WRITE_ONCE(*ours(ring), get_random_u32());
		/* With one CPU, other threads need it, too. */
		if (++n % 64 == 0)
			usleep_range(1, 10);
	}
	return 0;
}

/* A ring with @used elements around its end; the oldest has number 0. */
static struct roce_ring *make_used_ring(struct kunit *test, u32 capacity,
					bool produced_here, u32 used)
{
	struct roce_ring *ring = make_ring(test, capacity, produced_here);
	u32 begin = ring->mask - used / 2, i;

	ring->index = produced_here ? (begin + used) & ring->mask : begin;
	ring->consumed = begin;
	*ours(ring) = ring->index;
	*peer(ring) = produced_here ? begin : (begin + used) & ring->mask;
	for (i = 0; i < used; i++)
		*(u32 *)roce_ring_element(ring, begin + i - ring->index) = i;
	return ring;
}

static DEFINE_SPINLOCK(ring_lock);

static void replace(struct kunit *test, bool user, bool produced_here, u32 from,
		    u32 to, u32 used)
{
	struct roce_ring *ring = make_used_ring(test, from, produced_here, used);
	struct roce_ring *other = make_ring(test, to, produced_here);
	struct rxe_queue_buf *old = ring->buf;
	u32 i, wrong = 0;
	int err;

	/* A program's ring moves in portions. */
	ring->mapping = user ? (void *)ring : NULL;
	err = roce_ring_replace(ring, other, &ring_lock);
	ring->mapping = NULL;
	other->mapping = NULL;
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_EXPECT_PTR_EQ(test, other->buf, old);
	KUNIT_EXPECT_GE(test, roce_ring_capacity(ring), to);
	KUNIT_ASSERT_EQ(test, roce_ring_used(ring), used);
	if (!produced_here)
		KUNIT_EXPECT_EQ(test, roce_ring_ready(ring, 0), used);
	KUNIT_EXPECT_EQ(test, *ours(ring), ring->index);
	for (i = 0; i < used; i++)
		wrong += *(u32 *)roce_ring_element(ring, produced_here ? i - used : i) != i;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void unconsumed_elements_move_to_the_new_ring(struct kunit *test)
{
	static const u32 used[] = { 0, 1, 63, 64, 65, 200, 255 };
	int i, user;

	for (i = 0; i < ARRAY_SIZE(used); i++) {
		for (user = 0; user < 2; user++) {
			replace(test, user, true, 255, 1023, used[i]);
			replace(test, user, false, 255, 1023, used[i]);
			replace(test, user, true, 1023, 255, used[i]);
			replace(test, user, false, 1023, 255, used[i]);
		}
	}
}

#define CONSUMED	5

/**
 * struct consumer - a softirq that consumes CONSUMED elements of a ring
 * @timer: the softirq
 * @ring: the driver is its consumer
 * @old: the memory of the ring before it is replaced
 * @amid: it came before the ring was replaced
 */
struct consumer {
	struct hrtimer timer;
	struct roce_ring *ring;
	struct rxe_queue_buf *old;
	bool amid;
};

static enum hrtimer_restart consume(struct hrtimer *timer)
{
	struct consumer *consumer = container_of(timer, struct consumer, timer);

	spin_lock(&ring_lock);
	consumer->amid = consumer->ring->buf == consumer->old;
	roce_ring_advance_by(consumer->ring, CONSUMED);
	spin_unlock(&ring_lock);
	return HRTIMER_NORESTART;
}

/*
 * The softirq is due when the replacement unlocks the ring for the first time: it was
 * held back for some milliseconds.
 */
static void replace_amid_consumption(struct consumer *consumer, struct roce_ring *other,
				     u32 ms)
{
	struct roce_ring *ring = consumer->ring;

	consumer->old = ring->buf;
	ring->mapping = (void *)ring;
	local_irq_disable();
	hrtimer_start(&consumer->timer, 0, HRTIMER_MODE_REL_SOFT);
	mdelay(ms);
	roce_ring_replace(ring, other, &ring_lock);
	while (hrtimer_active(&consumer->timer))
		usleep_range(100, 200);
	ring->mapping = NULL;
	other->mapping = NULL;
}

static void elements_may_be_consumed_while_a_ring_is_replaced(struct kunit *test)
{
	struct consumer *consumer = kunit_kzalloc(test, sizeof(*consumer), GFP_KERNEL);
	u32 used = 200, ms;

	KUNIT_ASSERT_NOT_NULL(test, consumer);
	hrtimer_setup(&consumer->timer, consume, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	for (ms = 1; ms < 50 && !consumer->amid; ms++) {
		struct roce_ring *ring = make_used_ring(test, 255, false, used);

		consumer->ring = ring;
		replace_amid_consumption(consumer, make_ring(test, 511, false), ms);
		KUNIT_ASSERT_EQ(test, roce_ring_capacity(ring), 511);
		KUNIT_ASSERT_EQ(test, roce_ring_used(ring), used - CONSUMED);
		KUNIT_ASSERT_EQ(test, roce_ring_ready(ring, 0), used - CONSUMED);
		KUNIT_ASSERT_EQ(test, *(u32 *)roce_ring_element(ring, 0), CONSUMED);
		KUNIT_ASSERT_EQ(test, *ours(ring), ring->index);
	}
	KUNIT_EXPECT_TRUE(test, consumer->amid);
}

static void a_ring_is_not_replaced_by_one_that_is_too_small(struct kunit *test)
{
	struct roce_ring *to = make_ring(test, 255, true), *from;

	from = make_used_ring(test, 1023, true, roce_ring_capacity(to) + 1);
	KUNIT_EXPECT_EQ(test, roce_ring_replace(from, to, &ring_lock), -EINVAL);
	KUNIT_EXPECT_EQ(test, roce_ring_used(from), roce_ring_capacity(to) + 1);
}

static void an_index_that_changes_all_the_time_is_survived(struct kunit *test)
{
	struct roce_ring *ring = make_ring(test, 7, false);
	struct task_struct *thread;
	int i, outside = 0;

	thread = kthread_run(scribble, ring, "roce_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, thread);
	for (i = 0; i < 20000; i++) {
		u32 used = roce_ring_used(ring);

		if (used > 7 || !is_inside(ring, roce_ring_element(ring, used)))
			outside++;
		if (!roce_ring_empty(ring))
			roce_ring_advance(ring);
	}
	kthread_stop(thread);
	KUNIT_EXPECT_EQ(test, outside, 0);
	KUNIT_EXPECT_LE(test, ring->index, 7);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(a_ring_holds_at_least_the_requested_elements),
	KUNIT_CASE(more_than_32_bits_of_bytes_are_refused),
	KUNIT_CASE(the_layout_is_that_of_the_user_abi),
	KUNIT_CASE(a_new_ring_is_empty),
	KUNIT_CASE(a_full_ring_is_not_an_empty_one),
	KUNIT_CASE(a_consumer_ahead_of_the_producer_is_put_back),
	KUNIT_CASE(a_consumer_behind_the_producer_is_left_alone),
	KUNIT_CASE(elements_come_out_in_order),
	KUNIT_CASE(the_producer_is_looked_at_when_nothing_is_left),
	KUNIT_CASE(a_producer_that_goes_back_takes_nothing_back),
	KUNIT_CASE(elements_that_are_skipped_are_not_ready),
	KUNIT_CASE(any_index_of_the_other_side_is_survived),
	KUNIT_CASE(any_distance_ahead_stays_within_the_ring),
	KUNIT_CASE(the_index_of_the_driver_is_never_read_back),
	KUNIT_CASE(the_header_is_never_read_back),
	KUNIT_CASE(a_reset_ring_is_empty),
	KUNIT_CASE(unconsumed_elements_move_to_the_new_ring),
	KUNIT_CASE(elements_may_be_consumed_while_a_ring_is_replaced),
	KUNIT_CASE(a_ring_is_not_replaced_by_one_that_is_too_small),
	KUNIT_CASE(an_index_that_changes_all_the_time_is_survived),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "roce_ring",
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
