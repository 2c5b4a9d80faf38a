/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KUNIT_WIRE_FAKE_H
#define KUNIT_WIRE_FAKE_H

#include <linux/prandom.h>

#include "cc_parameters.h"
#include "fixture.h"

/*
 * Two connected QPs, each on a device of its own, and a wire in memory between them,
 * which loses, duplicates, delays and damages packets as the test wants.
 *
 * Packets of a QP are queued, and arrive during wire_run() or wire_wait(). All of this
 * happens on one CPU, so that a test runs the same way each time.
 */
#define WIRE_MEMORY	(256 * 1024)
#define WIRE_TARGET	(WIRE_MEMORY / 2)	/* offset for messages, in either memory */
#define WIRE_FAULTS	128
#define WIRE_LOG	4096
#define WIRE_PSNS	65536		/* more than are ever in flight */
#define WIRE_QUEUE	128		/* of requests, and of receives */
#define WIRE_SGES	4
#define WIRE_INLINE	64

/* Longest time that a test waits for an event */
#define PATIENCE	(300 * HZ)

/*
 * A local ACK timeout of 2.4 hours. wire_wait() ends it when nothing happens any more, so
 * it never ends too early, however slow the machine is.
 */
#define WIRE_TIMEOUT	31

enum wire_action {
	WIRE_PASS,
	WIRE_DROP,
	WIRE_DUPLICATE,
	WIRE_DELAY,		/* the next packet of the same end overtakes it */
	WIRE_CORRUPT,		/* one bit is flipped */
	WIRE_MARK,		/* a switch marks congestion: CE */
};

/**
 * struct wire_fault - a fault of a packet
 * @number: of the packet of its end, counted from 0 since wire_forget()
 * @action: the fault
 */
struct wire_fault {
	u32 number;
	enum wire_action action;
};

/**
 * struct wire_weather - random faults, in thousandths of the packets
 * @random: source of random numbers, seeded so that a test can be repeated
 * @drop: lost packets
 * @duplicate: duplicated packets
 * @corrupt: packets with one bit flipped
 * @delay: packets that others overtake
 * @distance: the most packets that overtake one; 0: no random faults
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
 * struct wire_record - a packet that was sent, whether it arrived or not
 * @from: the end that sent it, 0 or 1
 * @opcode: of the BTH
 * @ack_request: of the BTH
 * @sack: the bits of &enum roce_bth_sack
 * @psn: of the BTH
 * @syndrome: of the AETH, if it has one
 * @msn: of the AETH, if it has one
 * @length: of the RETH, if it has one
 * @ecn: ECN codepoint that it was sent with
 * @port: UDP source port
 * @flow_label: of IPv6, else 0
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
	u16 port;
	u32 flow_label;
};

/**
 * struct wire_end - one of the QPs and its objects
 * @wire: between it and the other QP
 * @peer: the other end
 * @dev: its device
 * @pd: its protection domain
 * @send_cq: CQ of its sends
 * @recv_cq: CQ of its receives
 * @mr: all of the kernel's memory, for both sides
 * @qp: the QP
 * @gid: its GID
 * @memory: WIRE_MEMORY bytes to send from and receive into
 * @faults: of packets that it sends
 * @fault_count: number of faults
 * @weather: random faults of the other packets
 * @cut: none of its packets arrives
 * @dark: bit mask of its paths on which no packet arrives
 * @marked: all of its packets are marked, whole trains included
 * @never_migrated: MigReq of its packets is 0, as of those of rdma_rxe
 * @refuse: number of trains to refuse
 * @refusal: the error; 0 for -EAGAIN, as of a full qdisc
 * @room: if not 0, number of packets to take of the next train; not for whole trains
 * @sent: number of packets since wire_forget()
 * @trains: number of trains of these packets
 * @events: bit mask of asynchronous events that were reported
 * @known: PSNs of received selective acknowledgments, by their lower bits
 * @told: the same, of packets merged behind the one that is being received
 * @told_psn: what the latest of these acknowledgments expects
 * @went_back: how often its device had gone back at that time; then both are cleared
 * @in_vain: number of SENDs and WRITEs that were sent again in spite of @known
 * @held: a packet that is being overtaken
 * @late: more of them, with @sent at the time of arrival in their mark
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
	unsigned long dark;
	bool marked;
	bool never_migrated;
	u32 refuse;
	int refusal;
	u32 room;
	u32 sent;
	u32 trains;
	unsigned long events;
	DECLARE_BITMAP(known, WIRE_PSNS);
	DECLARE_BITMAP(told, WIRE_PSNS);
	u32 told_psn;
	u64 went_back;
	u32 in_vain;
	struct sk_buff *held;
	struct sk_buff_head late;
};

/**
 * struct wire_setup - how the QPs are connected
 * @type: IB_QPT_RC or IB_QPT_UC
 * @ipv6: over IPv6, else IPv4
 * @whole_trains: trains arrive whole; faults do not apply then
 * @mtu: path MTU
 * @psn: first PSN that end 0 and end 1 send
 * @timeout: exponent of the local ACK timeout, 0 for none
 * @retry_count: number of attempts without progress
 * @rnr_retry: number of attempts after an RNR NAK
 * @rnr_timer: code of the delay in an RNR NAK
 * @reads: maximum of outstanding READs and atomics, in both directions
 * @access: IB_ACCESS_* that the QPs grant
 * @mr_access: IB_ACCESS_* that the memory was registered with
 * @controlled: with congestion control, which slows down after a loss
 * @algorithm: instead of the devices' own, or NULL
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
 * @test: the test
 * @ends: the QPs
 * @whole_trains: see &struct wire_setup
 * @merge: packets that are in flight together arrive as one train, as a NIC merges them
 * @forgets_identification: it merges them as the stack does to forward them
 * @lock: guards the fields below, and the counts of an end
 * @queue: packets in flight
 * @log: sent packets, in their order
 * @logged: number of packets in @log
 */
struct wire {
	struct kunit *test;
	struct wire_end ends[2];
	bool whole_trains;
	bool merge;
	bool forgets_identification;
	spinlock_t lock; /* see @lock above */
	struct sk_buff_head queue;
	struct wire_record log[WIRE_LOG];
	u32 logged;
};

/**
 * struct wire_op - a work request
 * @opcode: of the work request
 * @wr_id: of the completion
 * @local: offset in the end's memory
 * @length: bytes
 * @remote: offset in the peer's memory
 * @flags: IB_SEND_* besides IB_SEND_SIGNALED
 * @sges: number of scatter/gather elements of the local memory, 0 for one
 * @compare_add: for an atomic, the number to add or the expected value
 * @swap: for an atomic, the new value
 * @bad_lkey: with an L_Key that does not exist
 * @bad_rkey: with an R_Key that does not exist
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

/* Read a counter of an end's device; @name as in counter_list.h */
#define SEEN(end, name) fixture_count((end)->dev, name)

/** wire_has_receive() - whether a request needs a receive of the peer */
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
struct wire_setup wire_selective(void);
struct wire *wire_new(struct kunit *test, const struct wire_setup *setup);
void wire_modify(struct wire_end *end, struct ib_qp_attr *attr, int mask);
int wire_post(struct wire_end *end, const struct wire_op *op);
void wire_receive(struct wire_end *end, u64 wr_id, u32 local, u32 length);
void wire_fault(struct wire_end *end, u32 number, enum wire_action action);
void wire_forget(struct wire *wire);
void wire_start(struct wire *wire);
bool wire_deliver(struct wire *wire);
void wire_run(struct wire *wire);
void wire_end_timeouts(struct wire *wire);
int wire_wait(struct wire *wire, struct roce_cq *cq, struct ib_wc *wc, int count);
struct roce_packet wire_request(const struct wire *wire, u8 operation, u32 length);
void wire_ask_for_end(struct wire *wire, u32 psn, u32 length, u64 wr_id);
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
