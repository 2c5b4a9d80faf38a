// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The verbs of a device, as the RDMA core calls them. Each is in the file of its object.
 */
#include <linux/module.h>
#include <rdma/ib_mad.h>

#include "ah.h"
#include "compat_verbs.h"
#include "counters.h"
#include "cq.h"
#include "device.h"
#include "fast_mr.h"
#include "mcast.h"
#include "mr.h"
#include "mw.h"
#include "pd.h"
#include "port.h"
#include "qp.h"
#include "receive.h"
#include "ring.h"
#include "roce.h"
#include "roce_wire.h"
#include "srq.h"
#include "verbs.h"

static int roce_get_port_immutable(struct ib_device *ibdev, u32 port,
				   struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->gid_tbl_len = ROCE_GID_TABLE_LENGTH;
	immutable->pkey_tbl_len = 1;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer roce_get_link_layer(struct ib_device *ibdev,
						u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int roce_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			   u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = ROCE_DEFAULT_PKEY;
	return 0;
}

static void roce_get_dev_fw_str(struct ib_device *ibdev, char *string)
{
	strscpy(string, ROCE_VERSION, IB_FW_VERSION_NAME_MAX);
}

/*
 * The driver id and the ABI are those of rdma_rxe, so that its user space provider,
 * which every distribution has, serves this driver, too.
 */
const struct ib_device_ops roce_device_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= RDMA_DRIVER_RXE,
	.uverbs_abi_ver		= 2,

	/* this file */
	.get_dev_fw_str		= roce_get_dev_fw_str,
	.get_link_layer		= roce_get_link_layer,
	.get_port_immutable	= roce_get_port_immutable,
	.query_pkey		= roce_query_pkey,

	/* device.c */
	.dealloc_driver		= roce_device_free,
	.modify_device		= roce_modify_device,
	.query_device		= roce_query_device,

	/* port.c */
	.get_netdev		= roce_get_netdev,
	.query_port		= roce_query_port,

	/* sysfs.c */
	.device_group		= &roce_device_group,

	/* counters.c */
	.alloc_hw_port_stats	= roce_alloc_hw_port_stats,
	.counter_alloc_stats	= roce_counter_alloc_stats,
	.counter_bind_qp	= roce_compat_counter_bind_qp,
	.counter_dealloc	= roce_counter_dealloc,
	.counter_unbind_qp	= roce_compat_counter_unbind_qp,
	.counter_update_stats	= roce_counter_update_stats,
	.get_hw_stats		= roce_get_hw_stats,
	ROCE_COMPAT_COUNTER_OPS

	/* restrack.c */
	.fill_res_cq_entry	= roce_fill_res_cq_entry,
	.fill_res_mr_entry	= roce_fill_res_mr_entry,
	.fill_res_qp_entry	= roce_fill_res_qp_entry,

	/* pma.c */
	.process_mad		= roce_process_mad,

	/* pd.c */
	.alloc_pd		= roce_alloc_pd,
	.alloc_ucontext		= roce_alloc_ucontext,
	.dealloc_pd		= roce_dealloc_pd,
	.dealloc_ucontext	= roce_dealloc_ucontext,
	.disassociate_ucontext	= roce_disassociate_ucontext,

	/* ring.c */
	.mmap			= roce_ring_mmap,
	.mmap_free		= roce_ring_mmap_free,

	/* ah.c */
	.create_ah		= roce_create_ah,
	.create_user_ah		= roce_create_ah,
	.destroy_ah		= roce_destroy_ah,
	.query_ah		= roce_query_ah,

	/* cq.c */
	.create_cq		= roce_compat_create_cq,
	.destroy_cq		= roce_destroy_cq,
	.poll_cq		= roce_poll_cq,
	.req_notify_cq		= roce_req_notify_cq,
	.roce_compat_op_resize_cq = roce_compat_resize_cq,

	/* srq.c */
	.create_srq		= roce_create_srq,
	.destroy_srq		= roce_destroy_srq,
	.modify_srq		= roce_modify_srq,
	.post_srq_recv		= roce_post_srq_recv,
	.query_srq		= roce_query_srq,

	/* fast_mr.c */
	.alloc_mr		= roce_alloc_mr,
	.map_mr_sg		= roce_map_mr_sg,

	/* mr.c */
	.dereg_mr		= roce_dereg_mr,
	.get_dma_mr		= roce_get_dma_mr,
	.reg_user_mr		= roce_compat_reg_user_mr,
	.reg_user_mr_dmabuf	= roce_compat_reg_dmabuf_mr,
	.rereg_user_mr		= roce_rereg_mr,

	/* prefetch.c, restrack.c */
	ROCE_COMPAT_ODP_OPS

	/* mw.c */
	.alloc_mw		= roce_alloc_mw,
	.dealloc_mw		= roce_dealloc_mw,

	/* qp_verbs.c */
	.create_qp		= roce_create_qp,
	.destroy_qp		= roce_destroy_qp,
	.modify_qp		= roce_modify_qp,
	.post_send		= roce_post_send,
	.query_qp		= roce_query_qp,

	/* receive_queue.c */
	.post_recv		= roce_post_recv,

	/* mcast.c */
	.attach_mcast		= roce_attach_mcast,
	.detach_mcast		= roce_detach_mcast,

	INIT_RDMA_OBJ_SIZE(ib_ah, roce_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, roce_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, roce_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, roce_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, roce_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, roce_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, roce_ucontext, ibuc),
};
