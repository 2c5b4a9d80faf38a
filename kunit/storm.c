// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests of all kinds from end 0, with a check that each byte arrives once.
 *
 * Each round has a slot in the lower half of its source's memory, and one in the upper
 * half of its target's. READs have the other direction. Atomics add to a counter.
 */
#include "storm.h"

#define ROUNDS		40
#define SLOT		2048
#define COUNTER_AT	(WIRE_MEMORY - 64)

static const enum ib_wr_opcode kinds[] = {
	IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM,
	IB_WR_RDMA_READ, IB_WR_ATOMIC_FETCH_AND_ADD,
};

static enum ib_wr_opcode kind(u32 round) { return kinds[round % ARRAY_SIZE(kinds)]; }

static struct wire_op begin_round(u32 round, struct rnd_state *random)
{
	struct wire_op op = {
		.opcode = kind(round), .wr_id = round,
		.length = 1 + prandom_u32_state(random) % (SLOT - 1),
		.local = round * SLOT, .remote = WIRE_TARGET + round * SLOT,
		.flags = round % 7 == 6 ? IB_SEND_FENCE : 0,
	};

	if (op.opcode == IB_WR_RDMA_READ)
		swap(op.local, op.remote);
	if (op.opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		op.length = sizeof(u64);
		op.remote = COUNTER_AT;
		op.compare_add = 1;
	}
	return op;
}

static void post_round(struct wire *wire, u32 round, struct rnd_state *random)
{
	struct wire_op op = begin_round(round, random);

	if (wire_has_receive(op.opcode))
		wire_receive(&wire->ends[1], round, op.remote, SLOT);
	KUNIT_ASSERT_EQ(wire->test, wire_post(&wire->ends[0], &op), 0);
}

static void expect_round(struct wire *wire, u32 round, struct rnd_state *random)
{
	struct wire_op op = begin_round(round, random);
	const u8 *local = wire->ends[0].memory + op.local;
	u64 before;

	wire_expect(wire, wire->ends[0].send_cq, round, IB_WC_SUCCESS);
	if (op.opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		memcpy(&before, local, sizeof(before));
		KUNIT_EXPECT_EQ(wire->test, before, round / ARRAY_SIZE(kinds));
	} else {
		KUNIT_EXPECT_EQ(wire->test, 0, memcmp(local, wire->ends[1].memory + op.remote,
						      op.length));
	}
}

/** storm_begin() - fill the memory of both ends, and start the faults */
void storm_begin(struct wire *wire, const struct storm *storm)
{
	u32 i;

	wire->merge = storm->merge;
	for (i = 0; i < ARRAY_SIZE(wire->ends); i++) {
		struct wire_end *end = &wire->ends[i];

		fixture_fill(end->memory, WIRE_TARGET, 1 + i);
		if (i && storm->one_way)
			continue;
		end->weather.drop = storm->drop;
		end->weather.duplicate = storm->duplicate;
		end->weather.corrupt = storm->corrupt;
		end->weather.delay = storm->delay;
		end->weather.distance = storm->distance;
		prandom_seed_state(&end->weather.random, 1 + i);
	}
	memset(wire->ends[1].memory + COUNTER_AT, 0, sizeof(u64));
}

/** storm_work() - post requests; every byte must arrive in order and once */
void storm_work(struct wire *wire)
{
	struct wire_end *b = &wire->ends[1];
	struct rnd_state random;
	struct ib_wc wc;
	u32 round;

	prandom_seed_state(&random, 7);
	for (round = 0; round < ROUNDS; round++)
		post_round(wire, round, &random);
	prandom_seed_state(&random, 7);
	for (round = 0; round < ROUNDS; round++)
		expect_round(wire, round, &random);
	for (round = 0; round < ROUNDS; round++)
		if (wire_has_receive(kind(round)))
			wire_expect(wire, b->recv_cq, round, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(wire->test, roce_poll_cq(&b->recv_cq->ibcq, 1, &wc), 0);
	KUNIT_EXPECT_EQ(wire->test, *(u64 *)(b->memory + COUNTER_AT),
			ROUNDS / ARRAY_SIZE(kinds));
}
