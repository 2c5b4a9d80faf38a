/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_CONGESTION_H
#define ROCE_CONGESTION_H

/*
 * Congestion control inside of the driver: what a device and a queue pair have
 * to do with it. What an algorithm is, is in cc.h.
 */
#include <linux/ethtool.h>
#include <linux/kobject.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "cc.h"

struct roce_av;
struct roce_device;
struct roce_packet;
struct roce_qp;
struct roce_train;

/**
 * struct roce_cc_parameters - values of parameters, and their folder in sysfs
 * @kobj: the folder; its release frees all of this
 * @node: in &roce_congestion.algorithms
 * @ops: the algorithm that they are of; NULL for the notification point
 * @table: names and ranges
 * @count: how many
 * @files: one for each parameter
 * @value: likewise; written by sysfs, read by whoever needs it at any time
 */
struct roce_cc_parameters {
	struct kobject kobj;
	struct list_head node;
	const struct roce_cc_ops *ops;
	const struct roce_cc_parameter *table;
	u32 count;
	struct attribute *files;
	u32 value[];
};

/* The parameters of the notification point, named as those of ConnectX */
enum roce_np_parameter {
	ROCE_NP_MIN_TIME_BETWEEN_CNPS,
	ROCE_NP_CNP_DSCP,
	ROCE_NP_CNP_802P_PRIO,
	ROCE_NP_PARAMETER_COUNT,
};

/**
 * struct roce_congestion - congestion control of a device
 * @node: in the list of devices, see cc.c
 * @algorithms: their parameters on this device
 * @selected: the algorithm of new queue pairs; one of @algorithms
 * @np: parameters of the notification point
 * @folder: cc in sysfs; NULL until the device is registered
 * @priorities: bit mask of the priorities that are congestion controlled
 * @line_rate: of the port, bits per second
 */
struct roce_congestion {
	struct list_head node;
	struct list_head algorithms;
	struct roce_cc_parameters *selected;
	struct roce_cc_parameters *np;
	struct kobject *folder;
	u8 priorities;
	u64 line_rate;
};

/* cc_parameters.c */
struct roce_cc_parameters *
roce_cc_new_parameters(const struct roce_cc_ops *ops,
		       const struct roce_cc_parameter *table, u32 count);
int roce_cc_publish_parameters(struct roce_cc_parameters *parameters,
			       struct kobject *folder, const char *name);
void roce_cc_drop_parameters(struct roce_cc_parameters *parameters);

/* cc.c */
int roce_cc_device_init(struct roce_device *dev);
int roce_cc_device_publish(struct roce_device *dev);
void roce_cc_device_destroy(struct roce_device *dev);
void roce_cc_set_line_rate(struct roce_device *dev,
			   int (*settings_of)(struct net_device *netdev,
					      struct ethtool_link_ksettings *to));
const struct roce_cc_parameters *roce_cc_get(struct roce_device *dev);
void roce_cc_put(const struct roce_cc_parameters *algorithm);
int roce_cc_init(void);
void roce_cc_exit(void);

/* The half of a queue pair that sends; both share the flow */
enum roce_half {
	ROCE_REQUESTER,
	ROCE_RESPONDER,
};

/**
 * struct roce_flow - what a QP sends, under congestion control
 * @lock: guards all of it but for what is said otherwise
 * @limited: the rate is limited; read without the lock
 * @train_bytes: how long a train of data may be; read without the lock
 * @algorithm: chosen when the QP was made; NULL for datagrams
 * @cc: the algorithm's view
 * @due: when the next train may leave, CLOCK_MONOTONIC
 * @behind: somebody waited for @due and comes late
 * @waiting: halves that were told to wait, a bit each
 * @last: half that sent last
 * @last_cost: nanoseconds that its train took of the rate
 * @slowed_by_loss: limited, and not since a CNP but since a loss
 * @departure: of the train that each half has handed over last, if that lies in
 *	the future; belongs to the half's engine
 * @cnp_sent: when the peer was notified last, as its notification point
 * @cnps_sent: how often
 * @cnps_handled: CNPs that came for this flow
 */
struct roce_flow {
	spinlock_t lock;		/* of what follows */
	bool limited;
	u32 train_bytes;
	const struct roce_cc_parameters *algorithm;
	struct roce_cc_flow cc;
	u64 due;
	bool behind;
	u8 waiting;
	u8 last;
	u32 last_cost;
	bool slowed_by_loss;
	u64 departure[2];
	u64 cnp_sent;
	u64 cnps_sent;
	u64 cnps_handled;
};

/**
 * struct roce_flow_view - a flow at one moment, for operators
 * @algorithm: its name
 * @rate: bits per second; that of the line if nothing limits it
 * @limited: the rate is limited
 * @cnps_sent: to the peer
 * @cnps_handled: CNPs that came for this flow
 * @detail: what the algorithm has to tell
 * @details: how many
 */
struct roce_flow_view {
	const char *algorithm;
	u64 rate;
	bool limited;
	u64 cnps_sent;
	u64 cnps_handled;
	struct roce_detail detail[ROCE_CC_MAX_DETAILS];
	u32 details;
};

/* pacer.c */
void roce_flow_init(struct roce_qp *qp);
void roce_flow_start(struct roce_qp *qp);
void roce_flow_destroy(struct roce_qp *qp);
bool roce_flow_is_controlled(const struct roce_qp *qp);
u64 roce_flow_throttle(struct roce_qp *qp, enum roce_half half);
void roce_flow_interrupt(struct roce_qp *qp, enum roce_half half);
int roce_flow_send(struct roce_qp *qp, enum roce_half half, struct roce_av *av,
		   struct roce_train *train);
bool roce_flow_notified(struct roce_qp *qp);
void roce_flow_lost(struct roce_qp *qp, enum roce_cc_loss loss);
void roce_flow_acknowledged(struct roce_qp *qp, u64 rtt);
bool roce_flow_look(struct roce_qp *qp, struct roce_flow_view *view);

/**
 * roce_is_congestion() - whether losses that the peer has told one by one mean a queue
 *	that overflows
 * @lost: how many packets
 * @sent: of how many
 *
 * A queue that overflows loses many packets together, a bad cable one now and then. Up to
 * an eighth is no sign of congestion: flows above what a port has lose more.
 */
static inline bool roce_is_congestion(u32 lost, u32 sent)
{
	return 8 * lost > max(sent, 64u);
}

static inline bool roce_flow_is_limited(const struct roce_flow *flow)
{
	return READ_ONCE(flow->limited);
}

/**
 * roce_flow_train_bytes() - how long a train of data may be
 * @flow: of the QP
 *
 * Return: bytes, BTH to ICRC of all packets. A single packet may be longer.
 */
static inline u32 roce_flow_train_bytes(const struct roce_flow *flow)
{
	return READ_ONCE(flow->train_bytes);
}

/** roce_flow_wants_rtt() - whether round trips are to be measured */
static inline bool roce_flow_wants_rtt(const struct roce_flow *flow)
{
	return flow->algorithm && flow->algorithm->ops->on_ack;
}

/**
 * roce_flow_wait() - how long data has to wait for its turn
 * @qp: of which @half is owned by the caller
 * @flow: its flow
 * @half: that wants to send
 *
 * A flow that nobody limits takes no lock here, and does not look at the clock.
 *
 * Return: nanoseconds, 0 if a train can be sent now.
 */
static inline u64 roce_flow_wait(struct roce_qp *qp,
				 const struct roce_flow *flow,
				 enum roce_half half)
{
	return unlikely(roce_flow_is_limited(flow)) ?
	       roce_flow_throttle(qp, half) : 0;
}

/* cnp.c */
void roce_cnp_notify(struct roce_qp *qp);
void roce_cnp_receive(struct roce_qp *qp, struct sk_buff *skb);

#endif /* ROCE_CONGESTION_H */
