/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_ENGINE_H
#define ROCE_ENGINE_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "egress.h"
#include "fault.h"

struct roce_engine;
struct roce_lane;

/* The engine is scheduled. */
#define ROCE_ENGINE_SCHEDULED	0

/*
 * A wait ends on the CPU where it began: backlogs and queues of netdevs are per CPU, so
 * packets that a QP sends from two CPUs may overtake each other.
 */
#define ROCE_WAIT_MODE		HRTIMER_MODE_REL_PINNED_SOFT

/**
 * struct roce_engine_ops - the functions of one half of a QP
 * @receive: handle one received run of packets, and charge its bytes; owns the sk_buff
 * @advance: do pending work, within a budget; returns true to be called again soon
 */
struct roce_engine_ops {
	void (*receive)(struct roce_engine *engine, struct sk_buff *skb);
	bool (*advance)(struct roce_engine *engine);
};

/**
 * struct roce_engine - the requester or the responder half of a QP
 * @ops: functions of this half
 * @lock: guards @inbox, @inbox_bytes and the bool fields but @resting
 * @inbox: received packets that wait for the owner
 * @inbox_bytes: memory of these packets
 * @owned: there is an owner
 * @again: another CPU wanted to run it meanwhile
 * @wanted: the control path waits for it, and nobody else can become the owner
 * @yielded: the budget of the CPU was used up; until the scheduled run, only the control
 *	path can become the owner
 * @held: the packets in @inbox wait for @fault
 * @resting: the owner does no more before the scheduled run; only used by it
 * @flags: ROCE_ENGINE_SCHEDULED
 * @lane: of the CPU where it is scheduled, or was last
 * @node: in @lane
 * @runs: scheduled runs in progress
 * @turn: in the queue of those that wait until fewer packets are queued in this host
 * @fault: of the memory for a received packet
 *
 * An engine runs to completion on the CPU that has work for it: a received train,
 * a doorbell, a timer. At most one CPU at a time owns it. Another CPU leaves its
 * packet or request to the owner and goes on. So the state of an engine needs no
 * lock: it belongs to the owner. The owner also hands the packets that it builds
 * to IP, holding no lock, so the packets of an engine are sent in the order in
 * which they were built.
 */
struct roce_engine {
	const struct roce_engine_ops *ops;
	spinlock_t lock;		/* see @lock above */
	struct sk_buff_head inbox;
	u32 inbox_bytes;
	bool owned;
	bool again;
	bool wanted;
	bool yielded;
	bool held;
	bool resting;
	unsigned long flags;
	struct roce_lane *lane;
	struct list_head node;
	atomic_t runs;
	struct roce_turn turn;
	struct roce_fault *fault;
};

/**
 * roce_engine_rest() - do no more before the scheduled run
 * @engine: owned by the caller, one of the functions of its ops
 *
 * That run comes after the packets for this host that are in the CPU's backlog now, unless
 * the engine is scheduled already.
 */
static inline void roce_engine_rest(struct roce_engine *engine)
{
	engine->resting = true;
}

/**
 * roce_engine_is_resting() - whether it does no more before the scheduled run
 * @engine: owned by the caller
 */
static inline bool roce_engine_is_resting(const struct roce_engine *engine)
{
	return engine->resting;
}

/**
 * roce_engine_is_held() - whether received packets wait for memory
 * @engine: owned by the caller
 */
static inline bool roce_engine_is_held(const struct roce_engine *engine)
{
	return READ_ONCE(engine->held);
}

/* The cost of one completion, in bytes of work */
#define ROCE_COMPLETION_COST	128

void roce_engines_init(void);
void roce_engines_exit(void);
void roce_engine_charge(u32 bytes);
void *roce_engine_alloc(size_t size);
bool roce_engine_budget_is_used_up(void);
void roce_engine_init(struct roce_engine *engine, const struct roce_engine_ops *ops,
		      struct roce_fault *fault);
void roce_engine_purge(struct roce_engine *engine);
void roce_engine_destroy(struct roce_engine *engine);
void roce_engine_hold(struct roce_engine *engine, struct sk_buff *skb);
bool roce_engine_receive(struct roce_engine *engine, struct sk_buff *skb);
void roce_engine_run(struct roce_engine *engine);
void roce_engine_schedule(struct roce_engine *engine);
void roce_engine_claim(struct roce_engine *engine);
void roce_engine_release(struct roce_engine *engine);

#endif /* ROCE_ENGINE_H */
