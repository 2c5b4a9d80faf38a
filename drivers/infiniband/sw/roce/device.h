/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_DEVICE_H
#define ROCE_DEVICE_H

#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "congestion.h"
#include "counters.h"

struct roce_av;
struct roce_egress;
struct roce_qp;
struct roce_train;

/* Counters of performance management */
#define ROCE_PORT_COUNTERS	13

/* What a device goes through; see devices.c */
enum roce_device_state {
	ROCE_DEVICE_NEW,	/* not registered yet */
	ROCE_DEVICE_REFUSED,	/* neither, and its netdev goes */
	ROCE_DEVICE_LIVE,
	ROCE_DEVICE_LEAVING,	/* its netdev goes */
	ROCE_DEVICE_DEAD,	/* unregistered; only its memory is left */
};

/**
 * struct roce_device - an ib_device on top of a netdev
 * @ibdev: what the RDMA core knows of it
 * @netdev: the netdev below, held until the device is dead
 * @netdev_tracker: of that reference
 * @net: namespace of @netdev; a netdev that moves takes its device down first
 * @parent: of @ibdev in sysfs, made for it alone; see parent.c
 * @parent_net: its folder net/
 * @parent_number: of its name
 * @netdev_name: of the link in @parent_net
 * @node: in the list of devices, see devices.c
 * @rescan: looks for new addresses of @netdev, see addresses.c
 * @state: guarded by the lock of that list
 * @port_state: what consumers were told last
 * @keys: memory regions and windows by the upper 24 bits of their key
 * @address_vectors: of user space address handles, by ah_num, which is never 0
 * @next_ah_number: where the search for a free one begins
 * @gsi_qp: QP 1, once ib_mad has created it
 * @counters: per CPU, see counters.h
 * @qp_counters: those that QPs are bound to, by the id of their rdma_counter, which
 *	is never 0
 * @next_counter_id: where the search for a free one begins
 * @past_qps: the sum of those that are no more; guarded by the lock of the others
 * @port_counters: what performance management counts from, see pma.c
 * @congestion: congestion control, see congestion.h
 * @egress: per CPU, what is in the queues of this host, see egress.c
 * @reordering_us: microseconds that a packet may be late at most before it is taken
 *	for lost; 0: packets that come early are dropped; see reorder.c
 * @loss_recovery: of &enum roce_loss_recovery: whether packets that come early are kept,
 *	and whether peers are offered selective acknowledgments
 * @early_bytes: of memory that packets take which came early
 * @send: hands a train to the network: roce_send(), or a test's wire
 * @objects: how many of each kind exist, bounded by the ROCE_MAX_* above
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
	atomic_long_t early_bytes;
	int (*send)(struct roce_qp *qp, struct roce_av *av,
		    struct roce_train *train);
	struct {
		atomic_t pd, cq, qp, mr, mw, ah, srq, attachment;
	} objects;
};

static inline struct roce_device *to_roce_device(struct ib_device *ibdev)
{
	return container_of(ibdev, struct roce_device, ibdev);
}

/**
 * struct roce_ucontext - a program that has opened the device
 * @ibuc: what the RDMA core knows of it
 * @ring_bytes: of the rings that it shares with us, see ring.c
 */
struct roce_ucontext {
	struct ib_ucontext ibuc;
	atomic64_t ring_bytes;
};

struct roce_pd {
	struct ib_pd ibpd;
};

static inline struct roce_pd *to_roce_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct roce_pd, ibpd);
}

/**
 * roce_object_get() - count an object in before it is made
 * @count: of &roce_device.objects
 * @limit: the ROCE_MAX_* of it
 *
 * Return: false if there are as many already.
 */
static inline bool roce_object_get(atomic_t *count, int limit)
{
	return atomic_add_unless(count, 1, limit);
}

static inline void roce_object_put(atomic_t *count)
{
	atomic_dec(count);
}

/* device.c */
int roce_device_add(const char *name, struct net_device *netdev);
void roce_device_free(struct ib_device *ibdev);
int roce_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		      struct ib_udata *udata);
int roce_modify_device(struct ib_device *ibdev, int mask,
		       struct ib_device_modify *modify);

/* devices.c */
int roce_devices_insert(struct roce_device *dev);
int roce_devices_publish(struct roce_device *dev);
void roce_devices_bury(struct roce_device *dev);
void roce_devices_remove(struct roce_device *dev);
struct roce_device *
roce_devices_find_by_address(struct net *net, struct net_device *netdev,
			     const struct in6_addr *address);
struct roce_device *
roce_devices_find_by_netdev(const struct net_device *netdev);
int roce_devices_init(void);
void roce_devices_exit(void);

/* port.c */
/* Where a device has an address, seen from the netdev that a packet came in through */
enum roce_port_place {
	ROCE_PORT_NOWHERE,
	ROCE_PORT_ELSEWHERE,	/* on another netdev of the same VRF */
	ROCE_PORT_HERE,
};

enum ib_mtu roce_port_active_mtu(const struct roce_device *dev);
enum ib_port_state roce_port_state(const struct net_device *netdev);
void roce_port_event(struct roce_device *dev);
enum roce_port_place roce_port_find_address(struct roce_device *dev,
					    struct net_device *netdev,
					    const struct in6_addr *address);
u16 roce_port_vlan_id(struct roce_device *dev, struct net_device *netdev,
		      const struct in6_addr *address);
struct net_device *roce_get_netdev(struct ib_device *ibdev, u32 port);
int roce_query_port(struct ib_device *ibdev, u32 port,
		    struct ib_port_attr *attr);

/* addresses.c */
__be64 roce_guid_of(const struct net_device *netdev);
void roce_addresses_rescan(struct work_struct *work);
int roce_addresses_init(void);
void roce_addresses_exit(void);

/* parent.c */
int roce_parent_create(struct roce_device *dev);
void roce_parent_rename(struct roce_device *dev);
void roce_parent_destroy(struct roce_device *dev);
int roce_parent_init(void);
void roce_parent_exit(void);

/* pd.c */
int roce_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata);
void roce_dealloc_ucontext(struct ib_ucontext *context);
void roce_disassociate_ucontext(struct ib_ucontext *context);
int roce_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int roce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

/* restrack.c */
int roce_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int roce_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int roce_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

/* pma.c */
int roce_process_mad(struct ib_device *ibdev, int flags, u32 port,
		     const struct ib_wc *wc, const struct ib_grh *grh,
		     const struct ib_mad *in, struct ib_mad *out, size_t *size,
		     u16 *pkey_index);

/* sysfs.c */
extern const struct attribute_group roce_device_group;

/* verbs.c */
extern const struct ib_device_ops roce_device_ops;

#endif /* ROCE_DEVICE_H */
