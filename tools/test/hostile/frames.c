// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ethernet frames from a packet socket, many with one system call. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flood.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define BATCH		32
#define FRAGMENT	400	/* bytes of a fragment but the last; a multiple of 8 */

struct frame {
	struct virtio_net_hdr vnet;
	struct ether_header ethernet;
	uint8_t ip[sizeof(struct ip6_hdr) + sizeof(struct udphdr) + MAX_PAYLOAD];
} __attribute__((packed));

static struct frame frames[BATCH];
static struct iovec parts[BATCH];
static struct mmsghdr messages[BATCH];
static unsigned int nr_frames;
static struct ether_header ethernet;
static int sock;

void frames_open(const char *netdev, const char *target_mac)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET };
	struct ifreq request = { 0 };
	int one = 1, i;

	/* Protocol 0: this socket receives nothing. */
	sock = socket(AF_PACKET, SOCK_RAW, 0);
	address.sll_ifindex = if_nametoindex(netdev);
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", netdev);
	if (sock < 0 || bind(sock, (void *)&address, sizeof(address)) ||
	    setsockopt(sock, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) ||
	    ioctl(sock, SIOCGIFHWADDR, &request))
		die_errno(errno, "packet socket on %s", netdev);
	memcpy(ethernet.ether_shost, request.ifr_hwaddr.sa_data, ETH_ALEN);
	if (!ether_aton_r(target_mac, (void *)ethernet.ether_dhost))
		die("no MAC address: %s", target_mac);
	for (i = 0; i < BATCH; i++) {
		parts[i].iov_base = &frames[i];
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
}

void frames_flush(void)
{
	unsigned int done = 0;
	int n;

	while (done < nr_frames) {
		n = sendmmsg(sock, messages + done, nr_frames - done, 0);
		if (n > 0)
			done += n;
		else if (errno == ENOBUFS)
			usleep(1000);	/* the receiver's backlog is full */
		else
			die_errno(errno, "sendmmsg of %zu bytes, segments of %u",
				  parts[done].iov_len, frames[done].vnet.gso_size);
	}
	nr_frames = 0;
}

static struct frame *next_frame(uint16_t protocol)
{
	struct frame *frame;

	if (nr_frames == BATCH)
		frames_flush();
	frame = &frames[nr_frames];
	memset(&frame->vnet, 0, sizeof(frame->vnet));
	frame->ethernet = ethernet;
	frame->ethernet.ether_type = htons(protocol);
	return frame;
}

static void frame_done(struct frame *frame, uint32_t ip_len)
{
	parts[nr_frames++].iov_len = offsetof(struct frame, ip) + ip_len;
}

static uint16_t checksum(const void *data, size_t len)
{
	const uint16_t *p = data;
	uint32_t sum = 0;

	for (; len; len -= 2)
		sum += *p++;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static uint32_t put_ipv4(uint8_t *at, const struct wire_flow *flow,
			 uint32_t len, uint16_t id, uint8_t tos, uint16_t fragment)
{
	struct iphdr ip = {
		.version = 4, .ihl = 5, .tos = tos,
		.tot_len = htons(sizeof(ip) + len), .id = htons(id),
		.frag_off = htons(fragment), .ttl = 64, .protocol = IPPROTO_UDP,
	};

	memcpy(&ip.saddr, flow->from.raw + 12, 4);
	memcpy(&ip.daddr, flow->to.raw + 12, 4);
	ip.check = checksum(&ip, sizeof(ip));
	memcpy(at, &ip, sizeof(ip));
	return sizeof(ip);
}

static uint32_t put_ipv6(uint8_t *at, const struct wire_flow *flow,
			 uint32_t len, uint8_t tos)
{
	struct ip6_hdr ip = { 0 };

	ip.ip6_flow = htonl(6u << 28 | (uint32_t)tos << 20);
	ip.ip6_plen = htons(len);
	ip.ip6_nxt = IPPROTO_UDP;
	ip.ip6_hlim = 64;
	memcpy(&ip.ip6_src, flow->from.raw, 16);
	memcpy(&ip.ip6_dst, flow->to.raw, 16);
	memcpy(at, &ip, sizeof(ip));
	return sizeof(ip);
}

/* RoCE has its ICRC: a UDP checksum of 0 is accepted, over IPv6, too. */
static uint32_t put_udp(uint8_t *at, const struct wire_flow *flow,
			const uint8_t *payload, uint32_t len)
{
	struct udphdr udp = {
		.source = htons(flow->sport), .dest = htons(ROCE_PORT),
		.len = htons(sizeof(udp) + len),
	};

	memcpy(at, &udp, sizeof(udp));
	memcpy(at + sizeof(udp), payload, len);
	return sizeof(udp) + len;
}

void frame_datagram(const struct wire_flow *flow, const uint8_t *payload,
		    uint32_t len, uint16_t ip_id, uint8_t tos, uint16_t segment)
{
	bool v4 = gid_is_ipv4(&flow->from);
	struct frame *frame = next_frame(v4 ? ETHERTYPE_IP : ETHERTYPE_IPV6);
	uint32_t udp_len = sizeof(struct udphdr) + len, head;

	head = v4 ? put_ipv4(frame->ip, flow, udp_len, ip_id, tos, IP_DF) :
		    put_ipv6(frame->ip, flow, udp_len, tos);
	put_udp(frame->ip + head, flow, payload, len);
	if (segment)
		frame->vnet = (struct virtio_net_hdr) {
			.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4,
			.hdr_len = sizeof(ethernet) + head + sizeof(struct udphdr),
			.gso_size = segment,
			.csum_start = sizeof(ethernet) + head,
			.csum_offset = offsetof(struct udphdr, check),
		};
	frame_done(frame, head + udp_len);
}

void frame_fragments(const struct wire_flow *flow, const uint8_t *payload,
		     uint32_t len, uint16_t ip_id, bool whole)
{
	uint8_t datagram[sizeof(struct udphdr) + MAX_PAYLOAD];
	uint32_t size = put_udp(datagram, flow, payload, len), at, n, head;
	struct frame *frame;

	for (at = 0; at < size; at += n) {
		bool last = size - at <= FRAGMENT;

		n = last ? size - at : FRAGMENT;
		if (last && !whole)
			break;
		frame = next_frame(ETHERTYPE_IP);
		head = put_ipv4(frame->ip, flow, n, ip_id, 0,
				at / 8 | (last ? 0 : IP_MF));
		memcpy(frame->ip + head, datagram + at, n);
		frame_done(frame, head + n);
	}
}

bool frames_take_trains(const struct wire_flow *flow)
{
	static const uint8_t nothing[16];
	ssize_t n;

	frames_flush();
	/* Segments of less than a BTH: it is dropped as what cannot be parsed. */
	frame_datagram(flow, nothing, sizeof(nothing), 0, 0, sizeof(nothing) / 2);
	nr_frames = 0;
	n = sendmsg(sock, &messages[0].msg_hdr, 0);
	if (n < 0 && errno != EINVAL)
		die_errno(errno, "sendmsg");
	return n > 0;
}
