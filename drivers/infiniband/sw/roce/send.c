// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sends trains through IP: finds a route, and then the datagram takes the way of all
 * datagrams, through netfilter, neighbour and qdisc.
 */
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <net/sch_generic.h>
#include <net/udp.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "compat.h"
#include "counters.h"
#include "egress.h"
#include "roce_wire.h"
#include "send.h"
#include "trace.h"
#include "train.h"

/**
 * roce_udp_source_port() - the UDP source port of a flow
 * @av: path to the peer
 * @local_qpn: our QPN
 * @remote_qpn: the peer's QPN
 *
 * Return: UDP source port, host byte order (annex A17.9.2 of the IBA
 * specification): from the flow label if there is one, else from the QPNs.
 */
u16 roce_udp_source_port(const struct roce_av *av, u32 local_qpn, u32 remote_qpn)
{
	return rdma_get_udp_sport(av->flow_label, local_qpn, remote_qpn);
}

/*
 * Traffic from an address goes through its netdev. Traffic to ourselves goes through lo,
 * which is 0, or through the VRF of the netdev.
 */
static int output_interface(const struct net_device *netdev, bool peer_is_local)
{
	return peer_is_local ? l3mdev_master_ifindex_rcu(netdev) : netdev->ifindex;
}

/*
 * One route for all CPUs: a table for each QP would be most of an idle QP's memory. No
 * references are taken, since their count would move between CPUs with each train: a
 * replaced route is released after running RCU read sections.
 */
static void remember_route(struct roce_av *av, struct dst_entry *dst, u32 cookie)
{
	WRITE_ONCE(av->route_cookie, cookie);
	dst_release(unrcu_pointer(xchg(&av->route, RCU_INITIALIZER(dst))));
}

static struct dst_entry *remembered_route(const struct roce_av *av)
{
	struct dst_entry *dst = rcu_dereference(av->route);

	if (dst && READ_ONCE(dst->obsolete) &&
	    !dst->ops->check(dst, READ_ONCE(av->route_cookie)))
		return NULL;
	return dst;
}

static struct dst_entry *route_ipv4(struct net *net, struct roce_av *av,
				    const struct net_device *netdev)
{
	__be32 daddr = av->destination.s6_addr32[3];
	bool local = inet_addr_type_dev_table(net, netdev, daddr) == RTN_LOCAL;
	struct flowi4 flow = {
		.flowi4_oif = output_interface(netdev, local),
		.flowi4_proto = IPPROTO_UDP,
		.saddr = av->source.s6_addr32[3],
		.daddr = daddr,
		.fl4_dport = htons(ROCE_UDP_PORT),
	};
	struct rtable *route;

	route = ip_route_output_key(net, &flow);
	if (IS_ERR(route))
		return ERR_CAST(route);
	remember_route(av, &route->dst, 0);
	return &route->dst;
}

/*
 * For IPv6 the interface is only a preference, unless flags say otherwise. But with these
 * flags it would not see routes that forbid a destination: these lead to lo.
 */
static bool goes_elsewhere(const struct dst_entry *dst, const struct flowi6 *flow)
{
	return !dst->error && flow->flowi6_oif &&
	       dst->dev->ifindex != flow->flowi6_oif &&
	       !(dst->dev->flags & IFF_LOOPBACK);
}

static struct dst_entry *route_ipv6(struct net *net, struct roce_av *av,
				    const struct net_device *netdev)
{
	bool local = ipv6_chk_addr(net, &av->destination, netdev, 0);
	struct flowi6 flow = {
		.flowi6_oif = output_interface(netdev, local),
		.flowi6_proto = IPPROTO_UDP,
		.saddr = av->source,
		.daddr = av->destination,
		.fl6_dport = htons(ROCE_UDP_PORT),
	};
	struct dst_entry *dst;

	/* Unlike IPv4, IPv6 would send from an address that is not ours. */
	if (!ipv6_chk_addr_and_flags(net, &av->source, netdev, false, 0, 0))
		return ERR_PTR(-EADDRNOTAVAIL);
	dst = ip6_route_output(net, NULL, &flow);
	if (goes_elsewhere(dst, &flow)) {
		dst_release(dst);
		dst = ip6_route_output_flags(net, NULL, &flow,
					     RT6_LOOKUP_F_IFACE);
	}
	if (dst->error) {
		int err = dst->error;

		dst_release(dst);
		return ERR_PTR(err);
	}
	/* Unlike IPv4, IPv6 does not look up IPsec policies by itself. */
	dst = xfrm_lookup_route(net, dst, flowi6_to_flowi(&flow), NULL, 0);
	if (IS_ERR(dst))
		return dst;
	remember_route(av, dst, rt6_get_cookie(container_of(dst, struct rt6_info,
							    dst)));
	return dst;
}

/* Looks up a route once per flow and change of the network, not per train. */
static struct dst_entry *find_route(struct net *net, struct roce_av *av)
{
	struct dst_entry *dst = remembered_route(av);
	const struct net_device *netdev;

	if (dst)
		return dst;
	netdev = dev_get_by_index_rcu(net, av->interface);
	if (!netdev)
		return ERR_PTR(-ENODEV);
	return av->ipv6 ? route_ipv6(net, av, netdev) :
			  route_ipv4(net, av, netdev);
}

static int output(struct roce_device *dev, const struct roce_av *av,
		  struct sk_buff *skb, bool turn)
{
	struct net *net = dev->net;
	int err;

	roce_egress_charge(dev, skb, turn);
	/* The socket with the MTU setting: IPv6 uses the sk_buff's, IPv4 the argument. */
	if (av->ipv6)
		err = ip6_local_out(net, NULL, skb);
	else
		err = ip_local_out(net, skb->sk, skb);
	/* Only a full queue is worth waiting for. After other errors the train is lost. */
	return err == NET_XMIT_DROP || err == -ENOBUFS ? -EAGAIN : 0;
}

static bool has_queue(const struct net_device *netdev)
{
	return rcu_dereference(netdev_get_tx_queue(netdev, 0)->qdisc)->enqueue;
}

/* Whether a NIC segments UDP, and may change the identification */
static int changes_identification(struct net_device *netdev,
				  struct netdev_nested_priv *unused)
{
	const netdev_features_t both = NETIF_F_GSO_UDP_L4 | NETIF_F_TSO_MANGLEID;

	return netdev->dev.parent && (netdev->features & both) == both;
}

/*
 * All packets of an IPv4 train have one identification, which the ICRC covers. A NIC
 * with NETIF_F_TSO_MANGLEID may change it. Without this flag the core cuts the train,
 * after the queue and without copying. Virtual devices have the flag, and pass a train
 * on whole.
 *
 * A train that IP or the core would cut here, without a queue before, is cut by the
 * driver: the others report the result of the last packet, and not the number sent. The
 * core also cuts what is longer, or has more packets, than the netdev can segment.
 */
static bool must_be_cut(const struct roce_av *av, struct sk_buff *skb,
			const struct dst_entry *dst)
{
	struct net_device *netdev = dst->dev;
	struct netdev_nested_priv unused = {};

	if (!skb_is_gso(skb))
		return false;
	if (dst_xfrm(dst))
		return true;
	if (netif_needs_gso(skb, netif_skb_features(skb)))
		return !has_queue(netdev);
	return !av->ipv6 &&
	       (changes_identification(netdev, &unused) ||
		netdev_walk_all_lower_dev_rcu(netdev, changes_identification,
					      &unused));
}

/* Sets @train->sent to the number of packets sent before the queue was full. */
static int cut_and_output(struct roce_device *dev, const struct roce_av *av,
			  struct sk_buff *skb, struct roce_train *train)
{
	struct sk_buff *segments, *segment, *next;

	segments = roce_train_cut(skb);
	if (IS_ERR_OR_NULL(segments)) {
		kfree_skb(skb);
		return -EAGAIN;
	}
	consume_skb(skb);
	skb_list_walk_safe(segments, segment, next) {
		skb_mark_not_on_list(segment);
		if (output(dev, av, segment, train->turn)) {
			kfree_skb_list(next);
			return -EAGAIN;
		}
		train->sent++;
	}
	return 0;
}

/*
 * With XPS the CPU that sends determines the queue of a netdev. A QP sends from the CPUs
 * of its program, its acknowledgments and its timers; in several queues its trains would
 * overtake each other. So a QP always names the same CPU. If that CPU has no queue, the
 * flow determines the queue, and packets to one peer stay together. architecture.md says
 * why a QP does not follow its program, as a TCP socket does.
 */
static void keep_to_one_queue(const struct roce_qp *qp, struct sk_buff *skb)
{
#ifdef CONFIG_XPS
	u32 hash = hash_32(qp->ibqp.qp_num, 32);

	skb->sender_cpu = 1 + reciprocal_scale(hash, nr_cpu_ids);
#endif
}

/**
 * roce_send() - send a train
 * @qp: the sender
 * @av: destination
 * @train: consumed
 *
 * BH disabled, RCU read side. The caller holds no locks of the driver, since the packet
 * may come back through lo on this very CPU, though only after this returns.
 *
 * Sets @train->sent. Return: 0, also for packets that IP drops silently; -EAGAIN if the
 * egress qdisc is full, or there is no memory to cut the train, after @train->sent
 * packets; -EHOSTUNREACH if there is no route, or a policy forbids it.
 */
int roce_send(struct roce_qp *qp, struct roce_av *av, struct roce_train *train)
{
	struct roce_device *dev = qp->dev;
	u32 bytes = train->bytes;
	struct dst_entry *dst;
	struct sk_buff *skb;
	int err;

	dst = find_route(dev->net, av);
	if (IS_ERR(dst)) {
		roce_count(qp, tx_dropped_no_route);
		roce_train_drop(train);
		return -EHOSTUNREACH;
	}

	skb = roce_train_finish(train);
	skb_dst_set_noref(skb, dst);
	skb->dev = dst->dev;
	skb->priority = train->priority;
	keep_to_one_queue(qp, skb);
	if (train->departure)
		roce_compat_set_departure(skb, train->departure);
	trace_roce_train_sent(qp, skb, skb_transport_offset(skb) +
				       sizeof(struct udphdr),
			      train->packets, bytes);

	if (must_be_cut(av, skb, dst))
		err = cut_and_output(dev, av, skb, train);
	else
		err = output(dev, av, skb, train->turn);
	if (!err)
		train->sent = train->packets;
	if (!train->sent)
		return err;

	roce_count(qp, tx_trains);
	roce_count_add(qp, tx_packets, train->sent);
	if (rdma_is_multicast_addr(&av->destination))
		roce_count_add(qp, tx_multicast_packets, train->sent);
	roce_count_add(qp, tx_bytes,
		       min(bytes, train->sent * train->segment));
	return err;
}
