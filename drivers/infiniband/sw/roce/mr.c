// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: what all kinds have in common, and the regions of user programs,
 * whose memory comes from user_memory.c. Fast regions are in fast_mr.c, access to the
 * memory in access.c.
 */
#include <rdma/ib_umem.h>

#include "compat.h"
#include "device.h"
#include "key.h"
#include "mr.h"
#include "odp.h"
#include "roce.h"
#include "section.h"
#include "user_memory.h"

/*
 * The rights of a region. Flags that the IBA calls optional are accepted and
 * ignored. IB_ACCESS_ON_DEMAND is no right: only roce_reg_mr() knows it.
 */
#define SUPPORTED_ACCESS \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
	 IB_ACCESS_FLUSH_GLOBAL | \
	 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB | \
	 IB_ACCESS_OPTIONAL)

/**
 * roce_mr_check_access() - whether a region can have these rights
 * @access: IB_ACCESS_* flags, of a program or a work request
 *
 * IBA volume 1, 11.2.8. Any context.
 *
 * Return: 0, -EOPNOTSUPP for unknown flags, or -EINVAL if a peer could write but
 * the owner could not.
 */
int roce_mr_check_access(int access)
{
	if (access & ~SUPPORTED_ACCESS)
		return -EOPNOTSUPP;

	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

/**
 * roce_mr_new() - allocate a region without memory and key, in the Invalid state
 * @ibpd: its protection domain
 * @kind: its kind
 * @access: IB_ACCESS_* flags, checked
 *
 * Process context. The region cannot be found before roce_mr_publish().
 *
 * Return: the region, to be freed by roce_mr_free(), or ERR_PTR(-ENOMEM), also if the
 * device has reached its limit.
 */
struct roce_mr *roce_mr_new(struct ib_pd *ibpd, enum roce_mr_kind kind, int access)
{
	struct roce_device *dev = to_roce_device(ibpd->device);
	struct roce_mr *mr;

	if (!roce_object_get(&dev->objects.mr, ROCE_MAX_MR))
		return ERR_PTR(-ENOMEM);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr) {
		roce_object_put(&dev->objects.mr);
		return ERR_PTR(-ENOMEM);
	}
	mr->ibmr.device = ibpd->device;
	mr->ibmr.pd = ibpd;
	mr->kind = kind;
	mr->access = access;
	roce_fair_lock_init(&mr->lock);
	return mr;
}

static struct roce_user_memory memory_of(const struct roce_mr *mr)
{
	struct roce_user_memory memory = {
		.umem = mr->umem, .odp = mr->odp, .dmabuf = mr->dmabuf,
		.extents = mr->extents, .extent_count = mr->extent_count,
	};

	if (mr->kind == ROCE_MR_DMABUF)
		memory.dmabuf_map = mr->dmabuf_map;
	else
		memory.pages = mr->pages;
	return memory;
}

static void set_memory(struct roce_mr *mr, const struct roce_user_memory *memory)
{
	mr->kind = memory->kind;
	mr->iova = memory->iova;
	mr->length = memory->length;
	/* For the core's restrack */
	mr->ibmr.iova = memory->iova;
	mr->ibmr.length = memory->length;
	mr->first_offset = memory->first_offset;
	mr->umem = memory->umem;
	mr->odp = memory->odp;
	if (mr->odp)
		mr->odp->lock = &mr->lock;
	mr->extents = memory->extents;
	mr->extent_count = memory->extent_count;
	mr->dmabuf = memory->dmabuf;
	if (mr->kind == ROCE_MR_DMABUF)
		mr->dmabuf_map = memory->dmabuf_map;
	else
		mr->pages = memory->pages;
}

/**
 * roce_mr_free() - free a region and its memory
 * @mr: allocated by roce_mr_new(), not published
 *
 * Process context. The memory must be unused. Readers under RCU may still look at
 * the key.
 */
void roce_mr_free(struct roce_mr *mr)
{
	struct roce_device *dev = to_roce_device(mr->ibmr.device);
	struct roce_user_memory memory;

	if (mr->kind == ROCE_MR_FAST) {
		kvfree(mr->blocks);
		kvfree(mr->mapped);
		kvfree(mr->extents);
		kvfree(mr->mapped_extents);
	} else {
		memory = memory_of(mr);
		roce_user_memory_release(&memory);
	}
	kfree_rcu(mr, rcu);
	roce_object_put(&dev->objects.mr);
}

/**
 * roce_mr_publish() - give a region a key and make it findable
 * @mr: allocated by roce_mr_new(), complete; freed on error
 *
 * Process context. The key is also stored for the core.
 *
 * Return: the core's part of the region, or the error pointer of
 * roce_key_publish().
 */
struct ib_mr *roce_mr_publish(struct roce_mr *mr)
{
	int err = roce_key_publish(to_roce_device(mr->ibmr.device), &mr->key);

	if (err) {
		roce_mr_free(mr);
		return ERR_PTR(err);
	}
	mr->ibmr.lkey = mr->key.value;
	mr->ibmr.rkey = mr->key.value;
	return &mr->ibmr;
}

/**
 * roce_get_dma_mr() - the get_dma_mr verb: all of the kernel's memory
 * @ibpd: of a kernel consumer
 * @access: IB_ACCESS_* flags
 *
 * The device does no DMA, so the addresses of such a region are kernel virtual
 * ones; see ib_uses_virt_dma(). The core makes one for each protection domain
 * of a kernel consumer, for its local_dma_lkey.
 *
 * Return: the region, or an error pointer.
 */
struct ib_mr *roce_get_dma_mr(struct ib_pd *ibpd, int access)
{
	int err = roce_mr_check_access(access);
	struct roce_mr *mr;

	if (err)
		return ERR_PTR(err);
	mr = roce_mr_new(ibpd, ROCE_MR_DMA, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	mr->length = U64_MAX;
	roce_mr_set_valid(mr, true);
	return roce_mr_publish(mr);
}

/* Takes over @memory, also on error. */
static struct ib_mr *new_user_region(struct ib_pd *ibpd,
				     const struct roce_user_memory *memory)
{
	struct roce_mr *mr = roce_mr_new(ibpd, memory->kind, memory->access);

	if (IS_ERR(mr)) {
		roce_user_memory_release(memory);
		return ERR_CAST(mr);
	}
	set_memory(mr, memory);
	roce_mr_set_valid(mr, true);
	return roce_mr_publish(mr);
}

/**
 * roce_reg_mr() - the reg_user_mr verb
 * @ibpd: of a user program
 * @start: address of the memory in the calling program
 * @length: bytes
 * @iova: address of the first byte in work requests and packets
 * @access: IB_ACCESS_* flags; with IB_ACCESS_ON_DEMAND the memory is not pinned
 *
 * Return: the region, or an error pointer.
 */
struct ib_mr *roce_reg_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
			  int access)
{
	struct roce_user_memory memory = {
		.iova = iova, .length = length, .access = access,
	};
	int err;

	err = roce_mr_check_access(access & ~IB_ACCESS_ON_DEMAND);
	if (err)
		return ERR_PTR(err);
	err = access & IB_ACCESS_ON_DEMAND ?
	      roce_user_memory_map_on_demand(ibpd->device, start, &memory) :
	      roce_user_memory_pin(ibpd->device, start, &memory);
	if (err)
		return ERR_PTR(err);
	return new_user_region(ibpd, &memory);
}

/**
 * roce_reg_dmabuf_mr() - the reg_user_mr_dmabuf verb
 * @ibpd: of a user program
 * @offset: of the first byte in the buffer
 * @length: bytes
 * @iova: address of the first byte in work requests and packets
 * @fd: of the buffer, in the calling process
 * @access: IB_ACCESS_* flags
 *
 * Return: the region, or an error pointer; see roce_dmabuf_map().
 */
struct ib_mr *roce_reg_dmabuf_mr(struct ib_pd *ibpd, u64 offset, u64 length,
				 u64 iova, int fd, int access)
{
	struct roce_user_memory memory = {
		.iova = iova, .length = length, .access = access,
	};
	int err;

	err = roce_mr_check_access(access) ?:
	      roce_user_memory_map_dmabuf(ibpd->device, fd, offset, &memory);
	if (err)
		return ERR_PTR(err);
	return new_user_region(ibpd, &memory);
}

/*
 * Running sections may have seen the region valid: callers wait for them. Fast
 * regions and windows are checked under the lock.
 */
static int invalidate_unbound(struct roce_mr *mr)
{
	int err = 0;

	roce_fair_write_lock(&mr->lock);
	if (mr->windows)
		err = -EBUSY;
	else
		roce_mr_set_valid(mr, false);
	roce_fair_write_unlock(&mr->lock);
	return err;
}

/* Pages pinned for reading must be pinned again to become writable. */
static bool must_pin_again(const struct roce_mr *mr, int access)
{
	return mr->umem && ib_access_writable(access) && !mr->umem->writable;
}

/*
 * Pin the memory that the region gets. Without IB_MR_REREG_TRANS that is its present
 * memory, if that must be pinned again, or none.
 */
static int pin_new_memory(struct roce_mr *mr, int flags, u64 start,
			  struct roce_user_memory *new)
{
	if (!(flags & IB_MR_REREG_TRANS)) {
		/* This flag changes the address of the first byte. */
		if ((new->access ^ mr->access) & IB_ZERO_BASED)
			return -EINVAL;
		if (!must_pin_again(mr, new->access))
			return 0;
		if (mr->umem->owning_mm != current->mm)
			return -EPERM;
		start = mr->umem->address;
		new->length = mr->length;
		new->iova = mr->iova;
	}
	return roce_user_memory_pin(mr->ibmr.device, start, new);
}

/**
 * roce_rereg_mr() - the rereg_user_mr verb
 * @ibmr: of a program
 * @flags: IB_MR_REREG_*: which of the following are new
 * @start: address of the memory in the calling program
 * @length: bytes
 * @iova: address of the first byte in work requests and packets
 * @access: IB_ACCESS_* flags
 * @ibpd: the protection domain
 * @udata: unused
 *
 * The keys stay (IBA volume 1, 11.2.8). Accesses are refused while it runs. On
 * error the region is unchanged.
 *
 * Return: NULL, or an error pointer: -EBUSY while windows are bound, -EOPNOTSUPP for
 * memory that is not, or should not be, pinned.
 */
struct ib_mr *roce_rereg_mr(struct ib_mr *ibmr, int flags, u64 start,
			    u64 length, u64 iova, int access,
			    struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct roce_mr *mr = to_roce_mr(ibmr);
	struct roce_user_memory old = {}, new = {
		.iova = iova, .length = length,
		.access = flags & IB_MR_REREG_ACCESS ? access : mr->access,
	};
	int err;

	/* Pinned memory is accessed without the lock, other memory is not. */
	err = mr->odp ? -EOPNOTSUPP : roce_mr_check_access(new.access);
	if (!err)
		err = pin_new_memory(mr, flags, start, &new);
	if (err)
		return ERR_PTR(err);

	err = invalidate_unbound(mr);
	if (err) {
		roce_user_memory_release(&new);
		return ERR_PTR(err);
	}
	roce_section_wait();

	/* A bind may be looking at the region. */
	roce_fair_write_lock(&mr->lock);
	if (new.umem) {
		old = memory_of(mr);
		set_memory(mr, &new);
	}
	if (flags & IB_MR_REREG_PD)
		ibmr->pd = ibpd;
	mr->access = new.access;
	roce_mr_set_valid(mr, true);
	roce_fair_write_unlock(&mr->lock);
	roce_user_memory_release(&old);
	return NULL;
}

/**
 * roce_dereg_mr() - the dereg_mr verb
 * @ibmr: the region
 * @udata: NULL for a kernel consumer
 *
 * On return, no access to the memory is possible or in progress.
 *
 * Return: 0, or -EBUSY while windows are bound (IBA volume 1, 10.6.7).
 */
int roce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct roce_device *dev = to_roce_device(ibmr->device);
	struct roce_mr *mr = to_roce_mr(ibmr);
	int err;

	err = invalidate_unbound(mr);
	if (err)
		return err;
	roce_key_unpublish(dev, &mr->key);
	if (mr->kind != ROCE_MR_FAST)
		roce_section_wait();
	roce_mr_free(mr);
	return 0;
}
