// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Access to memory by key. Every access is checked as a whole: the key, its
 * state, protection domain, rights and range (IBA volume 1, 10.6.3 and
 * 9.7.4.1.5).
 *
 * A user region is freed only after all running sections have ended, so its memory
 * is used without a lock. Windows and fast regions are invalidated at once, by a
 * work request or a packet, and the memory may then be used for something else. So
 * their check and copy happen under the lock of the region, and an invalidation
 * waits for a copy in progress, of one train at most. The same holds for memory that is
 * not pinned (odp.c): its pages go away at any time.
 *
 * The caller gets the memory in pieces, each contiguous in the kernel's address
 * space, and reads or writes them itself.
 */
#include <linux/highmem.h>
#include <linux/io.h>

#include "access.h"
#include "device.h"
#include "extent.h"
#include "fault.h"
#include "key.h"
#include "mr.h"
#include "mw.h"
#include "odp.h"
#include "pd.h"

/* Rights that let the memory change */
#define WRITES \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

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

/* A window has no L_Key: only peers can use it. */
static bool window_allows(const struct roce_mw *mw,
			  const struct roce_access *access)
{
	return access->qpn && mw->key.value == access->key &&
	       mw->ibmw.pd == &access->pd->ibpd &&
	       (mw->ibmw.type == IB_MW_TYPE_1 || mw->qpn == access->qpn) &&
	       (mw->access & access->rights) == access->rights &&
	       covers(mw->start, mw->length, access);
}

/* Return the extent with byte @offset of the region. */
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

/* A page that is not present can only be looked for to check an access. */
static void map_page_on_demand(struct roce_access_pieces *pieces, u64 address)
{
	struct page *page = roce_odp_page(pieces->mr->odp, address, false);
	u32 in_page = offset_in_page(address);

	pieces->data = page ? kmap_local_page(page) + in_page : NULL;
	pieces->length = min_t(u32, pieces->left, PAGE_SIZE - in_page);
	pieces->mapped = page;
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
	case ROCE_MR_ODP:
		map_page_on_demand(pieces, offset);
		break;
	case ROCE_MR_DMABUF:
		pieces->data = mr->dmabuf_map.vaddr + offset;
		pieces->is_io = mr->dmabuf_map.is_iomem;
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
 * roce_access_find_next() - the slow path of roce_access_next()
 * @pieces: with at least one byte left
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
 * roce_access_release() - the slow path of roce_access_end()
 * @pieces: locked or mapped
 */
void roce_access_release(struct roce_access_pieces *pieces)
{
	unmap_page(pieces);
	if (pieces->locked) {
		__acquire(&pieces->mr->lock.rwlock);
		roce_fair_read_unlock(&pieces->mr->lock);
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
	pieces->is_io = false;
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

/*
 * Whether the pages of an access that starts at @address of the region are present.
 * Without @fault, nothing is accessed. Returns 0, or the error of roce_fault_need().
 */
static int need_pages(struct roce_mr *mr, const struct roce_access *access, u64 address,
		      struct roce_fault *fault)
{
	u64 start = address - mr->iova + mr->first_offset;
	u64 left = mr->length - (address - mr->iova);
	bool write = access->rights & WRITES;

	lockdep_assert_held(&mr->lock.rwlock);
	if (mr->kind != ROCE_MR_ODP || !fault || !access->length)
		return 0;
	if (roce_odp_has(mr->odp, start, access->length, write)) {
		roce_fault_settle(fault, mr->odp, start, write);
		return 0;
	}
	return roce_fault_need(fault, mr->odp, start, access->length,
			       min_t(u64, access->ahead, left), write);
}

/* After the check of a region, or of a window of it, in the lock: it stays locked. */
static int begin_locked(struct roce_mr *mr, u64 address, u64 length,
			struct roce_access_pieces *pieces, int err)
	__releases(&mr->lock.rwlock)
{
	if (err) {
		roce_fair_read_unlock(&mr->lock);
		return err;
	}
	begin_pieces(mr, address, length, pieces);
	pieces->locked = true;
	__release(&mr->lock.rwlock); /* for sparse */
	return 0;
}

static int begin_locked_region(struct roce_mr *mr, const struct roce_access *access,
			       struct roce_access_pieces *pieces,
			       struct roce_fault *fault)
{
	int err;

	roce_fair_read_lock(&mr->lock);
	err = region_allows(mr, access) ?
	      need_pages(mr, access, access->address, fault) : -EACCES;
	return begin_locked(mr, access->address, access->length, pieces, err);
}

static int begin_window(struct roce_mw *mw, const struct roce_access *access,
			struct roce_access_pieces *pieces, struct roce_fault *fault)
{
	struct roce_mr *mr = READ_ONCE(mw->mr);
	int err = -EACCES;
	u64 address = 0;

	if (!mr)
		return err;
	roce_fair_read_lock(&mr->lock);
	/* Another bind may have run before the lock was taken. */
	if (READ_ONCE(mw->mr) == mr && window_allows(mw, access)) {
		address = access->address - mw->start + mw->address;
		err = need_pages(mr, access, address, fault);
	}
	return begin_locked(mr, address, access->length, pieces, err);
}

static struct roce_key *find_key(struct roce_device *dev,
				 const struct roce_access *access)
{
	struct roce_key *key = access->latest ? *access->latest : NULL;

	/* Racy: a REG_MR may change it. The object's check looks at it again. */
	if (key && data_race(READ_ONCE(key->value)) == access->key)
		return key;
	key = roce_key_find(dev, access->key);
	if (access->latest)
		*access->latest = key;
	return key;
}

/* @fault: NULL if the memory is not accessed */
static __always_inline int begin(const struct roce_access *access,
				 struct roce_access_pieces *pieces,
				 struct roce_fault *fault)
{
	struct roce_device *dev = to_roce_device(access->pd->ibpd.device);
	struct roce_key *key = find_key(dev, access);
	struct roce_mr *mr;

	if (!key)
		return -EACCES;
	if (key->is_window)
		return begin_window(roce_mw_of_key(key), access, pieces, fault);
	mr = roce_mr_of_key(key);
	/* Racy: a rereg may change it, but not from one side to the other. */
	if (data_race(mr->kind) >= ROCE_MR_LOCKED)
		return begin_locked_region(mr, access, pieces, fault);
	return begin_region(mr, access, pieces);
}

/**
 * roce_access_begin() - check an access and get its first piece
 * @access: the access to check
 * @pieces: set to the first piece; roce_access_next() finds the others
 *
 * In a section, which must last until roce_access_end(). The lock of the
 * region may be held until then: the caller only copies in between.
 *
 * Return: 0, -EACCES, or -EAGAIN if memory is not present: then the caller keeps what it
 * works on, and starts @access->fault.
 */
int roce_access_begin(const struct roce_access *access,
		      struct roce_access_pieces *pieces)
{
	return begin(access, pieces, access->fault);
}

/**
 * roce_access_is_allowed() - whether an access is allowed now
 * @access: the access to check
 *
 * In a section. An access of length 0 needs no key (IBA volume 1, 9.7.4.1.5).
 */
bool roce_access_is_allowed(const struct roce_access *access)
{
	struct roce_access_pieces pieces;

	if (!access->length)
		return true;
	if (begin(access, &pieces, NULL))
		return false;
	roce_access_end(&pieces);
	return true;
}

/**
 * roce_access_copy_to_io() - copy a kernel buffer to a piece of I/O memory
 * @pieces: at that piece
 * @offset: of the first byte in the piece
 * @buffer: the bytes
 * @length: bytes
 */
void roce_access_copy_to_io(const struct roce_access_pieces *pieces, u32 offset,
			    const void *buffer, u32 length)
{
	memcpy_toio(pieces->io + offset, buffer, length);
	/* CPUs gather writes to a device: who polls memory must see these before later ones. */
	wmb();
}

/**
 * roce_access_copy_to() - copy a kernel buffer to memory
 * @access: where to, of at least one byte
 * @buffer: as long as @access
 *
 * In a section.
 *
 * Return: 0, -EACCES, or -EAGAIN, see roce_access_begin().
 */
int roce_access_copy_to(const struct roce_access *access, const void *buffer)
{
	struct roce_access_pieces pieces;
	int err = roce_access_begin(access, &pieces);

	if (err)
		return err;
	do {
		if (pieces.is_io)
			roce_access_copy_to_io(&pieces, 0, buffer, pieces.length);
		else
			memcpy(pieces.data, buffer, pieces.length);
		buffer += pieces.length;
	} while (roce_access_next(&pieces));
	roce_access_end(&pieces);
	return 0;
}

/*
 * Begin an access to an aligned 64-bit number. The owner of a region chooses its
 * addresses freely, so the place in memory must be aligned, too: a locked operation
 * across cache lines stops all CPUs, or traps. CPUs have no such operation on a device.
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
	if (pieces->length == sizeof(atomic64_t) && !pieces->is_io &&
	    IS_ALIGNED((uintptr_t)pieces->data, sizeof(atomic64_t)))
		return 0;
	roce_access_end(pieces);
	return -EINVAL;
}

/**
 * roce_access_compare_swap() - compare and swap a 64-bit number
 * @access: the number, 8 bytes
 * @compare: expected value
 * @swap: value to store if the number equals @compare
 * @original: set to the value before, on success
 *
 * Atomic with respect to all atomic accesses by the device, and by CPUs that have
 * atomic operations on 64 bits (IBA volume 1, 9.4.5). In a section.
 *
 * Return: 0, -EACCES, -EAGAIN, see roce_access_begin(), or -EINVAL if the number is not
 * aligned, or in I/O memory.
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
 * roce_access_fetch_add() - add to a 64-bit number
 * @access: the number, 8 bytes
 * @add: added modulo 2^64
 * @original: set to the value before, on success
 *
 * Atomic like roce_access_compare_swap(). In a section.
 *
 * Return: 0, -EACCES, -EAGAIN, see roce_access_begin(), or -EINVAL if the number is not
 * aligned, or in I/O memory.
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
 * roce_access_store() - store a 64-bit number with one access
 * @access: the number, 8 bytes
 * @number: in the byte order of the memory
 *
 * Atomic like roce_access_compare_swap(). In a section.
 *
 * Return: 0, -EACCES, -EAGAIN, see roce_access_begin(), or -EINVAL if the number is not
 * aligned, or in I/O memory.
 */
int roce_access_store(const struct roce_access *access, u64 number)
{
	struct roce_access_pieces pieces;
	int err = begin_number(access, &pieces);

	if (err)
		return err;
	/* A reader of the number also sees earlier writes (IBA volume 1, A19). */
	atomic64_set_release(pieces.data, number);
	roce_access_end(&pieces);
	return 0;
}

/* A bus passes writes on before a read of the same device. */
static void push_writes(const struct roce_mr *mr)
{
	if (mr->kind != ROCE_MR_DMABUF || !mr->dmabuf_map.is_iomem)
		return;
	/* CPUs gather writes to a device, and may read from it before these. */
	mb();
	readb(mr->dmabuf_map.vaddr_iomem + mr->first_offset);
}

/**
 * roce_access_flush() - make earlier writes globally visible
 * @access: the flushed memory; with length 0, the whole region
 *
 * In a section.
 *
 * Return: 0 or -EACCES.
 */
int roce_access_flush(const struct roce_access *access)
{
	struct roce_access_pieces pieces;
	int err = begin(access, &pieces, NULL);

	if (err)
		return err;
	push_writes(pieces.mr);
	roce_access_end(&pieces);
	/* The writes are visible before the response is sent. */
	wmb();
	return 0;
}

/**
 * roce_access_get_odp() - find the memory of an access, which may be not present
 * @access: the memory; its @latest is NULL
 * @odp: set to the memory, to be released by roce_odp_put()
 * @address: set to the address in the program
 *
 * In a section.
 *
 * Return: 0, -EPERM without the rights, or -EFAULT if there is no such memory, or it is
 * pinned.
 */
int roce_access_get_odp(const struct roce_access *access, struct roce_odp **odp,
			u64 *address)
{
	struct roce_key *key = find_key(to_roce_device(access->pd->ibpd.device), access);
	struct roce_access readable = *access;
	struct roce_mr *mr;

	if (!key || key->is_window)
		return -EFAULT;
	mr = roce_mr_of_key(key);
	readable.rights = 0;
	if (!region_allows(mr, &readable) || !mr->odp)
		return -EFAULT;
	if (!region_allows(mr, access))
		return -EPERM;
	roce_odp_get(mr->odp);
	*odp = mr->odp;
	*address = access->address - mr->iova + mr->first_offset;
	return 0;
}
