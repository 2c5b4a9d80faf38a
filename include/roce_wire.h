/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_WIRE_H
#define ROCE_WIRE_H

#include <linux/types.h>

/*
 * What stands on the wire between the UDP header and the end of a RoCEv2
 * packet: IBA volume 1, chapter 9, and its annex A17. All fields are big
 * endian, but the ICRC, which is sent least significant byte first.
 */
#define ROCE_UDP_PORT		4791

/* Both RNICs and rdma_rxe have one partition, the default one, with full membership. */
#define ROCE_DEFAULT_PKEY	0xffff
#define ROCE_PKEY_INDEX_MASK	0x7fff

#define ROCE_QPN_GSI		1
#define ROCE_QPN_MULTICAST	0xffffff

#define ROCE_ICRC_SIZE		4
#define ROCE_GRH_SIZE		40

/* Base transport header */
struct roce_bth {
	__u8	opcode;
	__u8	flags;
	__be16	pkey;
	__be32	qpn;		/* FECN, BECN, 6 reserved bits, 24 bits of QPN */
	__be32	psn;		/* AckReq, 7 reserved bits, 24 bits of PSN */
};

#define ROCE_BTH_SOLICITED	0x80
#define ROCE_BTH_MIGREQ		0x40
#define ROCE_BTH_PAD_SHIFT	4
#define ROCE_BTH_PAD_MASK	0x30
#define ROCE_BTH_VERSION_MASK	0x0f
#define ROCE_BTH_FECN		0x80000000u
#define ROCE_BTH_BECN		0x40000000u
#define ROCE_BTH_ACK_REQUEST	0x80000000u
#define ROCE_BTH_LOW_24		0x00ffffffu

/*
 * The lower 4 of the 7 bits beside AckReq, which others send as zeros and do not look
 * at (IBA volume 1, 9.2): the offer of selective acknowledgments, see sack.c. Only in
 * requests with AckReq, and in responses with an AETH.
 */
#define ROCE_BTH_SACK_SHIFT	24
#define ROCE_BTH_SACK_MASK	0x0f000000u

enum roce_bth_sack {
	ROCE_BTH_SACK_NONE	= 0x0,
	ROCE_BTH_SACK_OFFER	= 0x3,	/* a requester takes them */
	ROCE_BTH_SACK_ACCEPT	= 0xa,	/* a responder of ours has seen that */
	ROCE_BTH_SACK_CONFIRM	= 0x5,	/* and its requester has seen that one */
};

/* RDMA extended transport header */
struct roce_reth {
	__be64	va;
	__be32	rkey;
	__be32	length;
} __packed;

/* FLUSH extended transport header: where the bytes have to get to, which bytes */
struct roce_feth {
	__be32	flush;
};

#define ROCE_FLUSH_GLOBAL		0x01	/* all that access the memory see them */
#define ROCE_FLUSH_PERSISTENT		0x02	/* they survive a power failure */
#define ROCE_FLUSH_PLACEMENT_MASK	0x0f
#define ROCE_FLUSH_RANGE		0x00	/* those that the RETH says */
#define ROCE_FLUSH_REGION		0x10	/* all of its region */
#define ROCE_FLUSH_SELECTIVITY_MASK	0x30
#define ROCE_FLUSH_SELECTIVITY_SHIFT	4

/* ACK extended transport header: 8 bits of syndrome, 24 bits of MSN */
struct roce_aeth {
	__be32	syndrome_msn;
};

/* Datagram extended transport header */
struct roce_deth {
	__be32	qkey;
	__be32	source_qpn;
};

/* Atomic extended transport header */
struct roce_atomic_eth {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed;

/* Atomic ACK extended transport header */
struct roce_atomic_ack_eth {
	__be64	original;
} __packed;

/*
 * Header of a selective acknowledgment. Behind it are the ranges that have come. All
 * offsets are PSNs from that of the BTH on, which is the first one that is missing.
 */
struct roce_seth {
	__u8	version;
	__u8	reserved;
	__be16	lost;		/* what is missing before this one is lost */
};

#define ROCE_SETH_VERSION	1

/* PSNs that have come: from the first one on, up to the second one and without it */
struct roce_sack_range {
	__be16	begin;
	__be16	end;
};

/* At most; fewer over a path MTU into which these do not fit */
#define ROCE_SACK_RANGES	384

/* Immediate data, and the invalidate header, which is as long */
struct roce_immediate {
	__be32	data;
};

/* The longest chain of headers that any opcode has: BTH and AtomicETH */
#define ROCE_MAX_HEADERS \
	(sizeof(struct roce_bth) + sizeof(struct roce_atomic_eth))

/*
 * Syndromes of an AETH (9.7.5.1.1): bits 6:5 say which kind, bits 4:0 carry
 * the credit count, the RNR timer or the NAK code.
 */
enum roce_aeth_kind {
	ROCE_AETH_ACK		= 0x00,
	ROCE_AETH_RNR_NAK	= 0x20,
	ROCE_AETH_NAK		= 0x60,
};

#define ROCE_AETH_KIND_MASK	0xe0
#define ROCE_AETH_VALUE_MASK	0x1f
/* A credit count of 31 switches end-to-end flow control off. */
#define ROCE_AETH_NO_CREDITS	0x1f

enum roce_nak_code {
	ROCE_NAK_PSN_SEQUENCE_ERROR		= 0,
	ROCE_NAK_INVALID_REQUEST		= 1,
	ROCE_NAK_REMOTE_ACCESS_ERROR		= 2,
	ROCE_NAK_REMOTE_OPERATIONAL_ERROR	= 3,
};

#endif /* ROCE_WIRE_H */
