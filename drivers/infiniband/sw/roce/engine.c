// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/delay.h>
#include <linux/sizes.h>

#include "engine.h"

/*
 * Bytes received or sent before softirq does something else. Other CPUs learn
 * only then what this one has for them: the stack tells them of packets that
 * were steered to them (RPS) when its receive softirq ends.
 */
#define ENGINE_BUDGET	SZ_64K

/* What a step costs besides its bytes */
#define STEP_COST	SZ_1K

/*
 * Memory that may wait in an inbox. A sender's window is far below this. What
 * exceeds it is somebody who ignores the protocol, and go-back-N covers the loss.
 */
#define ENGINE_INBOX_BYTES	SZ_8M

/* Become the owner if nobody is, and nobody has a right to it. Under the lock */
static bool take(struct roce_engine *engine)
{
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

	roce_engine_charge(engine, STEP_COST);
	if (skb) {
		roce_engine_charge(engine, skb->len);
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
	return engine->budget <= 0 || READ_ONCE(engine->wanted);
}

static void run_as_owner(struct roce_engine *engine)
{
	do {
		while (step(engine))
			if (must_yield(engine))
				break;
		if (must_yield(engine)) {
			/* Packets must not keep answers and timeouts back. */
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
	rcu_read_lock();
	if (own(engine))
		run_as_owner(engine);
	rcu_read_unlock();
}

/**
 * roce_engine_receive() - give the engine a received run of packets
 * @engine: of a QP that was looked up in this RCU read section
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
	roce_bh_schedule(&engine->continuation);
}

static void run_continuation(struct roce_bh *bh)
{
	struct roce_engine *engine =
		container_of(bh, struct roce_engine, continuation);

	spin_lock_bh(&engine->lock);
	engine->yielded = false;
	if (!engine->owned)
		engine->budget = ENGINE_BUDGET;
	spin_unlock_bh(&engine->lock);

	roce_engine_run(engine);
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
	engine->budget = ENGINE_BUDGET;
	roce_bh_init(&engine->continuation, run_continuation);
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
 * @engine: nobody can find it any more: its QP was unpublished and an RCU grace
 *	period has passed
 *
 * Process context.
 */
void roce_engine_destroy(struct roce_engine *engine)
{
	roce_turn_cancel(&engine->turn);
	roce_bh_cancel(&engine->continuation);
	roce_engine_purge(engine);
}
