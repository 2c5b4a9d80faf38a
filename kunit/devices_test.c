// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The list of devices, and the device that counts packets without a QP. */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "devices.h"
#include "fixture.h"
#include "section.h"

#define NOBODY	0xfffffd	/* QPNs count up from 16. */

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops netdev_ops = {
	.ndo_start_xmit = transmit,
};

static void remove_netdev(void *context)
{
	struct net_device *netdev = context;

	unregister_netdev(netdev);
	free_netdev(netdev);
}

static struct net_device *new_netdev(struct kunit *test)
{
	struct net_device *netdev = alloc_netdev(0, "kunit%d", NET_NAME_UNKNOWN,
						 ether_setup);

	KUNIT_ASSERT_NOT_NULL(test, netdev);
	netdev->netdev_ops = &netdev_ops;
	eth_hw_addr_random(netdev);
	KUNIT_ASSERT_EQ(test, register_netdev(netdev), 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, remove_netdev,
							   netdev));
	return netdev;
}

static struct roce_device *new_device(struct kunit *test,
				      struct net_device *netdev)
{
	struct roce_device *dev = fixture_device(test);

	dev->netdev = netdev;
	strscpy(dev->netdev_name, netdev->name, sizeof(dev->netdev_name));
	return dev;
}

static void remove_device(void *context)
{
	struct roce_device *dev = context;

	/* As the core unregisters a device */
	roce_devices_bury(dev);
	roce_devices_remove(dev);
}

static void insert(struct kunit *test, struct roce_device *dev)
{
	KUNIT_ASSERT_EQ(test, roce_devices_insert(dev), 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, remove_device,
							   dev));
}

static struct roce_device *find(const struct net_device *netdev)
{
	struct roce_device *dev;

	rcu_read_lock();
	dev = roce_devices_find_by_netdev(netdev);
	rcu_read_unlock();
	return dev;
}

static void a_device_is_found_while_it_is_live(struct kunit *test)
{
	struct net_device *netdev = new_netdev(test), *other = new_netdev(test);
	struct roce_device *dev = new_device(test, netdev);

	KUNIT_ASSERT_EQ(test, roce_devices_insert(dev), 0);
	KUNIT_EXPECT_NULL(test, find(netdev));
	KUNIT_EXPECT_EQ(test, roce_devices_publish(dev), 0);
	KUNIT_EXPECT_PTR_EQ(test, find(netdev), dev);
	KUNIT_EXPECT_NULL(test, find(other));
	remove_device(dev);
	KUNIT_EXPECT_NULL(test, find(netdev));
}

static void a_netdev_has_one_device(struct kunit *test)
{
	struct net_device *netdev = new_netdev(test);
	struct roce_device *dev = new_device(test, netdev);
	struct roce_device *second = new_device(test, netdev);

	insert(test, dev);
	KUNIT_EXPECT_EQ(test, roce_devices_insert(second), -EEXIST);
	KUNIT_EXPECT_EQ(test, roce_devices_publish(dev), 0);
	KUNIT_EXPECT_PTR_EQ(test, find(netdev), dev);
}

/* @length: of the whole UDP datagram, or 0 for that of the packet */
static void arrive_padded(struct kunit *test, struct net_device *netdev, u32 length)
{
	struct roce_packet packet = {
		.opcode = ROCE_SEND_ONLY, .info = roce_opcode_info(ROCE_SEND_ONLY),
		.qpn = NOBODY,
	};
	struct roce_av av = {};
	struct sk_buff *skb;
	u8 nothing = 0;

	ipv6_addr_set_v4mapped(htonl(0x0a000001), &av.source);
	ipv6_addr_set_v4mapped(htonl(0x0a000002), &av.destination);
	skb = fixture_packet(test, &av, 0xc000, &packet, &nothing);
	skb_pull(skb, sizeof(struct iphdr));
	skb->dev = netdev;
	if (length)
		KUNIT_ASSERT_EQ(test, skb_put_padto(skb, length), 0);
	local_bh_disable();
	roce_section_enter();
	roce_recv(&init_net, skb);
	roce_section_leave();
	local_bh_enable();
}

static void arrive(struct kunit *test, struct net_device *netdev)
{
	arrive_padded(test, netdev, 0);
}

/* The fixture's devices have no GID table, so netdev lookup must be enough. */
static void a_packet_without_a_qp_counts_for_the_netdev_it_came_through(struct kunit *test)
{
	struct net_device *netdev = new_netdev(test), *other = new_netdev(test);
	struct roce_device *dev = new_device(test, netdev);
	u32 i;

	insert(test, dev);
	KUNIT_ASSERT_EQ(test, roce_devices_publish(dev), 0);
	for (i = 0; i < 3; i++)
		arrive(test, netdev);
	arrive(test, other);
	KUNIT_EXPECT_EQ(test, fixture_count(dev, rx_dropped_no_qp), 3);
}

/* IPv6 gives us jumbograms, too: a tap device passes on what is longer than 64 KiB. */
static void a_jumbogram_is_no_packet(struct kunit *test)
{
	struct net_device *netdev = new_netdev(test);
	struct roce_device *dev = new_device(test, netdev);
	u32 length;

	insert(test, dev);
	KUNIT_ASSERT_EQ(test, roce_devices_publish(dev), 0);
	for (length = SZ_64K; length < SZ_64K + 20; length++)
		arrive_padded(test, netdev, length);
	KUNIT_EXPECT_GE(test, fixture_count(dev, rx_dropped_length), 20);
}

static struct kunit_case devices_cases[] = {
	KUNIT_CASE(a_device_is_found_while_it_is_live),
	KUNIT_CASE(a_netdev_has_one_device),
	KUNIT_CASE(a_packet_without_a_qp_counts_for_the_netdev_it_came_through),
	KUNIT_CASE(a_jumbogram_is_no_packet),
	{}
};

static struct kunit_suite devices_suite = {
	.name = "roce_devices",
	.test_cases = devices_cases,
};

kunit_test_suite(devices_suite);
