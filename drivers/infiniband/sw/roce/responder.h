/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_RESPONDER_H
#define ROCE_RESPONDER_H

#include <linux/hrtimer.h>

#include "engine.h"
#include "reorder.h"
#include "ring.h"

struct roce_key;
struct roce_packet;
struct roce_qp;
struct roce_receive;
struct roce_resource;

/**
 * struct roce_responder - the half of a QP that executes requests
 * @engine: owns all of this but for what is said otherwise
 * @ring: receive queue, unless the QP has a shared one
 * @post_lock: for kernel consumers that post receives
 * @receive: the receive in use, room for as many sges as the queue allows for
 * @has_receive: whether @receive is in use
 * @psn: expected next
 * @msn: messages completed
 * @message: IS_SEND or IS_WRITE while in the middle of a message, else 0
 * @placed: bytes of the message so far
 * @address: of an RDMA WRITE, where the next byte goes
 * @rkey: of an RDMA WRITE
 * @remaining: bytes of an RDMA WRITE still to come
 * @latest_key: what the latest key of a SEND or a WRITE named, in this section
 * @nak_sent: a NAK for @psn is out, packets behind it are dropped silently
 * @ahead_psn: the last one that was dropped since it was ahead of @psn, while
 *	@nak_sent; @psn itself if there was none since an RNR NAK
 * @rnr_at: when the latest NAK was made, in ns, if it was an RNR NAK, else 0
 * @reorder: requests that came early
 * @sack_state: of &enum roce_sack_state, see sack.c
 * @ack_due: an acknowledgment is owed
 * @ack_syndrome: of that acknowledgment
 * @ack_psn: of that acknowledgment
 * @failed: the QP goes to the error state once the NAK is out
 * @established: the first packet was reported to the consumer
 * @last_wqe_reported: in the error state, with a shared receive queue: the
 *	consumer knows that no receive completes any more
 * @repeat_psn: one past the last READ or atomic that was executed or, since the
 *	requester went back, asked for again
 * @flush_interval: in the error state, nanoseconds between the last two looks at the
 *	receive queue of a program
 * @idle: among the QPs of the CQ whose receive queue is not polled any more
 * @resources: the last READs and atomics, as many as a power of two
 * @resource_mask: their number - 1
 * @answered: the first resource that may have responses left; free running
 * @taken: the resource that is taken next; free running
 * @parts: of READs whose rest was answered, to be answered once more;
 *	ROCE_MAX_PARTS of them
 * @part_answered: the first of them that may have responses left; free running
 * @part_taken: the one that is taken next; free running
 * @waiting: for @wait_timer, nothing is sent meanwhile; the timer ends it,
 *	whoever owns the engine
 * @stalls: of the netdev, in a row
 * @wait_timer: a stall, or the turn of a flow whose rate is limited; polls the
 *	receive queue of a QP in the error state, for a while
 */
struct roce_responder {
	struct roce_engine engine;
	struct roce_ring ring;
	spinlock_t post_lock;		/* of a kernel consumer's side of ring */
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
	struct roce_reorder reorder;
	u8 sack_state;
	bool ack_due;
	u8 ack_syndrome;
	u32 ack_psn;
	bool failed;
	bool established;
	bool last_wqe_reported;
	u32 repeat_psn;
	u64 flush_interval;
	struct list_head idle;
	struct roce_resource *resources;
	u32 resource_mask;
	u32 answered;
	u32 taken;
	struct roce_resource *parts;
	u32 part_answered;
	u32 part_taken;
	struct hrtimer wait_timer;
	bool waiting;
	u32 stalls;
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
void roce_datagram_receive(struct roce_qp *qp, struct sk_buff *skb,
			   const struct roce_packet *packet);

#endif /* ROCE_RESPONDER_H */
