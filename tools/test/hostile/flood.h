/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the parts of flood share: who is attacked, with what, and what of it arrives. */
#ifndef FLOOD_H
#define FLOOD_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "util.h"
#include "rdma.h"
#include "../wire/packet.h"

/* --- victims.c: QPs of every kind in every state ------------------------- */

#define VICTIM_PSN	0xfffff0	/* where both directions begin */
#define VICTIM_MTU	1024
#define OPEN_SIZE	8192

struct victim {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	enum ibv_qp_state state;	/* in which it is kept */
};

/* What packets may name: regions of the victims, and how they are protected */
enum region {
	OPEN_REGION,	/* for all that have its key */
	LOCAL_REGION,	/* for its owner only */
	FOREIGN_REGION,	/* for those of another protection domain */
	SECRET_REGION,	/* for all that have its key, which nobody is told */
	REGIONS
};

extern struct victim victims[];
extern unsigned int nr_victims;
extern struct ibv_mr *regions[REGIONS];

/* Connects the victims with @peer, where nobody is. */
void victims_create(struct port *port, const union ibv_gid *peer);
/* Brings a victim back to its state, with receives and requests. */
void victim_keep(struct victim *v);
bool is_victim(uint32_t qpn);
/* Nobody has written where nobody may. */
bool victims_unharmed(void);
void victims_destroy(void);

/* --- frames.c: bytes to frames of a netdev -------------------------------- */

#define MAX_PAYLOAD	8000

void frames_open(const char *netdev, const char *target_mac);
/*
 * One UDP datagram, a train if @segment is not 0. @payload lies in memory that
 * may change at once. Sent in batches: frames_flush() sends what is left.
 */
void frame_datagram(const struct wire_flow *flow, const uint8_t *payload,
		    uint32_t len, uint16_t ip_id, uint8_t tos, uint16_t segment);
/* The same in IPv4 fragments, the last one held back unless @whole. */
void frame_fragments(const struct wire_flow *flow, const uint8_t *payload,
		     uint32_t len, uint16_t ip_id, bool whole);
void frames_flush(void);
/* Packet sockets take trains from Linux 6.2 on. */
bool frames_take_trains(const struct wire_flow *flow);

/* --- fates.c: what must become of a packet ------------------------------- */

enum fate {
	FATE_NOWHERE,	/* to the multicast QP, and no group: not counted */
	FATE_NO_QP,
	FATE_REFUSED,	/* version, opcode or length: it is not parsed */
	FATE_ICRC,
	FATE_PKEY,
	FATE_RECEIVED,
	FATES
};

extern const char *const fate_names[FATES];

/* Bytes of headers that an opcode has, BTH included; 0 if there is no such opcode */
uint32_t opcode_headers(uint8_t opcode);
bool opcode_has_payload(uint8_t opcode);
/* @qpn: what decides where it goes, the packet's own if it has as much of a BTH */
enum fate packet_fate(const uint8_t *packet, uint32_t size, uint32_t qpn,
		      bool icrc_right);

#endif
