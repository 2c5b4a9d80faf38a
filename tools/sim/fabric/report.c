// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a run was like */
#include <stdio.h>

#include "flow.h"
#include "memory.h"
#include "network.h"
#include "options.h"
#include "receiver.h"
#include "report.h"
#include "sender.h"

/* A message that has completed, nanoseconds */
struct message {
	u64 time;
	u64 latency;
	u32 flow;
};

/* How busy the links to and from core switches were, as shares of their time */
struct use {
	double least;
	double mean;
	double most;
};

static struct message *messages;
static u32 message_count, room;
static u64 *starts;		/* of the flows */
static u64 *acked_before;	/* packets of each flow at the time settled_at */
static u64 settled_at;
static u32 ended;
static struct use use;

/** report_begin() - forget the run before */
void report_begin(void)
{
	free(starts);
	free(acked_before);
	starts = allocate(flow_count, sizeof(*starts));
	acked_before = allocate(flow_count, sizeof(*acked_before));
	message_count = 0;
	settled_at = 0;
	ended = 0;
	use = (struct use) {};
}

/** report_start() - a flow begins at that time */
void report_start(u32 flow, u64 now)
{
	starts[flow] = now;
}

/** report_settled() - figures of flows without an end, and of links, begin */
void report_settled(u64 now)
{
	u32 i;

	settled_at = now;
	for (i = 0; i < flow_count; i++)
		acked_before[i] = senders[i].acked;
	for (i = 0; i < network.link_count; i++)
		network.links[i].bytes = network_waiting(&network.links[i], now);
}

/** report_message() - one has completed */
void report_message(u32 flow, u64 now, u64 latency)
{
	if (message_count == room) {
		room = room ? 2 * room : 1024;
		messages = resize(messages, room, sizeof(*messages));
	}
	messages[message_count++] = (struct message) { now, latency, flow };
}

/* --- Figures --- */

/* Bytes that have left the queue of a link */
static double carried(const struct link *link, u64 now)
{
	return link->bytes - network_waiting(link, now);
}

static struct use use_of_links(u64 now)
{
	struct use result = { .least = 1e9 };
	u32 i, count = 0;

	for (i = 0; i < network.link_count; i++) {
		const struct link *link = &network.links[i];
		double share = carried(link, now) * 8 / ((now - settled_at) * link->gbits);

		if (!network.nodes[link->to].is_core && !network.nodes[link->from].is_core)
			continue;
		count++;
		result.mean += share;
		if (share < result.least)
			result.least = share;
		if (share > result.most)
			result.most = share;
	}
	result.mean /= count;
	return result;
}

/** report_end() - a flow is done; links are looked at when half of the flows are */
void report_end(u32 flow, u64 now)
{
	(void)flow;
	if (++ended == (flow_count + 1) / 2)
		use = use_of_links(now);
}

/** report_is_complete() - whether all flows are done */
bool report_is_complete(void)
{
	return ended == flow_count;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double part_of(const double *sorted, u32 count, double part)
{
	u32 place = part * count;

	return count ? sorted[place < count ? place : count - 1] : 0;
}

/* Gbit/s */
static double goodput(u32 flow, u64 now)
{
	const struct sender *sender = &senders[flow];
	u64 end = sender->end ? sender->end : now;
	u64 begin = starts[flow] > settled_at ? starts[flow] : settled_at;

	if (end <= begin)
		return 0;
	return 8. * options.payload * (sender->acked - acked_before[flow]) / (end - begin);
}

struct summary {
	double least, median, jain, sum;
	double half, p99;	/* of completion times, ms */
	/* Packets with data */
	u64 sent, came, early, twice, again, marked, lost, under_way;
	u64 timeouts, left, returned;
};

static double share(u64 part, u64 whole)
{
	return whole ? (double)part / whole : 0;
}

static void summarize_goodputs(struct summary *summary, u64 now)
{
	double *values = allocate(flow_count, sizeof(*values)), squares = 0;
	u32 i;

	for (i = 0; i < flow_count; i++) {
		values[i] = goodput(i, now);
		summary->sum += values[i];
		squares += values[i] * values[i];
	}
	qsort(values, flow_count, sizeof(*values), compare);
	summary->least = values[0];
	summary->median = part_of(values, flow_count, 0.5);
	summary->jain = squares ? summary->sum * summary->sum / squares / flow_count : 0;
	free(values);
}

/* A flow that is not done counts as if it were now. */
static void summarize_times(struct summary *summary, u64 now)
{
	double *values = allocate(message_count + flow_count, sizeof(*values));
	u32 count = 0, i;

	for (i = 0; i < message_count; i++)
		if (messages[i].time >= settled_at)
			values[count++] = (double)messages[i].latency / MSEC;
	for (i = 0; i < flow_count; i++)
		if (options.messages && !senders[i].end)
			values[count++] = (double)(now - starts[i]) / MSEC;
	qsort(values, count, sizeof(*values), compare);
	summary->half = part_of(values, count, 0.5);
	summary->p99 = part_of(values, count, 0.99);
	free(values);
}

static void summarize_flow(struct summary *summary, u32 flow)
{
	const struct sender *sender = &senders[flow];
	const struct receiver *receiver = &receivers[flow];

	summary->sent += sender->sent;
	summary->again += sender->again;
	summary->timeouts += sender->timeouts;
	summary->left += sender->left;
	summary->returned += sender->returned;
	summary->came += receiver->packets;
	summary->early += receiver->early;
	summary->twice += receiver->twice;
}

static void summarize_link(struct summary *summary, const struct link *link)
{
	u32 n;

	summary->lost += link->lost;
	summary->marked += link->marks;
	for (n = link->first; n != link->next; n++)
		summary->under_way += link->ring[n & (link->room - 1)].kind == PACKET_DATA;
}

static void summarize_packets(struct summary *summary)
{
	u32 i;

	for (i = 0; i < flow_count; i++)
		summarize_flow(summary, i);
	for (i = 0; i < network.link_count; i++)
		summarize_link(summary, &network.links[i]);
	for (i = 0; i < network.node_count; i++)
		summary->lost += network.nodes[i].lost;
}

/* --- As text --- */

/* Of core switches, what each has sent to the switch of the first receiver; messages */
static void print_json_lists(u64 now)
{
	u32 target = network.links[network.nodes[flows[0].target].uplink].to, i, n;

	printf(", \"core_bytes\": [");
	for (i = 0; i < network.core_count; i++) {
		double bytes = 0;

		for (n = 0; n < network.link_count; n++)
			if (network.links[n].from == network.cores[i] &&
			    network.links[n].to == target)
				bytes += carried(&network.links[n], now);
		printf("%s%.0f", i ? ", " : "", bytes);
	}
	printf("], \"done\": [");
	for (i = 0; options.shape == WAYS && i < message_count; i++)
		printf("%s[%llu, %llu]", i ? ", " : "",
		       (unsigned long long)messages[i].time,
		       (unsigned long long)messages[i].latency);
	printf("]}\n");
}

static void print_json_number(const char *name, u64 value)
{
	printf(", \"%s\": %llu", name, (unsigned long long)value);
}

static void print_json(const char *name, const struct summary *s, u64 now)
{
	printf("{\"paths\": \"%s\", \"flows\": %u, \"done_flows\": %u, \"ms\": %.6f, "
	       "\"goodput_sum\": %.4f, \"goodput_least\": %.4f, \"goodput_median\": %.4f, "
	       "\"jain\": %.4f, \"completion_median_ms\": %.6f, \"completion_p99_ms\": %.6f, "
	       "\"use_least\": %.4f, \"use_mean\": %.4f, \"use_most\": %.4f",
	       name, flow_count, ended, (double)now / MSEC, s->sum, s->least, s->median,
	       s->jain, s->half, s->p99, use.least, use.mean, use.most);
	print_json_number("sent", s->sent);
	print_json_number("came", s->came);
	print_json_number("early", s->early);
	print_json_number("twice", s->twice);
	print_json_number("again", s->again);
	print_json_number("marked", s->marked);
	print_json_number("lost", s->lost);
	print_json_number("under_way", s->under_way);
	print_json_number("timeouts", s->timeouts);
	print_json_number("paths_left", s->left);
	print_json_number("paths_returned", s->returned);
	print_json_lists(now);
}

/** report_heading() - of the table that report_print() continues */
void report_heading(void)
{
	if (options.json)
		return;
	printf("| paths | least | median | Jain | ms, median | 99 %% "
	       "| links, least | mean | most | early | again |\n"
	       "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
}

/**
 * report_print() - a row of a table, or an object
 * @paths: of each flow, or SPRAY
 * @now: the end of the run
 */
void report_print(u32 paths, u64 now)
{
	struct summary s = {};
	char name[16] = "spraying";

	if (paths != SPRAY)
		snprintf(name, sizeof(name), "%u", paths);
	if (!use.most)
		use = use_of_links(now);
	summarize_goodputs(&s, now);
	summarize_times(&s, now);
	summarize_packets(&s);
	if (options.json) {
		print_json(name, &s, now);
		return;
	}
	printf("| %s | %.2f | %.2f | %.3f | %.2f | %.2f | %.0f %% | %.0f %% | %.0f %% | "
	       "%.1f %% | %.2f %% |\n", name, s.least, s.median, s.jain, s.half, s.p99,
	       100 * use.least, 100 * use.mean, 100 * use.most, 100 * share(s.early, s.came),
	       100 * share(s.again, s.sent));
	fflush(stdout);
}
