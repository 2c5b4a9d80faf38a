// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The reaction point of DCQCN: Zhu et al., "Congestion Control for Large-Scale
 * RDMA Deployments", SIGCOMM 2015, with the parameters of ConnectX adapters.
 *
 * A switch marks packets while its queue is long. The receiver of a marked
 * packet sends a congestion notification packet (CNP) back, and the sender,
 * the reaction point, sets the rate of its flow:
 *
 *	rate			 target, reached again in halves
 *	 ^ ______		 .-----. - - - - - - -._.-'	additive, then hyper
 *	 |	 |	    .--'       |	  .-'		increase of the target
 *	 |	 |	 .-'	       |      .--'
 *	 |	 |   .--'	       |   .-'
 *	 |	 `--'		       `--'	fast recovery
 *	 +------ CNP ----------------- CNP --------------------------------> time
 *
 * A CNP makes the present rate the target and cuts the rate by alpha/2. Alpha
 * estimates the congestion of the path: it is a moving average over periods, 1
 * for a period with a CNP and 0 for one without. Without CNPs the rate grows in
 * steps, after a time or after a number of bytes, whichever comes first. Each
 * step goes half the way to the target; from the threshold on, the target
 * grows, too. A flow begins unlimited, becomes limited with its first CNP, and
 * unlimited again when it is back at the line rate.
 *
 * As in ConnectX, there are three periods. At the end of each alpha period alpha
 * is raised if there was a CNP in it, else lowered. A CNP cuts the rate at once, or
 * at the end of the cut period if there was a cut already. Without cuts, each
 * increase period ends with a step up.
 *
 * A period in which a flow sends less than a packet says nothing about the network:
 * alpha would fall between two packets, and the rate would grow without any packet
 * that could be marked. So a period lasts until a number of packets has been sent,
 * too. Fast flows do not notice. Flows that are slow, or held back by their
 * program, their window or a paused port, neither forget the congestion nor claim
 * a rate that they have not tried.
 *
 * Flows become equal because all of them gain the same with each increase, and
 * equally often. Periods that last for some packets are longer for a slow flow
 * than for a fast one, so a slow flow would stay slow. So no period is shorter
 * than the line needs for as many packets of 32 flows each: down to a 32nd of the
 * line, all flows have the same periods. With packets of 4 KiB such a period is
 * 27 microseconds at 400 Gbit/s, and a tenth of a second at 100 Mbit/s.
 *
 * There are no timers. Each call first handles the periods that have ended since
 * the last one, in order and as of the time when they ended.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "dcqcn.h"

#define ALPHA_ONE	BIT(DCQCN_ALPHA_BITS)
#define PERMILLE_BITS	10	/* dce_tcp_g and initial_alpha_value are in 1/1024 */

#define MBIT		1000000ull
#define NSEC		1000000000ull
#define USEC		1000ull

/* A flow that sends nothing for so long begins anew, unlimited. */
#define MAX_SILENCE	NSEC

/* Up to so many flows that share the line equally have the same periods. */
#define EQUAL_FLOWS	32

static const struct roce_cc_parameter parameters[DCQCN_PARAMETER_COUNT] = {
	[DCQCN_CLAMP_TGT_RATE] = { "clamp_tgt_rate", 0, 1, 1 },
	[DCQCN_CLAMP_TGT_RATE_AFTER_TIME_INC] = {
		"clamp_tgt_rate_after_time_inc", 0, 1, 1
	},
	[DCQCN_RPG_TIME_RESET] = { "rpg_time_reset", 1, 131071, 300 },
	[DCQCN_RPG_BYTE_RESET] = { "rpg_byte_reset", 0, 32767, 32767 },
	[DCQCN_RPG_THRESHOLD] = { "rpg_threshold", 1, 31, 1 },
	[DCQCN_RPG_MAX_RATE] = { "rpg_max_rate", 0, 4000000, 0 },
	[DCQCN_RPG_AI_RATE] = { "rpg_ai_rate", 0, 4000000, 0 },
	[DCQCN_RPG_HAI_RATE] = { "rpg_hai_rate", 0, 4000000, 0 },
	[DCQCN_RPG_GD] = { "rpg_gd", 10, 11, 11 },
	[DCQCN_RPG_MIN_DEC_FAC] = { "rpg_min_dec_fac", 0, 100, 50 },
	[DCQCN_RPG_MIN_RATE] = { "rpg_min_rate", 1, 4000000, 1 },
	[DCQCN_RATE_TO_SET_ON_FIRST_CNP] = {
		"rate_to_set_on_first_cnp", 0, 4000000, 0
	},
	[DCQCN_DCE_TCP_G] = { "dce_tcp_g", 0, 1023, 1008 },
	[DCQCN_DCE_TCP_RTT] = { "dce_tcp_rtt", 1, 131071, 50 },
	[DCQCN_INITIAL_ALPHA_VALUE] = { "initial_alpha_value", 1, 1023, 1023 },
	[DCQCN_RATE_REDUCE_MONITOR_PERIOD] = {
		"rate_reduce_monitor_period", 0, U32_MAX, 50
	},
	[DCQCN_MIN_PACKETS_PER_PERIOD] = { "min_packets_per_period", 1, 255, 10 },
};

static struct dcqcn *state(struct roce_cc_flow *flow)
{
	BUILD_BUG_ON(sizeof(struct dcqcn) > sizeof(flow->state));
	return (struct dcqcn *)flow->state;
}

static u64 parameter(const struct roce_cc_flow *flow, enum dcqcn_parameter which)
{
	return READ_ONCE(flow->parameters[which]);
}

/*
 * The rate at which the limit ends, and the base of all proportions: the line rate,
 * or rpg_max_rate if the network behind the line is known to be slower.
 */
static u64 release_rate(const struct roce_cc_flow *flow)
{
	u64 max_rate = parameter(flow, DCQCN_RPG_MAX_RATE) * MBIT;

	return max_rate ? min(max_rate, flow->line_rate) : flow->line_rate;
}

static u64 min_rate(const struct roce_cc_flow *flow)
{
	return min(parameter(flow, DCQCN_RPG_MIN_RATE) * MBIT, release_rate(flow));
}

/*
 * ConnectX has 5 and 50 Mbit/s whatever its line rate is. The value 0 scales them
 * with the line: 1/5000 and 1/500 of it, as 5 and 50 are for a port of 25 Gbit/s, and
 * at least one.
 */
static u64 additive_increase(const struct roce_cc_flow *flow)
{
	return parameter(flow, DCQCN_RPG_AI_RATE) * MBIT ?:
	       max(div_u64(release_rate(flow), 5000), MBIT);
}

static u64 hyper_increase(const struct roce_cc_flow *flow)
{
	return parameter(flow, DCQCN_RPG_HAI_RATE) * MBIT ?:
	       10 * additive_increase(flow);
}

static void begin(const struct dcqcn *s, struct dcqcn_period *period, u64 now)
{
	period->start = now;
	period->sent = s->sent;
}

/* A period lasts until at least so many bytes have been sent. */
static u64 min_bytes(const struct roce_cc_flow *flow)
{
	return parameter(flow, DCQCN_MIN_PACKETS_PER_PERIOD) * flow->packet_bytes;
}

/* Time that the line needs if EQUAL_FLOWS flows send min_bytes() each */
static u64 min_length(const struct roce_cc_flow *flow)
{
	return div64_u64(EQUAL_FLOWS * min_bytes(flow) * 8 * NSEC,
			 release_rate(flow));
}

/* End of a period, if nothing more is sent */
static u64 end_of(const struct roce_cc_flow *flow,
		  const struct dcqcn_period *period, enum dcqcn_parameter length)
{
	if (dcqcn(flow)->sent - period->sent < min_bytes(flow))
		return U64_MAX;
	return period->start +
	       max(parameter(flow, length) * USEC, min_length(flow));
}

static u32 initial_alpha(const struct roce_cc_flow *flow)
{
	return parameter(flow, DCQCN_INITIAL_ALPHA_VALUE)
	       << (DCQCN_ALPHA_BITS - PERMILLE_BITS);
}

static bool is_limited(const struct roce_cc_flow *flow)
{
	return flow->rate != ROCE_CC_UNLIMITED;
}

static void update_alpha(struct roce_cc_flow *flow, u64 now)
{
	u32 g = parameter(flow, DCQCN_DCE_TCP_G);
	struct dcqcn *s = state(flow);
	u64 sum = (u64)s->alpha * g;

	if (s->notified)
		sum += (u64)ALPHA_ONE * (1024 - g);
	s->alpha = sum >> PERMILLE_BITS;
	s->notified = false;
	begin(s, &s->alpha_period, now);
}

/*
 * Without clamp_tgt_rate, a second cut in a row keeps the target of the first one:
 * the present rate becomes the target only after an increase.
 */
static bool clamps_target(const struct roce_cc_flow *flow)
{
	const struct dcqcn *s = dcqcn(flow);

	return parameter(flow, DCQCN_CLAMP_TGT_RATE) || s->byte_events ||
	       (s->time_events &&
		parameter(flow, DCQCN_CLAMP_TGT_RATE_AFTER_TIME_INC));
}

static void restart_increase(struct dcqcn *s, u64 now)
{
	begin(s, &s->increase_period, now);
	s->bytes = 0;
	s->time_events = 0;
	s->byte_events = 0;
}

static void cut(struct roce_cc_flow *flow, u64 now)
{
	u32 shift = parameter(flow, DCQCN_RPG_GD) - PERMILLE_BITS +
		    DCQCN_ALPHA_BITS;
	u64 most = 100 - parameter(flow, DCQCN_RPG_MIN_DEC_FAC);
	struct dcqcn *s = state(flow);
	u64 by;

	by = min(flow->rate * s->alpha >> shift, div_u64(flow->rate * most, 100));
	if (clamps_target(flow))
		s->target = flow->rate;
	flow->rate = max(flow->rate - by, min_rate(flow));
	s->cut_due = false;
	begin(s, &s->cut_period, now);
	restart_increase(s, now);
}

static void release(struct roce_cc_flow *flow)
{
	flow->rate = ROCE_CC_UNLIMITED;
}

/* One step up; the caller counts it afterwards. */
static void increase(struct roce_cc_flow *flow)
{
	u64 threshold = parameter(flow, DCQCN_RPG_THRESHOLD);
	u64 limit = release_rate(flow);
	struct dcqcn *s = state(flow);

	if (min(s->time_events, s->byte_events) > threshold)
		s->target += hyper_increase(flow);
	else if (max(s->time_events, s->byte_events) >= threshold)
		s->target += additive_increase(flow);
	s->target = min(s->target, limit);
	flow->rate = (flow->rate + s->target) / 2;

	/* Halving the distance never reaches the limit: 0.1 % below is enough. */
	if (flow->rate + (limit >> PERMILLE_BITS) >= limit)
		release(flow);
}

static void count_event(u16 *events)
{
	if (*events < U16_MAX)
		(*events)++;
}

static void increase_by_time(struct roce_cc_flow *flow, u64 now)
{
	struct dcqcn *s = state(flow);

	increase(flow);
	count_event(&s->time_events);
	begin(s, &s->increase_period, now);
}

/*
 * Handle the periods that have ended until now, in order. Nothing has been sent in
 * a period that begins here, so it cannot end here, too.
 */
static void pass(struct roce_cc_flow *flow, u64 now)
{
	struct dcqcn *s = state(flow);

	while (is_limited(flow)) {
		u64 alpha = end_of(flow, &s->alpha_period, DCQCN_DCE_TCP_RTT);
		u64 cut_end = s->cut_due ?
			      end_of(flow, &s->cut_period,
				     DCQCN_RATE_REDUCE_MONITOR_PERIOD) : U64_MAX;
		u64 increase = end_of(flow, &s->increase_period,
				      DCQCN_RPG_TIME_RESET);
		u64 next = min(min(alpha, cut_end), increase);

		if (next > now)
			return;
		next = max(next, s->sent_at);
		if (alpha <= min(cut_end, increase))
			update_alpha(flow, next);
		else if (cut_end <= increase)
			cut(flow, next);
		else
			increase_by_time(flow, next);
	}
}

static void on_time(struct roce_cc_flow *flow, u64 now)
{
	/* What the flow has learned is outdated. */
	if (is_limited(flow) && now - dcqcn(flow)->sent_at >= MAX_SILENCE)
		release(flow);
	pass(flow, now);
}

static void on_sent(struct roce_cc_flow *flow, u64 now, u32 bytes)
{
	u64 threshold = parameter(flow, DCQCN_RPG_BYTE_RESET) * 64;
	struct dcqcn *s = state(flow);

	on_time(flow, now);
	s->sent += bytes;
	s->sent_at = now;
	pass(flow, now);
	if (!threshold)
		return;
	s->bytes += bytes;
	while (is_limited(flow) && s->bytes >= threshold) {
		s->bytes -= threshold;
		increase(flow);
		count_event(&s->byte_events);
	}
}

/* After the first CNP, or the first one since the flow was released */
static void become_limited(struct roce_cc_flow *flow, u64 now)
{
	u64 rate = parameter(flow, DCQCN_RATE_TO_SET_ON_FIRST_CNP) * MBIT;
	struct dcqcn *s = state(flow);

	rate = rate ? min(rate, release_rate(flow)) : release_rate(flow);
	flow->rate = max(rate, min_rate(flow));
	s->target = flow->rate;
	s->alpha = initial_alpha(flow);
	s->notified = false;
	s->cut_due = false;
	s->sent_at = now;
	begin(s, &s->alpha_period, now);
	begin(s, &s->cut_period, now);
	restart_increase(s, now);
}

static void on_cnp(struct roce_cc_flow *flow, u64 now)
{
	struct dcqcn *s = state(flow);

	on_time(flow, now);
	if (!is_limited(flow)) {
		become_limited(flow, now);
		/* The jump to a given rate is the cut. */
		if (!parameter(flow, DCQCN_RATE_TO_SET_ON_FIRST_CNP))
			cut(flow, now);
		return;
	}
	s->notified = true;
	s->cut_due = true;
	pass(flow, now);
}

/*
 * A network without ECN drops packets instead. This signal comes late, so alpha
 * becomes at least initial_alpha_value. There is no fast recovery after a timeout.
 */
static void on_loss(struct roce_cc_flow *flow, u64 now, enum roce_cc_loss loss)
{
	struct dcqcn *s = state(flow);

	on_time(flow, now);
	if (!is_limited(flow))
		become_limited(flow, now);
	s->alpha = max(s->alpha, initial_alpha(flow));
	begin(s, &s->alpha_period, now);
	cut(flow, now);
	if (loss == ROCE_CC_TIMEOUT)
		s->target = flow->rate;
}

static u32 details(const struct roce_cc_flow *flow,
		   struct roce_detail details[ROCE_CC_MAX_DETAILS])
{
	const struct dcqcn *s = dcqcn(flow);

	details[0] = (struct roce_detail) { "dcqcn_target", s->target };
	details[1] = (struct roce_detail) {
		"dcqcn_alpha", s->alpha >> (DCQCN_ALPHA_BITS - PERMILLE_BITS)
	};
	details[2] = (struct roce_detail) { "dcqcn_time_events", s->time_events };
	details[3] = (struct roce_detail) { "dcqcn_byte_events", s->byte_events };
	return 4;
}

struct roce_cc_ops roce_dcqcn = {
	.name = "dcqcn",
	.parameters = parameters,
	.parameter_count = DCQCN_PARAMETER_COUNT,
	.on_cnp = on_cnp,
	.on_loss = on_loss,
	.on_sent = on_sent,
	.on_time = on_time,
	.details = details,
};
