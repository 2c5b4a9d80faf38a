// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The performance management agent: its answers are those that the IBA specification wants.
 */
#include <rdma/ib_mad.h>

#include "fixture.h"
#include "verbs.h"

/* Attributes, and offsets in them (IBA volume 1, 16.1) */
#define CLASS_PORT_INFO		0x0001
#define PORT_COUNTERS		0x0012
#define PORT_COUNTERS_EXTENDED	0x001d
#define ATTRIBUTE		40	/* in the data of a MAD */
#define PORT_SELECT		1
#define COUNTER_SELECT		2
#define LINK_DOWNED		7
#define RCV_ERRORS		8
#define COUNTER_SELECT2		18
#define XMIT_DATA		24
#define XMIT_PACKETS		32
#define XMIT_WAIT		40
#define EXTENDED_XMIT_DATA	8
#define EXTENDED_RCV_PACKETS	32

struct bench {
	struct roce_device *dev;
	struct ib_mad in;
	struct ib_mad out;
};

static int process(struct kunit *test)
{
	struct bench *bench = test->priv;
	size_t size = sizeof(bench->out);
	u16 pkey_index = 0;

	memset(&bench->out, 0xaa, sizeof(bench->out));
	return roce_process_mad(&bench->dev->ibdev, 0, 1, NULL, NULL, &bench->in,
				&bench->out, &size, &pkey_index);
}

/* Returns the status of the response. */
static u16 ask(struct kunit *test, u8 method, u16 attribute)
{
	struct bench *bench = test->priv;
	struct ib_mad_hdr *header = &bench->in.mad_hdr;

	*header = (struct ib_mad_hdr) {
		.base_version = 1, .class_version = 1, .method = method,
		.mgmt_class = IB_MGMT_CLASS_PERF_MGMT,
		.attr_id = cpu_to_be16(attribute),
		.tid = cpu_to_be64(0x1122334455667788),
	};
	bench->in.data[ATTRIBUTE + PORT_SELECT] = 1;
	KUNIT_EXPECT_EQ(test, process(test),
			IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY);
	KUNIT_EXPECT_EQ(test, bench->out.mad_hdr.method,
			IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(bench->out.mad_hdr.tid),
			0x1122334455667788);
	return be16_to_cpu(bench->out.mad_hdr.status);
}

static const u8 *answered(struct kunit *test)
{
	const struct bench *bench = test->priv;

	return bench->out.data + ATTRIBUTE;
}

static const u8 *get(struct kunit *test, u16 attribute)
{
	KUNIT_EXPECT_EQ(test, 0, ask(test, IB_MGMT_METHOD_GET, attribute));
	return answered(test);
}

static u32 plain(struct kunit *test, u32 offset)
{
	return get_unaligned_be32(get(test, PORT_COUNTERS) + offset);
}

static u64 extended(struct kunit *test, u32 offset)
{
	return get_unaligned_be64(get(test, PORT_COUNTERS_EXTENDED) + offset);
}

static void the_class_has_extended_counters(struct kunit *test)
{
	const u8 *info = get(test, CLASS_PORT_INFO);

	KUNIT_EXPECT_EQ(test, info[0], 1);
	KUNIT_EXPECT_EQ(test, info[1], 1);
	KUNIT_EXPECT_TRUE(test, get_unaligned_be16(info + 2) & BIT(9));
}

static void data_is_counted_in_words_of_four_bytes(struct kunit *test)
{
	struct bench *bench = test->priv;

	fixture_add(bench->dev, tx_bytes, 4096);
	KUNIT_EXPECT_EQ(test, 1024, plain(test, XMIT_DATA));
	KUNIT_EXPECT_EQ(test, 1024, extended(test, EXTENDED_XMIT_DATA));
}

static void the_port_counts_packets_of_bound_qps(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_qp *qp = fixture_bare_qp(test, bench->dev);
	struct rdma_counter counter = { .device = &bench->dev->ibdev };

	KUNIT_ASSERT_EQ(test, 0, roce_counter_bind_qp(&counter, &qp->ibqp));
	fixture_add(qp, rx_packets, 5);
	fixture_add(bench->dev, rx_packets, 2);
	KUNIT_EXPECT_EQ(test, 7, extended(test, EXTENDED_RCV_PACKETS));
	roce_counter_unbind_qp(&qp->ibqp);
	roce_counter_dealloc(&counter);
}

static void a_counter_stays_at_its_largest_value(struct kunit *test)
{
	struct bench *bench = test->priv;

	fixture_add(bench->dev, link_downed, 300);
	fixture_add(bench->dev, tx_packets, BIT_ULL(33));
	KUNIT_EXPECT_EQ(test, 255, get(test, PORT_COUNTERS)[LINK_DOWNED]);
	KUNIT_EXPECT_EQ(test, U32_MAX, plain(test, XMIT_PACKETS));
}

static void damaged_packets_are_errors(struct kunit *test)
{
	struct bench *bench = test->priv;

	fixture_add(bench->dev, rx_icrc_encapsulated, 1);
	fixture_add(bench->dev, rx_dropped_header, 1);
	fixture_add(bench->dev, rx_dropped_length, 1);
	KUNIT_EXPECT_EQ(test, 3, plain(test, RCV_ERRORS) >> 16);
}

static void only_selected_counters_are_set(struct kunit *test)
{
	struct bench *bench = test->priv;
	u8 *request = bench->in.data + ATTRIBUTE;

	fixture_add(bench->dev, tx_packets, 100);
	fixture_add(bench->dev, link_downed, 3);
	put_unaligned_be16(BIT(14), request + COUNTER_SELECT);
	put_unaligned_be32(10, request + XMIT_PACKETS);
	KUNIT_EXPECT_EQ(test, 0, ask(test, IB_MGMT_METHOD_SET, PORT_COUNTERS));
	KUNIT_EXPECT_EQ(test, 10, get_unaligned_be32(answered(test) +
						     XMIT_PACKETS));
	KUNIT_EXPECT_EQ(test, 3, answered(test)[LINK_DOWNED]);
	fixture_add(bench->dev, tx_packets, 1);
	KUNIT_EXPECT_EQ(test, 11, plain(test, XMIT_PACKETS));
	KUNIT_EXPECT_EQ(test, 101, fixture_count(bench->dev, tx_packets));
}

static void counter_select_2_selects_xmit_wait(struct kunit *test)
{
	struct bench *bench = test->priv;

	fixture_add(bench->dev, tx_wait_us, 500);
	KUNIT_EXPECT_EQ(test, 500, plain(test, XMIT_WAIT));
	bench->in.data[ATTRIBUTE + COUNTER_SELECT2] = 1;
	KUNIT_EXPECT_EQ(test, 0, ask(test, IB_MGMT_METHOD_SET, PORT_COUNTERS));
	KUNIT_EXPECT_EQ(test, 0, get_unaligned_be32(answered(test) + XMIT_WAIT));
}

static void unknown_requests_get_an_error_status(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_EQ(test, 0x0c, ask(test, IB_MGMT_METHOD_GET, 0x7777));
	KUNIT_EXPECT_EQ(test, 0x0c, ask(test, IB_MGMT_METHOD_SET,
					CLASS_PORT_INFO));
	KUNIT_EXPECT_EQ(test, 0x08, ask(test, 0x12, PORT_COUNTERS));
	bench->in.mad_hdr.method = IB_MGMT_METHOD_GET;
	bench->in.mad_hdr.class_version = 2;
	process(test);
	KUNIT_EXPECT_EQ(test, 0x04, be16_to_cpu(bench->out.mad_hdr.status));
	bench->in.mad_hdr.class_version = 1;
	bench->in.data[ATTRIBUTE + PORT_SELECT] = 2;
	process(test);
	KUNIT_EXPECT_EQ(test, 0x1c, be16_to_cpu(bench->out.mad_hdr.status));
}

static void other_mads_are_left_to_other_agents(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->in.mad_hdr.method = IB_MGMT_METHOD_SEND;
	bench->in.mad_hdr.mgmt_class = IB_MGMT_CLASS_CM;
	KUNIT_EXPECT_EQ(test, process(test), IB_MAD_RESULT_SUCCESS);
	bench->in.mad_hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	bench->in.mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	KUNIT_EXPECT_EQ(test, process(test), IB_MAD_RESULT_SUCCESS);
}

static void every_byte_of_the_response_is_set(struct kunit *test)
{
	struct bench *bench = test->priv;
	int i;

	get(test, PORT_COUNTERS);
	for (i = 0; i < sizeof(bench->out.data); i++)
		KUNIT_EXPECT_NE_MSG(test, bench->out.data[i], 0xaa, "byte %d", i);
}

static int make_bench(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->dev = fixture_device(test);
	test->priv = bench;
	return 0;
}

static struct kunit_case cases[] = {
	KUNIT_CASE(the_class_has_extended_counters),
	KUNIT_CASE(data_is_counted_in_words_of_four_bytes),
	KUNIT_CASE(the_port_counts_packets_of_bound_qps),
	KUNIT_CASE(a_counter_stays_at_its_largest_value),
	KUNIT_CASE(damaged_packets_are_errors),
	KUNIT_CASE(only_selected_counters_are_set),
	KUNIT_CASE(counter_select_2_selects_xmit_wait),
	KUNIT_CASE(unknown_requests_get_an_error_status),
	KUNIT_CASE(other_mads_are_left_to_other_agents),
	KUNIT_CASE(every_byte_of_the_response_is_set),
	{}
};

static struct kunit_suite suite = {
	.name = "roce_pma",
	.init = make_bench,
	.test_cases = cases,
};

kunit_test_suite(suite);
