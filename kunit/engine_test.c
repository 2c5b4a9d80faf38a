// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Engines: whatever happens at the same time, one CPU owns an engine, nothing that it must
 * do is forgotten, and packets keep their order.
 */
#include <linux/kthread.h>
#include <linux/sizes.h>

#include "engine.h"
#include "fixture.h"
#include "odp.h"

#define THREADS		3
#define PACKETS		300

/**
 * struct bench - an engine that only counts
 * @engine: the engine
 * @fault: of the engine
 * @running: number of owners at this moment
 * @overlaps: how often there was more than one owner
 * @received: number of packets
 * @next: number of the next packet of each sender
 * @disorder: number of packets out of their sender's order
 * @advanced: number of calls of advance
 * @to_do: number of calls of advance that ask for another one
 * @to_hold: number of times that the next packet has to wait for memory
 * @waits_over: number of those waits that note_the_end() saw end
 * @odp: that memory, which has no pages
 * @in_receive: called for each packet received, or NULL
 */
struct bench {
	struct roce_engine engine;
	struct roce_fault fault;
	atomic_t running;
	atomic_t overlaps;
	u32 received;
	u32 next[THREADS];
	u32 disorder;
	u32 advanced;
	u32 to_do;
	u32 to_hold;
	u32 waits_over;
	struct roce_odp odp;
	void (*in_receive)(struct bench *bench);
};

/* In the control block of a packet */
struct label {
	u32 sender;
	u32 number;
};

static struct label *label(struct sk_buff *skb)
{
	return (struct label *)skb->cb;
}

static void begin(struct bench *bench)
{
	if (atomic_inc_return(&bench->running) != 1)
		atomic_inc(&bench->overlaps);
}

static void receive(struct roce_engine *engine, struct sk_buff *skb)
{
	struct bench *bench = container_of(engine, struct bench, engine);

	begin(bench);
	if (bench->to_hold) {
		bench->to_hold--;
		roce_fault_need(engine->fault, &bench->odp, 0, 0, 0, false);
		roce_engine_hold(engine, skb);
		atomic_dec(&bench->running);
		return;
	}
	if (label(skb)->number != bench->next[label(skb)->sender]++)
		bench->disorder++;
	bench->received++;
	consume_skb(skb);
	if (bench->in_receive)
		bench->in_receive(bench);
	atomic_dec(&bench->running);
}

static bool advance(struct roce_engine *engine)
{
	struct bench *bench = container_of(engine, struct bench, engine);
	bool more;

	begin(bench);
	bench->advanced++;
	more = bench->to_do;
	if (more)
		bench->to_do--;
	atomic_dec(&bench->running);
	return more;
}

static const struct roce_engine_ops ops = {
	.receive = receive,
	.advance = advance,
};

static bool send(struct bench *bench, u32 sender, u32 number)
{
	struct sk_buff *skb = alloc_skb(16, GFP_ATOMIC);
	bool taken;

	if (!skb)
		return false;
	label(skb)->sender = sender;
	label(skb)->number = number;
	local_bh_disable();
	taken = roce_engine_receive(&bench->engine, skb);
	local_bh_enable();
	if (!taken)
		kfree_skb(skb);
	return taken;
}

static void run(struct bench *bench)
{
	local_bh_disable();
	roce_engine_run(&bench->engine);
	local_bh_enable();
}

/* The inbox is megabytes, and the machine may be emulated and busy. */
static bool becomes(u32 *value, u32 wanted)
{
	int tries = 20000;

	while (READ_ONCE(*value) != wanted && --tries)
		usleep_range(1000, 1500);
	return tries;
}

static struct bench *new_bench(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	roce_engine_init(&bench->engine, &ops, &bench->fault);
	return bench;
}

static void an_engine_advances_until_no_work_is_left(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->to_do = 5;
	run(bench);
	KUNIT_EXPECT_EQ(test, bench->advanced, 6);
	KUNIT_EXPECT_FALSE(test, bench->engine.owned);
}

static void a_packet_is_received_at_once(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_TRUE(test, send(bench, 0, 0));
	KUNIT_EXPECT_EQ(test, bench->received, 1);
	KUNIT_EXPECT_EQ(test, bench->advanced, 1);
}

static void send_three_more(struct bench *bench)
{
	u32 i;

	if (bench->received != 1)
		return;
	for (i = 1; i <= 3; i++)
		send(bench, 0, i);
}

static void packets_received_during_a_run_keep_their_order(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->in_receive = send_three_more;
	send(bench, 0, 0);
	KUNIT_EXPECT_EQ(test, bench->received, 4);
	KUNIT_EXPECT_EQ(test, bench->disorder, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench->overlaps), 0);
}

static void wish_once(struct bench *bench)
{
	bench->in_receive = NULL;
	run(bench);
}

static void a_run_requested_during_a_run_takes_place(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->in_receive = wish_once;
	send(bench, 0, 0);
	KUNIT_EXPECT_EQ(test, bench->advanced, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench->overlaps), 0);
}

static void work_beyond_the_budget_continues_later(struct kunit *test)
{
	struct bench *bench = test->priv;
	u32 at_once;

	bench->to_do = 100;
	local_bh_disable();
	roce_engine_run(&bench->engine);
	at_once = bench->advanced;
	local_bh_enable();
	KUNIT_EXPECT_GT(test, at_once, 0);
	KUNIT_EXPECT_LT(test, at_once, 100);
	KUNIT_EXPECT_TRUE(test, becomes(&bench->to_do, 0));
}

static void work_much(struct bench *bench)
{
	roce_engine_charge(SZ_1M);
}

/* Each engine alone is within the budget, but not all of them together. */
static void all_engines_of_a_cpu_have_one_budget(struct kunit *test)
{
	struct bench *benches[16];
	u32 i, at_once = 0;

	for (i = 0; i < ARRAY_SIZE(benches); i++)
		benches[i] = new_bench(test);
	local_bh_disable();
	for (i = 0; i < ARRAY_SIZE(benches); i++) {
		benches[i]->to_do = 20;
		roce_engine_run(&benches[i]->engine);
		at_once += benches[i]->advanced;
	}
	local_bh_enable();
	KUNIT_EXPECT_GE(test, at_once, 20);
	KUNIT_EXPECT_LE(test, at_once, 64 + 1);
	for (i = 0; i < ARRAY_SIZE(benches); i++) {
		KUNIT_EXPECT_TRUE(test, becomes(&benches[i]->to_do, 0));
		roce_engine_destroy(&benches[i]->engine);
	}
}

/* It asks for another run in every run. */
static void a_scheduled_engine_can_be_destroyed(struct kunit *test)
{
	struct bench *bench = new_bench(test);
	u32 advanced;

	bench->to_do = ~0;
	run(bench);
	roce_engine_destroy(&bench->engine);
	advanced = bench->advanced;
	msleep(20);
	KUNIT_EXPECT_EQ(test, bench->advanced, advanced);
	KUNIT_EXPECT_GT(test, bench->to_do, 0);
}

static void after_the_budget_new_packets_wait_for_the_scheduled_run(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->in_receive = work_much;
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, send(bench, 0, 0));
	KUNIT_EXPECT_EQ(test, bench->received, 1);
	KUNIT_EXPECT_TRUE(test, send(bench, 0, 1));
	run(bench);
	KUNIT_EXPECT_EQ(test, bench->received, 1);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, becomes(&bench->received, 2));
	KUNIT_EXPECT_EQ(test, bench->disorder, 0);
}

static void a_claim_does_not_wait_for_the_scheduled_run(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->in_receive = work_much;
	send(bench, 0, 0);
	roce_engine_claim(&bench->engine);
	send(bench, 0, 1);
	KUNIT_EXPECT_EQ(test, bench->received, 1);
	roce_engine_release(&bench->engine);
	KUNIT_EXPECT_TRUE(test, becomes(&bench->received, 2));
}

static void a_claimed_engine_does_not_run(struct kunit *test)
{
	struct bench *bench = test->priv;

	roce_engine_claim(&bench->engine);
	KUNIT_EXPECT_TRUE(test, send(bench, 0, 0));
	KUNIT_EXPECT_TRUE(test, send(bench, 0, 1));
	run(bench);
	KUNIT_EXPECT_EQ(test, bench->received, 0);
	KUNIT_EXPECT_EQ(test, bench->advanced, 0);

	roce_engine_release(&bench->engine);
	KUNIT_EXPECT_TRUE(test, becomes(&bench->received, 2));
	KUNIT_EXPECT_EQ(test, bench->disorder, 0);
}

static void a_run_requested_during_a_claim_takes_place_afterwards(struct kunit *test)
{
	struct bench *bench = test->priv;

	roce_engine_claim(&bench->engine);
	run(bench);
	roce_engine_release(&bench->engine);
	KUNIT_EXPECT_TRUE(test, becomes(&bench->advanced, 1));
}

static void the_inbox_is_bounded(struct kunit *test)
{
	struct bench *bench = test->priv;
	u32 n = 0;

	roce_engine_claim(&bench->engine);
	while (n < 100000 && send(bench, 0, n))
		n++;
	KUNIT_EXPECT_GE(test, bench->engine.inbox_bytes, SZ_8M);
	KUNIT_EXPECT_LE(test, bench->engine.inbox_bytes, SZ_8M + SZ_4K);
	KUNIT_EXPECT_EQ(test, n, skb_queue_len(&bench->engine.inbox));
	roce_engine_release(&bench->engine);
	KUNIT_EXPECT_TRUE(test, becomes(&bench->received, n));
	KUNIT_EXPECT_EQ(test, bench->disorder, 0);
	KUNIT_EXPECT_EQ(test, bench->engine.inbox_bytes, 0);
}

/* kmemleak would find leaks. */
static void packets_in_the_inbox_are_freed_with_the_engine(struct kunit *test)
{
	struct bench *bench = test->priv;

	roce_engine_claim(&bench->engine);
	send(bench, 0, 0);
	roce_engine_destroy(&bench->engine);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&bench->engine.inbox));
	KUNIT_EXPECT_EQ(test, bench->received, 0);
}

struct sender {
	struct bench *bench;
	u32 number;
	struct task_struct *thread;
	u32 sent;
};

static int send_all(void *context)
{
	struct sender *sender = context;

	while (sender->sent < PACKETS) {
		if (send(sender->bench, sender->number, sender->sent))
			sender->sent++;
		if (sender->sent % 7 == 0)
			run(sender->bench);
		cond_resched();
	}
	while (!kthread_should_stop())
		usleep_range(100, 200);
	return 0;
}

/* In place of the function that lets packets go on. Only then is @fault over. */
static void note_the_end(struct roce_fault *fault)
{
	struct bench *bench = container_of(fault, struct bench, fault);

	WRITE_ONCE(bench->waits_over, bench->waits_over + 1);
}

static void packets_wait_behind_one_that_waits_for_memory(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_fault *fault = &bench->fault;
	void (*done)(struct roce_fault *fault) = fault->done;
	u32 advanced;

	fault->done = note_the_end;
	bench->to_hold = 1;
	KUNIT_ASSERT_TRUE(test, send(bench, 0, 0));
	KUNIT_ASSERT_TRUE(test, becomes(&bench->waits_over, 1));
	KUNIT_EXPECT_FALSE(test, roce_fault_is_pending(fault));
	advanced = bench->advanced;
	KUNIT_ASSERT_TRUE(test, send(bench, 0, 1));
	KUNIT_ASSERT_TRUE(test, send(bench, 0, 2));
	KUNIT_EXPECT_EQ(test, bench->received, 0);
	KUNIT_EXPECT_GT(test, bench->advanced, advanced);
	KUNIT_EXPECT_FALSE(test, bench->engine.owned);

	local_bh_disable();
	done(fault);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, bench->received, 3);
	KUNIT_EXPECT_EQ(test, bench->disorder, 0);
	KUNIT_EXPECT_EQ(test, bench->engine.inbox_bytes, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench->odp.users), 0);
}

static void a_packet_may_wait_for_memory_again(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->to_hold = 3;
	KUNIT_ASSERT_TRUE(test, send(bench, 0, 0));
	KUNIT_ASSERT_TRUE(test, send(bench, 0, 1));
	KUNIT_EXPECT_TRUE(test, becomes(&bench->received, 2));
	KUNIT_EXPECT_EQ(test, bench->to_hold, 0);
	KUNIT_EXPECT_EQ(test, bench->disorder, 0);
}

static void an_engine_that_waits_for_memory_can_be_destroyed(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->to_hold = 1;
	KUNIT_ASSERT_TRUE(test, send(bench, 0, 0));
	KUNIT_ASSERT_TRUE(test, send(bench, 0, 1));
	roce_fault_cancel(&bench->fault);
	KUNIT_EXPECT_FALSE(test, roce_fault_is_pending(&bench->fault));
	KUNIT_EXPECT_EQ(test, atomic_read(&bench->odp.users), 0);
	roce_engine_purge(&bench->engine);
	KUNIT_EXPECT_FALSE(test, roce_engine_is_held(&bench->engine));
}

static void an_engine_with_many_senders_has_one_owner(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct sender senders[THREADS];
	int i;

	for (i = 0; i < THREADS; i++) {
		senders[i] = (struct sender) { .bench = bench, .number = i };
		senders[i].thread = kthread_run(send_all, &senders[i],
						"roce_kunit/%d", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, senders[i].thread);
	}
	for (i = 0; i < 20; i++) {
		roce_engine_claim(&bench->engine);
		begin(bench);
		atomic_dec(&bench->running);
		roce_engine_release(&bench->engine);
		usleep_range(500, 1000);
	}
	KUNIT_EXPECT_TRUE(test, becomes(&bench->received, THREADS * PACKETS));
	for (i = 0; i < THREADS; i++)
		kthread_stop(senders[i].thread);
	KUNIT_EXPECT_EQ(test, bench->disorder, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench->overlaps), 0);
}

/* A scheduled run renews the budget of the CPU. */
static int make_bench(struct kunit *test)
{
	struct bench *bench = new_bench(test);

	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	test->priv = bench;
	local_bh_disable();
	roce_engine_charge(SZ_1M);
	roce_engine_schedule(&bench->engine);
	local_bh_enable();
	if (!becomes(&bench->advanced, 1))
		return -ETIMEDOUT;
	bench->advanced = 0;
	return 0;
}

static void destroy_engine(struct kunit *test)
{
	struct bench *bench = test->priv;

	if (bench)
		roce_engine_destroy(&bench->engine);
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(an_engine_advances_until_no_work_is_left),
	KUNIT_CASE(a_packet_is_received_at_once),
	KUNIT_CASE(packets_received_during_a_run_keep_their_order),
	KUNIT_CASE(a_run_requested_during_a_run_takes_place),
	KUNIT_CASE(work_beyond_the_budget_continues_later),
	KUNIT_CASE(all_engines_of_a_cpu_have_one_budget),
	KUNIT_CASE(a_scheduled_engine_can_be_destroyed),
	KUNIT_CASE(after_the_budget_new_packets_wait_for_the_scheduled_run),
	KUNIT_CASE(a_claim_does_not_wait_for_the_scheduled_run),
	KUNIT_CASE(a_claimed_engine_does_not_run),
	KUNIT_CASE(a_run_requested_during_a_claim_takes_place_afterwards),
	KUNIT_CASE(the_inbox_is_bounded),
	KUNIT_CASE(packets_in_the_inbox_are_freed_with_the_engine),
	KUNIT_CASE(packets_wait_behind_one_that_waits_for_memory),
	KUNIT_CASE(a_packet_may_wait_for_memory_again),
	KUNIT_CASE(an_engine_that_waits_for_memory_can_be_destroyed),
	KUNIT_CASE(an_engine_with_many_senders_has_one_owner),
	{}
};

static struct kunit_suite engine_suite = {
	.name = "roce_engine",
	.init = make_bench,
	.exit = destroy_engine,
	.test_cases = engine_cases,
};

kunit_test_suite(engine_suite);
