/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_PACKET_H
#define ROCE_PACKET_H

#include <linux/skbuff.h>

#include "roce_opcode.h"
#include "roce_wire.h"

/**
 * struct roce_packet - one packet, its headers in host byte order
 * @info: properties of the opcode
 * @opcode: of the BTH
 * @solicited: the solicited event bit
 * @migrated: the MigReq bit; only of a received packet
 * @ack_request: the AckReq bit
 * @becn: the BECN bit
 * @sack: the bits of &enum roce_bth_sack
 * @pad: bytes after the payload, 0 to 3
 * @pkey: partition key
 * @qpn: destination QP
 * @psn: packet sequence number
 * @payload: bytes of payload
 * @qkey: of a DETH
 * @source_qpn: of a DETH
 * @flush: of a FETH, ROCE_FLUSH_*
 * @va: of a RETH or AtomicETH
 * @rkey: of a RETH or AtomicETH
 * @length: of a RETH
 * @swap_add: of an AtomicETH
 * @compare: of an AtomicETH
 * @syndrome: of an AETH
 * @msn: of an AETH
 * @seth_version: of a received SETH
 * @lost: of a SETH
 * @original: of an AtomicAckETH
 * @immediate: immediate data, as on the wire
 * @invalidate: R_Key of a send with invalidate
 * @skb: received packets: sk_buff with the payload, that of the run or one of its chain
 * @index: received packets: number in the datagram
 * @offset: received packets: of the payload in @skb
 * @data: received packets: the payload, if it is contiguous, else NULL
 * @again: received packets: it was taken from its run before, and counted
 * @malformed: received packets: only the fields of the BTH are valid; it must be refused
 *
 * A received packet is copied into this once, and only the copy is used from then on.
 * For a packet to send, this is its description. Fields of headers that the opcode
 * does not have are not valid.
 */
struct roce_packet {
	const struct roce_opcode_info *info;
	u8 opcode;
	bool solicited;
	bool migrated;
	bool ack_request;
	bool becn;
	u8 sack;
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
	u8 seth_version;
	u16 lost;
	__be32 immediate;
	u32 invalidate;
	const struct sk_buff *skb;
	u32 index;
	unsigned int offset;
	const void *data;
	bool again;
	bool malformed;
};

/** roce_packet_pad() - number of pad bytes after @payload bytes */
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

/**
 * roce_packet_copy() - copy a part of the payload of a received packet
 * @packet: the packet
 * @offset: in the payload
 * @to: where to
 * @length: bytes; they lie in the payload
 *
 * Return: 0, or -EFAULT if the sk_buff is shorter than that.
 */
static inline int roce_packet_copy(const struct roce_packet *packet, u32 offset,
				   void *to, u32 length)
{
	if (!packet->data)
		return skb_copy_bits(packet->skb, packet->offset + offset, to,
				     length);
	memcpy(to, packet->data + offset, length);
	return 0;
}

#endif /* ROCE_PACKET_H */
