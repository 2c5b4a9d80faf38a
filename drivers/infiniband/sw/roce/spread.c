// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Spreads the packets of a QP over many paths (path.c), if the device is told to use more
 * than one, and the peer sends selective acknowledgments. Towards any other peer, and
 * before that is agreed, a QP has one path, as every RoCE device does.
 *
 * Requests are spread: their acknowledgments tell which ones have arrived. Answers are
 * not, because nothing tells whether they arrive. They take one path at a time, and the
 * next one when the peer repeats a request: it may have missed the answer.
 *
 * Congestion control knows nothing of this: it sees one flow.
 */
#include <linux/slab.h>

#include "counters.h"
#include "cursor.h"
#include "engine.h"
#include "packet.h"
#include "path.h"
#include "qp.h"
#include "request_packet.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "sack.h"
#include "send.h"
#include "spread.h"
#include "trace.h"
#include "train.h"
#include "xmit.h"

static u32 path_count(const struct roce_qp *qp)
{
	return READ_ONCE(qp->dev->paths);
}

/* Operators look at the paths under RCU, so they are published when they are complete. */
static struct roce_paths *get_paths(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_paths *paths = requester->paths;

	if (paths)
		return paths;
	paths = roce_engine_alloc(sizeof(*paths));
	if (paths) {
		roce_paths_init(paths, requester->unacked_psn);
		/* Pairs with the acquire in put_paths(). */
		smp_store_release(&requester->paths, paths);
	}
	return paths;
}

static void take_path(const struct roce_qp *qp, struct roce_train *train, u32 path)
{
	roce_train_set_path(train, roce_path_source_port(qp->source_port, path),
			    roce_path_flow_label(qp->av.flow_label, path));
}

static u32 answer_path(const struct roce_qp *qp)
{
	u32 path = qp->responder.path;

	return path < path_count(qp) ? path : 0;
}

static void tell(struct roce_qp *qp, const struct roce_path_news *news)
{
	unsigned long left = news->left, returned = news->returned;
	u32 i;

	for_each_set_bit(i, &left, ROCE_MAX_PATHS) {
		roce_count(qp, paths_left);
		trace_roce_path_left(qp, i);
	}
	for_each_set_bit(i, &returned, ROCE_MAX_PATHS) {
		roce_count(qp, paths_returned);
		trace_roce_path_returned(qp, i);
	}
}

/* --- Probes --- */

/* Nothing depends on a single one, so it does not wait for the netdev. */
static void send_bare(struct roce_qp *qp, u8 opcode, u32 number, u32 path)
{
	struct roce_packet packet = {
		.opcode = opcode,
		.info = roce_opcode_info(opcode),
		.qpn = qp->attr.dest_qp_num,
		.psn = number,
	};
	u16 port = roce_path_source_port(qp->source_port, path);
	struct roce_train train;

	if (roce_train_of_one(&train, &qp->av, port, &packet, NULL))
		return;
	take_path(qp, &train, path);
	roce_send(qp, &qp->av, &train);
}

static void probe_if_due(struct roce_qp *qp, struct roce_paths *paths)
{
	u32 path = roce_paths_probe(paths, ktime_get_ns());

	if (path != ROCE_MAX_PATHS)
		send_bare(qp, ROCE_OPCODE_PATH_PROBE, paths->path[path].probe, path);
}

/**
 * roce_spread_probe_came() - answer the probe of a path
 * @qp: connected; its responder is owned by the caller
 * @packet: the probe, from the peer
 */
void roce_spread_probe_came(struct roce_qp *qp, const struct roce_packet *packet)
{
	if (roce_qp_is_reliable(qp) && roce_sack_is_confirmed(qp))
		send_bare(qp, ROCE_OPCODE_PATH_ANSWER, packet->psn, answer_path(qp));
	else
		roce_drop(qp, rx_dropped_opcode, packet);
}

/**
 * roce_spread_answer_came() - handle the answer to a probe
 * @qp: its requester is owned by the caller
 * @packet: the answer
 *
 * Return: false if nobody can have asked.
 */
bool roce_spread_answer_came(struct roce_qp *qp, const struct roce_packet *packet)
{
	struct roce_paths *paths = qp->requester.paths;
	struct roce_path_news news;

	if (!paths)
		return false;
	roce_paths_answered(paths, packet->psn, ktime_get_ns(), &news);
	tell(qp, &news);
	return true;
}

/* --- New packets --- */

/**
 * roce_spread_train() - choose a path for a train of new packets
 * @qp: its requester is owned by the caller; roce_spread_is_on()
 * @train: empty
 *
 * Sends a probe before, if one is due.
 */
void roce_spread_train(struct roce_qp *qp, struct roce_train *train)
{
	struct roce_paths *paths = get_paths(qp);
	u32 path;

	if (!paths)
		return;
	path = roce_paths_choose(paths, path_count(qp));
	probe_if_due(qp, paths);
	take_path(qp, train, path);
}

/* Of a train of READ requests, the arrival of the first one tells enough. */
static struct roce_departure departure_of(struct roce_requester *requester,
					  const struct roce_xmit *xmit,
					  const struct roce_cursor_place *place)
{
	u32 begin = place->psn, asked = requester->ack_request_psn;
	u32 end = xmit->data ? requester->psn : roce_request_packet_end(requester, begin);

	return (struct roce_departure) {
		.path = requester->paths->current_path,
		.begin = begin,
		.end = end,
		.packets = xmit->train.sent,
		.asked = asked,
		.times = xmit->data && roce_psn_diff(asked, begin) >= 0 &&
			 roce_psn_diff(asked, end) < 0,
		.again = place->psn != place->limit_psn,
		.time = roce_xmit_departure(xmit),
	};
}

/**
 * roce_spread_sent() - note that a train of new packets was sent
 * @qp: its requester is owned by the caller, and has paths
 * @xmit: the train; or no packet of it was sent
 * @place: where it began
 */
void roce_spread_sent(struct roce_qp *qp, const struct roce_xmit *xmit,
		      const struct roce_cursor_place *place)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_departure departure;

	if (!roce_spread_is_on(qp)) {
		roce_spread_forget(requester);
		return;
	}
	if (!xmit->train.sent)
		return;
	departure = departure_of(requester, xmit, place);
	roce_paths_sent(requester->paths, &departure);
}

/* --- Repeated packets --- */

/**
 * roce_spread_train_again() - choose a path for a train of repeated packets
 * @qp: its requester is owned by the caller; if it has no paths, this does nothing
 * @train: empty
 * @silence: nothing arrives any more
 */
void roce_spread_train_again(struct roce_qp *qp, struct roce_train *train, bool silence)
{
	struct roce_paths *paths = qp->requester.paths;

	if (paths && roce_spread_is_on(qp))
		take_path(qp, train, roce_paths_choose_again(paths, path_count(qp),
							     silence));
}

/**
 * roce_spread_sent_again() - note that packets were repeated
 * @qp: its requester is owned by the caller; if it has no paths, this does nothing
 * @xmit: the train
 * @psns: their PSNs; of a READ request, that of the first response
 */
void roce_spread_sent_again(struct roce_qp *qp, const struct roce_xmit *xmit,
			    const u32 *psns)
{
	struct roce_paths *paths = qp->requester.paths;
	struct roce_departure departure = { .packets = 1, .again = true };
	u32 n;

	if (!paths || !roce_spread_is_on(qp))
		return;
	departure.path = paths->again;
	departure.time = roce_xmit_departure(xmit);
	for (n = 0; n < xmit->train.sent; n++) {
		departure.begin = psns[n];
		departure.end = roce_psn_add(psns[n], 1);
		roce_paths_sent(paths, &departure);
	}
}

/* --- Acknowledgments --- */

/**
 * roce_spread_learn() - look at what has arrived
 * @qp: its requester is owned by the caller; if it has no paths, this does nothing
 * @until: all packets before this PSN have arrived
 */
void roce_spread_learn(struct roce_qp *qp, u32 until)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_path_news news;

	if (!requester->paths || !requester->sack_confirmed)
		return;
	roce_paths_learn(requester->paths, requester->board, until, ktime_get_ns(), &news);
	tell(qp, &news);
}

/**
 * roce_spread_acknowledged() - look at what has arrived, if that is news
 * @qp: its requester is owned by the caller, and has paths
 * @until: all packets before this PSN have arrived
 */
void roce_spread_acknowledged(struct roce_qp *qp, u32 until)
{
	if (roce_psn_diff(until, qp->requester.paths->until) > 0)
		roce_spread_learn(qp, until);
}

/**
 * roce_spread_silence() - nothing has arrived for longer than two round trips
 * @qp: its requester is owned by the caller, and sends again what is missing; if it has
 *	no paths, this does nothing
 */
void roce_spread_silence(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_path_news news;

	if (!requester->paths)
		return;
	roce_paths_silence(requester->paths, requester->board, ktime_get_ns(), &news);
	tell(qp, &news);
}

/**
 * roce_spread_unanswered() - probes of a silent peer were not answered
 * @requester: owned by the caller; if it has no paths, this does nothing
 * @probes: their number since anything has arrived
 */
void roce_spread_unanswered(struct roce_requester *requester, u32 probes)
{
	if (requester->paths)
		roce_paths_unanswered(requester->paths, probes);
}

/**
 * roce_spread_unknown() - limit what the peer takes for lost to packets that took one path
 * @requester: owned by the caller
 * @lost_end: the end of that
 */
u32 roce_spread_unknown(const struct roce_requester *requester, u32 lost_end)
{
	return requester->paths ? roce_paths_oldest(requester->paths, lost_end) : lost_end;
}

/**
 * roce_spread_forget() - forget which packets took which path
 * @requester: owned by the caller
 */
void roce_spread_forget(struct roce_requester *requester)
{
	if (requester->paths)
		roce_paths_forget(requester->paths, requester->unacked_psn);
}

/**
 * roce_spread_stop() - free the paths
 * @requester: of a QP in a state in which it sends nothing
 */
void roce_spread_stop(struct roce_requester *requester)
{
	struct roce_paths *paths = requester->paths;

	WRITE_ONCE(requester->paths, NULL);
	kfree_rcu(paths, rcu);
}

/* --- Answers --- */

/**
 * roce_spread_duplicate_came() - the peer may have missed an answer
 * @qp: of type RC; its responder is owned by the caller
 */
void roce_spread_duplicate_came(struct roce_qp *qp)
{
	u32 count = path_count(qp);

	if (count > 1 && roce_sack_is_confirmed(qp))
		qp->responder.path = (answer_path(qp) + 1) % count;
}

/** roce_spread_other_port() - the UDP source port for answers, if it is not the first one */
u16 roce_spread_other_port(const struct roce_qp *qp)
{
	return roce_path_source_port(qp->source_port, answer_path(qp));
}

/** roce_spread_take_other() - set the path of a train of answers, likewise */
void roce_spread_take_other(const struct roce_qp *qp, struct roce_train *train)
{
	take_path(qp, train, answer_path(qp));
}
