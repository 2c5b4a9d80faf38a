// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many flows, one bottleneck, and the driver's own reaction point.
 *
 *	flow 0 --.
 *	flow 1 ---+--> queue, marks as RED does --> C bit/s --> CNPs, after a delay
 *	flow N --'
 *
 * Packet by packet. A flow sends at the rate that dcqcn.c has set, or at the
 * rate of its line. A queue that is full pauses its senders (PFC), so nothing is
 * lost. The receiver sends one CNP per flow and interval for what was marked.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcqcn.h"
#include "fixed_point.h"

#define NSEC		1e9
#define USEC		1000ull
#define MSEC		1000000ull
#define MAX_FLOWS	10000
#define MAX_WINDOWS	100000

/* A flow looks at its rate at least this often, as the driver's pacer does. */
#define MAX_WAIT	MSEC

static struct {
	u32 flows;
	double gbits, line_gbits;
	u32 packet_bytes;
	double kmin, kmax, pmax;	/* bytes, bytes, share */
	double marking;			/* share, if the queue has no say */
	double pause;			/* bytes of queue from which on senders pause */
	u64 delay, cnp_interval;	/* ns */
	double seconds;
	u64 stagger;			/* ns between the starts of two flows */
	bool json, fixed_point, trace;
} options = {
	.flows = 8, .gbits = 100, .packet_bytes = 1090, .kmin = 5e3, .kmax = 200e3,
	.pmax = 0.01, .delay = 5 * USEC, .cnp_interval = 50 * USEC, .seconds = 0.2,
};

static u32 parameters[DCQCN_PARAMETER_COUNT];

enum kind { SEND, CNP };

struct event {
	u64 time;
	enum kind kind;
	u32 flow;
};

struct flow {
	struct roce_cc_flow cc;
	u64 due;
	double last_rate;
	u64 last_cnp;
	u64 window_bytes, settled_bytes;
};

static struct flow flows[MAX_FLOWS];
static struct event heap[2 * MAX_FLOWS + 1 + (1 << 20)];
static size_t events;

static double queue;		/* bytes at queue_time */
static u64 queue_time;

static struct {
	double utilization, fairness, queue;
} windows[MAX_WINDOWS];

/* --- random numbers, the same in each run --- */

static double uniform(void)
{
	static u64 state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) * 0x1p-53;
}

/* --- events by time --- */

static void push(u64 time, enum kind kind, u32 flow)
{
	size_t i = events++;

	if (events > sizeof(heap) / sizeof(*heap)) {
		fprintf(stderr, "sim: too many events\n");
		exit(2);
	}
	while (i && heap[(i - 1) / 2].time > time) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = (struct event) { time, kind, flow };
}

static struct event pop(void)
{
	struct event first = heap[0], last = heap[--events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < events) {
		if (child + 1 < events && heap[child + 1].time < heap[child].time)
			child++;
		if (heap[child].time >= last.time)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

/* --- the bottleneck --- */

static double bytes_per_ns(void)
{
	return options.gbits / 8;
}

static void drain(u64 now)
{
	queue -= (now - queue_time) * bytes_per_ns();
	if (queue < 0)
		queue = 0;
	queue_time = now;
}

static bool is_marked(void)
{
	if (options.marking)
		return uniform() < options.marking;
	if (queue <= options.kmin)
		return false;
	if (queue > options.kmax)
		return true;
	return uniform() < options.pmax * (queue - options.kmin) /
			   (options.kmax - options.kmin);
}

/* --- the flows --- */

static double rate_of(const struct flow *flow)
{
	return flow->cc.rate == ROCE_CC_UNLIMITED ? flow->cc.line_rate :
						    flow->cc.rate;
}

/* What is left to wait shrinks or grows with the rate. */
static void follow_rate(struct flow *flow, u64 now)
{
	double rate = rate_of(flow);

	if (flow->due > now)
		flow->due = now + (flow->due - now) * flow->last_rate / rate;
	flow->last_rate = rate;
}

static struct {
	u64 packets, marked, cnps;
} settled;

static void send_packet(struct flow *flow, u32 number, u64 now, bool is_settled)
{
	bool marked;
	u64 leaves;

	drain(now);
	marked = is_marked();
	queue += options.packet_bytes;
	leaves = now + queue / bytes_per_ns();
	flow->window_bytes += options.packet_bytes;
	if (is_settled) {
		flow->settled_bytes += options.packet_bytes;
		settled.packets++;
		settled.marked += marked;
	}
	if (marked && (!flow->last_cnp ||
		       leaves - flow->last_cnp >= options.cnp_interval)) {
		flow->last_cnp = leaves;
		push(leaves + options.delay, CNP, number);
		settled.cnps += is_settled;
	}
	if (flow->cc.rate != ROCE_CC_UNLIMITED)
		roce_dcqcn.on_sent(&flow->cc, now, options.packet_bytes);
	flow->last_rate = rate_of(flow);
	flow->due = now + options.packet_bytes * 8 * NSEC / rate_of(flow);
}

static void want_to_send(u32 number, u64 now, bool is_settled)
{
	struct flow *flow = &flows[number];

	if (flow->cc.rate != ROCE_CC_UNLIMITED)
		roce_dcqcn.on_time(&flow->cc, now);
	follow_rate(flow, now);
	drain(now);
	if (now < flow->due) {
		;
	} else if (queue > options.pause) {
		flow->due = now + (queue - options.pause) / bytes_per_ns() +
			    uniform() * options.flows * options.packet_bytes /
			    bytes_per_ns();
	} else {
		send_packet(flow, number, now, is_settled);
	}
	push(flow->due > now + MAX_WAIT ? now + MAX_WAIT : flow->due, SEND, number);
}

static void notify(u32 number, u64 now)
{
	roce_dcqcn.on_cnp(&flows[number].cc, now);
	follow_rate(&flows[number], now);
}

static double jain(u64 (*bytes)(const struct flow *flow))
{
	double sum = 0, squares = 0;
	u32 i;

	for (i = 0; i < options.flows; i++) {
		double x = bytes(&flows[i]);

		sum += x;
		squares += x * x;
	}
	return squares ? sum * sum / squares / options.flows : 0;
}

static u64 window_bytes(const struct flow *flow)
{
	return flow->window_bytes;
}

static u64 settled_bytes(const struct flow *flow)
{
	return flow->settled_bytes;
}

/* A hundred packets of each flow, and five milliseconds, at least */
static u64 window_length(void)
{
	double packets = 100. * options.flows * options.packet_bytes / bytes_per_ns();

	return packets > 5 * MSEC ? packets : 5 * MSEC;
}

static void end_window(u32 window, double mean_queue)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < options.flows; i++)
		sum += flows[i].window_bytes;
	windows[window].utilization = sum / window_length() / bytes_per_ns();
	windows[window].fairness = jain(window_bytes);
	windows[window].queue = mean_queue;
	if (options.trace)
		printf("%.6f %.4f %.4f %.0f %.0f\n",
		       (window + 1) * window_length() / NSEC,
		       windows[window].utilization, windows[window].fairness,
		       mean_queue, rate_of(&flows[0]));
	for (i = 0; i < options.flows; i++)
		flows[i].window_bytes = 0;
}

static void start_flows(void)
{
	u32 i;

	for (i = 0; i < options.flows; i++) {
		flows[i].cc = (struct roce_cc_flow) {
			.parameters = parameters,
			.line_rate = options.line_gbits * NSEC,
			.packet_bytes = options.packet_bytes,
			.rate = ROCE_CC_UNLIMITED,
		};
		flows[i].last_rate = flows[i].cc.line_rate;
		flows[i].due = 1 + i * options.stagger + uniform() * options.packet_bytes;
		push(flows[i].due, SEND, i);
	}
}

#define SAMPLES 100000

static double samples[SAMPLES];

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Runs all of it; returns the number of windows. */
static u32 simulate(void)
{
	u64 end = options.seconds * NSEC, length = window_length();
	u64 window_end = length, next_sample = end / 2, last = 0;
	u64 sample_step = end / 2 / SAMPLES + 1;
	u32 window = 0, sample = 0;
	double area = 0;

	start_flows();
	for (;;) {
		struct event event = pop();

		if (event.time >= end || window >= MAX_WINDOWS)
			return window;
		drain(event.time);
		area += queue * (event.time - last);
		last = event.time;
		for (; next_sample <= event.time && sample < SAMPLES; next_sample += sample_step)
			samples[sample++] = queue;
		while (event.time >= window_end) {
			end_window(window++, area / length);
			area = 0;
			window_end += length;
		}
		if (event.kind == SEND)
			want_to_send(event.flow, event.time, event.time > end / 2);
		else
			notify(event.flow, event.time);
	}
}

/* --- what came of it --- */

/* From when on each window is fair and used well */
static double convergence(u32 count)
{
	u32 i;

	for (i = count; i > 0; i--)
		if (windows[i - 1].utilization < 0.9 || windows[i - 1].fairness < 0.95)
			break;
	return i == count ? -1 : i * window_length() / NSEC;
}

static double share(void)
{
	return options.gbits * NSEC / options.flows / 8 / options.packet_bytes;
}

/* @share: packets per second of one flow */
static struct fluid fluid(double share)
{
	u32 ai = parameters[DCQCN_RPG_AI_RATE];
	double increase = ai ? ai * 1e6 : fmax(options.line_gbits * NSEC / 5000, 1e6);

	return (struct fluid) {
		.share = share,
		.cnp_interval = options.cnp_interval / NSEC,
		.alpha_period = parameters[DCQCN_DCE_TCP_RTT] * USEC / NSEC,
		.increase_period = parameters[DCQCN_RPG_TIME_RESET] * USEC / NSEC,
		.increase_packets = parameters[DCQCN_RPG_BYTE_RESET] * 64. /
				    options.packet_bytes,
		.threshold = parameters[DCQCN_RPG_THRESHOLD] + 1,
		.additive_increase = increase / 8 / options.packet_bytes,
	};
}

static int report(u32 count)
{
	double marking = settled.packets ? (double)settled.marked / settled.packets : 0;
	double utilization = 0, mean_queue = 0, worst = 1;
	double expected, packets_per_period;
	u32 i, half = count / 2;
	struct fluid model;

	for (i = half; i < count; i++) {
		utilization += windows[i].utilization / (count - half);
		mean_queue += windows[i].queue / (count - half);
		worst = fmin(worst, windows[i].fairness);
	}
	model = fluid(utilization * share());
	expected = cycle_marking(&model);
	packets_per_period = model.share * model.increase_period;
	qsort(samples, SAMPLES, sizeof(*samples), compare);
	printf(options.json ?
	       "{\"flows\": %u, \"gbits\": %g, \"convergence_s\": %.4f, \"utilization\": %.4f, \"jain\": %.4f, \"jain_worst_window\": %.4f, \"queue_mean\": %.0f, \"queue_p99\": %.0f, \"marking\": %.5f, \"cycles\": %.5f, \"fluid_model\": %.5f, \"packets_per_period\": %.1f, \"cnps_per_s\": %.0f}\n" :
	       "%5u flows %5g Gbit/s: converged %7.4f s, utilization %.3f, Jain %.4f (worst window %.4f), queue %.0f (p99 %.0f) bytes, marked %.5f (by cycles %.5f, fluid model %.5f), %.1f packets a period, %.0f CNPs/s\n",
	       options.flows, options.gbits, convergence(count), utilization,
	       jain(settled_bytes), worst, mean_queue,
	       samples[SAMPLES * 99 / 100], marking, expected, fluid_marking(&model),
	       packets_per_period,
	       settled.cnps / (options.seconds / 2));
	if (options.fixed_point && fabs(marking / expected - 1) > 0.1) {
		fprintf(stderr, "sim: marking is %.0f%% off that by cycles\n",
			100 * (marking / expected - 1));
		return 1;
	}
	return convergence(count) < 0;
}

static void set_parameter(char *assignment)
{
	char *value = strchr(assignment, '=');
	u32 i;

	if (value) {
		*value++ = 0;
		for (i = 0; i < DCQCN_PARAMETER_COUNT; i++)
			if (!strcmp(roce_dcqcn.parameters[i].name, assignment)) {
				parameters[i] = strtoul(value, NULL, 0);
				return;
			}
	}
	fprintf(stderr, "sim: --set PARAMETER=VALUE, as in sysfs\n");
	exit(2);
}

static const char usage[] =
"Usage: sim [OPTION]...\n"
"  --flows N          1 to 10000 (8)\n"
"  --gbits C          of the bottleneck (100)\n"
"  --line C           of each sender (that of the bottleneck)\n"
"  --packet BYTES     on the wire (1090)\n"
"  --kmin B --kmax B --pmax P   where marking begins, ends, and with which share\n"
"                     (5000, 200000, 0.01)\n"
"  --marking P        mark this share of packets, whatever the queue is\n"
"  --pause BYTES      of queue from which on senders are paused (4 * kmax)\n"
"  --delay US         of a CNP (5)\n"
"  --cnp US           between two CNPs of a flow (50)\n"
"  --stagger US       between the starts of two flows (0)\n"
"  --seconds S        (0.2; the second half counts as settled)\n"
"  --set NAME=VALUE   a parameter of dcqcn, as in sysfs\n"
"  --fixed-point      fail if marking is more than 10% off that by cycles\n"
"  --trace            time, utilization, Jain, queue, rate of flow 0 per window\n"
"  --json\n"
"Exit status 0 if it converged: from some time on each window has Jain >= 0.95\n"
"and utilization >= 0.9.\n";

static void parse(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "flows", 1, NULL, 'f' }, { "gbits", 1, NULL, 'g' },
		{ "line", 1, NULL, 'l' }, { "packet", 1, NULL, 'p' },
		{ "kmin", 1, NULL, 'a' }, { "kmax", 1, NULL, 'b' },
		{ "pmax", 1, NULL, 'c' }, { "pause", 1, NULL, 'P' },
		{ "marking", 1, NULL, 'm' },
		{ "delay", 1, NULL, 'd' }, { "cnp", 1, NULL, 'n' },
		{ "stagger", 1, NULL, 't' }, { "seconds", 1, NULL, 's' },
		{ "set", 1, NULL, 'S' }, { "fixed-point", 0, NULL, 'F' },
		{ "trace", 0, NULL, 'T' }, { "json", 0, NULL, 'j' },
		{ NULL }
	};
	u32 i;
	int c;

	for (i = 0; i < DCQCN_PARAMETER_COUNT; i++)
		parameters[i] = roce_dcqcn.parameters[i].initial;
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (c) {
		case 'f': options.flows = atoi(optarg); break;
		case 'g': options.gbits = atof(optarg); break;
		case 'l': options.line_gbits = atof(optarg); break;
		case 'p': options.packet_bytes = atoi(optarg); break;
		case 'a': options.kmin = atof(optarg); break;
		case 'b': options.kmax = atof(optarg); break;
		case 'c': options.pmax = atof(optarg); break;
		case 'm': options.marking = atof(optarg); break;
		case 'P': options.pause = atof(optarg); break;
		case 'd': options.delay = atof(optarg) * USEC; break;
		case 'n': options.cnp_interval = atof(optarg) * USEC; break;
		case 't': options.stagger = atof(optarg) * USEC; break;
		case 's': options.seconds = atof(optarg); break;
		case 'S': set_parameter(optarg); break;
		case 'F': options.fixed_point = true; break;
		case 'T': options.trace = true; break;
		case 'j': options.json = true; break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (options.flows < 1 || options.flows > MAX_FLOWS || options.gbits <= 0 ||
	    options.packet_bytes < 64 || options.kmax <= options.kmin) {
		fputs(usage, stderr);
		exit(2);
	}
	if (!options.line_gbits)
		options.line_gbits = options.gbits;
	if (!options.pause)
		options.pause = 4 * options.kmax;
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	return report(simulate());
}
