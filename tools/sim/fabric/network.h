/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_NETWORK_H
#define FABRIC_NETWORK_H

#include "packet.h"

/**
 * struct link - one direction of a cable, with the queue in front of it
 * @from: node that sends
 * @to: node that receives
 * @gbits: Gbit/s
 * @delay: nanoseconds
 * @buffer: bytes that may wait; what comes above is lost
 * @red: marks by the length of its queue
 * @free_at: when all that waits has left, nanoseconds
 * @ring: packets that wait or are on their way, in order; a power of two
 * @first: number of the first one; free running
 * @next: number of the next one; free running
 * @bytes: sent
 * @lost: packets with data for which there was no room
 * @marks: packets marked
 * @longest: bytes that have waited at once
 */
struct link {
	u32 from;
	u32 to;
	double gbits;
	u64 delay;
	double buffer;
	bool red;
	double free_at;
	struct packet *ring;
	u32 room;
	u32 first;
	u32 next;
	u64 bytes;
	u64 lost;
	u64 marks;
	double longest;
};

/**
 * struct node - a host or a switch
 * @seed: of the hash by which it chooses one of several ways
 * @uplink: of a host: its link to a switch
 * @downlink: of a host: the link of that switch to it
 * @leaf: of a host: number of its switch among those that have hosts
 * @is_host: has one switch, and is where packets begin and end
 * @is_core: no host is below it alone: one of the ways between hosts
 * @is_dead: forwards nothing
 * @lost: packets with data that it has not forwarded
 */
struct node {
	u32 seed;
	u32 uplink;
	u32 downlink;
	u32 leaf;
	bool is_host;
	bool is_core;
	bool is_dead;
	u64 lost;
};

/**
 * struct network - all nodes and links
 * @host: nodes that are hosts
 * @core: nodes that are core switches
 * @sprays: switches choose a way for each packet at random, not by a hash
 * @kmin: bytes of a queue of 1 Gbit/s from which on packets are marked
 * @kmax: bytes from which on all of them are
 * @pmax: share that is marked there
 */
struct network {
	struct node *nodes;
	u32 node_count;
	struct link *links;
	u32 link_count;
	u32 *hosts;
	u32 host_count;
	u32 *cores;
	u32 core_count;
	bool sprays;
	double kmin;
	double kmax;
	double pmax;
};

extern struct network network;

void network_begin(void);
u32 network_add_host(void);
u32 network_add_switch(bool is_core);
void network_connect(u32 a, u32 b, double gbits, u64 delay, double buffer);
void network_complete(void);
double network_waiting(const struct link *link, u64 now);
u64 network_delay(u32 from, u32 to);
void network_send(u32 from, struct packet *packet, u64 now);
bool network_deliver(u32 number, u64 now, struct packet *packet);

#endif /* FABRIC_NETWORK_H */
