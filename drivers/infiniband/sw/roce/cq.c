// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: rings that the driver fills, and the events of consumers that wait
 * for a completion.
 */
#include <rdma/uverbs_ioctl.h>

#include "compat.h"
#include "cq.h"
#include "device.h"
#include "receive.h"
#include "ring.h"
#include "roce.h"

static size_t completion_size(const struct ib_udata *udata)
{
	return udata ? sizeof(struct ib_uverbs_wc) : sizeof(struct ib_wc);
}

static bool is_user(const struct roce_cq *cq)
{
	return cq->ring.mapping;
}

static void call_handler(struct roce_bh *bh)
{
	struct roce_cq *cq = container_of(bh, struct roce_cq, handler);

	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/**
 * roce_create_cq() - the create_cq verb
 * @ibcq: zeroed, except for the fields of the core
 * @attr: minimum number of entries
 * @udata: NULL for a kernel consumer
 *
 * A program with one event channel for several CQs may poll one CQ for an event of
 * another, and is then some completions behind. perftest does so, with queues for a
 * single request. So like RNICs this adds room for more completions.
 *
 * Return: 0, -EINVAL, -EOPNOTSUPP, -ENOMEM or -EFAULT.
 */
int roce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct ib_udata *udata)
{
	struct roce_device *dev = to_roce_device(ibcq->device);
	struct roce_cq *cq = to_roce_cq(ibcq);
	struct rxe_create_cq_resp response = {};
	u32 entries = attr->cqe;
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > ROCE_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	if (udata && udata->outlen < sizeof(response))
		return -EINVAL;

	if (!roce_object_get(&dev->objects.cq, ROCE_MAX_CQ))
		return -ENOMEM;

	if (udata)
		entries = max(entries, ROCE_MIN_USER_ENTRIES);
	err = roce_ring_init(&cq->ring, entries, completion_size(udata), true,
			     udata, &response.mi);
	if (err)
		goto uncount;

	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_lock);
	roce_bh_init(&cq->handler, call_handler);
	INIT_LIST_HEAD(&cq->idle_qps);
	ibcq->cqe = roce_ring_capacity(&cq->ring);

	if (udata)
		err = ib_copy_to_udata(udata, &response, sizeof(response));
	if (err)
		goto free_ring;
	return 0;

free_ring:
	roce_ring_free(&cq->ring);
uncount:
	roce_object_put(&dev->objects.cq);
	return err;
}

/**
 * roce_destroy_cq() - the destroy_cq verb
 * @ibcq: not used by any QP
 * @udata: NULL for a kernel consumer
 *
 * Return: 0.
 */
int roce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct roce_cq *cq = to_roce_cq(ibcq);
	struct roce_ring ring = {};

	roce_bh_cancel(&cq->handler);
	spin_lock_irq(&cq->lock);
	swap(ring, cq->ring);
	spin_unlock_irq(&cq->lock);
	roce_ring_free(&ring);
	roce_object_put(&to_roce_device(ibcq->device)->objects.cq);
	return 0;
}

/**
 * roce_resize_cq() - the resize_cq verb
 * @ibcq: of a user program
 * @entries: new minimum number of entries
 * @udata: of the program
 *
 * The program learns of the new ring before it is in use: nothing that can fail
 * follows the exchange.
 *
 * Return: 0, -EINVAL for a number that is out of bounds or less than the unpolled
 * completions, -ENOMEM or -EFAULT.
 */
int roce_resize_cq(struct ib_cq *ibcq, unsigned int entries,
		   struct ib_udata *udata)
{
	struct roce_cq *cq = to_roce_cq(ibcq);
	struct rxe_resize_cq_resp response = {};
	struct roce_ring ring;
	int err;

	if (!entries || entries > ROCE_MAX_CQE ||
	    udata->outlen < sizeof(response))
		return -EINVAL;

	err = roce_ring_init(&ring, entries, completion_size(udata), true, udata,
			     &response.mi);
	if (err)
		return err;

	err = ib_copy_to_udata(udata, &response, sizeof(response));
	if (err)
		goto out;

	mutex_lock(&cq->resize_lock);
	err = roce_ring_replace(&cq->ring, &ring, &cq->lock);
	if (!err)
		ibcq->cqe = roce_ring_capacity(&cq->ring);
	mutex_unlock(&cq->resize_lock);
out:
	roce_ring_free(&ring);
	return err;
}

/* The flags of the user ABI: a subset of the kernel's, and one has another bit. */
#define USER_WITH_INVALIDATE	BIT(3)

static unsigned int user_flags(int flags)
{
	return (flags & (IB_WC_GRH | IB_WC_WITH_IMM)) |
	       (flags & IB_WC_WITH_INVALIDATE ? USER_WITH_INVALIDATE : 0);
}

static void write_entry(struct roce_cq *cq, u32 ahead, const struct ib_wc *wc)
{
	struct ib_uverbs_wc *user;

	if (!is_user(cq)) {
		*(struct ib_wc *)roce_ring_element(&cq->ring, ahead) = *wc;
		return;
	}

	user = roce_ring_element(&cq->ring, ahead);
	*user = (struct ib_uverbs_wc) {
		.wr_id		= wc->wr_id,
		.status		= wc->status,
		.opcode		= wc->opcode,
		.vendor_err	= wc->vendor_err,
		.byte_len	= wc->byte_len,
		.ex.imm_data	= wc->ex.imm_data,
		.qp_num		= wc->qp->qp_num,
		.src_qp		= wc->src_qp,
		.wc_flags	= user_flags(wc->wc_flags),
		.pkey_index	= wc->pkey_index,
		.slid		= wc->slid,
		.sl		= wc->sl,
		.dlid_path_bits	= wc->dlid_path_bits,
		.port_num	= wc->port_num,
	};
}

/* Whether the consumer has asked for an event for this kind of completion */
static bool is_awaited(const struct roce_cq *cq, const struct ib_wc *wc,
		       bool solicited)
{
	if (!cq->notify)
		return false;
	return cq->notify != IB_CQ_SOLICITED || solicited ||
	       wc->status != IB_WC_SUCCESS;
}

/* An event is sent: disarm, and count it for one completion. */
static void announce(struct roce_cq *cq)
{
	cq->notify = 0;
	cq->unannounced--;
}

static void report_overflow(struct roce_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

/**
 * roce_cq_post() - add completions
 * @cq: cannot be destroyed, since a QP of the caller uses it
 * @wc: the completions, with their QP set
 * @count: their number; a program sees all of them at once
 * @solicited: of a receive whose packet asked for an event; errors always count
 *	as solicited (IBA volume 1, 11.4.2.2)
 *
 * Any context, without any lock that a completion event handler may take.
 *
 * Return: false if the CQ has overflowed, now or before: a completion is lost,
 * and the QP must go to the error state.
 */
bool roce_cq_post(struct roce_cq *cq, const struct ib_wc *wc, u32 count,
		  bool solicited)
{
	bool notify = false, overflow = false;
	u32 unread, room, posted, i;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	unread = roce_ring_unconsumed(&cq->ring);
	room = cq->overflowed ? 0 : roce_ring_capacity(&cq->ring) - unread;
	posted = min(count, room);
	for (i = 0; i < posted; i++) {
		write_entry(cq, i, &wc[i]);
		cq->unannounced = min(cq->unannounced, unread + i) + 1;
		if (is_awaited(cq, &wc[i], solicited)) {
			announce(cq);
			notify = true;
		}
	}
	roce_ring_advance_by(&cq->ring, posted);
	if (posted < count) {
		overflow = !cq->overflowed;
		cq->overflowed = true;
	}
	spin_unlock_irqrestore(&cq->lock, flags);

	if (notify)
		roce_bh_schedule(&cq->handler);
	if (overflow)
		report_overflow(cq);
	return posted == count;
}

/**
 * roce_poll_cq() - the poll_cq verb, of kernel consumers
 * @ibcq: of a kernel consumer
 * @count: maximum number of completions
 * @wc: to be filled in
 *
 * Any context.
 *
 * Return: number of completions.
 */
int roce_poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc)
{
	struct roce_cq *cq = to_roce_cq(ibcq);
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < count && !roce_ring_empty(&cq->ring); i++) {
		wc[i] = *(struct ib_wc *)roce_ring_peer_element(&cq->ring);
		roce_ring_peer_advance(&cq->ring);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

/**
 * roce_req_notify_cq() - the req_notify_cq verb
 * @ibcq: the CQ
 * @flags: which completion triggers the handler, and whether to report that there are
 *	some already
 *
 * Any context for a kernel consumer, process context for a program. IBA volume 1,
 * 11.4.2.2: a request for any completion is not replaced by one for a solicited
 * completion only.
 *
 * A program does not see the return value, and if it polls only some of the
 * completions, it would wait in vain for the next one. RNICs, which learn with the
 * request what was polled so far, send an event at once. So does this, if more
 * completions are unpolled than there were events for them. A program that asks for
 * the next event before it polls the one completion of this event gets no second event
 * for it: perftest would take that for the next completion, and post too early.
 *
 * Return: 1 if there are completions and the caller asked for a report, else 0.
 */
int roce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct roce_cq *cq = to_roce_cq(ibcq);
	unsigned long irq_flags;
	bool at_once;
	u32 unread;

	spin_lock_irqsave(&cq->lock, irq_flags);
	if (cq->notify != IB_CQ_NEXT_COMP)
		cq->notify = flags & IB_CQ_SOLICITED_MASK;
	unread = roce_ring_unconsumed(&cq->ring);
	cq->unannounced = min(cq->unannounced, unread);
	at_once = cq->unannounced && is_user(cq) && cq->notify == IB_CQ_NEXT_COMP;
	if (at_once)
		announce(cq);
	spin_unlock_irqrestore(&cq->lock, irq_flags);

	if (at_once)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
	if (is_user(cq))
		roce_receive_look(cq);
	return unread && flags & IB_CQ_REPORT_MISSED_EVENTS;
}
