// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many paths. Routers and link aggregations choose one of several ways by a hash of the
 * addresses and ports. So each UDP source port (and IPv6 flow label) of a QP is a path:
 * a way through the network that keeps the order of its packets, which is unknown and
 * may be shared with other paths.
 *
 * New packets leave in flights of FLIGHT_PACKETS or a little more, each on one path:
 *
 *	path 0	|0..14|        |30..44|
 *	path 1	        |15..29|        |45..59|	PSNs ->
 *
 * The next flight takes the path with the least cost, the packets under way times the
 * round trip. So a path that is half as fast carries less than half of the packets, and
 * they are not much later than others. Each flight asks for an acknowledgment, and the
 * peer answers at once, even behind a gap: that ends a round trip of this path. With a
 * single path, one sample per window was enough.
 *
 * Which packets are lost? Packets of different paths overtake each other, so the peer
 * cannot know. The sender can, because it knows the path of each packet:
 *
 * - Overtaken: OVERTAKERS later packets of the same path have arrived, which were sent
 *   for the first time.
 * - Overdue: a flight that left much later, on any path, has arrived. Much is
 *   two round trips of the path, the mean or the latest, and SLACK. When the peer or the
 *   way back stands still, nothing is overdue. When nothing at all has arrived for so
 *   long, a flight that left any later is enough.
 * - Packets at the end, after which nothing is sent, are the business of probe.c. The
 *   probe takes another path, and its arrival makes the others overdue.
 *
 * Lost packets are sent again as a new flight, on the path with the latest arrival. When
 * such a packet arrives, it may be the first copy, which was only late. So it overtakes
 * nothing: else one mistake would lead to the next.
 *
 * A path is left
 *
 * - when a flight is overdue and nothing that was sent later on this path has arrived:
 *   a broken link, or a router that is gone;
 * - when flights of single packets arrive as copies only, by probes, SAVED times in a row;
 * - when it loses LOSS_MARGIN more of its packets than twice what the others lose;
 * - when its round trip is longer than SLOW times the shortest one and SLOW_SLACK:
 *   packets would wait for it at the peer.
 *
 * Nobody leaves the last good path. When that would happen, or when a probe of a silent
 * peer has taken each good path in vain, the whole network is in trouble, and all paths
 * count as good again.
 *
 * A path that was left gets a probe from time to time, a packet of its own kind, which the
 * peer answers. If the answer comes in time, the path is good again. The time between
 * probes doubles. If the path is left once more before a long STREAK of flights has arrived
 * without loss, it is alone for twice as long.
 *
 * Marks of switches (ECN) have no part in this: a CNP does not say which packet was
 * marked. A long queue shows in the round trip.
 *
 * Everything here is PSNs and times, without a QP, so that tests can play with it. The
 * owner of the requester calls it. spread.c connects it to the QP.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "path.h"
#include "roce_psn.h"
#include "scoreboard.h"

/* Packets after which another path may be chosen: a train of the largest MTU */
#define FLIGHT_PACKETS		14u

/* As in reorder.c; for the packets of one path */
#define OVERTAKERS		3u

/* Time for what delays packets besides the path: other work of CPUs */
#define SLACK			(500 * NSEC_PER_USEC)

/* Limits of the round trip, relative to the shortest one */
#define SLOW			2
#define SLOW_SLACK		(200 * NSEC_PER_USEC)

/* In 1/1024: 3 % */
#define LOSS_MARGIN		32u
#define LOSS_ONE		1024u

/*
 * Time until the first probe, and how often it is doubled: up to 32 ms between probes, up
 * to a quarter of a second from the first one on for a path that is left again and again
 */
#define PROBE_INTERVAL		((u64)NSEC_PER_MSEC)
#define MAX_WAIT		5
#define MAX_BACKOFF		8

#define STREAK			64

/* A path is left when so many flights in a row have arrived as copies only. */
#define SAVED			3

/* Probes are numbered where other packets have their PSN. */
#define PROBE_MASK		ROCE_PSN_MASK

/* So many probes without an answer are enough, even if more paths are good. */
#define MAX_UNANSWERED		8u

/* Distance of source ports and flow labels: both low and high bits differ. */
#define PORT_STEP		0x0401u
#define LABEL_STEP		0x10401u
#define PORT_BASE		0xc000u
#define PORT_MASK		0x3fffu
#define LABEL_MASK		0xfffffu

static struct roce_flight *get_flight(struct roce_paths *paths, u32 number)
{
	return &paths->flight[number % ROCE_MAX_FLIGHTS];
}

/**
 * roce_path_source_port() - the UDP source port of a path
 * @port: that of path 0
 * @path: index of the path
 *
 * Return: a port in the range for RoCEv2, different for each path.
 */
u16 roce_path_source_port(u16 port, u32 path)
{
	return path ? PORT_BASE | ((port + path * PORT_STEP) & PORT_MASK) : port;
}

/**
 * roce_path_flow_label() - the IPv6 flow label of a path
 * @label: that of path 0
 * @path: index of the path
 */
u32 roce_path_flow_label(u32 label, u32 path)
{
	return (label + path * LABEL_STEP) & LABEL_MASK;
}

/**
 * roce_paths_init() - begin to use many paths
 * @paths: zeroed
 * @psn: all packets before this PSN have arrived
 */
void roce_paths_init(struct roce_paths *paths, u32 psn)
{
	paths->count = 1;
	paths->until = psn;
}

/**
 * roce_paths_forget() - forget all flights
 * @paths: owned by the caller
 * @psn: all packets before this PSN have arrived
 *
 * When the requester goes back, or does not use many paths for a while.
 */
void roce_paths_forget(struct roce_paths *paths, u32 psn)
{
	u32 i;

	paths->until = psn;
	paths->first = paths->next;
	for (i = 0; i < ROCE_MAX_PATHS; i++)
		paths->path[i].under_way = 0;
}

/* --- Choice of a path --- */

static bool is_good(const struct roce_paths *paths, u32 i)
{
	return i < paths->count && paths->path[i].state == ROCE_PATH_GOOD;
}

/* The shortest round trip of the good paths except for @but; 0 if none was measured */
static u64 shortest_round_trip(const struct roce_paths *paths, u32 but)
{
	u64 shortest = 0;
	u32 i;

	for (i = 0; i < paths->count; i++) {
		u64 srtt = paths->path[i].srtt;

		if (i != but && is_good(paths, i) && srtt && (!shortest || srtt < shortest))
			shortest = srtt;
	}
	return shortest;
}

/* A path that was not measured yet counts as a fast one. */
static u64 cost(const struct roce_path *path, u64 shortest)
{
	return (path->under_way + FLIGHT_PACKETS) * (path->srtt ?: max(shortest, 1ull));
}

static u32 cheapest(const struct roce_paths *paths)
{
	u64 shortest = shortest_round_trip(paths, ROCE_MAX_PATHS), least = U64_MAX;
	u32 i, best = 0;

	/* Paths of equal cost take turns. */
	for (i = 1; i <= paths->count; i++) {
		u32 candidate = (paths->current_path + i) % paths->count;
		u64 price = cost(&paths->path[candidate], shortest);

		if (is_good(paths, candidate) && price < least) {
			least = price;
			best = candidate;
		}
	}
	return best;
}

static bool is_full(const struct roce_paths *paths)
{
	return paths->next - paths->first == ROCE_MAX_FLIGHTS;
}

/* The current path has taken few packets, or there is no room for another flight. */
static bool must_stay(struct roce_paths *paths)
{
	const struct roce_flight *latest = get_flight(paths, paths->next - 1);

	if (paths->next == paths->first || !is_good(paths, paths->current_path))
		return false;
	return latest->path == paths->current_path && !latest->again && !latest->over &&
	       (paths->stayed < FLIGHT_PACKETS || is_full(paths));
}

static void set_count(struct roce_paths *paths, u32 count)
{
	paths->count = clamp(count, 1u, ROCE_MAX_PATHS);
	if (paths->current_path >= paths->count)
		paths->current_path = 0;
}

/**
 * roce_paths_choose() - choose a path for new packets
 * @paths: owned by the caller
 * @count: number of paths to use, 1 to ROCE_MAX_PATHS
 *
 * Return: index of the path.
 */
u32 roce_paths_choose(struct roce_paths *paths, u32 count)
{
	set_count(paths, count);
	if (!must_stay(paths)) {
		paths->current_path = cheapest(paths);
		paths->stayed = 0;
	}
	return paths->current_path;
}

/**
 * roce_paths_choose_again() - choose a path for packets that are sent again
 * @paths: owned by the caller
 * @count: number of paths to use, 1 to ROCE_MAX_PATHS
 * @silence: nothing arrives any more, so no path is known to work
 *
 * Return: index of the path.
 */
u32 roce_paths_choose_again(struct roce_paths *paths, u32 count, bool silence)
{
	u32 i, best = ROCE_MAX_PATHS;

	set_count(paths, count);
	/* Begin with the path after the latest one, so that they take turns. */
	for (i = 1; i <= paths->count; i++) {
		u32 candidate = (paths->again + i) % paths->count;

		if (!is_good(paths, candidate))
			continue;
		if (best == ROCE_MAX_PATHS || (!silence && paths->path[candidate].newest >
							   paths->path[best].newest))
			best = candidate;
	}
	paths->again = best == ROCE_MAX_PATHS ? 0 : best;
	return paths->again;
}

/* --- Flights --- */

static bool continues(struct roce_paths *paths, const struct roce_departure *departure)
{
	const struct roce_flight *latest = get_flight(paths, paths->next - 1);

	return paths->next != paths->first && !latest->over &&
	       latest->path == departure->path && latest->again == departure->again &&
	       latest->end == departure->begin && latest->copied == latest->end &&
	       (latest->packets < FLIGHT_PACKETS || is_full(paths)) &&
	       latest->packets + departure->packets <= U16_MAX;
}

static struct roce_flight *new_flight(struct roce_paths *paths,
				      const struct roce_departure *departure)
{
	struct roce_flight *flight;

	if (is_full(paths))
		return NULL;
	flight = get_flight(paths, paths->next++);
	*flight = (struct roce_flight) {
		.begin = departure->begin, .path = departure->path,
		.again = departure->again, .sent_at = departure->time,
	};
	return flight;
}

/*
 * Of a packet that was sent twice nobody knows which copy has arrived. Its acknowledgment
 * does not end a round trip.
 */
static void note_copies(struct roce_paths *paths, const struct roce_departure *departure)
{
	u32 n;

	for (n = paths->first; n != paths->next; n++) {
		struct roce_flight *flight = get_flight(paths, n);
		u32 begin = roce_psn_later(flight->begin, departure->begin);
		u32 end = roce_psn_earlier(flight->end, departure->end);

		if (roce_psn_precedes(begin, end))
			flight->copied = roce_psn_earlier(flight->copied, begin);
		if (!roce_psn_precedes(flight->asked, departure->begin) &&
		    roce_psn_precedes(flight->asked, departure->end))
			flight->times = false;
	}
}

/**
 * roce_paths_sent() - packets were sent
 * @paths: owned by the caller
 * @departure: the packets
 *
 * Without room for another flight nothing is noted. The peer will tell when they are
 * lost, see roce_paths_oldest().
 */
void roce_paths_sent(struct roce_paths *paths, const struct roce_departure *departure)
{
	struct roce_path *path = &paths->path[departure->path];
	struct roce_flight *flight;

	path->sent += departure->packets;
	if (departure->again)
		note_copies(paths, departure);
	else
		paths->stayed += departure->packets;
	flight = continues(paths, departure) ? get_flight(paths, paths->next - 1) :
					       new_flight(paths, departure);
	if (!flight)
		return;
	flight->end = departure->end;
	flight->copied = departure->end;
	flight->packets += departure->packets;
	path->under_way += departure->packets;
	if (!departure->times || departure->again)
		return;
	flight->times = true;
	flight->asked = departure->asked;
	flight->sent_at = departure->time;
}

/* --- The score of a path --- */

/* The last good path has failed. Then nothing is known of any path. */
static void forgive_all(struct roce_paths *paths)
{
	u32 i;

	for (i = 0; i < ROCE_MAX_PATHS; i++) {
		paths->path[i].state = ROCE_PATH_GOOD;
		paths->path[i].saved = 0;
		paths->path[i].srtt = 0;
		paths->path[i].loss = 0;
	}
}

/* Number of good paths except for @but */
static u32 count_good(const struct roce_paths *paths, u32 but)
{
	u32 i, good = 0;

	for (i = 0; i < paths->count; i++)
		good += i != but && is_good(paths, i);
	return good;
}

static void leave(struct roce_paths *paths, u32 i, u64 now, struct roce_path_news *news)
{
	struct roce_path *path = &paths->path[i];

	if (path->state == ROCE_PATH_LEFT)
		return;
	if (!count_good(paths, i)) {
		forgive_all(paths);
		return;
	}
	path->state = ROCE_PATH_LEFT;
	path->wait = path->backoff;
	path->backoff = min(path->backoff + 1, MAX_BACKOFF);
	path->probe_at = now + (PROBE_INTERVAL << path->wait);
	path->streak = 0;
	path->saved = 0;
	path->loss = 0;
	news->left |= BIT(i);
}

static bool is_slow(const struct roce_paths *paths, u32 i)
{
	u64 shortest = shortest_round_trip(paths, i);

	return shortest && paths->path[i].srtt > SLOW * shortest + SLOW_SLACK;
}

/* Whether it loses more than the others do */
static bool is_lossy(const struct roce_paths *paths, u32 i)
{
	u32 n, others = 0, sum = 0;

	for (n = 0; n < paths->count; n++) {
		if (n == i || !is_good(paths, n))
			continue;
		others++;
		sum += paths->path[n].loss;
	}
	return others && paths->path[i].loss > LOSS_MARGIN + 2 * sum / others;
}

static void note_round_trip(struct roce_path *path, u64 rtt)
{
	path->latest_rtt = max(rtt, 1ull);
	path->srtt = path->srtt ? (7 * path->srtt + path->latest_rtt) / 8 : path->latest_rtt;
}

static void note_end(struct roce_path *path, u32 packets)
{
	u32 share;

	path->sample += packets;
	if (path->sample < FLIGHT_PACKETS)
		return;
	share = min(path->sample_lost * LOSS_ONE / path->sample, LOSS_ONE);
	path->loss = (7 * path->loss + share) / 8;
	path->sample = 0;
	path->sample_lost = 0;
}

/* --- Probes --- */

/**
 * roce_paths_probe() - find a path whose probe is due
 * @paths: owned by the caller
 * @now: nanoseconds
 *
 * The caller sends a probe with the number that is in the path now.
 *
 * Return: index of the path; ROCE_MAX_PATHS if no probe is due.
 */
u32 roce_paths_probe(struct roce_paths *paths, u64 now)
{
	u32 i;

	for (i = 0; i < paths->count; i++) {
		struct roce_path *path = &paths->path[i];

		if (path->state != ROCE_PATH_LEFT || path->probe_at > now)
			continue;
		if (path->wait < MAX_WAIT)
			path->wait++;
		path->probe_at = now + (PROBE_INTERVAL << path->wait);
		path->probed_at = now;
		paths->probes = (paths->probes + 1) & PROBE_MASK;
		path->probe = paths->probes;
		return i;
	}
	return ROCE_MAX_PATHS;
}

/**
 * roce_paths_answered() - the answer to a probe has come
 * @paths: owned by the caller
 * @probe: number of the probe
 * @now: nanoseconds
 * @news: to be filled in
 */
void roce_paths_answered(struct roce_paths *paths, u32 probe, u64 now,
			 struct roce_path_news *news)
{
	u32 i;

	*news = (struct roce_path_news) {};
	for (i = 0; i < ROCE_MAX_PATHS; i++) {
		struct roce_path *path = &paths->path[i];

		if (path->state != ROCE_PATH_LEFT || !path->probed_at || path->probe != probe)
			continue;
		path->srtt = 0;
		note_round_trip(path, now - min(path->probed_at, now));
		path->probed_at = 0;
		if (is_slow(paths, i))
			continue;
		path->state = ROCE_PATH_GOOD;
		/* A path without load is fast, but that does not last. */
		path->srtt = max(path->srtt, shortest_round_trip(paths, i));
		news->returned |= BIT(i);
	}
}

/* --- Arrivals --- */

/* What is left of a flight, before @end, and is not known to have arrived, in PSNs */
static u32 missing(const struct roce_paths *paths, const struct roce_scoreboard *board,
		   const struct roce_flight *flight, u32 end)
{
	u32 begin = roce_psn_later(flight->begin, paths->until);

	if (!roce_psn_precedes(begin, end))
		return 0;
	if (!roce_scoreboard_has_gaps(board))
		return roce_psn_add(end, -begin);
	return roce_scoreboard_missing(board, begin, end);
}

static void end_flight(struct roce_paths *paths, struct roce_flight *flight)
{
	struct roce_path *path = &paths->path[flight->path];

	path->under_way -= min_t(u32, path->under_way, flight->packets);
	note_end(path, flight->packets);
	flight->over = true;
}

/* Whether a later flight on the path of this one has arrived */
static bool was_followed(struct roce_paths *paths, u32 number)
{
	u32 later = paths->path[get_flight(paths, number)->path].latest - number;

	return later && later < paths->next - number;
}

static void note_arrival(struct roce_paths *paths, u32 number)
{
	const struct roce_flight *flight = get_flight(paths, number);
	struct roce_path *path = &paths->path[flight->path];

	if (!was_followed(paths, number))
		path->latest = number;
	path->newest = max(path->newest, flight->sent_at);
	paths->newest = max(paths->newest, flight->sent_at);
}

static void arrived(struct roce_paths *paths, u32 number, u64 now,
		    struct roce_path_news *news)
{
	struct roce_flight *flight = get_flight(paths, number);
	struct roce_path *path = &paths->path[flight->path];

	end_flight(paths, flight);
	flight->arrived = true;
	note_arrival(paths, number);
	path->saved = 0;
	/* After a while without an accident, the next one is forgiven sooner. */
	if (++path->streak == STREAK)
		path->backoff = 0;
	if (flight->times)
		note_round_trip(path, now - min(flight->sent_at, now));
	if (is_slow(paths, flight->path) || is_lossy(paths, flight->path))
		leave(paths, flight->path, now, news);
}

/*
 * All that is left of the flight was sent again, by probes of a silent peer. It was lost, or
 * the peer was slow. If nothing else arrives of the path, the path is dead.
 */
static void was_saved(struct roce_paths *paths, struct roce_flight *flight, u64 now,
		      struct roce_path_news *news)
{
	struct roce_path *path = &paths->path[flight->path];

	end_flight(paths, flight);
	/* Probes of a slow peer take all paths in turn. */
	if (!flight->again && ++path->saved == SAVED)
		leave(paths, flight->path, now, news);
}

static bool has_copies_of_all(const struct roce_flight *flight)
{
	return !roce_psn_precedes(flight->begin, flight->copied);
}

static void take_arrivals(struct roce_paths *paths, const struct roce_scoreboard *board,
			  u64 now, struct roce_path_news *news)
{
	u32 n;

	for (n = paths->first; n != paths->next; n++) {
		struct roce_flight *flight = get_flight(paths, n);

		if (flight->over || missing(paths, board, flight, flight->end))
			continue;
		if (has_copies_of_all(flight))
			was_saved(paths, flight, now, news);
		else
			arrived(paths, n, now, news);
	}
}

/* --- Losses --- */

static void lose(struct roce_paths *paths, struct roce_scoreboard *board,
		 struct roce_flight *flight, u32 end, enum roce_gap_loss loss)
{
	struct roce_path *path = &paths->path[flight->path];
	u32 lost = roce_scoreboard_lose_range(board, flight->begin, end, loss);

	/* A READ request is one packet, whatever its number of PSNs. */
	lost = min(lost, flight->packets);
	path->lost += lost;
	path->sample_lost = min_t(u32, path->sample_lost + lost, U16_MAX);
	path->streak = 0;
	flight->begin = end;
	flight->times = false;
	if (end == flight->end)
		end_flight(paths, flight);
}

/* What was sent again may be the first copy, so it overtakes nothing. */
static u32 overtakers_of(const struct roce_flight *flight, u32 packets)
{
	return flight->again ? 0 : packets;
}

/*
 * Find the end of what packets of this flight have overtaken, or *@overtakers later ones;
 * the beginning of the flight if nothing. Adds this flight to *@overtakers.
 */
static u32 end_of_overtaken(const struct roce_scoreboard *board,
			    const struct roce_flight *flight, u32 *overtakers)
{
	const struct roce_psns range = {
		.begin = flight->begin,
		.end = roce_psn_earlier(flight->end, board->high),
	};
	u32 n = roce_scoreboard_gap_after(board, range.begin), begin = range.begin, end = begin;
	u32 behind, arrived;
	struct roce_psns part;

	if (!roce_psn_precedes(range.begin, range.end))
		return flight->begin;
	arrived = roce_psn_add(range.end, -range.begin) -
		  roce_scoreboard_missing(board, range.begin, range.end);
	for (behind = arrived; roce_scoreboard_part(board, n, &range, &part); n++) {
		behind -= roce_psn_add(part.begin, -begin);
		if (*overtakers + overtakers_of(flight, behind) < OVERTAKERS)
			break;
		begin = part.end;
		end = part.end;
	}
	*overtakers += overtakers_of(flight, arrived);
	return end;
}

static void lose_overtaken(struct roce_paths *paths, struct roce_scoreboard *board, u64 now,
			   struct roce_path_news *news)
{
	u32 overtakers[ROCE_MAX_PATHS] = {}, n = paths->next, end;

	while (n-- != paths->first) {
		struct roce_flight *flight = get_flight(paths, n);

		if (flight->over) {
			if (flight->arrived)
				overtakers[flight->path] +=
					overtakers_of(flight, flight->packets);
			continue;
		}
		end = end_of_overtaken(board, flight, &overtakers[flight->path]);
		if (end == flight->begin)
			continue;
		lose(paths, board, flight, end, ROCE_GAP_OVERTAKEN);
		if (is_lossy(paths, flight->path))
			leave(paths, flight->path, now, news);
	}
}

/* When a queue grows, the mean follows slowly. */
static u64 allowance(const struct roce_paths *paths, const struct roce_path *path)
{
	u64 rtt = max(path->srtt, path->latest_rtt) ?:
		  shortest_round_trip(paths, ROCE_MAX_PATHS);

	return 2 * rtt + SLACK;
}

/* Nothing of the flight has arrived but copies, and nothing later of its path. */
static bool has_vanished(struct roce_paths *paths, const struct roce_scoreboard *board,
			 u32 number)
{
	const struct roce_flight *flight = get_flight(paths, number);
	u32 first = roce_psn_later(flight->begin, flight->copied);

	return !was_followed(paths, number) &&
	       missing(paths, board, flight, first) == roce_psn_add(first, -flight->begin);
}

/* Missing packets after the latest arrival belong to no gap yet: nothing can repair them. */
static u32 end_of_gaps(const struct roce_scoreboard *board, const struct roce_flight *flight)
{
	return roce_psn_earlier(board->high, flight->end);
}

static void overdue(struct roce_paths *paths, struct roce_scoreboard *board, u32 number,
		    u64 now, struct roce_path_news *news)
{
	struct roce_flight *flight = get_flight(paths, number);
	bool vanished = has_vanished(paths, board, number);
	u32 end = end_of_gaps(board, flight);

	if (roce_psn_precedes(flight->begin, end))
		lose(paths, board, flight, end,
		     vanished ? ROCE_GAP_VANISHED : ROCE_GAP_OVERTAKEN);
	if (vanished)
		leave(paths, flight->path, now, news);
}

static void lose_overdue(struct roce_paths *paths, struct roce_scoreboard *board,
			 bool silence, u64 now, struct roce_path_news *news)
{
	u32 n;

	for (n = paths->first; n != paths->next; n++) {
		struct roce_flight *flight = get_flight(paths, n);
		const struct roce_path *path = &paths->path[flight->path];
		u64 due = flight->sent_at + (silence ? 1 : allowance(paths, path));

		if (!flight->over && due <= paths->newest)
			overdue(paths, board, n, now, news);
	}
}

static void drop_old_flights(struct roce_paths *paths)
{
	while (paths->first != paths->next && get_flight(paths, paths->first)->over)
		paths->first++;
}

/**
 * roce_paths_learn() - look at what has arrived
 * @paths: owned by the caller
 * @board: what the peer is missing; NULL if nothing is known to be
 * @until: all packets before this PSN have arrived
 * @now: nanoseconds
 * @news: to be filled in
 *
 * Marks packets in @board as lost.
 */
void roce_paths_learn(struct roce_paths *paths, struct roce_scoreboard *board, u32 until,
		      u64 now, struct roce_path_news *news)
{
	*news = (struct roce_path_news) {};
	paths->until = roce_psn_later(paths->until, until);
	take_arrivals(paths, board, now, news);
	if (roce_scoreboard_has_gaps(board)) {
		lose_overtaken(paths, board, now, news);
		lose_overdue(paths, board, false, now, news);
	}
	drop_old_flights(paths);
}

/**
 * roce_paths_silence() - nothing has arrived for longer than two round trips
 * @paths: owned by the caller
 * @board: what the peer is missing; has gaps
 * @now: nanoseconds
 * @news: to be filled in
 *
 * The caller sends everything again that is missing, so all flights are forgotten.
 */
void roce_paths_silence(struct roce_paths *paths, struct roce_scoreboard *board, u64 now,
			struct roce_path_news *news)
{
	*news = (struct roce_path_news) {};
	lose_overdue(paths, board, true, now, news);
	roce_paths_forget(paths, paths->until);
}

/**
 * roce_paths_unanswered() - probes of a silent peer were not answered
 * @paths: owned by the caller
 * @probes: their number since anything has arrived; each one has taken another good path
 *
 * When each good path has had a probe, all paths count as good again.
 */
void roce_paths_unanswered(struct roce_paths *paths, u32 probes)
{
	if (probes >= min(count_good(paths, ROCE_MAX_PATHS), MAX_UNANSWERED))
		forgive_all(paths);
}

/**
 * roce_paths_oldest() - the first PSN that is part of a flight
 * @paths: owned by the caller
 * @psn: returned if no flight has an earlier one
 *
 * Of earlier packets only the peer can tell whether they are lost.
 */
u32 roce_paths_oldest(const struct roce_paths *paths, u32 psn)
{
	u32 n;

	for (n = paths->first; n != paths->next; n++) {
		const struct roce_flight *flight = &paths->flight[n % ROCE_MAX_FLIGHTS];

		if (!flight->over && roce_psn_precedes(flight->begin, psn))
			psn = flight->begin;
	}
	return psn;
}
