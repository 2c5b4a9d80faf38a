/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_FLOW_H
#define FABRIC_FLOW_H

#include <linux/types.h>

#include "packet.h"

/**
 * struct flow - a connection, and what it has to send
 * @source: node that sends
 * @target: node that receives
 * @identity: hash of addresses
 * @port: UDP source port of path 0
 * @first_psn: of the first packet
 * @message: packets of a message
 * @messages: number of them; 0 for no end
 * @outstanding: messages at once
 */
struct flow {
	u32 source;
	u32 target;
	u32 identity;
	u16 port;
	u32 first_psn;
	u32 message;
	u64 messages;
	u32 outstanding;
};

extern struct flow *flows;
extern u32 flow_count;
/* Paths of each flow */
extern u32 path_count;
/* On the wire, of a full packet */
extern u32 packet_bytes;

void flow_send_forward(u32 number, struct packet packet, u32 path, u64 now);
void flow_send_back(u32 number, struct packet packet, u32 path, u64 now);

#endif /* FABRIC_FLOW_H */
