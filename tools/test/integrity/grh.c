// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The first 40 bytes of a UD receive: over IPv6 the IP header, over IPv4 the
 * last 20 are the IP header and the first 20 undefined.
 */
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdio.h>
#include <string.h>

#include "side.h"

static const char *wrong(const char *what, unsigned long expected,
			 unsigned long seen)
{
	static char buf[128];

	snprintf(buf, sizeof(buf), "%s: expected %#lx, seen %#lx", what,
		 expected, seen);
	return buf;
}

static const char *check_ipv4(const uint8_t *grh, const union ibv_gid *from,
			      const union ibv_gid *to, uint32_t len)
{
	uint32_t saddr, daddr;
	struct iphdr ip;

	memcpy(&ip, grh + 20, sizeof(ip));
	memcpy(&saddr, from->raw + 12, 4);
	memcpy(&daddr, to->raw + 12, 4);
	if (ip.version != 4)
		return wrong("IP version", 4, ip.version);
	if (ip.protocol != IPPROTO_UDP)
		return wrong("protocol", IPPROTO_UDP, ip.protocol);
	if (ip.saddr != saddr)
		return wrong("source", ntohl(saddr), ntohl(ip.saddr));
	if (ip.daddr != daddr)
		return wrong("destination", ntohl(daddr), ntohl(ip.daddr));
	if (ntohs(ip.tot_len) != sizeof(ip) + len)
		return wrong("total length", sizeof(ip) + len, ntohs(ip.tot_len));
	return NULL;
}

static const char *check_ipv6(const uint8_t *grh, const union ibv_gid *from,
			      const union ibv_gid *to, uint32_t len)
{
	struct ip6_hdr ip;

	memcpy(&ip, grh, sizeof(ip));
	if (ip.ip6_vfc >> 4 != 6)
		return wrong("IP version", 6, ip.ip6_vfc >> 4);
	if (memcmp(&ip.ip6_src, from->raw, 16))
		return "another source address";
	if (memcmp(&ip.ip6_dst, to->raw, 16))
		return "another destination address";
	if (ntohs(ip.ip6_plen) != len)
		return wrong("payload length", len, ntohs(ip.ip6_plen));
	return NULL;
}

const char *grh_check(const uint8_t *grh, const union ibv_gid *from,
		      const union ibv_gid *to, uint32_t payload, bool imm)
{
	/* UDP, BTH, DETH, immediate, payload, pad, ICRC */
	uint32_t len = 8 + 12 + 8 + (imm ? 4 : 0) + ((payload + 3) & ~3u) + 4;

	if (gid_is_ipv4(from))
		return check_ipv4(grh, from, to, len);
	return check_ipv6(grh, from, to, len);
}
