// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The list of devices, and how they come and go: by command, with their netdev,
 * with their network namespace, with this module, and with rdma_rxe: when it is
 * unloaded, it unregisters all devices of its driver id, which ours have, too.
 *
 * A device stays in the list until its unregistration has returned, even if others
 * began it: ib_unregister_device() waits for one in progress. So when the list is
 * empty, no code of this module runs for a device.
 */
#include <linux/ethtool.h>
#include <linux/hashtable.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "congestion.h"
#include "device.h"
#include "devices.h"
#include "parent.h"
#include "port.h"

static DEFINE_HASHTABLE(devices, 8);	/* by netdev */
static DEFINE_MUTEX(devices_lock);	/* nests in the RTNL */

static struct roce_device *device_of(const struct net_device *netdev)
{
	struct roce_device *dev;

	lockdep_assert_held(&devices_lock);
	hash_for_each_possible(devices, dev, node, (unsigned long)netdev)
		if (dev->netdev == netdev && dev->state != ROCE_DEVICE_DEAD)
			return dev;
	return NULL;
}

static int insert_device(struct roce_device *dev)
{
	ASSERT_RTNL();
	lockdep_assert_held(&devices_lock);
	if (dev->netdev->reg_state != NETREG_REGISTERED ||
	    !net_eq(dev_net(dev->netdev), dev->net))
		return -ENODEV;
	/* A rename after this finds the device in the list. */
	if (strcmp(dev->netdev_name, dev->netdev->name))
		roce_parent_rename(dev);
	get_device(&dev->ibdev.dev);
	hash_add_rcu(devices, &dev->node, (unsigned long)dev->netdev);
	return 0;
}

/* If it sets @leaving, the caller must take that device down and try again. */
static int try_to_insert(struct roce_device *dev, struct roce_device **leaving)
{
	struct roce_device *other;
	int err = -EEXIST;

	*leaving = NULL;
	rtnl_lock();
	mutex_lock(&devices_lock);
	other = device_of(dev->netdev);
	if (!other) {
		err = insert_device(dev);
	} else if (other->state == ROCE_DEVICE_LEAVING) {
		get_device(&other->ibdev.dev);
		*leaving = other;
	}
	mutex_unlock(&devices_lock);
	/* Of a netdev that was unregistered, what is below may be gone. */
	if (!err)
		roce_cc_set_line_rate(dev);
	rtnl_unlock();
	return err;
}

/**
 * roce_devices_remove() - remove a device from the list
 * @dev: referenced by the caller, unregistered or never registered
 */
void roce_devices_remove(struct roce_device *dev)
{
	mutex_lock(&devices_lock);
	if (hash_hashed(&dev->node)) {
		hash_del_rcu(&dev->node);
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
 * roce_devices_insert() - add a device to the list
 * @dev: not registered yet
 *
 * Process context. Waits for a device that the netdev had in another namespace.
 *
 * Return: 0, -EEXIST if the netdev has a device, or -ENODEV if it is going.
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
 * roce_devices_take_speed() - take over the speed of a netdev
 * @work: of a device, to which it holds a reference
 *
 * Later than the event: the netdev may ask those below it, one of which is locked then.
 */
void roce_devices_take_speed(struct work_struct *work)
{
	struct roce_device *dev = container_of(work, struct roce_device, take_speed);

	rtnl_lock();
	if (dev->netdev->reg_state == NETREG_REGISTERED)
		roce_cc_set_line_rate(dev);
	rtnl_unlock();
	ib_device_put(&dev->ibdev);
}

static void look_at_speed(struct roce_device *dev)
{
	if (ib_device_try_get(&dev->ibdev) && !schedule_work(&dev->take_speed))
		ib_device_put(&dev->ibdev);
}

/**
 * roce_devices_publish() - make a device findable, and let it follow its netdev
 * @dev: registered, referenced by the caller
 *
 * Return: 0, or -ENODEV if the device is already going.
 */
int roce_devices_publish(struct roce_device *dev)
{
	int err = -ENODEV;

	mutex_lock(&devices_lock);
	if (dev->state == ROCE_DEVICE_NEW) {
		WRITE_ONCE(dev->state, ROCE_DEVICE_LIVE);
		roce_port_event(dev);
		look_at_speed(dev);
		err = 0;
	}
	mutex_unlock(&devices_lock);
	return err;
}

/* Returns a reference. */
static struct roce_device *first_device(const struct net *net, bool going)
{
	struct roce_device *dev, *found = NULL;
	int bucket;

	mutex_lock(&devices_lock);
	hash_for_each(devices, bucket, dev, node) {
		if (net && dev->net != net)
			continue;
		if (going && dev->state < ROCE_DEVICE_LEAVING)
			continue;
		get_device(&dev->ibdev.dev);
		found = dev;
		break;
	}
	mutex_unlock(&devices_lock);
	return found;
}

/* Take down the devices of one namespace or all; only the going ones if @going. */
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
 * roce_devices_bury() - make a device unfindable
 * @dev: being unregistered; on return no softirq uses it any more
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
 * roce_devices_find_by_address() - find the device that the core means by an address
 * @net: network namespace
 * @netdev: the netdev through which a packet to the address came in
 * @address: IPv6, or IPv4 as ::ffff:a.b.c.d
 *
 * Devices on netdevs above and below each other have each other's addresses. Like the
 * connection manager, it prefers devices that have the address on @netdev, and of
 * these the one that was registered first.
 *
 * RCU read side; softirq or process context. Walks the GID tables.
 *
 * Return: the device, valid until the end of the read section, or NULL.
 */
struct roce_device *
roce_devices_find_by_address(struct net *net, struct net_device *netdev,
			     const struct in6_addr *address)
{
	enum roce_port_place place, best = ROCE_PORT_NOWHERE;
	struct roce_device *dev, *found = NULL;
	int bucket;

	hash_for_each_rcu(devices, bucket, dev, node) {
		if (dev->net != net || READ_ONCE(dev->state) != ROCE_DEVICE_LIVE)
			continue;
		place = roce_port_find_address(dev, netdev, address);
		if (place > best ||
		    (found && place == best && dev->ibdev.index < found->ibdev.index)) {
			found = dev;
			best = place;
		}
	}
	return found;
}

/**
 * roce_devices_find_by_netdev() - the device on top of a netdev
 * @netdev: the netdev through which a packet came in, or a VLAN on top of it
 *
 * RCU read side; softirq or process context.
 *
 * Return: the device, valid until the end of the read section, or NULL.
 */
struct roce_device *
roce_devices_find_by_netdev(const struct net_device *netdev)
{
	struct roce_device *dev;

	if (is_vlan_dev(netdev))
		netdev = vlan_dev_real_dev(netdev);
	hash_for_each_possible_rcu(devices, dev, node, (unsigned long)netdev)
		if (dev->netdev == netdev &&
		    READ_ONCE(dev->state) == ROCE_DEVICE_LIVE)
			return dev;
	return NULL;
}

/*
 * A device that is not registered yet sees the new state when it is published. A device
 * that is being moved to another namespace is waited for.
 */
static void leave_netdev(struct roce_device *dev)
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

static void follow_netdev(struct roce_device *dev, unsigned long event)
{
	lockdep_assert_held(&devices_lock);
	switch (event) {
	case NETDEV_UNREGISTER:
		leave_netdev(dev);
		break;
	case NETDEV_CHANGENAME:
		roce_parent_rename(dev);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
	case NETDEV_DOWN:
	case NETDEV_CHANGEMTU:
		roce_port_event(dev);
		break;
	}
}

/* The netdev whose speed may be another after an event, or NULL */
static struct net_device *changes_speed(unsigned long event, void *info)
{
	const struct netdev_notifier_changeupper_info *link = info;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
	case NETDEV_CHANGELOWERSTATE:
		return netdev_notifier_info_to_dev(info);
	case NETDEV_CHANGEUPPER:
		return link->upper_dev;
	default:
		return NULL;
	}
}

/* What is on top may have the speed of the netdev, or, like a bond, that of several. */
static void follow_speed(struct net_device *netdev)
{
	struct roce_device *dev;
	int bucket;

	lockdep_assert_held(&devices_lock);
	rcu_read_lock();
	hash_for_each(devices, bucket, dev, node)
		if (dev->netdev == netdev ||
		    netdev_has_upper_dev_all_rcu(netdev, dev->netdev))
			look_at_speed(dev);
	rcu_read_unlock();
}

static int netdev_event(struct notifier_block *block, unsigned long event,
			void *info)
{
	struct net_device *changed = changes_speed(event, info);
	struct roce_device *dev;

	mutex_lock(&devices_lock);
	dev = device_of(netdev_notifier_info_to_dev(info));
	if (dev)
		follow_netdev(dev, event);
	if (changed)
		follow_speed(changed);
	mutex_unlock(&devices_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/* Runs before the core moves the devices to init_net. */
static void net_pre_exit(struct net *net)
{
	take_all_down(net, false);
}

static struct pernet_operations net_operations = {
	.pre_exit = net_pre_exit,
};

/**
 * roce_devices_init() - follow netdevs and namespaces from now on
 *
 * Return: 0 or a negative errno.
 */
int roce_devices_init(void)
{
	int err;

	err = register_pernet_device(&net_operations);
	if (err)
		return err;
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		unregister_pernet_device(&net_operations);
	return err;
}

/** roce_devices_exit() - take all devices down; no new one can be added */
void roce_devices_exit(void)
{
	take_all_down(NULL, false);
	cancel_work_sync(&reap_work);
	unregister_netdevice_notifier(&netdev_notifier);
	unregister_pernet_device(&net_operations);
}
