/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_RUN_H
#define ROCE_RUN_H

#include "icrc.h"
#include "packet.h"

struct roce_qp;

/**
 * struct roce_run - a run of received packets, in the control block of its sk_buff
 * @offset: of its first BTH in the sk_buff
 * @end: end of its last ICRC in the sk_buff
 * @part: in a chain of sk_buffs, one that ends after @offset; NULL at its end
 * @part_offset: start of @part
 * @fragment_offset: start of the fragment @fragment
 * @segment: bytes of each packet, except for the last one
 * @index: number of its first packet in the datagram, for the IPv4 identification
 * @vlan_id: VLAN of the netdev that it came through, U16_MAX for none; for a MAD see
 *	roce_port_vlan_id()
 * @fragment: of the sk_buff, where the latest packet was found
 * @congestion: a switch has marked it: ECN codepoint CE (RFC 3168)
 * @checked: the ICRC of all its packets is right
 * @again: its first packet was taken before, see roce_run_return()
 * @early: it was kept for later
 * @same_identification: the stack has forgotten that its packets have the same IPv4
 *	identification
 * @prefix: of the ICRC of the latest packet
 * @early_psn: of the first packet while the run is kept, see reorder.c
 * @early_end: one past the last PSN before a gap; @early_psn if there are only
 *	acknowledgments, see reorder.c
 * @early_island: there is a gap before the run, see islands.c
 * @early_islands: there is a gap before some run of its subtree, see islands.c
 */
struct roce_run {
	u32 offset;
	u32 end;
	const struct sk_buff *part;
	u32 part_offset;
	u32 fragment_offset;
	u16 segment;
	u16 index;
	u16 vlan_id;
	u8 fragment;
	bool congestion:1;
	bool checked:1;
	bool again:1;
	bool early:1;
	bool same_identification:1;
	union {
		struct roce_icrc_prefix prefix;
		struct {
			u32 early_psn;
			u32 early_end;
			bool early_island;
			bool early_islands;
		};
	};
};

static inline struct roce_run *roce_run(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct roce_run) > sizeof(skb->cb));
	return (struct roce_run *)skb->cb;
}

/** roce_is_ipv6() - whether a datagram came over IPv6, else over IPv4 */
static inline bool roce_is_ipv6(const struct sk_buff *skb)
{
	return ip_hdr(skb)->version == 6;
}

/** roce_run_bytes() - bytes that are left of a run, of what may be a longer train */
static inline u32 roce_run_bytes(struct sk_buff *skb)
{
	const struct roce_run *run = roce_run(skb);

	return run->end - run->offset;
}

/** roce_run_packets() - number of packets that are left of a run; at least 1 */
static inline u32 roce_run_packets(struct sk_buff *skb)
{
	return max(1u, DIV_ROUND_UP(roce_run_bytes(skb), roce_run(skb)->segment));
}

void roce_run_init(struct sk_buff *skb, u32 segment);
bool roce_run_copy(const struct sk_buff *skb, struct roce_run *run, void *to, u32 size);
bool roce_run_skip(const struct sk_buff *skb, struct roce_run *run, bool *goes_back);
struct sk_buff *roce_run_split(struct sk_buff *skb, const struct roce_run *next);
bool roce_run_next(struct sk_buff *skb, struct roce_qp *qp,
		   struct roce_packet *packet);
void roce_run_return(struct sk_buff *skb, const struct roce_packet *packet);
bool roce_run_check(struct sk_buff *skb, struct roce_qp *qp,
		    struct roce_packet *packet, struct roce_run *alone);
void roce_run_addresses(const struct sk_buff *skb, struct in6_addr *source,
			struct in6_addr *destination);
void roce_run_ip_headers(const struct sk_buff *skb,
			 const struct roce_packet *packet,
			 struct roce_ip_headers *headers);

#endif /* ROCE_RUN_H */
