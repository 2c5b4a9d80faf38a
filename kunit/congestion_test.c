// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control over a wire in memory: data is ECN-capable, a mark makes the
 * receiver send a CNP, a CNP slows down the sender's requests or READ responses, and
 * the pacer enforces the rate.
 */
#include <linux/dcbnl.h>
#include <linux/etherdevice.h>
#include <net/dcbnl.h>
#include <net/inet_ecn.h>
#include <net/udp.h>

#include "cc_parameters.h"
#include "cnp.h"
#include "dcqcn.h"
#include "flow.h"
#include "requester.h"
#include "wire_fake.h"

#define MTU		256
#define RATE_MBIT	8
#define ETHERNET_HEADERS (14 + 20 + 8)

static struct wire *new_wire(struct kunit *test, bool ipv6, bool whole_trains)
{
	struct wire_setup setup = wire_defaults();

	setup.controlled = true;
	setup.ipv6 = ipv6;
	setup.whole_trains = whole_trains;
	return wire_new(test, &setup);
}

static struct roce_cc_parameters *algorithm(struct wire_end *end, const char *name)
{
	struct roce_cc_parameters *found = NULL, *it;

	list_for_each_entry(it, &end->dev->congestion.algorithms, node)
		if (!strcmp(it->ops->name, name))
			found = it;
	KUNIT_ASSERT_NOT_NULL_MSG(end->wire->test, found, "there is no %s", name);
	return found;
}

static void set(struct wire_end *end, enum dcqcn_parameter which, u32 value)
{
	algorithm(end, "dcqcn")->value[which] = value;
}

static void set_cnp_interval(struct wire_end *end, u32 microseconds)
{
	u32 *value = end->dev->congestion.np->value;

	value[ROCE_NP_MIN_TIME_BETWEEN_CNPS] = microseconds;
}

/* The first CNP sets the rate, and nothing changes it for the next seconds. */
static void hold_rate(struct wire_end *end, u32 megabits)
{
	set(end, DCQCN_RATE_TO_SET_ON_FIRST_CNP, megabits);
	set(end, DCQCN_RPG_TIME_RESET, 131071);
	set(end, DCQCN_RPG_THRESHOLD, 31);
	set(end, DCQCN_RPG_BYTE_RESET, 0);
}

/* A machine that stops for a second releases the flow: it has sent nothing for so long. */
static bool rate_is_held(const struct wire_end *end, u32 megabits)
{
	return end->qp->flow.cc.rate == megabits * 1000000ull;
}

static void transfer(struct wire *wire, enum ib_wr_opcode opcode, u32 bytes)
{
	struct wire_op op = {
		.opcode = opcode, .wr_id = 7, .length = bytes, .remote = WIRE_TARGET,
	};

	if (opcode == IB_WR_RDMA_READ)
		swap(op.local, op.remote);
	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[0], &op), 0);
	wire_expect(wire, wire->ends[0].send_cq, 7, IB_WC_SUCCESS);
}

static void send_cnp(struct wire_end *from)
{
	static const u8 reserved[16];
	struct roce_packet cnp = {
		.opcode = ROCE_OPCODE_CNP, .becn = true,
		.payload = sizeof(reserved),
	};

	KUNIT_ASSERT_EQ(from->wire->test, wire_inject(from, &cnp, reserved), 0);
	wire_run(from->wire);
}

/* --- ECN --- */

static void data_is_ecn_capable(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);
	u32 i;

	transfer(wire, IB_WR_RDMA_WRITE, 5 * MTU);
	transfer(wire, IB_WR_RDMA_READ, 5 * MTU);
	for (i = 0; i < wire->logged; i++) {
		const struct wire_record *packet = &wire->log[i];
		u16 flags = roce_opcode_info(packet->opcode)->flags;

		KUNIT_EXPECT_EQ_MSG(test, packet->ecn,
				    flags & ROCE_HAS_PAYLOAD ? INET_ECN_ECT_0 :
							       INET_ECN_NOT_ECT,
				    "opcode 0x%02x", packet->opcode);
	}
	KUNIT_EXPECT_GE(test, wire->logged, 5 + 1 + 1 + 5);
}

static void a_priority_that_is_not_controlled_is_not_ecn_capable(struct kunit *test)
{
	struct wire *wire = new_wire(test, true, false);
	u32 i;

	wire->ends[0].dev->congestion.priorities = 0xfe;
	transfer(wire, IB_WR_RDMA_WRITE, 5 * MTU);
	for (i = 0; i < wire->logged; i++)
		KUNIT_EXPECT_EQ(test, wire->log[i].ecn, INET_ECN_NOT_ECT);

	send_cnp(&wire->ends[1]);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], rp_cnp_ignored), 1);
	KUNIT_EXPECT_FALSE(test, wire->ends[0].qp->flow.limited);
}

/* --- Priorities --- */

static u8 priority_of(struct wire_end *end, u8 dscp, u8 service_level)
{
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_ROCE,
		.port_num = 1,
		.ah_flags = IB_AH_GRH,
		.sl = service_level,
		.grh = {
			.sgid_attr = end->gid,
			.dgid = end->peer->gid->gid,
			.traffic_class = dscp << 2,
		},
	};
	struct roce_av av;
	u8 priority;

	KUNIT_ASSERT_EQ(end->wire->test, roce_av_init(&av, &attr), 0);
	priority = av.priority;
	roce_av_release(&av);
	return priority;
}

static void the_service_level_is_the_priority(struct kunit *test)
{
	struct wire *wire = new_wire(test, true, false);
	u8 level;

	for (level = 1; level < 8; level++)
		KUNIT_EXPECT_EQ(test, priority_of(&wire->ends[0], 26, level), level);
}

static void without_a_service_level_the_priority_is_that_of_a_socket(struct kunit *test)
{
	struct wire *wire = new_wire(test, true, false);
	u8 dscp;

	for (dscp = 0; dscp < 64; dscp++)
		KUNIT_EXPECT_EQ(test, priority_of(&wire->ends[0], dscp, 0),
				rt_tos2priority(dscp << 2));
}

/* No virtual netdev has such a table, so one that is not registered gets it. */
static void the_dcb_table_has_precedence_over_the_service_level(struct kunit *test)
{
#if IS_ENABLED(CONFIG_DCB)
	static const struct dcbnl_rtnl_ops ops;
	struct dcb_app app = {
		.selector = IEEE_8021QAZ_APP_SEL_DSCP, .protocol = 26, .priority = 3,
	};
	struct wire *wire = new_wire(test, false, false);
	struct wire_end *end = &wire->ends[0];
	struct net_device *netdev;

	netdev = alloc_etherdev(0);
	KUNIT_ASSERT_NOT_NULL(test, netdev);
	netdev->dcbnl_ops = &ops;
	netdev->ifindex = INT_MAX;
	rcu_assign_pointer(end->gid->ndev, netdev);
	KUNIT_EXPECT_EQ(test, dcb_ieee_setapp(netdev, &app), 0);
	KUNIT_EXPECT_EQ(test, priority_of(end, 26, 5), 3);
	KUNIT_EXPECT_EQ(test, priority_of(end, 27, 5), 5);
	KUNIT_EXPECT_EQ(test, dcb_ieee_delapp(netdev, &app), 0);
	KUNIT_EXPECT_EQ(test, priority_of(end, 26, 5), 5);
	RCU_INIT_POINTER(end->gid->ndev, NULL);
	free_netdev(netdev);
#else
	kunit_skip(test, "a kernel without DCB");
#endif
}

/* --- The notification point --- */

static void a_marked_packet_makes_a_cnp(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);

	/* The last packet is marked: while later ones are sent, the rate would grow. */
	wire_forget(wire);
	wire_fault(&wire->ends[0], 4, WIRE_MARK);
	transfer(wire, IB_WR_RDMA_WRITE, 5 * MTU);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 1, ROCE_OPCODE_CNP), 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], np_ecn_marked_roce_packets), 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], np_cnp_sent), 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], rp_cnp_handled), 1);
	KUNIT_EXPECT_TRUE(test, wire->ends[0].qp->flow.limited);
}

static void a_marked_response_makes_a_cnp(struct kunit *test)
{
	struct wire *wire = new_wire(test, true, false);

	wire_forget(wire);
	wire_fault(&wire->ends[1], 4, WIRE_MARK);
	transfer(wire, IB_WR_RDMA_READ, 5 * MTU);
	KUNIT_EXPECT_EQ(test, wire_count(wire, 0, ROCE_OPCODE_CNP), 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], rp_cnp_handled), 1);
	KUNIT_EXPECT_TRUE(test, wire->ends[1].qp->flow.limited);
	KUNIT_EXPECT_FALSE(test, wire->ends[0].qp->flow.limited);
}

static void all_packets_of_a_marked_train_are_marked(struct kunit *test)
{
	int ipv6;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		struct wire *wire = new_wire(test, ipv6, true);

		set_cnp_interval(&wire->ends[1], 4095);
		wire_forget(wire);
		wire->ends[0].marked = true;
		transfer(wire, IB_WR_RDMA_WRITE, 5 * MTU);
		KUNIT_EXPECT_EQ(test, 5, SEEN(&wire->ends[1],
					      np_ecn_marked_roce_packets));
		KUNIT_EXPECT_GE(test, SEEN(&wire->ends[1], np_cnp_sent), 1);
	}
}

static void cnps_have_a_minimum_interval(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);
	struct wire_end *b = &wire->ends[1];
	u64 start, microseconds;

	set_cnp_interval(b, 4000);
	wire_forget(wire);
	wire->ends[0].marked = true;
	start = ktime_get_ns();
	transfer(wire, IB_WR_RDMA_WRITE, 400 * MTU);
	microseconds = div_u64(ktime_get_ns() - start, NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, SEEN(b, np_ecn_marked_roce_packets), 400);
	KUNIT_EXPECT_GE(test, SEEN(b, np_cnp_sent), 1);
	KUNIT_EXPECT_LE(test, SEEN(b, np_cnp_sent), 1 + microseconds / 4000);
}

static struct sk_buff *captured;

static int capture(struct roce_qp *qp, struct roce_av *av,
		   struct roce_train *train)
{
	kfree_skb(captured);
	KUNIT_EXPECT_EQ(((struct wire_end *)qp->ibqp.qp_context)->wire->test,
			train->priority, 6);
	train->sent = train->packets;
	captured = roce_train_finish(train);
	return 0;
}

/* Except for the QP number. DSCP is 48, ECN is Not-ECT. */
static void a_cnp_looks_like_that_of_a_connectx(struct kunit *test)
{
	static const u8 bth[] = { 0x81, 0x00, 0xff, 0xff, 0x40 };
	static const u8 zeros[16];
	struct wire *wire = new_wire(test, false, false);
	struct sk_buff *marked = alloc_skb(0, GFP_KERNEL);
	const struct roce_packet data = {};
	struct roce_qp *qp = wire->ends[1].qp;
	const u8 *ip, *packet;

	KUNIT_ASSERT_NOT_NULL(test, marked);
	roce_run(marked)->congestion = true;
	captured = NULL;
	fixture_set_send(wire->ends[1].dev, capture);
	local_bh_disable();
	rcu_read_lock();
	roce_cnp_notify(qp, marked, &data);
	rcu_read_unlock();
	local_bh_enable();
	kfree_skb(marked);

	KUNIT_ASSERT_NOT_NULL(test, captured);
	KUNIT_ASSERT_EQ(test, skb_linearize(captured), 0);
	KUNIT_ASSERT_EQ(test, captured->len, 20 + 8 + 12 + 16 + 4);
	ip = captured->data;
	packet = ip + 20 + 8;
	KUNIT_EXPECT_EQ(test, ip[1], 48 << 2);
	KUNIT_EXPECT_EQ(test, memcmp(packet, bth, sizeof(bth)), 0);
	KUNIT_EXPECT_EQ(test, packet[5] << 16 | packet[6] << 8 | packet[7],
			wire->ends[0].qp->ibqp.qp_num);
	KUNIT_EXPECT_EQ(test, memcmp(packet + 8, zeros, 4), 0);
	KUNIT_EXPECT_EQ(test, memcmp(packet + 12, zeros, 16), 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(packet + 28),
			le32_to_cpu(fixture_icrc(ip, captured->len)));
	kfree_skb(captured);
}

/* --- CNPs without a reaction --- */

static void nothing_came_of_it(struct kunit *test, struct wire *wire)
{
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], rp_cnp_handled), 0);
	KUNIT_EXPECT_FALSE(test, wire->ends[0].qp->flow.limited);
}

static void a_damaged_cnp_is_dropped(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);

	wire_forget(wire);
	wire_fault(&wire->ends[1], 0, WIRE_CORRUPT);
	send_cnp(&wire->ends[1]);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], rx_icrc_encapsulated), 1);
	nothing_came_of_it(test, wire);
}

static void a_cnp_of_another_length_is_dropped(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);
	static const u8 reserved[20];
	struct roce_packet cnp = { .opcode = ROCE_OPCODE_CNP, .becn = true };

	for (cnp.payload = 0; cnp.payload <= 20; cnp.payload += 4) {
		if (cnp.payload == 16)
			continue;
		KUNIT_ASSERT_EQ(test, wire_inject(&wire->ends[1], &cnp, reserved), 0);
		wire_run(wire);
	}
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], rx_dropped_length), 5);
	nothing_came_of_it(test, wire);
}

static void a_cnp_from_another_address_is_dropped(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);

	wire->ends[0].qp->av.destination.s6_addr32[3] ^= htonl(8);
	send_cnp(&wire->ends[1]);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], rx_dropped_address), 1);
	nothing_came_of_it(test, wire);
}

static void a_qp_in_the_error_state_ignores_cnps(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);

	local_bh_disable();
	roce_qp_set_error(wire->ends[0].qp, IB_QPS_ERR);
	local_bh_enable();
	send_cnp(&wire->ends[1]);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], rx_dropped_qp_state), 1);
	nothing_came_of_it(test, wire);
}

/* --- The reaction point, and the pacer --- */

static u64 log_bytes(const struct wire *wire, u8 from)
{
	u64 packets = 0;
	u32 i;

	for (i = 0; i < wire->logged; i++)
		if (wire->log[i].from == from &&
		    wire->log[i].opcode != ROCE_OPCODE_CNP &&
		    roce_opcode_info(wire->log[i].opcode)->flags & ROCE_HAS_PAYLOAD)
			packets++;
	return packets * (MTU + 12 + 4 + ETHERNET_HEADERS);
}

/*
 * The packets take their time, except for those that may be ahead. congestion.sh checks
 * that they take no more: this machine may be slow.
 */
static void expect_rate(struct kunit *test, struct wire *wire, u8 from, u64 start)
{
	u64 took = ktime_get_ns() - start;
	u64 least = div_u64(log_bytes(wire, from) * 8 * 1000, RATE_MBIT);

	KUNIT_EXPECT_GE(test, took + 3 * NSEC_PER_MSEC, least - least / 50);
}

static void requests_are_paced(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);
	u64 start;

	hold_rate(&wire->ends[0], RATE_MBIT);
	send_cnp(&wire->ends[1]);
	KUNIT_EXPECT_TRUE(test, rate_is_held(&wire->ends[0], RATE_MBIT));
	wire_forget(wire);
	start = ktime_get_ns();
	transfer(wire, IB_WR_RDMA_WRITE, 400 * MTU);
	expect_rate(test, wire, 0, start);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], retransmitted_packets), 0);
}

static void responses_are_paced(struct kunit *test)
{
	struct wire *wire = new_wire(test, true, false);
	u64 start;

	hold_rate(&wire->ends[1], RATE_MBIT);
	send_cnp(&wire->ends[0]);
	wire_forget(wire);
	start = ktime_get_ns();
	transfer(wire, IB_WR_RDMA_READ, 400 * MTU);
	expect_rate(test, wire, 1, start);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], retransmitted_packets), 0);
}

/* Both directions at once: end 0 writes, and answers the READ of end 1. */
static void both_halves_share_the_rate(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);
	struct wire_op write = {
		.opcode = IB_WR_RDMA_WRITE, .wr_id = 1, .length = 200 * MTU,
		.remote = WIRE_TARGET,
	};
	struct wire_op read = {
		.opcode = IB_WR_RDMA_READ, .wr_id = 2, .length = 200 * MTU,
		.local = 64 * 1024,
	};
	u64 start;

	hold_rate(&wire->ends[0], RATE_MBIT);
	send_cnp(&wire->ends[1]);
	wire_forget(wire);
	start = ktime_get_ns();
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &write), 0);
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[1], &read), 0);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
	wire_expect(wire, wire->ends[1].send_cq, 2, IB_WC_SUCCESS);
	expect_rate(test, wire, 0, start);
}

/* Half a millisecond of 8 Mbit/s is 500 bytes: one packet, of 314 with headers. */
static void trains_are_short_at_a_low_rate(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);

	hold_rate(&wire->ends[0], RATE_MBIT);
	send_cnp(&wire->ends[1]);
	wire_forget(wire);
	transfer(wire, IB_WR_RDMA_WRITE, 20 * MTU);
	if (rate_is_held(&wire->ends[0], RATE_MBIT))
		KUNIT_EXPECT_EQ(test, wire->ends[0].trains, wire->ends[0].sent);

	set(&wire->ends[0], DCQCN_RATE_TO_SET_ON_FIRST_CNP, 80);
	roce_flow_start(wire->ends[0].qp);
	send_cnp(&wire->ends[1]);
	wire_forget(wire);
	transfer(wire, IB_WR_RDMA_WRITE, 40 * MTU);
	KUNIT_EXPECT_LT(test, wire->ends[0].trains, 10);
	if (rate_is_held(&wire->ends[0], 80))
		KUNIT_EXPECT_GT(test, wire->ends[0].trains, 3);
}

/* Count the packets sent at once by a flow that waited, and is @late nanoseconds late. */
static void expect_burst(struct kunit *test, u64 late, u64 made_up_for)
{
	struct wire *wire = new_wire(test, false, false);
	struct wire_end *end = &wire->ends[0];
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = 250 * MTU, .remote = WIRE_TARGET,
	};
	u64 cost = (MTU + 12 + 4 + ETHERNET_HEADERS) * 8 * 1000 / RATE_MBIT;
	u64 start;

	hold_rate(end, RATE_MBIT);
	send_cnp(&wire->ends[1]);
	start = ktime_get_ns();
	end->qp->flow.due = start - late;
	end->qp->flow.behind = true;
	KUNIT_ASSERT_EQ(test, wire_post(end, &op), 0);
	wire_start(wire);
	if (rate_is_held(end, RATE_MBIT))
		KUNIT_EXPECT_GE(test, end->trains, div_u64(made_up_for, cost));
	KUNIT_EXPECT_LE(test, end->trains,
			div_u64(made_up_for + ktime_get_ns() - start, cost) + 1);
}

static void delays_by_a_late_timer_are_made_up_for(struct kunit *test)
{
	expect_burst(test, 10 * NSEC_PER_MSEC, 10 * NSEC_PER_MSEC);
	expect_burst(test, NSEC_PER_SEC, 20 * NSEC_PER_MSEC);
}

/* The flow waits for its turn when an RNR NAK makes it wait for something else. */
static void an_rnr_delay_is_not_made_up_for(struct kunit *test)
{
	const u64 delay = 40960 * NSEC_PER_USEC;
	const u32 megabits = 2;
	u64 cost = (MTU + 12 + 4 + ETHERNET_HEADERS) * 8 * 1000 / megabits;
	struct wire *wire = new_wire(test, false, false);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_flow *flow = &a->qp->flow;
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = 500 * MTU, .remote = WIRE_TARGET,
	};
	struct roce_packet nak = {
		.opcode = ROCE_SERVICE_RC | ROCE_ACKNOWLEDGE,
		.psn = a->qp->attr.sq_psn, .syndrome = ROCE_AETH_RNR_NAK | 24,
	};
	unsigned long end = jiffies + PATIENCE;
	u32 trains;
	u64 start;

	hold_rate(a, megabits);
	send_cnp(b);
	a->cut = true;
	KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	wire_start(wire);
	KUNIT_ASSERT_GT(test, READ_ONCE(a->trains), 0);
	/* It waits for its rate; on a slow machine it may have sent all packets. */
	roce_engine_claim(&a->qp->requester.engine);
	start = ktime_get_ns();
	spin_lock_bh(&flow->lock);
	flow->due = start;
	flow->waiting = BIT(ROCE_REQUESTER);
	flow->behind = true;
	spin_unlock_bh(&flow->lock);
	trains = READ_ONCE(a->trains);
	KUNIT_EXPECT_EQ(test, wire_inject(b, &nak, NULL), 0);
	wire_run(wire);
	roce_engine_release(&a->qp->requester.engine);
	while ((READ_ONCE(a->trains) == trains ||
		ktime_get_ns() - start < 2 * delay) && time_before(jiffies, end))
		usleep_range(500, 1000);
	wire_start(wire);
	trains = READ_ONCE(a->trains) - trains;
	KUNIT_EXPECT_GE(test, trains, 1);
	KUNIT_EXPECT_LE(test, trains,
			div_u64(ktime_get_ns() - start - delay, cost) + 2);
}

/* The flow is late when the netdev takes nothing for a while. */
static void a_wait_for_the_netdev_is_not_made_up_for(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);
	struct wire_end *a = &wire->ends[0];
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = MTU, .remote = WIRE_TARGET,
	};
	u64 start;

	hold_rate(a, 100);
	send_cnp(&wire->ends[1]);
	start = ktime_get_ns();
	a->qp->flow.due = start - NSEC_PER_MSEC;
	a->qp->flow.behind = true;
	a->refuse = 2;
	KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_GE(test, a->qp->flow.due, start + 2 * ROCE_STALL_NANOSECONDS);
}

static void a_full_netdev_costs_no_rate(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);
	struct roce_flow *flow = &wire->ends[0].qp->flow;
	u64 bytes, start;

	hold_rate(&wire->ends[0], RATE_MBIT);
	send_cnp(&wire->ends[1]);
	wire_forget(wire);
	start = ktime_get_ns();
	wire->ends[0].refuse = 20;
	transfer(wire, IB_WR_RDMA_WRITE, 5 * MTU);
	bytes = log_bytes(wire, 0);
	KUNIT_EXPECT_LE(test, flow->due, ktime_get_ns() +
			div_u64(bytes * 8 * 1000, RATE_MBIT));
	KUNIT_EXPECT_GE(test, flow->due, start);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], tx_stalled_queue), 20);
}

/* --- Loss --- */

static void ignore_cnp(struct roce_cc_flow *flow, u64 now)
{
}

static void slow_down(struct roce_cc_flow *flow, u64 now, enum roce_cc_loss loss)
{
	flow->rate = flow->line_rate / 2;
}

/* The rate of this algorithm never grows again, even if the test takes long. */
static void a_lost_request_slows_the_requester_down(struct kunit *test)
{
	static const struct roce_cc_ops ops = {
		.on_cnp = ignore_cnp, .on_loss = slow_down,
	};
	static const struct roce_cc_parameters slowing = { .ops = &ops };
	struct wire_setup setup = wire_defaults();
	struct wire_end *a;
	struct wire *wire;

	setup.controlled = true;
	setup.algorithm = &slowing;
	wire = wire_new(test, &setup);
	a = &wire->ends[0];
	wire_forget(wire);
	wire_fault(a, 1, WIRE_DROP);
	transfer(wire, IB_WR_RDMA_WRITE, 5 * MTU);
	KUNIT_EXPECT_EQ(test, SEEN(a, packet_seq_err), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, roce_slow_restart_cnps), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, roce_slow_restart_trans), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, roce_slow_restart), 0);
	KUNIT_EXPECT_EQ(test, SEEN(a, rp_cnp_handled), 0);
	KUNIT_EXPECT_EQ(test, a->qp->flow.cc.rate, a->dev->congestion.line_rate / 2);
}

/* It goes back for the lost packet, and the copy of another one is lost. */
static void a_lost_copy_slows_nobody_down_again(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);
	struct wire_end *end = &wire->ends[0];

	wire_forget(wire);
	wire_fault(end, 1, WIRE_DROP);
	wire_fault(end, 5 + 2, WIRE_DROP);
	transfer(wire, IB_WR_RDMA_WRITE, 5 * MTU);
	KUNIT_EXPECT_EQ(test, SEEN(end, packet_seq_err), 2);
	KUNIT_EXPECT_EQ(test, SEEN(end, roce_slow_restart_cnps), 1);

	wire_forget(wire);
	wire_fault(end, 1, WIRE_DROP);
	transfer(wire, IB_WR_RDMA_WRITE, 5 * MTU);
	KUNIT_EXPECT_EQ(test, SEEN(end, roce_slow_restart_cnps), 2);
}

static void a_lost_response_slows_the_responder_down(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);

	wire_forget(wire);
	wire_fault(&wire->ends[1], 1, WIRE_DROP);
	transfer(wire, IB_WR_RDMA_READ, 5 * MTU);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[1], roce_slow_restart_cnps), 1);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], roce_slow_restart_cnps), 0);
}

/* All four were answered; one response was lost, and all are asked for again. Twice. */
static void reads_that_are_asked_for_again_together_are_one_loss(struct kunit *test)
{
	struct wire_op op = { .opcode = IB_WR_RDMA_READ, .length = 8, .local = WIRE_TARGET };
	struct wire *wire = new_wire(test, false, false);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 i;

	for (i = 1; i <= 2; i++) {
		wire_forget(wire);
		wire_fault(b, 0, WIRE_DROP);
		roce_engine_claim(&a->qp->requester.engine);
		for (op.wr_id = 0; op.wr_id < 4; op.wr_id++)
			KUNIT_ASSERT_EQ(test, wire_post(a, &op), 0);
		roce_engine_release(&a->qp->requester.engine);
		for (op.wr_id = 0; op.wr_id < 4; op.wr_id++)
			wire_expect(wire, a->send_cq, op.wr_id, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, SEEN(b, duplicate_request), 4 * i);
		KUNIT_EXPECT_EQ(test, SEEN(b, roce_slow_restart_cnps), i);
	}
}

static void a_flow_restarts_slowly_after_a_timeout(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire_end *a;
	struct wire *wire;

	setup.controlled = true;
	setup.timeout = WIRE_TIMEOUT;
	wire = wire_new(test, &setup);
	a = &wire->ends[0];
	wire_forget(wire);
	wire_fault(a, 4, WIRE_DROP);
	transfer(wire, IB_WR_RDMA_WRITE, 5 * MTU);
	KUNIT_EXPECT_GE(test, SEEN(a, roce_slow_restart), 1);
	KUNIT_EXPECT_EQ(test, SEEN(a, roce_slow_restart),
			SEEN(a, local_ack_timeout_err));
}

/* --- A port that does not mark --- */

/* A slow machine must not make packets late. */
static struct wire *new_selective_wire(struct kunit *test)
{
	struct wire_setup setup = wire_selective();
	struct wire *wire;

	setup.controlled = true;
	wire = wire_new(test, &setup);
	wire_set_wait(wire, NSEC_PER_SEC);
	/* The offer and the confirmation need a message each. */
	transfer(wire, IB_WR_RDMA_WRITE, MTU);
	transfer(wire, IB_WR_RDMA_WRITE, MTU);
	KUNIT_ASSERT_TRUE(test, wire->ends[0].qp->requester.sack_accepted);
	wire_forget(wire);
	return wire;
}

/* As a probe does, or a requester that misses only this response. */
static void single_responses_that_are_asked_for_again_slow_nobody_down(struct kunit *test)
{
	struct wire *wire = new_selective_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	struct roce_packet end = wire_request(wire, ROCE_READ_REQUEST, MTU);
	u32 i;

	transfer(wire, IB_WR_RDMA_READ, 5 * MTU);
	end.psn = roce_psn_add(a->qp->requester.limit_psn, -1);
	end.va += 4 * MTU;
	for (i = 1; i <= 9; i++) {
		KUNIT_EXPECT_EQ(test, SEEN(b, roce_slow_restart_cnps), 0);
		KUNIT_ASSERT_EQ(test, wire_inject(a, &end, NULL), 0);
		wire_run(wire);
		KUNIT_EXPECT_EQ(test, SEEN(b, duplicate_request), i);
	}
	/* More than an eighth of 64 */
	KUNIT_EXPECT_EQ(test, SEEN(b, roce_slow_restart_cnps), 1);
}

/* They arrive in one train, behind a gap. Only the first one of it makes a CNP. */
static void marked_packets_that_were_kept_make_no_late_cnps(struct kunit *test)
{
	struct wire *wire = new_selective_wire(test);
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];
	u32 i;

	set_cnp_interval(b, 0);
	wire->merge = true;
	wire_fault(a, 1, WIRE_DROP);
	for (i = 2; i < 8; i++)
		wire_fault(a, i, WIRE_MARK);
	transfer(wire, IB_WR_RDMA_WRITE, 8 * MTU);
	KUNIT_EXPECT_EQ(test, SEEN(b, np_ecn_marked_roce_packets), 6);
	KUNIT_EXPECT_EQ(test, SEEN(b, np_cnp_sent), 1);
}

/* The latest round trips were as short as ever, or long. No further one ends. */
static struct roce_requester *set_crowded(struct wire *wire, bool crowded)
{
	struct roce_requester *requester = &wire->ends[0].qp->requester;

	requester->min_rtt = NSEC_PER_MSEC;
	requester->srtt = (crowded ? 2 : 1) * NSEC_PER_MSEC;
	requester->busy_packets = 0;
	requester->slow_start = false;
	requester->timed_psn = roce_psn_add(requester->limit_psn, 1 << 20);
	requester->timed_at = 1;
	return requester;
}

static void lose_one_of_eight(struct wire *wire)
{
	wire_fault(&wire->ends[0], 1, WIRE_DROP);
	transfer(wire, IB_WR_RDMA_WRITE, 8 * MTU);
	KUNIT_EXPECT_EQ(wire->test, SEEN(&wire->ends[0], selective_repeats), 1);
}

static void a_loss_over_a_crowded_port_halves_what_is_in_flight(struct kunit *test)
{
	struct wire *wire = new_selective_wire(test);
	struct roce_requester *requester = set_crowded(wire, true);

	lose_one_of_eight(wire);
	/* It grows by one packet when the loss is repaired. */
	KUNIT_EXPECT_GE(test, requester->window, 4);
	KUNIT_EXPECT_LE(test, requester->window, 5);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], roce_slow_restart_cnps), 0);
}

static void a_loss_elsewhere_leaves_the_window(struct kunit *test)
{
	struct wire *wire = new_selective_wire(test);
	struct roce_requester *requester = set_crowded(wire, false);

	lose_one_of_eight(wire);
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], roce_slow_restart_cnps), 0);
}

static void what_a_far_peer_needs_stays_in_flight_unless_much_is_lost(struct kunit *test)
{
	struct wire *wire = new_selective_wire(test);
	struct roce_requester *requester = set_crowded(wire, true);

	requester->busy_packets = 100;
	KUNIT_EXPECT_TRUE(test, roce_window_give_way(wire->ends[0].qp, 1));
	KUNIT_EXPECT_EQ(test, requester->window, 100);
	requester->busy_packets = 200;
	KUNIT_EXPECT_TRUE(test, roce_window_give_way(wire->ends[0].qp, 1));
	KUNIT_EXPECT_EQ(test, requester->window, 100);
	KUNIT_EXPECT_TRUE(test, roce_window_give_way(wire->ends[0].qp, 9));
	KUNIT_EXPECT_EQ(test, requester->window, 4);
}

/* Only a packet that is sent can ask. */
static void the_window_stays_open_for_packets_that_did_not_ask(struct kunit *test)
{
	struct wire *wire = new_selective_wire(test);
	struct roce_requester *requester = set_crowded(wire, true);

	requester->psn = roce_psn_add(requester->ack_request_psn, 40);
	KUNIT_EXPECT_TRUE(test, roce_window_give_way(wire->ends[0].qp, 1));
	KUNIT_EXPECT_EQ(test, requester->window, 40);
}

static void the_rate_gives_way_when_the_window_cannot(struct kunit *test)
{
	struct wire *wire = new_selective_wire(test);
	struct wire_end *a = &wire->ends[0];
	struct roce_requester *requester = set_crowded(wire, true);

	requester->window = 4;
	/* It does not grow before the loss is known. */
	requester->window_psn = roce_psn_add(requester->limit_psn, 1 << 20);
	lose_one_of_eight(wire);
	KUNIT_EXPECT_EQ(test, SEEN(a, roce_slow_restart_cnps), 1);
}

static void without_congestion_control_nobody_gives_way(struct kunit *test)
{
	struct wire *wire = new_selective_wire(test);
	struct roce_requester *requester = set_crowded(wire, true);

	wire->ends[0].dev->congestion.priorities = 0;
	lose_one_of_eight(wire);
	KUNIT_EXPECT_EQ(test, requester->window, ROCE_NEAR_WINDOW);
}

static void over_a_crowded_port_a_window_grows_slowly(struct kunit *test)
{
	struct wire *wire = new_selective_wire(test);
	struct roce_requester *requester = set_crowded(wire, true);

	requester->window = 100;
	requester->window_psn = requester->unacked_psn;
	transfer(wire, IB_WR_RDMA_WRITE, MTU);
	KUNIT_EXPECT_EQ(test, requester->window, 101);
	set_crowded(wire, false);
	requester->window_psn = requester->unacked_psn;
	transfer(wire, IB_WR_RDMA_WRITE, MTU);
	KUNIT_EXPECT_EQ(test, requester->window, 105);
}

/* --- Choice of the algorithm --- */

static void a_qp_keeps_the_algorithm_of_its_creation(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);

	wire->ends[0].dev->congestion.selected = algorithm(&wire->ends[0], "none");
	send_cnp(&wire->ends[1]);
	KUNIT_EXPECT_EQ(test, SEEN(&wire->ends[0], rp_cnp_handled), 1);
	KUNIT_EXPECT_TRUE(test, wire->ends[0].qp->flow.limited);
}

static void a_flow_is_free_when_its_priority_is_not_controlled_any_more(struct kunit *test)
{
	struct wire *wire = new_wire(test, false, false);
	struct wire_end *a = &wire->ends[0];

	send_cnp(&wire->ends[1]);
	KUNIT_ASSERT_TRUE(test, a->qp->flow.limited);
	a->dev->congestion.priorities = 0;
	transfer(wire, IB_WR_RDMA_WRITE, MTU);
	KUNIT_EXPECT_FALSE(test, a->qp->flow.limited);
}

/* --- Beginning of a flow --- */

static void note_state(struct roce_cc_flow *flow, u64 now)
{
	const struct roce_qp *qp = container_of(flow, struct roce_qp, flow.cc);

	flow->state[0] = qp->state;
}

/* A CNP may arrive as soon as the state of the QP allows it. */
static void a_flow_begins_before_its_qp_receives_cnps(struct kunit *test)
{
	static const struct roce_cc_ops ops = { .init = note_state };
	static const struct roce_cc_parameters watcher = { .ops = &ops };
	struct wire_setup setup = wire_defaults();
	struct wire *wire;

	setup.algorithm = &watcher;
	wire = wire_new(test, &setup);
	KUNIT_EXPECT_EQ(test, wire->ends[0].qp->flow.cc.state[0], IB_QPS_INIT);
}

static struct kunit_case congestion_cases[] = {
	KUNIT_CASE(data_is_ecn_capable),
	KUNIT_CASE(a_priority_that_is_not_controlled_is_not_ecn_capable),
	KUNIT_CASE(the_service_level_is_the_priority),
	KUNIT_CASE(without_a_service_level_the_priority_is_that_of_a_socket),
	KUNIT_CASE(the_dcb_table_has_precedence_over_the_service_level),
	KUNIT_CASE(a_marked_packet_makes_a_cnp),
	KUNIT_CASE(a_marked_response_makes_a_cnp),
	KUNIT_CASE(all_packets_of_a_marked_train_are_marked),
	KUNIT_CASE(cnps_have_a_minimum_interval),
	KUNIT_CASE(a_cnp_looks_like_that_of_a_connectx),
	KUNIT_CASE(a_damaged_cnp_is_dropped),
	KUNIT_CASE(a_cnp_of_another_length_is_dropped),
	KUNIT_CASE(a_cnp_from_another_address_is_dropped),
	KUNIT_CASE(a_qp_in_the_error_state_ignores_cnps),
	KUNIT_CASE(requests_are_paced),
	KUNIT_CASE(responses_are_paced),
	KUNIT_CASE(both_halves_share_the_rate),
	KUNIT_CASE(trains_are_short_at_a_low_rate),
	KUNIT_CASE(delays_by_a_late_timer_are_made_up_for),
	KUNIT_CASE(an_rnr_delay_is_not_made_up_for),
	KUNIT_CASE(a_wait_for_the_netdev_is_not_made_up_for),
	KUNIT_CASE(a_full_netdev_costs_no_rate),
	KUNIT_CASE(a_lost_request_slows_the_requester_down),
	KUNIT_CASE(a_lost_copy_slows_nobody_down_again),
	KUNIT_CASE(a_lost_response_slows_the_responder_down),
	KUNIT_CASE(reads_that_are_asked_for_again_together_are_one_loss),
	KUNIT_CASE(a_flow_restarts_slowly_after_a_timeout),
	KUNIT_CASE(single_responses_that_are_asked_for_again_slow_nobody_down),
	KUNIT_CASE(marked_packets_that_were_kept_make_no_late_cnps),
	KUNIT_CASE(a_loss_over_a_crowded_port_halves_what_is_in_flight),
	KUNIT_CASE(a_loss_elsewhere_leaves_the_window),
	KUNIT_CASE(what_a_far_peer_needs_stays_in_flight_unless_much_is_lost),
	KUNIT_CASE(the_window_stays_open_for_packets_that_did_not_ask),
	KUNIT_CASE(the_rate_gives_way_when_the_window_cannot),
	KUNIT_CASE(without_congestion_control_nobody_gives_way),
	KUNIT_CASE(over_a_crowded_port_a_window_grows_slowly),
	KUNIT_CASE(a_qp_keeps_the_algorithm_of_its_creation),
	KUNIT_CASE(a_flow_is_free_when_its_priority_is_not_controlled_any_more),
	KUNIT_CASE(a_flow_begins_before_its_qp_receives_cnps),
	{}
};

static struct kunit_suite congestion_suite = {
	.name = "roce_congestion",
	.test_cases = congestion_cases,
};

kunit_test_suite(congestion_suite);
