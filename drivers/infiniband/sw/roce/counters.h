/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_COUNTERS_H
#define ROCE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

struct ib_device;
struct rdma_hw_stats;
struct roce_device;

enum roce_counter {
#define ROCE_COUNTER(name) ROCE_COUNTER_##name,
#include "counter_list.h"
#undef ROCE_COUNTER
	ROCE_COUNTER_COUNT,
};

struct roce_counters {
	u64 value[ROCE_COUNTER_COUNT];
};

/* A plain increment on this CPU; @name as in counter_list.h. */
#define roce_count_add(dev, name, amount) \
	this_cpu_add((dev)->counters->value[ROCE_COUNTER_##name], (amount))
#define roce_count(dev, name) roce_count_add(dev, name, 1)

struct rdma_hw_stats *roce_alloc_hw_port_stats(struct ib_device *ibdev, u32 port);
int roce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		      u32 port, int index);

#endif /* ROCE_COUNTERS_H */
