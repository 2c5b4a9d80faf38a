// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a sender learns of what has arrived, as in completer.c, repair.c and retransmit.c of
 * the driver: it fills the driver's scoreboard and the flights of its paths.
 */
#include "acknowledge.h"
#include "memory.h"
#include "options.h"
#include "rate.h"
#include "report.h"
#include "roce_psn.h"
#include "sack.h"
#include "timers.h"
#include "window.h"

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
	window_arrived(sender, psn);
	if (sender->timed_at && roce_psn_precedes(sender->timed_psn, psn))
		window_end_round_trip(sender, now);
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
	window_end_slow_start(sender);
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
		window_end_round_trip(sender, now);
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
	if (news)
		sender->deadline = now + timers_ack_timeout(sender);
	look_at_timed(sender, now);
	window_arrived(sender, roce_psn_add(sender->board->high, -1));
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
