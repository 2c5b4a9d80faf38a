// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rings that a program maps, and how they are replaced by larger ones. Rings of kernel
 * consumers are the same, but not mapped.
 */
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>

#include "pd.h"
#include "ring.h"

/*
 * An RNIC's driver pins the rings of a program, so RLIMIT_MEMLOCK limits them. Its usual
 * value of 8 MiB is too low for a program with many QPs, and rdma_rxe has no limit. So
 * the driver has a limit of its own.
 */
static unsigned int max_ring_mib = 1024;
module_param(max_ring_mib, uint, 0644);
MODULE_PARM_DESC(max_ring_mib, "MiB of queues that a program may have for each device that it opens (1024)");

/*
 * The memory of a ring that user space maps. It lives as long as the RDMA core knows its
 * entry. The pages live as long as they are mapped, since remap_vmalloc_range() takes a
 * reference to each. There are no vm_ops, so mappings may outlive this module.
 */
struct roce_ring_mapping {
	struct rdma_user_mmap_entry entry;
	struct roce_ucontext *context;
	struct rxe_queue_buf *buf;
	size_t size;
};

static bool charge_ring(struct roce_ucontext *context, size_t size)
{
	s64 limit = (s64)READ_ONCE(max_ring_mib) * SZ_1M;

	if (atomic64_add_return(size, &context->ring_bytes) <= limit)
		return true;
	atomic64_sub(size, &context->ring_bytes);
	return false;
}

static void uncharge(struct roce_ucontext *context, size_t size)
{
	atomic64_sub(size, &context->ring_bytes);
}

/*
 * vmalloc_user() with accounting: the memory cgroup of a program limits its
 * allocations.
 */
static void *alloc_user_memory(size_t size)
{
	unsigned int count = size >> PAGE_SHIFT;
	unsigned int i;
	struct page **pages;
	void *memory;

	pages = kvcalloc(count, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;

	for (i = 0; i < count; i++) {
		pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!pages[i])
			goto free_pages;
	}

	/* From here on the area owns the pages and the array. */
	memory = vmap(pages, count, VM_MAP_PUT_PAGES | VM_USERMAP, PAGE_KERNEL);
	if (memory)
		return memory;

free_pages:
	while (i--)
		__free_page(pages[i]);
	kvfree(pages);
	return NULL;
}

static struct roce_ring_mapping *new_mapping(struct roce_ucontext *context,
					     size_t size)
{
	struct roce_ring_mapping *mapping;

	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	if (!mapping)
		return NULL;
	if (!charge_ring(context, size))
		goto free;
	mapping->buf = alloc_user_memory(size);
	if (!mapping->buf)
		goto uncharge;
	mapping->context = context;
	mapping->size = size;
	return mapping;

uncharge:
	uncharge(context, size);
free:
	kfree(mapping);
	return NULL;
}

static void free_mapping(struct roce_ring_mapping *mapping)
{
	vfree(mapping->buf);
	uncharge(mapping->context, mapping->size);
	kfree(mapping);
}

static int alloc_for_user(struct roce_ring *ring, size_t size,
			  struct ib_udata *udata, struct mminfo *info)
{
	struct roce_ucontext *context =
		rdma_udata_to_drv_context(udata, struct roce_ucontext, ibuc);
	struct roce_ring_mapping *mapping = new_mapping(context, size);
	int err;

	if (!mapping)
		return -ENOMEM;
	err = rdma_user_mmap_entry_insert(&context->ibuc, &mapping->entry, size);
	if (err) {
		free_mapping(mapping);
		return err;
	}

	ring->buf = mapping->buf;
	ring->mapping = mapping;
	info->offset = rdma_user_mmap_get_offset(&mapping->entry);
	info->size = size;
	return 0;
}

static int alloc_for_kernel(struct roce_ring *ring, size_t size)
{
	ring->buf = vzalloc(size);
	return ring->buf ? 0 : -ENOMEM;
}

/**
 * roce_ring_init() - allocate a ring
 * @ring: to be filled in
 * @capacity: elements that it must hold; the caller checks the limit
 * @element_size: bytes of an element, rounded up to a power of two
 * @produced_here: the driver fills the ring, not the verbs consumer
 * @udata: of the verb if a user program is the other side, else NULL
 * @info: set for user space: where to map the ring
 *
 * Process context.
 *
 * Return: 0; -ENOMEM, also for a program that has max_ring_mib of rings; or another
 * error of rdma_user_mmap_entry_insert().
 */
int roce_ring_init(struct roce_ring *ring, u32 capacity, size_t element_size,
		   bool produced_here, struct ib_udata *udata,
		   struct mminfo *info)
{
	u32 elements = roundup_pow_of_two(capacity +
					  roce_ring_spare(produced_here));
	size_t size;
	int err;

	element_size = roundup_pow_of_two(element_size);
	size = PAGE_ALIGN(sizeof(*ring->buf) + elements * element_size);
	if (size > U32_MAX)
		return -ENOMEM;

	*ring = (struct roce_ring) {
		.element_size = element_size,
		.mask = elements - 1,
		.produced_here = produced_here,
	};
	err = udata ? alloc_for_user(ring, size, udata, info) :
		      alloc_for_kernel(ring, size);
	if (err)
		return err;
	ring->buf->log2_elem_size = ilog2(element_size);
	ring->buf->index_mask = ring->mask;
	return 0;
}

/**
 * roce_ring_free() - free a ring's memory
 * @ring: unused in the kernel; user space may still have it mapped
 *
 * Process context. Does nothing to a zeroed ring.
 */
void roce_ring_free(struct roce_ring *ring)
{
	if (ring->mapping)
		rdma_user_mmap_entry_remove(&ring->mapping->entry);
	else
		vfree(ring->buf);
	ring->mapping = NULL;
	ring->buf = NULL;
}

/* Elements of a program to move with a lock held and interrupts off */
#define MOVE_BUDGET	64

/* A move starts at the oldest element; both sides of the ring may go on meanwhile. */
struct move {
	u32 begin;
	u32 done;
};

static u32 oldest(struct roce_ring *ring)
{
	return ring->produced_here ? ring->index - roce_ring_unconsumed(ring) :
				     ring->index;
}

static u32 newest(const struct roce_ring *ring)
{
	return ring->produced_here ? ring->index : roce_ring_peer_index(ring);
}

/* @to is not in use yet. Its element 0 is element @move->begin of @from. */
static int move_some(struct roce_ring *to, struct roce_ring *from,
		     struct move *move)
{
	u32 total = (newest(from) - move->begin) & from->mask;
	u32 consumed = (oldest(from) - move->begin) & from->mask;
	u32 budget = from->mapping ? MOVE_BUDGET : U32_MAX;

	/* Fewer than before, or more consumed than produced: a program wrote that. */
	if (total > roce_ring_capacity(to) || total < move->done ||
	    (!from->produced_here && consumed > total))
		return -EINVAL;

	for (; move->done < total && budget; move->done++, budget--)
		roce_ring_copy(roce_ring_element(to, move->done),
			       roce_ring_element(from, move->begin + move->done -
						       from->index),
			       to->element_size);
	if (move->done < total)
		return -EAGAIN;

	if (to->produced_here) {
		to->index = total;
	} else {
		to->index = consumed;
		to->produced = total;
		WRITE_ONCE(to->buf->consumer_index, consumed);
	}
	/* Publish after the elements have been written. */
	smp_store_release(&to->buf->producer_index, total);
	return 0;
}

/**
 * roce_ring_replace() - replace a ring, and keep its elements
 * @ring: in use; the caller serializes replacements
 * @to: a new ring, which differs only in its capacity; holds the old one afterwards
 * @lock: of @ring; held for a few elements of a program at a time. The library of the
 *	program stops its side of the ring meanwhile, or the program harms itself. A
 *	kernel consumer does not stop, so its elements move all at once.
 *
 * Process context.
 *
 * Return: 0, or -EINVAL if there is or was more than @to can hold.
 */
int roce_ring_replace(struct roce_ring *ring, struct roce_ring *to,
		      spinlock_t *lock)
{
	struct move move = {};
	int err;

	spin_lock_irq(lock);
	move.begin = oldest(ring);
	while ((err = move_some(to, ring, &move)) == -EAGAIN) {
		spin_unlock_irq(lock);
		cond_resched();
		spin_lock_irq(lock);
	}
	if (!err)
		swap(*to, *ring);
	spin_unlock_irq(lock);
	return err;
}

/**
 * roce_ring_mmap_free() - the mmap_free verb: free an entry without users
 * @entry: of a &struct roce_ring_mapping
 */
void roce_ring_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct roce_ring_mapping *mapping =
		container_of(entry, struct roce_ring_mapping, entry);

	free_mapping(mapping);
}

/**
 * roce_ring_mmap() - the mmap verb: map a ring
 * @context: of the program
 * @vma: where to map it, with the offset from the ring's info
 *
 * Return: 0, or -EINVAL if no ring has this offset and length.
 */
int roce_ring_mmap(struct ib_ucontext *context, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct roce_ring_mapping *mapping;
	int err;

	entry = rdma_user_mmap_entry_get(context, vma);
	if (!entry)
		return -EINVAL;
	mapping = container_of(entry, struct roce_ring_mapping, entry);

	err = remap_vmalloc_range(vma, mapping->buf, 0);
	rdma_user_mmap_entry_put(entry);
	return err;
}
