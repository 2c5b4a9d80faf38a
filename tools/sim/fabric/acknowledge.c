// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a sender learns of what has arrived, as in completer.c, repair.c and retransmit.c of
 * the driver: it fills the driver's scoreboard and the flights of its paths. A loss cuts the
 * rate, but leaves the window: roce_retransmit_give_way() has no counterpart here.
 */
#include "acknowledge.h"
#include "memory.h"
#include "options.h"
#include "rate.h"
#include "report.h"
#include "roce_psn.h"
#include "sack.h"
#include "timers.h"

/* Of retransmit.c */
#define WINDOW_BYTES	(32u << 20)
#define WINDOW_STEP	4

static void widen_window(struct sender *sender)
{
	u32 most = min_of(WINDOW_BYTES / options.payload, EARLY_PACKETS);
	u32 least = sender->window;

	if (least < NEAR_WINDOW)
		least += WINDOW_STEP;
	sender->window = min_of(max_of(sender->busy_packets, least), max_of(most, least));
	sender->window_psn = sender->limit_psn;
}

/* @arrived: number of packets that have arrived */
static void end_round_trip(struct sender *sender, u64 arrived, u64 now)
{
	u64 rtt = now - sender->timed_at;

	sender->srtt = sender->srtt ? (7 * sender->srtt + rtt) / 8 : rtt;
	if (!sender->min_rtt || rtt < sender->min_rtt)
		sender->min_rtt = rtt;
	sender->busy_packets = 2 * (arrived - sender->timed_unacked) * sender->min_rtt / rtt;
	sender->timed_at = 0;
	sender->round_trip_ended = now;
}

static void complete_messages(struct sender *sender, u64 now)
{
	const struct flow *flow = sender_flow(sender);

	while (sender->messages < sender->acked / flow->message) {
		u64 *begun = &sender->begun[sender->messages % flow->outstanding];

		report_message(sender_number(sender), now, now - *begun);
		*begun = now;
		sender->messages++;
	}
	if (flow->messages && sender->messages == flow->messages) {
		sender->end = now;
		report_end(sender_number(sender), now);
	}
}

static void learn(struct sender *sender, u32 until, u64 now)
{
	struct roce_path_news news;

	if (!sender->paths)
		return;
	roce_paths_learn(sender->paths, sender->board, until, now, &news);
	sender->left += __builtin_popcount(news.left);
	sender->returned += __builtin_popcount(news.returned);
}

/* Everything before @psn has arrived. */
static void progress(struct sender *sender, u32 psn, u64 now)
{
	sender->acked += roce_psn_add(psn, -sender->unacked_psn);
	sender->unacked_psn = psn;
	if (roce_psn_precedes(sender->psn, psn)) {
		sender->psn = psn;
		sender->ack_request_psn = roce_psn_add(psn, -1);
	}
	if (sender->timed_at && roce_psn_precedes(sender->timed_psn, psn))
		end_round_trip(sender, sender->acked, now);
	if (!roce_psn_precedes(psn, sender->window_psn))
		widen_window(sender);
	sender->retries = 0;
	sender->deadline = now + timers_ack_timeout(sender);
	sender->news++;
	sender->probing = false;
	sender->back_psn = roce_psn_later(sender->back_psn, psn);
	if (!sender->paths && sender->confirmed && roce_psn_precedes(sender->confirm_psn, psn))
		sender_spread(sender);
	if (!roce_psn_precedes(psn, sender->loss_end))
		sender->losing = false;
	if (sender->board)
		roce_scoreboard_acknowledge(sender->board, psn);
	complete_messages(sender, now);
}

static void tell_of_loss(struct sender *sender, u64 now)
{
	const struct roce_scoreboard *board = sender->board;
	u32 lost = roce_scoreboard_lost(board), begin, end;
	u32 seen = roce_psn_add(board->high, -board->expected);

	/* roce_is_congestion() of flow.h */
	if (!roce_scoreboard_next(board, &begin, &end) || 8 * lost <= max_of(seen, 64))
		return;
	if (sender->losing && roce_psn_precedes(begin, sender->loss_end))
		return;
	sender->losing = true;
	sender->loss_end = sender->limit_psn;
	rate_lost(sender, ROCE_CC_NAK, now);
}

static void look_at_timed(struct sender *sender, u64 now)
{
	const struct roce_scoreboard *board = sender->board;
	u32 psn = sender->timed_psn;

	if (!sender->timed_at || roce_psn_precedes(psn, board->expected) ||
	    !roce_psn_precedes(psn, board->high))
		return;
	if (roce_scoreboard_has(board, psn))
		end_round_trip(sender, sender->acked + 1 +
			       roce_psn_add(psn, -sender->unacked_psn), now);
	sender->timed_at = 0;
}

static void take_sack(struct sender *sender, u32 psn, const struct sack *sack, u64 now)
{
	u32 lost_end = sack->lost_end, n;
	bool news = false;

	if (!sender->board)
		sender->board = allocate(1, sizeof(*sender->board));
	if (!roce_scoreboard_expect(sender->board, psn))
		return;
	for (n = 0; n < sack->count; n++)
		if (roce_scoreboard_arrived(sender->board, sack->begin[n], sack->end[n],
					    sender->back_psn))
			news = true;
	learn(sender, psn, now);
	if (sender->paths)
		lost_end = roce_paths_oldest(sender->paths, lost_end);
	roce_scoreboard_lose(sender->board, lost_end);
	sender->news += news;
	look_at_timed(sender, now);
	tell_of_loss(sender, now);
}

/** acknowledge() - an ACK has come, with a SACK or without one */
void acknowledge(struct sender *sender, const struct packet *packet, u64 now)
{
	s32 ahead = roce_psn_diff(packet->psn, sender->unacked_psn);

	if (ahead > 0) {
		progress(sender, packet->psn, now);
		if (packet->sack == SACK_NONE)
			learn(sender, packet->psn, now);
	}
	if (ahead >= 0 && packet->sack != SACK_NONE)
		take_sack(sender, packet->psn, sack_get(packet->sack), now);
	sack_free(packet->sack);
}

/** acknowledge_probe() - the answer to the probe of a path has come */
void acknowledge_probe(struct sender *sender, u32 probe, u64 now)
{
	struct roce_path_news news;

	if (!sender->paths)
		return;
	roce_paths_answered(sender->paths, probe, now, &news);
	sender->returned += __builtin_popcount(news.returned);
}
