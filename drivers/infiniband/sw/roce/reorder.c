// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that overtake others.
 *
 * Go-back-N takes a gap in the PSNs for a loss: packets after the gap are dropped, and
 * the sender sends everything again. In a network with many paths the missing packet
 * is often only late. So early packets are kept until the gap is filled, and are then
 * executed in the order of their PSNs. Programs and peers see no difference.
 *
 * When is a missing packet lost, and not late? The rules are those of RACK (RFC 8985)
 * for TCP, a distance and a time:
 *
 * - As long as the network has not been seen to reorder, a packet is lost when
 *   OVERTAKERS runs have come that were sent later, or after FIRST_WAIT, or less
 *   when a loss has shown how long a round trip takes.
 * - When a gap fills by itself, the network reorders. From then on only the time
 *   counts: a quarter more than the latest packet was late. A packet that was taken
 *   for lost and then comes twice was only late, too.
 * - FORGET_LOSSES losses without reordering start this from the beginning.
 *
 * Runs are kept in a tree that knows their gaps, see islands.c.
 *
 * Both halves of a QP have one of these as soon as a packet comes early: the responder
 * for requests, and the requester for the responses of READs and atomics.
 */
#include <linux/mm.h>

#include "codec.h"
#include "compat.h"
#include "counters.h"
#include "device.h"
#include "engine.h"
#include "islands.h"
#include "qp.h"
#include "reorder.h"
#include "roce_psn.h"
#include "run.h"
#include "section.h"

/* A packet is lost after so many later runs, if the network does not reorder. */
#define OVERTAKERS		3
#define FIRST_WAIT		(500 * NSEC_PER_USEC)
#define MIN_WAIT		(100 * NSEC_PER_USEC)
#define FORGET_LOSSES		16

/* Early packets after a loss are dropped when the peer does not repair it for so long. */
#define LOST_LIFETIME		(10 * NSEC_PER_SEC)

/* ROCE_WAIT_MODE with absolute times */
#define WAIT_MODE		HRTIMER_MODE_ABS_PINNED_SOFT

/* Bytes for the early packets of a device, and its share of the host's memory */
#define DEVICE_BYTES		SZ_512M
#define DEVICE_SHARE		8

/* Packets further ahead of the expected PSN cannot be acknowledged selectively. */
#define QP_PSNS			U16_MAX

/* sk_buffs to free in one call, and the cost of each, in bytes of work */
#define FREE_BUDGET		64
#define FREE_COST		128

static u64 longest_wait(const struct roce_qp *qp)
{
	if (READ_ONCE(qp->dev->loss_recovery) == ROCE_GO_BACK_N)
		return 0;
	return (u64)READ_ONCE(qp->dev->reordering_us) * NSEC_PER_USEC;
}

/* An acknowledgment has the PSN of a request, whose response may still come. */
static bool fills_psn(u8 opcode)
{
	return (opcode & ROCE_SERVICE_MASK) == ROCE_SERVICE_RC &&
	       opcode != (ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE);
}

/* Number of PSNs of the next packet: those of its responses are taken, too. */
static u32 count_psns(const struct sk_buff *skb, struct roce_run *at,
		      const struct roce_qp *qp, u8 opcode)
{
	struct {
		struct roce_bth bth;
		struct roce_reth reth;
	} __packed read;

	if (opcode != (ROCE_SERVICE_RC | ROCE_READ_REQUEST) ||
	    !roce_run_copy(skb, at, &read, sizeof(read)))
		return 1;
	return clamp_t(u32, DIV_ROUND_UP(be32_to_cpu(read.reth.length), qp->mtu), 1, QP_PSNS);
}

/*
 * Look at the packets of a run, as far as their PSNs have no gap. GRO merges the packets
 * that are left of a train, so there may be a @rest, which becomes a run of its own.
 * Acknowledgments fill no gap, and may have gaps. Returns true if there is none of them at
 * the end, nor a gap.
 */
static bool look_through(struct roce_reorder *reorder, const struct roce_qp *qp,
			 struct sk_buff *skb, struct sk_buff **rest)
{
	struct roce_run *run = roce_run(skb), at = *run;
	u32 next = run->early_psn;
	struct roce_bth bth;
	bool whole = true;

	*rest = NULL;
	run->early_end = next;
	for (; at.offset < at.end && roce_run_copy(skb, &at, &bth, sizeof(bth));
	     at.offset += at.segment, at.index++) {
		bool goes_on = roce_bth_psn(&bth) == next &&
			       roce_psn_add(next, -run->early_psn) <= QP_PSNS;

		if (!goes_on && fills_psn(bth.opcode)) {
			*rest = roce_run_split(skb, &at);
			if (*rest) {
				roce_run(*rest)->again = false;
				roce_run(*rest)->early_psn = roce_bth_psn(&bth);
				break;
			}
		}
		if (bth.psn & cpu_to_be32(ROCE_BTH_ACK_REQUEST))
			reorder->ack_requested = true;
		if (!goes_on) {
			whole = false;
			continue;
		}
		next = roce_psn_add(next, count_psns(skb, &at, qp, bth.opcode));
		if (fills_psn(bth.opcode))
			run->early_end = next;
	}
	return whole && run->early_end == next;
}

static void charge_kept(struct roce_reorder *reorder, struct roce_qp *qp, s32 bytes)
{
	reorder->bytes += bytes;
	atomic_long_add(bytes, &qp->dev->early_bytes);
}

/** roce_reorder_memory() - memory for the early packets of a device, bytes */
long roce_reorder_memory(void)
{
	unsigned long share = totalram_pages() / DEVICE_SHARE;

	return min_t(unsigned long, share, DEVICE_BYTES >> PAGE_SHIFT) << PAGE_SHIFT;
}

/*
 * A QP takes no more than it leaves to others, so a single one gets half of it. Packets
 * beyond are dropped, as go-back-N does.
 */
static bool has_room_to_keep(const struct roce_reorder *reorder, const struct roce_qp *qp,
			     const struct sk_buff *skb, u32 ahead)
{
	long left = roce_reorder_memory() - atomic_long_read(&qp->dev->early_bytes);

	return RB_EMPTY_ROOT(&reorder->dropped) &&
	       reorder->runs < ROCE_EARLY_PACKETS && ahead <= QP_PSNS &&
	       (long)reorder->bytes + skb->truesize <= left;
}

static struct sk_buff *first_kept(const struct roce_reorder *reorder)
{
	return skb_rb_first(&reorder->kept);
}

static struct sk_buff *last_kept(const struct roce_reorder *reorder)
{
	return skb_rb_last(&reorder->kept);
}

static bool is_sack(struct sk_buff *skb)
{
	struct roce_run at = *roce_run(skb);
	struct roce_bth bth;

	return roce_run_copy(skb, &at, &bth, sizeof(bth)) && bth.opcode == ROCE_OPCODE_SACK;
}

/* While a response is missing, the peer may report the same losses again and again. */
static bool is_same_sack(const struct roce_reorder *reorder, struct sk_buff *skb)
{
	struct sk_buff *kept = roce_islands_run_at(&reorder->kept, roce_early_psn(skb));

	return kept && roce_early_psn(kept) == roce_early_psn(skb) && roce_run_packets(skb) == 1 &&
	       is_sack(kept) && is_sack(skb);
}

/*
 * A sender that goes back sends kept packets again. @whole: look_through() the run;
 * @island: roce_islands_at() it
 */
static bool is_copy(const struct roce_reorder *reorder, struct sk_buff *skb, bool whole,
		    struct sk_buff *island)
{
	if (!whole)
		return is_same_sack(reorder, skb);
	return island &&
	       roce_psn_diff(roce_island_end(island), roce_run(skb)->early_end) >= 0;
}

/* RFC 8985, 6.2: a quarter of the round trip, which is known since an earlier loss */
static u64 first_wait(const struct roce_reorder *reorder)
{
	if (!reorder->round_trip)
		return FIRST_WAIT;
	return clamp_t(u64, reorder->round_trip / 4, MIN_WAIT, FIRST_WAIT);
}

static void forget(struct roce_reorder *reorder)
{
	reorder->wait = first_wait(reorder);
	reorder->reorders = false;
}

static enum hrtimer_restart look_again(struct hrtimer *timer)
{
	struct roce_reorder *reorder =
		container_of(timer, struct roce_reorder, timer);

	roce_engine_run(reorder->engine);
	return HRTIMER_NORESTART;
}

static struct roce_reorder *new_reorder(struct roce_engine *engine)
{
	struct roce_reorder *reorder = roce_engine_alloc(sizeof(*reorder));

	if (!reorder)
		return NULL;
	reorder->engine = engine;
	hrtimer_setup(&reorder->timer, look_again, CLOCK_MONOTONIC, WAIT_MODE);
	forget(reorder);
	return reorder;
}

/**
 * roce_reorder_prepare() - prepare to keep packets
 * @reorder: of a half of @qp; allocated if it is NULL, until roce_reorder_end()
 * @engine: of the half, owned by the caller
 * @qp: the QP
 *
 * Return: false if early packets should not be kept, or if there is no memory.
 */
bool roce_reorder_prepare(struct roce_reorder **reorder, struct roce_engine *engine,
			  struct roce_qp *qp)
{
	if (!longest_wait(qp))
		return false;
	if (!*reorder)
		*reorder = new_reorder(engine);
	if (!*reorder)
		roce_count(qp, reorder_no_room);
	return *reorder;
}

/* Keep a run without a gap, given the return value of look_through(). */
static void keep_run(struct roce_reorder *reorder, struct roce_qp *qp, struct sk_buff *skb,
		     bool whole)
{
	struct sk_buff *island = roce_islands_at(&reorder->kept, roce_early_psn(skb));

	if (is_copy(reorder, skb, whole, island)) {
		reorder->copied = true;
		roce_drop_run(qp->dev, READ_ONCE(qp->counters), skb,
			      ROCE_COUNTER_duplicate_request);
		return;
	}
	roce_islands_add(&reorder->kept, skb, island);
	reorder->runs++;
	charge_kept(reorder, qp, skb->truesize);
	roce_count(qp, reorder_kept);
}

/**
 * roce_reorder_keep() - keep the rest of a run that came early
 * @reorder: of a half of @qp that is owned by the caller; roce_reorder_prepare()
 * @qp: the QP
 * @skb: with the run; consumed if it is kept
 * @packet: the latest packet that was taken from the run, which came early
 * @psn: the expected PSN
 *
 * The packet is returned to the run, and taken from it again later. Where the run has
 * gaps, its parts are kept apart, as far as there is room.
 *
 * Return: false if there is no room.
 */
bool roce_reorder_keep(struct roce_reorder *reorder, struct roce_qp *qp,
		       struct sk_buff *skb, const struct roce_packet *packet, u32 psn)
{
	struct sk_buff *rest;
	bool whole;

	if (!has_room_to_keep(reorder, qp, skb, roce_psn_add(packet->psn, -psn))) {
		roce_count(qp, reorder_no_room);
		return false;
	}
	roce_run_return(skb, packet);
	do {
		whole = look_through(reorder, qp, skb, &rest);
		keep_run(reorder, qp, skb, whole);
		skb = rest;
	} while (skb && has_room_to_keep(reorder, qp, skb,
					 roce_psn_add(roce_early_psn(skb), -psn)));
	if (skb)
		roce_drop_run(qp->dev, READ_ONCE(qp->counters), skb,
			      ROCE_COUNTER_reorder_no_room);
	return true;
}

/**
 * roce_reorder_take() - remove a run that is not early any more
 * @reorder: of a half of @qp that is owned by the caller
 * @qp: the QP
 * @psn: the expected PSN
 *
 * Return: a run that begins at or before @psn, or NULL.
 */
struct sk_buff *roce_reorder_take(struct roce_reorder *reorder,
				  struct roce_qp *qp, u32 psn)
{
	struct sk_buff *skb = first_kept(reorder);

	if (!skb || roce_psn_diff(roce_early_psn(skb), psn) > 0)
		return NULL;
	roce_islands_take_first(&reorder->kept, skb);
	reorder->runs--;
	charge_kept(reorder, qp, -skb->truesize);
	return skb;
}

/* A packet was @late nanoseconds late, and not lost: wait longer from now on. */
static void allow(struct roce_reorder *reorder, const struct roce_qp *qp, u64 late)
{
	reorder->wait = min(max(reorder->wait, late + late / 4), longest_wait(qp));
	reorder->reorders = true;
	reorder->losses_left = FORGET_LOSSES;
}

/*
 * A sender that has gone back for a gap also sends all packets again that were in flight
 * then: those that are kept by now, and those in gaps between them.
 */
static void extend_recovery(struct roce_reorder *reorder)
{
	if (reorder->lost_at && reorder->runs)
		reorder->recovery_end = roce_psn_add(roce_early_psn(last_kept(reorder)), 1);
}

/* All or some of the missing packets have come. */
static void leave_gap(struct roce_reorder *reorder, struct roce_qp *qp, u32 psn)
{
	bool filled = roce_psn_diff(psn, reorder->gap_end) >= 0;
	bool repaired = reorder->recovering &&
			roce_psn_diff(reorder->gap_psn, reorder->recovery_end) < 0;
	u64 now = ktime_get_ns(), late = now - reorder->gap_overtaken;

	extend_recovery(reorder);
	if (roce_psn_diff(psn, reorder->recovery_end) >= 0)
		reorder->recovering = false;
	if (reorder->lost_at) {
		/* A coarse clock may show the same time at both ends. */
		reorder->round_trip = max(now - reorder->lost_at, 1ull);
		if (!reorder->reorders)
			reorder->wait = first_wait(reorder);
	} else if (filled && !repaired) {
		roce_count(qp, reorder_late);
		allow(reorder, qp, late);
	}
	reorder->gap_since = 0;
}

static void enter_gap(struct roce_reorder *reorder, u32 psn)
{
	struct sk_buff *behind = first_kept(reorder);

	reorder->gap_psn = psn;
	reorder->gap_end = roce_early_psn(behind);
	reorder->gap_since = ktime_get_ns();
	/* That is longer ago if the gap was behind another one. */
	reorder->gap_overtaken = ktime_to_ns(behind->tstamp);
	reorder->lost_at = 0;
}

/* After many losses without reordering, stop waiting for late packets. */
static void count_loss(struct roce_reorder *reorder)
{
	if (reorder->reorders && !--reorder->losses_left)
		forget(reorder);
}

static void lose_gap(struct roce_reorder *reorder)
{
	reorder->lost_at = ktime_get_ns();
	reorder->recovering = true;
	reorder->recovery_end =
		roce_psn_add(roce_early_psn(last_kept(reorder)), 1);
	reorder->lost_since = reorder->gap_overtaken;
	reorder->lost_psn = reorder->gap_psn;
	reorder->lost_psn_valid = true;
	count_loss(reorder);
}

/*
 * A sender that goes back sends everything after the gap again, with other gaps. These
 * are not lost before the second copy could have come.
 */
static u64 time_to_wait(const struct roce_reorder *reorder, const struct roce_qp *qp)
{
	u64 wait = reorder->wait;

	if (reorder->recovering)
		wait = max(wait, 2 * reorder->round_trip);
	return min(wait, longest_wait(qp));
}

/* Run the engine at this time; what an earlier timer runs sets this one again. */
static void look_again_at(struct roce_reorder *reorder, u64 when)
{
	if (!hrtimer_is_queued(&reorder->timer) ||
	    ktime_to_ns(hrtimer_get_expires(&reorder->timer)) > when)
		hrtimer_start(&reorder->timer, ns_to_ktime(when), WAIT_MODE);
}

static bool has_waited(struct roce_reorder *reorder, const struct roce_qp *qp)
{
	u64 end = reorder->gap_since + time_to_wait(reorder, qp);

	if (!reorder->reorders && !reorder->recovering &&
	    reorder->runs >= OVERTAKERS)
		return true;
	if (ktime_get_ns() >= end)
		return true;
	look_again_at(reorder, end);
	return false;
}

/* A peer that is gone must not take memory forever. Later gaps may be lost before. */
static void age(struct roce_reorder *reorder, struct roce_qp *qp)
{
	u64 end = reorder->lost_at + LOST_LIFETIME, now = ktime_get_ns();

	if (now >= end)
		roce_reorder_drop(reorder, qp);
	else
		look_again_at(reorder, reorder->look_at > now ? reorder->look_at : end);
}

/**
 * roce_reorder_is_lost() - whether the first missing packet is lost
 * @reorder: of a half of @qp that is owned by the caller
 * @qp: the QP
 * @psn: the expected PSN; roce_reorder_take() has returned all runs up to it
 *
 * Starts the timer if the packet may still be late.
 *
 * Return: true once for each gap.
 */
bool roce_reorder_is_lost(struct roce_reorder *reorder, struct roce_qp *qp,
			  u32 psn)
{
	if (reorder->gap_since && reorder->gap_psn != psn)
		leave_gap(reorder, qp, psn);
	if (!reorder->runs) {
		reorder->look_at = 0;
		return false;
	}
	if (!reorder->gap_since)
		enter_gap(reorder, psn);
	if (reorder->lost_at) {
		age(reorder, qp);
		return false;
	}
	if (!has_waited(reorder, qp))
		return false;
	lose_gap(reorder);
	age(reorder, qp);
	return true;
}

/**
 * roce_reorder_find_gap() - find a gap between kept runs
 * @reorder: of a half of a QP that is owned by the caller
 * @begin: start of the search; set to the first missing PSN from there on
 * @end: set to one past the last PSN of the gap
 *
 * Return: false if nothing is missing before the last run.
 */
bool roce_reorder_find_gap(const struct roce_reorder *reorder, u32 *begin, u32 *end)
{
	struct sk_buff *island = roce_islands_at(&reorder->kept, *begin), *next;

	if (island && roce_psn_diff(roce_island_end(island), *begin) > 0)
		*begin = roce_island_end(island);
	next = island ? roce_islands_next(&reorder->kept, island) : first_kept(reorder);
	if (!next)
		return false;
	*end = roce_early_psn(next);
	return true;
}

/**
 * roce_reorder_has_gap() - whether the first kept run is still early
 * @reorder: of a half of a QP that is owned by the caller, or NULL
 * @psn: the expected PSN
 */
bool roce_reorder_has_gap(const struct roce_reorder *reorder, u32 psn)
{
	struct sk_buff *skb = reorder ? first_kept(reorder) : NULL;

	return skb && roce_psn_diff(roce_early_psn(skb), psn) > 0;
}

/**
 * roce_reorder_ranges() - get the ranges of kept PSNs
 * @reorder: of a half of a QP that is owned by the caller; roce_reorder_has_gap()
 * @psn: the expected PSN
 * @ranges: set to the first ranges, as offsets from @psn
 * @most: number of ranges for which there is room
 *
 * Return: number of ranges.
 */
u32 roce_reorder_ranges(const struct roce_reorder *reorder, u32 psn,
			struct roce_sack_range *ranges, u32 most)
{
	struct sk_buff *island = first_kept(reorder);
	u32 count = 0;

	while (island && count < most) {
		u32 begin = roce_psn_add(roce_early_psn(island), -psn);
		u32 end = roce_psn_add(roce_island_end(island), -psn);

		if (end > U16_MAX)
			break;
		ranges[count++] = (struct roce_sack_range) {
			cpu_to_be16(begin), cpu_to_be16(end)
		};
		island = roce_islands_next(&reorder->kept, island);
	}
	return count;
}

/* The last run before which all missing packets are lost, or NULL */
static struct sk_buff *last_overtaker(const struct roce_reorder *reorder, u64 wait)
{
	ktime_t time = ktime_sub_ns(ktime_get(), wait);
	struct sk_buff *skb = last_kept(reorder);
	u32 behind = 1;

	if (reorder->reorders)
		return roce_islands_run_by(&reorder->kept, time);
	for (; skb && behind < OVERTAKERS && ktime_after(skb->tstamp, time); behind++)
		skb = skb_rb_prev(skb);
	return skb;
}

/* Whether there is a gap that begins at @begin or later, and before @end */
static bool has_gap_between(const struct roce_reorder *reorder, u32 begin, u32 end)
{
	u32 gap_end;

	return roce_reorder_find_gap(reorder, &begin, &gap_end) &&
	       roce_psn_precedes(begin, end);
}

/* Packets that fill the gaps up to @lost_end are retransmissions, not late packets. */
static void begin_recovery(struct roce_reorder *reorder, u32 psn, u32 lost_end)
{
	u32 known = reorder->recovering ? roce_psn_later(reorder->recovery_end, psn) : psn;

	if (has_gap_between(reorder, known, lost_end))
		count_loss(reorder);
	reorder->recovery_end = roce_psn_later(known, lost_end);
	reorder->recovering = true;
}

/**
 * roce_reorder_lost_end() - find the end of the lost packets
 * @reorder: of a half of @qp that is owned by the caller; roce_reorder_has_gap()
 * @qp: the QP
 * @psn: the expected PSN
 *
 * Like roce_reorder_is_lost(), but for all gaps. The caller has the lost packets sent
 * again. Starts the timer if there are later gaps.
 *
 * Return: the PSN of a kept packet, before which all missing packets are lost, or
 * @psn if none is lost.
 */
u32 roce_reorder_lost_end(struct roce_reorder *reorder, struct roce_qp *qp, u32 psn)
{
	u64 wait = min(reorder->wait, longest_wait(qp));
	struct sk_buff *skb = last_overtaker(reorder, wait);
	u32 lost_end = skb ? roce_early_psn(skb) : psn;
	u32 begin = lost_end, end;

	reorder->look_at = 0;
	if (roce_reorder_find_gap(reorder, &begin, &end)) {
		reorder->look_at = ktime_get_ns() + wait;
		look_again_at(reorder, reorder->look_at);
	}
	if (lost_end != psn)
		begin_recovery(reorder, psn, lost_end);
	return lost_end;
}

/**
 * roce_reorder_came_twice() - a duplicate was received
 * @reorder: of a half of @qp that is owned by the caller, or NULL
 * @qp: the QP
 * @psn: PSN of the duplicate
 */
void roce_reorder_came_twice(struct roce_reorder *reorder, struct roce_qp *qp,
			     u32 psn)
{
	u64 late;

	if (!reorder || !reorder->lost_psn_valid || reorder->lost_psn != psn)
		return;
	reorder->lost_psn_valid = false;
	late = ktime_get_ns() - reorder->lost_since;
	/* Sent again for another reason: a timeout, or a lost acknowledgment */
	if (late > longest_wait(qp))
		return;
	roce_count(qp, reorder_not_lost);
	allow(reorder, qp, late);
}

/**
 * roce_reorder_drop() - drop all kept packets
 * @reorder: of a half of @qp that is owned by the caller, or NULL
 * @qp: the QP
 *
 * BH disabled. No packet is kept before all of these are freed.
 *
 * Return: see roce_reorder_free_some(), which it calls.
 */
bool roce_reorder_drop(struct roce_reorder *reorder, struct roce_qp *qp)
{
	if (!reorder)
		return false;
	if (reorder->runs) {
		reorder->dropped = reorder->kept;
		reorder->kept = RB_ROOT;
		reorder->runs = 0;
	}
	reorder->gap_since = 0;
	reorder->look_at = 0;
	reorder->ack_requested = false;
	reorder->copied = false;
	reorder->recovering = false;
	return roce_reorder_free_some(reorder, qp);
}

/**
 * roce_reorder_free_some() - free some of the dropped packets
 * @reorder: of a half of @qp that is owned by the caller
 * @qp: the QP
 *
 * BH disabled. The work is charged to the engines of this CPU.
 *
 * Return: true if there are more.
 */
bool roce_reorder_free_some(struct roce_reorder *reorder, struct roce_qp *qp)
{
	u32 budget = FREE_BUDGET;
	struct sk_buff *skb;

	while (budget-- && (skb = skb_rb_first(&reorder->dropped))) {
		roce_islands_remove(&reorder->dropped, skb);
		charge_kept(reorder, qp, -skb->truesize);
		kfree_skb(skb);
		roce_engine_charge(FREE_COST);
	}
	return !RB_EMPTY_ROOT(&reorder->dropped);
}

/**
 * roce_reorder_end() - stop the timer, and free all kept packets
 * @reorder: of a half of @qp; freed, and NULL afterwards
 * @qp: in a state in which nothing is received
 *
 * Process context.
 */
void roce_reorder_end(struct roce_reorder **reorder, struct roce_qp *qp)
{
	bool more;

	if (!*reorder)
		return;
	hrtimer_cancel(&(*reorder)->timer);
	do {
		local_bh_disable();
		roce_section_enter();
		more = roce_reorder_drop(*reorder, qp);
		roce_section_leave();
		local_bh_enable();
		cond_resched();
	} while (more);
	kfree(*reorder);
	*reorder = NULL;
}
