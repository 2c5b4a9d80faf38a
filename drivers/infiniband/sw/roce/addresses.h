/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_ADDRESSES_H
#define ROCE_ADDRESSES_H

#include <linux/types.h>

struct net_device;
struct roce_device;
struct work_struct;

__be64 roce_addresses_guid(const struct net_device *netdev);
void roce_addresses_rescan(struct work_struct *work);
void roce_addresses_look(struct roce_device *dev);
int roce_addresses_init(void);
void roce_addresses_exit(void);

#endif /* ROCE_ADDRESSES_H */
