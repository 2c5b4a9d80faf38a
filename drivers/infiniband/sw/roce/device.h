/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_DEVICE_H
#define ROCE_DEVICE_H

#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "congestion.h"
#include "counters.h"

struct roce_egress;
struct roce_qp;

/* Counters of performance management */
#define ROCE_PORT_COUNTERS	13

/* The life of a device, see devices.c */
enum roce_device_state {
	ROCE_DEVICE_NEW,	/* not registered yet */
	ROCE_DEVICE_REFUSED,	/* not registered yet, but its netdev is going */
	ROCE_DEVICE_LIVE,
	ROCE_DEVICE_LEAVING,	/* its netdev is going */
	ROCE_DEVICE_DEAD,	/* unregistered; only its memory remains */
};

/**
 * struct roce_device - an ib_device on top of a netdev
 * @ibdev: the core's part
 * @netdev: the netdev below, held until the device is dead
 * @netdev_tracker: of that reference
 * @net: namespace of @netdev; a netdev that moves takes its device down first
 * @parent: of @ibdev in sysfs, one for each device; see parent.c
 * @parent_net: its folder net/
 * @parent_number: number in the name of @parent
 * @netdev_name: name of the link in @parent_net
 * @node: in the list of devices, see devices.c
 * @rescan: looks for new addresses of @netdev, see addresses.c
 * @take_speed: takes over the speed of @netdev, see devices.c
 * @state: guarded by the lock of the list of devices
 * @port_state: the state that consumers were told last
 * @keys: memory regions and windows by the upper 24 bits of their key
 * @address_vectors: of user space address handles, by ah_num, which is never 0
 * @next_ah_number: start of the search for a free number
 * @gsi_qp: QP 1, once ib_mad has created it
 * @counters: per CPU, see counters.h
 * @qp_counters: counters that QPs are bound to, by the ID of their rdma_counter, which
 *	is never 0
 * @next_counter_id: start of the search for a free ID
 * @past_qps: sum of the counters of @qp_counters that are gone; guarded by the lock of
 *	@qp_counters
 * @port_counters: base values for performance management, see pma.c
 * @congestion: congestion control, see congestion.h
 * @egress: per CPU, packets in the queues of this host, see egress.c
 * @reordering_us: longest time in microseconds that a packet may be late before it is
 *	taken for lost; 0: packets that come early are dropped; see reorder.c
 * @loss_recovery: &enum roce_loss_recovery: whether packets that come early are kept,
 *	and whether peers are offered selective acknowledgments
 * @paths: number of paths that a QP spreads its packets over, see path.c
 * @early_bytes: memory of the packets that came early and are kept, bytes
 * @objects: number of objects of each kind, limited by the ROCE_MAX_* of roce.h
 */
struct roce_device {
	struct ib_device ibdev;
	struct net_device *netdev;
	netdevice_tracker netdev_tracker;
	struct net *net;
	struct device *parent;
	struct kobject *parent_net;
	int parent_number;
	char netdev_name[IFNAMSIZ];
	struct hlist_node node;
	struct work_struct rescan;
	struct work_struct take_speed;
	enum roce_device_state state;
	enum ib_port_state port_state;
	struct rhashtable keys;
	struct xarray address_vectors;
	u32 next_ah_number;
	struct roce_qp __rcu *gsi_qp;
	struct roce_counters __percpu *counters;
	struct xarray qp_counters;
	u32 next_counter_id;
	struct roce_counters past_qps;
	struct {
		struct mutex lock;	/* of base */
		u64 base[ROCE_PORT_COUNTERS];
	} port_counters;
	struct roce_congestion congestion;
	struct roce_egress __percpu *egress;
	u32 reordering_us;
	u8 loss_recovery;
	u8 paths;
	atomic_long_t early_bytes;
	struct {
		atomic_t pd, cq, qp, mr, mw, ah, srq, attachment;
	} objects;
};

static inline struct roce_device *to_roce_device(struct ib_device *ibdev)
{
	return container_of(ibdev, struct roce_device, ibdev);
}

/**
 * roce_object_get() - count an object before it is created
 * @count: of &roce_device.objects
 * @limit: its ROCE_MAX_*
 *
 * Return: false if the limit is reached.
 */
static inline bool roce_object_get(atomic_t *count, int limit)
{
	return atomic_add_unless(count, 1, limit);
}

static inline void roce_object_put(atomic_t *count)
{
	atomic_dec(count);
}

int roce_device_add(const char *name, struct net_device *netdev);
void roce_device_free(struct ib_device *ibdev);
int roce_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		      struct ib_udata *udata);
int roce_modify_device(struct ib_device *ibdev, int mask,
		       struct ib_device_modify *modify);

#endif /* ROCE_DEVICE_H */
