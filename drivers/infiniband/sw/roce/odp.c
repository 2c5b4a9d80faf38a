// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging: the memory of a region that is not pinned. It lists the pages that
 * are present, those that QPs may use without asking the kernel. roce_odp_map() adds
 * pages, in process context. The kernel takes pages back at any time (munmap, fork,
 * swap, migration): a notifier removes them from the list.
 *
 * QPs use pages under the lock of the region, held for reading. The notifier removes them
 * under the lock, held for writing, so it waits for copies in progress. When it returns,
 * the pages are not touched any more.
 *
 * The address space is divided into chunks of the size that one page of page tables maps.
 * A chunk exists once an address in it was used. It has a notifier of its own, and its
 * list takes one page. An explicit region uses the chunks of its range, an implicit one
 * all of the address space: this file knows no difference.
 *
 * A fault looks for chunks without pages if there are twice as many chunks as were in
 * use when it last looked. So a region that wanders through the address space, or a peer
 * that names random addresses, cannot fill the memory.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait_bit.h>
#include <rdma/ib_umem_odp.h>

#include "compat_odp.h"
#include "odp.h"

#define CHUNK_SHIFT	PMD_SHIFT
#define CHUNK_SIZE	BIT_ULL(CHUNK_SHIFT)
#define CHUNK_PAGES	BIT(CHUNK_SHIFT - PAGE_SHIFT)

/* Chunks that a region may have before it looks for unused ones */
#define MIN_SWEEP	64u

/* Pages to remove before they are marked dirty */
#define HIDE_BATCH	32

/* In the list, beside the pointer to a page: it may be written to. */
#define WRITABLE	1ul

static atomic64_t latest_id;

/**
 * struct chunk - a part of the address space of a program
 * @odp: what it is a part of
 * @mapping: held while the RDMA core finds pages: it notes them in a list of the chunk
 *	before it takes the mutex of @umem
 * @umem: its notifier, and the lists of the RDMA core, whose mutex guards changes of
 *	@pages in addition to the lock of the region
 * @pages: those that are present, in the order of their addresses; 0 for others
 * @present: number of these
 * @users: faults in progress; guarded by the mutex of @odp
 */
struct chunk {
	struct roce_odp *odp;
	struct mutex mapping;		/* see @mapping above */
	struct ib_umem_odp *umem;
	unsigned long *pages;
	u32 present;
	u32 users;
};

static struct page *page_of(unsigned long entry)
{
	return (struct page *)(entry & ~WRITABLE);
}

static u32 index_of(u64 address)
{
	return (address & (CHUNK_SIZE - 1)) >> PAGE_SHIFT;
}

/* --- The list of pages --- */

/*
 * Whether the kernel can use what the core has found. It has no address for secret memory
 * (memfd_secret), which nobody can pin, but hmm_range_fault() finds.
 */
static bool can_be_shown(const struct chunk *chunk, u64 address, u64 length)
{
	const unsigned long *pfns = roce_compat_odp_pfns(chunk->umem);
	u32 end = index_of(address + length - 1) + 1, i;

	lockdep_assert_held(&chunk->umem->umem_mutex);
	for (i = index_of(address); i < end; i++) {
		struct page *page = hmm_pfn_to_page(pfns[i]);
		u8 byte;

		if (pfns[i] & HMM_PFN_VALID && !PageHighMem(page) &&
		    copy_from_kernel_nofault(&byte, page_address(page), sizeof(byte)))
			return false;
	}
	return true;
}

/* Add what the core has found. Returns the number of pages. */
static u32 show_pages(struct chunk *chunk, u64 address, u64 length, bool write)
{
	const unsigned long *pfns = roce_compat_odp_pfns(chunk->umem);
	u32 end = index_of(address + length - 1) + 1, count = 0, i;

	lockdep_assert_held(&chunk->umem->umem_mutex);
	roce_fair_write_lock(chunk->odp->lock);
	for (i = index_of(address); i < end; i++) {
		unsigned long entry;

		if (!(pfns[i] & HMM_PFN_VALID))
			continue;
		entry = (unsigned long)hmm_pfn_to_page(pfns[i]);
		if (write && pfns[i] & HMM_PFN_WRITE)
			entry |= WRITABLE;
		chunk->present += !chunk->pages[i];
		/* A page that was shown before, for writing, stays writable. */
		chunk->pages[i] |= entry;
		count++;
	}
	roce_fair_write_unlock(chunk->odp->lock);
	return count;
}

/* Remove pages from the list. Returns their number. */
static u32 hide_pages(struct chunk *chunk, u32 begin, u32 end)
{
	struct page *dirty[HIDE_BATCH];
	u32 count, hidden = 0;

	lockdep_assert_held(&chunk->umem->umem_mutex);
	while (begin < end && chunk->present) {
		count = 0;
		roce_fair_write_lock(chunk->odp->lock);
		for (; begin < end && count < HIDE_BATCH; begin++) {
			unsigned long entry = chunk->pages[begin];

			if (!entry)
				continue;
			chunk->pages[begin] = 0;
			chunk->present--;
			hidden++;
			if (entry & WRITABLE)
				dirty[count++] = page_of(entry);
		}
		roce_fair_write_unlock(chunk->odp->lock);
		/* The kernel sees no other trace of what the peer has written. */
		while (count)
			set_page_dirty(compound_head(dirty[--count]));
	}
	return hidden;
}

static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range, unsigned long sequence)
{
	struct ib_umem_odp *umem = container_of(notifier, struct ib_umem_odp, notifier);
	u64 begin = max_t(u64, ib_umem_start(umem), range->start);
	u64 end = min_t(u64, ib_umem_end(umem), range->end);
	struct chunk *chunk;

	if (!mmu_notifier_range_blockable(range))
		return false;

	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(notifier, sequence);
	/* A chunk under construction has no pages. */
	chunk = umem->private;
	if (chunk && begin < end)
		atomic64_add(hide_pages(chunk, index_of(begin), index_of(end - 1) + 1),
			     &chunk->odp->page_invalidations);
	ib_umem_odp_unmap_dma_pages(umem, begin, end);
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate,
};

/* --- Chunks --- */

/* The pages are not used any more: the region is gone, or no page is present. */
static void free_chunk(struct chunk *chunk)
{
	mutex_lock(&chunk->umem->umem_mutex);
	hide_pages(chunk, 0, CHUNK_PAGES);
	mutex_unlock(&chunk->umem->umem_mutex);
	/* The notifier does not run any more after this. */
	ib_umem_odp_release(chunk->umem);
	free_page((unsigned long)chunk->pages);
	kfree(chunk);
}

static struct chunk *new_chunk(struct roce_odp *odp, u64 address)
{
	struct chunk *chunk = kzalloc(sizeof(*chunk), GFP_KERNEL_ACCOUNT);
	struct ib_umem_odp *umem;
	int err = -ENOMEM;

	BUILD_BUG_ON(CHUNK_PAGES * sizeof(*chunk->pages) > PAGE_SIZE);
	if (!chunk)
		return ERR_PTR(err);
	chunk->odp = odp;
	mutex_init(&chunk->mapping);
	chunk->pages = (unsigned long *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!chunk->pages)
		goto free;
	umem = ib_umem_odp_alloc_child(odp->root, ALIGN_DOWN(address, CHUNK_SIZE),
				       CHUNK_SIZE, &notifier_ops);
	if (IS_ERR(umem)) {
		err = PTR_ERR(umem);
		goto free_list;
	}
	chunk->umem = umem;
	mutex_lock(&umem->umem_mutex);
	umem->private = chunk;
	mutex_unlock(&umem->umem_mutex);
	return chunk;

free_list:
	free_page((unsigned long)chunk->pages);
free:
	kfree(chunk);
	return ERR_PTR(err);
}

/* Look for chunks without pages, if there are many. */
static void sweep(struct roce_odp *odp)
{
	struct chunk *chunk;
	unsigned long index;

	lockdep_assert_held(&odp->mutex);
	if (odp->count < odp->sweep_at)
		return;
	xa_for_each(&odp->chunks, index, chunk) {
		bool unused;

		if (chunk->users)
			continue;
		roce_fair_write_lock(odp->lock);
		unused = !chunk->present;
		if (unused)
			xa_erase_bh(&odp->chunks, index);
		roce_fair_write_unlock(odp->lock);
		if (unused) {
			free_chunk(chunk);
			odp->count--;
		}
	}
	odp->sweep_at = max(MIN_SWEEP, 2 * odp->count);
}

static struct chunk *add_chunk(struct roce_odp *odp, u64 address)
{
	struct chunk *chunk;
	int err;

	sweep(odp);
	chunk = new_chunk(odp, address);
	if (IS_ERR(chunk))
		return chunk;
	err = xa_err(xa_store_bh(&odp->chunks, address >> CHUNK_SHIFT, chunk,
				 GFP_KERNEL_ACCOUNT));
	if (err) {
		free_chunk(chunk);
		return ERR_PTR(err);
	}
	odp->count++;
	return chunk;
}

static struct chunk *find_chunk(const struct roce_odp *odp, u64 address)
{
	return xa_load((struct xarray *)&odp->chunks, address >> CHUNK_SHIFT);
}

static struct chunk *get_chunk(struct roce_odp *odp, u64 address)
{
	struct chunk *chunk;

	mutex_lock(&odp->mutex);
	chunk = find_chunk(odp, address) ?: add_chunk(odp, address);
	if (!IS_ERR(chunk))
		chunk->users++;
	mutex_unlock(&odp->mutex);
	return chunk;
}

static void put_chunk(struct chunk *chunk)
{
	struct roce_odp *odp = chunk->odp;

	mutex_lock(&odp->mutex);
	chunk->users--;
	mutex_unlock(&odp->mutex);
}

static long map_pages(struct chunk *chunk, u64 address, u64 length, enum roce_odp_map how)
{
	/* What a PREFETCH_NO_FAULT finds may be writable. */
	bool write = how != ROCE_ODP_READ && chunk->odp->root->umem.writable;
	long pages;

	mutex_lock(&chunk->mapping);
	pages = ib_umem_odp_map_dma_and_lock(chunk->umem, address, length,
					     roce_compat_odp_rights(write),
					     how != ROCE_ODP_PRESENT);
	if (pages >= 0) {
		pages = -EFAULT;
		if (can_be_shown(chunk, address, length))
			pages = show_pages(chunk, address, length, write);
		mutex_unlock(&chunk->umem->umem_mutex);
	}
	mutex_unlock(&chunk->mapping);
	return pages;
}

static long map_in_chunk(struct roce_odp *odp, u64 address, u64 length,
			 enum roce_odp_map how)
{
	struct chunk *chunk = get_chunk(odp, address);
	long pages;

	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	pages = map_pages(chunk, address, length, how);
	put_chunk(chunk);
	return pages;
}

/**
 * roce_odp_map() - make pages present
 * @odp: the memory; kept by roce_odp_get()
 * @address: in the program
 * @length: bytes, at least one
 * @how: for which access
 *
 * Process context, of any process. Sleeps until the pages are read from a disk, or
 * wherever they are. They may be gone again when it returns.
 *
 * Return: number of pages, or a negative errno: -EFAULT if the program or the kernel may
 * not access some of them, or the region is being deregistered, -EINVAL if the program
 * has exited, -EBUSY if the kernel took pages back all the time, -EINTR if the caller is
 * killed, or -ENOMEM.
 */
long roce_odp_map(struct roce_odp *odp, u64 address, u64 length,
		  enum roce_odp_map how)
{
	long count = 0;

	while (length) {
		u64 part = min(length, CHUNK_SIZE - (address & (CHUNK_SIZE - 1)));
		long pages = READ_ONCE(odp->ending) ? -EFAULT :
			     map_in_chunk(odp, address, part, how);

		if (pages >= 0 && fatal_signal_pending(current))
			pages = -EINTR;
		if (pages < 0)
			return pages;
		count += pages;
		address += part;
		length -= part;
		cond_resched();
	}
	return count;
}

/**
 * roce_odp_page() - find a page that is present
 * @odp: the memory; its lock is held
 * @address: in the program
 * @write: it will be written to
 *
 * In a section.
 *
 * Return: the page, which is valid until the lock is released, or NULL.
 */
struct page *roce_odp_page(const struct roce_odp *odp, u64 address, bool write)
{
	const struct chunk *chunk = find_chunk(odp, address);
	unsigned long entry;

	if (!chunk)
		return NULL;
	entry = chunk->pages[index_of(address)];
	return write && !(entry & WRITABLE) ? NULL : page_of(entry);
}

/**
 * roce_odp_has() - whether memory is present
 * @odp: the memory; its lock is held
 * @address: in the program
 * @length: bytes, at least one
 * @write: it will be written to
 *
 * In a section.
 */
bool roce_odp_has(const struct roce_odp *odp, u64 address, u32 length, bool write)
{
	u64 last = address + length - 1;

	for (address = ALIGN_DOWN(address, PAGE_SIZE); address <= last;
	     address += PAGE_SIZE)
		if (!roce_odp_page(odp, address, write))
			return false;
	return true;
}

/* --- The memory of a region --- */

/**
 * roce_odp_new() - prepare on-demand paging for a region of the calling program
 * @ibdev: the device that will use the memory
 * @access: IB_ACCESS_* flags of the region
 *
 * Process context. The caller sets the lock before pages are mapped.
 *
 * Return: the memory without a page, for roce_odp_free(), or ERR_PTR(-ENOMEM).
 */
struct roce_odp *roce_odp_new(struct ib_device *ibdev, int access)
{
	struct roce_odp *odp = kzalloc(sizeof(*odp), GFP_KERNEL_ACCOUNT);

	if (!odp)
		return ERR_PTR(-ENOMEM);
	/* Pages of any size are used in parts. */
	odp->root = ib_umem_odp_alloc_implicit(ibdev, access & ~IB_ACCESS_HUGETLB);
	if (IS_ERR(odp->root)) {
		int err = PTR_ERR(odp->root);

		kfree(odp);
		return ERR_PTR(err);
	}
	/* Chunks are removed under the lock of the region, which softirqs take. */
	xa_init_flags(&odp->chunks, XA_FLAGS_LOCK_BH);
	mutex_init(&odp->mutex);
	/* The root does not keep it, and without a chunk nothing else does. */
	mmgrab(odp->root->umem.owning_mm);
	odp->sweep_at = MIN_SWEEP;
	INIT_LIST_HEAD(&odp->prefetches);
	odp->id = atomic64_inc_return(&latest_id);
	return odp;
}

/**
 * roce_odp_put() - undo roce_odp_get()
 * @odp: the memory, which may be freed now
 *
 * Any context.
 */
void roce_odp_put(struct roce_odp *odp)
{
	/* Only the address matters to who waits: the memory may be gone. */
	if (atomic_dec_and_test(&odp->users))
		wake_up_var(&odp->users);
}

/**
 * roce_odp_free() - end on-demand paging for a region
 * @odp: the memory, after roce_prefetch_stop()
 *
 * Process context. Waits for faults and prefetches in progress.
 */
void roce_odp_free(struct roce_odp *odp)
{
	struct chunk *chunk;
	unsigned long index;

	wait_var_event(&odp->users, !atomic_read(&odp->users));
	xa_for_each(&odp->chunks, index, chunk) {
		free_chunk(chunk);
		cond_resched();
	}
	xa_destroy(&odp->chunks);
	mmdrop(odp->root->umem.owning_mm);
	ib_umem_odp_release(odp->root);
	kfree(odp);
}
