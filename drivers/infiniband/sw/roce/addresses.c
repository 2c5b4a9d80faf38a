// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netdevs that are not Ethernet. They may have no hardware address to derive a GUID
 * from, and the RDMA core reads their IP addresses only when the device is registered.
 */
#include <linux/dmi.h>
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/siphash.h>
#include <linux/utsname.h>
#include <net/addrconf.h>
#include <rdma/ib_cache.h>

#include "addresses.h"
#include "device.h"
#include "devices.h"

/* Identifies a netdev among those of all hosts; unused bytes are zero. */
struct identity {
	char netdev[IFNAMSIZ];
	char host[__NEW_UTS_LEN + 1];
	char machine[40];
	u32 namespace;
};

static void identify(const struct net_device *netdev, struct identity *identity)
{
	const struct net *net = dev_net(netdev);
	const char *machine = dmi_get_system_info(DMI_PRODUCT_UUID);

	memset(identity, 0, sizeof(*identity));
	strscpy(identity->netdev, netdev->name, sizeof(identity->netdev));
	strscpy(identity->host, init_utsname()->nodename, sizeof(identity->host));
	if (machine)
		strscpy(identity->machine, machine, sizeof(identity->machine));
	/* The initial namespace has the same number after each boot; others may not. */
	identity->namespace = net->ns.inum;
}

/**
 * roce_addresses_guid() - the GUID of a device
 * @netdev: the netdev below
 *
 * Return: a GUID derived from the hardware address of Ethernet. A netdev without one
 * gets a locally administered address, a hash of its name, its namespace, and the
 * name and UUID of the host: it is the same after a reboot.
 */
__be64 roce_addresses_guid(const struct net_device *netdev)
{
	static const siphash_key_t key = { { 0x726f6365, 0x47554944 } };
	struct identity identity;
	u8 address[ETH_ALEN];
	__be64 guid;
	u64 hash;

	if (netdev->type == ARPHRD_ETHER) {
		addrconf_addr_eui48((u8 *)&guid, netdev->dev_addr);
		return guid;
	}
	identify(netdev, &identity);
	hash = siphash(&identity, sizeof(identity), &key);
	memcpy(address, &hash, sizeof(address));
	address[0] = (address[0] & 0xfc) | 0x02;
	addrconf_addr_eui48((u8 *)&guid, address);
	return guid;
}

/**
 * roce_addresses_rescan() - make the core read the addresses of a netdev again
 * @work: of a device, to which it holds a reference
 */
void roce_addresses_rescan(struct work_struct *work)
{
	struct roce_device *dev = container_of(work, struct roce_device, rescan);

	rdma_roce_rescan_device(&dev->ibdev);
	ib_device_put(&dev->ibdev);
}

/**
 * roce_addresses_look() - look for addresses of a netdev that the core has not seen
 * @dev: registered, referenced by the caller
 *
 * Any context.
 */
void roce_addresses_look(struct roce_device *dev)
{
	if (ib_device_try_get(&dev->ibdev) && !schedule_work(&dev->rescan))
		ib_device_put(&dev->ibdev);
}

/* May run in atomic context. */
static void follow_address(const struct net_device *netdev, unsigned long event)
{
	struct roce_device *dev;

	if (event != NETDEV_UP || netdev->type == ARPHRD_ETHER)
		return;
	rcu_read_lock();
	dev = roce_devices_find_by_netdev(netdev);
	if (dev)
		roce_addresses_look(dev);
	rcu_read_unlock();
}

static int ipv4_event(struct notifier_block *block, unsigned long event,
		      void *info)
{
	const struct in_ifaddr *address = info;

	follow_address(address->ifa_dev->dev, event);
	return NOTIFY_DONE;
}

static int ipv6_event(struct notifier_block *block, unsigned long event,
		      void *info)
{
	const struct inet6_ifaddr *address = info;

	follow_address(address->idev->dev, event);
	return NOTIFY_DONE;
}

static struct notifier_block ipv4_notifier = { .notifier_call = ipv4_event };
static struct notifier_block ipv6_notifier = { .notifier_call = ipv6_event };

/**
 * roce_addresses_init() - follow the addresses of netdevs from now on
 *
 * Return: 0 or a negative errno.
 */
int roce_addresses_init(void)
{
	int err = register_inetaddr_notifier(&ipv4_notifier);

	if (err)
		return err;
	err = register_inet6addr_notifier(&ipv6_notifier);
	if (err)
		unregister_inetaddr_notifier(&ipv4_notifier);
	return err;
}

/** roce_addresses_exit() - undo roce_addresses_init() */
void roce_addresses_exit(void)
{
	unregister_inet6addr_notifier(&ipv6_notifier);
	unregister_inetaddr_notifier(&ipv4_notifier);
}
