// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The tree of kept runs gives the same results as a look at each of their packets. */
#include "codec.h"
#include "section.h"
#include "wire_fake.h"

#define FIRST	0xffff00u	/* PSNs wrap soon. */
#define PSNS	16384
#define AHEAD	700		/* most packets between the expected one and a new run */
#define RUNS	2048
#define GAPS	1024
#define PACKETS	8		/* most packets of a run */
#define MTU	64
#define ROUNDS	3000

/**
 * struct kept - a run that was kept
 * @begin: its first packet; packets are counted from FIRST on
 * @end: one past its last packet
 * @since: its arrival, or a little earlier
 * @until: its arrival, or a little later
 */
struct kept {
	u32 begin;
	u32 end;
	ktime_t since;
	ktime_t until;
};

/**
 * struct model - kept runs, without a tree
 * @test: the test
 * @qp: QP whose responder keeps the runs; it is claimed
 * @reorder: of that responder
 * @random: source of random numbers
 * @expected: the first missing packet
 * @came: packets that were kept or executed
 * @kept: the runs, in no order
 * @runs: number of runs
 */
struct model {
	struct kunit *test;
	struct roce_qp *qp;
	struct roce_reorder *reorder;
	struct rnd_state random;
	u32 expected;
	DECLARE_BITMAP(came, PSNS);
	struct kept kept[RUNS];
	u32 runs;
};

static u32 nth(u32 n)
{
	return roce_psn_add(FIRST, n);
}

static u32 below(struct model *model, u32 limit)
{
	return prandom_u32_state(&model->random) % limit;
}

static void forget_all(struct model *model)
{
	bool more;

	do {
		local_bh_disable();
		more = roce_reorder_drop(model->reorder, model->qp);
		local_bh_enable();
	} while (more);
	bitmap_clear(model->came, model->expected, PSNS - model->expected);
	model->runs = 0;
	KUNIT_EXPECT_EQ(model->test, 0, model->reorder->bytes);
}

static void end_model(void *context)
{
	struct model *model = context;

	forget_all(model);
	roce_engine_release(&model->qp->responder.engine);
}

static struct model *new_model(struct kunit *test, u32 seed)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	struct wire_setup setup = wire_defaults();

	KUNIT_ASSERT_NOT_NULL(test, model);
	setup.reordering_us = ROCE_REORDERING_MAX_US;
	model->test = test;
	model->qp = wire_new(test, &setup)->ends[1].qp;
	prandom_seed_state(&model->random, seed);
	roce_engine_claim(&model->qp->responder.engine);
	KUNIT_ASSERT_TRUE(test, roce_reorder_prepare(&model->qp->responder.reorder,
						     &model->qp->responder.engine,
						     model->qp));
	model->reorder = model->qp->responder.reorder;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, end_model, model));
	return model;
}

/* --- Adding runs --- */

static struct roce_packet packet_of(u32 n)
{
	return (struct roce_packet) {
		.opcode = ROCE_SERVICE_RC | ROCE_WRITE_MIDDLE,
		.info = roce_opcode_info(ROCE_SERVICE_RC | ROCE_WRITE_MIDDLE),
		.payload = MTU,
		.psn = nth(n),
	};
}

/* Make a run of @packets from @begin on, with a hole of @hole packets before number @odd. */
static struct sk_buff *new_run(struct model *model, u32 begin, u32 packets, u32 odd,
			       u32 hole)
{
	struct roce_packet packet = packet_of(begin);
	u32 size = roce_packet_size(&packet), n;
	struct sk_buff *skb = alloc_skb(packets * size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(model->test, skb);
	for (n = 0; n < packets; n++) {
		packet.psn = nth(begin + n + (n >= odd ? hole : 0));
		*(struct roce_bth *)skb_put_zero(skb, size) = roce_codec_build_bth(&packet);
	}
	/* As if the first packet had been taken */
	*roce_run(skb) = (struct roce_run) {
		.offset = size, .end = skb->len, .segment = size,
	};
	return skb;
}

static bool keep(struct model *model, struct sk_buff *skb, u32 begin)
{
	struct roce_packet packet = packet_of(begin);
	bool kept;

	local_bh_disable();
	roce_section_enter();
	kept = roce_reorder_keep(model->reorder, model->qp, skb, &packet,
				 nth(model->expected));
	roce_section_leave();
	local_bh_enable();
	if (!kept)
		kfree_skb(skb);
	return kept;
}

/* Note what is kept between @since and now. */
static void note_run(struct model *model, u32 begin, u32 end, ktime_t since)
{
	bool copy = find_next_zero_bit(model->came, PSNS, begin) >= end;

	if (!copy)
		model->kept[model->runs++] = (struct kept) { begin, end, since, ktime_get() };
	bitmap_set(model->came, begin, end - begin);
}

/* The packets before and after the hole are kept apart. */
static void come(struct model *model, u32 begin, u32 packets, u32 odd, u32 hole)
{
	struct sk_buff *skb = new_run(model, begin, packets, odd, hole);
	u32 before = hole ? min(odd, packets) : packets;
	ktime_t since;

	udelay(1);
	since = ktime_get();
	KUNIT_EXPECT_TRUE(model->test, keep(model, skb, begin));
	note_run(model, begin, begin + before, since);
	if (before < packets)
		note_run(model, begin + before + hole, begin + packets + hole, since);
}

static void come_by_chance(struct model *model)
{
	u32 begin = model->expected + 1 + below(model, AHEAD);

	/* Mostly without a gap, as usual */
	if (below(model, 2))
		begin = find_next_zero_bit(model->came, PSNS, begin);
	if (model->runs + 2 > RUNS || begin > model->expected + 2 * AHEAD)
		return;
	come(model, begin, 1 + below(model, PACKETS), 1 + below(model, PACKETS),
	     below(model, 4) ? 0 : 1 + below(model, 3));
}

/* --- Taking runs --- */

static struct kept *first_kept(struct model *model)
{
	struct kept *first = model->kept;
	u32 n;

	for (n = 1; n < model->runs; n++)
		if (model->kept[n].begin < first->begin)
			first = &model->kept[n];
	return first;
}

static bool take(struct model *model)
{
	struct sk_buff *skb = roce_reorder_take(model->reorder, model->qp,
						nth(model->expected));
	struct kept *first = first_kept(model);

	if (!skb)
		return false;
	KUNIT_ASSERT_GT(model->test, model->runs, 0);
	KUNIT_EXPECT_EQ(model->test, nth(first->begin), roce_run(skb)->early_psn);
	KUNIT_EXPECT_EQ(model->test, 0, roce_run(skb)->prefix.size);
	kfree_skb(skb);
	model->expected = max(model->expected, first->end);
	*first = model->kept[--model->runs];
	return true;
}

/* The expected packet comes, perhaps with more of the gap and of the runs after it. */
static void execute(struct model *model)
{
	u32 packets = 1 + below(model, PACKETS);
	u32 runs = below(model, 2) ? RUNS : below(model, PACKETS);

	while (packets-- && !test_bit(model->expected, model->came))
		set_bit(model->expected++, model->came);
	while (runs && take(model))
		runs--;
	if (runs)
		KUNIT_EXPECT_FALSE(model->test, test_bit(model->expected, model->came));
}

/* --- Results --- */

static void expect_ranges(struct model *model)
{
	struct roce_sack_range *ranges = model->reorder->ranges;
	u32 count, n, begin, end = model->expected;

	count = roce_reorder_ranges(model->reorder, nth(model->expected), ranges,
				    ROCE_SACK_RANGES);
	for (n = 0; n < ROCE_SACK_RANGES; n++) {
		begin = find_next_bit(model->came, PSNS, end);
		if (begin == PSNS)
			break;
		end = find_next_zero_bit(model->came, PSNS, begin);
		if (n >= count)
			break;
		KUNIT_EXPECT_EQ(model->test, be16_to_cpu(ranges[n].begin),
				begin - model->expected);
		KUNIT_EXPECT_EQ(model->test, be16_to_cpu(ranges[n].end),
				end - model->expected);
	}
	KUNIT_EXPECT_EQ(model->test, count, n);
}

static void expect_gap(struct model *model)
{
	u32 from = model->expected + below(model, AHEAD + 2 * PACKETS), begin, end;
	u32 psn = nth(from), end_psn;
	bool found = roce_reorder_find_gap(model->reorder, &psn, &end_psn);

	begin = find_next_zero_bit(model->came, PSNS, from);
	end = find_next_bit(model->came, PSNS, begin);
	KUNIT_EXPECT_EQ(model->test, psn, nth(begin));
	KUNIT_EXPECT_EQ(model->test, found, end < PSNS);
	if (found)
		KUNIT_EXPECT_EQ(model->test, end_psn, nth(end));
}

/* The first packet of the third run from the end; 0 if there are fewer */
static u32 third_last(const struct model *model)
{
	u32 last[3] = {}, n, i;

	for (n = 0; n < model->runs; n++) {
		u32 begin = model->kept[n].begin;

		for (i = 0; i < ARRAY_SIZE(last); i++)
			if (begin > last[i])
				swap(begin, last[i]);
	}
	return last[2];
}

/* @surely: do not count runs that came at about @time. */
static u32 lost_end(const struct model *model, ktime_t time, bool surely)
{
	u32 end = model->expected, n;

	if (!model->reorder->reorders)
		end = max(end, third_last(model));
	for (n = 0; n < model->runs; n++) {
		const struct kept *kept = &model->kept[n];

		if (!ktime_after(surely ? kept->until : kept->since, time))
			end = max(end, kept->begin);
	}
	return end;
}

/* Use the arrival of one of the runs as the time; the clock goes on meanwhile. */
static void expect_lost_end(struct model *model)
{
	struct roce_reorder *reorder = model->reorder;
	ktime_t before, after;
	s64 wait;
	u32 end;

	reorder->reorders = below(model, 4);
	before = ktime_get();
	wait = ktime_sub(before, model->kept[below(model, model->runs)].until);
	wait = min_t(s64, wait, NSEC_PER_SEC);
	reorder->wait = wait;
	local_bh_disable();
	end = roce_psn_add(roce_reorder_lost_end(reorder, model->qp, nth(model->expected)),
			   -FIRST);
	local_bh_enable();
	after = ktime_get();
	KUNIT_EXPECT_GE(model->test, end,
			lost_end(model, ktime_sub_ns(before, wait), true));
	KUNIT_EXPECT_LE(model->test, end,
			lost_end(model, ktime_sub_ns(after, wait), false));
}

static void expect_what_is_kept(struct model *model)
{
	bool early = model->runs && first_kept(model)->begin > model->expected;

	KUNIT_ASSERT_EQ(model->test, model->reorder->runs, model->runs);
	KUNIT_EXPECT_EQ(model->test, early,
			roce_reorder_has_gap(model->reorder, nth(model->expected)));
	expect_gap(model);
	if (early) {
		expect_ranges(model);
		expect_lost_end(model);
	}
}

static void kept_packets_agree_with_a_bitmap(struct kunit *test)
{
	struct model *model = new_model(test, 1);
	u32 round;

	for (round = 0; round < ROUNDS; round++) {
		/* Alternate between few and many kept runs. */
		if (below(model, 64) > round / 8 % 64 / 2)
			come_by_chance(model);
		else if (model->expected < PSNS - 3 * AHEAD)
			execute(model);
		if (!below(model, 500))
			forget_all(model);
		expect_what_is_kept(model);
	}
}

/* Nor does the time depend on it, since nothing walks over all gaps. */
static void results_do_not_depend_on_the_number_of_gaps(struct kunit *test)
{
	struct model *model = new_model(test, 1);
	u32 n, begin, end, gaps = 0;

	for (n = 0; n < GAPS; n++)
		come(model, 2 * (n * 479 % GAPS) + 1, 1, 0, 0);
	expect_what_is_kept(model);
	for (begin = nth(0); roce_reorder_find_gap(model->reorder, &begin, &end); begin = end)
		KUNIT_EXPECT_EQ(test, begin, nth(2 * gaps++));
	KUNIT_EXPECT_EQ(test, gaps, GAPS);
	/* All of them are filled, the last ones first. */
	for (n = GAPS; n > PACKETS; n -= PACKETS / 2)
		come(model, 2 * (n - PACKETS / 2), PACKETS, 0, 0);
	expect_what_is_kept(model);
}

static void a_copy_of_a_part_of_a_kept_run_is_dropped(struct kunit *test)
{
	struct model *model = new_model(test, 1);

	come(model, 10, 4, 0, 0);
	come(model, 14, 4, 0, 0);
	come(model, 12, 1, 0, 0);
	come(model, 13, 3, 0, 0);
	KUNIT_EXPECT_EQ(test, model->reorder->runs, 2);
		/* These contain new packets. */
	come(model, 17, 2, 0, 0);
	come(model, 15, 2, 1, 6);
	KUNIT_EXPECT_EQ(test, model->reorder->runs, 4);
	expect_what_is_kept(model);
}

static void packets_too_far_ahead_are_not_kept(struct kunit *test)
{
	struct model *model = new_model(test, 1);

	KUNIT_EXPECT_TRUE(test, keep(model, new_run(model, U16_MAX, 1, 0, 0), U16_MAX));
	KUNIT_EXPECT_FALSE(test, keep(model, new_run(model, U16_MAX + 1, 1, 0, 0),
				      U16_MAX + 1));
	KUNIT_EXPECT_EQ(test, model->reorder->runs, 1);
}

static struct kunit_case reorder_model_cases[] = {
	KUNIT_CASE(kept_packets_agree_with_a_bitmap),
	KUNIT_CASE(results_do_not_depend_on_the_number_of_gaps),
	KUNIT_CASE(a_copy_of_a_part_of_a_kept_run_is_dropped),
	KUNIT_CASE(packets_too_far_ahead_are_not_kept),
	{}
};

static struct kunit_suite reorder_model_suite = {
	.name = "roce_reorder_model",
	.test_cases = reorder_model_cases,
};

kunit_test_suite(reorder_model_suite);
