/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_COUNTERS_H
#define ROCE_COUNTERS_H

#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/types.h>

struct ib_device;
struct ib_qp;
struct rdma_counter;
struct rdma_hw_stats;
struct roce_device;
struct sk_buff;
struct roce_qp;

enum roce_counter {
#define ROCE_COUNTER(name) ROCE_COUNTER_##name,
#include "counter_list.h"
	ROCE_COUNTER_COUNT,
};

struct roce_counters {
	u64 value[ROCE_COUNTER_COUNT];
};

/* tools/benchmark/counters builds with 0 to measure the cost of counting. */
#ifndef ROCE_COUNT
#define ROCE_COUNT 1
#endif

/* roce_count_add() for counters that the caller has looked up */
#define roce_count_in(counters, counter, amount) do { \
	lockdep_assert_in_softirq(); \
	if (ROCE_COUNT) \
		__this_cpu_add((counters)->value[counter], (amount)); \
} while (0)

/* roce_count_add() for an enum roce_counter in a variable */
#define roce_count_value(owner, counter, amount) \
	roce_count_in(READ_ONCE((owner)->counters), counter, amount)

/*
 * A plain increment on this CPU; @name as in counter_list.h. @owner is the QP
 * that the event belongs to, or the device if it belongs to none. A QP counts
 * with its device unless a counter of "rdma statistic qp" is bound to it.
 *
 * BH disabled, which is all that guards the value; in a section, or with an engine
 * of the QP claimed.
 */
#define roce_count_add(owner, name, amount) \
	roce_count_value(owner, ROCE_COUNTER_##name, amount)
#define roce_count(owner, name) roce_count_add(owner, name, 1)

/* Count that a received packet of @qp is dropped; @name is the reason. */
#define roce_drop(qp, name, packet) \
	roce_drop_packet(qp, ROCE_COUNTER_##name, (packet)->psn)

struct rdma_hw_stats *roce_alloc_hw_port_stats(struct ib_device *ibdev, u32 port);
void roce_count_stall(struct roce_qp *qp, int err, u64 nanoseconds);
void roce_drop_run(struct roce_device *dev,
		   struct roce_counters __percpu *counters, struct sk_buff *skb,
		   enum roce_counter why);
void roce_drop_packet(struct roce_qp *qp, enum roce_counter why, u32 psn);
int roce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		      u32 port, int index);
const char *roce_counter_name(enum roce_counter counter);
u64 roce_counter_total(struct roce_device *dev, enum roce_counter counter);

struct rdma_hw_stats *roce_counter_alloc_stats(struct rdma_counter *counter);
int roce_counter_update_stats(struct rdma_counter *counter);
int roce_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int roce_counter_unbind_qp(struct ib_qp *ibqp);
int roce_counter_dealloc(struct rdma_counter *counter);

#endif /* ROCE_COUNTERS_H */
