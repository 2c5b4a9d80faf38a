// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The module: sets up what all devices need, and registers "rdma link add". */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "addresses.h"
#include "compat.h"
#include "congestion.h"
#include "device.h"
#include "devices.h"
#include "engine.h"
#include "fault.h"
#include "icrc.h"
#include "mcast.h"
#include "parent.h"
#include "prefetch.h"
#include "recv.h"
#include "roce.h"
#include "roce_opcode.h"
#include "train.h"

static struct rdma_link_ops link_ops = {
	.type = "roce",
	.newlink = roce_device_add,
};

static int __init roce_init(void)
{
	int err;

	if (ROCE_COMPAT_BH_IS_PREEMPTED) {
		pr_err("roce: a kernel with PREEMPT_RT must have PREEMPT_RT_NEEDS_BH_LOCK\n");
		return -EOPNOTSUPP;
	}

	err = roce_icrc_init();
	if (err)
		return err;

	roce_opcodes_init();
	roce_engines_init();
	err = roce_faults_init();
	if (err)
		goto icrc_exit;

	err = roce_prefetch_init();
	if (err)
		goto faults_exit;

	err = roce_mcast_init();
	if (err)
		goto prefetch_exit;

	err = roce_cc_init();
	if (err)
		goto mcast_exit;

	err = roce_recv_init();
	if (err)
		goto cc_exit;

	err = roce_local_users_init();
	if (err)
		goto recv_exit;

	err = roce_addresses_init();
	if (err)
		goto local_users_exit;

	err = roce_parent_init();
	if (err)
		goto addresses_exit;

	err = roce_devices_init();
	if (err)
		goto parent_exit;

	rdma_link_register(&link_ops);
	return 0;

parent_exit:
	roce_parent_exit();
addresses_exit:
	roce_addresses_exit();
local_users_exit:
	roce_local_users_exit();
recv_exit:
	roce_recv_exit();
cc_exit:
	roce_cc_exit();
mcast_exit:
	roce_mcast_exit();
prefetch_exit:
	roce_prefetch_exit();
faults_exit:
	roce_faults_exit();
icrc_exit:
	roce_icrc_exit();
	return err;
}

static void __exit roce_exit(void)
{
	rdma_link_unregister(&link_ops);
	roce_devices_exit();
	roce_parent_exit();
	roce_addresses_exit();
	roce_local_users_exit();
	roce_recv_exit();
	roce_cc_exit();
	roce_mcast_exit();
	roce_prefetch_exit();
	roce_faults_exit();
	roce_engines_exit();
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
