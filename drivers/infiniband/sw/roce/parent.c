// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Programs find the netdev of an RDMA device in /sys/class/infiniband/X/device/
 * net/, as for a card, whose netdev and RDMA device have the same PCI device as
 * their parent. So each device has a parent of its own, with a folder net/ and a
 * link to the netdev in it.
 *
 * The kernel does not know this parent: to the kernel the devices have none. SMC, for
 * one, takes the parent of any RDMA device for a PCI device and reads the memory
 * around it. So this file creates the link "device" itself, in each network namespace
 * in which the core shows the device. A class interface sees all devices that the core
 * adds to the class.
 *
 * The netdev's own parent is no substitute: virtual netdevs have none, a card's parent
 * has the netdevs of all its ports, and udev names RDMA devices after PCI parents. But
 * it is the parent of our parent, so that programs that go up the path find the PCI
 * device. Our parent also has the NUMA node of that device, as PCI devices do.
 */
#include <linux/device.h>
#include <linux/idr.h>

#include "compat.h"
#include "device.h"
#include "parent.h"

static DEFINE_IDA(numbers);

static ssize_t numa_node_show(struct device *parent,
			      struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%d\n", dev_to_node(parent));
}

static const struct cpumask *local_cpus(struct device *parent)
{
	int node = dev_to_node(parent);

	return node == NUMA_NO_NODE ? cpu_online_mask : cpumask_of_node(node);
}

static ssize_t local_cpulist_show(struct device *parent,
				  struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%*pbl\n", cpumask_pr_args(local_cpus(parent)));
}

static ssize_t local_cpus_show(struct device *parent,
			       struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%*pb\n", cpumask_pr_args(local_cpus(parent)));
}

static DEVICE_ATTR_RO(numa_node);
static DEVICE_ATTR_RO(local_cpulist);
static DEVICE_ATTR_RO(local_cpus);

static struct attribute *parent_attrs[] = {
	&dev_attr_numa_node.attr,
	&dev_attr_local_cpulist.attr,
	&dev_attr_local_cpus.attr,
	NULL
};
ATTRIBUTE_GROUPS(parent);

static void free_parent(struct device *parent)
{
	kfree(parent);
}

static int found_below(struct net_device *netdev, struct netdev_nested_priv *priv)
{
	priv->data = netdev->dev.parent;
	return !!priv->data;
}

/* NUMA node of a netdev: its own, or that of the first netdev below with hardware */
static int node_of(struct net_device *netdev)
{
	struct netdev_nested_priv below = { .data = netdev->dev.parent };
	int node = NUMA_NO_NODE;

	rcu_read_lock();
	if (!below.data)
		netdev_walk_all_lower_dev_rcu(netdev, found_below, &below);
	if (below.data)
		node = dev_to_node(below.data);
	rcu_read_unlock();
	return node;
}

/* It is destroyed before the netdev, and so before the netdev's own parent. */
static struct device *new_parent(struct net_device *netdev, int number)
{
	struct device *parent = kzalloc(sizeof(*parent), GFP_KERNEL);
	int err;

	if (!parent)
		return ERR_PTR(-ENOMEM);
	device_initialize(parent);
	parent->release = free_parent;
	parent->parent = netdev->dev.parent;
	parent->groups = parent_groups;
	set_dev_node(parent, node_of(netdev));
	err = dev_set_name(parent, "roce.%d", number) ?: device_add(parent);
	if (err) {
		put_device(parent);
		return ERR_PTR(err);
	}
	return parent;
}

static int link_netdev(struct roce_device *dev)
{
	strscpy(dev->netdev_name, dev->netdev->name, sizeof(dev->netdev_name));
	return sysfs_create_link(dev->parent_net, &dev->netdev->dev.kobj,
				 dev->netdev_name);
}

/**
 * roce_parent_create() - create the parent of a device
 * @dev: not registered yet; its netdev is set
 *
 * Process context.
 *
 * Return: 0, -ENOMEM, or -ENODEV if the netdev is going.
 */
int roce_parent_create(struct roce_device *dev)
{
	int err;

	dev->parent_number = ida_alloc(&numbers, GFP_KERNEL);
	if (dev->parent_number < 0)
		return dev->parent_number;

	dev->parent = new_parent(dev->netdev, dev->parent_number);
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
	return 0;

put_net:
	kobject_put(dev->parent_net);
unregister:
	device_unregister(dev->parent);
free_number:
	ida_free(&numbers, dev->parent_number);
	return err;
}

/**
 * roce_parent_rename() - follow a rename of the netdev
 * @dev: in the list of devices or about to be added, not dead
 *
 * Process context, under the RTNL.
 */
void roce_parent_rename(struct roce_device *dev)
{
	ASSERT_RTNL();
	sysfs_remove_link(dev->parent_net, dev->netdev_name);
	if (link_netdev(dev))
		netdev_warn(dev->netdev, "cannot create the link from its roce device\n");
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
	device_unregister(dev->parent);
	ida_free(&numbers, dev->parent_number);
}

/* The link is removed with the folder that it is in. */
static int show_parent(ROCE_COMPAT_ADD_DEV_PARAMETERS)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(device);

	if (ibdev->ops.owner != THIS_MODULE)
		return 0;
	return sysfs_create_link(&device->kobj, &to_roce_device(ibdev)->parent->kobj,
				 "device");
}

static struct class_interface rdma_devices = {
	.add_dev = show_parent,
};

/**
 * roce_parent_init() - show the parents of devices that are added from now on
 *
 * Process context. The core reveals its class only through a device.
 *
 * Return: 0 or -ENOMEM.
 */
int roce_parent_init(void)
{
	struct roce_device *unused = ib_alloc_device(roce_device, ibdev);

	if (!unused)
		return -ENOMEM;
	rdma_devices.class = unused->ibdev.dev.class;
	ib_dealloc_device(&unused->ibdev);
	return class_interface_register(&rdma_devices);
}

/** roce_parent_exit() - undo roce_parent_init(); there are no devices any more */
void roce_parent_exit(void)
{
	class_interface_unregister(&rdma_devices);
}
