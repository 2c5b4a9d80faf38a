// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The devices of this host, and how they come and go: by command, with their
 * netdev, with their network namespace, with this module, and at the hands of
 * rdma_rxe, which unregisters every device of the driver id that it shares with
 * us when it is unloaded.
 *
 * A device stays in the list until its unregistration has returned, whoever
 * began it: ib_unregister_device() waits for one that is under way. So whoever
 * empties the list knows that no code of ours runs for a device any more.
 */
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>

#include "icrc.h"
#include "roce.h"
#include "train.h"

static HLIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);	/* below the RTNL */

static struct roce_device *device_of(const struct net_device *netdev)
{
	struct roce_device *dev;

	hlist_for_each_entry(dev, &devices, node)
		if (dev->netdev == netdev && dev->state != ROCE_DEVICE_DEAD)
			return dev;
	return NULL;
}

/* Under the RTNL and the lock of the list */
static int insert(struct roce_device *dev)
{
	if (dev->netdev->reg_state != NETREG_REGISTERED ||
	    !net_eq(dev_net(dev->netdev), dev->net))
		return -ENODEV;
	/* Who renames it from now on finds the device. */
	if (strcmp(dev->netdev_name, dev->netdev->name))
		roce_parent_rename(dev);
	get_device(&dev->ibdev.dev);
	hlist_add_head_rcu(&dev->node, &devices);
	return 0;
}

/* The caller has to take @leaving down, and try again, if the netdev has that one. */
static int try_to_insert(struct roce_device *dev, struct roce_device **leaving)
{
	struct roce_device *other;
	int err = -EEXIST;

	*leaving = NULL;
	rtnl_lock();
	roce_cc_set_line_rate(dev, __ethtool_get_link_ksettings);
	mutex_lock(&devices_lock);
	other = device_of(dev->netdev);
	if (!other) {
		err = insert(dev);
	} else if (other->state == ROCE_DEVICE_LEAVING) {
		get_device(&other->ibdev.dev);
		*leaving = other;
	}
	mutex_unlock(&devices_lock);
	rtnl_unlock();
	return err;
}

/**
 * roce_devices_remove() - take a device off the list
 * @dev: referenced by the caller, and unregistered or never registered
 */
void roce_devices_remove(struct roce_device *dev)
{
	mutex_lock(&devices_lock);
	if (!hlist_unhashed(&dev->node)) {
		hlist_del_init_rcu(&dev->node);
		put_device(&dev->ibdev.dev);
	}
	mutex_unlock(&devices_lock);
}

/* Consumes a reference. */
static void take_down(struct roce_device *dev)
{
	ib_unregister_device(&dev->ibdev);
	roce_devices_remove(dev);
	put_device(&dev->ibdev.dev);
}

/**
 * roce_devices_insert() - enter a device into the list
 * @dev: not registered yet
 *
 * Process context. Waits for a device that its netdev had in another namespace.
 *
 * Return: 0, -EEXIST if its netdev has a device, or -ENODEV if its netdev goes.
 */
int roce_devices_insert(struct roce_device *dev)
{
	struct roce_device *leaving;
	int err;

	do {
		err = try_to_insert(dev, &leaving);
		if (leaving)
			take_down(leaving);
	} while (leaving);
	return err;
}

/**
 * roce_devices_publish() - let a device be found and follow its netdev
 * @dev: registered, referenced by the caller
 *
 * Return: 0, or -ENODEV if it is going already.
 */
int roce_devices_publish(struct roce_device *dev)
{
	int err = -ENODEV;

	mutex_lock(&devices_lock);
	if (dev->state == ROCE_DEVICE_NEW) {
		WRITE_ONCE(dev->state, ROCE_DEVICE_LIVE);
		roce_device_port_event(dev);
		err = 0;
	}
	mutex_unlock(&devices_lock);
	return err;
}

/* The caller has to put_device() it. */
static struct roce_device *first_device(const struct net *net, bool going)
{
	struct roce_device *dev;

	mutex_lock(&devices_lock);
	hlist_for_each_entry(dev, &devices, node) {
		if (net && dev->net != net)
			continue;
		if (going && dev->state < ROCE_DEVICE_LEAVING)
			continue;
		get_device(&dev->ibdev.dev);
		break;
	}
	mutex_unlock(&devices_lock);
	return dev;
}

/* Of one namespace or of all; all devices or only those that are going. */
static void take_all_down(const struct net *net, bool going)
{
	struct roce_device *dev;

	while ((dev = first_device(net, going)))
		take_down(dev);
}

static void reap(struct work_struct *work)
{
	take_all_down(NULL, true);
}

static DECLARE_WORK(reap_work, reap);

/**
 * roce_devices_bury() - nobody shall find a device any more
 * @dev: being unregistered; softirqs that found it are done on return
 */
void roce_devices_bury(struct roce_device *dev)
{
	mutex_lock(&devices_lock);
	WRITE_ONCE(dev->state, ROCE_DEVICE_DEAD);
	mutex_unlock(&devices_lock);
	schedule_work(&reap_work);
	synchronize_rcu();
}

/**
 * roce_device_find_by_address() - the device that has an address
 * @net: network namespace
 * @address: IPv6, or IPv4 as ::ffff:a.b.c.d
 *
 * Under RCU; softirq or process context.
 *
 * Return: the device, until the end of the read section, or NULL.
 */
struct roce_device *roce_device_find_by_address(struct net *net,
						const struct in6_addr *address)
{
	struct roce_device *dev;

	hlist_for_each_entry_rcu(dev, &devices, node)
		if (dev->net == net &&
		    READ_ONCE(dev->state) == ROCE_DEVICE_LIVE &&
		    roce_device_has_address(dev, address))
			return dev;
	return NULL;
}

/*
 * A device that is not registered yet is told when it wants to be published; one
 * that is moved to another namespace just now is waited for.
 */
static void leave(struct roce_device *dev)
{
	if (dev->state < ROCE_DEVICE_LIVE) {
		WRITE_ONCE(dev->state, ROCE_DEVICE_REFUSED);
		return;
	}
	WRITE_ONCE(dev->state, ROCE_DEVICE_LEAVING);
	if (ib_device_try_get(&dev->ibdev)) {
		ib_unregister_device_queued(&dev->ibdev);
		ib_device_put(&dev->ibdev);
	} else {
		schedule_work(&reap_work);
	}
}

static void follow(struct roce_device *dev, unsigned long event)
{
	switch (event) {
	case NETDEV_UNREGISTER:
		leave(dev);
		break;
	case NETDEV_CHANGENAME:
		roce_parent_rename(dev);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
		roce_cc_set_line_rate(dev, netif_get_link_ksettings);
		fallthrough;
	case NETDEV_DOWN:
	case NETDEV_CHANGEMTU:
		roce_device_port_event(dev);
		break;
	}
}

static int netdev_event(struct notifier_block *block, unsigned long event,
			void *info)
{
	const struct net_device *netdev = netdev_notifier_info_to_dev(info);
	struct roce_device *dev;

	mutex_lock(&devices_lock);
	dev = device_of(netdev);
	if (dev)
		follow(dev, event);
	mutex_unlock(&devices_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/* Before the core would move the devices to init_net. */
static void net_pre_exit(struct net *net)
{
	take_all_down(net, false);
}

static struct pernet_operations net_operations = {
	.pre_exit = net_pre_exit,
};

static struct rdma_link_ops link_ops = {
	.type = "roce",
	.newlink = roce_device_add,
};

static int __init roce_init(void)
{
	int err;

	err = roce_icrc_init();
	if (err)
		return err;

	err = roce_mcast_init();
	if (err)
		goto icrc_exit;

	err = roce_cc_init();
	if (err)
		goto mcast_exit;

	err = roce_receive_init();
	if (err)
		goto cc_exit;

	err = register_pernet_device(&net_operations);
	if (err)
		goto receive_exit;

	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		goto unregister_net;

	rdma_link_register(&link_ops);
	return 0;

unregister_net:
	unregister_pernet_device(&net_operations);
receive_exit:
	roce_receive_exit();
cc_exit:
	roce_cc_exit();
mcast_exit:
	roce_mcast_exit();
icrc_exit:
	roce_icrc_exit();
	return err;
}

static void __exit roce_exit(void)
{
	rdma_link_unregister(&link_ops);
	take_all_down(NULL, false);
	cancel_work_sync(&reap_work);
	unregister_netdevice_notifier(&netdev_notifier);
	unregister_pernet_device(&net_operations);
	roce_receive_exit();
	roce_cc_exit();
	roce_mcast_exit();
	roce_icrc_exit();
	rcu_barrier();
	roce_train_exit();
}

module_init(roce_init);
module_exit(roce_exit);

MODULE_DESCRIPTION("RDMA over Converged Ethernet, version 2, in software");
MODULE_AUTHOR("The roce authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(ROCE_VERSION);
MODULE_ALIAS_RDMA_LINK("roce");
