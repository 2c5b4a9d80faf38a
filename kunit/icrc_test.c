// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ICRC of another implementation: every packet of the captures goes through the
 * driver's parser, which accepts none with a wrong ICRC.
 */
#include <linux/if_ether.h>

#include "captures.h"
#include "fixture.h"
#include "iba.h"

#define PCAP_HEADER	24
#define RECORD_HEADER	16

/**
 * struct record - a captured packet
 * @ip: its IP header, NULL after the end of the capture
 * @length: bytes from there on
 */
struct record {
	const u8 *ip;
	u32 length;
};

static struct record next_record(const struct capture *capture, const u8 **place)
{
	const u8 *at = *place ?: capture->begin + PCAP_HEADER;
	u32 length;

	if (at + RECORD_HEADER > capture->end)
		return (struct record) {};
	length = get_unaligned_le32(at + 8);
	at += RECORD_HEADER;
	*place = at + length;
	return (struct record) { at + ETH_HLEN, length - ETH_HLEN };
}

static const u8 *bth_of(const struct record *record)
{
	return record->ip + (record->ip[0] >> 4 == 6 ? 40 : 20) + 8;
}

/* Whether the driver accepts the packet; *packet is valid then. */
static bool is_taken(struct kunit *test, const u8 *ip, u32 length,
		     struct roce_packet *packet)
{
	struct sk_buff *skb = fixture_datagram(test, ip, length);
	bool taken;

	roce_run_init(skb, skb->len);
	taken = fixture_next_packet(skb, fixture_bare_qp(test, test->priv), packet);
	kfree_skb(skb);
	return taken;
}

static void compare(struct kunit *test, const struct record *record,
		    const struct roce_packet *packet)
{
	const u8 *bth = bth_of(record);
	const struct iba_opcode *iba = iba_opcode(bth[0]);
	u32 size = record->ip + record->length - bth;
	u8 pad = bth[1] >> 4 & 3;

	KUNIT_ASSERT_NOT_NULL(test, iba);
	KUNIT_EXPECT_EQ(test, packet->opcode, bth[0]);
	KUNIT_EXPECT_EQ(test, packet->pad, pad);
	KUNIT_EXPECT_EQ(test, packet->solicited, bth[1] >> 7);
	KUNIT_EXPECT_EQ(test, packet->pkey, get_unaligned_be16(bth + 2));
	KUNIT_EXPECT_EQ(test, packet->qpn, get_unaligned_be24(bth + 5));
	KUNIT_EXPECT_EQ(test, packet->ack_request, bth[8] >> 7);
	KUNIT_EXPECT_EQ(test, packet->psn, get_unaligned_be24(bth + 9));
	KUNIT_EXPECT_EQ(test, packet->payload,
			size - 12 - iba->headers - pad - 4);
	KUNIT_EXPECT_EQ(test, packet->offset, 8 + 12 + iba->headers);
}

static void compare_extended(struct kunit *test, const u8 *bth,
			     const struct roce_packet *packet)
{
	const u8 *header = bth + 12;

	switch (bth[0]) {
	case 0x06:
	case 0x0c:
	case 0x26:
		KUNIT_EXPECT_EQ(test, packet->va, get_unaligned_be64(header));
		KUNIT_EXPECT_EQ(test, packet->rkey, get_unaligned_be32(header + 8));
		KUNIT_EXPECT_EQ(test, packet->length,
				get_unaligned_be32(header + 12));
		break;
	case 0x0d:
	case 0x0f:
	case 0x10:
	case 0x11:
	case 0x12:
		KUNIT_EXPECT_EQ(test, packet->syndrome, header[0]);
		KUNIT_EXPECT_EQ(test, packet->msn, get_unaligned_be24(header + 1));
		break;
	case 0x13:
	case 0x14:
		KUNIT_EXPECT_EQ(test, packet->va, get_unaligned_be64(header));
		KUNIT_EXPECT_EQ(test, packet->rkey, get_unaligned_be32(header + 8));
		KUNIT_EXPECT_EQ(test, packet->swap_add,
				get_unaligned_be64(header + 12));
		KUNIT_EXPECT_EQ(test, packet->compare,
				get_unaligned_be64(header + 20));
		break;
	case 0x64:
		KUNIT_EXPECT_EQ(test, packet->qkey, get_unaligned_be32(header));
		KUNIT_EXPECT_EQ(test, packet->source_qpn,
				get_unaligned_be24(header + 5));
		break;
	}
	if (bth[0] == 0x12)
		KUNIT_EXPECT_EQ(test, packet->original,
				get_unaligned_be64(header + 4));
}

static void every_captured_packet_is_valid_and_parsed(struct kunit *test)
{
	const struct capture *capture = test->param_value;
	const u8 *place = NULL;
	struct roce_packet packet;
	struct record record;
	unsigned int n = 0;

	while ((record = next_record(capture, &place)).ip) {
		KUNIT_ASSERT_TRUE_MSG(test,
				      is_taken(test, record.ip, record.length,
					       &packet),
				      "packet %u", n);
		compare(test, &record, &packet);
		compare_extended(test, bth_of(&record), &packet);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n, capture->packets);
}

enum field { COVERED, MASKED, NOT_LOOKED_AT };

/*
 * The meaning of a byte in front of the BTH for the ICRC. IP and UDP check the version of
 * IP and the lengths before the driver gets a packet.
 */
static enum field field_in_front(u8 version, u32 at)
{
	static const char udp[] = "ccccnnmm";
	static const char ipv4[] = "nmnnccccmcmmcccccccc";
	static const char ipv6[] = "nmmmnncmcccccccccccccccccccccccccccccccc";
	const char *ip = version == 6 ? ipv6 : ipv4;
	char field = at < strlen(ip) ? ip[at] : udp[at - strlen(ip)];

	switch (field) {
	case 'c':
		return COVERED;
	case 'm':
		return MASKED;
	default:
		return NOT_LOOKED_AT;
	}
}

static enum field field_at(const struct record *record, u32 at)
{
	u32 bth = bth_of(record) - record->ip;

	if (at < bth)
		return field_in_front(record->ip[0] >> 4, at);
	/* FECN, BECN and reserved bits */
	return at == bth + 4 ? MASKED : COVERED;
}

/* All headers, and samples of a long payload */
static bool is_tried(const struct record *record, u32 at)
{
	return at < 96 || at + 8 >= record->length || at % 97 == 0;
}

static void flip_bits_of(struct kunit *test, const struct record *record, u8 *copy)
{
	struct roce_packet packet;
	u32 at;

	for (at = 0; at < record->length; at++) {
		enum field field = field_at(record, at);

		if (field == NOT_LOOKED_AT || !is_tried(record, at))
			continue;
		memcpy(copy, record->ip, record->length);
		/* The driver remembers how it begins. */
		KUNIT_EXPECT_TRUE(test, is_taken(test, copy, record->length, &packet));
		copy[at] ^= BIT(at % 8);
		KUNIT_EXPECT_EQ_MSG(test, field == MASKED,
				    is_taken(test, copy, record->length, &packet),
				    "bit %u of byte %u, opcode 0x%02x", at % 8,
				    at, bth_of(record)[0]);
	}
}

static void a_flipped_bit_is_noticed_unless_it_is_masked(struct kunit *test)
{
	u8 *copy = kunit_kmalloc(test, ETH_DATA_LEN, GFP_KERNEL);
	const struct capture *capture = test->param_value;
	const u8 *place = NULL;
	DECLARE_BITMAP(seen, 256) = {};
	struct record record;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	while ((record = next_record(capture, &place)).ip) {
		KUNIT_ASSERT_LE(test, record.length, ETH_DATA_LEN);
		/* One of each opcode */
		if (!__test_and_set_bit(bth_of(&record)[0], seen))
			flip_bits_of(test, &record, copy);
	}
}

static void every_bit_of_a_masked_field_is_masked(struct kunit *test)
{
	static const u32 masked[] = { 1, 8, 10, 11, 26, 27, 32 };
	struct roce_packet packet;
	const u8 *place = NULL;
	struct record record;
	u8 copy[128];
	int i, bit;

	/* An acknowledgment over IPv4, or the like */
	record = next_record(&captures[2], &place);
	KUNIT_ASSERT_LE(test, record.length, sizeof(copy));
	for (i = 0; i < ARRAY_SIZE(masked); i++) {
		for (bit = 0; bit < 8; bit++) {
			memcpy(copy, record.ip, record.length);
			copy[masked[i]] ^= BIT(bit);
			KUNIT_EXPECT_TRUE(test, is_taken(test, copy,
							 record.length, &packet));
		}
	}
}

static void every_capture_is_there(struct kunit *test)
{
	unsigned int i, sum = 0;

	for (i = 0; i < CAPTURES; i++)
		sum += captures[i].packets;
	KUNIT_EXPECT_EQ(test, sum, CAPTURED_PACKETS);
}

static void wrong_icrcs_are_counted(struct kunit *test)
{
	struct roce_packet packet;
	const u8 *place = NULL;
	struct record record;
	u8 copy[128];

	record = next_record(&captures[2], &place);
	KUNIT_ASSERT_LE(test, record.length, sizeof(copy));
	memcpy(copy, record.ip, record.length);
	copy[record.length - 1] ^= 1;
	KUNIT_EXPECT_FALSE(test, is_taken(test, copy, record.length, &packet));
	KUNIT_EXPECT_EQ(test, 1, fixture_count((struct roce_device *)test->priv,
					       rx_icrc_encapsulated));
}

static int make_device(struct kunit *test)
{
	test->priv = fixture_device(test);
	return 0;
}

KUNIT_ARRAY_PARAM_DESC(capture, captures, name);

static struct kunit_case icrc_cases[] = {
	KUNIT_CASE(every_capture_is_there),
	KUNIT_CASE_PARAM(every_captured_packet_is_valid_and_parsed,
			 capture_gen_params),
	KUNIT_CASE_PARAM(a_flipped_bit_is_noticed_unless_it_is_masked,
			 capture_gen_params),
	KUNIT_CASE(every_bit_of_a_masked_field_is_masked),
	KUNIT_CASE(wrong_icrcs_are_counted),
	{}
};

static struct kunit_suite icrc_suite = {
	.name = "roce_icrc",
	.init = make_device,
	.test_cases = icrc_cases,
};

kunit_test_suite(icrc_suite);
