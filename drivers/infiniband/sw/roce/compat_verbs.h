/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_COMPAT_VERBS_H
#define ROCE_COMPAT_VERBS_H

/*
 * Wrappers for verbs whose signature differs between kernels. compat.h explains the
 * symbols.
 */
#include <rdma/uverbs_ioctl.h>

#include "compat.h"
#include "counters.h"
#include "cq.h"
#include "mr.h"
#include "prefetch.h"

#ifdef ROCE_HAVE_CREATE_CQ_BUNDLE
static int roce_compat_create_cq(struct ib_cq *ibcq,
				 const struct ib_cq_init_attr *attr,
				 struct uverbs_attr_bundle *bundle)
{
	return roce_create_cq(ibcq, attr,
			      bundle ? &bundle->driver_udata : NULL);
}
#else
#define roce_compat_create_cq roce_create_cq
#endif

#ifdef ROCE_HAVE_RESIZE_USER_CQ
#define roce_compat_op_resize_cq resize_user_cq
#define roce_compat_resize_cq roce_resize_cq
#else
#define roce_compat_op_resize_cq resize_cq
static int roce_compat_resize_cq(struct ib_cq *ibcq, int entries,
				 struct ib_udata *udata)
{
	if (entries < 0)
		return -EINVAL;
	if (!udata)
		return -EOPNOTSUPP;
	return roce_resize_cq(ibcq, entries, udata);
}
#endif

/* A DMA handle steers the writes of a PCI device, which does not exist here. */
#ifdef ROCE_HAVE_DMAH
static struct ib_mr *roce_compat_reg_user_mr(struct ib_pd *ibpd, u64 start,
					     u64 length, u64 iova, int access,
					     struct ib_dmah *dmah,
					     struct ib_udata *udata)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return roce_reg_mr(ibpd, start, length, iova, access);
}

static struct ib_mr *roce_compat_reg_dmabuf_mr(struct ib_pd *ibpd, u64 offset,
					       u64 length, u64 iova, int fd,
					       int access, struct ib_dmah *dmah,
					       struct uverbs_attr_bundle *attrs)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return roce_reg_dmabuf_mr(ibpd, offset, length, iova, fd, access);
}
#else
#ifdef ROCE_HAVE_REG_DMABUF_BUNDLE
#define ROCE_COMPAT_REG_DMABUF_LAST	struct uverbs_attr_bundle *attrs
#else
#define ROCE_COMPAT_REG_DMABUF_LAST	struct ib_udata *udata
#endif

static struct ib_mr *roce_compat_reg_user_mr(struct ib_pd *ibpd, u64 start,
					     u64 length, u64 iova, int access,
					     struct ib_udata *udata)
{
	return roce_reg_mr(ibpd, start, length, iova, access);
}

static struct ib_mr *roce_compat_reg_dmabuf_mr(struct ib_pd *ibpd, u64 offset,
					       u64 length, u64 iova, int fd,
					       int access,
					       ROCE_COMPAT_REG_DMABUF_LAST)
{
	return roce_reg_dmabuf_mr(ibpd, offset, length, iova, fd, access);
}
#endif

/* A device has one port, so every counter is a counter of that port. */
#ifdef ROCE_HAVE_COUNTER_BIND_PORT
static int roce_compat_counter_bind_qp(struct rdma_counter *counter,
				       struct ib_qp *ibqp, u32 port)
{
	return roce_counter_bind_qp(counter, ibqp);
}

static int roce_compat_counter_unbind_qp(struct ib_qp *ibqp, u32 port)
{
	return roce_counter_unbind_qp(ibqp);
}
#else
#define roce_compat_counter_bind_qp roce_counter_bind_qp
#define roce_compat_counter_unbind_qp roce_counter_unbind_qp
#endif

/* Newer cores allocate counters and need their size; the driver adds nothing to it. */
#ifdef ROCE_HAVE_COUNTER_INIT
static void roce_compat_counter_init(struct rdma_counter *counter)
{
}

#define ROCE_COMPAT_COUNTER_OPS \
	.counter_init		= roce_compat_counter_init, \
	.size_rdma_counter	= sizeof(struct rdma_counter),
#else
#define ROCE_COMPAT_COUNTER_OPS
#endif

/* The core offers a verb if there is a function for it. */
#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
#define ROCE_COMPAT_ODP_OPS \
	.advise_mr		= roce_advise_mr, \
	.fill_stat_mr_entry	= roce_fill_stat_mr_entry,
#else
#define ROCE_COMPAT_ODP_OPS
#endif

#endif /* ROCE_COMPAT_VERBS_H */
