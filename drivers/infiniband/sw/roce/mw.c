// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows of type 1 and 2B (IBA volume 1, 10.6.7). A window lets peers
 * use a part of a region with an R_Key of its own. Work requests bind it to a
 * region and unbind it.
 *
 * Type 1 belongs to the protection domain: any QP of the domain can bind it,
 * even if it is bound. Type 2B belongs to the QP that binds it, as long as it
 * is bound, and must be invalidated before it is bound again.
 */
#include "access.h"
#include "device.h"
#include "key.h"
#include "mr.h"
#include "mw.h"
#include "qp.h"
#include "roce.h"
#include "section.h"

/* Programs often ask for local write, too, which has no meaning for a window. */
#define SUPPORTED_ACCESS \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED)

/**
 * roce_alloc_mw() - the alloc_mw verb
 * @ibmw: zeroed except for device, protection domain and type
 * @udata: unused
 *
 * Return: 0 or -ENOMEM.
 */
int roce_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct roce_device *dev = to_roce_device(ibmw->device);
	struct roce_mw *mw = to_roce_mw(ibmw);
	int err;

	if (!roce_object_get(&dev->objects.mw, ROCE_MAX_MW))
		return -ENOMEM;

	spin_lock_init(&mw->lock);
	mw->key.is_window = true;
	err = roce_key_publish(dev, &mw->key);
	if (err) {
		roce_object_put(&dev->objects.mw);
		return err;
	}
	ibmw->rkey = mw->key.value;
	return 0;
}

/* Unbinds a window; @mw may be unbound already. */
static void unbind(struct roce_mw *mw)
{
	struct roce_mr *mr = mw->mr;

	lockdep_assert_held(&mw->lock);
	if (!mr)
		return;
	roce_fair_write_lock(&mr->lock);
	mr->windows--;
	WRITE_ONCE(mw->mr, NULL);
	roce_fair_write_unlock(&mr->lock);
}

/**
 * roce_dealloc_mw() - the dealloc_mw verb
 * @ibmw: bound or not
 *
 * Return: 0.
 */
int roce_dealloc_mw(struct ib_mw *ibmw)
{
	struct roce_device *dev = to_roce_device(ibmw->device);
	struct roce_mw *mw = to_roce_mw(ibmw);

	roce_key_unpublish(dev, &mw->key);
	/* No bind is running after this. */
	roce_section_wait();
	spin_lock_bh(&mw->lock);
	unbind(mw);
	spin_unlock_bh(&mw->lock);
	roce_object_put(&dev->objects.mw);
	return 0;
}

static bool window_can_be_bound(const struct roce_mw *mw,
				const struct roce_binding *binding,
				const struct roce_qp *qp)
{
	lockdep_assert_held(&mw->lock);
	if (mw->key.value != binding->window_key ||
	    mw->ibmw.pd != qp->ibqp.pd ||
	    !roce_key_has_index(&mw->key, binding->new_key) ||
	    binding->access & ~SUPPORTED_ACCESS)
		return false;
	if (mw->ibmw.type == IB_MW_TYPE_1)
		return !(binding->access & IB_ZERO_BASED);
	return !mw->mr && binding->length;
}

static bool region_can_be_bound_to(const struct roce_mr *mr,
				   const struct roce_binding *binding,
				   const struct roce_qp *qp)
{
	const int writes = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC;

	lockdep_assert_held(&mr->lock.rwlock);
	return mr->valid && mr->key.value == binding->region_key &&
	       mr->ibmr.pd == qp->ibqp.pd &&
	       mr->access & IB_ACCESS_MW_BIND &&
	       !(mr->access & IB_ZERO_BASED) &&
	       (!(binding->access & writes) ||
		mr->access & IB_ACCESS_LOCAL_WRITE) &&
	       roce_range_covers(mr->iova, mr->length, binding->address,
				 binding->length);
}

static int bind_to_region(struct roce_mw *mw, struct roce_mr *mr,
			  const struct roce_binding *binding,
			  const struct roce_qp *qp)
{
	int err = -EINVAL;

	roce_fair_write_lock(&mr->lock);
	if (region_can_be_bound_to(mr, binding, qp)) {
		mw->key.value = binding->new_key;
		mw->qpn = qp->ibqp.qp_num;
		mw->access = binding->access;
		mw->start = binding->access & IB_ZERO_BASED ? 0 :
							      binding->address;
		mw->address = binding->address;
		mw->length = binding->length;
		WRITE_ONCE(mw->mr, mr);
		mr->windows++;
		err = 0;
	}
	roce_fair_write_unlock(&mr->lock);
	return err;
}

static struct roce_mr *find_region(struct roce_device *dev, u32 value)
{
	struct roce_key *key = roce_key_find(dev, value);

	return key && !key->is_window ? roce_mr_of_key(key) : NULL;
}

/**
 * roce_mw_bind() - execute a BIND_MW work request
 * @binding: the work request
 * @qp: its requester is owned by the caller
 *
 * In a section. A window of type 1 that was bound is unbound even if the
 * new binding fails.
 *
 * Return: 0 or -EINVAL.
 */
int roce_mw_bind(const struct roce_binding *binding, struct roce_qp *qp)
{
	struct roce_key *key = roce_key_find(qp->dev, binding->window_key);
	struct roce_mr *mr = NULL;
	struct roce_mw *mw;
	int err = -EINVAL;

	if (!key || !key->is_window)
		return -EINVAL;
	if (binding->length) {
		mr = find_region(qp->dev, binding->region_key);
		if (!mr)
			return -EINVAL;
	}

	mw = roce_mw_of_key(key);
	spin_lock_bh(&mw->lock);
	if (window_can_be_bound(mw, binding, qp)) {
		unbind(mw);
		if (mr) {
			err = bind_to_region(mw, mr, binding, qp);
		} else {
			mw->key.value = binding->new_key;
			err = 0;
		}
	}
	spin_unlock_bh(&mw->lock);
	return err;
}

/**
 * roce_mw_invalidate() - unbind a window for a work request or packet
 * @mw: found in this section
 * @key: the key that named it
 * @qp: QP that executes the work request or received the packet
 *
 * Allowed for a bound window of type 2 that belongs to @qp (IBA volume 1, 10.6.7).
 * On return, no access through the window is possible or in progress.
 *
 * Return: 0 or -EINVAL.
 */
int roce_mw_invalidate(struct roce_mw *mw, u32 key, struct roce_qp *qp)
{
	int err = -EINVAL;

	spin_lock_bh(&mw->lock);
	if (mw->ibmw.type == IB_MW_TYPE_2 && mw->mr && mw->key.value == key &&
	    mw->ibmw.pd == qp->ibqp.pd && mw->qpn == qp->ibqp.qp_num) {
		unbind(mw);
		err = 0;
	}
	spin_unlock_bh(&mw->lock);
	return err;
}
