/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_REORDER_H
#define ROCE_REORDER_H

#include <linux/hrtimer.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>

#include "roce_wire.h"

struct roce_engine;
struct roce_packet;
struct roce_qp;

/* Treatment of packets after a lost one, see &struct roce_device.loss_recovery */
enum roce_loss_recovery {
	ROCE_GO_BACK_N,
	ROCE_TOLERATE,
	ROCE_SELECTIVE,
};

/* Maximum and default of &struct roce_device.reordering_us, microseconds */
#define ROCE_REORDERING_MAX_US	1000000
#define ROCE_REORDERING_US	50000

/*
 * Each half of a QP keeps so many packets ahead of a missing one, and expects its peer to
 * do the same: it sends no more.
 */
#define ROCE_EARLY_PACKETS	32768u

/**
 * struct roce_reorder - packets that came before others which were sent earlier
 * @engine: owns all of this; @timer runs it
 * @kept: runs of packets, by the PSN of their first one
 * @runs: number of runs in @kept
 * @dropped: runs that will be freed
 * @bytes: memory of @kept and @dropped
 * @gap_psn: the first missing PSN, while @gap_since is not 0
 * @gap_end: PSN of the first packet after the gap
 * @gap_since: time when nothing else was missing before the gap, nanoseconds
 * @gap_overtaken: time when the first packet after the gap came
 * @lost_at: time when @gap_psn was taken for lost, or 0
 * @recovering: a packet was taken for lost, and @recovery_end is not expected yet
 * @recovery_end: one past the last PSN that had come by then
 * @round_trip: nanoseconds from taking a packet for lost until it came
 * @lost_psn: the latest PSN that was taken for lost; it may have been only late
 * @lost_since: @gap_overtaken of its gap
 * @lost_psn_valid: there is a @lost_psn
 * @reorders: the network has been seen to reorder recently
 * @losses_left: losses without reordering until @reorders is reset
 * @wait: longest time that a packet may be late, nanoseconds
 * @ack_requested: an early packet asks for an acknowledgment
 * @copied: an early packet has come twice
 * @look_at: time when later gaps may be lost, too, nanoseconds; or 0
 * @timer: ends the wait
 * @ranges: payload of the latest selective acknowledgment; not for the stack
 *
 * Most QPs never need one. Functions that may find none take NULL as one that is idle.
 */
struct roce_reorder {
	struct roce_engine *engine;
	struct rb_root kept;
	u32 runs;
	struct rb_root dropped;
	u32 bytes;
	u32 gap_psn;
	u32 gap_end;
	u64 gap_since;
	u64 gap_overtaken;
	u64 lost_at;
	bool recovering;
	u32 recovery_end;
	u64 round_trip;
	u32 lost_psn;
	u64 lost_since;
	bool lost_psn_valid;
	bool reorders;
	u8 losses_left;
	u64 wait;
	bool ack_requested;
	bool copied;
	u64 look_at;
	struct hrtimer timer;
	struct roce_sack_range ranges[ROCE_SACK_RANGES];
};

/** roce_reorder_is_idle() - whether nothing is kept, dropped or missing */
static inline bool roce_reorder_is_idle(const struct roce_reorder *reorder)
{
	return !reorder || (!reorder->gap_since && !reorder->runs &&
			    RB_EMPTY_ROOT(&reorder->dropped));
}

/** roce_reorder_has_lost() - whether the first gap was taken for lost, and is still there */
static inline bool roce_reorder_has_lost(const struct roce_reorder *reorder)
{
	return reorder && reorder->gap_since && reorder->lost_at;
}

/** roce_reorder_look_is_due() - whether roce_reorder_lost_end() may find more losses */
static inline bool roce_reorder_look_is_due(const struct roce_reorder *reorder)
{
	return reorder->look_at && ktime_get_ns() >= reorder->look_at;
}

void roce_reorder_end(struct roce_reorder **reorder, struct roce_qp *qp);
bool roce_reorder_drop(struct roce_reorder *reorder, struct roce_qp *qp);
bool roce_reorder_free_some(struct roce_reorder *reorder, struct roce_qp *qp);
long roce_reorder_memory(void);
bool roce_reorder_prepare(struct roce_reorder **reorder, struct roce_engine *engine,
			  struct roce_qp *qp);
bool roce_reorder_keep(struct roce_reorder *reorder, struct roce_qp *qp,
		       struct sk_buff *skb, const struct roce_packet *packet, u32 psn);
struct sk_buff *roce_reorder_take(struct roce_reorder *reorder,
				  struct roce_qp *qp, u32 psn);
bool roce_reorder_is_lost(struct roce_reorder *reorder, struct roce_qp *qp,
			  u32 psn);
bool roce_reorder_find_gap(const struct roce_reorder *reorder, u32 *begin,
			   u32 *end);
bool roce_reorder_has_gap(const struct roce_reorder *reorder, u32 psn);
u32 roce_reorder_ranges(const struct roce_reorder *reorder, u32 psn,
			struct roce_sack_range *ranges, u32 most);
u32 roce_reorder_lost_end(struct roce_reorder *reorder, struct roce_qp *qp,
			  u32 psn);
void roce_reorder_came_twice(struct roce_reorder *reorder, struct roce_qp *qp,
			     u32 psn);

#endif /* ROCE_REORDER_H */
