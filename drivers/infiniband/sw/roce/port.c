// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The port of a device: its state, MTU and addresses, by its netdev and GID table */
#include <net/l3mdev.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "compat.h"
#include "counters.h"
#include "device.h"
#include "port.h"
#include "roce.h"

/*
 * The MTU that the connection manager derives from that of a netdev, so both sides of a
 * connection use the same one. 0 if even the smallest packet is too big.
 */
static enum ib_mtu mtu_of(const struct net_device *netdev)
{
	return iboe_get_mtu(READ_ONCE(netdev->mtu));
}

/**
 * roce_port_active_mtu() - largest path MTU that a QP can have now
 * @dev: the device
 *
 * Does not use ib_query_port(): that takes the RTNL for the speed, but modify_qp runs
 * under a lock of the connection manager which nests in the RTNL. Any context.
 */
enum ib_mtu roce_port_active_mtu(const struct roce_device *dev)
{
	return mtu_of(dev->netdev) ?: IB_MTU_256;
}

/** roce_port_state() - state of the port on a netdev */
enum ib_port_state roce_port_state(const struct net_device *netdev)
{
	if (netif_running(netdev) && netif_carrier_ok(netdev) &&
	    mtu_of(netdev))
		return IB_PORT_ACTIVE;
	return IB_PORT_DOWN;
}

static enum ib_port_phys_state phys_state(const struct net_device *netdev)
{
	if (!netif_running(netdev))
		return IB_PORT_PHYS_STATE_DISABLED;
	if (!netif_carrier_ok(netdev))
		return IB_PORT_PHYS_STATE_POLLING;
	return IB_PORT_PHYS_STATE_LINK_UP;
}

/**
 * roce_port_event() - tell consumers if the port went up or down
 * @dev: in the list of devices, whose lock is held
 */
void roce_port_event(struct roce_device *dev)
{
	enum ib_port_state state = roce_port_state(dev->netdev);
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE :
						   IB_EVENT_PORT_ERR,
	};

	if (dev->state != ROCE_DEVICE_LIVE || dev->port_state == state)
		return;
	/*
	 * Unregistering waits for this reference, and then for the event. On its way to
	 * another namespace a device has no consumers; the next event tells them.
	 */
	if (!ib_device_try_get(&dev->ibdev))
		return;
	dev->port_state = state;
	if (state != IB_PORT_ACTIVE) {
		local_bh_disable();
		roce_count(dev, link_downed);
		local_bh_enable();
	}
	ib_dispatch_event(&event);
	ib_device_put(&dev->ibdev);
}

/* Find the GID of an address: on @netdev if possible, else the first one. */
static const struct ib_gid_attr *find_gid(struct roce_device *dev,
					  const struct in6_addr *address,
					  struct net_device *netdev)
{
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	memcpy(gid.raw, address, sizeof(gid.raw));
	attr = rdma_find_gid_by_port(&dev->ibdev, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1,
				     netdev);
	if (IS_ERR(attr))
		attr = rdma_find_gid_by_port(&dev->ibdev, &gid,
					     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	return attr;
}

static bool is_of(const struct ib_gid_attr *attr, const struct net_device *netdev)
{
	return rcu_access_pointer(attr->ndev) == netdev;
}

static bool is_in_vrf_of(const struct ib_gid_attr *attr, const struct net_device *netdev)
{
	return l3mdev_master_ifindex_rcu(rcu_dereference(attr->ndev)) ==
	       l3mdev_master_ifindex_rcu(netdev);
}

/**
 * roce_port_find_address() - find out where a device has an address
 * @dev: live, in an RCU read section
 * @netdev: the netdev through which a packet to the address came in
 * @address: IPv6, or IPv4 as ::ffff:a.b.c.d
 *
 * Any context. Walks the GID table.
 *
 * Return: ROCE_PORT_HERE if its GID is on @netdev, ROCE_PORT_ELSEWHERE if it is on
 * another netdev of the same VRF, else ROCE_PORT_NOWHERE.
 */
enum roce_port_place roce_port_find_address(struct roce_device *dev,
					    struct net_device *netdev,
					    const struct in6_addr *address)
{
	const struct ib_gid_attr *attr = find_gid(dev, address, netdev);
	enum roce_port_place place = ROCE_PORT_NOWHERE;

	if (IS_ERR(attr))
		return place;
	if (is_of(attr, netdev))
		place = ROCE_PORT_HERE;
	else if (is_in_vrf_of(attr, netdev))
		place = ROCE_PORT_ELSEWHERE;
	rdma_put_gid_attr(attr);
	return place;
}

/**
 * roce_port_vlan_id() - the VLAN of a packet to an address, as the core expects it
 * @dev: has the address
 * @netdev: the netdev through which the packet came in
 * @address: IPv6, or IPv4 as ::ffff:a.b.c.d
 *
 * The core finds the GID of a MAD by address and VLAN tag. It takes the tag of the
 * first VLAN at or below the netdev of the GID.
 *
 * RCU read side. Walks the GID table.
 *
 * Return: the VLAN ID, or U16_MAX without a VLAN.
 */
u16 roce_port_vlan_id(struct roce_device *dev, struct net_device *netdev,
		      const struct in6_addr *address)
{
	const struct ib_gid_attr *attr = find_gid(dev, address, netdev);
	u16 vlan_id = U16_MAX;

	if (IS_ERR(attr))
		return vlan_id;
	if (rdma_read_gid_l2_fields(attr, &vlan_id, NULL))
		vlan_id = U16_MAX;
	rdma_put_gid_attr(attr);
	return vlan_id;
}

/**
 * roce_get_netdev() - the get_netdev verb
 * @ibdev: the device
 * @port: 1
 *
 * Return: the netdev, with a reference, or NULL when it is being unregistered.
 */
struct net_device *roce_get_netdev(struct ib_device *ibdev, u32 port)
{
	struct net_device *netdev = to_roce_device(ibdev)->netdev;

	if (roce_compat_reg_state(netdev) != NETREG_REGISTERED)
		return NULL;
	dev_hold(netdev);
	return netdev;
}

/**
 * roce_query_port() - the query_port verb
 * @ibdev: the device
 * @port: 1
 * @attr: zeroed
 *
 * Process context, without the RTNL.
 *
 * Return: 0.
 */
int roce_query_port(struct ib_device *ibdev, u32 port,
		    struct ib_port_attr *attr)
{
	const struct roce_device *dev = to_roce_device(ibdev);
	const struct net_device *netdev = dev->netdev;

	attr->state = roce_port_state(netdev);
	attr->phys_state = phys_state(netdev);
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = roce_port_active_mtu(dev);
	attr->phys_mtu = READ_ONCE(netdev->mtu);
	attr->gid_tbl_len = ROCE_GID_TABLE_LENGTH;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = ROCE_MAX_MESSAGE;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;

	/* Not asked if the netdev does not know its speed: the core would log a warning. */
	if (!netdev->ethtool_ops->get_link_ksettings ||
	    ib_get_eth_speed(ibdev, port, &attr->active_speed,
			     &attr->active_width)) {
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}
	return 0;
}
