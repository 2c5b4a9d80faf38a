/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_CODEC_H
#define ROCE_CODEC_H

#include <asm/byteorder.h>

#include "packet.h"
#include "roce_psn.h"
#include "roce_wire.h"

/** roce_bth_qpn() - the destination QP of a BTH */
static inline u32 roce_bth_qpn(const struct roce_bth *bth)
{
	return be32_to_cpu(bth->qpn) & ROCE_BTH_LOW_24;
}

/** roce_bth_psn() - the PSN of a BTH */
static inline u32 roce_bth_psn(const struct roce_bth *bth)
{
	return be32_to_cpu(bth->psn) & ROCE_PSN_MASK;
}

/**
 * roce_codec_build_bth() - make the BTH of a packet
 * @packet: opcode, qpn, psn, payload and the bits of the BTH are set
 */
static inline struct roce_bth
roce_codec_build_bth(const struct roce_packet *packet)
{
	return (struct roce_bth) {
		.opcode = packet->opcode,
		.flags = (packet->solicited ? ROCE_BTH_SOLICITED : 0) |
			 (packet->becn ? 0 : ROCE_BTH_MIGREQ) |
			 roce_packet_pad(packet->payload) << ROCE_BTH_PAD_SHIFT,
		.pkey = cpu_to_be16(ROCE_DEFAULT_PKEY),
		.qpn = cpu_to_be32(packet->qpn |
				   (packet->becn ? ROCE_BTH_BECN : 0)),
		.psn = cpu_to_be32(packet->psn |
				   packet->sack << ROCE_BTH_SACK_SHIFT |
				   (packet->ack_request ? ROCE_BTH_ACK_REQUEST :
							  0)),
	};
}

/**
 * roce_codec_parse_bth() - copy a BTH into a packet
 * @bth: as it is on the wire
 * @packet: info, opcode, solicited, migrated, ack_request, sack, pad, pkey, qpn and psn
 *	are set
 */
static inline void roce_codec_parse_bth(const struct roce_bth *bth,
					struct roce_packet *packet)
{
	packet->info = roce_opcode_info(bth->opcode);
	packet->opcode = bth->opcode;
	packet->solicited = bth->flags & ROCE_BTH_SOLICITED;
	packet->migrated = bth->flags & ROCE_BTH_MIGREQ;
	packet->pad = (bth->flags & ROCE_BTH_PAD_MASK) >> ROCE_BTH_PAD_SHIFT;
	packet->pkey = be16_to_cpu(bth->pkey);
	packet->qpn = roce_bth_qpn(bth);
	packet->psn = roce_bth_psn(bth);
	packet->ack_request = be32_to_cpu(bth->psn) & ROCE_BTH_ACK_REQUEST;
	packet->sack = (be32_to_cpu(bth->psn) & ROCE_BTH_SACK_MASK) >>
		       ROCE_BTH_SACK_SHIFT;
}

void roce_codec_build_extended(const struct roce_packet *packet, void *place);
void roce_codec_parse_extended(struct roce_packet *packet, const void *place);
u64 roce_codec_rnr_delay(u8 timer);

#endif /* ROCE_CODEC_H */
