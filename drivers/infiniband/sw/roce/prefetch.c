// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Prefetching for on-demand paging: a program announces which memory of its regions it is
 * about to use, so that its QPs need not wait for it.
 */
#include <linux/bottom_half.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "access.h"
#include "device.h"
#include "odp.h"
#include "pd.h"
#include "prefetch.h"
#include "section.h"

/* Prefetches of a region that wait. With more, the program waits. */
#define MAX_WAITING	16

/* Not that of page faults: QPs wait for these. */
static struct workqueue_struct *queue;

/**
 * struct prefetch - memory to make present
 * @work: does it later, but without a delay: not all kernels can cancel other work without
 *	waiting for it
 * @node: among those of @odp that have not begun
 * @odp: the memory, kept by roce_odp_get()
 * @address: in the program
 * @length: bytes
 * @how: for which access
 */
struct prefetch {
	struct delayed_work work;
	struct list_head node;
	struct roce_odp *odp;
	u64 address;
	u32 length;
	enum roce_odp_map how;
};

/* Find the memory, and keep it. */
static int begin(struct ib_pd *ibpd, const struct ib_sge *sge, struct prefetch *prefetch)
{
	const struct roce_access access = {
		.pd = to_roce_pd(ibpd),
		.key = sge->lkey,
		.rights = prefetch->how == ROCE_ODP_WRITE ? IB_ACCESS_LOCAL_WRITE : 0,
		.address = sge->addr,
		.length = sge->length,
	};
	int err;

	local_bh_disable();
	roce_section_enter();
	err = roce_access_get_odp(&access, &prefetch->odp, &prefetch->address);
	roce_section_leave();
	local_bh_enable();
	prefetch->length = sge->length;
	return err;
}

static int carry_out(const struct prefetch *prefetch)
{
	long pages = roce_odp_map(prefetch->odp, prefetch->address, prefetch->length,
				  prefetch->how);

	if (pages > 0)
		atomic64_add(pages, &prefetch->odp->page_prefetches);
	roce_odp_put(prefetch->odp);
	return min(pages, 0l);
}

static void carry_out_later(struct work_struct *work)
{
	struct prefetch *prefetch = container_of(to_delayed_work(work),
						 struct prefetch, work);

	mutex_lock(&prefetch->odp->mutex);
	list_del(&prefetch->node);
	mutex_unlock(&prefetch->odp->mutex);
	carry_out(prefetch);
	kfree(prefetch);
}

/* Returns false if the program must carry it out: many wait, or there is no memory. */
static bool queue_up(const struct prefetch *prefetch)
{
	struct roce_odp *odp = prefetch->odp;
	struct prefetch *later;
	bool queued;

	if (atomic_read(&odp->users) > MAX_WAITING)
		return false;
	later = kmemdup(prefetch, sizeof(*prefetch), GFP_KERNEL_ACCOUNT);
	if (!later)
		return false;
	INIT_DELAYED_WORK(&later->work, carry_out_later);
	mutex_lock(&odp->mutex);
	queued = !odp->ending;
	if (queued) {
		list_add_tail(&later->node, &odp->prefetches);
		queue_delayed_work(queue, &later->work, 0);
	}
	mutex_unlock(&odp->mutex);
	if (!queued)
		kfree(later);
	return queued;
}

/* The program is told no more than later: a page that cannot be had stops no list. */
static int carry_out_soon(const struct prefetch *prefetch)
{
	return !queue_up(prefetch) && carry_out(prefetch) == -EINTR ? -EINTR : 0;
}

static int how_to_map(enum ib_uverbs_advise_mr_advice advice, enum roce_odp_map *how)
{
	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		*how = ROCE_ODP_READ;
		return 0;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		*how = ROCE_ODP_WRITE;
		return 0;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		*how = ROCE_ODP_PRESENT;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * roce_prefetch_init() - make the work queue of prefetches
 *
 * Return: 0 or -ENOMEM.
 */
int roce_prefetch_init(void)
{
	queue = alloc_workqueue("roce_prefetch", WQ_UNBOUND, 0);
	return queue ? 0 : -ENOMEM;
}

/** roce_prefetch_exit() - undo roce_prefetch_init(); there is no region any more */
void roce_prefetch_exit(void)
{
	destroy_workqueue(queue);
}

/**
 * roce_prefetch_stop() - drop the prefetches of a region that have not begun
 * @odp: its memory, which no section can find any more
 *
 * Process context. Those of other regions, which may wait for a file server, do not delay
 * this one. What has begun ends with the present chunk.
 */
void roce_prefetch_stop(struct roce_odp *odp)
{
	struct prefetch *prefetch, *next;

	mutex_lock(&odp->mutex);
	WRITE_ONCE(odp->ending, true);
	list_for_each_entry_safe(prefetch, next, &odp->prefetches, node) {
		if (!cancel_delayed_work(&prefetch->work))
			continue;
		list_del(&prefetch->node);
		kfree(prefetch);
		roce_odp_put(odp);
	}
	mutex_unlock(&odp->mutex);
}

/**
 * roce_advise_mr() - the advise_mr verb
 * @ibpd: of a user program
 * @advice: IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH*
 * @flags: with IB_UVERBS_ADVISE_MR_FLAG_FLUSH the memory is present on return, else soon
 * @list: parts of regions of @ibpd that are not pinned
 * @count: number of parts
 * @attrs: unused
 *
 * Return: 0, -EOPNOTSUPP for another advice, -EFAULT if a part does not lie in such a
 * region, -EPERM if it may not be written to, or, with the flag, the error of
 * roce_odp_map(). After an error, the parts before it are prefetched.
 */
int roce_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice,
		   u32 flags, struct ib_sge *list, u32 count,
		   struct uverbs_attr_bundle *attrs)
{
	struct prefetch prefetch = {};
	int err = how_to_map(advice, &prefetch.how);
	u32 i;

	for (i = 0; i < count && !err; i++) {
		err = begin(ibpd, &list[i], &prefetch);
		if (err)
			break;
		err = flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH ?
		      carry_out(&prefetch) : carry_out_soon(&prefetch);
	}
	return err;
}
