// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Random packets with a right ICRC, sent in the name of the peer to a connection that is
 * at work. The connection may fail; a QP of datagrams may not. No memory changes that was
 * not offered, each work request completes once, and other QPs are not affected. The
 * seeds are fixed, so that a failure is reproducible.
 */
#include <linux/prandom.h>

#include "wire_fake.h"

#define PACKETS		300
#define REQUESTS	24
#define LONGEST		4096
#define QKEY		0x1234

static const struct fuzz {
	enum ib_qp_type type;
	u32 seed;
} fuzzes[] = {
	{ IB_QPT_RC, 1 }, { IB_QPT_RC, 2 }, { IB_QPT_RC, 3 }, { IB_QPT_RC, 4 },
	{ IB_QPT_RC, 5 }, { IB_QPT_RC, 6 }, { IB_QPT_RC, 7 }, { IB_QPT_RC, 8 },
	{ IB_QPT_RC, 9 }, { IB_QPT_RC, 10 }, { IB_QPT_RC, 11 },
	{ IB_QPT_UC, 12 }, { IB_QPT_UC, 13 }, { IB_QPT_UC, 14 },
};

static const u32 datagram_seeds[] = { 15, 16, 17 };

static void describe(const struct fuzz *fuzz, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "%s, seed %u",
		 fuzz->type == IB_QPT_RC ? "RC" : "UC", fuzz->seed);
}

KUNIT_ARRAY_PARAM(fuzz, fuzzes, describe);

static void describe_seed(const u32 *seed, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "seed %u", *seed);
}

KUNIT_ARRAY_PARAM(datagram_seed, datagram_seeds, describe_seed);

static u32 below(struct rnd_state *random, u32 limit)
{
	return prandom_u32_state(random) % limit;
}

/* Near the expected PSN: other packets are dropped early. */
static u32 random_psn(struct rnd_state *random, const struct wire_end *to)
{
	const struct wire_end *end = below(random, 2) ? to : to->peer;
	u32 first = end == &to->wire->ends[0] ? 0xfffffe : 0x7ffffe;

	return (below(random, 8) ? first + below(random, 80) - 20 :
				   prandom_u32_state(random)) & ROCE_BTH_LOW_24;
}

/* The key covers all memory, so only writable addresses go with it. */
static void random_range(struct rnd_state *random, const struct wire_end *to,
			 struct roce_packet *packet)
{
	if (below(random, 4)) {
		packet->rkey = to->mr->ibmr.rkey;
		packet->va = (uintptr_t)to->memory + WIRE_MEMORY / 2 +
			     below(random, WIRE_MEMORY / 2 - LONGEST);
		packet->length = below(random, LONGEST);
		return;
	}
	packet->rkey = prandom_u32_state(random);
	packet->va = ((u64)prandom_u32_state(random) << 32) |
		     prandom_u32_state(random);
	packet->length = prandom_u32_state(random);
}

static void random_packet(struct rnd_state *random, const struct wire_end *to,
			  struct roce_packet *packet)
{
	u8 service = to->qp->ibqp.qp_type == IB_QPT_RC ? ROCE_SERVICE_RC :
							 ROCE_SERVICE_UC;

	*packet = (struct roce_packet) {
		.opcode = below(random, 8) ? service | below(random, 32) :
					     below(random, 256),
		.solicited = below(random, 2),
		.ack_request = below(random, 2),
		.pkey = below(random, 8) ? 0xffff : prandom_u32_state(random),
		.psn = random_psn(random, to),
		.payload = below(random, 3) ? 256 : below(random, 300),
		.flush = prandom_u32_state(random),
		.swap_add = prandom_u32_state(random),
		.compare = below(random, 2),
		.syndrome = prandom_u32_state(random),
		.msn = below(random, 40),
		.original = prandom_u32_state(random),
		.immediate = cpu_to_be32(prandom_u32_state(random)),
		.invalidate = below(random, 2) ? to->mr->ibmr.rkey :
						 prandom_u32_state(random),
	};
	random_range(random, to, packet);
}

/* Change bits of the BTH, or cut the end off. */
static void tamper(struct rnd_state *random, struct sk_buff *skb)
{
	u32 ip_length = skb_tail_pointer(skb) - skb_network_header(skb);
	u8 *bth = skb_transport_header(skb) + sizeof(struct udphdr);
	u32 cut = below(random, 8) ? 0 : below(random, 64);

	bth[below(random, sizeof(struct roce_bth))] ^= BIT(below(random, 8));
	if (cut < skb_tail_pointer(skb) - bth - ROCE_ICRC_SIZE) {
		skb_trim(skb, skb->len - cut);
		ip_length -= cut;
	}
	fixture_seal(skb_network_header(skb), ip_length);
}

static void send_nonsense(struct rnd_state *random, struct wire_end *to,
			  const u8 *payload)
{
	struct wire *wire = to->wire;
	struct roce_packet packet;

	random_packet(random, to, &packet);
	KUNIT_ASSERT_EQ(wire->test, 0,
			wire_inject(to->peer, &packet, payload));
	if (!below(random, 4))
		tamper(random, skb_peek_tail(&wire->queue));
}

static void post_work(struct wire_end *end)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_SEND,
		IB_WR_ATOMIC_FETCH_AND_ADD,
	};
	bool reliable = end->qp->ibqp.qp_type == IB_QPT_RC;
	u32 i;

	for (i = 0; i < REQUESTS; i++) {
		struct wire_op op = {
			.opcode = reliable ? opcodes[i % 4] : opcodes[i % 2 * 2],
			.wr_id = i, .length = 100 * i,
			.local = WIRE_MEMORY / 2 + i * LONGEST,
			.remote = WIRE_MEMORY / 2 + i * LONGEST,
		};

		if (op.opcode == IB_WR_ATOMIC_FETCH_AND_ADD)
			op.length = 8;
		wire_receive(end, i, WIRE_MEMORY / 2 + i * LONGEST, LONGEST);
		KUNIT_ASSERT_EQ(end->wire->test, 0, wire_post(end, &op));
	}
}

static void modify(struct kunit *test, struct roce_qp *qp,
		   enum ib_qp_state state, int mask)
{
	struct ib_qp_attr attr = { .qp_state = state, .port_num = 1, .qkey = QKEY };

	KUNIT_ASSERT_EQ(test, 0, roce_modify_qp(&qp->ibqp, &attr,
						IB_QP_STATE | mask, NULL));
}

static void expect_each_once(struct wire *wire, struct roce_cq *cq)
{
	u32 seen[REQUESTS] = {}, i;
	struct ib_wc wc;

	for (i = 0; i < REQUESTS; i++) {
		KUNIT_ASSERT_EQ(wire->test, 1, wire_wait(wire, cq, &wc, 1));
		KUNIT_ASSERT_LT(wire->test, wc.wr_id, REQUESTS);
		seen[wc.wr_id]++;
	}
	KUNIT_EXPECT_EQ(wire->test, 0, roce_poll_cq(&cq->ibcq, 1, &wc));
	for (i = 0; i < REQUESTS; i++)
		KUNIT_EXPECT_EQ_MSG(wire->test, 1, seen[i], "request %u", i);
}

static void expect_to_work(struct wire *wire)
{
	struct wire_op op = {
		.opcode = IB_WR_RDMA_WRITE, .length = LONGEST, .remote = LONGEST,
	};
	struct wire_end *a = &wire->ends[0], *b = &wire->ends[1];

	fixture_fill(a->memory, LONGEST, 1);
	KUNIT_ASSERT_EQ(wire->test, 0, wire_post(a, &op));
	wire_expect(wire, a->send_cq, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_MEMEQ(wire->test, a->memory, b->memory + LONGEST, LONGEST);
}

static void nonsense_harms_only_its_connection(struct kunit *test)
{
	const struct fuzz *fuzz = test->param_value;
	struct wire_setup setup = wire_defaults();
	struct wire *bystander, *wire;
	struct rnd_state random;
	u8 *payload;
	u32 i;

	bystander = wire_new(test, &setup);
	setup.type = fuzz->type;
	wire = wire_new(test, &setup);
	payload = fixture_buffer(test, LONGEST);
	fixture_fill(payload, LONGEST, fuzz->seed);
	prandom_seed_state(&random, fuzz->seed);
	post_work(&wire->ends[0]);
	post_work(&wire->ends[1]);
	wire_start(wire);
	for (i = 0; i < PACKETS; i++)
		send_nonsense(&random, &wire->ends[below(&random, 2)], payload);
	wire_run(wire);

	for (i = 0; i < 2; i++) {
		modify(test, wire->ends[i].qp, IB_QPS_ERR, 0);
		expect_each_once(wire, wire->ends[i].send_cq);
		expect_each_once(wire, wire->ends[i].recv_cq);
		KUNIT_EXPECT_NULL(test, memchr_inv(wire->ends[i].memory, 0,
						   WIRE_MEMORY / 2));
	}
	expect_to_work(bystander);
}

static u8 *receive_at(const struct wire_end *end, u32 i)
{
	return end->memory + WIRE_MEMORY / 2 + i * LONGEST;
}

/* @rooms: the length of each receive */
static struct roce_qp *make_listener(struct wire_end *end, const u32 *rooms)
{
	struct kunit *test = end->wire->test;
	struct fixture_qp_attr attr = {
		.type = IB_QPT_UD,
		.send_cq = end->send_cq,
		.recv_cq = end->recv_cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = REQUESTS,
			 .max_recv_sge = 1 },
	};
	struct roce_qp *qp = fixture_qp(test, end->pd, &attr);
	u32 i;

	modify(test, qp, IB_QPS_INIT, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	modify(test, qp, IB_QPS_RTR, 0);
	for (i = 0; i < REQUESTS; i++) {
		struct ib_sge sge = {
			.addr = (uintptr_t)receive_at(end, i),
			.length = rooms[i],
			.lkey = end->mr->ibmr.lkey,
		};
		struct ib_recv_wr wr = {
			.wr_id = i, .sg_list = &sge, .num_sge = 1,
		};
		const struct ib_recv_wr *bad;

		KUNIT_ASSERT_EQ(test, 0, roce_post_recv(&qp->ibqp, &wr, &bad));
	}
	return qp;
}

static void send_datagram(struct rnd_state *random, struct wire_end *to,
			  const struct roce_qp *listener, const u8 *payload)
{
	struct wire *wire = to->wire;
	struct roce_packet packet = {
		.opcode = below(random, 8) ? ROCE_SERVICE_UD | below(random, 32) :
					     below(random, 256),
		.solicited = below(random, 2),
		.pkey = below(random, 8) ? 0xffff : prandom_u32_state(random),
		.qpn = listener->ibqp.qp_num,
		.source_qpn = prandom_u32_state(random) & ROCE_BTH_LOW_24,
		.qkey = below(random, 8) ? QKEY : prandom_u32_state(random),
		.psn = prandom_u32_state(random) & ROCE_BTH_LOW_24,
		.payload = below(random, LONGEST / 4),
	};

	KUNIT_ASSERT_EQ(wire->test, 0,
			wire_inject(to->peer, &packet, payload));
	if (!below(random, 4))
		tamper(random, skb_peek_tail(&wire->queue));
}

static void nonsense_harms_no_datagrams(struct kunit *test)
{
	const u32 *seed = test->param_value;
	struct wire_setup setup = wire_defaults();
	struct wire *wire = wire_new(test, &setup);
	struct wire_end *end = &wire->ends[1];
	u32 rooms[REQUESTS], i;
	struct roce_qp *listener;
	struct rnd_state random;
	u8 *payload;

	payload = fixture_buffer(test, LONGEST);
	fixture_fill(payload, LONGEST, *seed);
	prandom_seed_state(&random, *seed);
	for (i = 0; i < REQUESTS; i++)
		rooms[i] = below(&random, LONGEST / 2);
	listener = make_listener(end, rooms);
	for (i = 0; i < PACKETS; i++)
		send_datagram(&random, end, listener, payload);
	wire_run(wire);

	KUNIT_EXPECT_EQ(test, IB_QPS_RTR, listener->state);
	KUNIT_EXPECT_GT(test, fixture_count(end->dev, rx_packets), 0);
	modify(test, listener, IB_QPS_ERR, 0);
	expect_each_once(wire, end->recv_cq);
	KUNIT_EXPECT_NULL(test, memchr_inv(end->memory, 0, WIRE_MEMORY / 2));
	for (i = 0; i < REQUESTS; i++)
		KUNIT_EXPECT_NULL_MSG(test,
				      memchr_inv(receive_at(end, i) + rooms[i], 0,
						 LONGEST - rooms[i]),
				      "behind receive %u", i);
	expect_to_work(wire);
}

static struct kunit_case fuzz_cases[] = {
	KUNIT_CASE_PARAM(nonsense_harms_only_its_connection, fuzz_gen_params),
	KUNIT_CASE_PARAM(nonsense_harms_no_datagrams, datagram_seed_gen_params),
	{}
};

static struct kunit_suite fuzz_suite = {
	.name = "roce_fuzz",
	.test_cases = fuzz_cases,
};

kunit_test_suite(fuzz_suite);
