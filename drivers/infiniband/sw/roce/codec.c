// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The headers of a packet, on the wire and in &struct roce_packet. The table of opcodes
 * says which headers an opcode has. All packets have a BTH, which is in codec.h.
 */
#include "codec.h"
#include "roce_opcode.h"
#include "roce_wire.h"

/* Each header has a build_*(), and a parse_*() that undoes it. */

static void build_deth(const struct roce_packet *packet, struct roce_deth *deth)
{
	deth->qkey = cpu_to_be32(packet->qkey);
	deth->source_qpn = cpu_to_be32(packet->source_qpn);
}

static void parse_deth(struct roce_packet *packet, const struct roce_deth *deth)
{
	packet->qkey = be32_to_cpu(deth->qkey);
	packet->source_qpn = be32_to_cpu(deth->source_qpn) & ROCE_BTH_LOW_24;
}

static void build_feth(const struct roce_packet *packet, struct roce_feth *feth)
{
	feth->flush = cpu_to_be32(packet->flush);
}

static void parse_feth(struct roce_packet *packet, const struct roce_feth *feth)
{
	packet->flush = be32_to_cpu(feth->flush);
}

static void build_reth(const struct roce_packet *packet, struct roce_reth *reth)
{
	reth->va = cpu_to_be64(packet->va);
	reth->rkey = cpu_to_be32(packet->rkey);
	reth->length = cpu_to_be32(packet->length);
}

static void parse_reth(struct roce_packet *packet, const struct roce_reth *reth)
{
	packet->va = be64_to_cpu(reth->va);
	packet->rkey = be32_to_cpu(reth->rkey);
	packet->length = be32_to_cpu(reth->length);
}

static void build_aeth(const struct roce_packet *packet, struct roce_aeth *aeth)
{
	aeth->syndrome_msn = cpu_to_be32(packet->syndrome << 24 | packet->msn);
}

static void parse_aeth(struct roce_packet *packet, const struct roce_aeth *aeth)
{
	u32 word = be32_to_cpu(aeth->syndrome_msn);

	packet->syndrome = word >> 24;
	packet->msn = word & ROCE_BTH_LOW_24;
}

static void build_atomic_eth(const struct roce_packet *packet,
			     struct roce_atomic_eth *atomic)
{
	atomic->va = cpu_to_be64(packet->va);
	atomic->rkey = cpu_to_be32(packet->rkey);
	atomic->swap_add = cpu_to_be64(packet->swap_add);
	atomic->compare = cpu_to_be64(packet->compare);
}

static void parse_atomic_eth(struct roce_packet *packet,
			     const struct roce_atomic_eth *atomic)
{
	packet->va = be64_to_cpu(atomic->va);
	packet->rkey = be32_to_cpu(atomic->rkey);
	packet->swap_add = be64_to_cpu(atomic->swap_add);
	packet->compare = be64_to_cpu(atomic->compare);
}

static void build_atomic_ack_eth(const struct roce_packet *packet,
				 struct roce_atomic_ack_eth *ack)
{
	ack->original = cpu_to_be64(packet->original);
}

static void parse_atomic_ack_eth(struct roce_packet *packet,
				 const struct roce_atomic_ack_eth *ack)
{
	packet->original = be64_to_cpu(ack->original);
}

static void build_seth(const struct roce_packet *packet, struct roce_seth *seth)
{
	*seth = (struct roce_seth) {
		.version = ROCE_SETH_VERSION,
		.lost = cpu_to_be16(packet->lost),
	};
}

static void parse_seth(struct roce_packet *packet, const struct roce_seth *seth)
{
	packet->seth_version = seth->version;
	packet->lost = be16_to_cpu(seth->lost);
}

static void build_immediate(const struct roce_packet *packet,
			    struct roce_immediate *immediate)
{
	immediate->data = packet->immediate;
}

static void parse_immediate(struct roce_packet *packet,
			    const struct roce_immediate *immediate)
{
	packet->immediate = immediate->data;
}

static void build_invalidate(const struct roce_packet *packet,
			     struct roce_immediate *rkey)
{
	rkey->data = cpu_to_be32(packet->invalidate);
}

static void parse_invalidate(struct roce_packet *packet,
			     const struct roce_immediate *rkey)
{
	packet->invalidate = be32_to_cpu(rkey->data);
}

/*
 * The order of the headers after the BTH. HEADER(flag, name, type) handles one header;
 * build_*() and parse_*() above have its name.
 */
#define EXTENDED_HEADERS do { \
	HEADER(ROCE_HAS_DETH, deth, struct roce_deth); \
	HEADER(ROCE_HAS_FETH, feth, struct roce_feth); \
	HEADER(ROCE_HAS_RETH, reth, struct roce_reth); \
	HEADER(ROCE_HAS_AETH, aeth, struct roce_aeth); \
	HEADER(ROCE_HAS_ATOMIC_ETH, atomic_eth, struct roce_atomic_eth); \
	HEADER(ROCE_HAS_ATOMIC_ACK_ETH, atomic_ack_eth, struct roce_atomic_ack_eth); \
	HEADER(ROCE_HAS_SETH, seth, struct roce_seth); \
	HEADER(ROCE_HAS_IMMEDIATE, immediate, struct roce_immediate); \
	HEADER(ROCE_HAS_INVALIDATE, invalidate, struct roce_immediate); \
} while (0)

/**
 * roce_codec_build_extended() - write the headers between BTH and payload
 * @packet: the fields of the opcode's headers are set
 * @place: room for them, after a BTH that is aligned to 8 bytes
 */
void roce_codec_build_extended(const struct roce_packet *packet, void *place)
{
	u32 flags = packet->info->flags;

#define HEADER(flag, name, type) do { \
	if (flags & (flag)) { \
		build_##name(packet, place); \
		place += sizeof(type); \
	} \
} while (0)
	EXTENDED_HEADERS;
#undef HEADER
}

/**
 * roce_codec_parse_extended() - copy the headers after the BTH into a packet
 * @packet: filled in by roce_codec_parse_bth()
 * @place: the headers, after a BTH that is aligned to 8 bytes
 */
void roce_codec_parse_extended(struct roce_packet *packet, const void *place)
{
	u32 flags = packet->info->flags;

#define HEADER(flag, name, type) do { \
	if (flags & (flag)) { \
		parse_##name(packet, place); \
		place += sizeof(type); \
	} \
} while (0)
	EXTENDED_HEADERS;
#undef HEADER
}

/**
 * roce_codec_rnr_delay() - the delay of the timer field of an RNR NAK
 * @timer: value of the field, as min_rnr_timer of modify_qp
 *
 * IBA volume 1, 9.7.5.2.8, table 46.
 *
 * Return: nanoseconds.
 */
u64 roce_codec_rnr_delay(u8 timer)
{
	static const u32 hundredths_of_ms[32] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
		12288, 16384, 24576, 32768, 49152
	};

	return (u64)hundredths_of_ms[timer & ROCE_AETH_VALUE_MASK] *
	       10 * NSEC_PER_USEC;
}
