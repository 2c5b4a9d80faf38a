// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of a device, and of QPs.
 *
 * A QP has a pointer to its counters: those of its device, or those of a counter
 * that an operator has bound it to ("rdma statistic qp"). An event is counted in
 * one place only, without a branch on the data path. To show a device, the core
 * adds the counters of its QPs.
 */
#include <rdma/ib_verbs.h>

#include "codec.h"
#include "compat.h"
#include "counters.h"
#include "device.h"
#include "qp.h"
#include "run.h"
#include "section.h"
#include "trace.h"

/* @priv is the index of the counter to show. */
#define SHOW(counter, counter_name) { \
	.name = (counter_name), \
	.priv = (void *)ROCE_COUNTER_##counter, \
}

/* In the order of enum roce_counter, followed by rdma_rxe's names for some of them */
static const struct rdma_stat_desc descriptions[] = {
#define ROCE_COUNTER(counter) SHOW(counter, #counter),
#include "counter_list.h"
	SHOW(tx_packets, "sent_pkts"),
	SHOW(rx_packets, "rcvd_pkts"),
	SHOW(tx_bytes, "sent_bytes"),
	SHOW(rx_bytes, "rcvd_bytes"),
	SHOW(tx_stalled_queue, "send_err"),
	SHOW(req_transport_retries_exceeded, "retry_exceeded_err"),
	SHOW(req_rnr_retries_exceeded, "retry_rnr_exceeded_err"),
};

/*
 * "rdma statistic show" gets all counters in one netlink message of a page. Each
 * takes a nest, the name and the value, about 43 bytes of 3.7 KB.
 */
static_assert(ARRAY_SIZE(descriptions) < 84);

/** roce_counter_name() - the name of a counter in sysfs */
const char *roce_counter_name(enum roce_counter counter)
{
	return descriptions[counter].name;
}

static void count_drop(struct roce_device *dev, struct roce_counters __percpu *counters,
		       u32 qpn, u32 psn, u32 packets, enum roce_counter why)
{
	roce_count_in(counters, why, packets);
	trace_roce_drop(dev, qpn, psn, packets, roce_counter_name(why));
}

/**
 * roce_drop_packet() - count a received packet that is dropped
 * @qp: destination of the packet
 * @why: counter of the reason
 * @psn: PSN of the packet, 0 if unknown
 *
 * In a section.
 */
void roce_drop_packet(struct roce_qp *qp, enum roce_counter why, u32 psn)
{
	count_drop(qp->dev, READ_ONCE(qp->counters), qp->ibqp.qp_num, psn, 1, why);
}

/**
 * roce_drop_run() - drop the rest of a received run
 * @dev: destination of the run
 * @counters: of its QP, or of the device if there is none
 * @skb: consumed
 * @why: counter of the reason
 *
 * In a section.
 */
void roce_drop_run(struct roce_device *dev,
		   struct roce_counters __percpu *counters, struct sk_buff *skb,
		   enum roce_counter why)
{
	struct roce_bth buffer = {};
	const struct roce_bth *bth;

	bth = skb_header_pointer(skb, roce_run(skb)->offset, sizeof(buffer),
				 &buffer) ?: &buffer;
	count_drop(dev, counters, roce_bth_qpn(bth), roce_bth_psn(bth),
		   roce_run_packets(skb), why);
	kfree_skb(skb);
}

/**
 * roce_count_stall() - count that a train has to wait
 * @qp: sender of the train
 * @err: -EAGAIN if the egress queue is full, else memory is missing
 * @nanoseconds: time until the next attempt
 *
 * In a section.
 */
void roce_count_stall(struct roce_qp *qp, int err, u64 nanoseconds)
{
	if (err == -EAGAIN)
		roce_count(qp, tx_stalled_queue);
	else
		roce_count(qp, tx_stalled_memory);
	roce_count_add(qp, tx_wait_us, div_u64(nanoseconds, NSEC_PER_USEC));
}

static struct rdma_hw_stats *alloc_stats(void)
{
	/* Lifespan 0: the core caches the values for the present jiffy only. */
	return rdma_alloc_hw_stats_struct(descriptions, ARRAY_SIZE(descriptions),
					  0);
}

static u64 sum_over_cpus(const struct roce_counters __percpu *counters,
			 enum roce_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* Racy: that CPU goes on counting. */
		sum += READ_ONCE(per_cpu_ptr(counters, cpu)->value[counter]);
	return sum;
}

/* @entry is an entry of &roce_device.qp_counters. */
static struct roce_counters __percpu *to_counters(void *entry)
{
	return (struct roce_counters __percpu *)(unsigned long)entry;
}

static void read_all(const struct roce_counters __percpu *counters,
		     struct rdma_hw_stats *stats)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(descriptions); i++)
		stats->value[i] = sum_over_cpus(counters,
						(uintptr_t)descriptions[i].priv);
}

/**
 * roce_alloc_hw_port_stats() - the alloc_hw_port_stats verb
 * @ibdev: the device
 * @port: 1
 *
 * Return: memory for the values, which the core frees, or NULL.
 */
struct rdma_hw_stats *roce_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	return alloc_stats();
}

/**
 * roce_get_hw_stats() - the get_hw_stats verb: read all counters
 * @ibdev: the device
 * @stats: to be filled in
 * @port: 1, or 0 for counters of the device, which do not exist
 * @index: index of the wanted counter, or their number for all
 *
 * Return: the number of counters that were read, or -EINVAL.
 */
int roce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		      u32 port, int index)
{
	if (!port || stats->num_counters != ARRAY_SIZE(descriptions))
		return -EINVAL;

	read_all(to_roce_device(ibdev)->counters, stats);
	return ARRAY_SIZE(descriptions);
}

/**
 * roce_counter_total() - sum of a counter over a device and all its QPs
 * @dev: the device
 * @counter: the counter
 *
 * The core shows the same sum for the device. Process context.
 */
u64 roce_counter_total(struct roce_device *dev, enum roce_counter counter)
{
	u64 total = sum_over_cpus(dev->counters, counter);
	unsigned long index;
	void *entry;

	xa_lock(&dev->qp_counters);
	xa_for_each(&dev->qp_counters, index, entry)
		total += sum_over_cpus(to_counters(entry), counter);
	total += dev->past_qps.value[counter];
	xa_unlock(&dev->qp_counters);
	return total;
}

/**
 * roce_counter_alloc_stats() - the counter_alloc_stats verb
 * @counter: new, of QPs
 *
 * Return: memory for the values, which the core frees, or NULL.
 */
struct rdma_hw_stats *roce_counter_alloc_stats(struct rdma_counter *counter)
{
	return alloc_stats();
}

static struct xarray *counters_of_qps(const struct rdma_counter *counter)
{
	return &to_roce_device(counter->device)->qp_counters;
}

/* Counters of the QPs that are bound to @counter; NULL before the first bind */
static struct roce_counters __percpu *find(const struct rdma_counter *counter)
{
	return to_counters(xa_load(counters_of_qps(counter), counter->id));
}

/**
 * roce_counter_update_stats() - the counter_update_stats verb: read all counters
 * @counter: with at least one QP bound, now or before; locked by the core
 *
 * Takes the lock of the table, because some kernels call roce_counter_dealloc()
 * without the lock of the core.
 *
 * Return: 0.
 */
int roce_counter_update_stats(struct rdma_counter *counter)
{
	struct roce_counters __percpu *counters;

	xa_lock(counters_of_qps(counter));
	counters = find(counter);
	if (counters)
		read_all(counters, counter->stats);
	xa_unlock(counters_of_qps(counter));
	return 0;
}

/*
 * Allocate at the first bind: if a later step of creating a counter fails, the core
 * does not call roce_counter_dealloc(). Allocate IDs cyclically: some kernels use an
 * ID for a while after we have freed it.
 */
static struct roce_counters __percpu *find_or_make(struct rdma_counter *counter)
{
	struct roce_device *dev = to_roce_device(counter->device);
	struct roce_counters __percpu *counters = find(counter);

	if (counters)
		return counters;
	counters = alloc_percpu(struct roce_counters);
	if (!counters)
		return NULL;
	if (xa_alloc_cyclic(&dev->qp_counters, &counter->id,
			    (void *)(__force unsigned long)counters, xa_limit_31b,
			    &dev->next_counter_id, GFP_KERNEL) >= 0)
		return counters;
	counter->id = 0;
	free_percpu(counters);
	return NULL;
}

/**
 * roce_counter_bind_qp() - the counter_bind_qp verb: count a QP separately
 * @counter: its new counter, locked by the core
 * @ibqp: bound to no counter
 *
 * Return: 0 or -ENOMEM.
 */
int roce_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct roce_counters __percpu *counters = find_or_make(counter);

	if (!counters)
		return -ENOMEM;
	WRITE_ONCE(to_roce_qp(ibqp)->counters, counters);
	ibqp->counter = counter;
	return 0;
}

/**
 * roce_counter_unbind_qp() - the counter_unbind_qp verb: count with the device again
 * @ibqp: bound to a counter, which is locked by the core
 *
 * Return: 0.
 */
int roce_counter_unbind_qp(struct ib_qp *ibqp)
{
	struct roce_qp *qp = to_roce_qp(ibqp);

	WRITE_ONCE(qp->counters, qp->dev->counters);
	/* Running sections may still count in the old one. */
	roce_section_wait();
	ibqp->counter = NULL;
	return 0;
}

/**
 * roce_counter_dealloc() - the counter_dealloc verb
 * @counter: without QPs
 *
 * Return: 0.
 */
int roce_counter_dealloc(struct rdma_counter *counter)
{
	struct roce_device *dev = to_roce_device(counter->device);
	struct roce_counters __percpu *counters;
	int i;

	xa_lock(&dev->qp_counters);
	counters = find(counter);
	__xa_erase(&dev->qp_counters, counter->id);
	for (i = 0; i < ROCE_COUNTER_COUNT; i++)
		dev->past_qps.value[i] += sum_over_cpus(counters, i);
	xa_unlock(&dev->qp_counters);
	free_percpu(counters);
	return 0;
}
