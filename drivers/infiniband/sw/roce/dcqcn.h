/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_DCQCN_H
#define ROCE_DCQCN_H

#include "cc.h"

/* The parameters of DCQCN, as an index into &roce_cc_flow.parameters */
enum dcqcn_parameter {
	DCQCN_CLAMP_TGT_RATE,
	DCQCN_CLAMP_TGT_RATE_AFTER_TIME_INC,
	DCQCN_RPG_TIME_RESET,
	DCQCN_RPG_BYTE_RESET,
	DCQCN_RPG_THRESHOLD,
	DCQCN_RPG_MAX_RATE,
	DCQCN_RPG_AI_RATE,
	DCQCN_RPG_HAI_RATE,
	DCQCN_RPG_GD,
	DCQCN_RPG_MIN_DEC_FAC,
	DCQCN_RPG_MIN_RATE,
	DCQCN_RATE_TO_SET_ON_FIRST_CNP,
	DCQCN_DCE_TCP_G,
	DCQCN_DCE_TCP_RTT,
	DCQCN_INITIAL_ALPHA_VALUE,
	DCQCN_RATE_REDUCE_MONITOR_PERIOD,
	DCQCN_MIN_PACKETS_PER_PERIOD,
	DCQCN_PARAMETER_COUNT,
};

#define DCQCN_ALPHA_BITS	20

/**
 * struct dcqcn_period - a period, which lasts for some time and some packets
 * @start: its beginning, nanoseconds
 * @sent: &dcqcn.sent at that time
 */
struct dcqcn_period {
	u64 start;
	u64 sent;
};

/**
 * struct dcqcn - state of a flow, in &roce_cc_flow.state
 * @target: R_T, bits per second; R_C is &roce_cc_flow.rate
 * @sent: bytes
 * @sent_at: time when the last of them were sent, nanoseconds
 * @bytes: bytes sent since the last cut, or the last increase after a number of bytes
 * @alpha_period: alpha is updated at its end
 * @cut_period: period after a cut, without another cut
 * @increase_period: the rate is increased at its end
 * @alpha: estimate of the congestion: 0 to 2^DCQCN_ALPHA_BITS
 * @time_events: increases after a time, since the last cut
 * @byte_events: increases after a number of bytes, since the last cut
 * @notified: a CNP was received in the present alpha period
 * @cut_due: a CNP was received in the present cut period
 */
struct dcqcn {
	u64 target;
	u64 sent;
	u64 sent_at;
	u64 bytes;
	struct dcqcn_period alpha_period;
	struct dcqcn_period cut_period;
	struct dcqcn_period increase_period;
	u32 alpha;
	u16 time_events;
	u16 byte_events;
	bool notified;
	bool cut_due;
};

static inline const struct dcqcn *dcqcn(const struct roce_cc_flow *flow)
{
	return (const struct dcqcn *)flow->state;
}

extern struct roce_cc_ops roce_dcqcn;

#endif /* ROCE_DCQCN_H */
