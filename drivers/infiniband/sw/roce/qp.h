/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_QP_H
#define ROCE_QP_H

#include "roce.h"
#include "sge.h"
#include "run.h"
#include "train.h"

/**
 * struct roce_request - a send work request, as the kernel remembers it
 * @wr_id: the consumer's
 * @opcode: what to do
 * @flags: IB_SEND_*
 * @status: IB_WC_SUCCESS, or what is wrong with it
 * @length: bytes of the message; of a FLUSH, those to be flushed
 * @first_psn: PSN of its first packet
 * @packets: PSNs that it takes; for a READ those of the response
 * @flush: of a FLUSH, ROCE_FLUSH_*
 * @remote_address: of RDMA and atomics
 * @rkey: of RDMA and atomics
 * @swap_add: of an atomic, what memory is to become, or what is added
 * @compare: of an atomic, what memory has to be
 * @immediate: as it goes on the wire
 * @invalidate: key that SEND with invalidate or a local invalidate takes away
 * @registration: of REG_MR
 * @binding: of BIND_MW
 * @executed: of a local operation: it is done, but what is before it is not
 * @ah_number: of UD, of a program: names the address vector, which is looked up
 *	whenever it is sent
 * @av: of UD, of a kernel consumer, which keeps the address handle
 * @remote_qpn: of UD
 * @remote_qkey: of UD
 * @sges: how many of @sge; 0 with inline data
 * @sge: the memory to send from, or to read into
 * @inline_data: payload that came with the work request
 *
 * A program's work request is copied from its ring into one of these once and
 * then never looked at again: the program can change the ring at any time.
 */
struct roce_request {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	u32 flags;
	enum ib_wc_status status;
	u32 length;
	u32 first_psn;
	u32 packets;
	u32 flush;
	u64 remote_address;
	u32 rkey;
	u64 swap_add;
	u64 compare;
	union {
		__be32 immediate;
		u32 invalidate;
		struct roce_registration registration;
		struct roce_binding binding;
	};
	bool executed;
	u32 ah_number;
	struct roce_av *av;
	u32 remote_qpn;
	u32 remote_qkey;
	u32 sges;
	union {
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

static inline bool roce_request_is_atomic(const struct roce_request *request)
{
	return request->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       request->opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/** roce_request_has_response() - more than an acknowledgment comes back */
static inline bool roce_request_has_response(const struct roce_request *request)
{
	return request->opcode == IB_WR_RDMA_READ ||
	       request->opcode == IB_WR_FLUSH ||
	       request->opcode == IB_WR_ATOMIC_WRITE ||
	       roce_request_is_atomic(request);
}

/**
 * struct roce_requester - the half of a QP that sends requests
 * @engine: owns all of this but for what is said otherwise
 * @ring: of a program, filled by it
 * @slots: as many requests as @ring has elements, @slot_size bytes each; of a
 *	program's QP, NULL until it first sends
 * @slot_size: bytes
 * @slot_mask: slots - 1
 * @post_lock: guards @posted, which kernel consumers advance in any context
 * @posted: requests that a kernel consumer has written into the slots
 * @fetched: requests that have been looked at, and numbered with PSNs
 * @current_request: the request that the packet of @psn belongs to
 * @completed: requests that are over; the next one is the oldest
 * @psn: of the packet that is sent next
 * @limit_psn: one past the highest PSN ever sent
 * @unacked_psn: oldest PSN that the responder has not acknowledged
 * @next_psn: first PSN of the request that is fetched next
 * @window: packets that may be in flight
 * @window_psn: limit_psn when @window was set; when all before it is
 *	acknowledged, @window grows
 * @asked: READ and atomic requests that were sent and wait for their responses
 * @asked_first: the oldest of them in @asked_end
 * @asked_end: one past the PSN of the last response of each; NULL as long as none
 *	may be sent
 * @asked_room: how many @asked_end has room for, a power of two
 * @ack_request_psn: of the last packet with AckReq
 * @recovering: went back and saw no progress since; further signs of the same
 *	gap are ignored
 * @retries: left before IB_WC_RETRY_EXC_ERR
 * @rnr_retries: left before IB_WC_RNR_RETRY_EXC_ERR
 * @rnr_waiting: @wait_end is that of an RNR NAK's delay
 * @stalls: of the netdev, in a row
 * @wait_end: nothing is sent before: an RNR NAK's delay, a stall of the netdev, or
 *	the turn of a flow whose rate is limited; 0 if there is nothing to wait for
 * @company_awaited: a short message waits for others, for as long as @wait_timer runs
 * @wait_timer: lets the requester look again, at the end of either wait
 * @ack_timer: fires no earlier than the retransmission is due
 * @ack_deadline: jiffies at which the response is overdue
 * @draining: the event of a drained send queue is still owed
 * @timed_psn: of the packet whose acknowledgment ends a round trip
 * @timed_at: when it left, nanoseconds; 0 if no round trip is measured
 */
struct roce_requester {
	struct roce_engine engine;
	struct roce_ring ring;
	void *slots;
	u32 slot_size;
	u32 slot_mask;
	spinlock_t post_lock;		/* of posted */
	u32 posted;
	u32 fetched;
	u32 current_request;
	u32 completed;
	u32 psn;
	u32 limit_psn;
	u32 unacked_psn;
	u32 next_psn;
	u32 window;
	u32 window_psn;
	u32 asked;
	u32 asked_first;
	u32 asked_room;
	u32 *asked_end;
	u32 ack_request_psn;
	bool recovering;
	u8 retries;
	u8 rnr_retries;
	bool rnr_waiting;
	bool company_awaited;
	u32 stalls;
	ktime_t wait_end;
	struct hrtimer wait_timer;
	struct timer_list ack_timer;
	unsigned long ack_deadline;
	bool draining;
	u32 timed_psn;
	u64 timed_at;
};

/** roce_in_flight() - packets behind the oldest that is not acknowledged */
static inline u32 roce_in_flight(const struct roce_requester *requester)
{
	return roce_psn_add(requester->psn, -requester->unacked_psn);
}

/** roce_asked_end() - where the @n-th request in asked_end ends */
static inline u32 *roce_asked_end(struct roce_requester *requester, u32 n)
{
	return &requester->asked_end[(requester->asked_first + n) &
				     (requester->asked_room - 1)];
}

/**
 * struct roce_resource - what the responder knows of a READ, an atomic or the like
 * @kind: ROCE_IS_READ, ROCE_IS_ATOMIC, ROCE_IS_FLUSH or ROCE_IS_ATOMIC_WRITE
 * @psn: of its first response
 * @packets: responses that it has, 0 if the resource was never used
 * @original: of an atomic, what was in memory
 * @left: responses still to be sent
 * @next_psn: of the next one
 * @begin: the next one is the first that answers the request
 * @address: of a READ, where its next byte is
 * @length: of a READ, bytes still to be sent
 * @rkey: of a READ
 * @msn: of the request
 * @repeated: the requester asked for it again
 *
 * The IBA calls them responder resources. A request stays known when it has been
 * answered, until its place is taken. So an atomic that is asked for again is
 * answered again, from here, and not executed again.
 */
struct roce_resource {
	u32 kind;
	u32 psn;
	u32 packets;
	u64 original;
	u32 left;
	u32 next_psn;
	bool begin;
	u64 address;
	u32 length;
	u32 rkey;
	u32 msn;
	bool repeated;
};

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
 * @nak_sent: a NAK for @psn is out, packets behind it are dropped silently
 * @ahead_psn: the last one that was dropped since it was ahead of @psn, while
 *	@nak_sent
 * @ack_due: an acknowledgment is owed
 * @ack_syndrome: of that acknowledgment
 * @ack_psn: of that acknowledgment
 * @failed: the QP goes to the error state once the NAK is out
 * @established: the first packet was reported to the consumer
 * @last_wqe_reported: in the error state, with a shared receive queue: the
 *	consumer knows that no receive completes any more
 * @repeat_psn: one past the last READ or atomic that was executed or, since the
 *	requester went back, asked for again
 * @flush_interval: in the error state, nanoseconds until the receive queue is
 *	looked at again
 * @resources: the last READs and atomics, as many as a power of two
 * @resource_mask: their number - 1
 * @answered: the first resource that may have responses left; free running
 * @taken: the resource that is taken next; free running
 * @waiting: for @wait_timer, nothing is sent meanwhile; the timer ends it,
 *	whoever owns the engine
 * @stalls: of the netdev, in a row
 * @wait_timer: a stall, or the turn of a flow whose rate is limited; polls the
 *	receive queue of a QP in the error state
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
	bool nak_sent;
	u32 ahead_psn;
	bool ack_due;
	u8 ack_syndrome;
	u32 ack_psn;
	bool failed;
	bool established;
	bool last_wqe_reported;
	u32 repeat_psn;
	u64 flush_interval;
	struct roce_resource *resources;
	u32 resource_mask;
	u32 answered;
	u32 taken;
	struct hrtimer wait_timer;
	bool waiting;
	u32 stalls;
};

/*
 * A field that an engine owns, or modify_qp writes, for who only wants to show
 * it: what it was a moment ago. The owner's accesses stay plain, so that KCSAN
 * finds everybody else.
 */
#define roce_peek(field)	data_race(READ_ONCE(field))

/**
 * struct roce_qp - queue pair
 * @ibqp: what the RDMA core knows of it
 * @dev: our device
 * @counters: where what happens to it is counted, see counters.h
 * @modify_lock: held by modify_qp, and by query_qp to see all of it or nothing
 * @state_lock: guards changes of @state
 * @state: read without a lock by the engines
 * @attr: as modified, for query_qp and the engines; changed with both claimed
 * @cap: what the QP was made with
 * @signal_all: every request makes a completion
 * @av: the way to the peer of a connected QP
 * @source_port: UDP source port towards the peer
 * @mtu: path MTU in bytes
 * @flow: what both halves send, and how fast; see congestion.h
 * @requester: sends requests and completes them
 * @responder: executes requests of the peer
 */
struct roce_qp {
	struct ib_qp ibqp;
	struct roce_device *dev;
	struct roce_counters __percpu *counters;
	struct mutex modify_lock;	/* see above */
	spinlock_t state_lock;		/* of changes of state */
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct ib_qp_cap cap;
	bool signal_all;
	struct roce_av av;
	u16 source_port;
	u32 mtu;
	struct roce_flow flow;
	struct roce_requester requester ____cacheline_aligned_in_smp;
	struct roce_responder responder ____cacheline_aligned_in_smp;
};

static inline struct roce_qp *to_roce_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct roce_qp, ibqp);
}

static inline struct roce_cq *roce_send_cq(const struct roce_qp *qp)
{
	return to_roce_cq(qp->ibqp.send_cq);
}

static inline struct roce_cq *roce_recv_cq(const struct roce_qp *qp)
{
	return to_roce_cq(qp->ibqp.recv_cq);
}

static inline struct roce_pd *roce_qp_pd(const struct roce_qp *qp)
{
	return to_roce_pd(qp->ibqp.pd);
}

/**
 * roce_remote_access() - what the peer of a QP wants to do with memory
 * @qp: the QP
 * @rkey: R_Key
 * @address: of the first byte
 * @length: bytes
 * @rights: IB_ACCESS_* flags that it takes
 */
static inline struct roce_access
roce_remote_access(const struct roce_qp *qp, u32 rkey, u64 address, u32 length,
		   int rights)
{
	return (struct roce_access) {
		.pd = roce_qp_pd(qp),
		.qpn = qp->ibqp.qp_num,
		.key = rkey,
		.rights = rights,
		.address = address,
		.length = length,
	};
}

/** roce_qp_srq() - the shared receive queue, NULL if the QP has its own */
static inline struct roce_srq *roce_qp_srq(const struct roce_qp *qp)
{
	return qp->ibqp.srq ? to_roce_srq(qp->ibqp.srq) : NULL;
}

static inline bool roce_qp_is_user(const struct roce_qp *qp)
{
	return qp->ibqp.uobject;
}

/** roce_qp_is_datagram() - UD, or the GSI, which is a UD QP with number 1 */
static inline bool roce_qp_is_datagram(const struct roce_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI;
}

/** roce_qp_is_reliable() - what it sends is acknowledged, and sent again if not */
static inline bool roce_qp_is_reliable(const struct roce_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_RC;
}

static inline enum roce_service roce_qp_service(const struct roce_qp *qp)
{
	if (roce_qp_is_datagram(qp))
		return ROCE_SERVICE_UD;
	return roce_qp_is_reliable(qp) ? ROCE_SERVICE_RC : ROCE_SERVICE_UC;
}

static inline struct roce_qp *roce_requester_qp(struct roce_engine *engine)
{
	return container_of(engine, struct roce_qp, requester.engine);
}

/** roce_qp_is_sending() - requests are on their way, or may be */
static inline bool roce_qp_is_sending(const struct roce_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	return state == IB_QPS_RTS || state == IB_QPS_SQD;
}

/** roce_qp_can_receive() - packets of the peer are for it; path and flow are there */
static inline bool roce_qp_can_receive(const struct roce_qp *qp)
{
	/* Pairs with the release in enter_state(). */
	switch (smp_load_acquire(&qp->state)) {
	case IB_QPS_RTR:
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return true;
	default:
		return false;
	}
}

/** roce_request_walk() - over the memory of @request from @offset on, for @access */
static inline struct roce_sge_walk
roce_request_walk(const struct roce_qp *qp, const struct roce_request *request,
		  u64 offset, u32 length, int access)
{
	return (struct roce_sge_walk) {
		.pd = roce_qp_pd(qp),
		.sge = request->sge,
		.sges = request->sges,
		.offset = offset,
		.left = length,
		.access = access,
	};
}

/* qp.c */
struct roce_qp *roce_qp_find(u32 qpn);
bool roce_qp_is_from_peer(const struct roce_qp *qp, const struct sk_buff *skb);
void roce_qp_set_error(struct roce_qp *qp, enum ib_qp_state state);
void roce_qp_fail(struct roce_qp *qp, enum ib_event_type event);
void roce_qp_event(struct roce_qp *qp, enum ib_event_type event);

/* request.c */
int roce_requester_slots_init(struct roce_qp *qp);
int roce_requester_slots_alloc(struct roce_qp *qp);
struct roce_request *roce_request(const struct roce_requester *requester,
				  u32 number);
u32 roce_requests_waiting(const struct roce_qp *qp);
struct roce_request *roce_request_fetch(struct roce_qp *qp);
int roce_request_post(struct roce_qp *qp, const struct ib_send_wr *wr);
void roce_request_complete(struct roce_qp *qp, enum ib_wc_status status);

/* memory_operation.c */
bool roce_request_is_local(const struct roce_request *request);
enum ib_wc_status roce_request_execute(struct roce_qp *qp,
				       const struct roce_request *request);
int roce_invalidate(struct roce_qp *qp, u32 rkey, bool by_peer);

/* receive_queue.c */
bool roce_receive_fetch(struct roce_qp *qp);
void roce_receive_complete(struct roce_qp *qp, struct ib_wc *wc, bool solicited);
bool roce_receive_take(struct roce_ring *ring, u32 max_sges,
		       struct roce_receive *receive);
int roce_receive_post(struct roce_ring *ring, u32 max_sges,
		      const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);

/* requester.c */
void roce_requester_init(struct roce_qp *qp);
void roce_requester_start(struct roce_qp *qp);
void roce_requester_set_asked_end(struct roce_qp *qp, u32 *asked_end);
void roce_requester_reset(struct roce_qp *qp);
void roce_requester_complete_local(struct roce_qp *qp);
void roce_requester_fail(struct roce_qp *qp, enum ib_wc_status status);
void roce_requester_wait(struct roce_qp *qp, u64 nanoseconds);
bool roce_requester_is_waiting(struct roce_requester *requester);
void roce_requester_stop(struct roce_qp *qp);

/* retransmit.c */
void roce_retransmit_expect_progress(struct roce_qp *qp);
void roce_retransmit_renew(struct roce_qp *qp);
void roce_retransmit_go_back(struct roce_qp *qp);
void roce_retransmit_retry(struct roce_qp *qp, enum roce_counter why);
void roce_retransmit_progressed(struct roce_qp *qp);
void roce_retransmit_check_timeout(struct roce_qp *qp);
void roce_retransmit_arm_timer(struct roce_qp *qp);
void roce_retransmit_init(struct roce_qp *qp);
void roce_retransmit_start(struct roce_qp *qp);
void roce_retransmit_stop(struct roce_qp *qp);

/* completer.c */
void roce_completer_receive(struct roce_engine *engine, struct sk_buff *skb);

/*
 * A wait ends on the CPU where it began: what a QP sends from two CPUs may
 * overtake itself, since backlogs and queues of netdevs are each CPU's own.
 */
#define ROCE_WAIT_MODE		HRTIMER_MODE_REL_PINNED_SOFT

/* Requests that are answered by responses, rather than acknowledged */
#define ROCE_HAS_RESPONSE	(ROCE_IS_READ | ROCE_IS_ATOMIC | \
				 ROCE_IS_FLUSH | ROCE_IS_ATOMIC_WRITE)

/* answer.c */
u32 roce_answer_packets(const struct roce_qp *qp,
			const struct roce_packet *packet);
bool roce_answer_has_room(const struct roce_qp *qp);
void roce_answer_respond(struct roce_qp *qp, const struct roce_packet *packet,
			 u64 original);
void roce_answer_executed(struct roce_qp *qp, const struct roce_packet *packet);
void roce_answer_nak(struct roce_qp *qp, u8 syndrome);
void roce_answer_again(struct roce_qp *qp, const struct roce_packet *packet);
bool roce_answer_send(struct roce_qp *qp);
void roce_answer_set_resources(struct roce_qp *qp,
			       struct roce_resource *resources);

/* responder.c */
int roce_responder_init(struct roce_qp *qp);
void roce_responder_start(struct roce_qp *qp);
void roce_responder_reset(struct roce_qp *qp);
void roce_responder_destroy(struct roce_qp *qp);
void roce_responder_stop(struct roce_qp *qp);

#endif /* ROCE_QP_H */
