// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Generic receive offload: packets that a NIC received together go up the stack
 * as one train.
 *
 *	[IP][UDP][BTH .. ICRC] -> [BTH .. ICRC] -> [BTH .. ICRC] -> ..
 *
 * The kernel does not merge UDP datagrams without a checksum, which RNICs send. This
 * file chains them, without copying: each packet keeps its headers in front of its
 * data, so that a train can be cut into the original packets. Packets to other hosts
 * are not merged, since a router changes the headers of each packet.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/gro.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "compat.h"
#include "recv.h"
#include "roce_wire.h"
#include "train_limits.h"

/*
 * The ICRC covers the identification. Code that cuts a train counts it up from the first
 * packet's, or copies the first packet's to all.
 */
static bool identification_follows(const struct sk_buff *held,
				   const struct iphdr *held_ip,
				   const struct iphdr *ip)
{
	u32 packets = NAPI_GRO_CB(held)->count;
	bool fixed = skb_shinfo(held)->gso_type & SKB_GSO_TCP_FIXEDID;

	if (ip->id == held_ip->id)
		return packets == 1 || fixed;
	return !fixed && ntohs(ip->id) == (u16)(ntohs(held_ip->id) + packets);
}

static bool follows_ipv4(const struct sk_buff *held, const struct iphdr *held_ip,
			 const struct iphdr *ip)
{
	return ip->tos == held_ip->tos && ip->ttl == held_ip->ttl &&
	       ip->frag_off == held_ip->frag_off &&
	       identification_follows(held, held_ip, ip);
}

/* The first word contains version and traffic class. */
static bool follows_ipv6(const struct ipv6hdr *held, const struct ipv6hdr *next)
{
	return *(const __be32 *)next == *(const __be32 *)held &&
	       next->hop_limit == held->hop_limit;
}

/* Whether a packet of the same flow can follow in the train */
static bool follows(const struct sk_buff *held, const struct sk_buff *skb,
		    u32 ip_offset, bool ipv6)
{
	const void *held_ip = held->data + ip_offset;
	const void *ip = skb->data + ip_offset;

	/* Held before the socket existed: the kernel's own GRO merges this one. */
	if (!NAPI_GRO_CB(held)->is_flist ||
	    skb_gro_len(skb) > skb_shinfo(held)->gso_size ||
	    held->len + skb_gro_len(skb) > ROCE_TRAIN_MAX_BYTES)
		return false;
	if (skb->ip_summed != held->ip_summed &&
	    (skb->ip_summed == CHECKSUM_PARTIAL ||
	     held->ip_summed == CHECKSUM_PARTIAL))
		return false;
	return ipv6 ? follows_ipv6(held_ip, ip) :
		      follows_ipv4(held, held_ip, ip);
}

/*
 * Packets of this host come with the charge of the socket that sent them. Only packets of
 * one socket are merged, so the train takes the charges over: it gives back its truesize.
 */
static void join_owners(struct sk_buff *held, struct sk_buff *skb)
{
	if (skb->sk == held->sk && skb->destructor == sock_wfree &&
	    held->destructor == sock_wfree) {
		skb->destructor = NULL;
		skb->sk = NULL;
		return;
	}
	/* Others would get back what they were not charged with: the truesize grows. */
	skb_orphan(held);
	skb_orphan(skb);
}

static void chain(struct sk_buff *held, struct sk_buff *skb, u32 ip_offset,
		  bool ipv6)
{
	const struct iphdr *held_ip = (const void *)held->data + ip_offset;
	const struct iphdr *ip = (const void *)skb->data + ip_offset;

	if (!ipv6 && ip->id == held_ip->id)
		skb_shinfo(held)->gso_type |= ROCE_COMPAT_GSO_FIXED_ID;

	join_owners(held, skb);
	/* After a VLAN tag the stack has set it too early. */
	skb_set_network_header(skb, ip_offset);
	skb_pull(skb, skb_gro_offset(skb));
	if (NAPI_GRO_CB(held)->last == held)
		skb_shinfo(held)->frag_list = skb;
	else
		NAPI_GRO_CB(held)->last->next = skb;
	NAPI_GRO_CB(held)->last = skb;
	NAPI_GRO_CB(held)->count++;
	NAPI_GRO_CB(skb)->same_flow = 1;

	skb_shinfo(held)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	held->len += skb->len;
	held->data_len += skb->len;
	held->truesize += skb->truesize;
	/* GRO has verified the checksum, which covers the first packet only. */
	if (held->ip_summed == CHECKSUM_COMPLETE)
		held->ip_summed = CHECKSUM_NONE;
}

static bool same_addresses_and_ports(const struct sk_buff *held,
				     const struct sk_buff *skb, u32 ip_offset,
				     bool ipv6)
{
	u32 addresses = ip_offset + (ipv6 ? offsetof(struct ipv6hdr, saddr) :
					    offsetof(struct iphdr, saddr));
	u32 ports = skb_gro_offset(skb) - sizeof(struct udphdr);

	return held->protocol == skb->protocol &&
	       skb_gro_offset(held) == skb_gro_offset(skb) &&
	       !memcmp(held->data + ports, skb->data + ports, 2 * sizeof(__be16)) &&
	       !memcmp(held->data + addresses, skb->data + addresses,
		       ipv6 ? 2 * sizeof(struct in6_addr) : 2 * sizeof(__be32));
}

/*
 * For UDP, packets with and without a checksum belong to different flows. A sender of
 * trains sends both kinds, and they must not overtake each other.
 */
static struct sk_buff *find_held(const struct list_head *head,
				 const struct sk_buff *skb, u32 ip_offset,
				 bool ipv6)
{
	struct sk_buff *held;

	list_for_each_entry(held, head, list)
		if (NAPI_GRO_CB(held)->same_flow ||
		    same_addresses_and_ports(held, skb, ip_offset, ipv6))
			return held;
	return NULL;
}

static bool is_for_this_host(struct net *net, const struct net_device *netdev,
			     const void *ip, bool ipv6)
{
	if (ipv6)
		return ipv6_chk_addr_and_flags(net, &((const struct ipv6hdr *)ip)->daddr,
					       netdev, true, 0, IFA_F_TENTATIVE);
	return __ip_dev_find(net, ((const struct iphdr *)ip)->daddr, false);
}

/* Whether the lengths agree, and there is no header between IP and UDP */
static bool is_sound(const struct sk_buff *skb, u32 ip_offset, bool ipv6)
{
	u32 size = skb_gro_len(skb);
	const struct ipv6hdr *ip = (const void *)skb->data + ip_offset;
	const struct udphdr *udp = (const void *)skb->data +
				   skb_gro_offset(skb) - sizeof(*udp);

	if (size < sizeof(struct roce_bth) + ROCE_ICRC_SIZE ||
	    ntohs(udp->len) != sizeof(*udp) + size)
		return false;
	return !ipv6 || (ip->version == 6 && ip->nexthdr == IPPROTO_UDP &&
			 ip->payload_len == udp->len);
}

/**
 * roce_gro_receive() - merge a datagram for UDP port 4791 with earlier ones
 * @sk: of that port, IPv4 or IPv6
 * @head: held packets; same_flow is set where addresses and ports are the same
 * @skb: with its GRO offset after the UDP header
 *
 * Packets form a train if their IP headers differ only in fields that segmentation
 * sets, and none is longer than the first one. A shorter packet ends the train.
 *
 * Softirq context, RCU read side.
 *
 * Return: a packet to flush, or NULL.
 */
struct sk_buff *roce_gro_receive(struct sock *sk, struct list_head *head,
				 struct sk_buff *skb)
{
	bool ipv6 = sk->sk_family == AF_INET6;
	u32 ip_offset = skb_gro_offset(skb) - sizeof(struct udphdr) -
			(ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
	u32 size = skb_gro_len(skb);
	struct sk_buff *held;
	const void *ip;

	/* With these, UDP completes the chain like one of its own (fraglist GRO). */
	NAPI_GRO_CB(skb)->encap_mark = 0;
	NAPI_GRO_CB(skb)->is_flist = 1;

	/* Pull all headers into the linear part, where they stay in front of the data. */
	ip = skb_gro_header_slow(skb, skb_gro_offset(skb), ip_offset);
	if (!ip) {
		NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}

	held = find_held(head, skb, ip_offset, ipv6);
	if (!is_sound(skb, ip_offset, ipv6) ||
	    (!held && !is_for_this_host(sock_net(sk), skb->dev, ip, ipv6)))
		NAPI_GRO_CB(skb)->flush = 1;
	if (!held || NAPI_GRO_CB(skb)->flush ||
	    !NAPI_GRO_CB(held)->same_flow ||
	    !follows(held, skb, ip_offset, ipv6))
		return held;

	chain(held, skb, ip_offset, ipv6);
	if (size < skb_shinfo(held)->gso_size ||
	    NAPI_GRO_CB(held)->count == ROCE_TRAIN_MAX_PACKETS)
		return held;
	return NULL;
}
