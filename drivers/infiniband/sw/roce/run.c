// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs: packets of one datagram for the same half of the same QP, which are taken in
 * place. The headers of each packet are copied once and checked, and only the copy is
 * used from then on. The payload stays where it is until it is placed in memory.
 */
#include <net/ip.h>
#include <net/ipv6.h>

#include "codec.h"
#include "compat.h"
#include "counters.h"
#include "icrc.h"
#include "packet.h"
#include "qp.h"
#include "roce_opcode.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "run.h"

/* Whether the packets of a datagram have consecutive identifications, not the same one */
static bool counts_identification(const struct sk_buff *skb)
{
	return !roce_is_ipv6(skb) &&
	       !(skb_shinfo(skb)->gso_type & SKB_GSO_TCP_FIXEDID) &&
	       !roce_run((struct sk_buff *)skb)->same_identification;
}

/* The IP and UDP headers of packet number @index of a received datagram */
static void received_ip_headers(const struct sk_buff *skb, u32 index, u32 size,
				struct roce_ip_headers *headers)
{
	headers->udp = *udp_hdr(skb);
	headers->ipv6 = roce_is_ipv6(skb);
	if (headers->ipv6)
		headers->v6 = *ipv6_hdr(skb);
	else
		headers->v4 = *ip_hdr(skb);
	if (counts_identification(skb))
		be16_add_cpu(&headers->v4.id, index);
	roce_ip_headers_set_lengths(headers, size);
}

/**
 * roce_run_init() - make one run from all packets of a datagram
 * @skb: the datagram; network and transport header are set
 * @segment: bytes of each packet except for the last one
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

/*
 * Find the next packet of a run: in one sk_buff of the chain, else in @skb.
 *
 * GRO makes a chain of sk_buffs with a packet in each. A search from the head for each
 * packet would cost more than GRO saves.
 */
static const struct sk_buff *find_part(const struct sk_buff *skb,
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

/*
 * Return the bytes in place if they are contiguous, else NULL. They are most often in
 * the fragment *@fragment of the last call, which begins at *@start.
 */
static const void *in_one_piece(const struct sk_buff *skb, u32 offset, u32 size,
				u8 *fragment, u32 *start)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 head = skb_headlen(skb);

	if (offset + size <= head)
		return skb->data + offset;
	if (offset < head || !skb_frags_readable(skb))
		return NULL;
	if (*start < head || offset < *start) {
		*fragment = 0;
		*start = head;
	}
	for (; *fragment < info->nr_frags; ++*fragment) {
		const skb_frag_t *frag = &info->frags[*fragment];
		u32 end = *start + skb_frag_size(frag);

		if (offset < end)
			return offset + size > end || PageHighMem(skb_frag_page(frag)) ?
			       NULL : skb_frag_address(frag) + offset - *start;
		*start = end;
	}
	return NULL;
}

static noinline const void *in_one_piece_of_part(const struct sk_buff *part, u32 offset,
						 u32 size)
{
	u8 fragment = 0;
	u32 start = 0;

	return in_one_piece(part, offset, size, &fragment, &start);
}

/* Find the next @size bytes of a run. Returns them if they are contiguous. */
static const void *find_bytes(const struct sk_buff *skb, struct roce_run *run, u32 size,
			      const struct sk_buff **part, u32 *offset)
{
	*part = run->part ? find_part(skb, run, size, offset) : skb;
	if (*part != skb)
		return in_one_piece_of_part(*part, *offset, size);
	*offset = run->offset;
	return in_one_piece(skb, run->offset, size, &run->fragment,
			    &run->fragment_offset);
}

/**
 * roce_run_copy() - copy the first bytes of the next packet, which nobody has checked yet
 * @skb: of the run
 * @run: at that packet
 * @to: to be filled in
 * @size: number of bytes
 *
 * Return: false if the packet is incomplete.
 */
bool roce_run_copy(const struct sk_buff *skb, struct roce_run *run, void *to, u32 size)
{
	const struct sk_buff *part;
	const void *bytes;
	u32 offset;

	bytes = find_bytes(skb, run, size, &part, &offset);
	if (!bytes)
		return !skb_copy_bits(part, offset, to, size);
	memcpy(to, bytes, size);
	return true;
}

/**
 * roce_run_skip() - go to the next packet with another opcode, for another QP, or of an
 * earlier PSN
 * @skb: of the run
 * @run: moved to that packet
 * @goes_back: set: the PSN is before that of the packet before it
 *
 * Return: false if there is none, or a packet is incomplete.
 */
bool roce_run_skip(const struct sk_buff *skb, struct roce_run *run, bool *goes_back)
{
	struct roce_bth before, next;

	if (!roce_run_copy(skb, run, &next, sizeof(next)))
		return false;
	do {
		before = next;
		run->offset += run->segment;
		run->index++;
		if (run->offset >= run->end ||
		    !roce_run_copy(skb, run, &next, sizeof(next)))
			return false;
		*goes_back = roce_psn_diff(roce_bth_psn(&next), roce_bth_psn(&before)) < 0;
	} while (next.opcode == before.opcode && next.qpn == before.qpn && !*goes_back);
	return true;
}

/**
 * roce_run_split() - end a run before its end
 * @skb: of the run
 * @next: the run at one of its packets
 *
 * Return: a clone with the run @next, or NULL without memory; then nothing has changed.
 */
struct sk_buff *roce_run_split(struct sk_buff *skb, const struct roce_run *next)
{
	struct sk_buff *rest = skb_clone(skb, GFP_ATOMIC);

	if (rest) {
		roce_run(skb)->end = next->offset;
		*roce_run(rest) = *next;
	}
	return rest;
}

/* Continue @crc with the bytes of an sk_buff from @from to @to. */
static u32 crc_of_pieces(const struct sk_buff *skb, u32 from, u32 to, u32 crc)
{
	struct skb_seq_state state;
	u32 seen = 0, n;
	const u8 *data;

	/* The parameter is not const, though nothing is written. */
	skb_prepare_seq_read((struct sk_buff *)skb, from, to, &state);
	while (seen < to - from && (n = skb_seq_read(seen, &data, &state))) {
		/* The last piece may be longer. */
		n = min(n, to - from - seen);
		crc = roce_icrc_update(crc, data, n);
		seen += n;
	}
	skb_abort_seq_read(&state);
	return crc;
}

static noinline void set_icrc_prefix(struct sk_buff *skb,
				     const struct roce_packet *packet,
				     u32 size, const struct roce_bth *bth)
{
	struct roce_ip_headers headers;

	received_ip_headers(skb, packet->index, size, &headers);
	roce_icrc_set_prefix(&roce_run(skb)->prefix, &headers, bth, size);
}

/*
 * Check the ICRC of a packet of @size bytes, which is positioned after its BTH. What
 * follows the prefix is taken in one piece: a CRC of a few bytes costs as much as that of
 * many.
 */
static bool has_icrc_of_headers(struct sk_buff *skb, const struct roce_packet *packet,
				u32 size, const struct roce_bth *bth)
{
	const u32 back = sizeof(*bth) - ROCE_ICRC_BTH_BYTES;
	const u32 covered = size - sizeof(*bth) - ROCE_ICRC_SIZE;
	const struct roce_icrc_prefix *prefix = &roce_run(skb)->prefix;
	__le32 icrc;
	u32 crc;

	if (counts_identification(skb) || !roce_icrc_has_prefix(prefix, bth, size))
		set_icrc_prefix(skb, packet, size, bth);
	crc = packet->data ? roce_icrc_update(prefix->crc, packet->data - back,
					      back + covered) :
			     crc_of_pieces(packet->skb, packet->offset - back,
					   packet->offset + covered, prefix->crc);
	return !roce_packet_copy(packet, covered, &icrc, sizeof(icrc)) &&
	       icrc == roce_icrc_finish(crc);
}

/*
 * The stack's own GRO, for packets that are forwarded to a container or a VM, merges those
 * with the same identification, and does not say so.
 */
static noinline bool has_same_identification(struct sk_buff *skb,
					     const struct roce_packet *packet, u32 size,
					     const struct roce_bth *bth)
{
	struct roce_run *run = roce_run(skb);

	if (!packet->index || !counts_identification(skb) ||
	    !(ip_hdr(skb)->frag_off & htons(IP_DF)))
		return false;
	run->same_identification = true;
	run->prefix.size = 0;
	if (has_icrc_of_headers(skb, packet, size, bth))
		return true;
	run->same_identification = false;
	return false;
}

static bool icrc_is_right(struct sk_buff *skb, const struct roce_packet *packet, u32 size,
			  const struct roce_bth *bth)
{
	return likely(has_icrc_of_headers(skb, packet, size, bth)) ||
	       has_same_identification(skb, packet, size, bth);
}

/* Derive the payload from the length; false if the length does not fit the opcode. */
static bool take_length(struct roce_packet *packet, u32 size)
{
	u32 overhead = packet->info->header_length + packet->pad + ROCE_ICRC_SIZE;

	packet->payload = 0;
	if (size < overhead)
		return false;
	packet->payload = size - overhead;
	if (packet->info->flags & ROCE_HAS_PAYLOAD)
		return packet->pad == roce_packet_pad(packet->payload);
	return packet->payload == 0 && packet->pad == 0;
}

static bool is_of_partition(const struct roce_packet *packet)
{
	return packet->pkey & ROCE_PKEY_INDEX_MASK &&
	       (packet->pkey | 0x8000) == ROCE_DEFAULT_PKEY;
}

/*
 * A responder of RC sends a NAK for packets that others drop (IBA volume 1, 9.7.4.1.3 and
 * 9.7.4.1.6): requests of its service with a reserved opcode, or with a length or pad
 * that does not fit.
 */
static bool can_be_refused(const struct roce_qp *qp,
			   const struct roce_packet *packet)
{
	return roce_qp_is_reliable(qp) &&
	       (packet->opcode & ROCE_SERVICE_MASK) == ROCE_SERVICE_RC &&
	       !(packet->info->flags & ROCE_IS_RESPONSE);
}

/* Copy the next @length bytes of headers, which are not read in place. */
static bool take_headers(struct roce_packet *packet, void *to, u32 length)
{
	if (roce_packet_copy(packet, 0, to, length))
		return false;
	packet->offset += length;
	if (packet->data)
		packet->data += length;
	return true;
}

/* Copy the headers after the BTH. */
static noinline bool take_extended_headers(struct roce_packet *packet)
{
	u32 length = packet->info->header_length - sizeof(struct roce_bth);
	u8 buffer[ROCE_MAX_HEADERS] __aligned(8);
	void *headers = buffer + sizeof(struct roce_bth);

	if (!take_headers(packet, headers, length))
		return false;
	roce_codec_parse_extended(packet, headers);
	return true;
}

/* The opcode is reserved, or length or pad do not fit. */
static int complain_of_shape(const struct roce_qp *qp, struct sk_buff *skb, u32 size,
			     const struct roce_bth *bth, struct roce_packet *packet)
{
	packet->malformed =
		can_be_refused(qp, packet) &&
		icrc_is_right(skb, packet, size, bth) &&
		is_of_partition(packet);
	return packet->info->flags & ROCE_IS_VALID ? ROCE_COUNTER_rx_dropped_length :
						     ROCE_COUNTER_rx_dropped_opcode;
}

/*
 * Copy and check the packet of @size bytes at the start of the run. Returns -1, or the
 * counter of the error.
 */
static int parse_packet(const struct roce_qp *qp, struct sk_buff *skb, u32 size,
			struct roce_packet *packet)
{
	struct roce_run *run = roce_run(skb);
	struct roce_bth bth;
	bool length_fits;

	packet->psn = 0;
	packet->malformed = false;
	packet->data = find_bytes(skb, run, size, &packet->skb, &packet->offset);
	packet->index = run->index;
	if (size < sizeof(bth) + ROCE_ICRC_SIZE ||
	    !take_headers(packet, &bth, sizeof(bth)))
		return ROCE_COUNTER_rx_dropped_length;
	roce_codec_parse_bth(&bth, packet);
	length_fits = take_length(packet, size);
	if (bth.flags & ROCE_BTH_VERSION_MASK)
		return ROCE_COUNTER_rx_dropped_header;
	if (!(packet->info->flags & ROCE_IS_VALID) || !length_fits)
		return complain_of_shape(qp, skb, size, &bth, packet);

	if (!run->checked && !icrc_is_right(skb, packet, size, &bth))
		return ROCE_COUNTER_rx_icrc_encapsulated;
	if (packet->info->header_length > sizeof(bth) &&
	    !take_extended_headers(packet))
		return ROCE_COUNTER_rx_dropped_length;
	if (!is_of_partition(packet))
		return ROCE_COUNTER_rx_dropped_pkey;
	return -1;
}

/* Like parse_packet(), for the next packet; moves the run on. */
static int take_packet(const struct roce_qp *qp, struct sk_buff *skb,
		       struct roce_packet *packet)
{
	struct roce_run *run = roce_run(skb);
	u32 size = min_t(u32, run->segment, run->end - run->offset);
	int complaint = parse_packet(qp, skb, size, packet);

	run->offset += size;
	run->index++;
	return complaint;
}

static void count_packet(struct roce_qp *qp, const struct roce_packet *packet)
{
	roce_count(qp, rx_packets);
	roce_count_add(qp, rx_bytes, roce_packet_size(packet));
	if (packet->qpn == ROCE_QPN_MULTICAST)
		roce_count(qp, rx_multicast_packets);
}

/**
 * roce_run_check() - get the next good packet of a run that several QPs may receive
 * @skb: with a &struct roce_run in its control block, which moves on
 * @qp: one of the QPs; counts bad packets, which are skipped
 * @packet: to be filled in
 * @alone: set to a run of this packet alone, whose ICRC is not checked again
 *
 * The packet is not counted: each QP that receives it does so.
 *
 * Return: false at the end of the run.
 */
bool roce_run_check(struct sk_buff *skb, struct roce_qp *qp,
		    struct roce_packet *packet, struct roce_run *alone)
{
	struct roce_run *run = roce_run(skb);

	while (run->offset < run->end) {
		int complaint;

		*alone = *run;
		complaint = take_packet(qp, skb, packet);
		alone->end = run->offset;
		alone->checked = true;
		alone->same_identification = run->same_identification;
		if (complaint < 0)
			return true;
		roce_drop_packet(qp, complaint, packet->psn);
	}
	return false;
}

/**
 * roce_run_next() - get the next good packet of a received run
 * @skb: with a &struct roce_run in its control block, which moves on
 * @qp: destination of the run
 * @packet: to be filled in; its payload lies in @skb, or in its chain
 *
 * The packet is well formed: length and pad fit the opcode, ICRC and partition are
 * right. Bad packets are counted as dropped and skipped, except for a request that an
 * RC responder must refuse, which is returned as malformed.
 *
 * Return: false at the end of the run.
 */
bool roce_run_next(struct sk_buff *skb, struct roce_qp *qp,
		   struct roce_packet *packet)
{
	struct roce_run *run = roce_run(skb);

	while (run->offset < run->end) {
		int complaint = take_packet(qp, skb, packet);

		packet->again = run->again;
		run->again = false;
		if (complaint < 0) {
			if (!packet->again)
				count_packet(qp, packet);
			return true;
		}
		roce_drop_packet(qp, complaint, packet->psn);
		if (packet->malformed)
			return true;
	}
	return false;
}

/**
 * roce_run_return() - return the latest packet to its run
 * @skb: of the run, which is kept for later
 * @packet: the latest one that roce_run_next() returned
 */
void roce_run_return(struct sk_buff *skb, const struct roce_packet *packet)
{
	struct roce_run *run = roce_run(skb);

	run->offset -= roce_packet_size(packet);
	run->index--;
	run->again = true;
	run->early = true;
	/* early_psn shares memory with the prefix, which is computed again. */
	run->prefix.size = 0;
	run->early_psn = packet->psn;
}

/**
 * roce_run_ip_headers() - get the IP and UDP header of a received packet, as on the wire
 * @skb: of its run
 * @packet: returned by roce_run_next()
 * @headers: to be filled in
 */
void roce_run_ip_headers(const struct sk_buff *skb,
			 const struct roce_packet *packet,
			 struct roce_ip_headers *headers)
{
	received_ip_headers(skb, packet->index,
			    roce_packet_size(packet), headers);
	if (!headers->ipv6)
		ip_send_check(&headers->v4);
}

/**
 * roce_run_addresses() - get the addresses of a datagram
 * @skb: its network header is set
 * @source: set, IPv4 as ::ffff:a.b.c.d
 * @destination: set, in the same form
 */
void roce_run_addresses(const struct sk_buff *skb, struct in6_addr *source,
			struct in6_addr *destination)
{
	if (roce_is_ipv6(skb)) {
		*source = ipv6_hdr(skb)->saddr;
		*destination = ipv6_hdr(skb)->daddr;
		return;
	}
	ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, source);
	ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, destination);
}
