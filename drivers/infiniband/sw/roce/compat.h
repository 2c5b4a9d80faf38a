/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_COMPAT_H
#define ROCE_COMPAT_H

/*
 * Every difference between the supported kernels, except for the signatures of verbs,
 * which are in compat_verbs.h, and CRC-32, which is in compat_crc32.h. Kbuild defines
 * the ROCE_HAVE_* symbols. It looks into the headers, because distributions backport.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/timer.h>
#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#ifdef ROCE_HAVE_NET_RPS
#include <net/rps.h>
#endif
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>
#ifdef ROCE_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/*
 * With PREEMPT_RT, code that has disabled BH may be preempted by other such code on its
 * CPU, unless the kernel is older, or configured otherwise. The state of a CPU has no
 * other guard in this driver.
 */
#ifdef ROCE_HAVE_PREEMPTED_BH
#define ROCE_COMPAT_BH_IS_PREEMPTED	true
#else
#define ROCE_COMPAT_BH_IS_PREEMPTED	false
#endif

/**
 * struct roce_bh - work in softirq context, which never runs twice at a time
 * @function: the work
 * @work: on system_bh_wq, in newer kernels
 * @tasklet: in older kernels
 */
struct roce_bh {
	void (*function)(struct roce_bh *bh);
#ifdef ROCE_HAVE_BH_WORKQUEUE
	struct work_struct work;
#else
	struct tasklet_struct tasklet;
#endif
};

#ifdef ROCE_HAVE_BH_WORKQUEUE
static inline void roce_bh_run(struct work_struct *work)
{
	struct roce_bh *bh = container_of(work, struct roce_bh, work);

	bh->function(bh);
}
#else
static inline void roce_bh_run(struct tasklet_struct *tasklet)
{
	struct roce_bh *bh = container_of(tasklet, struct roce_bh, tasklet);

	bh->function(bh);
}
#endif

static inline void roce_bh_init(struct roce_bh *bh,
				void (*function)(struct roce_bh *bh))
{
	bh->function = function;
#ifdef ROCE_HAVE_BH_WORKQUEUE
	INIT_WORK(&bh->work, roce_bh_run);
#else
	tasklet_setup(&bh->tasklet, roce_bh_run);
#endif
}

/* Any context, even with interrupts off. */
static inline void roce_bh_schedule(struct roce_bh *bh)
{
#ifdef ROCE_HAVE_BH_WORKQUEUE
	queue_work(system_bh_wq, &bh->work);
#else
	tasklet_schedule(&bh->tasklet);
#endif
}

/*
 * As roce_bh_schedule(), but the work runs before the receive softirq that is pending.
 * Work is scheduled either so or so, not both.
 */
static inline void roce_bh_schedule_first(struct roce_bh *bh)
{
#ifdef ROCE_HAVE_BH_WORKQUEUE
	queue_work(system_bh_highpri_wq, &bh->work);
#else
	tasklet_hi_schedule(&bh->tasklet);
#endif
}

/* Process context. The caller prevents that it is scheduled meanwhile. */
static inline void roce_bh_cancel(struct roce_bh *bh)
{
#ifdef ROCE_HAVE_BH_WORKQUEUE
	cancel_work_sync(&bh->work);
#else
	tasklet_kill(&bh->tasklet);
#endif
}

/*
 * Process context. Waits until scheduled work has run. flush_work() does not know that this
 * needs no memory, and warns in a workqueue that must make progress without.
 */
static inline void roce_bh_flush(struct roce_bh *bh)
{
#ifdef ROCE_HAVE_BH_WORKQUEUE
	while (work_busy(&bh->work))
		usleep_range(50, 100);
#else
	while (test_bit(TASKLET_STATE_SCHED, &bh->tasklet.state))
		usleep_range(50, 100);
	tasklet_unlock_wait(&bh->tasklet);
#endif
}

#ifndef ROCE_HAVE_TIMER_CONTAINER_OF
#define timer_container_of(var, timer, field) from_timer(var, timer, field)
#endif

#ifndef ROCE_HAVE_TIMER_DELETE_SYNC
#define timer_delete_sync(timer) del_timer_sync(timer)
#endif

#ifndef ROCE_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#ifndef ROCE_HAVE_FRAGS_READABLE
static inline bool skb_frags_readable(const struct sk_buff *skb)
{
	return true;
}
#endif

/*
 * All segments have the identification of the datagram. In a tunnel the header of the
 * datagram becomes the inner one.
 */
#ifdef ROCE_HAVE_FIXEDID_INNER
#define ROCE_COMPAT_GSO_FIXED_ID	(SKB_GSO_TCP_FIXEDID | SKB_GSO_TCP_FIXEDID_INNER)
#else
#define ROCE_COMPAT_GSO_FIXED_ID	SKB_GSO_TCP_FIXEDID
#endif

/*
 * FLUSH and ATOMIC WRITE have the numbers of the user ABI of newer kernels. FLUSH needs
 * access flags that the core of older kernels refuses, so it is not offered there.
 */
#ifdef ROCE_HAVE_FLUSH
#define ROCE_COMPAT_HAS_FLUSH		true
#else
#define ROCE_COMPAT_HAS_FLUSH		false
#define IB_WR_FLUSH			14
#define IB_WR_ATOMIC_WRITE		15
#define IB_WC_FLUSH			8
#define IB_WC_ATOMIC_WRITE		9
#define IB_ACCESS_FLUSH_GLOBAL		BIT(8)
#define IB_ACCESS_FLUSH_PERSISTENT	BIT(9)
#define IB_DEVICE_FLUSH_GLOBAL		0
#define IB_DEVICE_ATOMIC_WRITE		BIT_ULL(40)
#endif

/**
 * struct roce_flush_wr - wr.flush of struct rxe_send_wr in newer kernels
 * @remote_address: of the first byte
 * @reserved: the length, which is elsewhere, too
 * @rkey: of the region
 * @placement: ROCE_FLUSH_GLOBAL, ROCE_FLUSH_PERSISTENT
 * @selectivity: ROCE_FLUSH_RANGE or ROCE_FLUSH_REGION, shifted
 */
struct roce_flush_wr {
	u64 remote_address;
	u32 reserved;
	u32 rkey;
	u8 placement;
	u8 selectivity;
};

static inline const struct roce_flush_wr *
roce_flush_wr(const struct rxe_send_wr *wr)
{
	return (const struct roce_flush_wr *)&wr->wr;
}

/* The user ABI is the same for all kernels, but older headers lack what librxe added. */
#ifdef ROCE_HAVE_AH_NUMBER
static inline u32 roce_compat_ah_number(const struct rxe_send_wr *wr)
{
	return wr->wr.ud.ah_num;
}
#else
struct rxe_create_ah_resp {
	u32 ah_num;
	u32 reserved;
};

/**
 * struct roce_ud_wr - wr.ud of struct rxe_send_wr in newer kernels
 * @remote_qpn: of the destination
 * @remote_qkey: of the destination
 * @pkey_index: unused
 * @reserved: unused
 * @ah_num: number of the address vector
 */
struct roce_ud_wr {
	u32 remote_qpn;
	u32 remote_qkey;
	u16 pkey_index;
	u16 reserved;
	u32 ah_num;
};

static inline u32 roce_compat_ah_number(const struct rxe_send_wr *wr)
{
	return ((const struct roce_ud_wr *)&wr->wr)->ah_num;
}
#endif

/* @time: CLOCK_MONOTONIC nanoseconds; the qdisc fq does not send the sk_buff earlier. */
static inline void roce_compat_set_departure(struct sk_buff *skb, u64 time)
{
#if defined(ROCE_HAVE_SKB_CLOCK)
	skb_set_delivery_time(skb, ns_to_ktime(time), SKB_CLOCK_MONOTONIC);
#elif defined(ROCE_HAVE_DELIVERY_TIME)
	skb_set_delivery_time(skb, ns_to_ktime(time), true);
#else
	skb->tstamp = ns_to_ktime(time);
#endif
}

#ifndef ROCE_HAVE_GET_UDP_SPORT
static inline u16 rdma_get_udp_sport(u32 flow_label, u32 local_qpn, u32 remote_qpn)
{
	return rdma_flow_label_to_udp_sport(flow_label ?:
					    rdma_calc_flow_label(local_qpn, remote_qpn));
}
#endif

/* In older kernels programs see these capabilities, too. */
static inline void roce_compat_set_kernel_caps(struct ib_device_attr *attr)
{
#ifdef ROCE_HAVE_KERNEL_CAPS
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG | IBK_SG_GAPS_REG;
#else
	attr->device_cap_flags |= IB_DEVICE_ALLOW_USER_UNREG | IB_DEVICE_SG_GAPS_REG;
#endif
}

static inline void roce_compat_set_odp_cap(struct ib_device_attr *attr)
{
#ifdef ROCE_HAVE_KERNEL_CAPS
	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
#else
	attr->device_cap_flags |= IB_DEVICE_ON_DEMAND_PAGING;
#endif
}

/* The numbers of the user ABI of newer kernels */
#ifndef ROCE_HAVE_ODP_FLUSH
#define IB_ODP_SUPPORT_FLUSH		BIT(6)
#define IB_ODP_SUPPORT_ATOMIC_WRITE	BIT(7)
#endif

/*
 * Older kernels know the names of counters only, as a list. The core frees the values,
 * so the list lies behind them.
 */
#ifndef ROCE_HAVE_STAT_DESC
struct rdma_stat_desc {
	const char *name;
	const void *priv;
};

static inline struct rdma_hw_stats *
roce_compat_alloc_stats(const struct rdma_stat_desc *descriptions, int count,
			unsigned long lifespan)
{
	struct rdma_hw_stats *stats;
	const char **names;
	int i;

	stats = kzalloc(struct_size(stats, value, count) + count * sizeof(*names),
			GFP_KERNEL);
	if (!stats)
		return NULL;
	names = (const char **)(stats->value + count);
	for (i = 0; i < count; i++)
		names[i] = descriptions[i].name;
	stats->names = names;
	stats->num_counters = count;
	stats->lifespan = msecs_to_jiffies(lifespan);
	return stats;
}

#define rdma_alloc_hw_stats_struct(descriptions, count, lifespan) \
	roce_compat_alloc_stats(descriptions, count, lifespan)
#endif

/* Older kernels count the references of a netdev, but do not track who has them. */
#ifndef ROCE_HAVE_NETDEV_HOLD
struct roce_no_tracker {
};

#define netdevice_tracker	struct roce_no_tracker

static inline void netdev_hold(struct net_device *netdev,
			       netdevice_tracker *tracker, gfp_t gfp)
{
	dev_hold(netdev);
}

static inline void netdev_put(struct net_device *netdev, netdevice_tracker *tracker)
{
	dev_put(netdev);
}
#endif

/* In older kernels the state is a bit field, of which there is no pointer. */
#ifdef ROCE_HAVE_REG_STATE_BYTE
#define roce_compat_reg_state(netdev)	READ_ONCE((netdev)->reg_state)
#else
#define roce_compat_reg_state(netdev)	((netdev)->reg_state)
#endif

/* Older kernels do not promise to leave the type alone, but do so. */
#ifndef ROCE_HAVE_CONST_KOBJ_TYPE
#define kobject_init(kobj, type)	kobject_init(kobj, (void *)(type))
#endif

#ifndef ROCE_HAVE_IOSYS_MAP
#define iosys_map			dma_buf_map
#define iosys_map_clear			dma_buf_map_clear
#endif

#ifdef ROCE_HAVE_QUOTED_NAMESPACES
#define ROCE_COMPAT_DMA_BUF_NAMESPACE	"DMA_BUF"
#else
#define ROCE_COMPAT_DMA_BUF_NAMESPACE	DMA_BUF
#endif

/* In older kernels the mapping of a dma-buf has a lock of its own. */
#ifdef ROCE_HAVE_VMAP_UNLOCKED
#define roce_compat_lock_vmap(buffer)	dma_resv_lock((buffer)->resv, NULL)
#define roce_compat_unlock_vmap(buffer)	dma_resv_unlock((buffer)->resv)
#else
#define roce_compat_lock_vmap(buffer)	mutex_lock(&(buffer)->lock)
#define roce_compat_unlock_vmap(buffer)	mutex_unlock(&(buffer)->lock)
#define dma_buf_vunmap_unlocked(buffer, map)	dma_buf_vunmap(buffer, map)
#endif

/*
 * A pinned dma-buf does not move. Older kernels demand a callback for moves nevertheless,
 * but do not call it while the buffer is pinned.
 */
#ifdef ROCE_HAVE_INVALIDATE_MAPPINGS
#define ROCE_COMPAT_DMA_BUF_MOVE_NOTIFY
#else
struct dma_buf_attachment;

static inline void roce_compat_move_notify(struct dma_buf_attachment *attachment)
{
}

#define ROCE_COMPAT_DMA_BUF_MOVE_NOTIFY	.move_notify = roce_compat_move_notify,
#endif

#ifdef ROCE_HAVE_UMEM_GET_VA
#define ib_umem_get(ibdev, address, size, access) \
	ib_umem_get_va(ibdev, address, size, access)
#endif

/* Older kernels do not tell udev who chose the name of a device. */
#ifndef ROCE_HAVE_NAME_ASSIGN_TYPE
static inline void ib_mark_name_assigned_by_user(struct ib_device *ibdev)
{
}
#endif

/*
 * A device belongs to the namespace that it was created in, if the RDMA subsystem
 * separates namespaces, else to init_net and is visible in all of them. Older kernels
 * always put it into init_net.
 */
#ifdef ROCE_HAVE_ALLOC_WITH_NET
#define roce_compat_alloc_device(type, member, net) \
	ib_alloc_device_with_net(type, member, net)
static inline void roce_compat_set_net(struct ib_device *ibdev, struct net *net)
{
}
#else
#define roce_compat_alloc_device(type, member, net) \
	((void)(net), ib_alloc_device(type, member))
static inline void roce_compat_set_net(struct ib_device *ibdev, struct net *net)
{
	if (!rdma_dev_access_netns(ibdev, net))
		write_pnet(&ibdev->coredev.rdma_net, net);
}
#endif

/* Parameters of add_dev of a class interface */
#ifdef ROCE_HAVE_ADD_DEV_INTERFACE
#define ROCE_COMPAT_ADD_DEV_PARAMETERS \
	struct device *device, struct class_interface *interface
#else
#define ROCE_COMPAT_ADD_DEV_PARAMETERS	struct device *device
#endif

#ifdef ROCE_HAVE_TUNNEL_SETUP_SOCK
#define roce_compat_setup_tunnel(net, socket, config) \
	setup_udp_tunnel_sock(net, (socket)->sk, config)
#else
#define roce_compat_setup_tunnel(net, socket, config) \
	setup_udp_tunnel_sock(net, socket, config)
#endif

#ifdef ROCE_HAVE_TUNNEL_RELEASE_SOCK
#define roce_compat_release_tunnel(socket) \
	udp_tunnel_sock_release((socket)->sk)
#else
#define roce_compat_release_tunnel(socket) \
	udp_tunnel_sock_release(socket)
#endif

#endif /* ROCE_COMPAT_H */
