// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The window of a requester: the number of packets in flight. Some of them wait in a
 * receiver's per-CPU backlog, which silently drops sk_buffs above 1000. Every packet after
 * a loss is sent in vain, and many QPs that send more than arrives within their timeouts
 * would send the same packets forever. So a NAK or a timeout halves the window. Every
 * window that arrives widens a narrow one by a step.
 *
 * A distant peer needs a larger window: twice what it acknowledges in the shortest round
 * trip. More would only lengthen the queues on the path, and with them the round trip.
 * With selective acknowledgments a narrow window follows that, too. Go-back-N should have
 * few packets in flight, because it sends all of them again after a loss.
 *
 * A round trip shows what was in flight when it began, so this lags behind by one. That is
 * too slow at first: in slow start each packet that arrives makes room for another one. The
 * window doubles in a round trip, and is at most twice as large as above. Slow start ends
 * when many packets are lost, or a round trip takes twice as long as the shortest one, and
 * 50 us longer. A shorter queue is no reason: trains that leave together queue behind each
 * other, on any path. Packets that are only late delay nothing: what counts is that a
 * window has arrived, and not that all of it has.
 *
 * A port that does not mark is shared by windows, as with TCP Westwood: if round trips are
 * longer than the shortest one, the port has a queue, and a loss halves what is in flight.
 * As long as little is lost, what a far peer needs stays in flight: so a line that loses
 * packets at random is not slowed down. Over a crowded port a narrow window grows by one
 * packet.
 *
 * It is part of the requester's engine and works on its state.
 */
#include "flow.h"
#include "qp.h"
#include "reorder.h"
#include "request.h"
#include "requester.h"
#include "roce_psn.h"
#include "scoreboard.h"

#define MIN_WINDOW		4u
#define MIN_WINDOW_BACK		16u	/* that going back leaves */
#define WINDOW_STEP		4
#define MAX_WINDOW_BYTES	SZ_32M

/* Limits of what is ahead of the oldest missing packet, besides ROCE_EARLY_PACKETS */
#define EARLY_WINDOWS		4u
#define MAX_EARLY_BYTES		SZ_128M

/* A round trip is so much longer for a queue, and not for a host that is slow to answer. */
#define CROWDED_NANOSECONDS	(50 * NSEC_PER_USEC)

/* Routes change, and the shortest round trip with them. */
#define MIN_RTT_LIFETIME	(60 * HZ)

/* --- What is in flight --- */

/* Number of responses of a READ, the n-th request that waits, whose request is early */
static u32 count_owed(const struct roce_requester *requester, u32 n)
{
	const struct roce_scoreboard *board = requester->board;
	u32 end = *roce_asked_end(requester, n), begin;
	const struct roce_request *request = roce_request_of(requester, roce_psn_add(end, -1));

	begin = n ? *roce_asked_end(requester, n - 1) : board->expected;
	if (request)
		begin = roce_psn_later(begin, request->first_psn);
	/* The request packet has the first PSN. */
	begin = roce_psn_later(roce_psn_add(begin, 1), board->expected);
	if (!roce_psn_precedes(begin, end))
		return 0;
	return roce_psn_add(end, -begin) - roce_scoreboard_missing(board, begin, end);
}

/* Packets that have arrived out of order, without the responses of early READs */
static u32 count_early(const struct roce_requester *requester)
{
	u32 early = roce_scoreboard_early(requester->board), n;

	for (n = 0; early && n < requester->asked; n++)
		early -= min(early, count_owed(requester, n));
	return early;
}

/**
 * roce_window_delivered() - unacked_psn, plus the number of packets after it that have arrived
 * @requester: owned by the caller
 */
u32 roce_window_delivered(const struct roce_requester *requester)
{
	return roce_psn_add(requester->unacked_psn, count_early(requester));
}

/* Packets in the network, without those that the peer keeps (RFC 6675, pipe) */
static u32 under_way(const struct roce_requester *requester)
{
	u32 packets = roce_in_flight(requester);

	return packets - min(packets, count_early(requester));
}

/**
 * roce_window_room() - number of packets that the window has room for
 * @qp: its requester is owned by the caller
 *
 * The peer's memory for packets after a gap is limited, too.
 */
u32 roce_window_room(const struct roce_qp *qp)
{
	const struct roce_requester *requester = &qp->requester;
	u32 used = under_way(requester), ahead = roce_in_flight(requester);
	u32 most = min3(EARLY_WINDOWS * requester->window, ROCE_EARLY_PACKETS,
			MAX_EARLY_BYTES / (u32)qp->mtu);

	if (used >= requester->window || ahead >= most)
		return 0;
	return min(requester->window - used, most - ahead);
}

/* --- Losses --- */

static void end_slow_start(struct roce_requester *requester)
{
	u32 needed = max(requester->busy_packets, ROCE_NEAR_WINDOW);

	if (requester->slow_start)
		requester->window = min(requester->window, needed);
	requester->slow_start = false;
}

static bool is_crowded(const struct roce_requester *requester)
{
	return requester->srtt > requester->min_rtt + CROWDED_NANOSECONDS;
}

/**
 * roce_window_halve() - send less, before going back
 * @requester: owned by the caller
 */
void roce_window_halve(struct roce_requester *requester)
{
	requester->window = max(requester->window / 2,
				min(requester->window, MIN_WINDOW_BACK));
	requester->busy_packets = 0;
	requester->window_psn = requester->limit_psn;
}

/**
 * roce_window_give_way() - react to a loss
 * @qp: its requester is owned by the caller
 * @lost: number of packets
 *
 * Where many packets are lost, slow start ends. Over a crowded port the window gets
 * narrower; if it is as narrow as it can be, the rate is cut.
 *
 * Return: false if the port is not crowded.
 */
bool roce_window_give_way(struct roce_qp *qp, u32 lost)
{
	struct roce_requester *requester = &qp->requester;
	u32 in_flight = roce_in_flight(requester);
	u32 half = min(requester->window, in_flight) / 2;
	bool congestion = roce_is_congestion(lost, in_flight);
	u32 least = congestion ? 0 : requester->busy_packets;
	/* Below the packets that nothing asks about, it might stay closed. */
	u32 unasked = roce_psn_add(requester->psn, -requester->ack_request_psn);

	if (congestion)
		end_slow_start(requester);
	if (!roce_flow_is_controlled(qp) || !is_crowded(requester))
		return false;
	if (requester->window <= MIN_WINDOW)
		roce_flow_lost(qp, ROCE_CC_NAK);
	least = max3(least, unasked, MIN_WINDOW);
	requester->window = min(requester->window, max(half, least));
	requester->window_psn = requester->limit_psn;
	requester->slow_start = false;
	return true;
}

/* --- Growth --- */

static u32 widest(const struct roce_qp *qp)
{
	return min(MAX_WINDOW_BYTES / qp->mtu, ROCE_EARLY_PACKETS);
}

/* Whatever was in flight when the window was set has arrived, or is late. */
static void widen(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	u32 least = requester->window, most = widest(qp);

	if (least < ROCE_NEAR_WINDOW) {
		least += is_crowded(requester) ? 1 : WINDOW_STEP;
		if (!requester->sack_accepted)
			most = least;
	}
	requester->window = clamp(requester->busy_packets, least, most);
	requester->window_psn = requester->limit_psn;
}

static void grow_in_slow_start(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	u32 delivered = roce_window_delivered(requester);
	s32 packets = roce_psn_diff(delivered, requester->delivered);
	u32 most = min(2 * requester->busy_packets, widest(qp));

	requester->delivered = delivered;
	if (packets > 0 && requester->sack_accepted)
		requester->window = max(requester->window,
					min(requester->window + packets, most));
}

/**
 * roce_window_arrived() - packets have arrived
 * @qp: its requester is owned by the caller
 * @psn: the oldest one that is missing, or the latest one that has arrived
 */
void roce_window_arrived(struct roce_qp *qp, u32 psn)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->slow_start)
		grow_in_slow_start(qp);
	if (!roce_psn_precedes(psn, requester->window_psn))
		widen(qp);
}

/* --- Round trips --- */

/* As TCP does (RFC 6298, 2) */
static void smooth(struct roce_requester *requester, u64 rtt)
{
	u64 deviation = abs((s64)(rtt - requester->srtt));

	if (!requester->srtt) {
		requester->rttvar = rtt / 2;
		requester->srtt = rtt;
		return;
	}
	requester->rttvar = (3 * requester->rttvar + deviation) / 4;
	requester->srtt = (7 * requester->srtt + rtt) / 8;
}

/*
 * A small window drains the queues, so that the next samples are short. This one is about
 * the large window.
 */
static void begin_anew(struct roce_requester *requester)
{
	requester->window = min(requester->window, ROCE_NEAR_WINDOW);
	requester->window_psn = requester->limit_psn;
	requester->busy_packets = 0;
	requester->slow_start = true;
	requester->delivered = roce_window_delivered(requester);
	requester->min_rtt = 0;
}

/**
 * roce_window_measured() - take a sample of the round trip time
 * @qp: its requester is owned by the caller
 * @rtt: the round trip time, nanoseconds, not 0
 * @packets: number of packets that were acknowledged meanwhile
 */
void roce_window_measured(struct roce_qp *qp, u64 rtt, u32 packets)
{
	struct roce_requester *requester = &qp->requester;
	bool outdated = requester->min_rtt &&
			time_after(jiffies, requester->min_rtt_at + MIN_RTT_LIFETIME);

	smooth(requester, rtt);
	if (outdated)
		begin_anew(requester);
	if (!requester->min_rtt || rtt <= requester->min_rtt) {
		requester->min_rtt = rtt;
		requester->min_rtt_at = jiffies;
	}
	if (outdated)
		return;
	requester->busy_packets = div64_u64(2 * packets * requester->min_rtt, rtt);
	if (rtt > requester->min_rtt + max(requester->min_rtt, CROWDED_NANOSECONDS))
		end_slow_start(requester);
}

/*
 * If a lost packet was probed, the sample is too long, and says nothing about queues. But
 * all of them are probed if round trips have become longer, so the mean must follow.
 */
static void take_sample(struct roce_qp *qp, u64 rtt, u32 packets)
{
	struct roce_requester *requester = &qp->requester;

	if (requester->timed_copied) {
		smooth(requester, rtt);
		return;
	}
	if (requester->timed_data)
		roce_flow_acknowledged(qp, rtt);
	roce_window_measured(qp, rtt, packets);
}

/**
 * roce_window_end_round_trip() - the timed packet is acknowledged
 * @qp: its requester is owned by the caller; a round trip is measured
 */
void roce_window_end_round_trip(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	/* Less than before, if the peer has dropped packets that it kept. */
	s32 packets = roce_psn_diff(roce_window_delivered(requester), requester->timed_delivered);
	u64 now = ktime_get_ns();

	/* A coarse clock may show the same time at both ends. */
	if (now >= requester->timed_at) {
		take_sample(qp, max(now - requester->timed_at, 1ull), max(packets, 0));
		requester->measured_in_flight = requester->timed_in_flight;
	}
	requester->timed_at = 0;
	requester->round_trip_ended = now;
}

/**
 * roce_window_start() - the window of a new connection
 * @qp: both engines are owned by the caller; attr is set
 */
void roce_window_start(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	requester->window = ROCE_NEAR_WINDOW;
	requester->window_psn = qp->attr.sq_psn;
	requester->slow_start = true;
	requester->delivered = qp->attr.sq_psn;
	requester->busy_packets = 0;
	requester->min_rtt = 0;
	requester->srtt = 0;
}
