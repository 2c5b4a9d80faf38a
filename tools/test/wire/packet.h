/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RoCE packets as bytes, independent of the driver's own headers. */
#ifndef WIRE_PACKET_H
#define WIRE_PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define ROCE_PORT 4791
#define BTH_SIZE 12
#define RETH_SIZE 16
#define ICRC_SIZE 4

enum {
	RC_SEND_ONLY = 0x04,
	RC_WRITE_FIRST = 0x06,
	RC_WRITE_MIDDLE = 0x07,
	RC_WRITE_LAST = 0x08,
	RC_WRITE_ONLY = 0x0a,
	RC_ACK = 0x11,
};

/* The flow a packet belongs to; the ICRC covers part of it. */
struct wire_flow {
	union ibv_gid from, to;
	uint16_t sport;
	bool fragmented;	/* IPv4: sent without DF */
};

struct wire_packet {
	uint8_t opcode;
	uint32_t qpn, psn;
	bool ack_request;
	/* first and only packets of a write */
	bool has_reth;
	uint64_t addr;
	uint32_t rkey, dma_len;
	const uint8_t *payload;
	uint32_t len;
};

/*
 * Writes the UDP payload of a packet; returns its size. @ip_id is what IPv4
 * will say in its identification: the ICRC covers it.
 */
uint32_t wire_build(uint8_t *buf, const struct wire_flow *flow,
		    const struct wire_packet *p, uint16_t ip_id);

/*
 * The ICRC of @len bytes that begin with a BTH, or with what is there of one,
 * as it stands behind them. @ip_id as above.
 */
uint32_t wire_icrc(const struct wire_flow *flow, const uint8_t *bth,
		   uint32_t len, uint16_t ip_id);

#endif
