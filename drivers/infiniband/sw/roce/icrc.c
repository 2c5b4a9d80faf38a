// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The invariant CRC (IBA volume 1, 7.8.1, and annex A17.3.3): the CRC-32 of Ethernet
 * over eight bytes of ones, in place of InfiniBand's routing header, and the packet
 * from its IP header on. Fields that a router may change are replaced by ones.
 */
#include <linux/hash.h>
#include <linux/percpu.h>

#include "compat_crc32.h"
#include "icrc.h"
#include "roce_wire.h"

#define ROUTING_HEADER_SIZE	8

/* Words of 8 bytes: routing header, IPv6, UDP, and the beginning of the BTH */
#define BEGINNING_WORDS \
	((ROUTING_HEADER_SIZE + sizeof(struct ipv6hdr) + \
	  sizeof(struct udphdr) + ROCE_ICRC_BTH_BYTES) / sizeof(u64))

/* log2 of the number of beginnings that a CPU remembers */
#define KNOWN_SHIFT	4

/**
 * struct beginning - what packets of a flow begin with, and its CRC
 * @words: as the ICRC sees it; zeros after the end of one over IPv4
 * @crc: the CRC of it
 */
struct beginning {
	u64 words[BEGINNING_WORDS];
	u32 crc;
};

/*
 * Most trains begin like an earlier one. To compare takes less time than the CRC, which
 * many kernels compute by tables. Used with BH disabled. There are few of them: all modules
 * share 8 KiB of static per-CPU memory.
 */
static DEFINE_PER_CPU(struct beginning [1 << KNOWN_SHIFT], known_beginnings);

static bool is_same_beginning(const u64 *a, const u64 *b)
{
	u64 difference = 0;
	u32 n;

	for (n = 0; n < BEGINNING_WORDS; n++)
		difference |= a[n] ^ b[n];
	return !difference;
}

/* @words: @length bytes, zeros after them */
static u32 crc_of_beginning(const u64 *words, u32 length)
{
	/* Ports, length, opcode and QPN tell most of them apart. */
	const u32 *last = (const void *)words + length - 4 * sizeof(u32);
	u32 number = hash_32(last[0] ^ last[1] ^ last[2] ^ last[3], KNOWN_SHIFT);
	struct beginning *known = this_cpu_ptr(&known_beginnings[number]);

	if (!is_same_beginning(known->words, words)) {
		memcpy(known->words, words, sizeof(known->words));
		known->crc = roce_crc32(~0, words, length);
	}
	return known->crc;
}

static void *add_ipv4(void *place, struct iphdr header)
{
	header.tos = 0xff;
	header.ttl = 0xff;
	header.check = (__force __sum16)0xffff;
	return roce_add_header(place, &header, sizeof(header));
}

static void *add_ipv6(void *place, struct ipv6hdr header)
{
	/* Traffic class and flow label, in one word with the version */
	*(__be32 *)&header |= cpu_to_be32(0x0fffffff);
	header.hop_limit = 0xff;
	return roce_add_header(place, &header, sizeof(header));
}

static void *add_udp(void *place, struct udphdr header)
{
	header.check = (__force __sum16)0xffff;
	return roce_add_header(place, &header, sizeof(header));
}

/**
 * roce_icrc_set_prefix() - compute the CRC of the common beginning of several packets
 * @prefix: to be filled in
 * @headers: IP and UDP header of a single packet, as on the wire
 * @bth: of the packet
 * @size: bytes from BTH to ICRC
 *
 * BH disabled.
 */
void roce_icrc_set_prefix(struct roce_icrc_prefix *prefix,
			  const struct roce_ip_headers *headers, const void *bth,
			  u32 size)
{
	u64 words[BEGINNING_WORDS] = {};
	__be32 *qpn;
	void *end;

	words[0] = U64_MAX;
	end = (void *)words + ROUTING_HEADER_SIZE;
	end = headers->ipv6 ? add_ipv6(end, headers->v6) :
			      add_ipv4(end, headers->v4);
	end = add_udp(end, headers->udp);
	end = roce_add_header(end, bth, ROCE_ICRC_BTH_BYTES);
	/* FECN, BECN and the reserved bits beside them */
	qpn = end - sizeof(*qpn);
	*qpn |= cpu_to_be32(~ROCE_BTH_LOW_24);

	memcpy(prefix->bth, bth, ROCE_ICRC_BTH_BYTES);
	prefix->size = size;
	prefix->crc = crc_of_beginning(words, end - (void *)words);
}

/**
 * roce_icrc_begin() - start the ICRC of a packet
 * @prefix: of the packet
 * @transport: its BTH, and the headers after it
 * @length: bytes at @transport
 *
 * Return: the running CRC, for roce_icrc_update() with the rest of the packet.
 */
u32 roce_icrc_begin(const struct roce_icrc_prefix *prefix, const void *transport,
		    u32 length)
{
	return roce_crc32(prefix->crc, transport + ROCE_ICRC_BTH_BYTES,
			  length - ROCE_ICRC_BTH_BYTES);
}

/**
 * roce_icrc_update() - continue the ICRC
 * @crc: the running CRC
 * @data: more bytes of the packet: payload and pad
 * @length: number of bytes
 *
 * Return: the running CRC.
 */
u32 roce_icrc_update(u32 crc, const void *data, size_t length)
{
	return roce_crc32(crc, data, length);
}

/**
 * roce_icrc_finish() - the ICRC at the end of the packet
 * @crc: the running CRC
 */
__le32 roce_icrc_finish(u32 crc)
{
	return cpu_to_le32(~crc);
}

/**
 * roce_icrc_init() - get the fastest CRC-32 of this host
 *
 * Return: 0 or a negative errno.
 */
int roce_icrc_init(void)
{
	return roce_crc32_init();
}

/** roce_icrc_exit() - undo roce_icrc_init() */
void roce_icrc_exit(void)
{
	roce_crc32_exit();
}
