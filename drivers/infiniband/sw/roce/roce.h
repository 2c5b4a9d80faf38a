/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_H
#define ROCE_H

#include <linux/netdevice.h>
#include <linux/xarray.h>
#include <net/dst_cache.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "compat.h"
#include "congestion.h"
#include "counters.h"
#include "egress.h"
#include "engine.h"
#include "mr.h"
#include "mw.h"
#include "ring.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"

#define ROCE_VERSION		"0.1.0"
#define ROCE_VENDOR_ID		0xffffff	/* nobody's: there is no card */

/* Limits of a device; what user space may ask for is bounded by them. */
#define ROCE_MAX_QP		0x10000
#define ROCE_MAX_CQ		0x10000
#define ROCE_MAX_MR		0x40000
#define ROCE_MAX_MW		0x40000
#define ROCE_MAX_PD		0x8000
#define ROCE_MAX_AH		0x10000
#define ROCE_MAX_SRQ		0x8000
#define ROCE_MAX_ATTACHMENTS	0x2000	/* of QPs to multicast groups */
#define ROCE_MAX_GROUP_QPS	0x100	/* attached to the same one */
#define ROCE_MAX_QP_WR		0x3fff
#define ROCE_MAX_SRQ_WR		0x3fff
#define ROCE_MAX_CQE		0xfffff
#define ROCE_MAX_SGE		32
#define ROCE_MAX_INLINE		(ROCE_MAX_SGE * sizeof(struct ib_sge))
#define ROCE_MAX_RD_ATOMIC	128
#define ROCE_MAX_MESSAGE	0x80000000u
#define ROCE_MAX_MR_SIZE	BIT_ULL(39)	/* of 4 KiB pages kvmalloc() has room for */
#define ROCE_MAX_FAST_PAGES	512
#define ROCE_GID_TABLE_LENGTH	256

/* Counters of performance management */
#define ROCE_PORT_COUNTERS	13

struct roce_qp;
struct roce_av;
struct roce_train;

/* What a device goes through; see main.c */
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
 * @netdev: the Ethernet device below, held until the device is dead
 * @netdev_tracker: of that reference
 * @net: namespace of @netdev; a netdev that moves takes its device down first
 * @parent: of @ibdev, made for it alone; see parent.c
 * @parent_net: its folder net/
 * @parent_number: of its name
 * @netdev_name: of the link in @parent_net
 * @node: in the list of devices, see main.c
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

struct roce_ucontext {
	struct ib_ucontext ibuc;
};

struct roce_pd {
	struct ib_pd ibpd;
};

static inline struct roce_pd *to_roce_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct roce_pd, ibpd);
}

/**
 * struct roce_av - address vector: all that is needed to reach a peer
 * @pd: protection domain of the address handle, to be the QP's
 * @sgid_attr: our address
 * @interface: index of the netdev (of a VLAN perhaps) that had it when this was
 *	made: packets leave through that one or not at all
 * @source: our address, IPv4 as ::ffff:a.b.c.d
 * @destination: the peer's, likewise
 * @ipv6: which of the two
 * @traffic_class: DSCP and ECN bits of the packets
 * @hop_limit: TTL or hop limit
 * @priority: of the sk_buffs
 * @flow_label: of IPv6, and entropy of the UDP source port
 * @route: the route, as long as it is valid
 * @attr: as the consumer gave it, for query verbs; holds no reference
 * @rcu: address vectors of handles are found under RCU
 */
struct roce_av {
	struct ib_pd *pd;
	const struct ib_gid_attr *sgid_attr;
	int interface;
	struct in6_addr source;
	struct in6_addr destination;
	bool ipv6;
	u8 traffic_class;
	u8 hop_limit;
	u8 priority;
	u32 flow_label;
	struct dst_cache route;
	struct rdma_ah_attr attr;
	struct rcu_head rcu;
};

int roce_av_init(struct roce_av *av, const struct rdma_ah_attr *attr);
void roce_av_release(struct roce_av *av);

struct roce_ah {
	struct ib_ah ibah;
	struct roce_av *av;
	u32 number;		/* that user space puts into its work requests, or 0 */
};

static inline struct roce_ah *to_roce_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct roce_ah, ibah);
}

/**
 * struct roce_cq - completion queue
 * @ibcq: what the RDMA core knows of it
 * @resize_lock: only its holder exchanges @ring
 * @lock: guards all that follows
 * @ring: of ib_uverbs_wc for a user program, of ib_wc for the kernel
 * @notify: IB_CQ_NEXT_COMP or IB_CQ_SOLICITED while armed, else 0
 * @overflowed: a completion was lost; nothing is added any more
 * @handler: calls the completion handler, outside of every lock of ours
 */
struct roce_cq {
	struct ib_cq ibcq;
	struct mutex resize_lock; /* of exchanges of the ring */
	spinlock_t lock; /* of the rest */
	struct roce_ring ring;
	enum ib_cq_notify_flags notify;
	bool overflowed;
	struct roce_bh handler;
};

static inline struct roce_cq *to_roce_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct roce_cq, ibcq);
}

bool roce_cq_post(struct roce_cq *cq, const struct ib_wc *wc, bool solicited);

/**
 * struct roce_receive - a receive work request, copied out of its ring
 * @wr_id: the consumer's
 * @valid: whether it may be written to; a program can post anything
 * @length: bytes of all @sge
 * @sges: how many
 * @sge: where the message goes
 */
struct roce_receive {
	u64 wr_id;
	bool valid;
	u32 length;
	u32 sges;
	struct ib_sge sge[];
};

/**
 * struct roce_srq - shared receive queue
 * @ibsrq: what the RDMA core knows of it
 * @modify_lock: only its holder exchanges @ring
 * @lock: guards all that follows
 * @ring: of receives, which QPs on any CPU take
 * @max_sges: of a receive
 * @limit: the consumer is told, once, when less receives than this are left; 0
 *	if it need not be
 */
struct roce_srq {
	struct ib_srq ibsrq;
	struct mutex modify_lock; /* of exchanges of the ring */
	spinlock_t lock; /* of the rest */
	struct roce_ring ring;
	u32 max_sges;
	u32 limit;
};

static inline struct roce_srq *to_roce_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct roce_srq, ibsrq);
}

bool roce_srq_fetch(struct roce_srq *srq, struct roce_receive *receive);

/* send.c */
int roce_send(struct roce_qp *qp, struct roce_av *av, struct roce_train *train);
u16 roce_udp_source_port(const struct roce_av *av, u32 local_qpn, u32 remote_qpn);

/* recv.c */
void roce_receive_run(struct roce_qp *qp, struct roce_engine *engine,
		      struct sk_buff *skb);
void roce_receive(struct net *net, struct sk_buff *skb);
void roce_received_addresses(const struct sk_buff *skb, struct in6_addr *source,
			     struct in6_addr *destination);
int roce_receive_open(struct net *net);
void roce_receive_close(struct net *net);
int roce_receive_init(void);
void roce_receive_exit(void);

/* mcast.c */
void roce_mcast_receive(struct net *net, struct net_device *netdev,
			struct sk_buff *skb);
int roce_mcast_init(void);
void roce_mcast_exit(void);

/* device.c */
int roce_device_add(const char *name, struct net_device *netdev);
void roce_device_free(struct ib_device *ibdev);
int roce_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		      struct ib_udata *udata);
enum ib_mtu roce_active_mtu(const struct roce_device *dev);
int roce_query_port(struct ib_device *ibdev, u32 port,
		    struct ib_port_attr *attr);
struct net_device *roce_get_netdev(struct ib_device *ibdev, u32 port);
void roce_device_port_event(struct roce_device *dev);
bool roce_device_has_address(struct roce_device *dev, const struct in6_addr *address);

/* parent.c */
int roce_parent_create(struct roce_device *dev);
void roce_parent_rename(struct roce_device *dev);
void roce_parent_destroy(struct roce_device *dev);

/* verbs.c */
extern const struct ib_device_ops roce_device_ops;

/* restrack.c */
int roce_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int roce_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int roce_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

/* sysfs.c */
extern const struct attribute_group roce_device_group;

/* pma.c */
int roce_process_mad(struct ib_device *ibdev, int flags, u32 port,
		     const struct ib_wc *wc, const struct ib_grh *grh,
		     const struct ib_mad *in, struct ib_mad *out, size_t *size,
		     u16 *pkey_index);

/* main.c: the list of devices */
int roce_devices_insert(struct roce_device *dev);
int roce_devices_publish(struct roce_device *dev);
void roce_devices_bury(struct roce_device *dev);
void roce_devices_remove(struct roce_device *dev);
struct roce_device *roce_device_find_by_address(struct net *net,
						const struct in6_addr *address);

/*
 * pd.c, ah.c, cq.c, srq.c, qp.c, receive_queue.c, mcast.c: the verbs, see the table
 * in verbs.c
 */
int roce_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata);
void roce_dealloc_ucontext(struct ib_ucontext *context);
void roce_disassociate_ucontext(struct ib_ucontext *context);
int roce_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int roce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int roce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		   struct ib_udata *udata);
int roce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int roce_destroy_ah(struct ib_ah *ibah, u32 flags);
int roce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct ib_udata *udata);
int roce_resize_cq(struct ib_cq *ibcq, unsigned int entries,
		   struct ib_udata *udata);
int roce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int roce_poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc);
int roce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
int roce_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		    struct ib_udata *udata);
int roce_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		    enum ib_srq_attr_mask mask, struct ib_udata *udata);
int roce_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int roce_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int roce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);
int roce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		   struct ib_udata *udata);
int roce_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata);
int roce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
int roce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int roce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);
int roce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);
int roce_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int roce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

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

#endif /* ROCE_H */
