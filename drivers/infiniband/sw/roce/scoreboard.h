/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SCOREBOARD_H
#define ROCE_SCOREBOARD_H

#include <linux/types.h>

#include "roce_wire.h"
#include "train_limits.h"

/* Maximum number of gaps of a scoreboard: a SACK tells of as many */
#define ROCE_MAX_GAPS		ROCE_SACK_RANGES

/**
 * struct roce_psns - a range of PSNs
 * @begin: the first one
 * @end: one past the last one
 */
struct roce_psns {
	u32 begin;
	u32 end;
};

/* How the packets of a gap were lost, if that is known of the gap alone; see path.c, probe.c */
enum roce_gap_loss {
	ROCE_GAP_UNKNOWN,
	ROCE_GAP_OVERTAKEN,	/* later packets of the same path have arrived */
	ROCE_GAP_VANISHED,	/* the path delivers nothing */
	ROCE_GAP_SILENT,	/* nothing has come for too long */
};

/**
 * struct roce_gap - PSNs that the responder is missing, before others that it has
 * @begin: the first PSN
 * @end: one past the last PSN
 * @resent: one past the last PSN that was sent again; @begin if none was
 * @mark: limit_psn at that time
 * @loss: of &enum roce_gap_loss: all of it is lost, wherever it lies
 */
struct roce_gap {
	u32 begin;
	u32 end;
	u32 resent;
	u32 mark : 24;	/* as many bits as a PSN has: there are many gaps */
	u32 loss : 8;
};

/**
 * struct roce_scoreboard - what a requester knows of the packets in flight
 * @gaps: number of gaps in @gap; 0 if none is known
 * @expected: all packets before this PSN have arrived
 * @high: one past the last PSN that is known to have arrived
 * @lost_end: missing packets before this PSN are lost, and not late
 * @gap: not empty, separate, in the order of their PSNs; two of them may touch
 * @repaired: PSNs of the packets in the latest train that was sent again from it
 * @ranges: payload of the selective acknowledgment that is read; not for the stack
 *
 * Packets between the gaps, up to @high, have arrived. While @gaps is 0, the other
 * fields have no meaning.
 */
struct roce_scoreboard {
	u32 gaps;
	u32 expected;
	u32 high;
	u32 lost_end;
	struct roce_gap gap[ROCE_MAX_GAPS];
	u32 repaired[ROCE_TRAIN_MAX_PACKETS];
	struct roce_sack_range ranges[ROCE_SACK_RANGES];
};

/** roce_scoreboard_has_gaps() - whether a gap is known; @board may be NULL */
static inline bool roce_scoreboard_has_gaps(const struct roce_scoreboard *board)
{
	return board && board->gaps;
}

void roce_scoreboard_acknowledge(struct roce_scoreboard *board, u32 psn);
bool roce_scoreboard_expect(struct roce_scoreboard *board, u32 psn);
u32 roce_scoreboard_gap_after(const struct roce_scoreboard *board, u32 psn);
bool roce_scoreboard_part(const struct roce_scoreboard *board, u32 n,
			  const struct roce_psns *range, struct roce_psns *part);
bool roce_scoreboard_arrived(struct roce_scoreboard *board, u32 begin, u32 end,
			     u32 back);
void roce_scoreboard_lose(struct roce_scoreboard *board, u32 lost_end);
void roce_scoreboard_silence(struct roce_scoreboard *board);
u32 roce_scoreboard_lose_range(struct roce_scoreboard *board, u32 begin, u32 end,
			       enum roce_gap_loss loss);
bool roce_scoreboard_may_be_late(const struct roce_scoreboard *board);
bool roce_scoreboard_next(const struct roce_scoreboard *board, u32 *begin, u32 *end);
void roce_scoreboard_resent(struct roce_scoreboard *board, u32 begin, u32 end,
			    u32 mark);
void roce_scoreboard_take_back(struct roce_scoreboard *board, u32 psn);
u32 roce_scoreboard_under_way(const struct roce_scoreboard *board);
u32 roce_scoreboard_lost(const struct roce_scoreboard *board);
u32 roce_scoreboard_early(const struct roce_scoreboard *board);
bool roce_scoreboard_has(const struct roce_scoreboard *board, u32 psn);
u32 roce_scoreboard_missing(const struct roce_scoreboard *board, u32 begin, u32 end);

#endif /* ROCE_SCOREBOARD_H */
