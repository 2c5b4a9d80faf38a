/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_CC_H
#define ROCE_CC_H

/*
 * The congestion control interface of an algorithm. The driver reports events of a
 * flow with their time; the algorithm sets the rate of the flow. It sees neither
 * packets nor QPs and reads no clock. So it also runs in a KUnit suite and in
 * tools/sim, which includes this file in user space.
 *
 * dcqcn.c is the default algorithm, timely.c one in a module of its own.
 * Documentation/congestion-control.md explains how to write another.
 */
#include <linux/types.h>

struct module;

/* The rate of a flow without limit, which is not paced */
#define ROCE_CC_UNLIMITED	(~0ull)

/* Space for the state of an algorithm for each flow, in words of 64 bits */
#define ROCE_CC_STATE_WORDS	12

/**
 * struct roce_cc_flow - the data that a QP sends, as an algorithm sees it
 * @parameters: values on this device, in the order of &roce_cc_ops.parameters;
 *	may change at any time
 * @line_rate: of the port, bits per second; 0 < @line_rate <= ROCE_CC_MAX_RATE
 * @packet_bytes: of a full packet on the wire
 * @rate: bits per second, or ROCE_CC_UNLIMITED; set by the algorithm, and unlimited
 *	again once the flow has a priority without congestion control
 * @state: for the algorithm; zeroed when the flow begins
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
 * struct roce_cc_parameter - a parameter of an algorithm, and its file in sysfs
 * @name: of the file
 * @minimum: smallest value; writing less fails with -ERANGE
 * @maximum: largest value; writing more fails with -ERANGE
 * @initial: value on a new device
 */
struct roce_cc_parameter {
	const char *name;
	u32 minimum;
	u32 maximum;
	u32 initial;
};

/**
 * struct roce_detail - a number for operators
 * @name: for a detail of a flow, it begins with the name of the algorithm
 * @value: present value
 */
struct roce_detail {
	const char *name;
	u64 value;
};

/* The most details that an algorithm can show */
#define ROCE_CC_MAX_DETAILS	8

/**
 * enum roce_cc_loss - how a loss was noticed
 * @ROCE_CC_NAK: the peer reported a gap
 * @ROCE_CC_TIMEOUT: the peer did not answer
 */
enum roce_cc_loss {
	ROCE_CC_NAK,
	ROCE_CC_TIMEOUT,
};

/**
 * struct roce_cc_ops - an algorithm
 * @name: in sysfs; its module has the alias roce-cc-NAME
 * @owner: THIS_MODULE; NULL for an algorithm of roce itself
 * @node: for the driver
 * @parameters: its parameters
 * @parameter_count: number of parameters
 * @init: a flow begins, or begins anew; @rate is ROCE_CC_UNLIMITED
 * @on_cnp: a congestion notification for the flow was received
 * @on_ack: a packet was acknowledged after @rtt nanoseconds
 * @on_loss: a packet was lost
 * @on_sent: @bytes were sent; called only for flows with a limited rate
 * @on_time: time has passed; called only for flows with a limited rate, whenever
 *	they want to send, so that an algorithm needs no timer
 * @details: fill in what "rdma resource show qp -dd" shows of a flow besides its
 *	rate; returns the number of details
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
