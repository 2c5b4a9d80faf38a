/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_ICRC_H
#define ROCE_ICRC_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "roce_wire.h"

/**
 * struct roce_ip_headers - IP and UDP header of one packet, as on the wire
 * @ipv6: the IP header is @v6, else @v4
 * @v4: IPv4 without options; the ICRC covers identification and total length
 * @v6: IPv6 without extension headers; the ICRC covers the payload length
 * @udp: UDP; the ICRC covers its length
 */
struct roce_ip_headers {
	bool ipv6;
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	};
	struct udphdr udp;
};

/**
 * roce_add_header() - append a header
 * @place: end of the headers before it, with room for this one
 * @header: as on the wire
 * @size: its size, bytes
 *
 * Return: its end.
 */
static inline void *roce_add_header(void *place, const void *header, size_t size)
{
	return memcpy(place, header, size) + size;
}

/**
 * roce_ip_headers_set_lengths() - set the lengths of a packet or a train
 * @headers: its IP and UDP header
 * @size: bytes after them
 */
static inline void roce_ip_headers_set_lengths(struct roce_ip_headers *headers,
					       u32 size)
{
	size += sizeof(struct udphdr);
	headers->udp.len = htons(size);
	if (headers->ipv6)
		headers->v6.payload_len = htons(size);
	else
		headers->v4.tot_len = htons(size + sizeof(struct iphdr));
}

/* Bytes of a BTH in front of AckReq and PSN */
#define ROCE_ICRC_BTH_BYTES	8

/**
 * struct roce_icrc_prefix - the common beginning of the packets of a train
 * @bth: the first bytes of their BTH
 * @size: bytes from BTH to ICRC; 0 if there is no packet yet
 * @crc: the CRC up to the end of @bth
 *
 * These packets have the same IP and UDP header. They differ in AckReq, PSN and the
 * bytes after these.
 */
struct roce_icrc_prefix {
	u8 bth[ROCE_ICRC_BTH_BYTES];
	u32 size;
	u32 crc;
};

/**
 * roce_icrc_has_prefix() - whether a packet has this prefix
 * @prefix: of a packet with the same IP and UDP header, except for the lengths; or zeroed
 * @bth: of the packet
 * @size: of the packet, bytes from BTH to ICRC
 */
static inline bool roce_icrc_has_prefix(const struct roce_icrc_prefix *prefix,
					const void *bth, u32 size)
{
	return prefix->size == size &&
	       !memcmp(prefix->bth, bth, ROCE_ICRC_BTH_BYTES);
}

int roce_icrc_init(void);
void roce_icrc_exit(void);
void roce_icrc_set_prefix(struct roce_icrc_prefix *prefix,
			  const struct roce_ip_headers *headers, const void *bth,
			  u32 size);
u32 roce_icrc_begin(const struct roce_icrc_prefix *prefix, const void *transport,
		    u32 length);
u32 roce_icrc_update(u32 crc, const void *data, size_t length);
__le32 roce_icrc_finish(u32 crc);

#endif /* ROCE_ICRC_H */
