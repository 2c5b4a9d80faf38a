/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_REORDER_H
#define ROCE_REORDER_H

#include <linux/hrtimer.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>

struct roce_engine;
struct roce_packet;
struct roce_qp;
struct roce_sack_range;

/* What becomes of the packets behind a lost one, see &struct roce_device.loss_recovery */
enum roce_loss_recovery {
	ROCE_GO_BACK_N,
	ROCE_TOLERATE,
	ROCE_SELECTIVE,
};

/* Limits and start of &struct roce_device.reordering_us, microseconds */
#define ROCE_REORDERING_MAX_US	1000000
#define ROCE_REORDERING_US	50000

/*
 * What may come early, ahead of a packet that is missing. Each half of a QP keeps as many
 * packets, and takes the peer for one that does: it sends no more.
 */
#define ROCE_EARLY_PACKETS	8192u
#define ROCE_EARLY_BYTES	SZ_16M

/**
 * struct roce_reorder - packets that came before others which were sent earlier
 * @engine: owns all of this; @timer lets it look again
 * @kept: runs of packets, by the PSN of their first one
 * @runs: how many
 * @dropped: runs that are to be freed
 * @bytes: of memory that @kept and @dropped take
 * @gap_psn: the first PSN that is missing, while @gap_since is not 0
 * @gap_end: of the first packet behind it
 * @gap_since: when that was noticed, nanoseconds
 * @lost_at: when it was taken for lost, 0 if it was not
 * @recovering: something was taken for lost, and @recovery_end is not expected yet
 * @recovery_end: one past what had come by then
 * @round_trip: from taking something for lost until it came, nanoseconds
 * @lost_psn: the latest that was, and may turn out to have been late only
 * @lost_since: when it was noticed that it was missing
 * @lost_psn_valid: whether there is one
 * @reorders: the network has been seen to reorder, not so long ago
 * @losses_left: losses without reordering until that is forgotten
 * @wait: how long a packet may be late, nanoseconds
 * @ack_requested: a packet that came early asks for an acknowledgment
 * @look_at: when something behind the gap may be lost, too, nanoseconds; or 0
 * @timer: ends the wait
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
	u64 look_at;
	struct hrtimer timer;
};

/** roce_reorder_is_idle() - nothing was kept or is to be freed, and nothing is missing */
static inline bool roce_reorder_is_idle(const struct roce_reorder *reorder)
{
	return !reorder->gap_since && !reorder->runs &&
	       RB_EMPTY_ROOT(&reorder->dropped);
}

/** roce_reorder_look_is_due() - roce_reorder_lost_end() may say more now */
static inline bool roce_reorder_look_is_due(const struct roce_reorder *reorder)
{
	return reorder->look_at && ktime_get_ns() >= reorder->look_at;
}

void roce_reorder_init(struct roce_reorder *reorder, struct roce_engine *engine);
void roce_reorder_stop(struct roce_reorder *reorder, struct roce_qp *qp);
bool roce_reorder_drop(struct roce_reorder *reorder, struct roce_qp *qp);
bool roce_reorder_free_some(struct roce_reorder *reorder, struct roce_qp *qp);
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
			struct roce_sack_range *ranges);
u32 roce_reorder_lost_end(struct roce_reorder *reorder, struct roce_qp *qp,
			  u32 psn);
void roce_reorder_came_twice(struct roce_reorder *reorder, struct roce_qp *qp,
			     u32 psn);

#endif /* ROCE_REORDER_H */
