// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Readers on other CPUs, however many, do not keep a writer out. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#include "fair_lock.h"

#define READERS		3
#define ROUNDS		50

/**
 * struct bench - readers without a pause, and a writer
 * @lock: what they use
 * @readers: their threads
 * @number: changed by the writer, who has it odd for a while
 * @odd: how often a reader saw that
 * @entries: how often readers have entered
 */
struct bench {
	struct roce_fair_lock lock;
	struct task_struct *readers[READERS];
	unsigned int number;
	atomic_t odd;
	atomic_t entries;
};

static int read_all_the_time(void *context)
{
	struct bench *bench = context;

	while (!kthread_should_stop()) {
		roce_fair_read_lock(&bench->lock);
		atomic_inc(&bench->entries);
		udelay(5);
		if (READ_ONCE(bench->number) % 2)
			atomic_inc(&bench->odd);
		roce_fair_read_unlock(&bench->lock);
		cond_resched();
	}
	return 0;
}

static void write_once(struct bench *bench)
{
	WRITE_ONCE(bench->number, bench->number + 1);
	udelay(5);
	WRITE_ONCE(bench->number, bench->number + 1);
}

/*
 * Another writer, who has just arrived, would wait, too. Returns how often readers enter
 * from then on until the lock is ours.
 */
static int entries_before_a_writer(struct bench *bench)
{
	int before, entries;

	local_bh_disable();
	atomic_inc(&bench->lock.arrived);
	before = atomic_read(&bench->entries);
	roce_fair_write_lock(&bench->lock);
	entries = atomic_read(&bench->entries) - before;
	write_once(bench);
	bench->lock.entered++;
	roce_fair_write_unlock(&bench->lock);
	local_bh_enable();
	return entries;
}

static void a_reader_enters_once_at_most_before_a_writer(struct kunit *test)
{
	struct bench *bench = test->priv;
	int most = 0, i;

	for (i = 0; i < ROUNDS; i++) {
		most = max(most, entries_before_a_writer(bench));
		usleep_range(100, 200);
	}
	KUNIT_EXPECT_LE(test, most, READERS);
}

static void readers_enter_between_two_writers(struct kunit *test)
{
	struct bench *bench = test->priv;

	while (atomic_read(&bench->entries) < ROUNDS) {
		roce_fair_write_lock(&bench->lock);
		write_once(bench);
		roce_fair_write_unlock(&bench->lock);
		cond_resched();
	}
}

static int start_readers(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, bench);
	roce_fair_lock_init(&bench->lock);
	test->priv = bench;
	for (i = 0; i < READERS; i++) {
		bench->readers[i] = kthread_run(read_all_the_time, bench, "roce_kunit/%d", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, bench->readers[i]);
	}
	return 0;
}

/* What the last of them saw counts, too. */
static void stop_readers(struct kunit *test)
{
	struct bench *bench = test->priv;
	int i;

	if (!bench)
		return;
	for (i = 0; i < READERS; i++)
		if (!IS_ERR_OR_NULL(bench->readers[i]))
			kthread_stop(bench->readers[i]);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench->odd), 0);
}

static struct kunit_case fair_lock_cases[] = {
	KUNIT_CASE(a_reader_enters_once_at_most_before_a_writer),
	KUNIT_CASE(readers_enter_between_two_writers),
	{}
};

static struct kunit_suite fair_lock_suite = {
	.name = "roce_fair_lock",
	.init = start_readers,
	.exit = stop_readers,
	.test_cases = fair_lock_cases,
};

kunit_test_suite(fair_lock_suite);
