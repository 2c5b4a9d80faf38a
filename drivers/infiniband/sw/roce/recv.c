// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receives datagrams from IP: a UDP tunnel socket per address family and namespace. Gives
 * their packets to the engines of QPs.
 */
#include <linux/if_vlan.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "cnp.h"
#include "codec.h"
#include "compat.h"
#include "counters.h"
#include "device.h"
#include "devices.h"
#include "mcast.h"
#include "port.h"
#include "qp.h"
#include "recv.h"
#include "roce_opcode.h"
#include "roce_wire.h"
#include "run.h"
#include "section.h"

/**
 * struct roce_net - receiving in a namespace
 * @devices: number of devices in the namespace
 * @socket4: IPv4 socket on UDP port 4791, while there are devices
 * @socket6: the same for IPv6; NULL if the host has no IPv6
 */
struct roce_net {
	unsigned int devices;
	struct socket *socket4;
	struct socket *socket6;
};

static unsigned int roce_net_id;
static DEFINE_MUTEX(net_lock);

static struct roce_qp *find_gsi_qp(struct net *net, struct net_device *netdev,
				   struct sk_buff *skb)
{
	struct in6_addr source, destination;
	struct roce_device *dev;

	roce_run_addresses(skb, &source, &destination);
	dev = roce_devices_find_by_address(net, netdev, &destination);
	if (!dev)
		return NULL;
	roce_run(skb)->vlan_id = roce_port_vlan_id(dev, netdev, &destination);
	return rcu_dereference(dev->gsi_qp);
}

/* QPNs are unique on the host, except for QP 1, which each port has. */
static struct roce_qp *find_qp(struct net *net, struct net_device *netdev,
			       struct sk_buff *skb, u32 qpn)
{
	struct roce_qp *qp;

	if (qpn == ROCE_QPN_GSI)
		return find_gsi_qp(net, netdev, skb);
	qp = roce_qp_find(qpn);
	return qp && net_eq(qp->dev->net, net) ? qp : NULL;
}

/*
 * Find the device that counts packets without a QP. Anyone can send such packets, so the
 * costly search by address is only for traffic of the host to itself, through lo.
 */
static struct roce_device *find_counting_device(struct net *net,
						struct net_device *netdev,
						const struct sk_buff *skb)
{
	struct roce_device *dev = roce_devices_find_by_netdev(netdev);
	struct in6_addr source, destination;

	if (dev || !(netdev->flags & IFF_LOOPBACK))
		return dev;
	roce_run_addresses(skb, &source, &destination);
	return roce_devices_find_by_address(net, netdev, &destination);
}

/* Drop all packets that are left of the run. */
static void drop_run(struct net *net, struct net_device *netdev,
		     struct sk_buff *skb, enum roce_counter why)
{
	struct roce_device *dev = find_counting_device(net, netdev, skb);

	if (dev)
		roce_drop_run(dev, dev->counters, skb, why);
	else
		kfree_skb(skb);
}

/* The part of a QP that handles the packets of a run */
enum consumer {
	RESPONDER,
	COMPLETER,
	REACTION_POINT,
};

/* The destination of a packet */
struct target {
	u32 qpn;
	enum consumer consumer;
};

static void give_run(struct roce_qp *qp, struct sk_buff *skb,
		     enum consumer consumer)
{
	switch (consumer) {
	case RESPONDER:
		roce_qp_receive(qp, &qp->responder.engine, skb);
		break;
	case COMPLETER:
		roce_qp_receive(qp, &qp->requester.engine, skb);
		break;
	case REACTION_POINT:
		roce_cnp_receive(qp, skb);
		break;
	}
}

/* Consumes the sk_buff. */
static void distribute_run(struct net *net, struct net_device *netdev,
			   struct sk_buff *skb, const struct target *target)
{
	struct roce_qp *qp;

	if (target->qpn == ROCE_QPN_MULTICAST) {
		roce_mcast_receive(net, netdev, skb);
		return;
	}
	qp = find_qp(net, netdev, skb, target->qpn);
	if (qp)
		give_run(qp, skb, target->consumer);
	else
		drop_run(net, netdev, skb, ROCE_COUNTER_rx_dropped_no_qp);
}

/* Find the target of the packet at @run; false if the packet is incomplete. */
static bool read_target(const struct sk_buff *skb, struct roce_run *run,
			struct target *target)
{
	struct roce_bth bth;

	if (!roce_run_copy(skb, run, &bth, sizeof(bth)))
		return false;
	target->qpn = roce_bth_qpn(&bth);
	if (bth.opcode == ROCE_OPCODE_CNP)
		target->consumer = REACTION_POINT;
	else if (roce_opcode_info(bth.opcode)->flags & ROCE_IS_RESPONSE)
		target->consumer = COMPLETER;
	else
		target->consumer = RESPONDER;
	return true;
}

/*
 * Move @next to the first packet that does not belong to the run of @target, and return
 * its own target. False if there is none.
 */
static bool find_next_run(const struct sk_buff *skb, struct roce_run *next,
			  const struct target *target, struct target *next_target)
{
	bool goes_back;

	while (roce_run_skip(skb, next, &goes_back) && read_target(skb, next, next_target))
		if (goes_back || next_target->qpn != target->qpn ||
		    next_target->consumer != target->consumer)
			return true;
	return false;
}

/* Whether a switch has marked the datagram. A train has one IP header for all packets. */
static bool is_marked(const struct sk_buff *skb)
{
	return roce_is_ipv6(skb) ?
	       INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb))) :
	       INET_ECN_is_ce(ip_hdr(skb)->tos);
}

/* Drop references that must not outlive this softirq. */
static void detach_from_stack(struct sk_buff *skb)
{
	struct roce_run *run = roce_run(skb);

	run->vlan_id = skb->dev && is_vlan_dev(skb->dev) ?
		       vlan_dev_vlan_id(skb->dev) : U16_MAX;
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
}

/**
 * roce_recv() - receive a datagram to UDP port 4791
 * @net: namespace in which it arrived
 * @skb: consumed; network and transport header are set, data is at the latter
 *
 * A datagram that was not cut on its way, or was merged by GRO, contains many packets,
 * each gso_size bytes long, except for the last one. Consecutive packets for the same
 * half of the same QP form a run, which goes there as a whole. A packet that was sent
 * again begins a run of its own: behind an early one it would be kept with that.
 *
 * Softirq context, in a section.
 */
void roce_recv(struct net *net, struct sk_buff *skb)
{
	struct net_device *netdev = skb->dev;
	u32 segment = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : skb->len;
	struct roce_run *run = roce_run(skb);
	struct target target, next_target;
	struct roce_run next;

	/* A jumbogram of IPv6 is longer than any packet. */
	roce_run_init(skb, min(segment, U16_MAX));
	run->congestion = is_marked(skb);
	if (!roce_is_ipv6(skb) && ip_hdr(skb)->ihl != 5) {
		drop_run(net, netdev, skb, ROCE_COUNTER_rx_dropped_header);
		return;
	}
	if (segment > U16_MAX || segment < sizeof(struct roce_bth) + ROCE_ICRC_SIZE ||
	    !read_target(skb, run, &target)) {
		drop_run(net, netdev, skb, ROCE_COUNTER_rx_dropped_length);
		return;
	}
	detach_from_stack(skb);
	next = *run;
	while (find_next_run(skb, &next, &target, &next_target)) {
		struct sk_buff *rest = roce_run_split(skb, &next);

		if (!rest) {
			drop_run(net, netdev, skb, ROCE_COUNTER_rx_dropped_no_memory);
			return;
		}
		distribute_run(net, netdev, skb, &target);
		skb = rest;
		target = next_target;
	}
	distribute_run(net, netdev, skb, &target);
}

/* ifindex of the netdev that received an sk_buff, if its dev is the VRF above; else 0 */
static int netdev_in_vrf(struct sk_buff *skb)
{
	return roce_is_ipv6(skb) ? inet6_sdif(skb) : inet_sdif(skb);
}

static int encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	int index = netdev_in_vrf(skb);

	if (index)
		skb->dev = dev_get_by_index_rcu(sock_net(sk), index) ?: skb->dev;
	roce_section_enter();
	roce_recv(sock_net(sk), skb);
	roce_section_leave();
	return 0;
}

/*
 * UDP cuts a GSO datagram before it gives it to the receive function of a tunnel, unless
 * the sk_buff is marked as made by a tunnel. This hook runs after the firewall, which has
 * seen the train as one datagram.
 */
static void keep_train_whole(struct sk_buff *skb)
{
	/* The shared info may also belong to a clone of a packet socket. */
	if (!skb_unclone(skb, GFP_ATOMIC))
		skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL_CSUM;
}

/*
 * UDP finds no unbound socket for packets that came through a VRF, unless the sysctl
 * udp_l3mdev_accept is set. It does not search if the sk_buff has a socket, which needs
 * no reference in this RCU read section.
 */
static void name_socket(struct net *net, struct sk_buff *skb)
{
	const struct roce_net *rn = net_generic(net, roce_net_id);
	const struct socket *socket = roce_is_ipv6(skb) ? rn->socket6 : rn->socket4;
	struct sock *sk = socket ? READ_ONCE(socket->sk) : NULL;

	if (!sk || skb->sk)
		return;
	skb->sk = sk;
	skb->destructor = sock_pfree;
}

static bool is_train(const struct sk_buff *skb)
{
	return skb_is_gso(skb) && skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4;
}

/* Whether it is for the UDP port, without a header between IP and UDP */
static bool is_for_us(const struct sk_buff *skb)
{
	bool ipv6 = roce_is_ipv6(skb);
	u8 protocol = ipv6 ? ipv6_hdr(skb)->nexthdr : ip_hdr(skb)->protocol;
	u32 offset = ipv6 ? sizeof(struct ipv6hdr) : ip_hdrlen(skb);
	const struct udphdr *udp;
	struct udphdr buffer;

	udp = skb_header_pointer(skb, skb_network_offset(skb) + offset,
				 sizeof(buffer), &buffer);
	return protocol == IPPROTO_UDP && udp &&
	       udp->dest == htons(ROCE_UDP_PORT);
}

static unsigned int prepare_for_udp(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	bool train = is_train(skb), vrf = netdev_in_vrf(skb);

	if (!(train || vrf) || !is_for_us(skb))
		return NF_ACCEPT;
	if (train)
		keep_train_whole(skb);
	if (vrf)
		name_socket(state->net, skb);
	return NF_ACCEPT;
}

static const struct nf_hook_ops input_hooks[] = {
	{
		.hook = prepare_for_udp,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = INT_MAX,
	}, {
		.hook = prepare_for_udp,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = INT_MAX,
	},
};

static int open_tunnel(struct net *net, u8 family, struct socket **socket)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = encap_rcv,
		.gro_receive = roce_gro_receive,
	};
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(ROCE_UDP_PORT),
		.ipv6_v6only = family == AF_INET6,
	};
	int err;

	err = udp_sock_create(net, &port, socket);
	if (err)
		return err;
	udp_allow_gso((*socket)->sk);
	roce_compat_setup_tunnel(net, *socket, &tunnel);
	return 0;
}

static void close_socket(struct socket *socket)
{
	if (socket)
		roce_compat_release_tunnel(socket);
}

static int open_namespace(struct net *net, struct roce_net *rn)
{
	int err;

	err = open_tunnel(net, AF_INET, &rn->socket4);
	if (err)
		return err;
	err = open_tunnel(net, AF_INET6, &rn->socket6);
	if (err == -EAFNOSUPPORT || err == -EPFNOSUPPORT)
		rn->socket6 = NULL;
	else if (err)
		goto close4;
	err = nf_register_net_hooks(net, input_hooks, ARRAY_SIZE(input_hooks));
	if (err)
		goto close6;
	return 0;

close6:
	close_socket(rn->socket6);
close4:
	close_socket(rn->socket4);
	return err;
}

static void close_namespace(struct net *net, struct roce_net *rn)
{
	nf_unregister_net_hooks(net, input_hooks, ARRAY_SIZE(input_hooks));
	close_socket(rn->socket6);
	close_socket(rn->socket4);
}

/**
 * roce_recv_open() - receive in a namespace, until roce_recv_close()
 * @net: the namespace
 *
 * Process context.
 *
 * Return: 0, -EADDRINUSE if UDP port 4791 is in use, or another negative errno.
 */
int roce_recv_open(struct net *net)
{
	struct roce_net *rn = net_generic(net, roce_net_id);
	int err = 0;

	mutex_lock(&net_lock);
	if (!rn->devices)
		err = open_namespace(net, rn);
	if (!err)
		rn->devices++;
	mutex_unlock(&net_lock);
	return err;
}

/**
 * roce_recv_close() - undo roce_recv_open()
 * @net: the namespace
 */
void roce_recv_close(struct net *net)
{
	struct roce_net *rn = net_generic(net, roce_net_id);

	mutex_lock(&net_lock);
	if (!--rn->devices)
		close_namespace(net, rn);
	mutex_unlock(&net_lock);
}

static struct pernet_operations roce_net_ops = {
	.id = &roce_net_id,
	.size = sizeof(struct roce_net),
};

/**
 * roce_recv_init() - initialize the receiving side of all namespaces
 *
 * Return: 0 or a negative errno.
 */
int roce_recv_init(void)
{
	return register_pernet_subsys(&roce_net_ops);
}

/** roce_recv_exit() - undo roce_recv_init() */
void roce_recv_exit(void)
{
	unregister_pernet_subsys(&roce_net_ops);
}
