/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SCOREBOARD_H
#define ROCE_SCOREBOARD_H

#include <linux/types.h>

/* Gaps that a scoreboard has room for */
#define ROCE_MAX_GAPS		128

/**
 * struct roce_gap - PSNs that the responder misses, while it has got later ones
 * @begin: the first one
 * @end: one past the last one
 * @resent: one past the last one that was sent again; @begin if none was
 * @mark: limit_psn when that was sent again
 */
struct roce_gap {
	u32 begin;
	u32 end;
	u32 resent;
	u32 mark;
};

/**
 * struct roce_scoreboard - what a requester knows of the packets in flight
 * @gaps: how many of @gap; 0 if nothing is known to be missing
 * @expected: all before this PSN has arrived
 * @high: one past the last PSN that is known to have arrived
 * @lost_end: what is missing before this one is lost, and not late
 * @gap: in the order of their PSNs, not empty and apart from each other
 *
 * What lies between the gaps and before @high has arrived. It means nothing while
 * @gaps is 0.
 */
struct roce_scoreboard {
	u32 gaps;
	u32 expected;
	u32 high;
	u32 lost_end;
	struct roce_gap gap[ROCE_MAX_GAPS];
};

void roce_scoreboard_acknowledge(struct roce_scoreboard *board, u32 psn);
bool roce_scoreboard_expect(struct roce_scoreboard *board, u32 psn);
bool roce_scoreboard_arrived(struct roce_scoreboard *board, u32 begin, u32 end,
			     u32 back);
void roce_scoreboard_lose(struct roce_scoreboard *board, u32 lost_end);
void roce_scoreboard_lose_again(struct roce_scoreboard *board);
bool roce_scoreboard_next(const struct roce_scoreboard *board, u32 *begin, u32 *end);
void roce_scoreboard_resent(struct roce_scoreboard *board, u32 begin, u32 end,
			    u32 mark);
void roce_scoreboard_take_back(struct roce_scoreboard *board, u32 psn);
u32 roce_scoreboard_under_way(const struct roce_scoreboard *board);
u32 roce_scoreboard_lost(const struct roce_scoreboard *board);
u32 roce_scoreboard_early(const struct roce_scoreboard *board);
bool roce_scoreboard_has(const struct roce_scoreboard *board, u32 psn);

#endif /* ROCE_SCOREBOARD_H */
