// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The scoreboard of a requester: the packets in flight that the responder is missing,
 * according to its selective acknowledgments.
 *
 *	  expected           lost_end                 high        limit_psn
 *	     |   gap 0  |#####|gap 1|#####|  gap 2  |####|  unknown  |
 *	           ^ resent
 *
 * Packets at hash signs have arrived. A gap before lost_end is sent again, from its
 * beginning on. Each gap remembers the first new packet that is sent after that
 * (mark): when this packet lies before lost_end, the retransmission is lost, too.
 *
 * A requester with many paths knows of single gaps that they are lost: packets of
 * another path do not tell (path.c).
 *
 * The scoreboard is a hint. A responder may drop kept packets, and then expects a
 * packet that has arrived already: this clears the scoreboard.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "roce_psn.h"
#include "scoreboard.h"

static void remove_gap(struct roce_scoreboard *board, u32 n)
{
	board->gaps--;
	memmove(&board->gap[n], &board->gap[n + 1],
		(board->gaps - n) * sizeof(board->gap[0]));
}

/* A gap shrinks from its beginning. */
static void set_begin(struct roce_gap *gap, u32 begin)
{
	gap->begin = begin;
	gap->resent = roce_psn_later(gap->resent, begin);
}

static void set_end(struct roce_gap *gap, u32 end)
{
	gap->end = end;
	gap->resent = roce_psn_earlier(gap->resent, end);
}

/* Returns false if there is no room for another gap. */
static bool split_gap(struct roce_scoreboard *board, u32 n, u32 begin, u32 end)
{
	if (board->gaps == ROCE_MAX_GAPS)
		return false;
	memmove(&board->gap[n + 1], &board->gap[n],
		(board->gaps - n) * sizeof(board->gap[0]));
	board->gaps++;
	set_end(&board->gap[n], begin);
	set_begin(&board->gap[n + 1], end);
	return true;
}

/**
 * roce_scoreboard_acknowledge() - all packets before a PSN have arrived
 * @board: owned by the caller
 * @psn: the PSN
 */
void roce_scoreboard_acknowledge(struct roce_scoreboard *board, u32 psn)
{
	if (!board->gaps || roce_psn_precedes(psn, board->expected))
		return;
	board->expected = psn;
	while (board->gaps && !roce_psn_precedes(psn, board->gap[0].end))
		remove_gap(board, 0);
	if (board->gaps && roce_psn_precedes(board->gap[0].begin, psn))
		set_begin(&board->gap[0], psn);
}

/**
 * roce_scoreboard_expect() - all packets before a PSN have arrived, that one has not
 * @board: owned by the caller
 * @psn: the expected PSN of the responder
 *
 * If @psn is known to have arrived, the responder has dropped its kept packets: this
 * clears the scoreboard.
 *
 * Return: false if @psn is outdated.
 */
bool roce_scoreboard_expect(struct roce_scoreboard *board, u32 psn)
{
	if (board->gaps && roce_psn_precedes(psn, board->expected))
		return false;
	roce_scoreboard_acknowledge(board, psn);
	if (board->gaps && board->gap[0].begin == psn)
		return true;
	board->gaps = 0;
	board->expected = psn;
	board->high = psn;
	board->lost_end = psn;
	return true;
}

/**
 * roce_scoreboard_gap_after() - find the first gap that ends after a PSN
 * @board: owned by the caller
 * @psn: the PSN
 *
 * Return: index of the gap; the number of gaps if there is none.
 */
u32 roce_scoreboard_gap_after(const struct roce_scoreboard *board, u32 psn)
{
	u32 n = 0, behind = board->gaps;

	while (n < behind) {
		u32 middle = (n + behind) / 2;

		if (roce_psn_precedes(psn, board->gap[middle].end))
			behind = middle;
		else
			n = middle + 1;
	}
	return n;
}

/**
 * roce_scoreboard_part() - get the part of a gap that lies in a range
 * @board: owned by the caller
 * @n: number of the gap: roce_scoreboard_gap_after() the beginning of the range, or one of
 *	the next
 * @range: the range
 * @part: set to the part
 *
 * Return: false if neither this gap nor one behind it has a part in the range.
 */
bool roce_scoreboard_part(const struct roce_scoreboard *board, u32 n,
			  const struct roce_psns *range, struct roce_psns *part)
{
	if (n >= board->gaps)
		return false;
	part->begin = roce_psn_later(range->begin, board->gap[n].begin);
	part->end = roce_psn_earlier(range->end, board->gap[n].end);
	return roce_psn_precedes(part->begin, part->end);
}

/* Whether a PSN lies in gap @n, which is roce_scoreboard_gap_after() it */
static bool is_in_gap(const struct roce_scoreboard *board, u32 n, u32 psn)
{
	return n < board->gaps && !roce_psn_precedes(psn, board->gap[n].begin);
}

/* Remove PSNs from the known gaps; returns true if some were in one. */
static bool fill_gaps(struct roce_scoreboard *board, u32 begin, u32 end)
{
	const struct roce_psns range = { begin, end };
	u32 n = roce_scoreboard_gap_after(board, begin);
	struct roce_psns part;
	bool news = false;

	while (roce_scoreboard_part(board, n, &range, &part)) {
		struct roce_gap *gap = &board->gap[n];

		if (part.begin == gap->begin && part.end == gap->end) {
			remove_gap(board, n);
			news = true;
			continue;
		}
		if (part.begin == gap->begin)
			set_begin(gap, part.end);
		else if (part.end == gap->end)
			set_end(gap, part.begin);
		else if (!split_gap(board, n, part.begin, part.end))
			return news;
		news = true;
		n++;
	}
	return news;
}

/**
 * roce_scoreboard_arrived() - packets after the expected one have arrived
 * @board: owned by the caller
 * @begin: PSN of the first of them, after the expected one
 * @end: one past the last PSN
 * @back: the cursor went back from this PSN: all earlier packets that are missing have
 *	been sent again already
 *
 * Return: true if this was news.
 */
bool roce_scoreboard_arrived(struct roce_scoreboard *board, u32 begin, u32 end,
			     u32 back)
{
	u32 high = board->high;
	bool news;

	news = fill_gaps(board, begin, roce_psn_earlier(end, high));
	if (!roce_psn_precedes(high, end))
		return news;
	if (roce_psn_precedes(high, begin)) {
		if (board->gaps == ROCE_MAX_GAPS)
			return news;
		board->gap[board->gaps++] = (struct roce_gap) {
			.begin = high, .end = begin, .mark = back,
			.resent = roce_psn_precedes(high, back) ? begin : high,
		};
	}
	board->high = end;
	return true;
}

/**
 * roce_scoreboard_lose() - missing packets before a PSN are lost
 * @board: owned by the caller
 * @lost_end: the PSN, which has arrived
 *
 * This includes retransmissions that were sent before the packet of @lost_end.
 */
void roce_scoreboard_lose(struct roce_scoreboard *board, u32 lost_end)
{
	u32 n;

	board->lost_end = roce_psn_later(board->lost_end, lost_end);
	for (n = 0; n < board->gaps; n++) {
		struct roce_gap *gap = &board->gap[n];

		if (gap->resent == gap->begin || roce_psn_precedes(lost_end, gap->mark))
			continue;
		gap->resent = gap->begin;
		if (gap->loss == ROCE_GAP_SILENT)
			gap->loss = ROCE_GAP_UNKNOWN;
	}
}

/**
 * roce_scoreboard_silence() - all missing packets are lost, and all retransmissions
 * @board: owned by the caller
 */
void roce_scoreboard_silence(struct roce_scoreboard *board)
{
	u32 n;

	for (n = 0; n < board->gaps; n++) {
		struct roce_gap *gap = &board->gap[n];

		gap->resent = gap->begin;
		if (gap->loss != ROCE_GAP_VANISHED)
			gap->loss = ROCE_GAP_SILENT;
	}
	board->lost_end = board->high;
}

/* A part of a gap becomes a gap of its own, if there is room. */
static void isolate(struct roce_scoreboard *board, u32 *n, const struct roce_psns *part)
{
	if (part->begin != board->gap[*n].begin &&
	    split_gap(board, *n, part->begin, part->begin))
		(*n)++;
	if (part->end != board->gap[*n].end)
		split_gap(board, *n, part->end, part->end);
}

/**
 * roce_scoreboard_lose_range() - missing packets of a range are lost
 * @board: owned by the caller
 * @begin: first PSN of the range
 * @end: one past the last PSN
 * @loss: how they were lost
 *
 * This includes retransmissions. Without room for more gaps, the rest of a gap is taken
 * for lost, too.
 *
 * Return: number of these packets.
 */
u32 roce_scoreboard_lose_range(struct roce_scoreboard *board, u32 begin, u32 end,
			       enum roce_gap_loss loss)
{
	const struct roce_psns range = { begin, end };
	u32 n = roce_scoreboard_gap_after(board, begin), lost = 0;
	struct roce_psns part;

	for (; roce_scoreboard_part(board, n, &range, &part); n++) {
		isolate(board, &n, &part);
		board->gap[n].resent = board->gap[n].begin;
		board->gap[n].loss = loss;
		lost += roce_psn_add(part.end, -part.begin);
	}
	return lost;
}

/* One past the last PSN of a gap that is lost; the beginning of the gap if none is */
static u32 end_of_loss(const struct roce_scoreboard *board, const struct roce_gap *gap)
{
	return gap->loss ? gap->end :
	       roce_psn_later(gap->begin, roce_psn_earlier(gap->end, board->lost_end));
}

/** roce_scoreboard_may_be_late() - whether a missing packet is not known to be lost */
bool roce_scoreboard_may_be_late(const struct roce_scoreboard *board)
{
	u32 n;

	for (n = 0; n < board->gaps; n++)
		if (end_of_loss(board, &board->gap[n]) != board->gap[n].end)
			return true;
	return false;
}

/**
 * roce_scoreboard_next() - find the next packets to send again
 * @board: owned by the caller
 * @begin: set to the first PSN
 * @end: set to one past the last PSN
 *
 * Return: false if there are none.
 */
bool roce_scoreboard_next(const struct roce_scoreboard *board, u32 *begin, u32 *end)
{
	u32 n;

	for (n = 0; n < board->gaps; n++) {
		const struct roce_gap *gap = &board->gap[n];
		u32 lost = end_of_loss(board, gap);

		if (!roce_psn_precedes(gap->resent, lost))
			continue;
		*begin = gap->resent;
		*end = lost;
		return true;
	}
	return false;
}

/**
 * roce_scoreboard_resent() - packets were sent again
 * @board: owned by the caller
 * @begin: set by roce_scoreboard_next()
 * @end: one past the last PSN that was sent
 * @mark: PSN of the next new packet
 */
void roce_scoreboard_resent(struct roce_scoreboard *board, u32 begin, u32 end,
			    u32 mark)
{
	struct roce_gap *gap = &board->gap[roce_scoreboard_gap_after(board, begin)];

	gap->resent = roce_psn_earlier(end, gap->end);
	gap->mark = mark;
}

/**
 * roce_scoreboard_take_back() - a packet was not sent again after all
 * @board: owned by the caller
 * @psn: its PSN; packets behind it, up to the end of the gap, were not sent either
 */
void roce_scoreboard_take_back(struct roce_scoreboard *board, u32 psn)
{
	u32 n = roce_scoreboard_gap_after(board, psn);

	if (is_in_gap(board, n, psn))
		board->gap[n].resent = roce_psn_earlier(board->gap[n].resent, psn);
}

/** roce_scoreboard_under_way() - number of retransmissions that have not arrived */
u32 roce_scoreboard_under_way(const struct roce_scoreboard *board)
{
	u32 n, sum = 0;

	for (n = 0; n < board->gaps; n++)
		sum += roce_psn_add(board->gap[n].resent, -board->gap[n].begin);
	return sum;
}

/**
 * roce_scoreboard_lost() - number of missing packets that are lost
 * @board: owned by the caller
 *
 * Without those that vanished on a path that delivers nothing: that is no congestion.
 */
u32 roce_scoreboard_lost(const struct roce_scoreboard *board)
{
	u32 n, sum = 0;

	for (n = 0; n < board->gaps; n++) {
		const struct roce_gap *gap = &board->gap[n];

		if (gap->loss != ROCE_GAP_VANISHED)
			sum += roce_psn_add(end_of_loss(board, gap), -gap->begin);
	}
	return sum;
}

/** roce_scoreboard_early() - number of packets that came early; @board or NULL */
u32 roce_scoreboard_early(const struct roce_scoreboard *board)
{
	u32 n, sum;

	if (!roce_scoreboard_has_gaps(board))
		return 0;
	sum = roce_psn_add(board->high, -board->expected);
	for (n = 0; n < board->gaps; n++)
		sum -= roce_psn_add(board->gap[n].end, -board->gap[n].begin);
	return sum;
}

/** roce_scoreboard_has() - whether the packet of @psn is known to have arrived */
bool roce_scoreboard_has(const struct roce_scoreboard *board, u32 psn)
{
	if (!board->gaps || roce_psn_precedes(psn, board->expected) ||
	    !roce_psn_precedes(psn, board->high))
		return false;
	return !is_in_gap(board, roce_scoreboard_gap_after(board, psn), psn);
}

/**
 * roce_scoreboard_missing() - number of packets of a range that are not known to have
 *	arrived
 * @board: owned by the caller, with gaps
 * @begin: first PSN of the range
 * @end: one past the last PSN
 */
u32 roce_scoreboard_missing(const struct roce_scoreboard *board, u32 begin, u32 end)
{
	const struct roce_psns range = { begin, end };
	u32 n = roce_scoreboard_gap_after(board, begin), sum = 0;
	struct roce_psns part;

	if (roce_psn_precedes(board->high, end))
		sum = roce_psn_add(end, -roce_psn_later(begin, board->high));
	for (; roce_scoreboard_part(board, n, &range, &part); n++)
		sum += roce_psn_add(part.end, -part.begin);
	return sum;
}
