/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_TRAIN_H
#define ROCE_TRAIN_H

#include "icrc.h"
#include "packet.h"
#include "train_limits.h"

struct roce_av;

/**
 * struct roce_train - a train under construction
 * @skb: holds the finished packets; NULL before the first packet
 * @headers: IP and UDP header of the packet under construction
 * @packets: number of finished packets
 * @sent: number of packets that were sent; set by roce_send()
 * @segment: bytes of each packet, except for a last, shorter one
 * @closed: the last packet was shorter, or a limit is reached
 * @limit: bytes after which no other packet is added
 * @bytes: bytes of all packets so far
 * @data: it carries payload of a connection, and counts against its rate
 * @turn: it has a turn, see egress.c
 * @priority: of the sk_buff
 * @departure: CLOCK_MONOTONIC time before which fq holds it; 0 for none
 * @start: bytes before the packet under construction
 * @icrc: ICRC of this packet so far
 * @prefix: of the ICRC of the latest packet
 * @bth: of the packet under construction
 * @payload: bytes of its payload
 * @left: bytes of payload that are missing before the next packet begins
 * @more: number of similar packets that follow the one under construction
 * @place: where the next byte is written
 * @end: end of the room there
 * @unclaimed: start of the bytes before @place that do not belong to @skb yet
 * @in_page: @place is in a page, not in the linear part of @skb
 *
 * A train is an sk_buff with packets of one QP, each @segment bytes long, except for
 * the last one, which may be shorter. UDP segmentation offload can cut it into these
 * packets. See Documentation/architecture.md.
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
	bool turn;
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
void roce_train_set_path(struct roce_train *train, u16 source_port, u32 flow_label);
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
