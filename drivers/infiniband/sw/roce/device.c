// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device: what it says of itself, and how it is made and freed. The list of all devices
 * is in devices.c.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_user_verbs.h>

#include "addresses.h"
#include "compat.h"
#include "congestion.h"
#include "device.h"
#include "devices.h"
#include "egress.h"
#include "key.h"
#include "odp.h"
#include "parent.h"
#include "port.h"
#include "recv.h"
#include "reorder.h"
#include "roce.h"
#include "roce_wire.h"
#include "verbs.h"

/* 4.096 us * 2^15 = 134 ms: a busy host may acknowledge so late. */
#define LOCAL_ACK_DELAY		15

/* All kinds of access can wait for pages. */
static void announce_odp(struct ib_device_attr *attr)
{
	struct ib_odp_caps *caps = &attr->odp_caps;

	roce_compat_set_odp_cap(attr);
	caps->general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	caps->per_transport_caps.rc_odp_caps =
		IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_SRQ_RECV |
		IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ | IB_ODP_SUPPORT_ATOMIC |
		IB_ODP_SUPPORT_ATOMIC_WRITE |
		(ROCE_COMPAT_HAS_FLUSH ? IB_ODP_SUPPORT_FLUSH : 0);
	caps->per_transport_caps.uc_odp_caps =
		IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_SRQ_RECV |
		IB_ODP_SUPPORT_WRITE;
	caps->per_transport_caps.ud_odp_caps =
		IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_SRQ_RECV;
}

/**
 * roce_query_device() - the query_device verb
 * @ibdev: the device
 * @attr: zeroed
 * @udata: NULL for a kernel consumer
 *
 * Return: 0.
 */
int roce_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		      struct ib_udata *udata)
{
	unsigned int major, minor, patch;

	if (sscanf(ROCE_VERSION, "%u.%u.%u", &major, &minor, &patch) == 3)
		attr->fw_ver = (u64)major << 32 | minor << 16 | patch;

	attr->sys_image_guid = ibdev->node_guid;
	attr->vendor_id = ROCE_VENDOR_ID;
	attr->device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SRQ_RESIZE |
				 IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B |
				 IB_DEVICE_ATOMIC_WRITE |
				 IB_DEVICE_FLUSH_GLOBAL;
	roce_compat_set_kernel_caps(attr);
	if (ROCE_HAS_ODP)
		announce_odp(attr);
	/* Generic atomic64_t takes a lock, which instructions of the CPU ignore. */
	attr->atomic_cap = IS_ENABLED(CONFIG_GENERIC_ATOMIC64) ?
			   IB_ATOMIC_HCA : IB_ATOMIC_GLOB;
	attr->local_ca_ack_delay = LOCAL_ACK_DELAY;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_pkeys = 1;

	attr->max_qp = ROCE_MAX_QP;
	attr->max_qp_wr = ROCE_MAX_QP_WR;
	attr->max_send_sge = ROCE_MAX_SGE;
	attr->max_recv_sge = ROCE_MAX_SGE;
	attr->max_sge_rd = ROCE_MAX_SGE;
	attr->max_qp_rd_atom = ROCE_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = ROCE_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = ROCE_MAX_RD_ATOMIC * ROCE_MAX_QP;
	attr->max_cq = ROCE_MAX_CQ;
	attr->max_cqe = ROCE_MAX_CQE;
	attr->max_srq = ROCE_MAX_SRQ;
	attr->max_srq_wr = ROCE_MAX_SRQ_WR;
	attr->max_srq_sge = ROCE_MAX_SGE;
	attr->max_mcast_grp = ROCE_MAX_ATTACHMENTS;
	attr->max_mcast_qp_attach = ROCE_MAX_GROUP_QPS;
	attr->max_total_mcast_qp_attach = ROCE_MAX_ATTACHMENTS;
	attr->max_mr = ROCE_MAX_MR;
	attr->max_mw = ROCE_MAX_MW;
	attr->max_fast_reg_page_list_len = ROCE_MAX_FAST_PAGES;
	attr->max_mr_size = ROCE_MAX_MR_SIZE;
	attr->max_pd = ROCE_MAX_PD;
	attr->max_ah = ROCE_MAX_AH;
	return 0;
}

/**
 * roce_modify_device() - the modify_device verb
 * @ibdev: the device
 * @mask: IB_DEVICE_MODIFY_*: what to change
 * @modify: new node description; rdma-ndd puts the name of the host there
 *
 * Return: 0, or -EOPNOTSUPP for anything but the node description.
 */
int roce_modify_device(struct ib_device *ibdev, int mask,
		       struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, modify->node_desc,
		       sizeof(ibdev->node_desc));
	return 0;
}

static bool carries_ip(const struct net_device *netdev)
{
	bool carries;

	rcu_read_lock();
	carries = __in_dev_get_rcu(netdev) || __in6_dev_get(netdev);
	rcu_read_unlock();
	return carries;
}

static int check_netdev(const struct net_device *netdev)
{
	const char *why;

	if (is_vlan_dev(netdev))
		why = "it is a VLAN; the device below it serves its VLANs, too";
	else if (!carries_ip(netdev))
		why = "it does not carry IP";
	else
		return 0;

	netdev_err(netdev, "cannot have a roce device: %s\n", why);
	return -EOPNOTSUPP;
}

/* Read net once: a netdev can move to another namespace at any time. */
static struct net *get_namespace(const struct net_device *netdev)
{
	struct net *net;

	rtnl_lock();
	net = maybe_get_net(dev_net(netdev));
	rtnl_unlock();
	return net;
}

/* Creating a socket without memory for its inode or itself fails with these errors. */
static int errno_of_sockets(int err)
{
	return err == -ENFILE || err == -ENOBUFS ? -ENOMEM : err;
}

static int open_port(const struct net_device *netdev, struct net *net)
{
	int err = errno_of_sockets(roce_recv_open(net));

	if (err == -EADDRINUSE)
		netdev_err(netdev, "cannot have a roce device: UDP port %u is taken in this network namespace, perhaps by rdma_rxe\n",
			   ROCE_UDP_PORT);
	else if (err)
		netdev_err(netdev, "cannot open UDP port %u: error %d\n",
			   ROCE_UDP_PORT, err);
	return err;
}

static void set_attributes(struct roce_device *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	ib_set_device_ops(ibdev, &roce_device_ops);
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	strscpy(ibdev->node_desc, "roce", sizeof(ibdev->node_desc));
	ibdev->node_guid = roce_addresses_guid(dev->netdev);
	ib_mark_name_assigned_by_user(ibdev);
	roce_compat_set_net(ibdev, dev->net);
}

/* Takes over the open UDP port on success. */
static struct roce_device *new_device(struct net_device *netdev, struct net *net)
{
	struct roce_device *dev;
	int err = -ENOMEM;

	dev = roce_compat_alloc_device(roce_device, ibdev, net);
	if (!dev)
		return ERR_PTR(err);

	dev->counters = alloc_percpu(struct roce_counters);
	if (!dev->counters)
		goto dealloc;
	err = roce_key_table_init(dev);
	if (err)
		goto free_counters;
	dev->reordering_us = ROCE_REORDERING_US;
	dev->loss_recovery = ROCE_SELECTIVE;
	dev->paths = 1;
	err = roce_cc_device_init(dev);
	if (err)
		goto destroy_table;

	dev->net = net;
	err = errno_of_sockets(roce_egress_open(dev));
	if (err)
		goto destroy_cc;

	xa_init_flags(&dev->qp_counters, XA_FLAGS_ALLOC1);
	mutex_init(&dev->port_counters.lock);
	xa_init_flags(&dev->address_vectors, XA_FLAGS_ALLOC1);
	dev->next_ah_number = get_random_u32() >> 1;
	dev->netdev = netdev;
	INIT_WORK(&dev->rescan, roce_addresses_rescan);
	INIT_WORK(&dev->take_speed, roce_devices_take_speed);
	dev->port_state = roce_port_state(netdev);
	err = roce_parent_create(dev);
	if (err)
		goto close_egress;
	netdev_hold(netdev, &dev->netdev_tracker, GFP_KERNEL);
	set_attributes(dev);
	return dev;

close_egress:
	roce_egress_close(dev);
destroy_cc:
	roce_cc_device_destroy(dev);
destroy_table:
	roce_key_table_destroy(dev);
free_counters:
	free_percpu(dev->counters);
dealloc:
	ib_dealloc_device(&dev->ibdev);
	return ERR_PTR(err);
}

/**
 * roce_device_free() - the dealloc_driver verb
 * @ibdev: unregistered, or never registered; without objects
 *
 * Frees everything except for the memory of @ibdev, and releases the netdev first.
 */
void roce_device_free(struct ib_device *ibdev)
{
	struct roce_device *dev = to_roce_device(ibdev);

	roce_devices_bury(dev);
	roce_recv_close(dev->net);

	/* The last address handles release their GIDs after an RCU grace period, by work. */
	rcu_barrier();
	flush_workqueue(ib_wq);
	cancel_work_sync(&dev->rescan);
	cancel_work_sync(&dev->take_speed);

	roce_parent_destroy(dev);
	roce_egress_close(dev);
	roce_cc_device_destroy(dev);
	roce_key_table_destroy(dev);
	xa_destroy(&dev->address_vectors);
	xa_destroy(&dev->qp_counters);
	free_percpu(dev->counters);
	netdev_put(dev->netdev, &dev->netdev_tracker);
}

static int register_device(struct roce_device *dev, const char *name)
{
	int err;

	err = roce_devices_insert(dev);
	if (err == -EEXIST)
		netdev_err(dev->netdev, "cannot have a second roce device: both would have the same addresses, which tell devices apart; give it to a macvlan with addresses of its own\n");
	if (err)
		goto dealloc;

	err = ib_register_device(&dev->ibdev, name, NULL);
	/* The error of the core for a name that is in use */
	if (err == -ENFILE)
		err = -EEXIST;
	if (err) {
		netdev_err(dev->netdev, "cannot register roce device %s: error %d\n",
			   name, err);
		roce_devices_remove(dev);
		goto dealloc;
	}

	err = roce_cc_device_publish(dev) ?: roce_devices_publish(dev);
	if (err)
		ib_unregister_device(&dev->ibdev);
	else /* Some may have come during the registration, before anybody followed them. */
		roce_addresses_look(dev);
	return err;

dealloc:
	ib_dealloc_device(&dev->ibdev);
	return err;
}

/**
 * roce_device_add() - create a device on top of a netdev: rdma link add
 * @name: of the device; may contain %d
 * @netdev: referenced by the caller
 *
 * Process context, without the RTNL.
 *
 * Return: 0; -EOPNOTSUPP if the netdev cannot have a device, -EEXIST if it has one or
 * the name is in use, -EADDRINUSE if UDP port 4791 is in use, -ENODEV if the netdev
 * is being unregistered, -ENOMEM, or an error of ib_register_device(). The log has the
 * reason.
 */
int roce_device_add(const char *name, struct net_device *netdev)
{
	struct roce_device *dev;
	struct net *net;
	int err;

	err = check_netdev(netdev);
	if (err)
		return err;

	net = get_namespace(netdev);
	if (!net)
		return -ENODEV;

	err = open_port(netdev, net);
	if (err)
		goto put_net;

	dev = new_device(netdev, net);
	if (IS_ERR(dev)) {
		err = PTR_ERR(dev);
		roce_recv_close(net);
		goto put_net;
	}

	get_device(&dev->ibdev.dev);
	err = register_device(dev, name);
	put_device(&dev->ibdev.dev);
put_net:
	put_net(net);
	return err;
}
