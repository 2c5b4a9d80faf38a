// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast: the QPs that get a copy of a packet, and those that do not. The fixture's
 * netdev, lo, can join groups of IPv4 and IPv6.
 */
#include <linux/etherdevice.h>
#include <linux/inet.h>
#include <net/ipv6.h>

#include "fixture.h"
#include "section.h"

#define QKEY	0x1234
#define PAYLOAD	64
#define ROOM	(ROCE_GRH_SIZE + PAYLOAD)

/* Addresses of one family */
static const struct family {
	const char *name;
	const char *source;
	const char *group;
	const char *other_group;
	const char *unicast;
} families[] = {
	{ "IPv4", "::ffff:10.0.0.1", "::ffff:239.1.1.1", "::ffff:239.1.1.2",
	  "::ffff:10.0.0.2" },
	{ "IPv6", "fd00::1", "ff15::1", "ff15::2", "fd00::2" },
};

/**
 * struct club - a device and UD QPs that may become members of groups
 * @test: the test
 * @family: of its addresses
 * @dev: its device
 * @pd: its protection domain
 * @mr: all of the kernel's memory
 * @buffer: memory of all receives
 * @cq: of the receives
 */
struct club {
	struct kunit *test;
	const struct family *family;
	struct roce_device *dev;
	struct roce_pd *pd;
	struct roce_mr *mr;
	u8 *buffer;
	struct roce_cq *cq;
};

static struct club *make_club(struct kunit *test)
{
	struct club *club = kunit_kzalloc(test, sizeof(*club), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, club);
	club->test = test;
	club->family = test->param_value;
	club->dev = fixture_device(test);
	club->pd = fixture_pd(test, club->dev);
	club->mr = fixture_dma_mr(test, club->pd, IB_ACCESS_LOCAL_WRITE);
	club->buffer = fixture_buffer(test, PAGE_SIZE);
	club->cq = fixture_cq(test, club->dev, 16);
	return club;
}

static void modify(struct club *club, struct roce_qp *qp,
		   enum ib_qp_state state, int mask)
{
	struct ib_qp_attr attr = {
		.qp_state = state, .port_num = 1, .qkey = QKEY,
	};

	KUNIT_ASSERT_EQ(club->test, 0, roce_modify_qp(&qp->ibqp, &attr,
						      IB_QP_STATE | mask, NULL));
}

/* Make a QP that is ready to receive two datagrams. */
static struct roce_qp *make_member(struct club *club)
{
	struct fixture_qp_attr attr = {
		.type = IB_QPT_UD,
		.send_cq = club->cq,
		.recv_cq = club->cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 2, .max_recv_sge = 1 },
	};
	struct roce_qp *qp = fixture_qp(club->test, club->pd, &attr);
	struct ib_sge sge = {
		.addr = (uintptr_t)club->buffer,
		.length = ROOM,
		.lkey = club->mr->ibmr.lkey,
	};
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;
	int i;

	modify(club, qp, IB_QPS_INIT, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	modify(club, qp, IB_QPS_RTR, 0);
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(club->test, 0,
				roce_post_recv(&qp->ibqp, &wr, &bad));
	return qp;
}

static struct in6_addr address(struct club *club, const char *text)
{
	struct in6_addr address;

	KUNIT_ASSERT_TRUE(club->test,
			  in6_pton(text, -1, address.s6_addr, -1, NULL));
	return address;
}

static union ib_gid gid_of(struct club *club, const char *text)
{
	struct in6_addr group = address(club, text);
	union ib_gid gid;

	memcpy(gid.raw, &group, sizeof(gid.raw));
	return gid;
}

static int attach(struct club *club, struct roce_qp *qp, const char *group)
{
	union ib_gid gid = gid_of(club, group);

	return roce_attach_mcast(&qp->ibqp, &gid, 0);
}

static int detach(struct club *club, struct roce_qp *qp, const char *group)
{
	union ib_gid gid = gid_of(club, group);

	return roce_detach_mcast(&qp->ibqp, &gid, 0);
}

static int build(const struct roce_av *av, const u8 *payload,
		 struct roce_train *train)
{
	struct roce_packet packet = {
		.opcode = ROCE_SERVICE_UD | ROCE_SEND_ONLY,
		.info = roce_opcode_info(ROCE_SERVICE_UD | ROCE_SEND_ONLY),
		.qpn = ROCE_QPN_MULTICAST,
		.payload = PAYLOAD,
		.qkey = QKEY,
	};

	return roce_train_of_one(train, av, 0xc000, &packet, payload);
}

/* Make a train of @count copies of a datagram, which is consumed. */
static struct sk_buff *repeat(struct club *club, struct sk_buff *one, u32 count)
{
	u32 size = one->len - sizeof(struct udphdr);
	struct sk_buff *train;

	train = skb_copy_expand(one, skb_headroom(one), count * size, GFP_ATOMIC);
	KUNIT_ASSERT_NOT_NULL(club->test, train);
	while (--count)
		skb_put_data(train, one->data + sizeof(struct udphdr), size);
	skb_shinfo(train)->gso_size = size;
	skb_shinfo(train)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_TCP_FIXEDID;
	udp_hdr(train)->len = htons(train->len);
	if (roce_is_ipv6(train))
		ipv6_hdr(train)->payload_len = htons(train->len);
	else
		ip_hdr(train)->tot_len = htons(train->len + sizeof(struct iphdr));
	kfree_skb(one);
	return train;
}

/*
 * Let @count datagrams arrive at @destination, through @netdev. @damage is XORed with a
 * byte of the second last one.
 */
static void arrive_damaged(struct club *club, const char *destination,
			   struct net_device *netdev, u32 count, u8 damage)
{
	struct roce_av av = {
		.source = address(club, club->family->source),
		.destination = address(club, destination),
	};
	u8 payload[PAYLOAD] = { 0x5a };
	struct sk_buff *train_skb, *skb;
	struct roce_train train;
	u32 size = 0;

	av.ipv6 = !ipv6_addr_v4mapped(&av.destination);
	local_bh_disable();
	KUNIT_ASSERT_EQ(club->test, build(&av, payload, &train), 0);
	train_skb = roce_train_finish(&train);
	skb = fixture_nth_packet(train_skb, 0);
	kfree_skb(train_skb);
	KUNIT_ASSERT_NOT_NULL(club->test, skb);
	if (count > 1) {
		size = skb->len - sizeof(struct udphdr);
		skb = repeat(club, skb, count);
	}
	skb->dev = netdev;
	(skb_tail_pointer(skb) - size)[-1 - ROCE_ICRC_SIZE] ^= damage;
	roce_section_enter();
	roce_recv(&init_net, skb);
	roce_section_leave();
	local_bh_enable();
}

static void arrive(struct club *club, const char *destination,
		   struct net_device *netdev)
{
	arrive_damaged(club, destination, netdev, 1, 0);
}

/* Count the received datagrams, and those for @qp. */
static int received(struct club *club, const struct roce_qp *qp, int *for_qp)
{
	struct ib_wc wc;
	int count = 0;

	*for_qp = 0;
	for (; roce_poll_cq(&club->cq->ibcq, 1, &wc); count++) {
		KUNIT_EXPECT_EQ(club->test, wc.status, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(club->test, wc.byte_len, ROOM);
		*for_qp += wc.qp == &qp->ibqp;
	}
	return count;
}

static void each_member_gets_a_copy(struct kunit *test)
{
	struct club *club = make_club(test);
	const struct family *family = club->family;
	struct roce_qp *one = make_member(club), *two = make_member(club);
	int count;

	make_member(club);
	KUNIT_ASSERT_EQ(test, attach(club, one, family->group), 0);
	KUNIT_ASSERT_EQ(test, attach(club, two, family->group), 0);
	arrive(club, family->group, club->dev->netdev);
	KUNIT_EXPECT_EQ(test, received(club, one, &count), 2);
	KUNIT_EXPECT_EQ(test, count, 1);
	KUNIT_EXPECT_EQ(test, club->buffer[ROCE_GRH_SIZE], 0x5a);
	KUNIT_EXPECT_EQ(test, detach(club, one, family->group), 0);
	KUNIT_EXPECT_EQ(test, detach(club, two, family->group), 0);
}

/* For all members together, the ICRC is computed once. */
static void a_damaged_packet_is_counted_once(struct kunit *test)
{
	struct club *club = make_club(test);
	const struct family *family = club->family;
	struct roce_qp *members[3];
	int i, count;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		members[i] = make_member(club);
		KUNIT_ASSERT_EQ(test, attach(club, members[i], family->group), 0);
	}
	arrive_damaged(club, family->group, club->dev->netdev, 1, 1);
	KUNIT_EXPECT_EQ(test, received(club, members[0], &count), 0);
	KUNIT_EXPECT_EQ(test, fixture_count(club->dev, rx_icrc_encapsulated), 1);
	KUNIT_EXPECT_EQ(test, fixture_count(club->dev, rx_packets), 0);

	arrive(club, family->group, club->dev->netdev);
	KUNIT_EXPECT_EQ(test, received(club, members[0], &count), 3);
	KUNIT_EXPECT_EQ(test, fixture_count(club->dev, rx_packets), 3);
	KUNIT_EXPECT_EQ(test, fixture_count(club->dev, rx_multicast_packets), 3);
	for (i = 0; i < ARRAY_SIZE(members); i++)
		KUNIT_EXPECT_EQ(test, detach(club, members[i], family->group), 0);
}

static void datagrams_of_a_train_are_copied_together(struct kunit *test)
{
	struct club *club = make_club(test);
	const struct family *family = club->family;
	struct roce_qp *one = make_member(club), *two = make_member(club);
	int count;

	KUNIT_ASSERT_EQ(test, attach(club, one, family->group), 0);
	KUNIT_ASSERT_EQ(test, attach(club, two, family->group), 0);
	arrive_damaged(club, family->group, club->dev->netdev, 2, 0);
	KUNIT_EXPECT_EQ(test, received(club, one, &count), 4);
	KUNIT_EXPECT_EQ(test, count, 2);
	KUNIT_EXPECT_EQ(test, fixture_count(club->dev, rx_trains), 2);
	KUNIT_EXPECT_EQ(test, detach(club, one, family->group), 0);
	KUNIT_EXPECT_EQ(test, detach(club, two, family->group), 0);
}

static void a_damaged_datagram_of_a_train_is_left_out(struct kunit *test)
{
	struct club *club = make_club(test);
	const struct family *family = club->family;
	struct roce_qp *qp = make_member(club);
	int count;

	KUNIT_ASSERT_EQ(test, attach(club, qp, family->group), 0);
	arrive_damaged(club, family->group, club->dev->netdev, 3, 1);
	KUNIT_EXPECT_EQ(test, received(club, qp, &count), 2);
	KUNIT_EXPECT_EQ(test, fixture_count(club->dev, rx_icrc_encapsulated), 1);
	KUNIT_EXPECT_EQ(test, fixture_count(club->dev, rx_trains), 2);
	KUNIT_EXPECT_EQ(test, detach(club, qp, family->group), 0);
}

static void a_qp_with_another_qkey_gets_nothing(struct kunit *test)
{
	struct club *club = make_club(test);
	const struct family *family = club->family;
	struct roce_qp *qp = make_member(club), *other = make_member(club);
	int count;

	other->attr.qkey = QKEY + 1;
	KUNIT_ASSERT_EQ(test, attach(club, qp, family->group), 0);
	KUNIT_ASSERT_EQ(test, attach(club, other, family->group), 0);
	arrive(club, family->group, club->dev->netdev);
	KUNIT_EXPECT_EQ(test, received(club, qp, &count), 1);
	KUNIT_EXPECT_EQ(test, count, 1);
	KUNIT_EXPECT_EQ(test, fixture_count(club->dev, rx_dropped_qkey), 1);
	KUNIT_EXPECT_EQ(test, detach(club, qp, family->group), 0);
	KUNIT_EXPECT_EQ(test, detach(club, other, family->group), 0);
}

static void a_qp_can_be_in_several_groups(struct kunit *test)
{
	struct club *club = make_club(test);
	const struct family *family = club->family;
	struct roce_qp *qp = make_member(club);
	int count;

	KUNIT_ASSERT_EQ(test, attach(club, qp, family->group), 0);
	KUNIT_ASSERT_EQ(test, attach(club, qp, family->other_group), 0);
	arrive(club, family->group, club->dev->netdev);
	arrive(club, family->other_group, club->dev->netdev);
	KUNIT_EXPECT_EQ(test, received(club, qp, &count), 2);
	KUNIT_EXPECT_EQ(test, detach(club, qp, family->group), 0);
	KUNIT_EXPECT_EQ(test, detach(club, qp, family->other_group), 0);
}

static void packets_to_others_are_not_received(struct kunit *test)
{
	struct club *club = make_club(test);
	const struct family *family = club->family;
	struct roce_qp *qp = make_member(club);
	struct net_device *other;
	int count;

	other = alloc_etherdev(0);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_ASSERT_EQ(test, attach(club, qp, family->group), 0);
	arrive(club, family->other_group, club->dev->netdev);
	arrive(club, family->unicast, club->dev->netdev);
	arrive(club, family->group, other);
	KUNIT_EXPECT_EQ(test, received(club, qp, &count), 0);
	KUNIT_EXPECT_EQ(test, detach(club, qp, family->group), 0);
	free_netdev(other);
}

/* A netdev gives each macvlan above it a copy of a packet to a group, and takes it itself. */
static void the_copy_for_a_macvlan_is_not_received_below(struct kunit *test)
{
	static const struct net_device_ops nothing;
	struct club *club = make_club(test);
	const struct family *family = club->family;
	struct roce_qp *qp = make_member(club);
	struct net_device *upper;
	int count, err;

	upper = alloc_etherdev(0);
	KUNIT_ASSERT_NOT_NULL(test, upper);
	upper->netdev_ops = &nothing;
	upper->priv_flags |= IFF_MACVLAN;
	KUNIT_ASSERT_EQ(test, register_netdev(upper), 0);
	rtnl_lock();
	err = netdev_upper_dev_link(club->dev->netdev, upper, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, attach(club, qp, family->group), 0);
	arrive(club, family->group, upper);
	KUNIT_EXPECT_EQ(test, received(club, qp, &count), 0);
	arrive(club, family->group, club->dev->netdev);
	KUNIT_EXPECT_EQ(test, received(club, qp, &count), 1);
	KUNIT_EXPECT_EQ(test, detach(club, qp, family->group), 0);
	rtnl_lock();
	netdev_upper_dev_unlink(club->dev->netdev, upper);
	rtnl_unlock();
	unregister_netdev(upper);
	free_netdev(upper);
}

static void a_qp_that_was_detached_gets_nothing(struct kunit *test)
{
	struct club *club = make_club(test);
	const struct family *family = club->family;
	struct roce_qp *qp = make_member(club), *rest = make_member(club);
	int count;

	KUNIT_ASSERT_EQ(test, attach(club, qp, family->group), 0);
	KUNIT_ASSERT_EQ(test, attach(club, rest, family->group), 0);
	KUNIT_ASSERT_EQ(test, detach(club, qp, family->group), 0);
	arrive(club, family->group, club->dev->netdev);
	KUNIT_EXPECT_EQ(test, received(club, rest, &count), 1);
	KUNIT_EXPECT_EQ(test, count, 1);
	KUNIT_EXPECT_EQ(test, detach(club, rest, family->group), 0);
	arrive(club, family->group, club->dev->netdev);
	KUNIT_EXPECT_EQ(test, received(club, rest, &count), 0);
}

static void attaching_and_detaching_have_rules(struct kunit *test)
{
	struct club *club = make_club(test);
	const char *group = club->family->group;
	struct roce_qp *qp = make_member(club), *other = make_member(club);

	KUNIT_EXPECT_EQ(test, detach(club, qp, group), -EINVAL);
	KUNIT_ASSERT_EQ(test, attach(club, qp, group), 0);
	KUNIT_EXPECT_EQ(test, attach(club, qp, group), -EEXIST);
	KUNIT_EXPECT_EQ(test, detach(club, other, group), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&club->dev->objects.attachment), 1);
	atomic_set(&club->dev->objects.attachment, ROCE_MAX_ATTACHMENTS);
	KUNIT_EXPECT_EQ(test, attach(club, other, group), -ENOMEM);
	KUNIT_EXPECT_EQ(test, detach(club, qp, group), 0);
	KUNIT_EXPECT_EQ(test, attach(club, other, group), 0);
	KUNIT_EXPECT_EQ(test, detach(club, other, group), 0);
}

KUNIT_ARRAY_PARAM_DESC(family, families, name);

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE_PARAM(each_member_gets_a_copy, family_gen_params),
	KUNIT_CASE_PARAM(a_damaged_packet_is_counted_once, family_gen_params),
	KUNIT_CASE_PARAM(datagrams_of_a_train_are_copied_together, family_gen_params),
	KUNIT_CASE_PARAM(a_damaged_datagram_of_a_train_is_left_out, family_gen_params),
	KUNIT_CASE_PARAM(a_qp_with_another_qkey_gets_nothing, family_gen_params),
	KUNIT_CASE_PARAM(a_qp_can_be_in_several_groups, family_gen_params),
	KUNIT_CASE_PARAM(packets_to_others_are_not_received, family_gen_params),
	KUNIT_CASE_PARAM(the_copy_for_a_macvlan_is_not_received_below, family_gen_params),
	KUNIT_CASE_PARAM(a_qp_that_was_detached_gets_nothing, family_gen_params),
	KUNIT_CASE_PARAM(attaching_and_detaching_have_rules, family_gen_params),
	{}
};

static struct kunit_suite mcast_suite = {
	.name = "roce_mcast",
	.test_cases = mcast_cases,
};

kunit_test_suite(mcast_suite);
