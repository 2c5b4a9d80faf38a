// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Trains: what is built is parsed again, and what is damaged, truncated or hostile is
 * dropped alone.
 */
#include <linux/udp.h>
#include <net/gso.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>

#include "fixture.h"

#define SOURCE_PORT	0xc123
#define QPN		0x123456
#define MAX_PAYLOAD	4096

/**
 * struct bench - the state of a test
 * @dev: a device
 * @qp: counts bad packets
 * @av: a path, not used
 * @bytes: to send
 * @copy: room for a packet
 */
struct bench {
	struct roce_device *dev;
	struct roce_qp *qp;
	struct roce_av av;
	u8 bytes[MAX_PAYLOAD + ROCE_TRAIN_MAX_PACKETS];
	u8 copy[MAX_PAYLOAD + 256];
};

/**
 * struct plan - a train
 * @ipv6: IPv6, else IPv4
 * @packets: number of packets
 * @payload: bytes of each packet
 * @last: bytes of the last packet
 */
struct plan {
	bool ipv6;
	u32 packets;
	u32 payload;
	u32 last;
};

static const struct plan plans[] = {
	{ false, 1, 0, 0 }, { false, 1, 1, 1 }, { true, 1, 2, 2 },
	{ false, 1, 3, 3 }, { true, 1, 4096, 4096 },
	{ false, 2, 0, 0 }, { true, 2, 1, 1 }, { false, 3, 255, 254 },
	{ false, 64, 1, 1 }, { true, 64, 256, 1 }, { false, 63, 1000, 999 },
	{ false, 62, 1024, 1024 }, { true, 62, 1024, 0 },
	{ false, 15, 4096, 4096 }, { true, 15, 4096, 1 }, { false, 31, 2048, 3 },
};

#define FIRST_PSN	0xfffffe

static const struct bench *bench_of(struct kunit *test)
{
	return test->priv;
}

static struct roce_packet describe(u8 opcode, u32 psn, u32 payload)
{
	return (struct roce_packet) {
		.opcode = opcode, .info = roce_opcode_info(opcode),
		.qpn = QPN, .psn = psn, .payload = payload,
	};
}

static void open_train(struct roce_train *train, const struct bench *bench)
{
	roce_train_open(train, &bench->av, SOURCE_PORT);
}

/* Packet number n carries the bytes from the n-th one on. */
static int add(struct roce_train *train, const struct bench *bench, u32 n,
	       u32 payload)
{
	struct roce_packet packet = describe(ROCE_SEND_MIDDLE,
					     roce_psn_add(FIRST_PSN, n), payload);

	if (!roce_train_fits(train, roce_packet_size(&packet)))
		return -ENOSPC;
	return roce_train_begin_packets(train, &packet, 1) ?:
	       roce_train_append(train, bench->bytes + n, payload) ?:
	       roce_train_end_packet(train);
}

static int build(const struct bench *bench, const struct plan *plan,
		 struct sk_buff **skb)
{
	struct roce_train train;
	int err = 0;
	u32 n;

	local_bh_disable();
	open_train(&train, bench);
	for (n = 0; !err && n < plan->packets; n++)
		err = add(&train, bench, n, n + 1 == plan->packets ?
			  plan->last : plan->payload);
	if (!err)
		*skb = roce_train_finish(&train);
	else
		roce_train_drop(&train);
	local_bh_enable();
	return err;
}

static struct sk_buff *built(struct kunit *test, const struct plan *plan)
{
	struct bench *bench = test->priv;
	struct sk_buff *skb = NULL;

	bench->av.ipv6 = plan->ipv6;
	KUNIT_ASSERT_EQ(test, build(bench, plan, &skb), 0);
	return skb;
}

/* Turn a sent train into a received one. */
static void turn_round(struct sk_buff *skb)
{
	skb_pull(skb, skb_network_header_len(skb));
	roce_run_init(skb, skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
					     skb->len);
}

static void compare(struct kunit *test, struct sk_buff *skb, u32 n, u32 payload,
		    const struct roce_packet *packet)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_EQ(test, packet->opcode, ROCE_SEND_MIDDLE);
	KUNIT_EXPECT_EQ(test, packet->qpn, QPN);
	KUNIT_EXPECT_EQ(test, packet->psn, (FIRST_PSN + n) & 0xffffff);
	KUNIT_ASSERT_EQ(test, packet->payload, payload);
	KUNIT_ASSERT_EQ(test, 0, skb_copy_bits(skb, packet->offset, bench->copy,
					       payload));
	KUNIT_EXPECT_EQ(test, 0, memcmp(bench->copy, bench->bytes + n, payload));
}

static void walk(struct kunit *test, struct sk_buff *skb, const struct plan *plan)
{
	struct roce_packet packet;
	u32 n;

	for (n = 0; n < plan->packets; n++) {
		KUNIT_ASSERT_TRUE(test, fixture_next_packet(skb, bench_of(test)->qp,
							    &packet));
		compare(test, skb, n, n + 1 == plan->packets ?
			plan->last : plan->payload, &packet);
	}
	KUNIT_EXPECT_FALSE(test, fixture_next_packet(skb, bench_of(test)->qp,
						     &packet));
}

static void a_built_train_is_parsed_again(struct kunit *test)
{
	const struct plan *plan = test->param_value;
	struct sk_buff *skb = built(test, plan);

	turn_round(skb);
	walk(test, skb, plan);
	kfree_skb(skb);
}

static void each_packet_is_complete_on_the_wire(struct kunit *test)
{
	const struct plan *plan = test->param_value;
	struct sk_buff *skb = built(test, plan), *single;
	struct roce_packet packet;
	u32 n;

	for (n = 0; (single = fixture_nth_packet(skb, n)); n++) {
		const u8 *ip = skb_network_header(single);
		u32 length = skb_tail_pointer(single) - ip;
		__le32 icrc;

		memcpy(&icrc, ip + length - sizeof(icrc), sizeof(icrc));
		KUNIT_EXPECT_EQ(test, (__force u32)icrc,
				(__force u32)fixture_icrc(ip, length));
		roce_run_init(single, single->len);
		KUNIT_EXPECT_TRUE(test, fixture_next_packet(single, bench_of(test)->qp,
							    &packet));
		compare(test, single, n, n + 1 == plan->packets ?
			plan->last : plan->payload, &packet);
		kfree_skb(single);
	}
	KUNIT_EXPECT_EQ(test, n, plan->packets);
	kfree_skb(skb);
}

/* The kernel does this where the netdev has no segmentation offload. */
static void software_segmentation_makes_right_packets(struct kunit *test)
{
	const struct plan *plan = test->param_value;
	struct sk_buff *skb = built(test, plan), *segments, *segment, *next;
	struct roce_packet packet;
	u32 n = 0;

	if (plan->packets == 1) {
		kfree_skb(skb);
		kunit_skip(test, "nothing to cut");
	}
	segments = skb_gso_segment(skb, 0);
	kfree_skb(skb);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, segments);
	skb_list_walk_safe(segments, segment, next) {
		skb_pull(segment, skb_network_header_len(segment));
		roce_run_init(segment, segment->len);
		KUNIT_EXPECT_TRUE(test, fixture_next_packet(segment,
							    bench_of(test)->qp,
						      &packet));
		compare(test, segment, n, n + 1 == plan->packets ?
			plan->last : plan->payload, &packet);
		n++;
	}
	kfree_skb_list(segments);
	KUNIT_EXPECT_EQ(test, n, plan->packets);
}

static void a_train_has_what_segmentation_needs(struct kunit *test)
{
	static const struct plan plan = { false, 3, 100, 50 };
	struct sk_buff *skb = built(test, &plan);
	u32 udp_length = 8 + 2 * (12 + 100 + 4) + 12 + 52 + 4;

	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_type,
			SKB_GSO_UDP_L4 | ROCE_COMPAT_GSO_FIXED_ID);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_size, 12 + 100 + 4);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, 3);
	KUNIT_EXPECT_EQ(test, (int)skb->ip_summed, CHECKSUM_PARTIAL);
	KUNIT_EXPECT_EQ(test, skb->csum_offset, 6);
	KUNIT_EXPECT_EQ(test, skb->head + skb->csum_start - skb->data, 20);
	KUNIT_EXPECT_EQ(test, ntohs(udp_hdr(skb)->len), udp_length);
	KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(skb)->tot_len), 20 + udp_length);
	KUNIT_EXPECT_EQ(test, (__force u16)udp_hdr(skb)->check,
			(__force u16)~csum_tcpudp_magic(ip_hdr(skb)->saddr,
							ip_hdr(skb)->daddr,
							udp_length, IPPROTO_UDP,
							0));
	kfree_skb(skb);
}

/* As for a NIC whose segmentation must not be used */
static void a_train_is_cut_without_copies(struct kunit *test)
{
	static const struct plan plan = { false, 3, 1000, 50 };
	struct sk_buff *skb = built(test, &plan), *segments, *segment, *next;
	struct page *page = skb_frag_page(&skb_shinfo(skb)->frags[0]);
	u32 n = 0;

	skb->dev = init_net.loopback_dev;
	segments = roce_train_cut(skb);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, segments);
	skb_list_walk_safe(segments, segment, next) {
		KUNIT_EXPECT_FALSE(test, skb_is_gso(segment));
		KUNIT_EXPECT_EQ(test, (int)segment->ip_summed, CHECKSUM_PARTIAL);
		KUNIT_EXPECT_EQ(test, skb_shinfo(segment)->nr_frags, 1);
		KUNIT_EXPECT_PTR_EQ(test, page,
				    skb_frag_page(&skb_shinfo(segment)->frags[0]));
		KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(segment)->id), 0);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n, 3);
	kfree_skb_list(segments);
	kfree_skb(skb);
}

static void a_lone_packet_needs_no_segmentation(struct kunit *test)
{
	static const struct plan plan = { true, 1, 4096, 4096 };
	struct sk_buff *skb = built(test, &plan);

	KUNIT_EXPECT_FALSE(test, skb_is_gso(skb));
	KUNIT_EXPECT_EQ(test, ntohs(udp_hdr(skb)->len), 8 + 12 + 4096 + 4);
	KUNIT_EXPECT_EQ(test, ntohs(ipv6_hdr(skb)->payload_len), 8 + 12 + 4096 + 4);
	kfree_skb(skb);
}

/* IPv4 allows a checksum of zero; IPv6 discourages it. */
static void a_lone_packet_has_a_checksum_over_ipv6_only(struct kunit *test)
{
	static const struct plan plans[] = { { false, 1, 8, 8 }, { true, 1, 8, 8 } };
	struct sk_buff *skb;

	skb = built(test, &plans[0]);
	KUNIT_EXPECT_EQ(test, (int)skb->ip_summed, CHECKSUM_NONE);
	KUNIT_EXPECT_EQ(test, (__force u16)udp_hdr(skb)->check, 0);
	kfree_skb(skb);

	skb = built(test, &plans[1]);
	KUNIT_EXPECT_EQ(test, (int)skb->ip_summed, CHECKSUM_PARTIAL);
	KUNIT_EXPECT_EQ(test, skb_checksum_help(skb), 0);
	KUNIT_EXPECT_EQ(test, 0,
			(__force u16)csum_ipv6_magic(&ipv6_hdr(skb)->saddr,
						     &ipv6_hdr(skb)->daddr,
						     8 + 24, IPPROTO_UDP,
						     skb_checksum(skb, 40, 32, 0)));
	kfree_skb(skb);
}

static void ip_and_udp_headers_follow_the_address_vector(struct kunit *test)
{
	static const struct plan plans[] = { { false, 2, 8, 8 }, { true, 2, 8, 8 } };
	struct sk_buff *skb;

	skb = built(test, &plans[0]);
	KUNIT_EXPECT_EQ(test, ip_hdr(skb)->tos, 0x6a);
	KUNIT_EXPECT_EQ(test, ip_hdr(skb)->ttl, 33);
	KUNIT_EXPECT_EQ(test, ip_hdr(skb)->protocol, IPPROTO_UDP);
	KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(skb)->frag_off), IP_DF);
	KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(skb)->id), 0);
	KUNIT_EXPECT_EQ(test, ntohl(ip_hdr(skb)->saddr), 0x0a000001);
	KUNIT_EXPECT_EQ(test, ntohl(ip_hdr(skb)->daddr), 0x0a000002);
	KUNIT_EXPECT_EQ(test, ntohs(udp_hdr(skb)->source), SOURCE_PORT);
	KUNIT_EXPECT_EQ(test, ntohs(udp_hdr(skb)->dest), 4791);
	kfree_skb(skb);

	skb = built(test, &plans[1]);
	KUNIT_EXPECT_EQ(test, ntohl(*(__be32 *)ipv6_hdr(skb)), 0x66a54321);
	KUNIT_EXPECT_EQ(test, ipv6_hdr(skb)->hop_limit, 33);
	KUNIT_EXPECT_EQ(test, ipv6_hdr(skb)->nexthdr, IPPROTO_UDP);
	KUNIT_EXPECT_EQ(test, ntohl(ipv6_hdr(skb)->saddr.s6_addr32[3]), 0x0a000001);
	KUNIT_EXPECT_EQ(test, ntohl(ipv6_hdr(skb)->daddr.s6_addr32[3]), 0x0a000002);
	kfree_skb(skb);
}

/* Every field has a different value, which only the right header carries. */
static struct roce_packet full_description(u8 opcode)
{
	struct roce_packet packet = describe(opcode, 0xabcdef, 0);

	packet.solicited = true;
	packet.ack_request = true;
	packet.qkey = 0x11223344;
	packet.source_qpn = 0x554433;
	packet.va = 0x8877665544332211;
	packet.rkey = 0xcafef00d;
	packet.length = 0x7edcba98;
	packet.swap_add = 0x0102030405060708;
	packet.compare = 0xf1f2f3f4f5f6f7f8;
	packet.syndrome = 0x63;
	packet.msn = 0x998877;
	packet.original = 0xdeadbeefcafebabe;
	packet.immediate = cpu_to_be32(0x600df00d);
	packet.invalidate = 0x12345678;
	if (packet.info->flags & ROCE_HAS_PAYLOAD)
		packet.payload = 5;
	return packet;
}

static void same(struct kunit *test, u8 opcode, u64 seen, u64 sent)
{
	KUNIT_EXPECT_EQ_MSG(test, seen, sent, "opcode 0x%02x", opcode);
}

static void compare_bth(struct kunit *test, const struct roce_packet *sent,
			const struct roce_packet *seen)
{
	same(test, sent->opcode, seen->opcode, sent->opcode);
	same(test, sent->opcode, seen->solicited, sent->solicited);
	same(test, sent->opcode, seen->ack_request, sent->ack_request);
	same(test, sent->opcode, seen->pkey, 0xffff);
	same(test, sent->opcode, seen->qpn, sent->qpn);
	same(test, sent->opcode, seen->psn, sent->psn);
	same(test, sent->opcode, seen->payload, sent->payload);
}

static void compare_extended(struct kunit *test, const struct roce_packet *sent,
			     const struct roce_packet *seen)
{
	u16 flags = sent->info->flags;

	if (flags & ROCE_HAS_DETH) {
		same(test, sent->opcode, seen->qkey, sent->qkey);
		same(test, sent->opcode, seen->source_qpn, sent->source_qpn);
	}
	if (flags & (ROCE_HAS_RETH | ROCE_HAS_ATOMIC_ETH)) {
		same(test, sent->opcode, seen->va, sent->va);
		same(test, sent->opcode, seen->rkey, sent->rkey);
	}
	if (flags & ROCE_HAS_RETH)
		same(test, sent->opcode, seen->length, sent->length);
	if (flags & ROCE_HAS_ATOMIC_ETH) {
		same(test, sent->opcode, seen->swap_add, sent->swap_add);
		same(test, sent->opcode, seen->compare, sent->compare);
	}
	if (flags & ROCE_HAS_AETH) {
		same(test, sent->opcode, seen->syndrome, sent->syndrome);
		same(test, sent->opcode, seen->msn, sent->msn);
	}
	if (flags & ROCE_HAS_ATOMIC_ACK_ETH)
		same(test, sent->opcode, seen->original, sent->original);
	if (flags & ROCE_HAS_IMMEDIATE)
		same(test, sent->opcode, be32_to_cpu(seen->immediate),
		     be32_to_cpu(sent->immediate));
	if (flags & ROCE_HAS_INVALIDATE)
		same(test, sent->opcode, seen->invalidate, sent->invalidate);
}

static struct sk_buff *lone_packet(struct kunit *test,
				   const struct roce_packet *packet)
{
	const struct bench *bench = bench_of(test);

	return fixture_packet(test, &bench->av, SOURCE_PORT, packet, bench->bytes);
}

static void headers_of_every_opcode_are_parsed_again(struct kunit *test)
{
	struct roce_packet sent, seen;
	struct sk_buff *skb;
	int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		if (!roce_opcode_info(opcode)->flags)
			continue;
		sent = full_description(opcode);
		skb = lone_packet(test, &sent);
		turn_round(skb);
		KUNIT_EXPECT_TRUE(test, fixture_next_packet(skb, bench_of(test)->qp,
							    &seen));
		compare_bth(test, &sent, &seen);
		compare_extended(test, &sent, &seen);
		kfree_skb(skb);
	}
}

static void payload_may_come_in_pieces(struct kunit *test)
{
	static const u32 pieces[] = { 1, 4000, 3, 0, 91, 1 };
	static const struct plan plan = { false, 1, 4096, 4096 };
	struct roce_packet packet = describe(ROCE_SEND_MIDDLE, FIRST_PSN, 4096);
	const u8 *bytes = bench_of(test)->bytes;
	struct roce_train train;
	struct sk_buff *skb = NULL;
	int err, i;

	local_bh_disable();
	open_train(&train, test->priv);
	err = roce_train_begin_packets(&train, &packet, 1);
	for (i = 0; !err && i < ARRAY_SIZE(pieces); i++) {
		err = roce_train_append(&train, bytes, pieces[i]);
		bytes += pieces[i];
	}
	err = err ?: roce_train_end_packet(&train);
	if (!err)
		skb = roce_train_finish(&train);
	local_bh_enable();
	KUNIT_ASSERT_EQ(test, err, 0);
	turn_round(skb);
	walk(test, skb, &plan);
	kfree_skb(skb);
}

static int build_together(const struct bench *bench, u32 count, u32 payload,
			  struct sk_buff **skb)
{
	struct roce_packet packet = describe(ROCE_SEND_MIDDLE, FIRST_PSN, payload);
	struct roce_train train;
	int err;

	local_bh_disable();
	open_train(&train, bench);
	err = roce_train_begin_packets(&train, &packet, count) ?:
	      roce_train_append(&train, bench->bytes, 1) ?:
	      roce_train_append(&train, bench->bytes + 1, count * payload - 1) ?:
	      roce_train_end_packet(&train);
	*skb = err ? NULL : roce_train_finish(&train);
	local_bh_enable();
	return err;
}

static void packets_can_be_begun_together(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_packet packet;
	u32 count = 4, payload = 1000, n;
	struct sk_buff *skb;
	int ipv6;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		bench->av.ipv6 = ipv6;
		KUNIT_ASSERT_EQ(test, build_together(bench, count, payload, &skb), 0);
		KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, count);
		turn_round(skb);
		for (n = 0; n < count; n++) {
			KUNIT_ASSERT_TRUE(test, fixture_next_packet(skb, bench->qp, &packet));
			KUNIT_EXPECT_EQ(test, packet.psn, roce_psn_add(FIRST_PSN, n));
			KUNIT_ASSERT_EQ(test, packet.payload, payload);
			skb_copy_bits(skb, packet.offset, bench->copy, payload);
			KUNIT_EXPECT_EQ(test, 0, memcmp(bench->copy, bench->bytes +
							n * payload, payload));
		}
		KUNIT_EXPECT_FALSE(test, fixture_next_packet(skb, bench->qp, &packet));
		kfree_skb(skb);
	}
}

static void a_shorter_packet_is_the_last_one(struct kunit *test)
{
	const struct bench *bench = bench_of(test);
	struct roce_train train;
	int first, longer, shorter, after;

	local_bh_disable();
	open_train(&train, bench);
	first = add(&train, bench, 0, 100);
	longer = add(&train, bench, 1, 104);
	shorter = add(&train, bench, 1, 99 - 3);
	after = add(&train, bench, 2, 100);
	roce_train_drop(&train);
	local_bh_enable();

	KUNIT_EXPECT_EQ(test, first, 0);
	KUNIT_EXPECT_EQ(test, longer, -ENOSPC);
	KUNIT_EXPECT_EQ(test, shorter, 0);
	KUNIT_EXPECT_EQ(test, after, -ENOSPC);
}

/* Number of packets of a size that fit into a train, and their bytes */
static u32 capacity(struct kunit *test, u32 payload, u32 *bytes)
{
	const struct bench *bench = bench_of(test);
	struct roce_train train;
	u32 n = 0;
	int err;

	local_bh_disable();
	open_train(&train, bench);
	while (!(err = add(&train, bench, n, payload)))
		n++;
	*bytes = train.bytes;
	roce_train_drop(&train);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	return n;
}

static void a_train_is_bounded_in_packets_and_bytes(struct kunit *test)
{
	u32 bytes;

	KUNIT_EXPECT_EQ(test, capacity(test, 0, &bytes), 64);
	KUNIT_EXPECT_EQ(test, capacity(test, 256, &bytes), 64);
	KUNIT_EXPECT_EQ(test, capacity(test, 1024, &bytes), 65000 / 1040);
	KUNIT_EXPECT_LE(test, bytes, 65000);
	KUNIT_EXPECT_EQ(test, capacity(test, 4096, &bytes), 65000 / 4112);
	KUNIT_EXPECT_LE(test, bytes, 65000);
}

static int cancel_third(struct kunit *test, u32 payload, struct sk_buff **skb)
{
	const struct bench *bench = bench_of(test);
	struct roce_packet packet = describe(ROCE_SEND_MIDDLE,
					     roce_psn_add(FIRST_PSN, 2), payload);
	struct roce_train train;
	int err;

	local_bh_disable();
	open_train(&train, bench);
	err = add(&train, bench, 0, payload) ?:
	      add(&train, bench, 1, payload) ?:
	      roce_train_begin_packets(&train, &packet, 1) ?:
	      roce_train_append(&train, bench->bytes, payload);
	roce_train_cancel_packet(&train);
	if (!err && add(&train, bench, 2, payload) != -ENOSPC)
		err = -EBADF;
	*skb = roce_train_finish(&train);
	local_bh_enable();
	return err;
}

static void a_cancelled_packet_leaves_no_trace(struct kunit *test)
{
	static const u32 payloads[] = { 4, 100, 1024, 4096 };
	struct sk_buff *skb;
	int i;

	for (i = 0; i < ARRAY_SIZE(payloads); i++) {
		struct plan plan = { false, 2, payloads[i], payloads[i] };

		KUNIT_EXPECT_EQ(test, cancel_third(test, payloads[i], &skb), 0);
		KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, 2);
		turn_round(skb);
		walk(test, skb, &plan);
		kfree_skb(skb);
	}
}

/* --- Packets of other implementations --- */

static u64 dropped(const struct bench *bench)
{
	struct roce_device *dev = bench->dev;

	return fixture_count(dev, rx_dropped_length) +
	       fixture_count(dev, rx_dropped_header) +
	       fixture_count(dev, rx_dropped_opcode) +
	       fixture_count(dev, rx_dropped_pkey) +
	       fixture_count(dev, rx_icrc_encapsulated);
}

static u32 count_packets(struct kunit *test, struct sk_buff *skb)
{
	struct roce_packet packet;
	u32 n = 0;

	while (fixture_next_packet(skb, bench_of(test)->qp, &packet))
		n++;
	return n;
}

static void a_truncated_packet_is_dropped(struct kunit *test)
{
	static const struct plan plan = { false, 1, 8, 8 };
	const struct bench *bench = bench_of(test);
	struct sk_buff *skb = built(test, &plan);
	u32 whole, size, before;

	skb_pull(skb, skb_network_header_len(skb));
	whole = skb->len;
	for (size = 1; size < whole - 8; size++) {
		roce_run_init(skb, skb->len);
		roce_run(skb)->end = 8 + size;
		before = dropped(bench);
		KUNIT_EXPECT_EQ(test, count_packets(test, skb), 0);
		KUNIT_EXPECT_EQ(test, dropped(bench), before + 1);
	}
	kfree_skb(skb);
}

/* A fake tail length hides the missing bytes. */
static void bytes_beyond_the_packet_are_not_read(struct kunit *test)
{
	static const struct plan plan = { false, 2, 1024, 1024 };
	struct sk_buff *skb = built(test, &plan);

	turn_round(skb);
	KUNIT_ASSERT_EQ(test, pskb_trim(skb, skb->len - 600), 0);
	KUNIT_EXPECT_EQ(test, count_packets(test, skb), 1);
	kfree_skb(skb);
}

static void segments_of_any_size_are_survived(struct kunit *test)
{
	static const struct plan plan = { false, 3, 8, 8 };
	const struct bench *bench = bench_of(test);
	u32 right = 12 + 8 + 4, bytes = 3 * right, segment;
	struct sk_buff *skb = built(test, &plan);

	skb_pull(skb, skb_network_header_len(skb));
	for (segment = 1; segment < bytes + 10; segment++) {
		/* With two packets in a segment, only the third one is complete. */
		u32 expected = segment == right ? 3 : segment == 2 * right;
		u64 before = dropped(bench);
		u32 found;

		roce_run_init(skb, segment);
		found = count_packets(test, skb);
		KUNIT_EXPECT_EQ_MSG(test, found, expected,
				    "segments of %u bytes", segment);
		KUNIT_EXPECT_EQ(test, dropped(bench) - before + found,
				DIV_ROUND_UP(bytes, segment));
	}
	kfree_skb(skb);
}

static void one_bad_packet_spoils_no_other(struct kunit *test)
{
	static const struct plan plan = { true, 3, 200, 200 };
	const struct bench *bench = bench_of(test);
	struct sk_buff *skb = built(test, &plan);
	struct roce_packet packet;
	u8 byte;

	turn_round(skb);
	KUNIT_ASSERT_EQ(test, skb_copy_bits(skb, 8 + 216 + 50, &byte, 1), 0);
	byte ^= 0x40;
	KUNIT_ASSERT_EQ(test, skb_store_bits(skb, 8 + 216 + 50, &byte, 1), 0);

	KUNIT_EXPECT_TRUE(test, fixture_next_packet(skb, bench->qp, &packet));
	compare(test, skb, 0, 200, &packet);
	KUNIT_EXPECT_TRUE(test, fixture_next_packet(skb, bench->qp, &packet));
	compare(test, skb, 2, 200, &packet);
	KUNIT_EXPECT_FALSE(test, fixture_next_packet(skb, bench->qp, &packet));
	KUNIT_EXPECT_EQ(test, fixture_count(bench->dev, rx_icrc_encapsulated), 1);
	kfree_skb(skb);
}

#define BTH	28	/* its offset in an IPv4 packet */

/* Make a packet whose bytes can be changed; returns their number. */
static u32 packet_to_tamper_with(struct kunit *test, u8 opcode, u32 payload)
{
	struct bench *bench = test->priv;
	struct roce_packet packet = describe(opcode, 7, payload);
	struct sk_buff *skb;
	u32 length;

	bench->av.ipv6 = false;
	skb = lone_packet(test, &packet);
	length = skb->len;
	KUNIT_ASSERT_EQ(test, skb_copy_bits(skb, 0, bench->copy, length), 0);
	kfree_skb(skb);
	return length;
}

/* The ICRC is right, whatever else is wrong. */
static bool is_taken(struct kunit *test, u32 length)
{
	struct bench *bench = test->priv;
	struct roce_packet packet;
	struct sk_buff *skb;
	bool taken;

	fixture_seal(bench->copy, length);
	skb = fixture_datagram(test, bench->copy, length);
	roce_run_init(skb, skb->len);
	taken = fixture_next_packet(skb, bench->qp, &packet);
	kfree_skb(skb);
	return taken;
}

static void only_transport_version_0_is_accepted(struct kunit *test)
{
	u32 length = packet_to_tamper_with(test, ROCE_SEND_ONLY, 8);
	struct bench *bench = test->priv;
	u8 flags = bench->copy[BTH + 1];
	u32 version;

	KUNIT_EXPECT_TRUE(test, is_taken(test, length));
	for (version = 1; version < 16; version++) {
		bench->copy[BTH + 1] = flags | version;
		KUNIT_EXPECT_FALSE(test, is_taken(test, length));
	}
	KUNIT_EXPECT_EQ(test, fixture_count(bench->dev, rx_dropped_header), 15);
}

static void only_the_default_partition_is_accepted(struct kunit *test)
{
	static const u16 bad[] = { 0, 0x8000, 1, 0x8001, 0x7ffe, 0xfffe, 0xff7f };
	u32 length = packet_to_tamper_with(test, ROCE_SEND_ONLY, 8);
	struct bench *bench = test->priv;
	int i;

	KUNIT_EXPECT_EQ(test, get_unaligned_be16(bench->copy + BTH + 2), 0xffff);
	KUNIT_EXPECT_TRUE(test, is_taken(test, length));
	put_unaligned_be16(0x7fff, bench->copy + BTH + 2);
	KUNIT_EXPECT_TRUE(test, is_taken(test, length));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		put_unaligned_be16(bad[i], bench->copy + BTH + 2);
		KUNIT_EXPECT_FALSE(test, is_taken(test, length));
	}
	KUNIT_EXPECT_EQ(test, fixture_count(bench->dev, rx_dropped_pkey),
			ARRAY_SIZE(bad));
}

static void an_unknown_opcode_is_counted(struct kunit *test)
{
	u32 length = packet_to_tamper_with(test, ROCE_SEND_ONLY, 8);
	struct bench *bench = test->priv;

	bench->copy[BTH] = 0xc0;
	KUNIT_EXPECT_FALSE(test, is_taken(test, length));
	bench->copy[BTH] = 0x15;
	KUNIT_EXPECT_FALSE(test, is_taken(test, length));
	KUNIT_EXPECT_EQ(test, fixture_count(bench->dev, rx_dropped_opcode), 2);
}

static bool taken_with_pad(struct kunit *test, u32 length, u8 pad)
{
	struct bench *bench = test->priv;

	bench->copy[BTH + 1] = ROCE_BTH_MIGREQ | pad << 4;
	return is_taken(test, length);
}

static void the_pad_must_fit(struct kunit *test)
{
	u32 pad, length;

	/* 4 bytes can be 1 to 4 bytes of payload, and 0 bytes are 0. */
	length = packet_to_tamper_with(test, ROCE_SEND_ONLY, 4);
	for (pad = 0; pad < 4; pad++)
		KUNIT_EXPECT_TRUE(test, taken_with_pad(test, length, pad));
	length = packet_to_tamper_with(test, ROCE_SEND_ONLY, 0);
	for (pad = 0; pad < 4; pad++)
		KUNIT_EXPECT_EQ(test, taken_with_pad(test, length, pad), pad == 0);
	/* No pad makes 5 bytes a multiple of 4, and an ACK has nothing to pad. */
	length = packet_to_tamper_with(test, ROCE_SEND_ONLY, 8) - 3;
	for (pad = 0; pad < 4; pad++)
		KUNIT_EXPECT_FALSE(test, taken_with_pad(test, length, pad));
	length = packet_to_tamper_with(test, ROCE_ACKNOWLEDGE, 0);
	for (pad = 0; pad < 4; pad++)
		KUNIT_EXPECT_EQ(test, taken_with_pad(test, length, pad), pad == 0);
}

static void payload_where_none_belongs_is_dropped(struct kunit *test)
{
	static const u8 opcodes[] = {
		ROCE_ACKNOWLEDGE, ROCE_READ_REQUEST, ROCE_COMPARE_SWAP
	};
	u32 i, length;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		length = packet_to_tamper_with(test, opcodes[i], 0);
		KUNIT_EXPECT_TRUE(test, is_taken(test, length));
		KUNIT_EXPECT_FALSE(test, is_taken(test, length + 4));
		KUNIT_EXPECT_FALSE(test, is_taken(test, length - 4));
	}
}

static void reserved_bits_and_congestion_marks_do_not_matter(struct kunit *test)
{
	u32 length = packet_to_tamper_with(test, ROCE_SEND_ONLY, 8);
	struct bench *bench = test->priv;

	bench->copy[BTH + 1] &= ~ROCE_BTH_MIGREQ;
	KUNIT_EXPECT_TRUE(test, is_taken(test, length));
	bench->copy[BTH + 4] = 0xff;
	KUNIT_EXPECT_TRUE(test, is_taken(test, length));
	bench->copy[BTH + 8] |= 0x7f;
	KUNIT_EXPECT_TRUE(test, is_taken(test, length));
}

static int make_bench(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->dev = fixture_device(test);
	bench->qp = fixture_bare_qp(test, bench->dev);
	bench->av.hop_limit = 33;
	bench->av.traffic_class = 0x6a;
	bench->av.flow_label = 0x54321;
	ipv6_addr_set_v4mapped(htonl(0x0a000001), &bench->av.source);
	ipv6_addr_set_v4mapped(htonl(0x0a000002), &bench->av.destination);
	fixture_fill(bench->bytes, sizeof(bench->bytes), 1);
	test->priv = bench;
	return 0;
}

static void describe_plan(const struct plan *plan, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "IPv%d, %u of %u bytes, last of %u",
		 plan->ipv6 ? 6 : 4, plan->packets, plan->payload, plan->last);
}

KUNIT_ARRAY_PARAM(plan, plans, describe_plan);

static struct kunit_case train_cases[] = {
	KUNIT_CASE_PARAM(a_built_train_is_parsed_again, plan_gen_params),
	KUNIT_CASE_PARAM(each_packet_is_complete_on_the_wire, plan_gen_params),
	KUNIT_CASE_PARAM(software_segmentation_makes_right_packets,
			 plan_gen_params),
	KUNIT_CASE(a_train_has_what_segmentation_needs),
	KUNIT_CASE(a_train_is_cut_without_copies),
	KUNIT_CASE(a_lone_packet_needs_no_segmentation),
	KUNIT_CASE(a_lone_packet_has_a_checksum_over_ipv6_only),
	KUNIT_CASE(ip_and_udp_headers_follow_the_address_vector),
	KUNIT_CASE(headers_of_every_opcode_are_parsed_again),
	KUNIT_CASE(payload_may_come_in_pieces),
	KUNIT_CASE(packets_can_be_begun_together),
	KUNIT_CASE(a_shorter_packet_is_the_last_one),
	KUNIT_CASE(a_train_is_bounded_in_packets_and_bytes),
	KUNIT_CASE(a_cancelled_packet_leaves_no_trace),
	KUNIT_CASE(a_truncated_packet_is_dropped),
	KUNIT_CASE(bytes_beyond_the_packet_are_not_read),
	KUNIT_CASE(segments_of_any_size_are_survived),
	KUNIT_CASE(one_bad_packet_spoils_no_other),
	KUNIT_CASE(only_transport_version_0_is_accepted),
	KUNIT_CASE(only_the_default_partition_is_accepted),
	KUNIT_CASE(an_unknown_opcode_is_counted),
	KUNIT_CASE(the_pad_must_fit),
	KUNIT_CASE(payload_where_none_belongs_is_dropped),
	KUNIT_CASE(reserved_bits_and_congestion_marks_do_not_matter),
	{}
};

static struct kunit_suite train_suite = {
	.name = "roce_train",
	.init = make_bench,
	.test_cases = train_cases,
};

kunit_test_suite(train_suite);
