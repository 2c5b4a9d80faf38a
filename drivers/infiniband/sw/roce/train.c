// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Trains. UDP segmentation offload cuts a datagram at fixed offsets, whatever
 * the bytes are, so one sk_buff carries many complete RoCE packets to the
 * netdev:
 *
 *	[BTH .. payload pad ICRC][BTH .. payload pad ICRC] .. [shorter one]
 *
 * The stack, the qdisc and the driver see one packet; RoCE packets are on the wire.
 * run.c takes the packets of a received datagram one by one.
 */
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "ah.h"
#include "codec.h"
#include "compat.h"
#include "icrc.h"
#include "packet.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "train.h"

/* Room for the headers in front of the BTH, for any route */
#define TRAIN_HEADROOM \
	(MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* A packet up to this size lives in the linear part of its sk_buff. */
#define TRAIN_LINEAR_BYTES	256

static DEFINE_PER_CPU(struct page_frag, train_page_frag);

/** roce_train_exit() - free the pages that are cached for trains */
void roce_train_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_frag *frag = per_cpu_ptr(&train_page_frag, cpu);

		if (frag->page)
			put_page(frag->page);
		frag->page = NULL;
	}
}

static void fill_ip_headers(struct roce_ip_headers *headers,
			    const struct roce_av *av, u16 source_port)
{
	headers->ipv6 = av->ipv6;
	headers->udp = (struct udphdr) {
		.source = htons(source_port),
		.dest = htons(ROCE_UDP_PORT),
	};
	if (av->ipv6) {
		headers->v6 = (struct ipv6hdr) {
			.nexthdr = IPPROTO_UDP,
			.hop_limit = av->hop_limit,
			.saddr = av->source,
			.daddr = av->destination,
		};
		ip6_flow_hdr(&headers->v6, av->traffic_class,
			     htonl(av->flow_label));
		return;
	}
	/* With DF set, IP ignores the identification (RFC 6864), which is 0 here. */
	headers->v4 = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.tos = av->traffic_class,
		.frag_off = htons(IP_DF),
		.ttl = av->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = av->source.s6_addr32[3],
		.daddr = av->destination.s6_addr32[3],
	};
}

/**
 * roce_train_open() - begin a train
 * @train: to be filled in
 * @av: destination
 * @source_port: of the UDP header
 *
 * BH disabled until the train is sent or dropped.
 */
void roce_train_open(struct roce_train *train, const struct roce_av *av,
		     u16 source_port)
{
	*train = (struct roce_train) {
		.limit = ROCE_TRAIN_MAX_BYTES,
		.priority = av->priority,
	};
	fill_ip_headers(&train->headers, av, source_port);
}

/* The first packet determines the length of the others. */
static int take_first_packet(struct roce_train *train,
			     const struct roce_packet *packet)
{
	u32 size = roce_packet_size(packet);
	u32 linear = size <= TRAIN_LINEAR_BYTES ? size : 0;

	train->skb = alloc_skb(TRAIN_HEADROOM + linear, GFP_ATOMIC);
	if (!train->skb)
		return -ENOMEM;
	skb_reserve(train->skb, TRAIN_HEADROOM);
	train->place = train->skb->data;
	train->unclaimed = train->place;
	train->end = train->place + linear;
	train->segment = size;
	return 0;
}

/**
 * roce_train_set_traffic_class() - replace the traffic class of the address vector
 * @train: open
 * @traffic_class: DSCP and ECN codepoint
 */
void roce_train_set_traffic_class(struct roce_train *train, u8 traffic_class)
{
	struct roce_ip_headers *headers = &train->headers;

	/* The ICRC does not cover it, and the header checksum is computed later. */
	if (headers->ipv6)
		ip6_flow_hdr(&headers->v6, traffic_class,
			     ip6_flowlabel(&headers->v6));
	else
		headers->v4.tos = traffic_class;
}

/**
 * roce_train_set_path() - replace what routers choose a way by
 * @train: open; empty if the port changes, because the ICRC covers it
 * @source_port: of the UDP header
 * @flow_label: of the IPv6 header
 */
void roce_train_set_path(struct roce_train *train, u16 source_port, u32 flow_label)
{
	struct roce_ip_headers *headers = &train->headers;

	headers->udp.source = htons(source_port);
	if (headers->ipv6)
		ip6_flow_hdr(&headers->v6, ip6_tclass(ip6_flowinfo(&headers->v6)),
			     htonl(flow_label));
}

/**
 * roce_train_set_ecn() - set the ECN codepoint, and keep the DSCP
 * @train: open
 * @ecn: INET_ECN_*
 */
void roce_train_set_ecn(struct roce_train *train, u8 ecn)
{
	u8 now = train->headers.ipv6 ? ipv6_get_dsfield(&train->headers.v6) :
				       train->headers.v4.tos;

	roce_train_set_traffic_class(train, (now & ~INET_ECN_MASK) | ecn);
}

/**
 * roce_train_fits() - whether a packet can be the next one of a train
 * @train: open
 * @size: bytes of the packet, BTH to ICRC
 */
bool roce_train_fits(const struct roce_train *train, u32 size)
{
	if (!train->packets)
		return true;
	return !train->closed && size <= train->segment &&
	       train->packets < ROCE_TRAIN_MAX_PACKETS &&
	       train->bytes + size <= train->limit;
}

/**
 * roce_train_capacity() - number of packets of a size that a train can take
 * @train: open
 * @size: bytes of each packet, BTH to ICRC; the next one fits
 *
 * Return: 1 or more.
 */
u32 roce_train_capacity(const struct roce_train *train, u32 size)
{
	u32 bytes = train->limit - min(train->bytes, train->limit);

	if (train->packets && size != train->segment)
		return 1;
	return clamp(bytes / size, 1u, ROCE_TRAIN_MAX_PACKETS - train->packets);
}

/* Make the written bytes a part of the sk_buff. */
static void claim_bytes(struct roce_train *train)
{
	struct page_frag *frag = this_cpu_ptr(&train_page_frag);
	struct sk_buff *skb = train->skb;
	struct skb_shared_info *info = skb_shinfo(skb);
	u32 n = train->place - train->unclaimed;

	train->unclaimed = train->place;
	if (!n)
		return;
	if (!train->in_page) {
		__skb_put(skb, n);
		return;
	}
	if (skb_can_coalesce(skb, info->nr_frags, frag->page, frag->offset)) {
		skb_frag_size_add(&info->frags[info->nr_frags - 1], n);
	} else {
		get_page(frag->page);
		skb_fill_page_desc(skb, info->nr_frags, frag->page, frag->offset, n);
	}
	frag->offset += n;
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
}

static int find_room(struct roce_train *train)
{
	struct page_frag *frag = this_cpu_ptr(&train_page_frag);
	struct sk_buff *skb = train->skb;

	claim_bytes(train);
	if (!skb_page_frag_refill(1, frag, GFP_ATOMIC))
		return -ENOMEM;
	if (!skb_can_coalesce(skb, skb_shinfo(skb)->nr_frags, frag->page,
			      frag->offset) &&
	    skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return -ENOMEM;
	train->in_page = true;
	train->place = page_address(frag->page) + frag->offset;
	train->unclaimed = train->place;
	train->end = page_address(frag->page) + frag->size;
	return 0;
}

static u32 room_in_train(const struct roce_train *train)
{
	return train->end - train->place;
}

/* The caller has made sure that there is room. */
static __always_inline void put_bytes_here(struct roce_train *train, const void *data,
					   u32 length, bool checksum)
{
	memcpy(train->place, data, length);
	/*
	 * Compute the ICRC of the copy: an application may be changing the
	 * original.
	 */
	if (checksum)
		train->icrc = roce_icrc_update(train->icrc, train->place, length);
	train->place += length;
	train->bytes += length;
}

static int put_bytes_across(struct roce_train *train, const void *data, u32 length,
			    bool checksum)
{
	while (length) {
		u32 n;

		if (!room_in_train(train) && find_room(train))
			return -ENOMEM;
		n = min(room_in_train(train), length);
		put_bytes_here(train, data, n, checksum);
		data += n;
		length -= n;
	}
	return 0;
}

static __always_inline int put_bytes(struct roce_train *train, const void *data,
				     u32 length, bool checksum)
{
	if (unlikely(length > room_in_train(train)))
		return put_bytes_across(train, data, length, checksum);
	put_bytes_here(train, data, length, checksum);
	return 0;
}

/* @transport: the BTH of the packet, and the headers after it */
static int put_headers(struct roce_train *train, const void *transport, u32 length)
{
	u32 size = length + train->payload + roce_packet_pad(train->payload) +
		   ROCE_ICRC_SIZE;

	if (!roce_icrc_has_prefix(&train->prefix, transport, size)) {
		roce_ip_headers_set_lengths(&train->headers, size);
		roce_icrc_set_prefix(&train->prefix, &train->headers, transport,
				     size);
	}
	train->start = train->bytes;
	train->left = train->payload;
	train->icrc = roce_icrc_begin(&train->prefix, transport, length);
	return put_bytes(train, transport, length, false);
}

/**
 * roce_train_end_packet() - write pad and ICRC of the packet
 * @train: all the payload was appended
 *
 * Return: 0 or -ENOMEM; after an error the packet must be cancelled.
 */
int roce_train_end_packet(struct roce_train *train)
{
	u32 pad = roce_packet_pad(train->payload);
	/* The pad, and the ICRC after it */
	__le32 tail[2] = {};
	int err;

	if (pad)
		train->icrc = roce_icrc_update(train->icrc, tail, pad);
	tail[1] = roce_icrc_finish(train->icrc);
	err = put_bytes(train, (void *)&tail[1] - pad, pad + sizeof(tail[1]), false);
	if (err)
		return err;

	if (train->bytes - train->start < train->segment)
		train->closed = true;
	train->packets++;
	return 0;
}

/* Begin another packet like the one that is complete now. */
static int begin_next_packet(struct roce_train *train)
{
	u32 psn = roce_psn_add(roce_bth_psn(&train->bth), 1);
	int err;

	err = roce_train_end_packet(train);
	if (err)
		return err;
	train->more--;
	train->bth.psn = cpu_to_be32(psn);
	return put_headers(train, &train->bth, sizeof(train->bth));
}

/**
 * roce_train_append() - add bytes of payload to the packet under construction
 * @train: between begin and end of a packet
 * @data: bytes to copy; they may continue in the next packet, if several were begun
 * @length: bytes
 *
 * Return: 0 or -ENOMEM; after an error the packet must be cancelled.
 */
int roce_train_append(struct roce_train *train, const void *data, u32 length)
{
	while (train->more && length >= train->left) {
		u32 n = train->left;
		int err = put_bytes(train, data, n, true) ?:
			  begin_next_packet(train);

		if (err)
			return err;
		data += n;
		length -= n;
	}
	train->left -= length;
	return length ? put_bytes(train, data, length, true) : 0;
}

/**
 * roce_train_begin_packets() - write the headers of the next packet
 * @train: open, and the packet fits
 * @packet: info, opcode, qpn, psn, payload, and the fields of the opcode's headers are
 *	set
 * @count: number of packets that differ only in the PSN, which counts up; more than 1
 *	only without AckReq, with no header but a BTH, and with no pad
 *
 * roce_train_append() begins the other packets.
 *
 * Return: 0 or -ENOMEM; after an error the packet must be cancelled.
 */
int roce_train_begin_packets(struct roce_train *train,
			     const struct roce_packet *packet, u32 count)
{
	u8 buffer[ROCE_MAX_HEADERS] __aligned(8);
	int err;

	if (!train->packets) {
		err = take_first_packet(train, packet);
		if (err)
			return err;
	}
	train->bth = roce_codec_build_bth(packet);
	train->payload = packet->payload;
	train->more = count - 1;
	if (packet->info->header_length == sizeof(train->bth))
		return put_headers(train, &train->bth, sizeof(train->bth));

	roce_codec_build_extended(packet, roce_add_header(buffer, &train->bth,
							  sizeof(train->bth)));
	return put_headers(train, buffer, packet->info->header_length);
}

/**
 * roce_train_cancel_packet() - discard the packet under construction
 * @train: keeps its finished packets; no other packet can be added
 */
void roce_train_cancel_packet(struct roce_train *train)
{
	train->closed = true;
	if (!train->skb)
		return;
	claim_bytes(train);
	/* Cannot fail: nobody else owns the sk_buff, and it only gets shorter. */
	WARN_ON_ONCE(pskb_trim(train->skb, train->start));
	train->bytes = train->start;
}

/**
 * roce_train_drop() - free an unsent train
 * @train: open
 */
void roce_train_drop(struct roce_train *train)
{
	kfree_skb(train->skb);
	train->skb = NULL;
}

/**
 * roce_train_of_one() - make a train of one packet
 * @train: to be filled in; holds nothing after an error
 * @av: destination
 * @source_port: of the UDP header
 * @packet: see roce_train_begin_packets()
 * @payload: payload of @packet
 *
 * BH disabled until the train is sent or dropped.
 *
 * Return: 0 or -ENOMEM.
 */
int roce_train_of_one(struct roce_train *train, const struct roce_av *av,
		      u16 source_port, const struct roce_packet *packet,
		      const void *payload)
{
	int err;

	roce_train_open(train, av, source_port);
	err = roce_train_begin_packets(train, packet, 1) ?:
	      roce_train_append(train, payload, packet->payload) ?:
	      roce_train_end_packet(train);
	if (err)
		roce_train_drop(train);
	return err;
}

/* The netdev, or software on its behalf, computes the checksum. */
static void offer_checksum(struct sk_buff *skb, struct roce_ip_headers *headers)
{
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	if (headers->ipv6)
		udp_hdr(skb)->check = ~udp_v6_check(skb->len,
						    &headers->v6.saddr,
						    &headers->v6.daddr, 0);
	else
		udp_hdr(skb)->check = ~udp_v4_check(skb->len, headers->v4.saddr,
						    headers->v4.daddr, 0);
}

/**
 * roce_train_finish() - make an IP datagram from a train
 * @train: with at least one packet; holds nothing afterwards
 *
 * Like RNICs, it leaves the UDP checksum of a single IPv4 packet at zero; the ICRC does
 * not cover it. Segmentation needs CHECKSUM_PARTIAL, and IPv6 needs a checksum
 * (RFC 8200, 8.1).
 *
 * Return: the sk_buff, its data at the IP header. The caller must set route, netdev
 * and the lengths in the IP header.
 */
struct sk_buff *roce_train_finish(struct roce_train *train)
{
	struct roce_ip_headers *headers = &train->headers;
	struct sk_buff *skb = train->skb;

	claim_bytes(train);
	train->skb = NULL;
	roce_ip_headers_set_lengths(headers, skb->len);
	skb_push(skb, sizeof(struct udphdr));
	skb_reset_transport_header(skb);
	memcpy(skb->data, &headers->udp, sizeof(headers->udp));
	if (train->packets > 1) {
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
		/* The ICRC of each packet covers the same identification. */
		if (!headers->ipv6)
			skb_shinfo(skb)->gso_type |= ROCE_COMPAT_GSO_FIXED_ID;
		skb_shinfo(skb)->gso_size = train->segment;
		skb_shinfo(skb)->gso_segs = train->packets;
	}
	if (train->packets > 1 || headers->ipv6)
		offer_checksum(skb, headers);

	if (headers->ipv6) {
		skb_push(skb, sizeof(headers->v6));
		memcpy(skb->data, &headers->v6, sizeof(headers->v6));
		skb->protocol = htons(ETH_P_IPV6);
	} else {
		skb_push(skb, sizeof(headers->v4));
		memcpy(skb->data, &headers->v4, sizeof(headers->v4));
		skb->protocol = htons(ETH_P_IP);
	}
	skb_reset_network_header(skb);
	return skb;
}

/**
 * roce_train_cut() - segment a train
 * @skb: returned by roce_train_finish(), with more than one packet; its netdev is set
 *
 * The segments share the pages of the train. They leave the checksum to the netdev, if
 * it can compute it.
 *
 * Return: the list of its packets; NULL or an ERR_PTR() on error. The caller still owns
 * the train.
 */
struct sk_buff *roce_train_cut(struct sk_buff *skb)
{
	return skb_gso_segment(skb, netif_skb_features(skb) & ~NETIF_F_GSO_MASK);
}
