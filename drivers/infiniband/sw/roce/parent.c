// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Programs find the netdev of an RDMA device in /sys/class/infiniband/X/device/
 * net/, as they would for a card, whose netdev and RDMA device have the same
 * PCI device for a parent. So each of our devices has a parent of its own, with
 * a folder net/ in which a link leads to the netdev.
 *
 * The netdev's own parent would not do: virtual netdevs have none, a card's has
 * the netdevs of all its ports, and udev names RDMA devices after PCI parents.
 */
#include <linux/idr.h>

#include "roce.h"

static DEFINE_IDA(numbers);

static int link_netdev(struct roce_device *dev)
{
	strscpy(dev->netdev_name, dev->netdev->name, sizeof(dev->netdev_name));
	return sysfs_create_link(dev->parent_net, &dev->netdev->dev.kobj,
				 dev->netdev_name);
}

/**
 * roce_parent_create() - make the parent of a device
 * @dev: not registered yet; its netdev is set
 *
 * Process context.
 *
 * Return: 0, -ENOMEM, or -ENODEV if the netdev goes.
 */
int roce_parent_create(struct roce_device *dev)
{
	char name[16];
	int err;

	dev->parent_number = ida_alloc(&numbers, GFP_KERNEL);
	if (dev->parent_number < 0)
		return dev->parent_number;

	snprintf(name, sizeof(name), "roce.%d", dev->parent_number);
	dev->parent = root_device_register(name);
	if (IS_ERR(dev->parent)) {
		err = PTR_ERR(dev->parent);
		goto free_number;
	}

	err = -ENOMEM;
	dev->parent_net = kobject_create_and_add("net", &dev->parent->kobj);
	if (!dev->parent_net)
		goto unregister;
	err = link_netdev(dev);
	if (err == -ENOENT)
		err = -ENODEV;
	if (err)
		goto put_net;
	dev->ibdev.dev.parent = dev->parent;
	return 0;

put_net:
	kobject_put(dev->parent_net);
unregister:
	root_device_unregister(dev->parent);
free_number:
	ida_free(&numbers, dev->parent_number);
	return err;
}

/**
 * roce_parent_rename() - the netdev has another name
 * @dev: in the list of devices or about to be, not dead
 *
 * Process context, under the RTNL.
 */
void roce_parent_rename(struct roce_device *dev)
{
	sysfs_remove_link(dev->parent_net, dev->netdev_name);
	if (link_netdev(dev))
		netdev_warn(dev->netdev, "no link from its roce device\n");
}

/**
 * roce_parent_destroy() - undo roce_parent_create()
 * @dev: unregistered, or never registered
 *
 * Process context.
 */
void roce_parent_destroy(struct roce_device *dev)
{
	sysfs_remove_link(dev->parent_net, dev->netdev_name);
	kobject_put(dev->parent_net);
	root_device_unregister(dev->parent);
	ida_free(&numbers, dev->parent_number);
}
