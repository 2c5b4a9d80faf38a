// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The invariant CRC (IBA volume 1, 7.8.1, and annex A17.3.3): CRC-32 of
 * Ethernet over the packet from its IP header on, behind eight bytes of ones
 * that stand for the routing header of InfiniBand. Fields that a router may
 * change are replaced by ones.
 */
#include "compat_crc32.h"
#include "icrc.h"

static u32 icrc_ipv4(u32 crc, struct iphdr header)
{
	header.tos = 0xff;
	header.ttl = 0xff;
	header.check = (__force __sum16)0xffff;
	return roce_crc32(crc, (u8 *)&header, sizeof(header));
}

static u32 icrc_ipv6(u32 crc, struct ipv6hdr header)
{
	/* Traffic class and flow label share a word with the version. */
	*(__be32 *)&header |= cpu_to_be32(0x0fffffff);
	header.hop_limit = 0xff;
	return roce_crc32(crc, (u8 *)&header, sizeof(header));
}

static u32 icrc_udp(u32 crc, struct udphdr header)
{
	header.check = (__force __sum16)0xffff;
	return roce_crc32(crc, (u8 *)&header, sizeof(header));
}

static u32 icrc_bth(u32 crc, struct roce_bth header)
{
	/* FECN, BECN and the reserved bits beside them */
	header.qpn |= cpu_to_be32(~ROCE_BTH_LOW_24);
	return roce_crc32(crc, (u8 *)&header, sizeof(header));
}

/**
 * roce_icrc_begin() - start the ICRC of a packet
 * @headers: IP and UDP header of this one packet, as they are on the wire
 * @bth: its base transport header
 *
 * Return: the running CRC, for roce_icrc_update() of all that follows the BTH.
 */
u32 roce_icrc_begin(const struct roce_ip_headers *headers,
		    const struct roce_bth *bth)
{
	static const u8 routing_header[8] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
	};
	u32 crc = roce_crc32(~0, routing_header, sizeof(routing_header));

	if (headers->ipv6)
		crc = icrc_ipv6(crc, headers->v6);
	else
		crc = icrc_ipv4(crc, headers->v4);
	crc = icrc_udp(crc, headers->udp);
	return icrc_bth(crc, *bth);
}

/**
 * roce_icrc_update() - continue the ICRC
 * @crc: the running CRC
 * @data: more bytes of the packet: other headers, payload, pad
 * @length: how many
 *
 * Return: the running CRC.
 */
u32 roce_icrc_update(u32 crc, const void *data, size_t length)
{
	return roce_crc32(crc, data, length);
}

/**
 * roce_icrc_finish() - what stands at the end of the packet
 * @crc: the running CRC
 */
__le32 roce_icrc_finish(u32 crc)
{
	return cpu_to_le32(~crc);
}

/**
 * roce_icrc_init() - get hold of the fastest CRC-32 there is
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
