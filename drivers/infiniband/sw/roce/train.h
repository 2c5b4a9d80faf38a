/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_TRAIN_H
#define ROCE_TRAIN_H

#include <linux/skbuff.h>

#include "icrc.h"
#include "roce.h"

/**
 * struct roce_packet - one packet, its headers in host byte order
 * @info: what the opcode means
 * @opcode: of the BTH
 * @solicited: the solicited event bit
 * @ack_request: the AckReq bit
 * @becn: the BECN bit
 * @pad: bytes behind the payload, 0 to 3
 * @pkey: partition key
 * @qpn: destination QP
 * @psn: packet sequence number
 * @payload: bytes of payload
 * @qkey: of a DETH
 * @source_qpn: of a DETH
 * @flush: of a FETH, ROCE_FLUSH_*
 * @va: of a RETH or AtomicETH
 * @rkey: likewise
 * @length: of a RETH
 * @swap_add: of an AtomicETH
 * @compare: of an AtomicETH
 * @syndrome: of an AETH
 * @msn: of an AETH
 * @original: of an AtomicAckETH
 * @immediate: immediate data as it stands on the wire
 * @invalidate: R_Key of a send with invalidate
 * @skb: of a received packet, where its payload lies: the sk_buff of its run, or
 *	one of the chain
 * @index: of a received packet, its number in the datagram
 * @offset: of the payload in @skb
 *
 * A received packet is copied into this once; from then on only the copy is
 * looked at. A packet to be sent is described by it. Fields of headers that
 * the opcode does not have are not valid.
 */
struct roce_packet {
	const struct roce_opcode_info *info;
	u8 opcode;
	bool solicited;
	bool ack_request;
	bool becn;
	u8 pad;
	u16 pkey;
	u32 qpn;
	u32 psn;
	u32 payload;
	u32 qkey;
	u32 source_qpn;
	u32 flush;
	u64 va;
	u32 rkey;
	u32 length;
	u64 swap_add;
	u64 compare;
	u8 syndrome;
	u32 msn;
	u64 original;
	__be32 immediate;
	u32 invalidate;
	const struct sk_buff *skb;
	u32 index;
	unsigned int offset;
};

/** roce_packet_pad() - pad bytes behind @payload bytes */
static inline u8 roce_packet_pad(u32 payload)
{
	return -payload & 3;
}

/** roce_packet_size() - bytes from BTH to ICRC of a packet */
static inline u32 roce_packet_size(const struct roce_packet *packet)
{
	return packet->info->header_length + packet->payload +
	       roce_packet_pad(packet->payload) + ROCE_ICRC_SIZE;
}

/*
 * Limits of a train: what UDP segmentation takes (64 KiB with headers), and the
 * number of segments that receivers are used to.
 */
#define ROCE_TRAIN_MAX_BYTES	65000
#define ROCE_TRAIN_MAX_PACKETS	64

/* Trains that are sent before the engine looks at what was received meanwhile */
#define ROCE_TRAINS_PER_STEP	2

/* How long to wait for a netdev that takes no more, or for memory */
#define ROCE_STALL_NANOSECONDS	(500 * NSEC_PER_USEC)

/* Stalls in a row after which is lost what nobody waits for, or asks for again */
#define ROCE_MAX_STALLS		100

/**
 * struct roce_train - a train under construction
 * @skb: holds the finished packets
 * @headers: IP and UDP header of the packet under construction
 * @packets: finished ones
 * @sent: how many of them left before the egress queue was full; set by a send
 *	function that returns -EAGAIN
 * @segment: bytes of each packet but a last, shorter one
 * @closed: the last packet was shorter, or a limit is reached
 * @limit: bytes after which no other packet is added
 * @data: it carries payload of a connection, and counts against its rate
 * @priority: of the sk_buff
 * @departure: CLOCK_MONOTONIC time before which fq holds it; 0 for at once
 * @start: offset of the packet under construction in @skb
 * @icrc: of the bytes of that packet so far
 *
 * A train is a run of packets of one QP in one sk_buff, every one @segment
 * bytes long but the last one, which may be shorter: what UDP segmentation
 * offload takes. See Documentation/architecture.md.
 */
struct roce_train {
	struct sk_buff *skb;
	struct roce_ip_headers headers;
	u32 packets;
	u32 sent;
	u32 segment;
	bool closed;
	u32 limit;
	bool data;
	u8 priority;
	u64 departure;
	u32 start;
	u32 icrc;
};

void roce_train_exit(void);
int roce_train_open(struct roce_train *train, const struct roce_av *av,
		    u16 source_port, u32 first_psn, u32 size);
void roce_train_set_traffic_class(struct roce_train *train, u8 traffic_class);
void roce_train_set_ecn(struct roce_train *train, u8 ecn);
bool roce_train_fits(const struct roce_train *train, u32 size);
int roce_train_begin_packet(struct roce_train *train,
			    const struct roce_packet *packet);
int roce_train_append(struct roce_train *train, const void *data, u32 length);
int roce_train_end_packet(struct roce_train *train,
			  const struct roce_packet *packet);
void roce_train_cancel_packet(struct roce_train *train);
void roce_train_drop(struct roce_train *train);
int roce_train_of_one(struct roce_train *train, const struct roce_av *av,
		      u16 source_port, const struct roce_packet *packet);
struct sk_buff *roce_train_finish(struct roce_train *train);

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

#endif /* ROCE_TRAIN_H */
