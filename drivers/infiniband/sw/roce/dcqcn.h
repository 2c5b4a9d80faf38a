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
 * struct dcqcn_period - it ends after some time, and after some packets
 * @start: when it began, nanoseconds
 * @sent: &dcqcn.sent at that time
 */
struct dcqcn_period {
	u64 start;
	u64 sent;
};

/**
 * struct dcqcn - what DCQCN remembers of a flow, in &roce_cc_flow.state
 * @target: R_T, bits per second; R_C is &roce_cc_flow.rate
 * @sent: bytes
 * @sent_at: when the last of them were sent, nanoseconds
 * @bytes: sent since the last increase that bytes brought about, or cut
 * @alpha_period: at whose end alpha is updated
 * @cut_period: behind a cut, in which there is no other one
 * @increase_period: at whose end the rate is increased
 * @alpha: how congested it is: 0 to 2^DCQCN_ALPHA_BITS
 * @time_events: increases since the last cut that time brought about
 * @byte_events: likewise, by bytes
 * @notified: a CNP came in the present alpha period
 * @cut_due: a CNP came in the present cut period
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
