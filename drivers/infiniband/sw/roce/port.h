/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_PORT_H
#define ROCE_PORT_H

#include <rdma/ib_verbs.h>

struct in6_addr;
struct net_device;
struct roce_device;

/* Whether a device has an address, seen from the netdev of a received packet */
enum roce_port_place {
	ROCE_PORT_NOWHERE,
	ROCE_PORT_ELSEWHERE,	/* on another netdev of the same VRF */
	ROCE_PORT_HERE,
};

enum ib_mtu roce_port_active_mtu(const struct roce_device *dev);
enum ib_port_state roce_port_state(const struct net_device *netdev);
void roce_port_event(struct roce_device *dev);
enum roce_port_place roce_port_find_address(struct roce_device *dev,
					    struct net_device *netdev,
					    const struct in6_addr *address);
u16 roce_port_vlan_id(struct roce_device *dev, struct net_device *netdev,
		      const struct in6_addr *address);
struct net_device *roce_get_netdev(struct ib_device *ibdev, u32 port);
int roce_query_port(struct ib_device *ibdev, u32 port,
		    struct ib_port_attr *attr);

#endif /* ROCE_PORT_H */
