// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs: packets that arrived in one datagram for the same half of the same QP
 * are walked in place. The headers of each are copied once and checked, and from
 * then on only the copy is looked at; the payload stays where it is until it is
 * placed.
 */
#include "qp.h"

/* The headers of packet number @index of a received datagram */
static void received_ip_headers(const struct sk_buff *skb, u32 index, u32 size,
				struct roce_ip_headers *headers)
{
	headers->udp = *udp_hdr(skb);
	headers->ipv6 = roce_is_ipv6(skb);
	if (headers->ipv6) {
		headers->v6 = *ipv6_hdr(skb);
	} else {
		headers->v4 = *ip_hdr(skb);
		be16_add_cpu(&headers->v4.id, index);
	}
	roce_ip_headers_set_lengths(headers, size);
}

/**
 * roce_run_init() - make one run of all packets of a datagram
 * @skb: the datagram; network and transport header are set
 * @segment: bytes of each packet but the last one
 */
void roce_run_init(struct sk_buff *skb, u32 segment)
{
	*roce_run(skb) = (struct roce_run) {
		.offset = skb_transport_offset(skb) + sizeof(struct udphdr),
		.end = skb->len,
		.part = skb_shinfo(skb)->frag_list,
		.part_offset = skb_pagelen(skb),
		.segment = segment,
		.vlan_id = U16_MAX,
	};
}

/**
 * roce_run_part() - where the next packet of a run lies
 * @skb: of the run
 * @run: at that packet
 * @size: bytes that are wanted
 * @offset: set to where they begin
 *
 * What GRO has merged is a chain of sk_buffs with a packet in each. To look for
 * each packet from the head on would cost more than GRO saves.
 *
 * Return: an sk_buff of the chain if they lie in it as a whole, else @skb.
 */
const struct sk_buff *roce_run_part(const struct sk_buff *skb,
				    struct roce_run *run, u32 size, u32 *offset)
{
	while (run->part && run->offset >= run->part_offset + run->part->len) {
		run->part_offset += run->part->len;
		run->part = run->part->next;
	}
	*offset = run->offset;
	if (!run->part || run->offset < run->part_offset ||
	    run->offset + size > run->part_offset + run->part->len)
		return skb;
	*offset -= run->part_offset;
	return run->part;
}

/* @transport: the headers of the packet from BTH to payload */
static bool icrc_is_right(const struct sk_buff *skb,
			  const struct roce_packet *packet, const void *transport)
{
	struct roce_ip_headers headers;
	struct skb_seq_state state;
	u32 from = packet->offset;
	u32 to = from + packet->payload + packet->pad;
	u32 seen = 0, n;
	const u8 *data;
	__le32 icrc;
	u32 crc;

	received_ip_headers(skb, packet->index, roce_packet_size(packet),
			    &headers);
	crc = roce_icrc_begin(&headers, transport, packet->info->header_length);

	/* It wants to write, though nothing is written. */
	skb_prepare_seq_read((struct sk_buff *)packet->skb, from, to, &state);
	while (seen < to - from && (n = skb_seq_read(seen, &data, &state))) {
		/* The last piece may reach beyond the end. */
		n = min(n, to - from - seen);
		crc = roce_icrc_update(crc, data, n);
		seen += n;
	}
	skb_abort_seq_read(&state);

	return !skb_copy_bits(packet->skb, to, &icrc, sizeof(icrc)) &&
	       icrc == roce_icrc_finish(crc);
}

static const void *take_header(const void **place, size_t size)
{
	const void *header = *place;

	*place += size;
	return header;
}

static void parse_extended_headers(struct roce_packet *packet, const void *place)
{
	u32 flags = packet->info->flags;

	if (flags & ROCE_HAS_DETH) {
		const struct roce_deth *deth = take_header(&place, sizeof(*deth));

		packet->qkey = be32_to_cpu(deth->qkey);
		packet->source_qpn = be32_to_cpu(deth->source_qpn) &
				     ROCE_BTH_LOW_24;
	}
	if (flags & ROCE_HAS_FETH) {
		const struct roce_feth *feth = take_header(&place, sizeof(*feth));

		packet->flush = be32_to_cpu(feth->flush);
	}
	if (flags & ROCE_HAS_RETH) {
		const struct roce_reth *reth = take_header(&place, sizeof(*reth));

		packet->va = be64_to_cpu(reth->va);
		packet->rkey = be32_to_cpu(reth->rkey);
		packet->length = be32_to_cpu(reth->length);
	}
	if (flags & ROCE_HAS_AETH) {
		const struct roce_aeth *aeth = take_header(&place, sizeof(*aeth));
		u32 word = be32_to_cpu(aeth->syndrome_msn);

		packet->syndrome = word >> 24;
		packet->msn = word & ROCE_BTH_LOW_24;
	}
	if (flags & ROCE_HAS_ATOMIC_ETH) {
		const struct roce_atomic_eth *atomic =
			take_header(&place, sizeof(*atomic));

		packet->va = be64_to_cpu(atomic->va);
		packet->rkey = be32_to_cpu(atomic->rkey);
		packet->swap_add = be64_to_cpu(atomic->swap_add);
		packet->compare = be64_to_cpu(atomic->compare);
	}
	if (flags & ROCE_HAS_ATOMIC_ACK_ETH) {
		const struct roce_atomic_ack_eth *ack =
			take_header(&place, sizeof(*ack));

		packet->original = be64_to_cpu(ack->original);
	}
	if (flags & ROCE_HAS_IMMEDIATE) {
		const struct roce_immediate *immediate =
			take_header(&place, sizeof(*immediate));

		packet->immediate = immediate->data;
	}
	if (flags & ROCE_HAS_INVALIDATE) {
		const struct roce_immediate *rkey =
			take_header(&place, sizeof(*rkey));

		packet->invalidate = be32_to_cpu(rkey->data);
	}
}

/*
 * False if the length does not fit the opcode. What the BTH has is valid even
 * then.
 */
static bool parse_bth(struct roce_packet *packet, const struct roce_bth *bth,
		      u32 size)
{
	u32 overhead;

	packet->info = roce_opcode_info(bth->opcode);
	packet->opcode = bth->opcode;
	packet->solicited = bth->flags & ROCE_BTH_SOLICITED;
	packet->pad = (bth->flags & ROCE_BTH_PAD_MASK) >> ROCE_BTH_PAD_SHIFT;
	packet->pkey = be16_to_cpu(bth->pkey);
	packet->qpn = be32_to_cpu(bth->qpn) & ROCE_BTH_LOW_24;
	packet->psn = be32_to_cpu(bth->psn) & ROCE_PSN_MASK;
	packet->ack_request = be32_to_cpu(bth->psn) & ROCE_BTH_ACK_REQUEST;

	overhead = packet->info->header_length + packet->pad + ROCE_ICRC_SIZE;
	if (size < overhead)
		return false;
	packet->payload = size - overhead;
	if (packet->info->flags & ROCE_HAS_PAYLOAD)
		return packet->pad == roce_packet_pad(packet->payload);
	return packet->payload == 0 && packet->pad == 0;
}

/*
 * Copy and check the packet of @size bytes at the start of the run. Returns the
 * counter of what is wrong with it, or -1 if it is good.
 */
static int parse_packet(struct sk_buff *skb, u32 size,
			struct roce_packet *packet)
{
	struct roce_run *run = roce_run(skb);
	u8 buffer[ROCE_MAX_HEADERS] __aligned(8);
	struct roce_bth *bth = (struct roce_bth *)buffer;
	bool length_fits;
	u32 offset;

	packet->psn = 0;
	packet->skb = roce_run_part(skb, run, size, &offset);
	packet->index = run->index;
	if (size < sizeof(*bth) + ROCE_ICRC_SIZE ||
	    skb_copy_bits(packet->skb, offset, buffer,
			  min_t(u32, size, sizeof(buffer))))
		return ROCE_COUNTER_rx_dropped_length;
	length_fits = parse_bth(packet, bth, size);
	if (bth->flags & ROCE_BTH_VERSION_MASK)
		return ROCE_COUNTER_rx_dropped_header;
	if (!(packet->info->flags & ROCE_IS_VALID))
		return ROCE_COUNTER_rx_dropped_opcode;
	if (!length_fits)
		return ROCE_COUNTER_rx_dropped_length;
	packet->offset = offset + packet->info->header_length;
	if (!icrc_is_right(skb, packet, buffer))
		return ROCE_COUNTER_rx_icrc_encapsulated;
	if (!(packet->pkey & ROCE_PKEY_INDEX_MASK) ||
	    (packet->pkey | 0x8000) != ROCE_DEFAULT_PKEY)
		return ROCE_COUNTER_rx_dropped_pkey;

	parse_extended_headers(packet, buffer + sizeof(*bth));
	return -1;
}

/**
 * roce_run_next() - the next good packet of a received run
 * @skb: with a &struct roce_run in its control block, which moves on
 * @qp: to which the run belongs
 * @packet: to be filled in; its payload lies in @skb, or in its chain
 *
 * What is returned is well formed: length and pad fit the opcode, the ICRC is
 * right, the partition is ours. A bad packet is dropped and skipped.
 *
 * Return: false at the end of the run.
 */
bool roce_run_next(struct sk_buff *skb, struct roce_qp *qp,
		   struct roce_packet *packet)
{
	struct roce_run *run = roce_run(skb);

	while (run->offset < run->end) {
		u32 size = min(run->segment, run->end - run->offset);
		int complaint = parse_packet(skb, size, packet);

		run->offset += size;
		run->index++;
		if (complaint < 0) {
			roce_count(qp, rx_packets);
			roce_count_add(qp, rx_bytes, size);
			if (packet->qpn == ROCE_QPN_MULTICAST)
				roce_count(qp, rx_multicast_packets);
			return true;
		}
		roce_drop_packet(qp, complaint, packet->psn);
	}
	return false;
}

/**
 * roce_packet_ip_headers() - the headers below a received packet, as they were on
 *	the wire
 * @skb: of its run
 * @packet: of roce_run_next()
 * @headers: to be filled in
 */
void roce_packet_ip_headers(const struct sk_buff *skb,
			    const struct roce_packet *packet,
			    struct roce_ip_headers *headers)
{
	received_ip_headers(skb, packet->index,
			    roce_packet_size(packet), headers);
	if (!headers->ipv6)
		ip_send_check(&headers->v4);
}
