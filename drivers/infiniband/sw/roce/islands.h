/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_ISLANDS_H
#define ROCE_ISLANDS_H

#include <linux/rbtree.h>
#include <linux/skbuff.h>

#include "run.h"

/** roce_early_psn() - PSN of the first packet of a run in a tree */
static inline u32 roce_early_psn(struct sk_buff *skb)
{
	return roce_run(skb)->early_psn;
}

/** roce_island_end() - one past the last PSN of an island, given its first run */
static inline u32 roce_island_end(struct sk_buff *island)
{
	return roce_run(island)->early_end;
}

struct sk_buff *roce_islands_run_at(const struct rb_root *runs, u32 psn);
struct sk_buff *roce_islands_run_by(const struct rb_root *runs, ktime_t time);
struct sk_buff *roce_islands_at(const struct rb_root *runs, u32 psn);
struct sk_buff *roce_islands_next(const struct rb_root *runs, struct sk_buff *island);
void roce_islands_add(struct rb_root *runs, struct sk_buff *skb, struct sk_buff *island);
void roce_islands_take_first(struct rb_root *runs, struct sk_buff *skb);
void roce_islands_remove(struct rb_root *runs, struct sk_buff *skb);

#endif /* ROCE_ISLANDS_H */
