// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/kthread.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "path.h"
#include "roce_wire.h"
#include "section.h"
#include "wire_fake.h"

/*
 * Checks of an idle wire, a millisecond apart, until it counts as idle, and until nothing
 * can happen any more
 */
#define IDLE_ROUNDS	3
#define DEAD_ROUNDS	100

static const u8 *bth_of(const struct sk_buff *skb)
{
	return skb_transport_header(skb) + sizeof(struct udphdr);
}

static u8 ecn_of(const struct sk_buff *skb)
{
	return (roce_is_ipv6(skb) ? ipv6_get_dsfield(ipv6_hdr(skb)) :
				    ip_hdr(skb)->tos) & INET_ECN_MASK;
}

static u16 port_of(const struct sk_buff *skb)
{
	return ntohs(udp_hdr(skb)->source);
}

/* The checksum of the IP header is not checked again after this. */
static void mark(struct sk_buff *skb)
{
	if (roce_is_ipv6(skb))
		ipv6_change_dsfield(ipv6_hdr(skb), ~INET_ECN_MASK, INET_ECN_CE);
	else
		ip_hdr(skb)->tos |= INET_ECN_CE;
}

static void record(struct wire_end *from, const struct sk_buff *packet)
{
	struct wire *wire = from->wire;
	const u8 *bth = bth_of(packet), *header = bth + sizeof(struct roce_bth);
	u16 flags = roce_opcode_info(bth[0])->flags;
	struct wire_record *record;

	if (wire->logged == WIRE_LOG)
		return;
	record = &wire->log[wire->logged++];
	*record = (struct wire_record) {
		.from = from - wire->ends,
		.opcode = bth[0],
		.ack_request = bth[8] >> 7,
		.sack = bth[8] & 0xf,
		.psn = get_unaligned_be24(bth + 9),
		.ecn = ecn_of(packet),
		.port = port_of(packet),
		.flow_label = roce_is_ipv6(packet) ?
			      ntohl(ip6_flowlabel(ipv6_hdr(packet))) : 0,
	};
	if (flags & ROCE_HAS_AETH) {
		record->syndrome = header[0];
		record->msn = get_unaligned_be24(header + 1);
	}
	if (flags & ROCE_HAS_RETH)
		record->length = get_unaligned_be32(header + 12);
}

/* In softirq, unlike roce_counter_total(). No QP here has counters of its own. */
static u64 counted_by(const struct roce_device *dev, enum roce_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(dev->counters, cpu)->value[counter]);
	return sum;
}

/* A requester that goes back does not rely on earlier acknowledgments. */
static void forget_if_gone_back(struct wire_end *end)
{
	u64 times = counted_by(end->dev, ROCE_COUNTER_completer_retry_err) +
		    counted_by(end->dev, ROCE_COUNTER_rnr_nak_retry_err);

	if (times == end->went_back)
		return;
	end->went_back = times;
	bitmap_zero(end->known, WIRE_PSNS);
	bitmap_zero(end->told, WIRE_PSNS);
}

/* A READ or an atomic may have arrived although its response is lost. */
static void judge(struct wire_end *from, const u8 *bth)
{
	u32 flags = roce_opcode_info(bth[0])->flags;

	forget_if_gone_back(from);
	if (flags & (ROCE_IS_SEND | ROCE_IS_WRITE) &&
	    test_bit(get_unaligned_be24(bth + 9) % WIRE_PSNS, from->known))
		from->in_vain++;
}

static bool is_whole(const struct sk_buff *skb)
{
	u32 length = skb_tail_pointer(skb) - skb_network_header(skb);
	__le32 icrc = fixture_icrc(skb_network_header(skb), length);

	return !memcmp(skb_tail_pointer(skb) - ROCE_ICRC_SIZE, &icrc, sizeof(icrc));
}

static bool is_response(u8 opcode)
{
	return (opcode & ROCE_SERVICE_MASK) == ROCE_SERVICE_RC &&
	       roce_opcode_info(opcode)->flags & ROCE_IS_RESPONSE;
}

/* @skb: arrives at @to; @psns: known or told */
static void learn(struct wire_end *to, const struct sk_buff *skb, unsigned long *psns)
{
	const u8 *bth = bth_of(skb), *range = bth + sizeof(struct roce_bth) +
						    sizeof(struct roce_seth);
	u32 psn = get_unaligned_be24(bth + 9), n;
	bool response = is_response(bth[0]);

	forget_if_gone_back(to);
	if ((bth[0] != ROCE_OPCODE_SACK && !response) || !is_whole(skb))
		return;
	if (response)
		to->told_psn = roce_psn_later(to->told_psn, roce_psn_add(psn, 1));
	/* What a later acknowledgment has overtaken tells nothing. */
	if (response || roce_psn_precedes(psn, to->told_psn))
		return;
	to->told_psn = psn;
	/* The expected packet has not arrived, whatever was acknowledged before. */
	clear_bit(psn % WIRE_PSNS, to->known);
	clear_bit(psn % WIRE_PSNS, to->told);
	for (; range + 4 <= skb_tail_pointer(skb) - ROCE_ICRC_SIZE; range += 4)
		for (n = get_unaligned_be16(range); n < get_unaligned_be16(range + 2); n++)
			set_bit((psn + n) % WIRE_PSNS, psns);
}

/* The end may have acted on the first packets of a train before it read the last ones. */
static void learn_what_was_told(struct wire_end *end)
{
	forget_if_gone_back(end);
	bitmap_or(end->known, end->known, end->told, WIRE_PSNS);
	bitmap_zero(end->told, WIRE_PSNS);
}

static bool happens(struct wire_weather *weather, u32 thousandths)
{
	return prandom_u32_state(&weather->random) % 1000 < thousandths;
}

static enum wire_action action_by_chance(struct wire_weather *weather)
{
	if (!weather->distance)
		return WIRE_PASS;
	if (happens(weather, weather->drop))
		return WIRE_DROP;
	if (happens(weather, weather->duplicate))
		return WIRE_DUPLICATE;
	if (happens(weather, weather->corrupt))
		return WIRE_CORRUPT;
	return happens(weather, weather->delay) ? WIRE_DELAY : WIRE_PASS;
}

static bool is_in_the_dark(const struct wire_end *from, u16 port)
{
	u32 i;

	for_each_set_bit(i, &from->dark, ROCE_MAX_PATHS)
		if (roce_path_source_port(from->qp->source_port, i) == port)
			return true;
	return false;
}

static enum wire_action action_for(struct wire_end *from, u32 number, u16 port)
{
	u32 i;

	if (from->cut || is_in_the_dark(from, port))
		return WIRE_DROP;
	if (from->marked)
		return WIRE_MARK;
	for (i = 0; i < from->fault_count; i++)
		if (from->faults[i].number == number)
			return from->faults[i].action;
	return action_by_chance(&from->weather);
}

static void enqueue(struct wire *wire, struct sk_buff *skb)
{
	if (skb)
		__skb_queue_tail(&wire->queue, skb);
}

/* Consumes the packet. */
static void delay(struct wire_end *from, struct sk_buff *packet)
{
	struct wire_weather *weather = &from->weather;

	if (!weather->distance) {
		from->held = packet;
		return;
	}
	packet->mark = from->sent +
		       prandom_u32_state(&weather->random) % weather->distance;
	__skb_queue_tail(&from->late, packet);
}

/* A late packet arrives after enough packets have overtaken it. */
static void let_late_ones_arrive(struct wire_end *from, bool all)
{
	struct sk_buff *packet, *next;

	skb_queue_walk_safe(&from->late, packet, next) {
		if (!all && packet->mark >= from->sent)
			continue;
		__skb_unlink(packet, &from->late);
		enqueue(from->wire, packet);
	}
}

static void clear_migreq(struct sk_buff *packet)
{
	u32 length = skb_tail_pointer(packet) - skb_network_header(packet);
	u8 *bth = (u8 *)bth_of(packet);
	__le32 icrc;

	bth[1] &= ~ROCE_BTH_MIGREQ;
	icrc = fixture_icrc(skb_network_header(packet), length);
	memcpy(skb_tail_pointer(packet) - ROCE_ICRC_SIZE, &icrc, sizeof(icrc));
}

/* Consumes the packet. */
static void carry(struct wire_end *from, struct sk_buff *packet)
{
	struct sk_buff *held = from->held;
	struct wire *wire = from->wire;

	from->held = NULL;
	if (from->never_migrated)
		clear_migreq(packet);
	record(from, packet);
	judge(from, bth_of(packet));
	switch (action_for(from, from->sent++, port_of(packet))) {
	case WIRE_DROP:
		kfree_skb(packet);
		break;
	case WIRE_DELAY:
		delay(from, packet);
		break;
	case WIRE_DUPLICATE:
		enqueue(wire, skb_copy(packet, GFP_ATOMIC));
		enqueue(wire, packet);
		break;
	case WIRE_CORRUPT:
		*(skb_tail_pointer(packet) - 5) ^= 0x10;
		enqueue(wire, packet);
		break;
	case WIRE_MARK:
		mark(packet);
		enqueue(wire, packet);
		break;
	case WIRE_PASS:
		enqueue(wire, packet);
		break;
	}
	enqueue(wire, held);
	let_late_ones_arrive(from, false);
}

static void carry_train(struct wire_end *from, struct sk_buff *train, u32 packets)
{
	struct sk_buff *packet;
	u32 n;

	for (n = 0; n < packets && (packet = fixture_nth_packet(train, n)); n++) {
		if (!from->wire->whole_trains) {
			carry(from, packet);
			continue;
		}
		record(from, packet);
		from->sent++;
		kfree_skb(packet);
	}
	if (!from->wire->whole_trains || from->cut) {
		consume_skb(train);
		return;
	}
	if (from->marked)
		mark(train);
	skb_pull(train, skb_network_header_len(train));
	enqueue(from->wire, train);
}

static int take_train(struct roce_qp *qp, struct roce_av *av,
		      struct roce_train *train)
{
	struct wire_end *from = qp->ibqp.qp_context;
	struct wire *wire = from->wire;

	spin_lock_bh(&wire->lock);
	if (from->refuse) {
		from->refuse--;
		spin_unlock_bh(&wire->lock);
		roce_train_drop(train);
		return from->refusal ?: -EAGAIN;
	}
	from->trains++;
	train->sent = from->room ? min(from->room, train->packets) :
				   train->packets;
	from->room = 0;
	carry_train(from, roce_train_finish(train), train->sent);
	spin_unlock_bh(&wire->lock);
	return train->sent == train->packets ? 0 : -EAGAIN;
}

/**
 * wire_start() - run the QPs; nothing arrives
 * @wire: the wire
 */
void wire_start(struct wire *wire)
{
	int i;

	local_bh_disable();
	rcu_read_lock();
	for (i = 0; i < 2; i++) {
		roce_engine_run(&wire->ends[i].qp->requester.engine);
		roce_engine_run(&wire->ends[i].qp->responder.engine);
	}
	rcu_read_unlock();
	local_bh_enable();
}

static struct wire_end *destination(struct wire *wire, const struct sk_buff *skb)
{
	u32 qpn = get_unaligned_be24(bth_of(skb) + 5);

	return &wire->ends[qpn == wire->ends[1].qp->ibqp.qp_num];
}

/* Whether a packet has the IP header of the first one of a train, and is not longer */
static bool can_follow(const struct sk_buff *train, const struct sk_buff *packet)
{
	u32 segment = skb_shinfo(train)->gso_size ?: train->len - sizeof(struct udphdr);
	u32 last = (train->len - sizeof(struct udphdr)) % segment;

	return !last && packet->len - sizeof(struct udphdr) <= segment &&
	       ecn_of(packet) == ecn_of(train) && port_of(packet) == port_of(train) &&
	       get_unaligned_be24(bth_of(packet) + 5) == get_unaligned_be24(bth_of(train) + 5) &&
	       (roce_is_ipv6(train) || ip_hdr(packet)->id == ip_hdr(train)->id);
}

/* As roce_gro_receive() does; a shorter packet ends the train. */
static void merge_packets(struct wire *wire, struct wire_end *to, struct sk_buff *train)
{
	struct sk_buff *packet, **link = &skb_shinfo(train)->frag_list;

	while ((packet = skb_peek(&wire->queue)) && can_follow(train, packet)) {
		__skb_unlink(packet, &wire->queue);
		learn(to, packet, to->told);
		skb_shinfo(train)->gso_size = skb_shinfo(train)->gso_size ?:
					      train->len - sizeof(struct udphdr);
		skb_shinfo(train)->gso_type = SKB_GSO_UDP_L4;
		if (!wire->forgets_identification)
			skb_shinfo(train)->gso_type |= ROCE_COMPAT_GSO_FIXED_ID;
		skb_pull(packet, sizeof(struct udphdr));
		train->len += packet->len;
		train->data_len += packet->len;
		train->truesize += packet->truesize;
		*link = packet;
		link = &packet->next;
	}
}

static void arrive(struct wire *wire, struct sk_buff *skb)
{
	struct wire_end *to = destination(wire, skb);

	spin_lock(&wire->lock);
	to->told_psn = to->qp->requester.unacked_psn;
	if (!wire->whole_trains)
		learn(to, skb, to->known);
	if (wire->merge)
		merge_packets(wire, to, skb);
	spin_unlock(&wire->lock);
	skb->dev = init_net.loopback_dev;
	roce_section_enter();
	roce_recv(&init_net, skb);
	roce_section_leave();
	spin_lock(&wire->lock);
	learn_what_was_told(to);
	spin_unlock(&wire->lock);
}

/**
 * wire_deliver() - let the next packet, or train, arrive
 * @wire: the wire
 *
 * Return: false if there is none.
 */
bool wire_deliver(struct wire *wire)
{
	struct sk_buff *skb;

	/* No timer sends again what a SACK says before the QP has that, too. */
	local_bh_disable();
	spin_lock(&wire->lock);
	if (skb_queue_empty(&wire->queue)) {
		let_late_ones_arrive(&wire->ends[0], true);
		let_late_ones_arrive(&wire->ends[1], true);
	}
	skb = __skb_dequeue(&wire->queue);
	spin_unlock(&wire->lock);
	if (skb)
		arrive(wire, skb);
	local_bh_enable();
	return skb;
}

/**
 * wire_run() - deliver packets, until no more are sent
 * @wire: the wire
 *
 * Limited to a second and some packets: on a slow machine timers may send faster than this
 * delivers. Without timers the packets of a case are fewer.
 */
void wire_run(struct wire *wire)
{
	unsigned long end = jiffies + HZ;
	u32 delivered = 0;

	do
		wire_start(wire);
	while (wire_deliver(wire) && (++delivered < 1000 || time_before(jiffies, end)));
}

static u32 packets_sent(const struct wire *wire)
{
	return READ_ONCE(wire->ends[0].sent) + READ_ONCE(wire->ends[1].sent);
}

static bool is_busy(const struct roce_engine *engine)
{
	return test_bit(ROCE_ENGINE_SCHEDULED, &engine->flags) ||
	       atomic_read(&engine->runs) || READ_ONCE(engine->owned);
}

static bool waits_for_late_packets(const struct roce_reorder *reorder)
{
	return reorder && hrtimer_active(&reorder->timer);
}

/* Whether both QPs wait for nothing but acknowledgments or responses */
static bool waits_for_answers_only(struct wire *wire)
{
	int i;

	if (!skb_queue_empty_lockless(&wire->queue))
		return false;
	for (i = 0; i < 2; i++) {
		struct roce_qp *qp = wire->ends[i].qp;

		if (is_busy(&qp->requester.engine) ||
		    is_busy(&qp->responder.engine) ||
		    hrtimer_active(&qp->requester.sender.timer) ||
		    hrtimer_active(&qp->requester.probe_timer) ||
		    waits_for_late_packets(qp->requester.reorder) ||
		    hrtimer_active(&qp->responder.sender.timer) ||
		    waits_for_late_packets(qp->responder.reorder))
			return false;
	}
	return true;
}

/**
 * wire_end_timeouts() - end the local ACK timeouts that are running
 * @wire: the wire
 */
void wire_end_timeouts(struct wire *wire)
{
	int i;

	local_bh_disable();
	for (i = 0; i < 2; i++)
		wire->ends[i].qp->requester.ack_deadline = jiffies;
	local_bh_enable();
}

/**
 * wire_wait() - run, and wait for completions
 * @wire: the wire
 * @cq: of one of the ends
 * @wc: filled in
 * @count: number of completions to wait for
 *
 * When nothing happens any more, it ends the local ACK timeouts. If that changes
 * nothing, it returns.
 *
 * Return: number of completions.
 */
int wire_wait(struct wire *wire, struct roce_cq *cq, struct ib_wc *wc, int count)
{
	unsigned long end = jiffies + PATIENCE;
	u32 sent = packets_sent(wire);
	int got = 0, dead = 0;

	for (;;) {
		wire_run(wire);
		dead = sent == packets_sent(wire) && waits_for_answers_only(wire) ?
		       dead + 1 : 0;
		sent = packets_sent(wire);
		if (dead && dead % IDLE_ROUNDS == 0)
			wire_end_timeouts(wire);
		got += roce_poll_cq(&cq->ibcq, count - got, wc + got);
		if (got == count || dead == DEAD_ROUNDS || time_after(jiffies, end))
			return got;
		usleep_range(500, 1000);
	}
}

/**
 * wire_expect() - wait for a completion and check it
 * @wire: the wire
 * @cq: of one of the ends
 * @wr_id: expected work request
 * @status: expected status
 */
void wire_expect(struct wire *wire, struct roce_cq *cq, u64 wr_id,
		 enum ib_wc_status status)
{
	struct kunit *test = wire->test;
	struct ib_wc wc;

	KUNIT_ASSERT_EQ_MSG(test, wire_wait(wire, cq, &wc, 1), 1,
			    "no completion of request %llu", wr_id);
	KUNIT_EXPECT_EQ(test, wc.wr_id, wr_id);
	KUNIT_EXPECT_EQ_MSG(test, wc.status, status, "request %llu: %s", wr_id,
			    ib_wc_status_msg(wc.status));
}

/**
 * wire_fault() - harm a packet
 * @end: the sender
 * @number: of the packet, counted from 0 since wire_forget()
 * @action: the fault
 */
void wire_fault(struct wire_end *end, u32 number, enum wire_action action)
{
	KUNIT_ASSERT_LT(end->wire->test, end->fault_count, WIRE_FAULTS);
	end->faults[end->fault_count++] = (struct wire_fault) { number, action };
}

/**
 * wire_forget() - clear the log and all faults
 * @wire: with no packets in flight
 */
void wire_forget(struct wire *wire)
{
	int i;

	spin_lock_bh(&wire->lock);
	wire->logged = 0;
	for (i = 0; i < 2; i++) {
		wire->ends[i].sent = 0;
		wire->ends[i].trains = 0;
		wire->ends[i].fault_count = 0;
		wire->ends[i].cut = false;
		wire->ends[i].dark = 0;
		wire->ends[i].marked = false;
	}
	spin_unlock_bh(&wire->lock);
}

/**
 * wire_find() - find a packet that was sent
 * @wire: the wire
 * @from: 0 or 1, the sender
 * @opcode: of its BTH
 * @nth: its number among packets with this opcode
 */
const struct wire_record *wire_find(const struct wire *wire, u8 from, u8 opcode,
				    u32 nth)
{
	u32 i;

	for (i = 0; i < wire->logged; i++)
		if (wire->log[i].from == from && wire->log[i].opcode == opcode &&
		    !nth--)
			return &wire->log[i];
	return NULL;
}

/**
 * wire_count() - count the packets with an opcode that were sent
 * @wire: the wire
 * @from: 0 or 1, the sender
 * @opcode: of their BTH
 */
u32 wire_count(const struct wire *wire, u8 from, u8 opcode)
{
	u32 n = 0;

	while (wire_find(wire, from, opcode, n))
		n++;
	return n;
}

static void fill_sges(const struct wire_end *end, const struct wire_op *op,
		      struct ib_sge *sges, u32 count)
{
	u32 i, done = 0;

	for (i = 0; i < count; i++) {
		u32 length = i + 1 == count ? op->length - done :
					      op->length / count;

		sges[i] = (struct ib_sge) {
			.addr = (uintptr_t)end->memory + op->local + done,
			.length = length,
			.lkey = end->mr->ibmr.lkey ^ (op->bad_lkey ? 1 : 0),
		};
		done += length;
	}
}

static bool is_atomic(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/**
 * wire_post() - post a work request with a completion
 * @end: the end to post it to
 * @op: the work request
 *
 * Return: the return value of the verb.
 */
int wire_post(struct wire_end *end, const struct wire_op *op)
{
	struct ib_sge sges[WIRE_SGES];
	struct ib_send_wr wr = {
		.wr_id = op->wr_id,
		.sg_list = sges,
		.num_sge = op->sges ?: 1,
		.opcode = op->opcode,
		.send_flags = IB_SEND_SIGNALED | op->flags,
		.ex.imm_data = cpu_to_be32(WIRE_IMMEDIATE),
	};
	u64 remote = (uintptr_t)end->peer->memory + op->remote;
	u32 rkey = end->peer->mr->ibmr.rkey ^ (op->bad_rkey ? 0x100 : 0);
	struct ib_atomic_wr atomic = {
		.wr = wr, .remote_addr = remote, .rkey = rkey,
		.compare_add = op->compare_add, .swap = op->swap,
	};
	struct ib_rdma_wr rdma = {
		.wr = wr, .remote_addr = remote, .rkey = rkey,
	};
	const struct ib_send_wr *bad;

	fill_sges(end, op, sges, wr.num_sge);
	return roce_post_send(&end->qp->ibqp,
			      is_atomic(op->opcode) ? &atomic.wr : &rdma.wr,
			      &bad);
}

/**
 * wire_receive() - post a receive
 * @end: the end to post it to
 * @wr_id: of the completion
 * @local: offset in the end's memory
 * @length: bytes, 0 for a receive without memory
 */
void wire_receive(struct wire_end *end, u64 wr_id, u32 local, u32 length)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)end->memory + local,
		.length = length,
		.lkey = end->mr->ibmr.lkey,
	};
	struct ib_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = length ? 1 : 0,
	};
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(end->wire->test, 0,
			roce_post_recv(&end->qp->ibqp, &wr, &bad));
}

/**
 * wire_prepare() - set up the memory for a message of end 0, or a READ by it
 * @wire: the wire
 * @opcode: of its work request
 * @wr_id: of its work request; also selects the bytes
 * @length: bytes, from the beginning of the source's memory to WIRE_TARGET of the other
 *
 * If the message needs a receive, it is posted, with @wr_id + 100.
 */
void wire_prepare(struct wire *wire, enum ib_wr_opcode opcode, u64 wr_id, u32 length)
{
	struct wire_end *from = wire_source(wire, opcode), *to = from->peer;

	fixture_fill(from->memory, length, wr_id);
	memset(to->memory + WIRE_TARGET, 0, length);
	if (wire_has_receive(opcode))
		wire_receive(to, 100 + wr_id, WIRE_TARGET, length);
}

/** wire_send() - post the message of wire_prepare() */
void wire_send(struct wire *wire, enum ib_wr_opcode opcode, u64 wr_id, u32 length)
{
	struct wire_op op = {
		.opcode = opcode, .wr_id = wr_id, .length = length, .remote = WIRE_TARGET,
	};

	if (opcode == IB_WR_RDMA_READ)
		swap(op.local, op.remote);
	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[0], &op), 0);
}

/** wire_finish() - wait until the message of wire_send() has arrived, once and intact */
void wire_finish(struct wire *wire, enum ib_wr_opcode opcode, u64 wr_id, u32 length)
{
	struct wire_end *from = wire_source(wire, opcode), *to = from->peer;
	struct roce_cq *send_cq = wire->ends[0].send_cq;
	struct roce_cq *recv_cq = wire->ends[1].recv_cq;
	struct kunit *test = wire->test;
	struct ib_wc wc;

	wire_expect(wire, send_cq, wr_id, IB_WC_SUCCESS);
	if (wire_has_receive(opcode))
		wire_expect(wire, recv_cq, 100 + wr_id, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, memcmp(from->memory, to->memory + WIRE_TARGET, length));
	/* A READ may have completed earlier requests, too. */
	if (opcode == IB_WR_RDMA_READ)
		return;
	KUNIT_EXPECT_EQ(test, roce_poll_cq(&send_cq->ibcq, 1, &wc), 0);
	KUNIT_EXPECT_EQ(test, roce_poll_cq(&recv_cq->ibcq, 1, &wc), 0);
}

static void set_wait(struct kunit *test, struct roce_reorder **reorder,
		     struct roce_engine *engine, struct roce_qp *qp, u64 nanoseconds)
{
	KUNIT_ASSERT_TRUE(test, roce_reorder_prepare(reorder, engine, qp));
	(*reorder)->wait = nanoseconds;
}

/** wire_set_wait() - set the wait for late packets, for both halves that end 0 sends to */
void wire_set_wait(struct wire *wire, u64 nanoseconds)
{
	struct roce_qp *a = wire->ends[0].qp, *b = wire->ends[1].qp;

	set_wait(wire->test, &a->requester.reorder, &a->requester.engine, a,
		 nanoseconds);
	set_wait(wire->test, &b->responder.reorder, &b->responder.engine, b,
		 nanoseconds);
}

/**
 * wire_request() - describe the first packet of end 0, for the start of end 1's memory
 * @wire: the wire
 * @operation: of the opcode; the service is RC
 * @length: of the RETH, in bytes
 *
 * Return: a packet for wire_inject().
 */
struct roce_packet wire_request(const struct wire *wire, u8 operation, u32 length)
{
	const struct wire_end *to = &wire->ends[1];

	return (struct roce_packet) {
		.opcode = ROCE_SERVICE_RC | operation, .psn = to->peer->qp->attr.sq_psn,
		.va = (uintptr_t)to->memory, .rkey = to->mr->ibmr.rkey, .length = length,
	};
}

/**
 * wire_ask_for_end() - let a question for the end of a READ come behind a WRITE
 * @wire: the wire; the responder of end 1 is claimed, and released by this
 * @psn: of the last response of the READ, from the start of end 1's memory
 * @length: of the READ, in bytes; the path MTU is 256 bytes
 * @wr_id: of the WRITE
 *
 * The responder finds both in its inbox, behind what end 0 has sent before.
 */
void wire_ask_for_end(struct wire *wire, u32 psn, u32 length, u64 wr_id)
{
	struct wire_end *a = &wire->ends[0];
	struct roce_packet question = wire_request(wire, ROCE_READ_REQUEST, length % 256);

	question.psn = psn;
	question.va += length - length % 256;
	wire_send(wire, IB_WR_RDMA_WRITE, wr_id, length);
	wire_run(wire);
	KUNIT_EXPECT_EQ(wire->test, wire_inject(a, &question, NULL), 0);
	wire_run(wire);
	roce_engine_release(&wire->ends[1].qp->responder.engine);
}

/**
 * wire_inject() - send a packet that the QP would not send
 * @end: sender of the packet
 * @packet: opcode, psn, payload and the fields of the opcode's headers are set; qpn, or 0
 *	for the other end's
 * @payload: its bytes, or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int wire_inject(struct wire_end *end, const struct roce_packet *packet,
		const u8 *payload)
{
	static const struct roce_opcode_info reserved = {
		.header_length = sizeof(struct roce_bth),
	};
	struct roce_packet full = *packet;
	struct roce_train train;
	int err;

	full.info = roce_opcode_info(full.opcode);
	if (!full.info->header_length)
		full.info = &reserved;
	if (!full.qpn)
		full.qpn = end->peer->qp->ibqp.qp_num;
	local_bh_disable();
	err = roce_train_of_one(&train, &end->qp->av, end->qp->source_port,
				&full, payload);
	if (!err)
		err = take_train(end->qp, &end->qp->av, &train);
	local_bh_enable();
	return err;
}

static void note_event(struct ib_event *event, void *context)
{
	struct wire_end *end = context;

	set_bit(event->event, &end->events);
}

static void make_end(struct kunit *test, struct wire_end *end,
		     const struct wire_setup *setup, const char *address)
{
	struct fixture_qp_attr attr = {
		.type = setup->type,
		.cap = {
			.max_send_wr = WIRE_QUEUE,
			.max_recv_wr = WIRE_QUEUE,
			.max_send_sge = WIRE_SGES,
			.max_recv_sge = WIRE_SGES,
			.max_inline_data = WIRE_INLINE,
		},
		.event_handler = note_event,
		.context = end,
	};

	end->memory = fixture_buffer(test, WIRE_MEMORY);
	end->dev = fixture_device(test);
	fixture_set_send(end->dev, take_train);
	end->dev->reordering_us = setup->reordering_us;
	end->dev->loss_recovery = setup->loss_recovery[end - end->wire->ends];
	__skb_queue_head_init(&end->late);
	end->gid = fixture_gid(test, end->dev, address);
	end->pd = fixture_pd(test, end->dev);
	end->mr = fixture_dma_mr(test, end->pd, setup->mr_access);
	end->send_cq = fixture_cq(test, end->dev, 2 * WIRE_QUEUE);
	end->recv_cq = fixture_cq(test, end->dev, 2 * WIRE_QUEUE);
	attr.send_cq = end->send_cq;
	attr.recv_cq = end->recv_cq;
	end->qp = fixture_qp(test, end->pd, &attr);
	if (setup->algorithm)
		end->qp->flow.algorithm = setup->algorithm;
}

/** wire_modify() - modify the QP of an end, which must succeed */
void wire_modify(struct wire_end *end, struct ib_qp_attr *attr, int mask)
{
	KUNIT_ASSERT_EQ(end->wire->test, 0,
			roce_modify_qp(&end->qp->ibqp, attr, mask, NULL));
}

static void to_init(struct wire_end *end, const struct wire_setup *setup,
		    struct ib_qp_attr *attr)
{
	attr->qp_state = IB_QPS_INIT;
	attr->port_num = 1;
	attr->qp_access_flags = setup->access;
	wire_modify(end, attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			       IB_QP_ACCESS_FLAGS);
}

static void to_rtr(struct wire_end *end, const struct wire_setup *setup,
		   struct ib_qp_attr *attr)
{
	int mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
		   IB_QP_RQ_PSN;
	struct rdma_ah_attr *ah = &attr->ah_attr;
	u32 peer = end->peer - end->wire->ends;

	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	ah->port_num = 1;
	ah->ah_flags = IB_AH_GRH;
	ah->grh.sgid_attr = end->gid;
	ah->grh.dgid = end->peer->gid->gid;
	attr->qp_state = IB_QPS_RTR;
	attr->path_mtu = setup->mtu;
	attr->dest_qp_num = end->peer->qp->ibqp.qp_num;
	attr->rq_psn = setup->psn[peer];
	attr->max_dest_rd_atomic = setup->reads;
	attr->min_rnr_timer = setup->rnr_timer;
	if (setup->type == IB_QPT_RC)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	wire_modify(end, attr, mask);
}

static void to_rts(struct wire_end *end, const struct wire_setup *setup,
		   struct ib_qp_attr *attr)
{
	int mask = IB_QP_STATE | IB_QP_SQ_PSN;

	attr->qp_state = IB_QPS_RTS;
	attr->sq_psn = setup->psn[end - end->wire->ends];
	attr->timeout = setup->timeout;
	attr->retry_cnt = setup->retry_count;
	attr->rnr_retry = setup->rnr_retry;
	attr->max_rd_atomic = setup->reads;
	if (setup->type == IB_QPT_RC)
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC;
	wire_modify(end, attr, mask);
}

static void connect(struct kunit *test, struct wire_end *end,
		    const struct wire_setup *setup)
{
	struct ib_qp_attr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, attr);
	if (!setup->controlled)
		end->dev->congestion.priorities = 0;
	to_init(end, setup, attr);
	to_rtr(end, setup, attr);
	to_rts(end, setup, attr);
}

/* The QPs are destroyed already. */
static void free_packets(void *context)
{
	struct wire *wire = context;

	__skb_queue_purge(&wire->queue);
	kfree_skb(wire->ends[0].held);
	kfree_skb(wire->ends[1].held);
	__skb_queue_purge(&wire->ends[0].late);
	__skb_queue_purge(&wire->ends[1].late);
}

/** wire_defaults() - a connection without timeouts and with all rights */
struct wire_setup wire_defaults(void)
{
	return (struct wire_setup) {
		.type = IB_QPT_RC,
		.mtu = IB_MTU_256,
		.psn = { 0xfffffe, 0x7ffffe },
		.loss_recovery = { ROCE_TOLERATE, ROCE_TOLERATE },
		.retry_count = 7,
		.rnr_retry = 7,
		.rnr_timer = 1,
		.reads = 4,
		.access = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_ATOMIC,
		.mr_access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			     IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC,
	};
}

/** wire_selective() - the same, and both ends repeat selectively after a long wait */
struct wire_setup wire_selective(void)
{
	struct wire_setup setup = wire_defaults();

	setup.reordering_us = ROCE_REORDERING_MAX_US;
	setup.loss_recovery[0] = ROCE_SELECTIVE;
	setup.loss_recovery[1] = ROCE_SELECTIVE;
	return setup;
}

/**
 * wire_new() - make two connected QPs
 * @test: the test
 * @setup: their attributes
 */
struct wire *wire_new(struct kunit *test, const struct wire_setup *setup)
{
	struct wire *wire = kunit_kzalloc(test, sizeof(*wire), GFP_KERNEL);
	static const char * const addresses[2][2] = {
		{ "10.0.0.1", "10.0.0.2" }, { "fd00::1", "fd00::2" },
	};
	int i;

	KUNIT_ASSERT_NOT_NULL(test, wire);
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	wire->test = test;
	wire->whole_trains = setup->whole_trains;
	spin_lock_init(&wire->lock);
	__skb_queue_head_init(&wire->queue);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, free_packets, wire));
	for (i = 0; i < 2; i++) {
		wire->ends[i].wire = wire;
		wire->ends[i].peer = &wire->ends[!i];
		make_end(test, &wire->ends[i], setup,
			 addresses[setup->ipv6][i]);
	}
	for (i = 0; i < 2; i++)
		connect(test, &wire->ends[i], setup);
	return wire;
}
