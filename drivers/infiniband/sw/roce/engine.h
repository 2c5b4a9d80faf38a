/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_ENGINE_H
#define ROCE_ENGINE_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "egress.h"

struct roce_engine;
struct roce_lane;

/* The engine is in a lane. */
#define ROCE_ENGINE_SCHEDULED	0

/*
 * A wait ends on the CPU where it began: what a QP sends from two CPUs may
 * overtake itself, since backlogs and queues of netdevs are each CPU's own.
 */
#define ROCE_WAIT_MODE		HRTIMER_MODE_REL_PINNED_SOFT

/**
 * struct roce_engine_ops - what one half of a QP does when it runs
 * @receive: take one received run of packets; owns the sk_buff
 * @advance: do what there is to do, within a budget; true asks to be called
 *	again soon
 */
struct roce_engine_ops {
	void (*receive)(struct roce_engine *engine, struct sk_buff *skb);
	bool (*advance)(struct roce_engine *engine);
};

/**
 * struct roce_engine - the requester or the responder half of a QP
 * @ops: which half
 * @lock: guards @inbox and the flags, and nothing else
 * @inbox: received packets that wait for the owner
 * @inbox_bytes: of memory that they take
 * @owned: somebody runs the engine
 * @again: somebody else wanted to run it meanwhile
 * @wanted: the control path waits for it; nobody else becomes the owner
 * @yielded: the budget of the CPU was used up; until the engine's turn comes in its
 *	lane, nobody but the control path becomes the owner
 * @flags: ROCE_ENGINE_SCHEDULED
 * @lane: of the CPU on which it runs soon, or was to: see roce_engine_schedule()
 * @node: there
 * @runs: turns in lanes that are not over
 * @turn: among those who wait until less is in the queues of this host
 *
 * An engine runs to completion on the CPU that gave it something to do: a
 * received train, a doorbell, a timer. At most one CPU at a time owns it; one
 * that comes meanwhile leaves its packet or its wish behind for the owner and
 * goes away. So the state of an engine needs no lock: it belongs to the owner.
 * And since the owner also hands the packets that it builds to IP, holding no
 * lock, the packets of one engine leave in the order in which they were built.
 */
struct roce_engine {
	const struct roce_engine_ops *ops;
	spinlock_t lock;		/* of inbox and the flags */
	struct sk_buff_head inbox;
	u32 inbox_bytes;
	bool owned;
	bool again;
	bool wanted;
	bool yielded;
	unsigned long flags;
	struct roce_lane *lane;
	struct list_head node;
	atomic_t runs;
	struct roce_turn turn;
};

/* What one completion counts for as work, in bytes */
#define ROCE_COMPLETION_COST	128

void roce_engines_init(void);
void roce_engines_exit(void);
void roce_engine_charge(u32 bytes);
bool roce_engine_budget_is_used_up(void);
void roce_engine_init(struct roce_engine *engine,
		      const struct roce_engine_ops *ops);
void roce_engine_purge(struct roce_engine *engine);
void roce_engine_destroy(struct roce_engine *engine);
bool roce_engine_receive(struct roce_engine *engine, struct sk_buff *skb);
void roce_engine_run(struct roce_engine *engine);
void roce_engine_schedule(struct roce_engine *engine);
void roce_engine_claim(struct roce_engine *engine);
void roce_engine_release(struct roce_engine *engine);

#endif /* ROCE_ENGINE_H */
