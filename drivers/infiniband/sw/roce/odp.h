/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_ODP_H
#define ROCE_ODP_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/xarray.h>

#include "fair_lock.h"

struct ib_device;
struct ib_umem_odp;

/* Whether the kernel can tell a device that pages go away. */
#define ROCE_HAS_ODP	IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING)

/**
 * enum roce_odp_map - how to make pages present
 * @ROCE_ODP_READ: for reading; the program's pages are faulted in
 * @ROCE_ODP_WRITE: for writing, too
 * @ROCE_ODP_PRESENT: only pages that the program has already, as it may access them
 */
enum roce_odp_map {
	ROCE_ODP_READ,
	ROCE_ODP_WRITE,
	ROCE_ODP_PRESENT,
};

/**
 * struct roce_odp - memory of a program that is not pinned
 * @lock: of the region; held for reading while pages are used, for writing while their
 *	list changes
 * @root: what the chunks are children of
 * @chunks: parts of the address space that were used, see odp.c
 * @mutex: guards the fields up to @users, and adding and removing chunks
 * @count: number of chunks
 * @sweep_at: number of chunks at which unused ones are looked for
 * @prefetches: prefetches that have not begun
 * @ending: no more pages are mapped, see roce_prefetch_stop()
 * @users: faults and prefetches in progress; the memory outlives them
 * @id: that no other memory has or had
 * @page_faults: pages that a QP had to wait for
 * @page_invalidations: pages that the kernel has taken back
 * @page_prefetches: pages that the program has asked for in advance
 */
struct roce_odp {
	struct roce_fair_lock *lock;	/* see @lock above */
	struct ib_umem_odp *root;
	struct xarray chunks;
	struct mutex mutex;		/* see @mutex above */
	u32 count;
	u32 sweep_at;
	struct list_head prefetches;
	bool ending;
	atomic_t users;
	u64 id;
	atomic64_t page_faults;
	atomic64_t page_invalidations;
	atomic64_t page_prefetches;
};

/** roce_odp_get() - keep the memory while pages are mapped; the caller has a region */
static inline void roce_odp_get(struct roce_odp *odp)
{
	atomic_inc(&odp->users);
}

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
struct roce_odp *roce_odp_new(struct ib_device *ibdev, int access);
void roce_odp_free(struct roce_odp *odp);
void roce_odp_put(struct roce_odp *odp);
long roce_odp_map(struct roce_odp *odp, u64 address, u64 length,
		  enum roce_odp_map how);
bool roce_odp_has(const struct roce_odp *odp, u64 address, u32 length, bool write);
struct page *roce_odp_page(const struct roce_odp *odp, u64 address, bool write);
#else
static inline struct roce_odp *roce_odp_new(struct ib_device *ibdev, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void roce_odp_free(struct roce_odp *odp)
{
}

static inline void roce_odp_put(struct roce_odp *odp)
{
	atomic_dec(&odp->users);
}

static inline long roce_odp_map(struct roce_odp *odp, u64 address, u64 length,
				enum roce_odp_map how)
{
	return -EOPNOTSUPP;
}

static inline bool roce_odp_has(const struct roce_odp *odp, u64 address, u32 length,
				bool write)
{
	return false;
}

static inline struct page *roce_odp_page(const struct roce_odp *odp, u64 address,
					 bool write)
{
	return NULL;
}
#endif

#endif /* ROCE_ODP_H */
