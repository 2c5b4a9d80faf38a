// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Access to memory by key. Every access is checked as a whole: the key, the
 * state of what it names, protection domain, rights and range (IBA volume 1,
 * 10.6.3 and 9.7.4.1.5).
 *
 * Regions of programs go away only when the sections that have begun are over, so
 * their memory is used without a lock. Windows and the fast regions of kernel
 * consumers lose their meaning at once, when a work request or a packet says so, and
 * the memory may then be used for something else. So there check and copy happen
 * under the lock of the region, and who invalidates waits for a copy that is under
 * way, of a train at most.
 *
 * What is done with the bytes is the caller's: it gets them piece by piece, each
 * contiguous in the kernel's memory.
 */
#include <linux/highmem.h>

#include "access.h"
#include "device.h"
#include "extent.h"
#include "key.h"
#include "mr.h"
#include "mw.h"

static bool covers(u64 start, u64 size, const struct roce_access *access)
{
	return !access->length ||
	       roce_range_covers(start, size, access->address, access->length);
}

static bool region_allows(const struct roce_mr *mr,
			  const struct roce_access *access)
{
	/* Pairs with the release in roce_mr_set_valid(): all else is read after it. */
	return smp_load_acquire(&mr->valid) &&
	       mr->key.value == access->key &&
	       mr->ibmr.pd == &access->pd->ibpd &&
	       (mr->access & access->rights) == access->rights &&
	       covers(mr->iova, mr->length, access);
}

/* A window has no L_Key: only peers come through it. */
static bool window_allows(const struct roce_mw *mw,
			  const struct roce_access *access)
{
	return access->qpn && mw->key.value == access->key &&
	       mw->ibmw.pd == &access->pd->ibpd &&
	       (mw->ibmw.type == IB_MW_TYPE_1 || mw->qpn == access->qpn) &&
	       (mw->access & access->rights) == access->rights &&
	       covers(mw->start, mw->length, access);
}

/* The one that has a byte of the region, which is the @offset-th */
static const struct roce_extent *find_extent(const struct roce_mr *mr, u64 offset)
{
	const struct roce_extent *extent = mr->extents;
	u32 count = mr->extent_count;

	while (count > 1) {
		u32 half = count / 2;

		if (extent[half].offset <= offset) {
			extent += half;
			count -= half;
		} else {
			count = half;
		}
	}
	return extent;
}

static void find_piece_of_extents(struct roce_access_pieces *pieces, u64 offset)
{
	const struct roce_extent *extent = find_extent(pieces->mr, offset);

	pieces->data = extent->start + (offset - extent->offset);
	pieces->length = min_t(u64, pieces->left, extent[1].offset - offset);
}

static void find_piece_of_blocks(struct roce_access_pieces *pieces, u64 offset)
{
	const struct roce_mr *mr = pieces->mr;
	u32 size = 1u << mr->block_shift;
	u32 in_block = offset & (size - 1);

	pieces->data = mr->blocks[offset >> mr->block_shift] + in_block;
	pieces->length = min(pieces->left, size - in_block);
}

static void map_page(struct roce_access_pieces *pieces, u64 offset)
{
	u32 in_page = offset_in_page(offset);

	pieces->data = kmap_local_page(pieces->mr->pages[offset >> PAGE_SHIFT]) +
		       in_page;
	pieces->length = min_t(u32, pieces->left, PAGE_SIZE - in_page);
	pieces->mapped = true;
}

static __always_inline void find_piece(struct roce_access_pieces *pieces)
{
	const struct roce_mr *mr = pieces->mr;
	u64 offset = pieces->address - mr->iova + mr->first_offset;

	pieces->length = pieces->left;
	if (mr->extents) {
		find_piece_of_extents(pieces, offset);
		return;
	}
	switch (mr->kind) {
	case ROCE_MR_USER:
		map_page(pieces, offset);
		break;
	case ROCE_MR_FAST:
		find_piece_of_blocks(pieces, offset);
		break;
	case ROCE_MR_DMABUF:
		pieces->data = mr->contiguous + offset;
		break;
	default:
		pieces->data = (void *)(uintptr_t)pieces->address;
		break;
	}
}

static void unmap_page(struct roce_access_pieces *pieces)
{
	if (pieces->mapped)
		kunmap_local(pieces->data);
	pieces->mapped = false;
}

static __always_inline void move_to_piece(struct roce_access_pieces *pieces)
{
	find_piece(pieces);
	pieces->address += pieces->length;
	pieces->left -= pieces->length;
}

/**
 * roce_access_find_next() - roce_access_next(), if there is one
 * @pieces: with bytes left
 *
 * Return: true.
 */
bool roce_access_find_next(struct roce_access_pieces *pieces)
{
	unmap_page(pieces);
	move_to_piece(pieces);
	return true;
}

/**
 * roce_access_release() - roce_access_end(), if there is something to be undone
 * @pieces: of roce_access_begin()
 */
void roce_access_release(struct roce_access_pieces *pieces)
{
	unmap_page(pieces);
	if (pieces->locked) {
		__acquire(&pieces->mr->lock);
		read_unlock_bh(&pieces->mr->lock);
	}
}

static __always_inline void begin_pieces(struct roce_mr *mr, u64 address, u32 length,
					 struct roce_access_pieces *pieces)
{
	pieces->mr = mr;
	pieces->address = address;
	pieces->left = length;
	pieces->length = 0;
	pieces->locked = false;
	pieces->mapped = false;
	if (length)
		move_to_piece(pieces);
}

static __always_inline int begin_region(struct roce_mr *mr,
					const struct roce_access *access,
					struct roce_access_pieces *pieces)
{
	if (!region_allows(mr, access))
		return -EACCES;
	begin_pieces(mr, access->address, access->length, pieces);
	return 0;
}

static int begin_fast_region(struct roce_mr *mr, const struct roce_access *access,
			     struct roce_access_pieces *pieces)
{
	int err;

	read_lock_bh(&mr->lock);
	err = begin_region(mr, access, pieces);
	if (err)
		read_unlock_bh(&mr->lock);
	else
		__release(&mr->lock); /* for sparse: it stays locked */
	pieces->locked = !err;
	return err;
}

static int begin_window(struct roce_mw *mw, const struct roce_access *access,
			struct roce_access_pieces *pieces)
{
	struct roce_mr *mr = READ_ONCE(mw->mr);

	if (!mr)
		return -EACCES;
	read_lock_bh(&mr->lock);
	/* It may have been bound to another region, or is just now. */
	if (READ_ONCE(mw->mr) != mr || !window_allows(mw, access)) {
		read_unlock_bh(&mr->lock);
		return -EACCES;
	}
	begin_pieces(mr, access->address - mw->start + mw->address, access->length,
		     pieces);
	pieces->locked = true;
	__release(&mr->lock); /* for sparse: it stays locked */
	return 0;
}

static struct roce_key *find_key(struct roce_device *dev,
				 const struct roce_access *access)
{
	struct roce_key *key = access->latest ? *access->latest : NULL;

	/* A new registration may change it; it is looked at again before it is used. */
	if (key && data_race(READ_ONCE(key->value)) == access->key)
		return key;
	key = roce_key_find(dev, access->key);
	if (access->latest)
		*access->latest = key;
	return key;
}

/**
 * roce_access_begin() - get access to memory, if it is allowed
 * @access: what is wanted
 * @pieces: to be filled in, with the first piece; roce_access_next() finds the others
 *
 * In a section, which ends behind roce_access_end(). A lock of the region may be
 * held until then, so nothing happens in between but a copy.
 *
 * Return: 0 or -EACCES.
 */
int roce_access_begin(const struct roce_access *access,
		      struct roce_access_pieces *pieces)
{
	struct roce_device *dev = to_roce_device(access->pd->ibpd.device);
	struct roce_key *key = find_key(dev, access);
	struct roce_mr *mr;

	if (!key)
		return -EACCES;
	if (key->is_window)
		return begin_window(roce_mw_of_key(key), access, pieces);
	mr = roce_mr_of_key(key);
	/* A new registration may change it, but never to or from this. */
	if (data_race(mr->kind) == ROCE_MR_FAST)
		return begin_fast_region(mr, access, pieces);
	return begin_region(mr, access, pieces);
}

static int probe_access(const struct roce_access *access)
{
	struct roce_access_pieces pieces;
	int err = roce_access_begin(access, &pieces);

	if (!err)
		roce_access_end(&pieces);
	return err;
}

/**
 * roce_access_is_allowed() - whether an access is allowed as things are now
 * @access: what is wanted
 *
 * In a section. A request for nothing needs no key (9.7.4.1.5).
 */
bool roce_access_is_allowed(const struct roce_access *access)
{
	return !access->length || !probe_access(access);
}

/**
 * roce_access_copy_to() - copy a buffer of the kernel to memory
 * @access: what is wanted, with at least one byte
 * @buffer: as long as @access
 *
 * In a section.
 *
 * Return: 0 or -EACCES.
 */
int roce_access_copy_to(const struct roce_access *access, const void *buffer)
{
	struct roce_access_pieces pieces;
	int err = roce_access_begin(access, &pieces);

	if (err)
		return err;
	do {
		memcpy(pieces.data, buffer, pieces.length);
		buffer += pieces.length;
	} while (roce_access_next(&pieces));
	roce_access_end(&pieces);
	return 0;
}

/*
 * Begin the access to a number. Addresses are what the owner of a region wants them
 * to be, so what counts as well is where the bytes are: a locked operation across
 * cache lines stops all CPUs, or traps.
 */
static int begin_number(const struct roce_access *access,
			struct roce_access_pieces *pieces)
{
	int err;

	if (!IS_ALIGNED(access->address, sizeof(atomic64_t)))
		return -EINVAL;
	err = roce_access_begin(access, pieces);
	if (err)
		return err;
	if (pieces->length == sizeof(atomic64_t) &&
	    IS_ALIGNED((uintptr_t)pieces->data, sizeof(atomic64_t)))
		return 0;
	roce_access_end(pieces);
	return -EINVAL;
}

/**
 * roce_access_compare_swap() - replace a number if it is a certain one
 * @access: what is wanted, 8 bytes
 * @compare: what the number has to be
 * @swap: what it becomes then
 * @original: set to what it was, if that is no error
 *
 * Atomically with respect to all that access the number atomically, the CPU
 * included where it has such operations on 64 bits (IBA volume 1, 9.4.5).
 * In a section.
 *
 * Return: 0, -EACCES, or -EINVAL if the number is not aligned.
 */
int roce_access_compare_swap(const struct roce_access *access, u64 compare,
			     u64 swap, u64 *original)
{
	struct roce_access_pieces pieces;
	int err = begin_number(access, &pieces);

	if (err)
		return err;
	*original = atomic64_cmpxchg(pieces.data, compare, swap);
	roce_access_end(&pieces);
	return 0;
}

/**
 * roce_access_fetch_add() - add to a number
 * @access: what is wanted, 8 bytes
 * @add: modulo 2^64
 * @original: set to what the number was, if that is no error
 *
 * As roce_access_compare_swap().
 *
 * Return: 0, -EACCES, or -EINVAL if the number is not aligned.
 */
int roce_access_fetch_add(const struct roce_access *access, u64 add,
			  u64 *original)
{
	struct roce_access_pieces pieces;
	int err = begin_number(access, &pieces);

	if (err)
		return err;
	*original = atomic64_fetch_add(add, pieces.data);
	roce_access_end(&pieces);
	return 0;
}

/**
 * roce_access_store() - write a number in one
 * @access: what is wanted, 8 bytes
 * @number: as it is in memory
 *
 * As roce_access_compare_swap().
 *
 * Return: 0, -EACCES, or -EINVAL if the number is not aligned.
 */
int roce_access_store(const struct roce_access *access, u64 number)
{
	struct roce_access_pieces pieces;
	int err = begin_number(access, &pieces);

	if (err)
		return err;
	/* Who sees the number sees what was written before it (IBA volume 1, A19). */
	atomic64_set_release(pieces.data, number);
	roce_access_end(&pieces);
	return 0;
}

/**
 * roce_access_flush() - make visible to all what was written
 * @access: what is wanted; of a whole region if there are no bytes
 *
 * In a section.
 *
 * Return: 0 or -EACCES.
 */
int roce_access_flush(const struct roce_access *access)
{
	int err = probe_access(access);

	/* Before the response that says so is sent. */
	wmb();
	return err;
}
