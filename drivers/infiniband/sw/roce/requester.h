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

struct roce_key;
struct roce_qp;
struct roce_request;
struct roce_scoreboard;

/* Packets in flight that keep a peer busy which is not far away */
#define ROCE_NEAR_WINDOW	256u

/**
 * struct roce_requester - the half of a QP that sends requests
 * @engine: owns all of this but for what is said otherwise
 * @ring: of a program, filled by it
 * @slots: as many requests as @ring has elements, @slot_size bytes each; of a
 *	program's QP, NULL until it first sends
 * @slot_size: bytes
 * @slot_mask: slots - 1
 * @post_lock: guards @posted, which kernel consumers advance in any context
 * @posted: requests that a kernel consumer has written into the slots
 * @fetched: requests that have been looked at, and numbered with PSNs
 * @current_request: the request that the packet of @psn belongs to
 * @completed: requests that are over; the next one is the oldest
 * @psn: of the packet that is sent next
 * @limit_psn: one past the highest PSN ever sent
 * @unacked_psn: oldest PSN that the responder has not acknowledged
 * @next_psn: first PSN of the request that is fetched next
 * @window: packets that may be in flight
 * @window_psn: limit_psn when @window was set; when all before it is
 *	acknowledged, @window grows
 * @busy_packets: so many in flight keep the peer busy, by the latest round trip
 * @min_rtt: the shortest round trip, nanoseconds; 0 if none was measured
 * @min_rtt_at: jiffies when it was measured
 * @asked: READ and atomic requests that were sent and wait for their responses
 * @asked_first: the oldest of them in @asked_end
 * @asked_end: one past the PSN of the last response of each; NULL as long as none
 *	may be sent
 * @asked_room: how many @asked_end has room for, a power of two
 * @ack_request_psn: of the last packet with AckReq
 * @recovering: went back and saw no progress since; further signs of the same
 *	gap are ignored
 * @retries: left before IB_WC_RETRY_EXC_ERR
 * @rnr_retries: left before IB_WC_RNR_RETRY_EXC_ERR
 * @rnr_waiting: the latest wait, which @wait_end is of, was an RNR NAK's delay, and
 *	no gap has been found since
 * @pacing: the latest wait was for the turn of a flow whose rate is limited
 * @stalls: of the netdev, in a row
 * @wait_end: nothing is sent before: an RNR NAK's delay, a stall of the netdev, or
 *	the turn of a flow whose rate is limited; 0 if there is nothing to wait for
 * @company_awaited: a short message waits for others, for as long as @wait_timer runs
 * @wait_timer: lets the requester look again, at the end of either wait
 * @ack_timer: fires no earlier than the retransmission is due
 * @ack_deadline: jiffies at which the response is overdue
 * @draining: the event of a drained send queue is still owed
 * @latest_key: what the latest key of a READ named, in this section
 * @reorder: responses that came early
 * @repairing: responses that are missing among them are asked for again, alone
 * @repair_psn: from this one on
 * @timed_psn: of the packet whose acknowledgment ends a round trip
 * @timed_at: when it left, nanoseconds; 0 if no round trip is measured
 * @round_trip_ended: when the latest one ended that was measured, nanoseconds
 * @timed_unacked: unacked_psn by then, and as many more as had arrived behind it
 * @timed_data: it carried payload: congestion control wants to know
 * @srtt: the mean of round trips, nanoseconds; 0 if none was measured
 * @sack_accepted: the responder can send selective acknowledgments, see sack.c
 * @board: what they have said; NULL before the first one
 * @back_psn: all that is missing before this PSN was sent again by going back
 * @repaired: PSNs of the packets in the latest train that was sent again from @board
 * @losing: congestion control knows of a loss, and @loss_end is not acknowledged
 * @loss_end: one past what was in flight with it
 * @news: counts up with all that is acknowledged, or known to have arrived
 * @probe_timer: sees that there was none for long, see probe.c
 * @probe_armed: it was started, and what is to be done then was not done
 * @probe_fired: it has fired; set by the timer
 * @probe_news: @news when it was started
 * @probe_backoff: exponent of two by which it takes longer
 * @probing: a probe is to be sent
 * @repeat_probes: what is lost is sent again as a probe
 */
struct roce_requester {
	struct roce_engine engine;
	struct roce_ring ring;
	void *slots;
	u32 slot_size;
	u32 slot_mask;
	spinlock_t post_lock;		/* of posted */
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
	bool rnr_waiting;
	bool pacing;
	bool company_awaited;
	u32 stalls;
	ktime_t wait_end;
	struct hrtimer wait_timer;
	struct timer_list ack_timer;
	unsigned long ack_deadline;
	bool draining;
	struct roce_key *latest_key;
	struct roce_reorder reorder;
	bool repairing;
	u32 repair_psn;
	u32 timed_psn;
	u64 timed_at;
	u64 round_trip_ended;
	u32 timed_unacked;
	bool timed_data;
	u64 srtt;
	bool sack_accepted;
	struct roce_scoreboard *board;
	u32 back_psn;
	u32 repaired[ROCE_TRAIN_MAX_PACKETS];
	bool losing;
	u32 loss_end;
	u32 news;
	struct hrtimer probe_timer;
	bool probe_armed;
	bool probe_fired;
	u32 probe_news;
	u8 probe_backoff;
	bool probing;
	bool repeat_probes;
};

/** roce_in_flight() - packets behind the oldest that is not acknowledged */
static inline u32 roce_in_flight(const struct roce_requester *requester)
{
	return roce_psn_add(requester->psn, -requester->unacked_psn);
}

/** roce_asked_end() - where the @n-th request in asked_end ends */
static inline u32 *roce_asked_end(const struct roce_requester *requester, u32 n)
{
	return &requester->asked_end[(requester->asked_first + n) &
				     (requester->asked_room - 1)];
}

/**
 * roce_requester_is_waiting() - whether there is a reason to send nothing yet
 * @requester: owned by the caller
 *
 * The timer does not end a wait by itself: it may be late, and another wait begun.
 */
static inline bool
roce_requester_is_waiting(struct roce_requester *requester)
{
	if (!requester->wait_end)
		return false;
	if (ktime_before(ktime_get(), requester->wait_end))
		return true;
	WRITE_ONCE(requester->wait_end, 0);
	return false;
}

/* requester.c */
void roce_requester_init(struct roce_qp *qp);
void roce_requester_start(struct roce_qp *qp);
void roce_requester_set_asked_end(struct roce_qp *qp, u32 *asked_end);
void roce_requester_reset(struct roce_qp *qp);
void roce_requester_complete_local(struct roce_qp *qp);
void roce_requester_flush(struct roce_qp *qp);
void roce_requester_stop(struct roce_qp *qp);

/* requester_wait.c */
void roce_requester_wait(struct roce_qp *qp, u64 nanoseconds);
void roce_requester_stall(struct roce_qp *qp, int err);
void roce_requester_wait_for_turn(struct roce_qp *qp, u64 nanoseconds);
bool roce_requester_waits_for_company(struct roce_qp *qp,
				      const struct roce_request *request);
void roce_requester_wait_init(struct roce_requester *requester);
void roce_requester_wait_stop(struct roce_requester *requester);

/* retransmit.c */
void roce_retransmit_expect_progress(struct roce_qp *qp);
void roce_retransmit_renew(struct roce_qp *qp);
void roce_retransmit_go_back(struct roce_qp *qp);
void roce_retransmit_ask_again(struct roce_qp *qp, u32 psn);
void roce_retransmit_retry(struct roce_qp *qp, enum roce_counter why);
void roce_retransmit_measured(struct roce_qp *qp, u64 rtt, u32 packets);
void roce_retransmit_end_round_trip(struct roce_qp *qp, u32 end_psn);
void roce_retransmit_forget_losses(struct roce_qp *qp);
void roce_retransmit_progressed(struct roce_qp *qp);
void roce_retransmit_check_timeout(struct roce_qp *qp);
void roce_retransmit_arm_timer(struct roce_qp *qp);
void roce_retransmit_init(struct roce_qp *qp);
void roce_retransmit_start(struct roce_qp *qp);
void roce_retransmit_stop(struct roce_qp *qp);

/* probe.c */
void roce_probe_arm(struct roce_qp *qp);
void roce_probe_check(struct roce_qp *qp);
void roce_probe_init(struct roce_qp *qp);
void roce_probe_stop(struct roce_qp *qp);

/* completer.c */
void roce_completer_receive(struct roce_engine *engine, struct sk_buff *skb);
bool roce_completer_receive_early(struct roce_qp *qp);

#endif /* ROCE_REQUESTER_H */
