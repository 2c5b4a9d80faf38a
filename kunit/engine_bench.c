// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The cost of a packet and a message in the engines, without an IP stack: two QPs, and a
 * wire that delivers packets as they are. "tools/bench --only engine" runs it.
 */
#include <linux/sort.h>

#include "section.h"
#include "wire_fake.h"

#define ROUNDS		401
#define LIST		32	/* work requests that are posted together */

enum phase {
	POST,		/* work requests into the queue */
	SEND,		/* requests onto the wire */
	RECEIVE,	/* requests to the responder, and its answers onto the wire */
	COMPLETE,	/* answers to the requester */
	COPY,		/* of the same bytes */
	CHECKSUM,	/* likewise */
	PHASES
};

/**
 * struct load - the messages of each round
 * @name: in the report
 * @opcode: of the work requests
 * @mtu: path MTU
 * @length: bytes of a message
 * @messages: number of messages
 * @ipv6: over IPv6, else over IPv4
 */
struct load {
	const char *name;
	enum ib_wr_opcode opcode;
	enum ib_mtu mtu;
	u32 length;
	u32 messages;
	bool ipv6;
};

static const struct load loads[] = {
	{ "WRITE 256 KiB, MTU 4096", IB_WR_RDMA_WRITE, IB_MTU_4096, SZ_256K, 1 },
	{ "WRITE 256 KiB, MTU 1024", IB_WR_RDMA_WRITE, IB_MTU_1024, SZ_256K, 1 },
	{ "WRITE 256 KiB, MTU 1024, IPv6", IB_WR_RDMA_WRITE, IB_MTU_1024, SZ_256K, 1,
	  true },
	{ "SEND 256 KiB, MTU 1024", IB_WR_SEND, IB_MTU_1024, SZ_256K, 1 },
	{ "READ 256 KiB, MTU 1024", IB_WR_RDMA_READ, IB_MTU_1024, SZ_256K, 1 },
	{ "WRITE 64 B", IB_WR_RDMA_WRITE, IB_MTU_1024, 64, LIST },
	{ "SEND 64 B", IB_WR_SEND, IB_MTU_1024, 64, LIST },
};

/**
 * struct engine_bench - a load, and its results
 * @load: the load
 * @wire: wire of the load
 * @wr: work requests of a round
 * @sge: scatter/gather elements of @wr
 * @packets: number of packets sent
 * @trains: number of trains sent
 * @ns: time of each phase in each round, nanoseconds
 */
struct engine_bench {
	const struct load *load;
	struct wire *wire;
	struct ib_rdma_wr wr[LIST];
	struct ib_sge sge[LIST];
	u32 packets;
	u32 trains;
	u64 ns[PHASES][ROUNDS];
};

static struct engine_bench *bench;

static int carry(struct roce_qp *qp, struct roce_av *av, struct roce_train *train)
{
	struct sk_buff *skb;

	bench->packets += train->packets;
	bench->trains++;
	train->sent = train->packets;
	skb = roce_train_finish(train);
	skb_pull(skb, skb_network_header_len(skb));
	__skb_queue_tail(&bench->wire->queue, skb);
	return 0;
}

static void post_round(struct wire_end *end)
{
	const struct ib_send_wr *bad;

	KUNIT_ASSERT_EQ(end->wire->test, 0,
			roce_post_send(&end->qp->ibqp, &bench->wr[0].wr, &bad));
}

static void post_receives(struct wire_end *end)
{
	const struct load *load = bench->load;
	u32 n;

	for (n = 0; load->opcode == IB_WR_SEND && n < load->messages; n++)
		wire_receive(end, n, n * load->length, load->length);
}

static bool is_over(struct wire_end *end)
{
	struct roce_requester *requester = &end->qp->requester;

	return requester->completed == requester->posted;
}

static bool is_sent(struct wire_end *end)
{
	struct roce_requester *requester = &end->qp->requester;

	return requester->current_request == requester->posted;
}

static void send_round(struct wire_end *end)
{
	while (!is_sent(end)) {
		local_bh_disable();
		roce_engine_run(&end->qp->requester.engine);
		local_bh_enable();
	}
}

/* Deliver the packets for one QP that are on the wire now, but not its answers. */
static void deliver(struct wire_end *to)
{
	struct sk_buff_head *queue = &bench->wire->queue;
	struct sk_buff_head arriving;
	struct sk_buff *skb;

	__skb_queue_head_init(&arriving);
	local_bh_disable();
	skb_queue_splice_init(queue, &arriving);
	local_bh_enable();
	while ((skb = __skb_dequeue(&arriving))) {
		local_bh_disable();
		roce_section_enter();
		roce_recv(&init_net, skb);
		roce_section_leave();
		local_bh_enable();
	}
	/* A responder that has yielded has answers left to send. */
	local_bh_disable();
	roce_engine_run(&to->qp->responder.engine);
	local_bh_enable();
}

static void copy_round(struct wire *wire, u32 payload, u32 bytes)
{
	u32 at;

	for (at = 0; at < bytes; at += payload)
		memcpy(wire->ends[1].memory + at, wire->ends[0].memory + at, payload);
}

static u32 checksum_round(struct wire *wire, u32 payload, u32 bytes)
{
	u32 at, crc = 0;

	for (at = 0; at < bytes; at += payload)
		crc ^= roce_icrc_update(~0, wire->ends[1].memory + at, payload);
	return crc;
}

static void drain(struct roce_cq *cq)
{
	struct ib_wc wc;

	while (roce_poll_cq(&cq->ibcq, 1, &wc))
		WARN_ON_ONCE(wc.status != IB_WC_SUCCESS);
}

static void run_round(u32 round)
{
	const struct load *load = bench->load;
	u32 mtu = ib_mtu_enum_to_int(load->mtu);
	u32 payload = min(load->length, mtu);
	struct wire *wire = bench->wire;
	u64 at[PHASES + 1];
	int phase;

	post_receives(&wire->ends[1]);
	at[POST] = ktime_get_ns();
	local_bh_disable();
	post_round(&wire->ends[0]);
	at[SEND] = ktime_get_ns();
	local_bh_enable();
	send_round(&wire->ends[0]);
	at[RECEIVE] = ktime_get_ns();
	deliver(&wire->ends[1]);
	at[COMPLETE] = ktime_get_ns();
	while (!is_over(&wire->ends[0]))
		deliver(&wire->ends[1]);
	at[COPY] = ktime_get_ns();
	copy_round(wire, payload, load->messages * load->length);
	at[CHECKSUM] = ktime_get_ns();
	WRITE_ONCE(wire->logged, checksum_round(wire, payload,
						load->messages * load->length));
	at[PHASES] = ktime_get_ns();

	for (phase = 0; phase < PHASES; phase++)
		bench->ns[phase][round] = at[phase + 1] - at[phase];
	drain(wire->ends[0].send_cq);
	drain(wire->ends[1].recv_cq);
}

static void make_list(const struct load *load)
{
	struct wire_end *end = &bench->wire->ends[0];
	u32 n;

	for (n = 0; n < load->messages; n++) {
		bench->sge[n] = (struct ib_sge) {
			.addr = (uintptr_t)end->memory + n * load->length,
			.length = load->length,
			.lkey = end->mr->ibmr.lkey,
		};
		bench->wr[n] = (struct ib_rdma_wr) {
			.wr = {
				.next = n + 1 < load->messages ?
					&bench->wr[n + 1].wr : NULL,
				.sg_list = &bench->sge[n],
				.num_sge = 1,
				.opcode = load->opcode,
				.send_flags = IB_SEND_SIGNALED,
			},
			.remote_addr = (uintptr_t)end->peer->memory + n * load->length,
			.rkey = end->peer->mr->ibmr.rkey,
		};
	}
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u32 median(enum phase phase, u32 units)
{
	sort(bench->ns[phase], ROUNDS, sizeof(u64), compare, NULL);
	return div_u64(bench->ns[phase][ROUNDS / 2], units);
}

static void report(struct kunit *test, const struct load *load)
{
	u32 packets = DIV_ROUND_UP(load->length, ib_mtu_enum_to_int(load->mtu)) *
		      load->messages;

	kunit_info(test, "%-30s post %u, send %u, receive %u, complete %u; copy %u, CRC %u ns a packet; %u packets in %u trains\n",
		   load->name, median(POST, packets), median(SEND, packets),
		   median(RECEIVE, packets), median(COMPLETE, packets),
		   median(COPY, packets), median(CHECKSUM, packets),
		   bench->packets / ROUNDS, bench->trains / ROUNDS);
}

static void measure(struct kunit *test)
{
	const struct load *load = test->param_value;
	struct wire_setup setup = wire_defaults();
	u32 round;

	setup.mtu = load->mtu;
	setup.ipv6 = load->ipv6;
	setup.whole_trains = true;
	bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->load = load;
	bench->wire = wire_new(test, &setup);
	fixture_set_send(bench->wire->ends[0].dev, carry);
	fixture_set_send(bench->wire->ends[1].dev, carry);
	make_list(load);
	for (round = 0; round < ROUNDS; round++)
		run_round(round);
	report(test, load);
}

static void load_name(const struct load *load, char *text)
{
	strscpy(text, load->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(load, loads, load_name);

static struct kunit_case bench_cases[] = {
	KUNIT_CASE_PARAM(measure, load_gen_params),
	{}
};

static struct kunit_suite bench_suite = {
	.name = "roce-engine-bench",
	.test_cases = bench_cases,
};

kunit_test_suite(bench_suite);
