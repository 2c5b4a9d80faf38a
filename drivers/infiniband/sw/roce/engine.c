// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/sizes.h>

#include "compat.h"
#include "egress.h"
#include "engine.h"
#include "section.h"

/*
 * Bytes that all engines of a CPU receive and send before softirq does something
 * else. Other CPUs learn only then what this one has for them: the stack tells them of
 * packets that were steered to them (RPS) when its receive softirq ends.
 */
#define CPU_BUDGET	SZ_64K

/* What a step costs besides its bytes */
#define STEP_COST	SZ_1K

/*
 * Memory that may wait in an inbox. The window of a near sender is far below this. What
 * exceeds it is lost, and go-back-N covers the loss.
 */
#define ENGINE_INBOX_BYTES	SZ_8M

/**
 * struct roce_lane - engines that run soon on one CPU, one after the other
 * @lock: guards @engines
 * @engines: in their order
 * @bh: lets them run until the budget is used up, and comes again for the rest
 * @budget: bytes that engines may still receive and send on this CPU; @bh renews it,
 *	and is asked to when it is used up. The CPU's own, with BH disabled
 */
struct roce_lane {
	spinlock_t lock;		/* of engines */
	struct list_head engines;
	struct roce_bh bh;
	int budget;
};

static DEFINE_PER_CPU(struct roce_lane, lanes);

/**
 * roce_engine_charge() - say how much was done
 * @bytes: that were received or sent, up to the length of an sk_buff
 *
 * BH disabled, as owner of an engine.
 */
void roce_engine_charge(u32 bytes)
{
	__this_cpu_sub(lanes.budget, bytes);
}

/**
 * roce_engine_budget_is_used_up() - whether softirq is to do something else
 *
 * BH disabled.
 */
bool roce_engine_budget_is_used_up(void)
{
	return __this_cpu_read(lanes.budget) <= 0;
}

/* Become the owner if nobody is, and nobody has a right to it. */
static bool take(struct roce_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	if (engine->owned || engine->wanted || engine->yielded)
		return false;
	engine->owned = true;
	return true;
}

/* Become the owner, or make sure that somebody goes round once more. */
static bool own(struct roce_engine *engine)
{
	bool won;

	spin_lock_bh(&engine->lock);
	won = take(engine);
	engine->again = !won;
	spin_unlock_bh(&engine->lock);
	return won;
}

/* Stop being the owner, unless there is more to do. */
static bool disown(struct roce_engine *engine)
{
	bool go_on;

	spin_lock_bh(&engine->lock);
	go_on = !engine->wanted &&
		(engine->again || !skb_queue_empty(&engine->inbox));
	engine->owned = go_on;
	if (go_on)
		engine->again = false;
	spin_unlock_bh(&engine->lock);
	return !go_on;
}

static struct sk_buff *next_received(struct roce_engine *engine)
{
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&engine->inbox))
		return NULL;

	spin_lock_bh(&engine->lock);
	skb = __skb_dequeue(&engine->inbox);
	if (skb)
		engine->inbox_bytes -= skb->truesize;
	spin_unlock_bh(&engine->lock);
	return skb;
}

/* One step of the owner. False when there is nothing left to do. */
static bool step(struct roce_engine *engine)
{
	struct sk_buff *skb = next_received(engine);

	roce_engine_charge(STEP_COST);
	if (skb) {
		roce_engine_charge(skb->len);
		engine->ops->receive(engine, skb);
		return true;
	}
	return engine->ops->advance(engine);
}

/* Leave the rest to the continuation, and what comes until it runs as well. */
static void yield_softirq(struct roce_engine *engine)
{
	spin_lock_bh(&engine->lock);
	engine->owned = false;
	engine->yielded = true;
	spin_unlock_bh(&engine->lock);
	roce_engine_schedule(engine);
}

static bool must_yield(const struct roce_engine *engine)
{
	return roce_engine_budget_is_used_up() || READ_ONCE(engine->wanted);
}

static void run_as_owner(struct roce_engine *engine)
{
	bool worked = false;

	do {
		while (!must_yield(engine) && step(engine))
			worked = true;
		if (must_yield(engine)) {
			/* Packets must not keep answers and timeouts back. */
			if (worked)
				engine->ops->advance(engine);
			yield_softirq(engine);
			return;
		}
	} while (!disown(engine));
}

/**
 * roce_engine_run() - let the engine do what there is to do
 * @engine: of a QP that cannot go away: who destroys it waits for the caller
 *
 * Softirq context, or process context with BH disabled.
 */
void roce_engine_run(struct roce_engine *engine)
{
	roce_section_enter();
	if (own(engine))
		run_as_owner(engine);
	roce_section_leave();
}

/**
 * roce_engine_receive() - give the engine a received run of packets
 * @engine: of a QP that was looked up in this section
 * @skb: consumed, unless false is returned
 *
 * Softirq context.
 *
 * Return: false if too many wait already.
 */
bool roce_engine_receive(struct roce_engine *engine, struct sk_buff *skb)
{
	bool won;

	spin_lock_bh(&engine->lock);
	if (engine->inbox_bytes >= ENGINE_INBOX_BYTES) {
		spin_unlock_bh(&engine->lock);
		return false;
	}
	__skb_queue_tail(&engine->inbox, skb);
	engine->inbox_bytes += skb->truesize;
	won = take(engine);
	spin_unlock_bh(&engine->lock);

	if (won)
		run_as_owner(engine);
	return true;
}

/**
 * roce_engine_schedule() - let the engine run soon, in softirq context
 * @engine: of a QP that cannot go away meanwhile
 *
 * Any context, interrupts disabled included.
 */
void roce_engine_schedule(struct roce_engine *engine)
{
	struct roce_lane *lane;
	unsigned long flags;

	/* It is in a lane already, and will see what the caller has done. */
	if (test_and_set_bit(ROCE_ENGINE_SCHEDULED, &engine->flags))
		return;
	local_irq_save(flags);
	lane = this_cpu_ptr(&lanes);
	spin_lock(&lane->lock);
	WRITE_ONCE(engine->lane, lane);
	list_add_tail(&engine->node, &lane->engines);
	spin_unlock(&lane->lock);
	roce_bh_schedule(&lane->bh);
	local_irq_restore(flags);
}

/* The engine whose turn it is. It may be scheduled again from now on. */
static struct roce_engine *take_next(struct roce_lane *lane)
{
	struct roce_engine *engine;
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	engine = list_first_entry_or_null(&lane->engines, struct roce_engine,
					  node);
	if (engine) {
		list_del_init(&engine->node);
		atomic_inc(&engine->runs);
		/* Who does not see the flag sees the run. */
		smp_mb__before_atomic();
		clear_bit(ROCE_ENGINE_SCHEDULED, &engine->flags);
		/* What was done before it was scheduled once more is seen by this run. */
		smp_mb__after_atomic();
	}
	spin_unlock_irqrestore(&lane->lock, flags);
	return engine;
}

static void run_lane(struct roce_bh *bh)
{
	struct roce_lane *lane = container_of(bh, struct roce_lane, bh);
	struct roce_engine *engine;

	__this_cpu_write(lanes.budget, CPU_BUDGET);
	while (!roce_engine_budget_is_used_up() && (engine = take_next(lane))) {
		spin_lock_bh(&engine->lock);
		engine->yielded = false;
		spin_unlock_bh(&engine->lock);
		roce_engine_run(engine);
		/* It may go away now: see quiesce(). */
		atomic_dec_return_release(&engine->runs);
	}
	if (!list_empty_careful(&lane->engines))
		roce_bh_schedule(&lane->bh);
}

static void leave_lane(struct roce_engine *engine)
{
	struct roce_lane *lane = READ_ONCE(engine->lane);

	spin_lock_irq(&lane->lock);
	if (!list_empty(&engine->node)) {
		list_del_init(&engine->node);
		clear_bit(ROCE_ENGINE_SCHEDULED, &engine->flags);
	}
	spin_unlock_irq(&lane->lock);
}

/*
 * Nobody but the engine itself, which has a last look at its inbox perhaps, schedules
 * it any more: let it neither be in a lane nor run there.
 */
static void quiesce(struct roce_engine *engine)
{
	if (!READ_ONCE(engine->lane))
		return;
	do {
		leave_lane(engine);
		/* It may run on several CPUs, all but one of which find it owned. */
		while (atomic_read_acquire(&engine->runs))
			usleep_range(10, 50);
	} while (test_bit(ROCE_ENGINE_SCHEDULED, &engine->flags));
}

/**
 * roce_engine_claim() - own the engine from process context
 * @engine: not owned by the caller
 *
 * The control path changes the state of an engine between claim and release.
 * Waits for the present owner, which is bounded by its budget.
 */
void roce_engine_claim(struct roce_engine *engine)
{
	bool won;

	might_sleep();
	for (;;) {
		spin_lock_bh(&engine->lock);
		won = !engine->owned;
		engine->owned = true;
		/* The owner looks at it without the lock. */
		WRITE_ONCE(engine->wanted, !won);
		spin_unlock_bh(&engine->lock);
		if (won)
			return;
		usleep_range(10, 50);
	}
}

/**
 * roce_engine_release() - give the engine up
 * @engine: owned by the caller
 *
 * What arrived while it was owned is done soon, in softirq context.
 */
void roce_engine_release(struct roce_engine *engine)
{
	bool more;

	spin_lock_bh(&engine->lock);
	more = engine->again || !skb_queue_empty(&engine->inbox);
	engine->again = false;
	engine->owned = false;
	spin_unlock_bh(&engine->lock);

	if (more)
		roce_engine_schedule(engine);
}

/**
 * roce_engine_init() - set an idle engine up
 * @engine: to be filled in
 * @ops: what it does
 */
void roce_engine_init(struct roce_engine *engine,
		      const struct roce_engine_ops *ops)
{
	engine->ops = ops;
	spin_lock_init(&engine->lock);
	__skb_queue_head_init(&engine->inbox);
	engine->inbox_bytes = 0;
	engine->owned = false;
	engine->again = false;
	engine->wanted = false;
	engine->yielded = false;
	engine->flags = 0;
	engine->lane = NULL;
	atomic_set(&engine->runs, 0);
	INIT_LIST_HEAD(&engine->node);
	roce_turn_init(&engine->turn);
}

/**
 * roce_engine_purge() - drop what waits in the inbox
 * @engine: owned by the caller, or nobody can find it any more
 *
 * The owner is not the only one who gets at the inbox: packets go on arriving.
 */
void roce_engine_purge(struct roce_engine *engine)
{
	struct sk_buff_head gone;

	__skb_queue_head_init(&gone);
	spin_lock_bh(&engine->lock);
	skb_queue_splice_init(&engine->inbox, &gone);
	engine->inbox_bytes = 0;
	spin_unlock_bh(&engine->lock);
	__skb_queue_purge(&gone);
}

/**
 * roce_engine_destroy() - stop an engine for good
 * @engine: nobody can find it any more: its QP was unpublished, and sections that
 *	had begun are over
 *
 * Process context.
 */
void roce_engine_destroy(struct roce_engine *engine)
{
	roce_turn_cancel(&engine->turn);
	quiesce(engine);
	roce_engine_purge(engine);
}

/** roce_engines_init() - set up where engines run */
void roce_engines_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct roce_lane *lane = per_cpu_ptr(&lanes, cpu);

		spin_lock_init(&lane->lock);
		INIT_LIST_HEAD(&lane->engines);
		roce_bh_init(&lane->bh, run_lane);
		lane->budget = CPU_BUDGET;
	}
}

/**
 * roce_engines_exit() - undo roce_engines_init()
 *
 * Process context. There are no engines any more.
 */
void roce_engines_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		roce_bh_cancel(&per_cpu_ptr(&lanes, cpu)->bh);
}
