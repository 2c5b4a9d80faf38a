// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device does not fill the queues of its host: beyond a limit its QPs wait in a queue
 * until some of their packets have left.
 */
#include <linux/delay.h>

#include "wire_fake.h"

#define SIZE		1000
#define ENGINES		3

/**
 * struct line - engines that want to send
 * @dev: their device
 * @qp: counts for all of them
 * @engines: the engines
 * @faults: of the engines
 * @order: engines in the order of the first turns
 * @turns: number of turns so far
 * @wanted: number of turns that they want
 * @cost: sk_buffs of a train
 * @length: bytes of each of them
 * @sent: sk_buffs in the queues of the host
 */
struct line {
	struct roce_device *dev;
	struct roce_qp *qp;
	struct roce_engine engines[ENGINES];
	struct roce_fault faults[ENGINES];
	struct roce_engine *order[ENGINES];
	u32 turns;
	u32 wanted;
	u32 cost;
	u32 length;
	struct sk_buff_head sent;
};

static struct line *the_line;

static void send_long(struct roce_device *dev, u32 count, u32 length,
		      struct sk_buff_head *sent)
{
	while (count--) {
		struct sk_buff *skb = alloc_skb(length, GFP_ATOMIC);

		if (WARN_ON(!skb))
			return;
		skb_put(skb, length);
		local_bh_disable();
		roce_egress_charge(dev, skb, true);
		skb_queue_tail(sent, skb);
		local_bh_enable();
	}
}

static void send(struct roce_device *dev, u32 count, struct sk_buff_head *sent)
{
	send_long(dev, count, 100, sent);
}

static void leave(struct sk_buff_head *sent, u32 count)
{
	while (count--)
		kfree_skb(skb_dequeue(sent));
}

static bool advance(struct roce_engine *engine)
{
	struct line *line = the_line;

	if (line->turns == line->wanted ||
	    !roce_egress_take_turn(line->qp, engine))
		return false;
	send_long(line->dev, line->cost, line->length, &line->sent);
	if (line->turns < ENGINES)
		line->order[line->turns] = engine;
	line->turns++;
	return line->wanted > ENGINES;
}

static void receive(struct roce_engine *engine, struct sk_buff *skb)
{
	kfree_skb(skb);
}

static const struct roce_engine_ops ops = {
	.receive = receive,
	.advance = advance,
};

static void close_line(void *context)
{
	struct line *line = context;
	u32 i;

	for (i = 0; i < ENGINES; i++)
		roce_engine_destroy(&line->engines[i]);
	skb_queue_purge(&line->sent);
}

static struct line *new_line(struct kunit *test)
{
	struct line *line = kunit_kzalloc(test, sizeof(*line), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, line);
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	line->dev = fixture_device(test);
	line->qp = fixture_bare_qp(test, line->dev);
	skb_queue_head_init(&line->sent);
	line->wanted = ENGINES;
	line->cost = 1;
	line->length = 100;
	for (i = 0; i < ENGINES; i++)
		roce_engine_init(&line->engines[i], &ops, &line->faults[i]);
	the_line = line;
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, close_line, line));
	return line;
}

static void ask(struct roce_engine *engine)
{
	local_bh_disable();
	roce_engine_run(engine);
	local_bh_enable();
}

static void ask_all(struct line *line)
{
	u32 i;

	for (i = 0; i < ENGINES; i++)
		ask(&line->engines[i]);
}

static bool turns_become(struct line *line, u32 turns)
{
	unsigned long end = jiffies + PATIENCE;

	while (READ_ONCE(line->turns) != turns && time_before(jiffies, end))
		usleep_range(1000, 1500);
	return READ_ONCE(line->turns) == turns;
}

static void held_back(struct kunit *test, struct line *line, u64 count)
{
	KUNIT_EXPECT_EQ(test, count,
			fixture_counter(line->dev, ROCE_COUNTER_tx_held_back));
}

static void no_engine_waits_below_the_limit(struct kunit *test)
{
	struct line *line = new_line(test);

	send(line->dev, ROCE_EGRESS_LIMIT - ENGINES, &line->sent);
	ask_all(line);
	KUNIT_EXPECT_EQ(test, line->turns, ENGINES);
	held_back(test, line, 0);
}

static void the_engine_that_has_waited_longest_is_first(struct kunit *test)
{
	struct line *line = new_line(test);
	u32 i;

	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	ask_all(line);
	KUNIT_EXPECT_EQ(test, line->turns, 0);
	for (i = 0; i < ENGINES; i++) {
		leave(&line->sent, 1);
		KUNIT_EXPECT_TRUE(test, turns_become(line, i + 1));
		KUNIT_EXPECT_PTR_EQ(test, line->order[i], &line->engines[i]);
	}
	held_back(test, line, ENGINES);
}

static void an_engine_that_asks_again_is_counted_once(struct kunit *test)
{
	struct line *line = new_line(test);

	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	ask_all(line);
	ask_all(line);
	held_back(test, line, ENGINES);
	leave(&line->sent, ENGINES);
	KUNIT_EXPECT_TRUE(test, turns_become(line, ENGINES));
}

static void a_later_engine_does_not_overtake(struct kunit *test)
{
	struct line *line = new_line(test);

	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	ask(&line->engines[0]);
	local_bh_disable();
	leave(&line->sent, 1);
	roce_engine_run(&line->engines[1]);
	KUNIT_EXPECT_EQ(test, line->turns, 0);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, turns_become(line, 1));
	KUNIT_EXPECT_PTR_EQ(test, line->order[0], &line->engines[0]);
}

static void a_destroyed_engine_leaves_the_queue(struct kunit *test)
{
	struct line *line = new_line(test);

	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	ask_all(line);
	roce_engine_destroy(&line->engines[0]);
	leave(&line->sent, 1);
	KUNIT_EXPECT_TRUE(test, turns_become(line, 1));
	KUNIT_EXPECT_PTR_EQ(test, line->order[0], &line->engines[1]);
}

static void a_cut_train_counts_as_all_its_packets(struct kunit *test)
{
	struct line *line = new_line(test);
	u32 i;

	line->cost = 60;
	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	ask_all(line);
	for (i = 0; i < ENGINES; i++) {
		leave(&line->sent, line->cost);
		KUNIT_EXPECT_TRUE(test, turns_become(line, i + 1));
		KUNIT_EXPECT_EQ(test, ROCE_EGRESS_LIMIT,
				skb_queue_len(&line->sent));
	}
	held_back(test, line, ENGINES);
}

/* IPsec makes an sk_buff longer, and IP cuts it: their charges go with their sk_buffs. */
static void charges_are_given_back_once(struct kunit *test)
{
	struct line *line = new_line(test);
	struct sk_buff *longer, *fragment = alloc_skb(100, GFP_KERNEL);
	struct sock *sk;
	u32 i, charged;

	KUNIT_ASSERT_NOT_NULL(test, fragment);
	send(line->dev, 1, &line->sent);
	longer = skb_peek(&line->sent);
	sk = longer->sk;
	sock_hold(sk);
	longer->truesize += 1000;
	refcount_add(1000, &sk->sk_wmem_alloc);
	skb_set_owner_w(fragment, sk);
	charged = sk_wmem_alloc_get(sk) - longer->truesize;
	for (i = 0; i < 2 * ROCE_EGRESS_LIMIT; i++) {
		leave(&line->sent, 1);
		send(line->dev, 1, &line->sent);
	}
	leave(&line->sent, 1);
	KUNIT_EXPECT_EQ(test, sk_wmem_alloc_get(sk), charged);
	roce_egress_close(line->dev);
	KUNIT_EXPECT_EQ(test, sk_wmem_alloc_get(sk), charged);
	kfree_skb(fragment);
	KUNIT_EXPECT_EQ(test, sk_wmem_alloc_get(sk), 0);
	sock_put(sk);
	KUNIT_ASSERT_EQ(test, roce_egress_open(line->dev), 0);
}

/* The stack has cut it, and some of its packets are gone. */
static void what_has_left_in_parts_is_still_counted(struct kunit *test)
{
	struct line *line = new_line(test);
	struct sk_buff *skb;

	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	skb = skb_peek(&line->sent);
	skb->truesize -= 100;
	WARN_ON(refcount_sub_and_test(100, &skb->sk->sk_wmem_alloc));
	ask(&line->engines[0]);
	KUNIT_EXPECT_EQ(test, line->turns, 0);
	leave(&line->sent, 1);
	KUNIT_EXPECT_TRUE(test, turns_become(line, 1));
}

/* Each long sk_buff is a quarter of the limit. */
static void bytes_are_limited_as_well(struct kunit *test)
{
	struct line *line = new_line(test);

	send_long(line->dev, 3, ROCE_EGRESS_BYTES / 4, &line->sent);
	ask(&line->engines[0]);
	KUNIT_EXPECT_EQ(test, line->turns, 1);
	send_long(line->dev, 1, ROCE_EGRESS_BYTES / 4, &line->sent);
	ask(&line->engines[1]);
	KUNIT_EXPECT_EQ(test, line->turns, 1);
	held_back(test, line, 1);
	leave(&line->sent, 1);
	KUNIT_EXPECT_TRUE(test, turns_become(line, 2));
}

/* One train at a time fits into what has left. */
static void turns_are_given_for_the_bytes_that_have_left(struct kunit *test)
{
	struct line *line = new_line(test);
	u32 i;

	line->length = 64000;
	send_long(line->dev, 1 + ROCE_EGRESS_BYTES / line->length, line->length,
		  &line->sent);
	ask_all(line);
	KUNIT_EXPECT_EQ(test, line->turns, 0);
	for (i = 0; i < ENGINES; i++) {
		leave(&line->sent, 1);
		KUNIT_EXPECT_TRUE(test, turns_become(line, i + 1));
		KUNIT_EXPECT_EQ(test, 1 + ROCE_EGRESS_BYTES / line->length,
				skb_queue_len(&line->sent));
	}
	held_back(test, line, ENGINES);
}

static void an_engine_on_another_cpu_keeps_its_place(struct kunit *test)
{
	struct line *line = new_line(test);
	int here = raw_smp_processor_id();
	int there = cpumask_any_but(cpu_online_mask, here);

	if (there >= nr_cpu_ids)
		kunit_skip(test, "there is one CPU only");
	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	ask_all(line);
	set_cpus_allowed_ptr(current, cpumask_of(there));
	ask(&line->engines[0]);
	KUNIT_EXPECT_EQ(test, line->turns, 0);
	set_cpus_allowed_ptr(current, cpumask_of(here));
	leave(&line->sent, 1);
	KUNIT_EXPECT_TRUE(test, turns_become(line, 1));
	KUNIT_EXPECT_PTR_EQ(test, line->order[0], &line->engines[0]);
}

static void packets_that_stay_in_the_host_are_not_counted_forever(struct kunit *test)
{
	struct line *line = new_line(test);

	line->wanted = ROCE_EGRESS_LIMIT;
	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	ask_all(line);
	KUNIT_EXPECT_EQ(test, line->turns, 0);
	KUNIT_EXPECT_TRUE(test, turns_become(line, line->wanted));
	/* Each of them has waited once. */
	held_back(test, line, ENGINES);
}

/* Acknowledgments leave past them all the time. */
static void packets_without_a_turn_are_no_progress_of_the_others(struct kunit *test)
{
	struct line *line = new_line(test);
	unsigned long end = jiffies + PATIENCE;

	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	ask_all(line);
	while (READ_ONCE(line->turns) != ENGINES && time_before(jiffies, end)) {
		struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, skb);
		local_bh_disable();
		roce_egress_charge(line->dev, skb, false);
		kfree_skb(skb);
		local_bh_enable();
		usleep_range(1000, 1500);
	}
	KUNIT_EXPECT_EQ(test, line->turns, ENGINES);
}

/* Twice as long as would be too long for a host that runs */
static void time_while_the_host_stood_still_does_not_count(struct kunit *test)
{
	struct line *line = new_line(test);
	u32 i, turns;

	send(line->dev, ROCE_EGRESS_LIMIT, &line->sent);
	local_bh_disable();
	for (i = 0; i < ENGINES; i++)
		roce_engine_run(&line->engines[i]);
	mdelay(100);
	/* The late tick comes at once, and few other ticks before the packet leaves. */
	preempt_disable();
	local_bh_enable();
	turns = READ_ONCE(line->turns);
	leave(&line->sent, 1);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, turns, 0);
	KUNIT_EXPECT_TRUE(test, turns_become(line, 1));
	KUNIT_EXPECT_PTR_EQ(test, line->order[0], &line->engines[0]);
}

static void packets_may_outlive_the_device(struct kunit *test)
{
	struct roce_device *dev = fixture_device(test);
	struct sk_buff_head sent;

	skb_queue_head_init(&sent);
	send(dev, 3, &sent);
	roce_egress_close(dev);
	leave(&sent, 3);
	KUNIT_ASSERT_EQ(test, roce_egress_open(dev), 0);
}

static void post(struct wire *wire, enum ib_wr_opcode opcode)
{
	struct wire_op op = {
		.opcode = opcode, .wr_id = 1, .length = SIZE, .remote = WIRE_TARGET,
	};

	if (opcode == IB_WR_RDMA_READ)
		swap(op.local, op.remote);
	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[0], &op), 0);
}

/* Send nothing more of @end until its host's queues are empty. */
static void wait_and_finish(struct wire *wire, struct wire_end *end)
{
	struct sk_buff_head sent;
	u32 before = end->sent;

	skb_queue_head_init(&sent);
	send(end->dev, ROCE_EGRESS_LIMIT, &sent);
	post(wire, end == wire->ends ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ);
	wire_run(wire);
	KUNIT_EXPECT_EQ(wire->test, end->sent, before);
	KUNIT_EXPECT_EQ(wire->test, 1,
			fixture_counter(end->dev, ROCE_COUNTER_tx_held_back));
	leave(&sent, ROCE_EGRESS_LIMIT);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(wire->test, 0,
			memcmp(wire->ends[0].memory +
				       (end == wire->ends ? 0 : WIRE_TARGET),
			       wire->ends[1].memory +
				       (end == wire->ends ? WIRE_TARGET : 0), SIZE));
}

static struct wire *new_wire(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();

	return wire_new(test, &setup);
}

static void requests_wait_for_a_turn(struct kunit *test)
{
	struct wire *wire = new_wire(test);

	fixture_fill(wire->ends[0].memory, SIZE, 1);
	wait_and_finish(wire, &wire->ends[0]);
}

static void responses_wait_for_a_turn(struct kunit *test)
{
	struct wire *wire = new_wire(test);

	fixture_fill(wire->ends[1].memory, SIZE, 1);
	wait_and_finish(wire, &wire->ends[1]);
}

/* With rare turns, waiting for a window's worth of packets would take too long. */
static void a_train_that_has_waited_asks_for_an_acknowledgment(struct kunit *test)
{
	struct wire_setup setup = wire_defaults();
	struct wire_op op = {
		.opcode = IB_WR_SEND, .length = 30 * 4096,
	};
	struct sk_buff_head sent;
	struct wire *wire;
	u32 i, asking = 0;

	setup.mtu = IB_MTU_4096;
	wire = wire_new(test, &setup);
	skb_queue_head_init(&sent);
	send(wire->ends[0].dev, ROCE_EGRESS_LIMIT, &sent);
	wire_receive(&wire->ends[1], 1, 0, op.length);
	KUNIT_ASSERT_EQ(test, wire_post(&wire->ends[0], &op), 0);
	wire_run(wire);
	KUNIT_EXPECT_EQ(test, wire->ends[0].sent, 0);
	leave(&sent, ROCE_EGRESS_LIMIT);
	wire_expect(wire, wire->ends[0].send_cq, 0, IB_WC_SUCCESS);
	for (i = 0; i < wire->logged; i++)
		asking += wire->log[i].ack_request;
	KUNIT_EXPECT_EQ(test, wire->ends[0].trains, 2);
	KUNIT_EXPECT_EQ(test, asking, 2);
}

static void acknowledgments_do_not_wait_for_a_turn(struct kunit *test)
{
	struct wire *wire = new_wire(test);
	struct sk_buff_head sent;

	skb_queue_head_init(&sent);
	send(wire->ends[1].dev, ROCE_EGRESS_LIMIT, &sent);
	post(wire, IB_WR_RDMA_WRITE);
	wire_expect(wire, wire->ends[0].send_cq, 1, IB_WC_SUCCESS);
	leave(&sent, ROCE_EGRESS_LIMIT);
}

static struct kunit_case egress_cases[] = {
	KUNIT_CASE(no_engine_waits_below_the_limit),
	KUNIT_CASE(the_engine_that_has_waited_longest_is_first),
	KUNIT_CASE(an_engine_that_asks_again_is_counted_once),
	KUNIT_CASE(a_later_engine_does_not_overtake),
	KUNIT_CASE(a_destroyed_engine_leaves_the_queue),
	KUNIT_CASE(a_cut_train_counts_as_all_its_packets),
	KUNIT_CASE(charges_are_given_back_once),
	KUNIT_CASE(what_has_left_in_parts_is_still_counted),
	KUNIT_CASE(bytes_are_limited_as_well),
	KUNIT_CASE(turns_are_given_for_the_bytes_that_have_left),
	KUNIT_CASE(an_engine_on_another_cpu_keeps_its_place),
	KUNIT_CASE(packets_that_stay_in_the_host_are_not_counted_forever),
	KUNIT_CASE(packets_without_a_turn_are_no_progress_of_the_others),
	KUNIT_CASE(time_while_the_host_stood_still_does_not_count),
	KUNIT_CASE(packets_may_outlive_the_device),
	KUNIT_CASE(requests_wait_for_a_turn),
	KUNIT_CASE(responses_wait_for_a_turn),
	KUNIT_CASE(a_train_that_has_waited_asks_for_an_acknowledgment),
	KUNIT_CASE(acknowledgments_do_not_wait_for_a_turn),
	{}
};

static struct kunit_suite egress_suite = {
	.name = "roce_egress",
	.test_cases = egress_cases,
};

kunit_test_suite(egress_suite);
