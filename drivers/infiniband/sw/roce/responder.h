/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_RESPONDER_H
#define ROCE_RESPONDER_H

#include "engine.h"
#include "reorder.h"
#include "ring.h"
#include "xmit.h"

struct roce_key;
struct roce_packet;
struct roce_qp;
struct roce_receive;
struct roce_resource;

/**
 * struct roce_responder - the half of a QP that executes requests
 * @engine: owns all fields that do not say otherwise
 * @sender: its timer also polls the receive queue of a QP in the error state, for a while
 * @ring: receive queue, unless the QP has a shared one
 * @post_lock: for kernel consumers that post receives
 * @receive: the receive in use, with room for the queue's maximum of sges
 * @has_receive: @receive is in use
 * @psn: expected PSN
 * @msn: number of completed messages
 * @message: IS_SEND or IS_WRITE while in the middle of a message, else 0
 * @placed: bytes of the message so far
 * @address: for an RDMA WRITE, of the next byte
 * @rkey: for an RDMA WRITE
 * @remaining: for an RDMA WRITE, bytes still to come
 * @latest_key: cache for the key of a SEND or a WRITE, within this section
 * @nak_sent: a NAK for @psn was sent, later packets are dropped silently
 * @ahead_psn: with @nak_sent, PSN of the latest packet that was dropped because it was
 *	ahead of @psn; @psn itself if there was none since an RNR NAK
 * @rnr_at: time of the latest NAK, ns, if it was an RNR NAK, else 0
 * @reorder: requests that came early; NULL before the first one
 * @path: index of the path of answers, see spread.c
 * @sack_state: of &enum roce_sack_state, see sack.c
 * @ack_due: an acknowledgment must be sent
 * @ack_syndrome: of that acknowledgment
 * @ack_psn: of that acknowledgment
 * @failed: nothing more is executed; the QP goes to the error state after the NAK is sent
 * @established: the first packet was reported to the consumer
 * @last_wqe_reported: in the error state, with a shared receive queue: the
 *	consumer knows that no receive completes any more
 * @repeat_psn: one past the last READ or atomic that was executed or, since the
 *	requester went back, asked for again
 * @lost_since: PSN of the first response that @lost counts
 * @lost: responses that were asked for again since then, see answer.c
 * @flush_interval: in the error state, nanoseconds between the last two checks of the
 *	receive queue of a program
 * @idle: in the list of the CQ, of QPs whose receive queue is not polled any more
 * @resources: the latest READs and atomics; their number is a power of two
 * @resource_mask: their number - 1
 * @answered: number of the first resource that may have responses left; free running
 * @taken: number of the next resource; free running
 * @parts: parts of READs to be answered again, ROCE_MAX_PARTS of them; NULL before the
 *	first one
 * @part_answered: number of the first part that may have responses left; free running
 * @part_taken: number of the next part; free running
 */
struct roce_responder {
	struct roce_engine engine;
	struct roce_sender sender;
	struct roce_ring ring;
	spinlock_t post_lock;		/* see @post_lock above */
	struct roce_receive *receive;
	bool has_receive;
	u32 psn;
	u32 msn;
	u16 message;
	u32 placed;
	u64 address;
	u32 rkey;
	u32 remaining;
	struct roce_key *latest_key;
	bool nak_sent;
	u32 ahead_psn;
	u64 rnr_at;
	struct roce_reorder *reorder;
	u8 path;
	u8 sack_state;
	bool ack_due;
	u8 ack_syndrome;
	u32 ack_psn;
	bool failed;
	bool established;
	bool last_wqe_reported;
	u32 repeat_psn;
	u32 lost_since;
	u32 lost;
	u64 flush_interval;
	struct list_head idle;
	struct roce_resource *resources;
	u32 resource_mask;
	u32 answered;
	u32 taken;
	struct roce_resource *parts;
	u32 part_answered;
	u32 part_taken;
};

/* responder.c */
int roce_responder_init(struct roce_qp *qp);
void roce_responder_start(struct roce_qp *qp);
void roce_responder_reset(struct roce_qp *qp);
void roce_responder_destroy(struct roce_qp *qp);
void roce_responder_stop(struct roce_qp *qp);

/* connection.c */
bool roce_connection_receive(struct roce_qp *qp, struct sk_buff *skb,
			     const struct roce_packet *packet, bool from_peer);
void roce_connection_refuse(struct roce_qp *qp, const struct roce_packet *packet,
			    bool from_peer);
void roce_connection_tell_of_gap(struct roce_qp *qp);

/* datagram.c */
bool roce_datagram_receive(struct roce_qp *qp, struct sk_buff *skb,
			   const struct roce_packet *packet);

#endif /* ROCE_RESPONDER_H */
