// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues (IBA volume 1, 10.2.9): one queue of receives for many
 * QPs. QPs on different CPUs take receives at the same time, so unlike the
 * receive queue of a QP this one has a lock.
 */
#include <rdma/uverbs_ioctl.h>

#include "device.h"
#include "receive.h"
#include "ring.h"
#include "roce.h"
#include "srq.h"

static int check_srq_init_attr(const struct ib_srq_init_attr *init,
			       const struct ib_udata *udata)
{
	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > ROCE_MAX_SRQ_WR ||
	    init->attr.max_sge > ROCE_MAX_SGE)
		return -EINVAL;
	if (udata && udata->outlen < sizeof(struct rxe_create_srq_resp))
		return -EINVAL;
	return 0;
}

/**
 * roce_create_srq() - the create_srq verb
 * @ibsrq: allocated and zeroed by the core
 * @init: wanted values; max_wr is set to the granted one. An armed limit is checked when
 *	a receive is taken, not before. One above max_wr is none.
 * @udata: of a program, or NULL
 *
 * IBA volume 1, 11.2.3.1. Does not return the SRQ number, which only XRC needs.
 *
 * Return: 0, -EOPNOTSUPP for a type that is not supported, -EINVAL for values
 * out of range, -ENOMEM or -EFAULT.
 */
int roce_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		    struct ib_udata *udata)
{
	struct roce_device *dev = to_roce_device(ibsrq->device);
	struct roce_srq *srq = to_roce_srq(ibsrq);
	struct rxe_create_srq_resp response = {};
	int err;

	err = check_srq_init_attr(init, udata);
	if (err)
		return err;
	if (!roce_object_get(&dev->objects.srq, ROCE_MAX_SRQ))
		return -ENOMEM;

	spin_lock_init(&srq->lock);
	mutex_init(&srq->modify_lock);
	srq->max_sges = init->attr.max_sge;
	/* A program need not set it (ibv_create_srq(3)), so it may be anything. */
	if (init->attr.srq_limit <= init->attr.max_wr)
		srq->limit = init->attr.srq_limit;
	err = roce_ring_init(&srq->ring, init->attr.max_wr,
			     roce_receive_size(srq->max_sges), false, udata,
			     &response.mi);
	if (!err && udata)
		err = ib_copy_to_udata(udata, &response, sizeof(response));
	if (err) {
		roce_ring_free(&srq->ring);
		roce_object_put(&dev->objects.srq);
		return err;
	}
	init->attr.max_wr = roce_ring_capacity(&srq->ring);
	return 0;
}

/**
 * roce_destroy_srq() - the destroy_srq verb
 * @ibsrq: not used by any QP
 * @udata: of a program, or NULL
 *
 * Return: 0.
 */
int roce_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	roce_ring_free(&to_roce_srq(ibsrq)->ring);
	roce_object_put(&to_roce_device(ibsrq->device)->objects.srq);
	return 0;
}

/* The provider expects the place of the new ring at an address of its own. */
static int tell_user(struct ib_udata *udata, const struct mminfo *info)
{
	struct rxe_modify_srq_cmd command;
	int err;

	if (udata->inlen < sizeof(command))
		return -EINVAL;
	err = ib_copy_from_udata(&command, udata, sizeof(command));
	if (!err && copy_to_user(u64_to_user_ptr(command.mmap_info_addr), info,
				 sizeof(*info)))
		err = -EFAULT;
	return err;
}

/*
 * The program learns of the new ring before it is in use: nothing that can fail
 * follows the exchange. Its library posts nothing meanwhile. A program that posts to
 * the old ring nevertheless loses that receive.
 */
static int prepare_ring(const struct roce_srq *srq, u32 max_wr,
			struct ib_udata *udata, struct roce_ring *ring)
{
	struct mminfo info = {};
	int err;

	if (!max_wr || max_wr > ROCE_MAX_SRQ_WR)
		return -EINVAL;
	err = roce_ring_init(ring, max_wr, roce_receive_size(srq->max_sges), false,
			     udata, &info);
	if (!err && udata)
		err = tell_user(udata, &info);
	return err;
}

static void report_limit(struct roce_srq *srq)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

/* If the limit is reached already, report it now: no later event would. */
static bool arm_limit(struct roce_srq *srq, u32 limit)
{
	bool reached;

	spin_lock_irq(&srq->lock);
	reached = roce_ring_used(&srq->ring) < limit;
	srq->limit = reached ? 0 : limit;
	spin_unlock_irq(&srq->lock);
	return reached;
}

/**
 * roce_modify_srq() - the modify_srq verb: resize, or arm the limit
 * @ibsrq: the SRQ
 * @attr: new values
 * @mask: IB_SRQ_MAX_WR, IB_SRQ_LIMIT or both
 * @udata: of a program, or NULL
 *
 * IBA volume 1, 11.2.3.3. On error nothing has changed. Calls the consumer's handler
 * if fewer receives are posted than the limit.
 *
 * Return: 0, -EINVAL for values out of range, or for a size below the limit or
 * below the number of posted receives; -EOPNOTSUPP, -ENOMEM or -EFAULT.
 */
int roce_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		    enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct roce_srq *srq = to_roce_srq(ibsrq);
	bool resize = mask & IB_SRQ_MAX_WR, limit_reached = false;
	struct roce_ring ring = {};
	int err = 0;
	u32 limit;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EOPNOTSUPP;
	if (resize)
		err = prepare_ring(srq, attr->max_wr, udata, &ring);
	if (err)
		goto free_ring;

	mutex_lock(&srq->modify_lock);
	limit = mask & IB_SRQ_LIMIT ? attr->srq_limit : READ_ONCE(srq->limit);
	if (limit > roce_ring_capacity(resize ? &ring : &srq->ring))
		err = -EINVAL;
	else if (resize)
		err = roce_ring_replace(&srq->ring, &ring, &srq->lock);
	if (!err && mask & IB_SRQ_LIMIT)
		limit_reached = arm_limit(srq, limit);
	mutex_unlock(&srq->modify_lock);
	if (limit_reached)
		report_limit(srq);
free_ring:
	roce_ring_free(&ring);
	return err;
}

/**
 * roce_query_srq() - the query_srq verb
 * @ibsrq: the SRQ
 * @attr: filled in; the limit is 0 after it was reached
 *
 * Return: 0.
 */
int roce_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct roce_srq *srq = to_roce_srq(ibsrq);

	spin_lock_irq(&srq->lock);
	attr->max_wr = roce_ring_capacity(&srq->ring);
	attr->max_sge = srq->max_sges;
	attr->srq_limit = srq->limit;
	spin_unlock_irq(&srq->lock);
	return 0;
}

/**
 * roce_srq_fetch() - take the next receive
 * @srq: the SRQ of the QP
 * @receive: filled in; has room for max_sges
 *
 * Softirq context, or BH disabled. Calls the consumer's handler when the number of
 * posted receives falls below the limit.
 *
 * Return: false if none was posted.
 */
bool roce_srq_fetch(struct roce_srq *srq, struct roce_receive *receive)
{
	bool fetched, limit_reached;
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	fetched = roce_receive_take(&srq->ring, srq->max_sges, receive);
	limit_reached = fetched && srq->limit &&
			roce_ring_used(&srq->ring) < srq->limit;
	if (limit_reached)
		srq->limit = 0;
	spin_unlock_irqrestore(&srq->lock, flags);

	if (limit_reached)
		report_limit(srq);
	return fetched;
}

/**
 * roce_post_srq_recv() - the post_srq_recv verb, of kernel consumers
 * @ibsrq: of a kernel consumer: the library of a program fills the ring itself
 * @wr: list of receives
 * @bad_wr: set to the first one that was refused
 *
 * Any context.
 *
 * Return: 0, -EINVAL with too many sges, -ENOMEM if the queue is full.
 */
int roce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	struct roce_srq *srq = to_roce_srq(ibsrq);
	unsigned long flags;
	int err;

	*bad_wr = wr;
	if (ibsrq->uobject)
		return -EINVAL;

	spin_lock_irqsave(&srq->lock, flags);
	err = roce_receive_post(&srq->ring, srq->max_sges, wr, bad_wr);
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}
