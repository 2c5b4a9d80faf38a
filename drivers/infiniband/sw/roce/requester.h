/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_REQUESTER_H
#define ROCE_REQUESTER_H

#include <linux/hrtimer.h>
#include <linux/timer.h>

#include "counters.h"
#include "engine.h"
#include "reorder.h"
#include "ring.h"
#include "roce_psn.h"
#include "train.h"
#include "xmit.h"

struct roce_key;
struct roce_paths;
struct roce_qp;
struct roce_request;
struct roce_scoreboard;

/* Packets in flight that keep a nearby peer busy */
#define ROCE_NEAR_WINDOW	256u

/**
 * struct roce_requester - the half of a QP that sends requests
 * @engine: owns all fields that do not say otherwise
 * @sender: its timer also ends the wait for company
 * @ring: send queue of a program
 * @slots: requests, as many as @ring has elements; NULL for a program's QP until it
 *	sends for the first time
 * @slot_size: bytes of a request
 * @slot_mask: number of requests - 1
 * @post_lock: guards @posted, which kernel consumers advance in any context
 * @posted: number of requests that a kernel consumer has written into @slots
 * @fetched: number of requests that were validated and have PSNs
 * @current_request: number of the request that the packet of @psn belongs to
 * @completed: number of completed requests; the next one is the oldest
 * @psn: PSN of the next packet
 * @limit_psn: one past the highest PSN ever sent
 * @unacked_psn: oldest PSN that the responder has not acknowledged
 * @next_psn: first PSN of the next request to fetch
 * @window: packets that may be in flight
 * @window_psn: limit_psn when @window was set; @window grows when all packets before it
 *	have arrived, or this one or a later one
 * @slow_start: @window grows with each packet that arrives, see window.c
 * @delivered: roce_window_delivered() of the latest acknowledgment in slow start
 * @busy_packets: packets in flight that keep the peer busy, by the latest round trip
 * @min_rtt: the shortest round trip, nanoseconds; 0 if none was measured
 * @min_rtt_at: jiffies when it was measured
 * @asked: number of READ and atomic requests that wait for their responses
 * @asked_first: index of the oldest of them in @asked_end
 * @asked_end: one past the PSN of the last response of each; NULL if none may be sent
 * @asked_room: capacity of @asked_end, a power of two
 * @ack_request_psn: PSN of the latest packet with AckReq
 * @recovering: no progress since going back; further signs of the same gap are ignored
 * @retries: left before IB_WC_RETRY_EXC_ERR
 * @rnr_retries: left before IB_WC_RNR_RETRY_EXC_ERR
 * @company_awaited: a short message waits for others, as long as @sender.timer runs
 * @ack_timer: fires no earlier than the retransmission is due
 * @ack_deadline: jiffies at which the response is overdue
 * @paging: it waited for pages of its own memory when it last advanced
 * @draining: the event of a drained send queue was not reported yet
 * @latest_key: cache for the key of READ responses, within this section
 * @reorder: responses that came early; NULL before the first one
 * @one_question: the peer is asked one question about a READ at a time
 * @questions_due: missing responses are asked for again, see question.c
 * @question_psn: first PSN of these; those before it were asked for, or must wait
 * @question_end: one past the last PSN of these
 * @question_at: time when some of them were asked for last, nanoseconds
 * @timed_psn: PSN of the packet whose acknowledgment ends a round trip
 * @timed_at: its departure, nanoseconds; 0 if no round trip is measured
 * @round_trip_ended: end of the latest measured round trip, nanoseconds
 * @timed_delivered: roce_window_delivered() at @timed_at
 * @timed_in_flight: number of packets in flight at @timed_at, with the timed one
 * @timed_data: the packet has payload, so congestion control gets the sample
 * @timed_copied: a probe has left since, whose answer may end the round trip
 * @srtt: mean round trip, nanoseconds; 0 if none was measured
 * @rttvar: mean deviation of round trips from @srtt, nanoseconds
 * @measured_in_flight: @timed_in_flight of the latest measured round trip
 * @sack_accepted: the responder can send selective acknowledgments, see sack.c
 * @sack_confirmed: it knows that the requester understands them
 * @confirm_psn: limit_psn when @sack_accepted was set: later packets confirm it
 * @board: what the responder is missing; NULL before the first selective acknowledgment,
 *	or NAK of a responder that can send them
 * @paths: the paths of the packets in flight; NULL if there was only one so far
 * @back_psn: missing packets before this PSN were sent again by going back
 * @losing: a loss was reported to congestion control, and @loss_end is not acknowledged
 * @loss_end: one past the last PSN in flight at that time
 * @news: counts packets that were acknowledged or are known to have arrived
 * @probe_timer: looks for progress, see probe.c
 * @probe_backed_off: @round_trip_ended when @probe_backoff grew
 * @probe_armed: the timer was started, and roce_probe_check() was not called for it
 * @probe_fired: the timer has fired; set by the timer
 * @probe_news: @news when the timer was started
 * @probe_backoff: log2 of the factor by which the interval is longer
 * @probing: a probe must be sent
 * @silent: nothing has come for too long: the next copies take another path
 * @repaired_alone: a NAK did not make the requester go back; the next one will
 */
struct roce_requester {
	struct roce_engine engine;
	struct roce_sender sender;
	struct roce_ring ring;
	void *slots;
	u32 slot_size;
	u32 slot_mask;
	spinlock_t post_lock;		/* see @post_lock above */
	u32 posted;
	u32 fetched;
	u32 current_request;
	u32 completed;
	u32 psn;
	u32 limit_psn;
	u32 unacked_psn;
	u32 next_psn;
	u32 window;
	u32 window_psn;
	bool slow_start;
	u32 delivered;
	u32 busy_packets;
	u64 min_rtt;
	unsigned long min_rtt_at;
	u32 asked;
	u32 asked_first;
	u32 asked_room;
	u32 *asked_end;
	u32 ack_request_psn;
	bool recovering;
	u8 retries;
	u8 rnr_retries;
	bool company_awaited;
	struct timer_list ack_timer;
	unsigned long ack_deadline;
	bool paging;
	bool draining;
	struct roce_key *latest_key;
	struct roce_reorder *reorder;
	bool one_question;
	bool questions_due;
	u32 question_psn;
	u32 question_end;
	u64 question_at;
	u32 timed_psn;
	u64 timed_at;
	u64 round_trip_ended;
	u32 timed_delivered;
	u32 timed_in_flight;
	bool timed_data;
	bool timed_copied;
	u64 srtt;
	u64 rttvar;
	u32 measured_in_flight;
	bool sack_accepted;
	bool sack_confirmed;
	u32 confirm_psn;
	struct roce_scoreboard *board;
	struct roce_paths *paths;
	u32 back_psn;
	bool losing;
	u32 loss_end;
	u32 news;
	struct hrtimer probe_timer;
	u64 probe_backed_off;
	bool probe_armed;
	bool probe_fired;
	u32 probe_news;
	u8 probe_backoff;
	bool probing;
	bool silent;
	bool repaired_alone;
};

/** roce_in_flight() - number of packets from the oldest unacknowledged one to the cursor */
static inline u32 roce_in_flight(const struct roce_requester *requester)
{
	return roce_psn_add(requester->psn, -requester->unacked_psn);
}

/** roce_requester_awaits_response() - whether a packet was sent that is not acknowledged */
static inline bool roce_requester_awaits_response(const struct roce_requester *requester)
{
	return requester->unacked_psn != requester->limit_psn;
}

/** roce_loss_is_told() - whether the rate or the window has reacted to the loss of a packet */
static inline bool roce_loss_is_told(const struct roce_requester *requester, u32 psn)
{
	return requester->losing && roce_psn_precedes(psn, requester->loss_end);
}

/** roce_loss_told() - all packets in flight together count as one loss */
static inline void roce_loss_told(struct roce_requester *requester)
{
	requester->losing = true;
	requester->loss_end = requester->limit_psn;
}

/** roce_asked_end() - the @n-th entry of asked_end */
static inline u32 *roce_asked_end(const struct roce_requester *requester, u32 n)
{
	return &requester->asked_end[(requester->asked_first + n) &
				     (requester->asked_room - 1)];
}

/* requester.c */
void roce_requester_init(struct roce_qp *qp);
void roce_requester_start(struct roce_qp *qp);
void roce_requester_set_asked_end(struct roce_qp *qp, u32 *asked_end);
void roce_requester_reset(struct roce_qp *qp);
void roce_requester_complete_local(struct roce_qp *qp);
void roce_requester_flush(struct roce_qp *qp);
void roce_requester_stop(struct roce_qp *qp);

/* retransmit.c */
void roce_retransmit_expect_progress(struct roce_qp *qp);
void roce_retransmit_renew(struct roce_qp *qp);
void roce_retransmit_go_back(struct roce_qp *qp);
int roce_retransmit_send(struct roce_qp *qp, struct roce_xmit *xmit);
void roce_retransmit_retry(struct roce_qp *qp, enum roce_counter why);
void roce_retransmit_forget_losses(struct roce_qp *qp);
void roce_retransmit_progressed(struct roce_qp *qp);
void roce_retransmit_check_timeout(struct roce_qp *qp);
void roce_retransmit_arm_timer(struct roce_qp *qp);
void roce_retransmit_init(struct roce_qp *qp);
void roce_retransmit_start(struct roce_qp *qp);
void roce_retransmit_stop(struct roce_qp *qp);

/* window.c */
u32 roce_window_delivered(const struct roce_requester *requester);
u32 roce_window_room(const struct roce_qp *qp);
void roce_window_halve(struct roce_requester *requester);
bool roce_window_give_way(struct roce_qp *qp, u32 lost);
void roce_window_arrived(struct roce_qp *qp, u32 psn);
void roce_window_measured(struct roce_qp *qp, u64 rtt, u32 packets);
void roce_window_end_round_trip(struct roce_qp *qp);
void roce_window_start(struct roce_qp *qp);

/* probe.c */
void roce_probe_arm(struct roce_qp *qp);
void roce_probe_check(struct roce_qp *qp);
void roce_probe_init(struct roce_qp *qp);
void roce_probe_stop(struct roce_qp *qp);

/* completer.c */
void roce_completer_receive(struct roce_engine *engine, struct sk_buff *skb);
bool roce_completer_receive_early(struct roce_qp *qp);

#endif /* ROCE_REQUESTER_H */
