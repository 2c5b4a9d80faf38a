// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address vectors: where datagrams go, and how IP treats them (IBA volume 1, 11.2.2). A
 * connected QP has one, and each address handle is one.
 */
#include <linux/dcbnl.h>
#include <linux/if_vlan.h>
#include <net/dcbnl.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_user_rxe.h>
#include <rdma/uverbs_ioctl.h>

#include "ah.h"
#include "compat.h"
#include "device.h"
#include "roce.h"

#define MAX_SERVICE_LEVEL	7	/* Ethernet has eight priorities */
#define FLOW_LABEL_MASK		0xfffff

static int check_ah_attr(const struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *source = attr->grh.sgid_attr;

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || attr->port_num != 1)
		return -EINVAL;
	if (!(attr->ah_flags & IB_AH_GRH) || attr->sl > MAX_SERVICE_LEVEL)
		return -EINVAL;
	if (!source || source->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EINVAL;
	return 0;
}

static void set_addresses(struct roce_av *av, const struct ib_global_route *grh)
{
	memcpy(&av->source, grh->sgid_attr->gid.raw, sizeof(av->source));
	memcpy(&av->destination, grh->dgid.raw, sizeof(av->destination));
	av->ipv6 = !ipv6_addr_v4mapped(&av->source);
}

/* A VLAN on top of the device's netdev may have moved to another namespace. */
static int set_interface(struct roce_av *av, const struct ib_gid_attr *source)
{
	const struct net *net = to_roce_device(source->device)->net;
	const struct net_device *netdev;
	int err = -EINVAL;

	rcu_read_lock();
	netdev = rcu_dereference(source->ndev);
	if (netdev && net_eq(dev_net(netdev), net)) {
		av->interface = netdev->ifindex;
		err = 0;
	}
	rcu_read_unlock();
	return err;
}

static int take_vlan(struct net_device *lower, struct netdev_nested_priv *priv)
{
	priv->data = lower;
	return is_vlan_dev(lower);
}

/* The first VLAN at or below @netdev, or NULL. RCU read side. */
static struct net_device *vlan_of(struct net_device *netdev)
{
	struct netdev_nested_priv priv = { .data = netdev };

	if (is_vlan_dev(netdev) || netdev_walk_all_lower_dev_rcu(netdev, take_vlan, &priv))
		return priv.data;
	return NULL;
}

/*
 * The priority that the administrator's DCB application table has for the DSCP, or -1.
 * Only in contexts that can sleep, because the table has a lock that needs this: the
 * connection manager creates address handles for MADs with interrupts off.
 */
static int dcb_priority(struct net_device *netdev, u8 traffic_class, bool may_sleep)
{
#if IS_ENABLED(CONFIG_DCB)
	struct dcb_app app = {
		.selector = IEEE_8021QAZ_APP_SEL_DSCP,
		.protocol = traffic_class >> 2,
	};

	if (may_sleep)
		return fls(dcb_ieee_getapp_mask(netdev, &app)) - 1;
#endif
	return -1;
}

/*
 * The service level that the connection manager derives from a type of service. It
 * applies the maps of the netdev, which the priority of an sk_buff also goes through
 * after it leaves the driver.
 */
static u8 service_level_of(const struct net_device *port, struct net_device *vlan,
			   u8 priority)
{
	if (port->num_tc)
		return netdev_get_prio_tc_map(port, priority);
	if (!vlan)
		return 0;
	return (vlan_dev_get_egress_qos_mask(vlan, priority) & VLAN_PRIO_MASK) >>
	       VLAN_PRIO_SHIFT;
}

/*
 * The priority of sk_buffs. A service level that a program has chosen itself is used as
 * it is, like SO_PRIORITY of a socket. Otherwise the traffic class determines it, as
 * for a socket with IP_TOS, and qdiscs and the VLAN map it once.
 */
static u8 choose_priority(const struct rdma_ah_attr *attr, bool may_sleep)
{
	u8 traffic_class = attr->grh.traffic_class;
	u8 priority = rt_tos2priority(traffic_class & ~INET_ECN_MASK);
	struct net_device *netdev, *vlan, *port;
	int dcb = -1;

	rcu_read_lock();
	netdev = rcu_dereference(attr->grh.sgid_attr->ndev);
	if (netdev) {
		vlan = vlan_of(netdev);
		port = vlan ? vlan_dev_real_dev(vlan) : netdev;
		dcb = dcb_priority(port, traffic_class, may_sleep);
		if (attr->sl && attr->sl != service_level_of(port, vlan, priority))
			priority = attr->sl;
	}
	rcu_read_unlock();
	return dcb < 0 ? priority : dcb;
}

static int init_av(struct roce_av *av, const struct rdma_ah_attr *attr,
		   bool may_sleep)
{
	const struct ib_global_route *grh = &attr->grh;
	int err;

	memset(av, 0, sizeof(*av));
	err = check_ah_attr(attr);
	if (err)
		return err;

	set_addresses(av, grh);
	/* A device has a GID of a link-local IPv6 address even without IPv6. */
	if (av->ipv6 && !ipv6_mod_enabled())
		return -EAFNOSUPPORT;
	if (av->ipv6 == ipv6_addr_v4mapped(&av->destination) ||
	    ipv6_addr_any(&av->destination))
		return -EINVAL;

	err = set_interface(av, grh->sgid_attr);
	if (err)
		return err;

	av->traffic_class = grh->traffic_class;
	av->hop_limit = grh->hop_limit ?: IPDEFTTL;
	av->priority = choose_priority(attr, may_sleep);
	av->flow_label = grh->flow_label & FLOW_LABEL_MASK;
	av->attr = *attr;
	av->attr.grh.sgid_attr = NULL;
	rdma_hold_gid_attr(grh->sgid_attr);
	av->sgid_attr = grh->sgid_attr;
	return 0;
}

/**
 * roce_av_init() - set up an address vector
 * @av: overwritten, except for @av->pd, which the caller sets
 * @attr: from the consumer, with a source GID that the core has looked up
 *
 * Process context. IBA volume 1, 11.2.2.1, and annex A17.
 *
 * Return: 0, -EINVAL for attributes that no RoCEv2 address can have, -EAFNOSUPPORT
 * for IPv6 on a host without it. After an error there is nothing to release.
 */
int roce_av_init(struct roce_av *av, const struct rdma_ah_attr *attr)
{
	return init_av(av, attr, true);
}

/**
 * roce_av_release() - release the references of an address vector
 * @av: unused; may also be zeroed or already released
 *
 * Process or softirq context.
 */
void roce_av_release(struct roce_av *av)
{
	if (!av->sgid_attr)
		return;
	dst_release(rcu_dereference_protected(av->route, true));
	RCU_INIT_POINTER(av->route, NULL);
	rdma_put_gid_attr(av->sgid_attr);
	av->sgid_attr = NULL;
}

static void free_av(struct roce_av *av)
{
	roce_av_release(av);
	kfree(av);
}

static void free_av_rcu(struct rcu_head *rcu)
{
	free_av(container_of(rcu, struct roce_av, rcu));
}

static struct roce_av *new_av(struct ib_pd *pd, const struct rdma_ah_attr *attr,
			      bool may_sleep)
{
	struct roce_av *av;
	int err;

	av = kmalloc(sizeof(*av), may_sleep ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC);
	if (!av)
		return ERR_PTR(-ENOMEM);

	err = init_av(av, attr, may_sleep);
	if (err) {
		kfree(av);
		return ERR_PTR(err);
	}
	av->pd = pd;
	return av;
}

/*
 * Work requests of user space name the address vector by a number. A provider that
 * does not ask for the number would put the address itself into work requests,
 * unchecked, so it is refused.
 */
static int publish_ah(struct roce_ah *ah, struct ib_udata *udata)
{
	struct roce_device *dev = to_roce_device(ah->ibah.device);
	struct rxe_create_ah_resp response = {};
	u32 number;
	int err;

	if (udata->outlen < sizeof(response))
		return -EOPNOTSUPP;

	err = xa_alloc_cyclic(&dev->address_vectors, &number, ah->av,
			      xa_limit_31b, &dev->next_ah_number,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err;

	ah->number = number;
	response.ah_num = number;
	return ib_copy_to_udata(udata, &response, sizeof(response));
}

static void unpublish(struct roce_ah *ah)
{
	struct roce_device *dev = to_roce_device(ah->ibah.device);

	if (ah->number)
		xa_erase(&dev->address_vectors, ah->number);
	call_rcu(&ah->av->rcu, free_av_rcu);
	roce_object_put(&dev->objects.ah);
}

/**
 * roce_create_ah() - the create_ah verb
 * @ibah: zeroed, except for the fields of the core
 * @init: the address, and whether the caller can sleep
 * @udata: NULL for a kernel consumer, which may be unable to sleep
 *
 * IBA volume 1, 11.2.2.1.
 *
 * Return: 0, the errors of roce_av_init(), -ENOMEM, -EOPNOTSUPP for a provider that is too
 * old, or -EFAULT.
 */
int roce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		   struct ib_udata *udata)
{
	bool may_sleep = init->flags & RDMA_CREATE_AH_SLEEPABLE;
	struct roce_device *dev = to_roce_device(ibah->device);
	struct roce_ah *ah = to_roce_ah(ibah);
	int err;

	if (!roce_object_get(&dev->objects.ah, ROCE_MAX_AH))
		return -ENOMEM;

	ah->av = new_av(ibah->pd, init->ah_attr, may_sleep);
	if (IS_ERR(ah->av)) {
		roce_object_put(&dev->objects.ah);
		return PTR_ERR(ah->av);
	}

	err = udata ? publish_ah(ah, udata) : 0;
	if (err)
		unpublish(ah);
	return err;
}

/**
 * roce_query_ah() - the query_ah verb
 * @ibah: the handle
 * @attr: to be filled in
 *
 * Return: 0.
 */
int roce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_roce_ah(ibah)->av->attr;
	return 0;
}

/**
 * roce_destroy_ah() - the destroy_ah verb
 * @ibah: the handle
 * @flags: whether the caller can sleep; unused, since nothing here sleeps
 *
 * Return: 0.
 */
int roce_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	unpublish(to_roce_ah(ibah));
	return 0;
}
