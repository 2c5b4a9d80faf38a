// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two NICs with a wire between them, nic0 and nic1. As a NIC does, and no virtual
 * netdev, each has a parent device, offers segmentation, checksums and
 * scatter-gather, each of which can be switched off, and counts the IPv4
 * identification up in what it segments.
 *
 *	ethtool --set-priv-flags nic0 paused on|off
 *
 * stops it and lets it go on, as PFC does. What was sent meanwhile leaves at once.
 */
#include <linux/ethtool.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <net/gro_cells.h>
#include <net/ip.h>
#include <net/udp.h>

#define NIC_FEATURES	(NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_TSO | \
			 NETIF_F_TSO6 | NETIF_F_GSO_UDP_L4)
#define NIC_MAX_MTU	9216
#define NIC_PAUSED	BIT(0)

/**
 * struct nic - what is behind a netdev
 * @peer: the netdev at the other end of the wire
 * @cells: where received packets wait for NAPI
 */
struct nic {
	struct net_device *peer;
	struct gro_cells cells;
};

static struct platform_device *parent;
static struct net_device *nics[2];

/* What is on the wire has its checksum. */
static void put_on_wire(struct net_device *peer, struct sk_buff *skb)
{
	struct nic *receiver = netdev_priv(peer);

	skb_orphan(skb);
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb))
		kfree_skb(skb);
	else if (!__dev_forward_skb(peer, skb))
		gro_cells_receive(&receiver->cells, skb);
}

/* Whatever the sk_buff asks for: this hardware cannot do otherwise. */
static void set_identification(struct sk_buff *skb, u16 id)
{
	struct iphdr *ip = ip_hdr(skb);

	if (ip->version != 4)
		return;
	ip->id = htons(id);
	ip_send_check(ip);
}

static void segment(struct net_device *netdev, struct sk_buff *skb)
{
	struct nic *nic = netdev_priv(netdev);
	struct sk_buff *segments, *one, *next;
	u16 id = ntohs(ip_hdr(skb)->id);

	segments = skb_gso_segment(skb, netdev->features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segments)) {
		kfree_skb(skb);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segments, one, next) {
		skb_mark_not_on_list(one);
		set_identification(one, id++);
		put_on_wire(nic->peer, one);
	}
}

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct nic *nic = netdev_priv(netdev);

	if (skb_is_gso(skb))
		segment(netdev, skb);
	else
		put_on_wire(nic->peer, skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops nic_ops = {
	.ndo_start_xmit = transmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static int string_count(struct net_device *netdev, int set)
{
	return set == ETH_SS_PRIV_FLAGS ? 1 : -EOPNOTSUPP;
}

static void strings(struct net_device *netdev, u32 set, u8 *data)
{
	strscpy(data, "paused", ETH_GSTRING_LEN);
}

static u32 get_flags(struct net_device *netdev)
{
	return netif_queue_stopped(netdev) ? NIC_PAUSED : 0;
}

static int set_flags(struct net_device *netdev, u32 flags)
{
	if (flags & NIC_PAUSED)
		netif_tx_disable(netdev);
	else
		netif_wake_queue(netdev);
	return 0;
}

static const struct ethtool_ops nic_ethtool_ops = {
	.get_sset_count = string_count,
	.get_strings = strings,
	.get_priv_flags = get_flags,
	.set_priv_flags = set_flags,
	.get_link = ethtool_op_get_link,
};

static void destroy(struct net_device *netdev)
{
	struct nic *nic = netdev_priv(netdev);

	gro_cells_destroy(&nic->cells);
	free_netdev(netdev);
}

static struct net_device *create(int number)
{
	struct net_device *netdev = alloc_etherdev(sizeof(struct nic));
	struct nic *nic;

	if (!netdev)
		return NULL;
	nic = netdev_priv(netdev);
	snprintf(netdev->name, IFNAMSIZ, "nic%d", number);
	SET_NETDEV_DEV(netdev, &parent->dev);
	netdev->netdev_ops = &nic_ops;
	netdev->ethtool_ops = &nic_ethtool_ops;
	netdev->max_mtu = NIC_MAX_MTU;
	netdev->hw_features = NIC_FEATURES;
	netdev->vlan_features = NIC_FEATURES;
	netdev->features = NIC_FEATURES;
	eth_hw_addr_random(netdev);
	if (gro_cells_init(&nic->cells, netdev)) {
		free_netdev(netdev);
		return NULL;
	}
	return netdev;
}

/* Nobody sends when both are gone, and then nobody receives. */
static void remove_all(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(nics); i++)
		if (nics[i] && nics[i]->reg_state == NETREG_REGISTERED)
			unregister_netdev(nics[i]);
	for (i = 0; i < ARRAY_SIZE(nics); i++)
		if (nics[i])
			destroy(nics[i]);
	platform_device_unregister(parent);
}

static int connect_and_register(int number)
{
	struct nic *nic = netdev_priv(nics[number]);

	nic->peer = nics[!number];
	return register_netdev(nics[number]);
}

static int __init nic_init(void)
{
	int err;

	parent = platform_device_register_simple(KBUILD_MODNAME, -1, NULL, 0);
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	nics[0] = create(0);
	nics[1] = create(1);
	err = nics[0] && nics[1] ? 0 : -ENOMEM;
	if (!err)
		err = connect_and_register(0) ?: connect_and_register(1);
	if (err)
		remove_all();
	return err;
}

static void __exit nic_exit(void)
{
	remove_all();
}

module_init(nic_init);
module_exit(nic_exit);
MODULE_DESCRIPTION("A pair of NICs for tests of RoCE");
MODULE_LICENSE("Dual BSD/GPL");
