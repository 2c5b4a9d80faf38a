// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "qp.h"

static const struct rdma_stat_desc descriptions[] = {
#define ROCE_COUNTER(counter) \
	[ROCE_COUNTER_##counter].name = #counter,
#include "counter_list.h"
#undef ROCE_COUNTER
};

/**
 * roce_drop_packet() - count a received packet that is dropped
 * @qp: to which it was sent
 * @why: the counter
 * @psn: of the packet, 0 if it cannot be told
 *
 * RCU read side.
 */
void roce_drop_packet(struct roce_qp *qp, enum roce_counter why, u32 psn)
{
	this_cpu_inc(READ_ONCE(qp->counters)->value[why]);
}

/**
 * roce_alloc_hw_port_stats() - the alloc_hw_port_stats verb
 * @ibdev: the device
 * @port: 1
 *
 * Two reads more than a jiffy apart both see the counters as they are.
 *
 * Return: memory for the values, which the core frees, or NULL.
 */
struct rdma_hw_stats *roce_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(descriptions, ROCE_COUNTER_COUNT, 0);
}

static u64 sum_over_cpus(const struct roce_device *dev, int index)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(dev->counters, cpu)->value[index];
	return sum;
}

/**
 * roce_get_hw_stats() - the get_hw_stats verb: read all counters
 * @ibdev: the device
 * @stats: to be filled in
 * @port: 1, or 0 for counters of the device, of which there are none
 * @index: the one that is asked for, or their number for all
 *
 * Return: the number of counters that were read, or -EINVAL.
 */
int roce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		      u32 port, int index)
{
	struct roce_device *dev = to_roce_device(ibdev);
	int i;

	if (!port || stats->num_counters != ROCE_COUNTER_COUNT)
		return -EINVAL;

	for (i = 0; i < ROCE_COUNTER_COUNT; i++)
		stats->value[i] = sum_over_cpus(dev, i);
	return ROCE_COUNTER_COUNT;
}
