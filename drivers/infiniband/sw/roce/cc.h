/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_CC_H
#define ROCE_CC_H

/*
 * The congestion control interface: what an algorithm is. The driver tells it
 * what happens to a flow, and when; it answers by setting the flow's rate. It
 * sees neither packets nor queue pairs, and asks nobody for the time, so it
 * runs as well in a KUnit suite or in tools/sim, which includes this file in
 * user space.
 *
 * dcqcn.c is the default algorithm, timely.c one that is a module of its
 * own. Documentation/congestion-control.md tells how to write another.
 */
#include <linux/types.h>

struct module;

/* The rate of a flow that is not held back: nobody paces it. */
#define ROCE_CC_UNLIMITED	(~0ull)

/* What an algorithm can remember of a flow, in words of 64 bits */
#define ROCE_CC_STATE_WORDS	12

/**
 * struct roce_cc_flow - what one QP sends, as an algorithm sees it
 * @parameters: values on this device, in the order of &roce_cc_ops.parameters;
 *	may change at any time
 * @line_rate: of the port, bits per second; 0 < @line_rate <= ROCE_CC_MAX_RATE
 * @packet_bytes: of a full packet on the wire
 * @rate: bits per second, or ROCE_CC_UNLIMITED; the algorithm sets it
 * @state: the algorithm's own; zeroed when the flow begins
 */
struct roce_cc_flow {
	const u32 *parameters;
	u64 line_rate;
	u32 packet_bytes;
	u64 rate;
	u64 state[ROCE_CC_STATE_WORDS];
};

/* Four terabits per second: products with a fraction of 2^20 fit 64 bits. */
#define ROCE_CC_MAX_RATE	(4ull * 1000 * 1000 * 1000 * 1000)

/**
 * struct roce_cc_parameter - a knob, and its file in sysfs
 * @name: of the file
 * @minimum: least value; less is -ERANGE
 * @maximum: greatest value
 * @initial: value on a new device
 */
struct roce_cc_parameter {
	const char *name;
	u32 minimum;
	u32 maximum;
	u32 initial;
};

/**
 * struct roce_detail - a number that operators can look at
 * @name: of a flow's, it begins with the name of the algorithm
 * @value: of now
 */
struct roce_detail {
	const char *name;
	u64 value;
};

/* As many of them as an algorithm can show */
#define ROCE_CC_MAX_DETAILS	8

/**
 * enum roce_cc_loss - how a loss was noticed
 * @ROCE_CC_NAK: the peer saw a gap
 * @ROCE_CC_TIMEOUT: the peer said nothing
 */
enum roce_cc_loss {
	ROCE_CC_NAK,
	ROCE_CC_TIMEOUT,
};

/**
 * struct roce_cc_ops - an algorithm
 * @name: in sysfs; a module that has it is found by the alias roce-cc-NAME
 * @owner: THIS_MODULE; NULL if it is part of roce itself
 * @node: the driver's
 * @parameters: the knobs
 * @parameter_count: how many
 * @init: a flow begins, or begins anew; @rate is ROCE_CC_UNLIMITED
 * @on_cnp: a congestion notification came for it
 * @on_ack: what was sent @rtt nanoseconds ago has been acknowledged
 * @on_loss: something was lost
 * @on_sent: @bytes are on their way; of flows with a limited rate only
 * @on_time: it is later; of flows with a limited rate only, whenever they want
 *	to send, so that nothing needs a timer
 * @details: what "rdma resource show qp -dd" tells of a flow besides its rate;
 *	returns how many
 *
 * Time is in nanoseconds and does not go back. All functions are optional and
 * must be short. They are called with BH disabled and a spinlock held, in softirq
 * or process context, one at a time for a flow.
 */
struct roce_cc_ops {
	const char *name;
	struct module *owner;
	struct list_head node;
	const struct roce_cc_parameter *parameters;
	u32 parameter_count;
	void (*init)(struct roce_cc_flow *flow, u64 now);
	void (*on_cnp)(struct roce_cc_flow *flow, u64 now);
	void (*on_ack)(struct roce_cc_flow *flow, u64 now, u64 rtt);
	void (*on_loss)(struct roce_cc_flow *flow, u64 now,
			enum roce_cc_loss loss);
	void (*on_sent)(struct roce_cc_flow *flow, u64 now, u32 bytes);
	void (*on_time)(struct roce_cc_flow *flow, u64 now);
	u32 (*details)(const struct roce_cc_flow *flow,
		       struct roce_detail details[ROCE_CC_MAX_DETAILS]);
};

int roce_cc_register(struct roce_cc_ops *ops);
void roce_cc_unregister(struct roce_cc_ops *ops);

#endif /* ROCE_CC_H */
