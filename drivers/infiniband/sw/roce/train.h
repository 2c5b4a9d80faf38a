/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_TRAIN_H
#define ROCE_TRAIN_H

#include "icrc.h"
#include "packet.h"

struct roce_av;

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
 * @skb: holds the finished packets; NULL before the first one was begun
 * @headers: IP and UDP header of the packet under construction
 * @packets: finished ones
 * @sent: how many of them left before the egress queue was full; set by a send
 *	function that returns -EAGAIN
 * @segment: bytes of each packet but a last, shorter one
 * @closed: the last packet was shorter, or a limit is reached
 * @limit: bytes after which no other packet is added
 * @bytes: of all packets so far
 * @data: it carries payload of a connection, and counts against its rate
 * @priority: of the sk_buff
 * @departure: CLOCK_MONOTONIC time before which fq holds it; 0 for at once
 * @start: bytes in front of the packet under construction
 * @icrc: of the bytes of that packet so far
 * @prefix: of the ICRC of the latest packet
 * @bth: of the packet under construction
 * @payload: bytes of it
 * @left: of these, to be appended until the next packet begins
 * @more: packets of the same kind that follow the one under construction
 * @place: where the next byte goes
 * @end: of the room there
 * @unclaimed: from here to @place are bytes that do not belong to @skb yet
 * @in_page: @place is in a page, rather than in the linear part of @skb
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
	u32 bytes;
	u32 start;
	u32 icrc;
	struct roce_icrc_prefix prefix;
	struct roce_bth bth;
	u32 payload;
	u32 left;
	u32 more;
	void *place;
	void *end;
	void *unclaimed;
	bool in_page;
};

void roce_train_exit(void);
void roce_train_open(struct roce_train *train, const struct roce_av *av,
		     u16 source_port);
void roce_train_set_traffic_class(struct roce_train *train, u8 traffic_class);
void roce_train_set_ecn(struct roce_train *train, u8 ecn);
bool roce_train_fits(const struct roce_train *train, u32 size);
u32 roce_train_capacity(const struct roce_train *train, u32 size);
int roce_train_begin_packets(struct roce_train *train,
			     const struct roce_packet *packet, u32 count);
int roce_train_append(struct roce_train *train, const void *data, u32 length);
int roce_train_end_packet(struct roce_train *train);
void roce_train_cancel_packet(struct roce_train *train);
void roce_train_drop(struct roce_train *train);
int roce_train_of_one(struct roce_train *train, const struct roce_av *av,
		      u16 source_port, const struct roce_packet *packet,
		      const void *payload);
struct sk_buff *roce_train_finish(struct roce_train *train);
struct sk_buff *roce_train_cut(struct sk_buff *skb);

#endif /* ROCE_TRAIN_H */
