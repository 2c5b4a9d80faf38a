/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_RUN_H
#define ROCE_RUN_H

#include "icrc.h"
#include "packet.h"

struct roce_qp;

/**
 * struct roce_run - a run of received packets, in the control block of its sk_buff
 * @offset: of its first BTH in the sk_buff
 * @end: offset behind its last ICRC
 * @part: of a chain of sk_buffs, one that ends behind @offset; NULL at its end
 * @part_offset: where @part begins
 * @segment: bytes of each packet but the last one
 * @index: of its first packet in the datagram: what IPv4 identification counts
 * @vlan_id: of the VLAN device that it came through, 0xffff for none
 * @congestion: a switch marked it: ECN codepoint CE (RFC 3168)
 */
struct roce_run {
	u32 offset;
	u32 end;
	const struct sk_buff *part;
	u32 part_offset;
	u32 segment;
	u32 index;
	u16 vlan_id;
	bool congestion;
};

static inline struct roce_run *roce_run(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct roce_run) > sizeof(skb->cb));
	return (struct roce_run *)skb->cb;
}

/** roce_is_ipv6() - whether the datagram came over IPv6, else over IPv4 */
static inline bool roce_is_ipv6(const struct sk_buff *skb)
{
	return ip_hdr(skb)->version == 6;
}

/** roce_run_packets() - how many packets are left of a run; an empty one is one */
static inline u32 roce_run_packets(struct sk_buff *skb)
{
	const struct roce_run *run = roce_run(skb);

	return max(1u, DIV_ROUND_UP(run->end - run->offset, run->segment));
}

void roce_run_init(struct sk_buff *skb, u32 segment);
const struct sk_buff *roce_run_part(const struct sk_buff *skb,
				    struct roce_run *run, u32 size, u32 *offset);
bool roce_run_next(struct sk_buff *skb, struct roce_qp *qp,
		   struct roce_packet *packet);
void roce_packet_ip_headers(const struct sk_buff *skb,
			    const struct roce_packet *packet,
			    struct roce_ip_headers *headers);

struct sk_buff *roce_gro_receive(struct sock *sk, struct list_head *head,
				 struct sk_buff *skb);

#endif /* ROCE_RUN_H */
