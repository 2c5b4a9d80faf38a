/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_PACKET_H
#define FABRIC_PACKET_H

#include <linux/types.h>

enum packet_kind {
	PACKET_DATA,
	PACKET_ACK,		/* with a SACK, if there is a gap */
	PACKET_CNP,
	PACKET_PROBE,		/* of a path */
	PACKET_ANSWER,
};

/* Of packets without a payload, on the wire */
#define SMALL_BYTES 64u

/**
 * struct packet - on its way
 * @time: when it reaches the next node, nanoseconds
 * @flow: number of the flow
 * @psn: its own; of an ACK, the one that is expected; of a probe, its number
 * @sack: of an ACK: what has come early, or SACK_NONE
 * @to: node that it goes to
 * @entropy: hash of addresses and ports, by which switches choose
 * @bytes: on the wire
 * @kind: of &enum packet_kind
 * @asks: for an acknowledgment
 * @again: it was sent before
 * @marked: a queue was long
 */
struct packet {
	u64 time;
	u32 flow;
	u32 psn;
	u32 sack;
	u32 to;
	u32 entropy;
	u16 bytes;
	u8 kind;
	bool asks : 1;
	bool again : 1;
	bool marked : 1;
};

#endif /* FABRIC_PACKET_H */
