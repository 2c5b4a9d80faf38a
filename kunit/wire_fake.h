/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KUNIT_WIRE_FAKE_H
#define KUNIT_WIRE_FAKE_H

#include <linux/prandom.h>

#include "fixture.h"

/*
 * Two connected QPs, each on a device of its own, and a wire in memory between them
 * that loses, doubles, delays and damages what the test wants it to.
 *
 * What a QP sends is queued; it arrives when the test lets it, in wire_run() or
 * wire_wait(). All of that happens on one CPU, so it happens the same way
 * every time.
 */
#define WIRE_MEMORY	(256 * 1024)
#define WIRE_TARGET	(WIRE_MEMORY / 2)	/* where messages go, in either memory */
#define WIRE_FAULTS	8
#define WIRE_LOG	4096
#define WIRE_PSNS	65536		/* more than are ever in flight */
#define WIRE_QUEUE	128		/* of requests, and of receives */
#define WIRE_SGES	4
#define WIRE_INLINE	64

/* How long a test waits for what has to come */
#define PATIENCE	(300 * HZ)

/*
 * A local ACK timeout of 2.4 hours. wire_wait() ends it when nothing happens any more:
 * however slow the machine is, none comes too early.
 */
#define WIRE_TIMEOUT	31

enum wire_action {
	WIRE_PASS,
	WIRE_DROP,
	WIRE_DUPLICATE,
	WIRE_DELAY,		/* the next one of the same end overtakes it */
	WIRE_CORRUPT,		/* one bit of it is flipped */
	WIRE_MARK,		/* a switch says that it is congested: CE */
};

/**
 * struct wire_fault - what happens to a packet
 * @number: which one of its end, counted from 0 since wire_forget()
 * @action: what happens to it
 */
struct wire_fault {
	u32 number;
	enum wire_action action;
};

/**
 * struct wire_weather - what happens to packets by chance, in thousandths of them
 * @random: where chance comes from; seeded, so that a test can be repeated
 * @drop: are lost
 * @duplicate: come twice
 * @corrupt: have one bit flipped
 * @delay: are overtaken by others
 * @distance: by so many at most; 0: there is no weather
 */
struct wire_weather {
	struct rnd_state random;
	u32 drop;
	u32 duplicate;
	u32 corrupt;
	u32 delay;
	u32 distance;
};

/**
 * struct wire_record - a packet that was sent, whatever became of it
 * @from: the end that sent it, 0 or 1
 * @opcode: of the BTH
 * @ack_request: of the BTH
 * @sack: the bits of &enum roce_bth_sack
 * @psn: of the BTH
 * @syndrome: of the AETH, if it has one
 * @msn: likewise
 * @length: of the RETH, if it has one
 * @ecn: ECN codepoint that it was sent with
 */
struct wire_record {
	u8 from;
	u8 opcode;
	bool ack_request;
	u8 sack;
	u32 psn;
	u8 syndrome;
	u32 msn;
	u32 length;
	u8 ecn;
};

/**
 * struct wire_end - one of the QPs and all that belongs to it
 * @wire: between it and the other one
 * @peer: the other one
 * @dev: its device
 * @pd: its protection domain
 * @send_cq: where its sends complete
 * @recv_cq: where its receives complete
 * @mr: all of the kernel's memory, for both sides to use
 * @qp: the QP
 * @gid: its address
 * @memory: WIRE_MEMORY bytes to send from and receive into
 * @faults: of the packets that it sends
 * @fault_count: how many
 * @weather: what happens to the others
 * @cut: nothing that it sends arrives
 * @marked: all that it sends is marked, whole trains included
 * @refuse: so many trains are not even taken, as by a full qdisc
 * @room: if not 0, so many packets of the next train are taken; not for whole trains
 * @sent: packets, since wire_forget()
 * @trains: that they were sent in
 * @events: bit mask of asynchronous events that were reported
 * @known: PSNs that selective acknowledgments have told it of, by their lower bits
 * @went_back: how often its device had gone back by then; then it knows nothing
 * @in_vain: SENDs and WRITEs of it that were sent again, though it knew of them
 * @held: a packet that is being overtaken
 * @late: more of them, with @sent when each arrives in its mark
 */
struct wire_end {
	struct wire *wire;
	struct wire_end *peer;
	struct roce_device *dev;
	struct roce_pd *pd;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_mr *mr;
	struct roce_qp *qp;
	struct ib_gid_attr *gid;
	u8 *memory;
	struct wire_fault faults[WIRE_FAULTS];
	u32 fault_count;
	struct wire_weather weather;
	bool cut;
	bool marked;
	u32 refuse;
	u32 room;
	u32 sent;
	u32 trains;
	unsigned long events;
	DECLARE_BITMAP(known, WIRE_PSNS);
	u64 went_back;
	u32 in_vain;
	struct sk_buff *held;
	struct sk_buff_head late;
};

/**
 * struct wire_setup - how the QPs are connected
 * @type: IB_QPT_RC or IB_QPT_UC
 * @ipv6: rather than IPv4
 * @whole_trains: trains arrive whole; faults do not apply then
 * @mtu: path MTU
 * @psn: first PSN that end 0 and end 1 send
 * @timeout: exponent of the local ACK timeout, 0 for none
 * @retry_count: how often to try again without progress
 * @rnr_retry: how often to try again after an RNR NAK
 * @rnr_timer: code of the delay that an RNR NAK asks for
 * @reads: READs and atomics at a time, both ways
 * @access: IB_ACCESS_* that the QPs grant
 * @mr_access: IB_ACCESS_* that the memory was registered with
 * @controlled: with congestion control, which slows down after a loss
 * @algorithm: instead of the devices' own, NULL for that
 * @reordering_us: of the devices; 0: packets that come early are dropped
 * @loss_recovery: of each end's device
 */
struct wire_setup {
	enum ib_qp_type type;
	bool ipv6;
	bool whole_trains;
	enum ib_mtu mtu;
	u32 psn[2];
	u8 timeout;
	u8 retry_count;
	u8 rnr_retry;
	u8 rnr_timer;
	u8 reads;
	int access;
	int mr_access;
	bool controlled;
	const struct roce_cc_parameters *algorithm;
	u32 reordering_us;
	enum roce_loss_recovery loss_recovery[2];
};

/**
 * struct wire - the wire
 * @test: to which it belongs
 * @ends: the QPs
 * @whole_trains: see &struct wire_setup
 * @lock: guards what follows, and what an end counts
 * @queue: packets that are under way
 * @log: what was sent, in its order
 * @logged: how many
 */
struct wire {
	struct kunit *test;
	struct wire_end ends[2];
	bool whole_trains;
	spinlock_t lock; /* of the rest */
	struct sk_buff_head queue;
	struct wire_record log[WIRE_LOG];
	u32 logged;
};

/**
 * struct wire_op - a work request
 * @opcode: what to do
 * @wr_id: comes back with the completion
 * @local: offset in the end's memory
 * @length: bytes
 * @remote: offset in the peer's memory
 * @flags: IB_SEND_* besides IB_SEND_SIGNALED
 * @sges: pieces that the local memory is given in, 0 for one
 * @compare_add: of an atomic, what is added, or what memory has to be
 * @swap: of an atomic, what memory becomes
 * @bad_lkey: with a key of nothing
 * @bad_rkey: likewise
 */
struct wire_op {
	enum ib_wr_opcode opcode;
	u64 wr_id;
	u32 local;
	u32 length;
	u32 remote;
	int flags;
	u32 sges;
	u64 compare_add;
	u64 swap;
	bool bad_lkey;
	bool bad_rkey;
};

#define WIRE_IMMEDIATE	0x12345678

/* What a counter of an end's device says; @name as in counter_list.h */
#define SEEN(end, name) fixture_count((end)->dev, name)

/** wire_has_receive() - whether a request uses a receive of the peer up */
static inline bool wire_has_receive(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/** wire_source() - the end that sends the payload of a request of end 0 */
static inline struct wire_end *wire_source(struct wire *wire, enum ib_wr_opcode opcode)
{
	return &wire->ends[opcode == IB_WR_RDMA_READ];
}

struct wire_setup wire_defaults(void);
struct wire *wire_new(struct kunit *test, const struct wire_setup *setup);
void wire_modify(struct wire_end *end, struct ib_qp_attr *attr, int mask);
int wire_post(struct wire_end *end, const struct wire_op *op);
void wire_receive(struct wire_end *end, u64 wr_id, u32 local, u32 length);
void wire_fault(struct wire_end *end, u32 number, enum wire_action action);
void wire_forget(struct wire *wire);
void wire_start(struct wire *wire);
void wire_run(struct wire *wire);
void wire_end_timeouts(struct wire *wire);
int wire_wait(struct wire *wire, struct roce_cq *cq, struct ib_wc *wc, int count);
struct roce_packet wire_request(const struct wire *wire, u8 operation, u32 length);
int wire_inject(struct wire_end *end, const struct roce_packet *packet,
		const u8 *payload);
void wire_expect(struct wire *wire, struct roce_cq *cq, u64 wr_id,
		 enum ib_wc_status status);
void wire_set_wait(struct wire *wire, u64 nanoseconds);
void wire_prepare(struct wire *wire, enum ib_wr_opcode opcode, u64 wr_id, u32 length);
void wire_send(struct wire *wire, enum ib_wr_opcode opcode, u64 wr_id, u32 length);
void wire_finish(struct wire *wire, enum ib_wr_opcode opcode, u64 wr_id, u32 length);
u32 wire_count(const struct wire *wire, u8 from, u8 opcode);
const struct wire_record *wire_find(const struct wire *wire, u8 from, u8 opcode,
				    u32 nth);

#endif /* KUNIT_WIRE_FAKE_H */
