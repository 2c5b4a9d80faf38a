// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* RoCE packets as bytes, independent of the driver's own headers. */
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>

#include "util.h"
#include "rdma.h"
#include "packet.h"

static uint32_t crc32_table[256];

__attribute__((constructor)) static void crc32_init(void)
{
	uint32_t crc, i;
	int bit;

	for (i = 0; i < ARRAY_SIZE(crc32_table); i++) {
		for (crc = i, bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		crc32_table[i] = crc;
	}
}

static uint32_t crc32_update(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len; len--, p++)
		crc = crc >> 8 ^ crc32_table[(crc ^ *p) & 0xff];
	return crc;
}

/* What changes on the way counts as ones: TOS, TTL and checksums. */
static uint32_t crc_ipv4(uint32_t crc, const struct wire_flow *flow,
			 uint16_t udp_len, uint16_t id)
{
	struct iphdr ip = {
		.version = 4, .ihl = 5, .tos = 0xff,
		.tot_len = htons(sizeof(ip) + udp_len), .id = htons(id),
		.frag_off = flow->fragmented ? 0 : htons(IP_DF), .ttl = 0xff, .protocol = IPPROTO_UDP,
		.check = 0xffff,
	};

	memcpy(&ip.saddr, flow->from.raw + 12, 4);
	memcpy(&ip.daddr, flow->to.raw + 12, 4);
	return crc32_update(crc, &ip, sizeof(ip));
}

static uint32_t crc_ipv6(uint32_t crc, const struct wire_flow *flow,
			 uint16_t udp_len)
{
	struct ip6_hdr ip = { 0 };

	ip.ip6_flow = htonl(0x6fffffff);
	ip.ip6_plen = htons(udp_len);
	ip.ip6_nxt = IPPROTO_UDP;
	ip.ip6_hlim = 0xff;
	memcpy(&ip.ip6_src, flow->from.raw, 16);
	memcpy(&ip.ip6_dst, flow->to.raw, 16);
	return crc32_update(crc, &ip, sizeof(ip));
}

uint32_t wire_icrc(const struct wire_flow *flow, const uint8_t *bth,
		   uint32_t len, uint16_t ip_id)
{
	static const uint64_t lrh = ~0ull;
	uint16_t udp_len = sizeof(struct udphdr) + len + ICRC_SIZE;
	struct udphdr udp = {
		.source = htons(flow->sport), .dest = htons(ROCE_PORT),
		.len = htons(udp_len), .check = 0xffff,
	};
	uint32_t head_len = min(len, BTH_SIZE);
	uint8_t head[BTH_SIZE];
	uint32_t crc = crc32_update(~0u, &lrh, sizeof(lrh));

	if (gid_is_ipv4(&flow->from))
		crc = crc_ipv4(crc, flow, udp_len, ip_id);
	else
		crc = crc_ipv6(crc, flow, udp_len);
	crc = crc32_update(crc, &udp, sizeof(udp));
	memcpy(head, bth, head_len);
	head[4] = 0xff;		/* FECN, BECN, reserved */
	crc = crc32_update(crc, head, head_len);
	return htole32(~crc32_update(crc, bth + head_len, len - head_len));
}

static uint32_t put32(uint8_t *buf, uint32_t value)
{
	value = htonl(value);
	memcpy(buf, &value, 4);
	return 4;
}

uint32_t wire_build(uint8_t *buf, const struct wire_flow *flow,
		    const struct wire_packet *p, uint16_t ip_id)
{
	uint32_t pad = -p->len & 3, at = 0, crc;

	at += put32(buf, (uint32_t)p->opcode << 24 | pad << 20 | 0xffff);
	at += put32(buf + at, p->qpn & 0xffffff);
	at += put32(buf + at, (uint32_t)p->ack_request << 31 | (p->psn & 0xffffff));
	if (p->has_reth) {
		at += put32(buf + at, p->addr >> 32);
		at += put32(buf + at, p->addr);
		at += put32(buf + at, p->rkey);
		at += put32(buf + at, p->dma_len);
	}
	memcpy(buf + at, p->payload, p->len);
	at += p->len;
	memset(buf + at, 0, pad);
	at += pad;
	crc = wire_icrc(flow, buf, at, ip_id);
	memcpy(buf + at, &crc, ICRC_SIZE);
	return at + ICRC_SIZE;
}
