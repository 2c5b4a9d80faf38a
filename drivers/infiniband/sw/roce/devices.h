/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_DEVICES_H
#define ROCE_DEVICES_H

struct in6_addr;
struct net;
struct net_device;
struct roce_device;

int roce_devices_insert(struct roce_device *dev);
void roce_devices_take_speed(struct work_struct *work);
int roce_devices_publish(struct roce_device *dev);
void roce_devices_bury(struct roce_device *dev);
void roce_devices_remove(struct roce_device *dev);
struct roce_device *
roce_devices_find_by_address(struct net *net, struct net_device *netdev,
			     const struct in6_addr *address);
struct roce_device *
roce_devices_find_by_netdev(const struct net_device *netdev);
int roce_devices_init(void);
void roce_devices_exit(void);

#endif /* ROCE_DEVICES_H */
