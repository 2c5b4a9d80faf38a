// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Engines: who owns a half of a QP. And lanes, which run the scheduled engines of a CPU
 * within its budget.
 */
#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/sizes.h>

#include "compat.h"
#include "egress.h"
#include "engine.h"
#include "section.h"

/*
 * Bytes that the engines of a CPU may receive and send before the softirq yields. Only
 * then are other CPUs notified of packets for them: the stack does so for steered
 * packets (RPS) at the end of its receive softirq.
 */
#define CPU_BUDGET	SZ_64K

/* The cost of a step, in addition to its bytes */
#define STEP_COST	SZ_1K

/*
 * Memory for packets in an inbox. The window of a near sender is far below this. Packets
 * beyond it are dropped, and sent again like other lost packets.
 */
#define ENGINE_INBOX_BYTES	SZ_8M

/**
 * struct roce_lane - the engines scheduled on one CPU, which run one after the other
 * @lock: guards @engines and @resting; raw, for interrupts schedule engines
 * @engines: in the order of scheduling
 * @bh: runs them until the budget is used up, and is scheduled again for the rest
 * @resting: engines that run after the next receive softirq of this CPU
 * @wake: moves them to @engines. A BH workqueue takes what is queued meanwhile into the
 *	same softirq; @wake runs first in the next one, so @bh after the receive softirq
 * @budget: bytes that engines may still receive and send on this CPU; renewed by @bh.
 *	Only used on its CPU, with BH disabled
 */
struct roce_lane {
	raw_spinlock_t lock;		/* of both lists */
	struct list_head engines;
	struct roce_bh bh;
	struct list_head resting;
	struct roce_bh wake;
	int budget;
};

static DEFINE_PER_CPU(struct roce_lane, lanes);

/**
 * roce_engine_charge() - charge work to the budget of this CPU
 * @bytes: received or sent bytes, or what other work costs in bytes
 *
 * BH disabled.
 */
void roce_engine_charge(u32 bytes)
{
	__this_cpu_sub(lanes.budget, bytes);
}

/**
 * roce_engine_alloc() - allocate what a half of a QP may never need
 * @size: bytes
 *
 * Any context. Without memory the packet that needs it counts as lost: its sender sends
 * it again.
 *
 * Return: zeroed memory for kfree(), or NULL.
 */
void *roce_engine_alloc(size_t size)
{
	return kzalloc(size, GFP_ATOMIC | __GFP_NOWARN);
}

/**
 * roce_engine_budget_is_used_up() - whether the softirq must yield
 *
 * BH disabled.
 */
bool roce_engine_budget_is_used_up(void)
{
	return __this_cpu_read(lanes.budget) <= 0;
}

/* Become the owner, unless there is one, or others have precedence. */
static bool take(struct roce_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	if (engine->owned || engine->wanted || engine->yielded)
		return false;
	engine->owned = true;
	return true;
}

/* Become the owner, or make the present owner run another round. */
static bool own(struct roce_engine *engine)
{
	bool won;

	spin_lock_bh(&engine->lock);
	won = take(engine);
	engine->again = !won;
	spin_unlock_bh(&engine->lock);
	return won;
}

/* Give up ownership, unless there is more to do. */
static bool disown(struct roce_engine *engine)
{
	bool go_on;

	spin_lock_bh(&engine->lock);
	go_on = !engine->wanted &&
		(engine->again || (!engine->held && !skb_queue_empty(&engine->inbox)));
	engine->owned = go_on;
	if (go_on)
		engine->again = false;
	spin_unlock_bh(&engine->lock);
	return !go_on;
}

static struct sk_buff *next_received(struct roce_engine *engine)
{
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&engine->inbox) || roce_engine_is_held(engine))
		return NULL;

	spin_lock_bh(&engine->lock);
	skb = __skb_dequeue(&engine->inbox);
	if (skb)
		engine->inbox_bytes -= skb->truesize;
	spin_unlock_bh(&engine->lock);
	return skb;
}

/* One step of the owner. Returns false if there is nothing left to do. */
static bool step(struct roce_engine *engine)
{
	struct sk_buff *skb = next_received(engine);

	roce_engine_charge(STEP_COST);
	if (!skb)
		return engine->ops->advance(engine);
	engine->ops->receive(engine, skb);
	return true;
}

/* The engine runs soon on this CPU, or, if it rests, after its next receive softirq. */
static void enter_lane(struct roce_engine *engine, bool rests)
{
	struct roce_lane *lane;
	unsigned long flags;

	/* Already scheduled: that run will see the caller's changes. */
	if (test_and_set_bit(ROCE_ENGINE_SCHEDULED, &engine->flags))
		return;
	local_irq_save(flags);
	lane = this_cpu_ptr(&lanes);
	raw_spin_lock(&lane->lock);
	WRITE_ONCE(engine->lane, lane);
	/* Pairs with the acquire of list_empty_careful() in leave_lane(). */
	smp_wmb();
	list_add_tail(&engine->node, rests ? &lane->resting : &lane->engines);
	raw_spin_unlock(&lane->lock);
	if (rests)
		roce_bh_schedule_first(&lane->wake);
	else
		roce_bh_schedule(&lane->bh);
	local_irq_restore(flags);
}

/* Leave the rest, and packets that arrive until then, to the scheduled run. */
static void yield_softirq(struct roce_engine *engine)
{
	bool rests = engine->resting;

	engine->resting = false;
	spin_lock_bh(&engine->lock);
	engine->owned = false;
	engine->yielded = true;
	spin_unlock_bh(&engine->lock);
	enter_lane(engine, rests);
}

static bool must_yield(const struct roce_engine *engine)
{
	return roce_engine_budget_is_used_up() || READ_ONCE(engine->wanted) ||
	       roce_engine_is_resting(engine);
}

static void run_as_owner(struct roce_engine *engine)
{
	bool worked = false;

	do {
		while (!must_yield(engine) && step(engine))
			worked = true;
		if (must_yield(engine)) {
			/* Packets must not delay answers and timeouts. */
			if (worked && !roce_engine_is_resting(engine))
				engine->ops->advance(engine);
			yield_softirq(engine);
			return;
		}
	} while (!disown(engine));
}

/**
 * roce_engine_run() - run the engine, or make its present owner do so
 * @engine: of a QP that cannot be destroyed before the caller returns
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
 * roce_engine_receive() - give a received run of packets to the engine
 * @engine: of a QP that was looked up in this section
 * @skb: consumed, unless false is returned
 *
 * Softirq context.
 *
 * Return: false if the inbox is full.
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
 * roce_engine_hold() - keep a run until the memory for its next packet is present
 * @engine: owned by the caller, with @engine->fault noted in this section
 * @skb: the run, owned by the engine from now on; its receive function gets it again
 *
 * Later runs wait behind it in the inbox. The engine still advances.
 */
void roce_engine_hold(struct roce_engine *engine, struct sk_buff *skb)
{
	spin_lock_bh(&engine->lock);
	__skb_queue_head(&engine->inbox, skb);
	engine->inbox_bytes += skb->truesize;
	WRITE_ONCE(engine->held, true);
	spin_unlock_bh(&engine->lock);
	/* It may end at once, on another CPU. */
	roce_fault_start(engine->fault);
}

static void memory_is_present(struct roce_fault *fault)
{
	struct roce_engine *engine = fault->engine;

	spin_lock_bh(&engine->lock);
	WRITE_ONCE(engine->held, false);
	spin_unlock_bh(&engine->lock);
	roce_engine_run(engine);
}

/**
 * roce_engine_schedule() - run the engine soon, in softirq context
 * @engine: of a QP that cannot be destroyed meanwhile
 *
 * Any context, even with interrupts disabled.
 */
void roce_engine_schedule(struct roce_engine *engine)
{
	enter_lane(engine, false);
}

/* Take the next engine. It can be scheduled again from now on. */
static struct roce_engine *take_next(struct roce_lane *lane)
{
	struct roce_engine *engine;
	unsigned long flags;

	raw_spin_lock_irqsave(&lane->lock, flags);
	engine = list_first_entry_or_null(&lane->engines, struct roce_engine,
					  node);
	if (engine) {
		list_del_init(&engine->node);
		atomic_inc(&engine->runs);
		/* A CPU that sees the flag cleared also sees the run counted. */
		smp_mb__before_atomic();
		clear_bit(ROCE_ENGINE_SCHEDULED, &engine->flags);
		/* A caller that saw the flag set relies on this run to see its changes. */
		smp_mb__after_atomic();
	}
	raw_spin_unlock_irqrestore(&lane->lock, flags);
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
		/* After this, quiesce() may let the engine be freed. */
		atomic_dec_return_release(&engine->runs);
	}
	if (!list_empty_careful(&lane->engines))
		roce_bh_schedule(&lane->bh);
}

static void wake_resting(struct roce_bh *bh)
{
	struct roce_lane *lane = container_of(bh, struct roce_lane, wake);
	unsigned long flags;

	raw_spin_lock_irqsave(&lane->lock, flags);
	list_splice_tail_init(&lane->resting, &lane->engines);
	raw_spin_unlock_irqrestore(&lane->lock, flags);
	roce_bh_schedule(&lane->bh);
}

/*
 * Returns whether the engine is neither scheduled nor running. It may have entered another
 * lane meanwhile; the caller looks again.
 */
static bool leave_lane(struct roce_engine *engine)
{
	struct roce_lane *lane = READ_ONCE(engine->lane);
	bool idle;

	raw_spin_lock_irq(&lane->lock);
	if (!list_empty_careful(&engine->node) && READ_ONCE(engine->lane) == lane) {
		list_del_init(&engine->node);
		clear_bit(ROCE_ENGINE_SCHEDULED, &engine->flags);
	}
	/* A run that ends may have scheduled the next one, which this lane cannot begin now. */
	idle = !atomic_read_acquire(&engine->runs) &&
	       !test_bit(ROCE_ENGINE_SCHEDULED, &engine->flags);
	/* Another lane can, but the engine has entered that before. */
	smp_rmb();
	idle = idle && READ_ONCE(engine->lane) == lane;
	raw_spin_unlock_irq(&lane->lock);
	return idle;
}

/*
 * Make sure that the engine is neither scheduled nor running. Only the engine itself
 * may still schedule it, after a last look at its inbox.
 */
static void quiesce(struct roce_engine *engine)
{
	if (!READ_ONCE(engine->lane))
		return;
	while (!leave_lane(engine))
		usleep_range(10, 50);
}

/**
 * roce_engine_claim() - become the owner, from process context
 * @engine: not owned by the caller
 *
 * The control path changes the state of an engine between claim and release.
 * Waits for the present owner, which yields within its budget.
 */
void roce_engine_claim(struct roce_engine *engine)
{
	bool won;

	might_sleep();
	for (;;) {
		spin_lock_bh(&engine->lock);
		won = !engine->owned;
		engine->owned = true;
		/* The owner reads it without the lock. */
		WRITE_ONCE(engine->wanted, !won);
		spin_unlock_bh(&engine->lock);
		if (won)
			return;
		usleep_range(10, 50);
	}
}

/**
 * roce_engine_release() - give up ownership
 * @engine: owned by the caller
 *
 * Work that arrived meanwhile is scheduled in softirq context.
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
 * roce_engine_init() - initialize an idle engine
 * @engine: to be filled in
 * @ops: its functions
 * @fault: to be filled in, for the memory for received packets
 */
void roce_engine_init(struct roce_engine *engine, const struct roce_engine_ops *ops,
		      struct roce_fault *fault)
{
	engine->ops = ops;
	spin_lock_init(&engine->lock);
	__skb_queue_head_init(&engine->inbox);
	engine->inbox_bytes = 0;
	engine->owned = false;
	engine->again = false;
	engine->wanted = false;
	engine->yielded = false;
	engine->held = false;
	engine->resting = false;
	engine->flags = 0;
	engine->lane = NULL;
	atomic_set(&engine->runs, 0);
	INIT_LIST_HEAD(&engine->node);
	roce_egress_turn_init(&engine->turn);
	engine->fault = fault;
	roce_fault_init(fault, engine, memory_is_present);
}

/**
 * roce_engine_purge() - drop all packets in the inbox
 * @engine: owned by the caller, or in no table any more; without a page fault
 *
 * Takes the lock, because packets may be arriving.
 */
void roce_engine_purge(struct roce_engine *engine)
{
	struct sk_buff_head gone;

	__skb_queue_head_init(&gone);
	spin_lock_bh(&engine->lock);
	skb_queue_splice_init(&engine->inbox, &gone);
	engine->inbox_bytes = 0;
	WRITE_ONCE(engine->held, false);
	spin_unlock_bh(&engine->lock);
	__skb_queue_purge(&gone);
}

/**
 * roce_engine_destroy() - stop an engine for good
 * @engine: its QP was unpublished, and sections that may have found it have ended
 *
 * Process context.
 */
void roce_engine_destroy(struct roce_engine *engine)
{
	roce_egress_turn_cancel(&engine->turn);
	quiesce(engine);
	roce_engine_purge(engine);
}

/** roce_engines_init() - initialize the scheduling of engines on all CPUs */
void roce_engines_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct roce_lane *lane = per_cpu_ptr(&lanes, cpu);

		raw_spin_lock_init(&lane->lock);
		INIT_LIST_HEAD(&lane->engines);
		roce_bh_init(&lane->bh, run_lane);
		INIT_LIST_HEAD(&lane->resting);
		roce_bh_init(&lane->wake, wake_resting);
		lane->budget = CPU_BUDGET;
	}
}

/**
 * roce_engines_exit() - undo roce_engines_init()
 *
 * Process context. All engines are destroyed.
 */
void roce_engines_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		roce_bh_cancel(&per_cpu_ptr(&lanes, cpu)->wake);
		roce_bh_cancel(&per_cpu_ptr(&lanes, cpu)->bh);
	}
}
