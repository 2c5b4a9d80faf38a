// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Trains. UDP segmentation offload cuts a datagram at fixed offsets, whatever
 * the bytes are, so one sk_buff carries many complete RoCE packets to the
 * netdev:
 *
 *	[BTH .. payload pad ICRC][BTH .. payload pad ICRC] .. [shorter one]
 *
 * The stack, the qdisc and the driver see one packet; the wire sees RoCE. How
 * the packets of a datagram that arrives whole are walked is in run.c.
 */
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "qp.h"
#include "train.h"

/* Room for the headers below BTH, whatever the route turns out to need */
#define TRAIN_HEADROOM \
	(MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* A packet up to this size lives in the linear part of its sk_buff. */
#define TRAIN_LINEAR_BYTES	256

static DEFINE_PER_CPU(struct page_frag, train_page_frag);

/** roce_train_exit() - give up what was kept for the next train */
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
			    const struct roce_av *av, u16 source_port,
			    u32 first_psn)
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
	/*
	 * With DF set the identification means nothing to IP (RFC 6864), and
	 * software GSO counts it up from segment to segment.
	 */
	headers->v4 = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.tos = av->traffic_class,
		.id = htons((u16)first_psn),
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
 * @av: where it goes
 * @source_port: of the UDP header
 * @first_psn: PSN of its first packet
 * @size: bytes of the first packet, BTH to ICRC
 *
 * BH disabled until the train is sent or dropped.
 *
 * Return: 0 or -ENOMEM.
 */
int roce_train_open(struct roce_train *train, const struct roce_av *av,
		    u16 source_port, u32 first_psn, u32 size)
{
	u32 linear = size <= TRAIN_LINEAR_BYTES ? size : 0;

	*train = (struct roce_train) {
		.segment = size,
		.limit = ROCE_TRAIN_MAX_BYTES,
		.priority = av->priority,
	};
	train->skb = alloc_skb(TRAIN_HEADROOM + linear, GFP_ATOMIC);
	if (!train->skb)
		return -ENOMEM;
	skb_reserve(train->skb, TRAIN_HEADROOM);
	fill_ip_headers(&train->headers, av, source_port, first_psn);
	return 0;
}

/**
 * roce_train_set_traffic_class() - deviate from what the address vector says
 * @train: open
 * @traffic_class: DSCP and ECN codepoint
 */
void roce_train_set_traffic_class(struct roce_train *train, u8 traffic_class)
{
	struct roce_ip_headers *headers = &train->headers;

	/* The ICRC does not cover it, and the header has no checksum yet. */
	if (headers->ipv6)
		ip6_flow_hdr(&headers->v6, traffic_class,
			     ip6_flowlabel(&headers->v6));
	else
		headers->v4.tos = traffic_class;
}

/**
 * roce_train_set_ecn() - set the ECN codepoint, and leave the DSCP
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
	return !train->closed && size <= train->segment &&
	       train->packets < ROCE_TRAIN_MAX_PACKETS &&
	       (!train->packets || train->skb->len + size <= train->limit);
}

/* A place for the next bytes; *room says for how many. */
static void *next_room(struct sk_buff *skb, struct page_frag *frag, u32 *room)
{
	struct page_frag *cache = this_cpu_ptr(&train_page_frag);

	if (!skb_is_nonlinear(skb) && skb_tailroom(skb)) {
		frag->page = NULL;
		*room = skb_tailroom(skb);
		return skb_tail_pointer(skb);
	}

	if (!skb_page_frag_refill(1, cache, GFP_ATOMIC))
		return NULL;
	if (!skb_can_coalesce(skb, skb_shinfo(skb)->nr_frags, cache->page,
			      cache->offset) &&
	    skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return NULL;
	*frag = *cache;
	*room = cache->size - cache->offset;
	return page_address(cache->page) + cache->offset;
}

static void take_room(struct sk_buff *skb, const struct page_frag *frag, u32 n)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	if (!frag->page) {
		__skb_put(skb, n);
		return;
	}

	if (skb_can_coalesce(skb, info->nr_frags, frag->page, frag->offset)) {
		skb_frag_size_add(&info->frags[info->nr_frags - 1], n);
	} else {
		get_page(frag->page);
		skb_fill_page_desc(skb, info->nr_frags, frag->page,
				   frag->offset, n);
	}
	this_cpu_ptr(&train_page_frag)->offset += n;
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
}

static int put_bytes(struct roce_train *train, const void *data, u32 length,
		     bool checksum)
{
	while (length) {
		struct page_frag frag;
		void *place;
		u32 n;

		place = next_room(train->skb, &frag, &n);
		if (!place)
			return -ENOMEM;
		n = min(n, length);
		memcpy(place, data, n);
		/*
		 * Of the copy: the original may be memory that an application
		 * is changing right now.
		 */
		if (checksum)
			train->icrc = roce_icrc_update(train->icrc, place, n);
		take_room(train->skb, &frag, n);
		data += n;
		length -= n;
	}
	return 0;
}

/**
 * roce_train_append() - add bytes of payload to the packet under construction
 * @train: between begin and end of a packet
 * @data: what to copy
 * @length: bytes
 *
 * Return: 0 or -ENOMEM; then the packet is to be cancelled.
 */
int roce_train_append(struct roce_train *train, const void *data, u32 length)
{
	return put_bytes(train, data, length, true);
}

/* The headers between BTH and payload */
static void add_extended_headers(const struct roce_packet *packet, void *end)
{
	u32 flags = packet->info->flags;

	if (flags & ROCE_HAS_DETH) {
		struct roce_deth deth = {
			.qkey = cpu_to_be32(packet->qkey),
			.source_qpn = cpu_to_be32(packet->source_qpn),
		};
		end = roce_add_header(end, &deth, sizeof(deth));
	}
	if (flags & ROCE_HAS_FETH) {
		struct roce_feth feth = { .flush = cpu_to_be32(packet->flush) };

		end = roce_add_header(end, &feth, sizeof(feth));
	}
	if (flags & ROCE_HAS_RETH) {
		struct roce_reth reth = {
			.va = cpu_to_be64(packet->va),
			.rkey = cpu_to_be32(packet->rkey),
			.length = cpu_to_be32(packet->length),
		};
		end = roce_add_header(end, &reth, sizeof(reth));
	}
	if (flags & ROCE_HAS_AETH) {
		struct roce_aeth aeth = {
			.syndrome_msn = cpu_to_be32(packet->syndrome << 24 |
						    packet->msn),
		};
		end = roce_add_header(end, &aeth, sizeof(aeth));
	}
	if (flags & ROCE_HAS_ATOMIC_ETH) {
		struct roce_atomic_eth atomic = {
			.va = cpu_to_be64(packet->va),
			.rkey = cpu_to_be32(packet->rkey),
			.swap_add = cpu_to_be64(packet->swap_add),
			.compare = cpu_to_be64(packet->compare),
		};
		end = roce_add_header(end, &atomic, sizeof(atomic));
	}
	if (flags & ROCE_HAS_ATOMIC_ACK_ETH) {
		struct roce_atomic_ack_eth ack = {
			.original = cpu_to_be64(packet->original),
		};
		end = roce_add_header(end, &ack, sizeof(ack));
	}
	if (flags & ROCE_HAS_IMMEDIATE)
		end = roce_add_header(end, &packet->immediate,
				      sizeof(packet->immediate));
	if (flags & ROCE_HAS_INVALIDATE) {
		__be32 rkey = cpu_to_be32(packet->invalidate);

		end = roce_add_header(end, &rkey, sizeof(rkey));
	}
}

/**
 * roce_train_begin_packet() - write the headers of the next packet
 * @train: open, and the packet fits
 * @packet: describes it; info, opcode, qpn, psn, payload and what the opcode
 *	has headers for
 *
 * Return: 0 or -ENOMEM; then the packet is to be cancelled.
 */
int roce_train_begin_packet(struct roce_train *train,
			    const struct roce_packet *packet)
{
	u8 buffer[ROCE_MAX_HEADERS] __aligned(8);
	u32 size = packet->info->header_length;
	struct roce_bth *bth = (struct roce_bth *)buffer;

	*bth = (struct roce_bth) {
		.opcode = packet->opcode,
		.flags = (packet->solicited ? ROCE_BTH_SOLICITED : 0) |
			 (packet->becn ? 0 : ROCE_BTH_MIGREQ) |
			 roce_packet_pad(packet->payload) << ROCE_BTH_PAD_SHIFT,
		.pkey = cpu_to_be16(ROCE_DEFAULT_PKEY),
		.qpn = cpu_to_be32(packet->qpn |
				   (packet->becn ? ROCE_BTH_BECN : 0)),
		.psn = cpu_to_be32(packet->psn | (packet->ack_request ?
						  ROCE_BTH_ACK_REQUEST : 0)),
	};

	add_extended_headers(packet, buffer + sizeof(*bth));

	train->start = train->skb->len;
	roce_ip_headers_set_lengths(&train->headers, roce_packet_size(packet));
	train->icrc = roce_icrc_begin(&train->headers, buffer, size);
	return put_bytes(train, buffer, size, false);
}

/**
 * roce_train_end_packet() - write pad and ICRC of the packet
 * @train: all the payload was appended
 * @packet: the same as for begin
 *
 * Return: 0 or -ENOMEM; then the packet is to be cancelled.
 */
int roce_train_end_packet(struct roce_train *train,
			  const struct roce_packet *packet)
{
	static const u8 zeros[4];
	__le32 icrc;
	int err;

	err = put_bytes(train, zeros, roce_packet_pad(packet->payload), true);
	if (err)
		return err;
	icrc = roce_icrc_finish(train->icrc);
	err = put_bytes(train, &icrc, sizeof(icrc), false);
	if (err)
		return err;

	if (train->skb->len - train->start < train->segment)
		train->closed = true;
	train->packets++;
	if (!train->headers.ipv6)
		be16_add_cpu(&train->headers.v4.id, 1);
	return 0;
}

/**
 * roce_train_cancel_packet() - take back the packet that was begun
 * @train: the finished packets stay; no other one can be added
 */
void roce_train_cancel_packet(struct roce_train *train)
{
	/* Does not fail: the sk_buff is nobody else's and only gets shorter. */
	WARN_ON_ONCE(pskb_trim(train->skb, train->start));
	train->closed = true;
}

/**
 * roce_train_drop() - give a train up
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
 * @av: where it goes
 * @source_port: of the UDP header
 * @packet: describes it, as for roce_train_begin_packet()
 * @payload: of the packet, as many bytes as it says
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

	err = roce_train_open(train, av, source_port, packet->psn,
			      roce_packet_size(packet));
	if (err)
		return err;
	err = roce_train_begin_packet(train, packet) ?:
	      roce_train_append(train, payload, packet->payload) ?:
	      roce_train_end_packet(train, packet);
	if (err)
		roce_train_drop(train);
	return err;
}

/* To be filled in by the netdev, or on its behalf */
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
 * roce_train_finish() - make an IP datagram of a train
 * @train: with at least one packet; holds nothing afterwards
 *
 * The UDP checksum, which the ICRC does not cover, is left at zero for an IPv4
 * packet that travels alone, as RNICs do. Segmentation needs CHECKSUM_PARTIAL,
 * and IPv6 a checksum (RFC 8200, 8.1).
 *
 * Return: the sk_buff, its data at the IP header. Route, netdev and lengths in
 * the IP header are the caller's to set.
 */
struct sk_buff *roce_train_finish(struct roce_train *train)
{
	struct roce_ip_headers *headers = &train->headers;
	struct sk_buff *skb = train->skb;

	train->skb = NULL;
	roce_ip_headers_set_lengths(headers, skb->len);
	if (!headers->ipv6)
		be16_add_cpu(&headers->v4.id, -(u16)train->packets);

	skb_push(skb, sizeof(struct udphdr));
	skb_reset_transport_header(skb);
	memcpy(skb->data, &headers->udp, sizeof(headers->udp));
	if (train->packets > 1) {
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
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
