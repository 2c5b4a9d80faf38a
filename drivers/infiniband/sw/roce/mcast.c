// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast of datagrams (IBA volume 1, 10.5, annex A17). A group is an IP
 * multicast address. A packet to a group names no QP: each QP that is attached to
 * the group gets a copy, if the packet came in through the netdev of its device,
 * or through a netdev on top of that. Malformed packets are dropped and counted once
 * for all QPs. A QP with another Q_Key gets no copy.
 *
 * The netdev joins the group by IGMP or MLD, and the IP stack counts the joins.
 * So the driver only knows which QPs are attached to a group. librdmacm joins for
 * VLANs on top of the netdev, since a QP does not tell which of them it means. The
 * IP stack also loops packets to a group back to the members on this host.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/rtnetlink.h>
#include <rdma/ib_addr.h>

#include "counters.h"
#include "device.h"
#include "mcast.h"
#include "qp.h"
#include "roce.h"
#include "run.h"

/**
 * struct attachment - the attachment of a QP to a group
 * @node: in the table, by @group
 * @group: IPv6 multicast address, or an IPv4 one as ::ffff:a.b.c.d
 * @qp: the QP, which cannot be destroyed before it is detached
 * @rcu: attachments are found under RCU
 */
struct attachment {
	struct rhlist_head node;
	struct in6_addr group;
	struct roce_qp *qp;
	struct rcu_head rcu;
};

static const struct rhashtable_params by_group = {
	.key_len = sizeof(struct in6_addr),
	.key_offset = offsetof(struct attachment, group),
	.head_offset = offsetof(struct attachment, node),
	.automatic_shrinking = true,
};

/* Attachments of all devices of the host */
static struct rhltable attachments;
static DEFINE_MUTEX(attachments_lock);	/* of changes; the RTNL nests in it */

static int join(const struct roce_device *dev, const struct in6_addr *group)
{
	struct in_device *in_dev;
	int err = 0;

	rtnl_lock();
	if (!net_eq(dev_net(dev->netdev), dev->net)) {
		err = -ENODEV;
	} else if (ipv6_addr_v4mapped(group)) {
		in_dev = __in_dev_get_rtnl(dev->netdev);
		if (in_dev)
			ip_mc_inc_group(in_dev, group->s6_addr32[3]);
		else
			err = -ENODEV;
	} else {
		err = ipv6_dev_mc_inc(dev->netdev, group);
	}
	rtnl_unlock();
	return err;
}

/* A netdev that is going, or has moved to another namespace, has already left. */
static void leave_group(const struct roce_device *dev, const struct in6_addr *group)
{
	struct in_device *in_dev;

	rtnl_lock();
	if (!net_eq(dev_net(dev->netdev), dev->net))
		goto unlock;
	if (ipv6_addr_v4mapped(group)) {
		in_dev = __in_dev_get_rtnl(dev->netdev);
		if (in_dev)
			ip_mc_dec_group(in_dev, group->s6_addr32[3]);
	} else {
		ipv6_dev_mc_dec(dev->netdev, group);
	}
unlock:
	rtnl_unlock();
}

/* Count the QPs of this device that are attached to a group, and look for @qp. */
static u32 count_attached(const struct roce_qp *qp, const struct in6_addr *group,
			  struct attachment **own)
{
	struct rhlist_head *list, *position;
	struct attachment *attachment;
	u32 count = 0;

	*own = NULL;
	rcu_read_lock();
	list = rhltable_lookup(&attachments, group, by_group);
	rhl_for_each_entry_rcu(attachment, position, list, node) {
		count += attachment->qp->dev == qp->dev;
		if (attachment->qp == qp)
			*own = attachment;
	}
	rcu_read_unlock();
	return count;
}

static int attach_to_group(struct roce_qp *qp, const struct in6_addr *group)
{
	struct attachment *attachment;
	int err;

	if (count_attached(qp, group, &attachment) == ROCE_MAX_GROUP_QPS)
		return -ENOMEM;
	if (attachment)
		return -EEXIST;

	attachment = kzalloc(sizeof(*attachment), GFP_KERNEL_ACCOUNT);
	if (!attachment)
		return -ENOMEM;
	attachment->group = *group;
	attachment->qp = qp;

	err = join(qp->dev, group);
	if (err)
		goto free;
	err = rhltable_insert(&attachments, &attachment->node, by_group);
	if (err)
		goto leave;
	return 0;

leave:
	leave_group(qp->dev, group);
free:
	kfree(attachment);
	return err;
}

/**
 * roce_attach_mcast() - the attach_mcast verb
 * @ibqp: a UD QP
 * @gid: of the group; the core made sure that it is a multicast GID
 * @lid: unused on Ethernet
 *
 * IBA volume 1, 11.3.1. Process context; takes the RTNL.
 *
 * Return: 0, -EEXIST if the QP is attached to the group, -ENOMEM, also if a limit of
 * the device is reached, -ENODEV or -EINVAL if the netdev does not have that version
 * of IP.
 */
int roce_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct roce_qp *qp = to_roce_qp(ibqp);
	struct in6_addr group;
	int err;

	if (!roce_object_get(&qp->dev->objects.attachment, ROCE_MAX_ATTACHMENTS))
		return -ENOMEM;

	memcpy(&group, gid->raw, sizeof(group));
	mutex_lock(&attachments_lock);
	err = attach_to_group(qp, &group);
	mutex_unlock(&attachments_lock);
	if (err)
		roce_object_put(&qp->dev->objects.attachment);
	return err;
}

/**
 * roce_detach_mcast() - the detach_mcast verb
 * @ibqp: the QP
 * @gid: of the group
 * @lid: unused on Ethernet
 *
 * IBA volume 1, 11.3.2. Process context; takes the RTNL.
 *
 * Return: 0, or -EINVAL if the QP is not attached to the group.
 */
int roce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct roce_qp *qp = to_roce_qp(ibqp);
	struct attachment *attachment;
	struct in6_addr group;

	memcpy(&group, gid->raw, sizeof(group));
	mutex_lock(&attachments_lock);
	count_attached(qp, &group, &attachment);
	if (attachment) {
		rhltable_remove(&attachments, &attachment->node, by_group);
		leave_group(qp->dev, &group);
	}
	mutex_unlock(&attachments_lock);
	if (!attachment)
		return -EINVAL;

	kfree_rcu(attachment, rcu);
	roce_object_put(&qp->dev->objects.attachment);
	return 0;
}

static bool is_ipvlan(const struct net_device *netdev)
{
	return netdev->rtnl_link_ops && !strcmp(netdev->rtnl_link_ops->kind, "ipvlan");
}

/* A netdev below passes such a one a copy, and receives the packet itself, too. */
static bool receives_copies(const struct net_device *netdev)
{
	netdev = rdma_vlan_dev_real_dev(netdev) ?: netdev;
	return netif_is_macvlan(netdev) || is_ipvlan(netdev);
}

static bool came_through(const struct roce_device *dev, struct net_device *netdev)
{
	return dev->netdev == netdev ||
	       (!receives_copies(netdev) &&
		netdev_has_upper_dev_all_rcu(dev->netdev, netdev));
}

static bool is_for(const struct attachment *attachment, const struct net *net,
		   struct net_device *netdev)
{
	return net_eq(attachment->qp->dev->net, net) &&
	       came_through(attachment->qp->dev, netdev);
}

static struct roce_qp *first_member(struct rhlist_head *list, const struct net *net,
				    struct net_device *netdev)
{
	struct rhlist_head *position;
	struct attachment *attachment;

	rhl_for_each_entry_rcu(attachment, position, list, node)
		if (is_for(attachment, net, netdev))
			return attachment->qp;
	return NULL;
}

static void give_copy(struct roce_qp *qp, struct sk_buff *skb,
		      const struct roce_run *run)
{
	struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC);

	if (!copy) {
		roce_count_add(qp, rx_dropped_no_memory,
			       DIV_ROUND_UP(run->end - run->offset, run->segment));
		return;
	}
	*roce_run(copy) = *run;
	roce_qp_receive(qp, &qp->responder.engine, copy);
}

/**
 * roce_mcast_receive() - give each QP of a group a copy of a run
 * @net: namespace in which it arrived
 * @netdev: through which it arrived
 * @skb: a run of packets to ROCE_QPN_MULTICAST; consumed
 *
 * The packets are checked once. Consecutive ones are copied together. The responder of
 * each QP drops what it cannot receive.
 *
 * Softirq context, in a section.
 */
void roce_mcast_receive(struct net *net, struct net_device *netdev,
			struct sk_buff *skb)
{
	struct rhlist_head *list, *position;
	struct in6_addr source, group;
	struct attachment *attachment;
	struct roce_packet packet;
	struct roce_run good, next;
	struct roce_qp *first;
	bool more;

	roce_run_addresses(skb, &source, &group);
	list = rhltable_lookup(&attachments, &group, by_group);
	first = first_member(list, net, netdev);
	more = first && roce_run_check(skb, first, &packet, &next);
	while (more) {
		good = next;
		while ((more = roce_run_check(skb, first, &packet, &next)) &&
		       next.offset == good.end) {
			good.end = next.end;
			good.same_identification |= next.same_identification;
		}
		rhl_for_each_entry_rcu(attachment, position, list, node)
			if (is_for(attachment, net, netdev))
				give_copy(attachment->qp, skb, &good);
	}
	consume_skb(skb);
}

/**
 * roce_mcast_init() - initialize the table of attachments
 *
 * Return: 0 or a negative errno.
 */
int roce_mcast_init(void)
{
	return rhltable_init(&attachments, &by_group);
}

/** roce_mcast_exit() - undo roce_mcast_init() */
void roce_mcast_exit(void)
{
	rhltable_destroy(&attachments);
}
