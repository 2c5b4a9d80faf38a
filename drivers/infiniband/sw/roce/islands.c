// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A tree of received runs in the order of their PSNs, with gaps between them.
 *
 * Thousands of runs may wait behind a gap, and the peer decides which. So nothing walks
 * over all of them: each question is answered by a search in the tree:
 *
 * - by time, since the times of runs grow with their PSNs;
 * - by islands, which are sequences of runs without a gap between them. The first run
 *   of an island is marked, and knows where the island ends. Each run knows whether there
 *   is a mark in its subtree.
 *
 * The engine's owner has the tree; nothing here takes a lock.
 */
#include <linux/rbtree_augmented.h>

#include "islands.h"
#include "roce_psn.h"

/**
 * roce_islands_run_at() - find the last run that begins at or before a PSN
 * @runs: the tree
 * @psn: the PSN
 *
 * Return: the run, or NULL.
 */
struct sk_buff *roce_islands_run_at(const struct rb_root *runs, u32 psn)
{
	struct rb_node *node = runs->rb_node;
	struct sk_buff *found = NULL;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);
		bool behind = roce_psn_precedes(psn, roce_early_psn(skb));

		if (!behind)
			found = skb;
		node = behind ? node->rb_left : node->rb_right;
	}
	return found;
}

/**
 * roce_islands_run_by() - find the last run that came by a time
 * @runs: the tree
 * @time: the time
 *
 * Return: the run, or NULL.
 */
struct sk_buff *roce_islands_run_by(const struct rb_root *runs, ktime_t time)
{
	struct rb_node *node = runs->rb_node;
	struct sk_buff *found = NULL;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);
		bool later = ktime_after(skb->tstamp, time);

		if (!later)
			found = skb;
		node = later ? node->rb_left : node->rb_right;
	}
	return found;
}

/* --- Marks --- */

static bool begins_island(const struct rb_node *node)
{
	return roce_run(rb_to_skb(node))->early_island;
}

static bool has_islands(const struct rb_node *node)
{
	return node && roce_run(rb_to_skb(node))->early_islands;
}

/* Returns true if @skb is up to date, and so are all runs above it in the tree. */
static bool look_for_islands(struct sk_buff *skb, bool may_stop)
{
	struct roce_run *run = roce_run(skb);
	bool islands = run->early_island || has_islands(skb->rbnode.rb_left) ||
		       has_islands(skb->rbnode.rb_right);

	if (may_stop && run->early_islands == islands)
		return true;
	run->early_islands = islands;
	return false;
}

/* The callbacks copy one byte of the control block. */
RB_DECLARE_CALLBACKS(static, islands, struct sk_buff, rbnode,
		     cb[offsetof(struct roce_run, early_islands)], look_for_islands)

static void mark_island(struct sk_buff *skb, bool begins)
{
	roce_run(skb)->early_island = begins;
	islands.propagate(&skb->rbnode, NULL);
}

/**
 * roce_islands_at() - find the last island that begins at or before a PSN
 * @runs: the tree
 * @psn: the PSN
 *
 * Return: the first run of the island, or NULL.
 */
struct sk_buff *roce_islands_at(const struct rb_root *runs, u32 psn)
{
	struct rb_node *node = runs->rb_node, *found = NULL;

	while (node) {
		bool behind = roce_psn_precedes(psn, roce_early_psn(rb_to_skb(node)));

		if (!behind && (begins_island(node) || has_islands(node->rb_left)))
			found = node;
		node = behind ? node->rb_left : node->rb_right;
	}
	/* The run begins an island, or belongs to that of the next marked run on the left. */
	while (found && !begins_island(found)) {
		found = found->rb_left;
		while (has_islands(found->rb_right))
			found = found->rb_right;
	}
	return found ? rb_to_skb(found) : NULL;
}

/**
 * roce_islands_next() - find the next island
 * @runs: the tree
 * @island: the first run of an island
 *
 * Return: the first run of the next one, or NULL.
 */
struct sk_buff *roce_islands_next(const struct rb_root *runs, struct sk_buff *island)
{
	return skb_rb_next(roce_islands_run_at(runs, roce_island_end(island)));
}

/* --- Changes --- */

static void grow_island(struct sk_buff *island, u32 end)
{
	roce_run(island)->early_end = roce_psn_later(roce_island_end(island), end);
}

/*
 * A new run belongs to @island, or begins one after it. It fills at most as many gaps as
 * it has packets.
 */
static void join_islands(const struct rb_root *runs, struct sk_buff *island,
			 struct sk_buff *skb)
{
	struct sk_buff *next;

	if (!island || roce_psn_precedes(roce_island_end(island), roce_early_psn(skb))) {
		island = skb;
		mark_island(island, true);
	}
	grow_island(island, roce_island_end(skb));
	while ((next = roce_islands_at(runs, roce_island_end(island))) != island) {
		grow_island(island, roce_island_end(next));
		mark_island(next, false);
	}
}

/*
 * A run has the time of the run after it, if there is one, else its own arrival. So times
 * grow with PSNs, and no run has a time after its arrival.
 */
static void note_time(struct sk_buff *skb)
{
	struct sk_buff *next = skb_rb_next(skb);

	skb->tstamp = next ? next->tstamp : ktime_get();
}

static void insert(struct rb_root *runs, struct sk_buff *skb)
{
	struct rb_node **place = &runs->rb_node, *parent = NULL;

	roce_run(skb)->early_island = false;
	roce_run(skb)->early_islands = false;
	while (*place) {
		parent = *place;
		place = roce_psn_precedes(roce_early_psn(skb),
					  roce_early_psn(rb_to_skb(parent))) ?
			&parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, place);
	rb_insert_augmented(&skb->rbnode, runs, &islands);
	note_time(skb);
}

/**
 * roce_islands_add() - add a run that has just come
 * @runs: the tree
 * @skb: with the run, whose early_psn and early_end are set
 * @island: roce_islands_at() its PSN
 */
void roce_islands_add(struct rb_root *runs, struct sk_buff *skb, struct sk_buff *island)
{
	insert(runs, skb);
	join_islands(runs, island, skb);
}

/**
 * roce_islands_remove() - remove a run from a tree whose islands do not matter any more
 * @runs: the tree
 * @skb: with the run
 */
void roce_islands_remove(struct rb_root *runs, struct sk_buff *skb)
{
	rb_erase_augmented(&skb->rbnode, runs, &islands);
	/* The tree node shares memory with these fields of the sk_buff. */
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = NULL;
	roce_run(skb)->prefix.size = 0;
}

/**
 * roce_islands_take_first() - remove the first run
 * @runs: the tree
 * @skb: with the run: the next one begins what is left of its island
 */
void roce_islands_take_first(struct rb_root *runs, struct sk_buff *skb)
{
	struct sk_buff *next = skb_rb_next(skb);

	if (next && !begins_island(&next->rbnode)) {
		roce_run(next)->early_end = roce_island_end(skb);
		mark_island(next, true);
	}
	roce_islands_remove(runs, skb);
}
