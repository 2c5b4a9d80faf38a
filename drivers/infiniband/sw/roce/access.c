// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Access to memory by key. Every access is checked as a whole: the key, the
 * state of what it names, protection domain, rights and range (IBA volume 1,
 * 10.6.3 and 9.7.4.1.5).
 *
 * Regions of programs go away after a grace period only, so their memory is
 * used under RCU. Windows and the fast regions of kernel consumers lose their
 * meaning at once, when a work request or a packet says so, and the memory may
 * then be used for something else. So there check and copy happen under the
 * lock of the region, and who invalidates waits for a copy that is under way,
 * of a packet at most.
 */
#include <linux/highmem.h>
#include <linux/skbuff.h>

#include "access.h"
#include "train.h"

/* Does something with a piece of memory that is contiguous. */
typedef int (*piece_action)(void *piece, u32 length, void *context);

static bool covers(u64 start, u64 size, const struct roce_access *access)
{
	return !access->length ||
	       roce_range_covers(start, size, access->address, access->length);
}

static bool region_allows(const struct roce_mr *mr,
			  const struct roce_access *access)
{
	/* Pairs with the release in set_valid(): all else is read after it. */
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

struct piece {
	void *data;
	u32 length;
};

static struct piece map_piece(const struct roce_mr *mr, u64 address, u32 length)
{
	u64 offset = address - mr->iova + mr->first_offset;
	struct piece piece = { .length = length };
	u32 size, in_block;

	switch (mr->kind) {
	case ROCE_MR_USER:
		size = PAGE_SIZE;
		in_block = offset_in_page(offset);
		piece.data = kmap_local_page(mr->pages[offset >> PAGE_SHIFT]);
		break;
	case ROCE_MR_FAST:
		size = 1u << mr->block_shift;
		in_block = offset & (size - 1);
		piece.data = mr->blocks[offset >> mr->block_shift];
		break;
	case ROCE_MR_DMABUF:
		piece.data = mr->contiguous + offset;
		return piece;
	default:
		piece.data = (void *)(uintptr_t)address;
		return piece;
	}
	piece.data += in_block;
	piece.length = min(length, size - in_block);
	return piece;
}

static void unmap_piece(const struct roce_mr *mr, const struct piece *piece)
{
	if (mr->kind == ROCE_MR_USER)
		kunmap_local(piece->data);
}

static __always_inline int act_on_pieces(const struct roce_mr *mr, u64 address,
					 u32 length, piece_action action,
					 void *context)
{
	struct piece piece;
	int err;

	for (; action && length; address += piece.length, length -= piece.length) {
		piece = map_piece(mr, address, length);
		err = action(piece.data, piece.length, context);
		unmap_piece(mr, &piece);
		if (err)
			return err;
	}
	return 0;
}

static __always_inline int access_region(struct roce_mr *mr,
					 const struct roce_access *access,
					 piece_action action, void *context)
{
	if (!region_allows(mr, access))
		return -EACCES;
	return act_on_pieces(mr, access->address, access->length, action,
			     context);
}

static __always_inline int access_fast_region(struct roce_mr *mr,
					      const struct roce_access *access,
					      piece_action action, void *context)
{
	int err;

	read_lock_bh(&mr->lock);
	err = access_region(mr, access, action, context);
	read_unlock_bh(&mr->lock);
	return err;
}

static __always_inline int access_window(struct roce_mw *mw,
					 const struct roce_access *access,
					 piece_action action, void *context)
{
	struct roce_mr *mr = READ_ONCE(mw->mr);
	int err = -EACCES;

	if (!mr)
		return err;
	read_lock_bh(&mr->lock);
	/* It may have been bound to another region, or is just now. */
	if (READ_ONCE(mw->mr) == mr && window_allows(mw, access))
		err = act_on_pieces(mr,
				    access->address - mw->start + mw->address,
				    access->length, action, context);
	read_unlock_bh(&mr->lock);
	return err;
}

/* Inlined into each caller, so that no call goes by way of a pointer. */
static __always_inline int access_memory(const struct roce_access *access,
					 piece_action action, void *context)
{
	struct roce_device *dev = to_roce_device(access->pd->ibpd.device);
	struct roce_key *key = roce_key_find(dev, access->key);
	struct roce_mr *mr;

	if (!key)
		return -EACCES;
	if (key->is_window)
		return access_window(roce_mw_of_key(key), access, action,
				     context);
	mr = roce_mr_of_key(key);
	/* A new registration may change it, but never to or from this. */
	if (data_race(mr->kind) == ROCE_MR_FAST)
		return access_fast_region(mr, access, action, context);
	return access_region(mr, access, action, context);
}

/**
 * roce_access_is_allowed() - whether an access is allowed as things are now
 * @access: what is wanted
 *
 * RCU read side. A request for nothing needs no key (9.7.4.1.5).
 */
bool roce_access_is_allowed(const struct roce_access *access)
{
	return !access->length || !access_memory(access, NULL, NULL);
}

static int append_piece(void *piece, u32 length, void *train)
{
	return roce_train_append(train, piece, length);
}

/**
 * roce_access_read() - append memory to the packet under construction
 * @access: what is wanted, with at least one byte
 * @train: with a packet under construction
 *
 * RCU read side.
 *
 * Return: 0, -EACCES, or the error of roce_train_append().
 */
int roce_access_read(const struct roce_access *access, struct roce_train *train)
{
	return access_memory(access, append_piece, train);
}

struct received {
	const struct sk_buff *skb;
	unsigned int offset;
};

static int place_piece(void *piece, u32 length, void *context)
{
	struct received *received = context;
	int err = skb_copy_bits(received->skb, received->offset, piece, length);

	received->offset += length;
	return err;
}

/**
 * roce_access_write() - place received bytes in memory
 * @access: what is wanted, with at least one byte
 * @skb: has the bytes
 * @offset: of the first one in @skb
 *
 * RCU read side.
 *
 * Return: 0, -EACCES, or -EFAULT if @skb is shorter than that.
 */
int roce_access_write(const struct roce_access *access,
		      const struct sk_buff *skb, unsigned int offset)
{
	struct received received = { skb, offset };

	return access_memory(access, place_piece, &received);
}

static int copy_piece(void *piece, u32 length, void *context)
{
	const void **buffer = context;

	memcpy(piece, *buffer, length);
	*buffer += length;
	return 0;
}

/**
 * roce_access_copy_to() - copy a buffer of the kernel to memory
 * @access: what is wanted, with at least one byte
 * @buffer: as long as @access
 *
 * RCU read side.
 *
 * Return: 0 or -EACCES.
 */
int roce_access_copy_to(const struct roce_access *access, const void *buffer)
{
	return access_memory(access, copy_piece, &buffer);
}

/* The operands of an operation on a number, and what it was */
struct number {
	u64 compare;
	u64 swap_add;
	u64 original;
};

/*
 * Addresses are what the owner of a region wants them to be, so what counts as
 * well is where the bytes are: a locked operation across cache lines stops all
 * CPUs, or traps.
 */
static bool is_number(const void *piece, u32 length)
{
	return length == sizeof(atomic64_t) &&
	       IS_ALIGNED((uintptr_t)piece, sizeof(atomic64_t));
}

static int compare_swap_piece(void *piece, u32 length, void *context)
{
	struct number *number = context;

	if (!is_number(piece, length))
		return -EINVAL;
	number->original = atomic64_cmpxchg(piece, number->compare,
					    number->swap_add);
	return 0;
}

static int fetch_add_piece(void *piece, u32 length, void *context)
{
	struct number *number = context;

	if (!is_number(piece, length))
		return -EINVAL;
	number->original = atomic64_fetch_add(number->swap_add, piece);
	return 0;
}

static int store_piece(void *piece, u32 length, void *context)
{
	struct number *number = context;

	if (!is_number(piece, length))
		return -EINVAL;
	/* Who sees the number sees what was written before it (IBA volume 1, A19). */
	atomic64_set_release(piece, number->swap_add);
	return 0;
}

static __always_inline int access_number(const struct roce_access *access,
					 piece_action action,
					 struct number *number)
{
	if (!IS_ALIGNED(access->address, sizeof(atomic64_t)))
		return -EINVAL;
	return access_memory(access, action, number);
}

/**
 * roce_access_compare_swap() - replace a number if it is a certain one
 * @access: what is wanted, 8 bytes
 * @compare: what the number has to be
 * @swap: what it becomes then
 * @original: set to what it was
 *
 * Atomically with respect to all that access the number atomically, the CPU
 * included where it has such operations on 64 bits (IBA volume 1, 9.4.5).
 * RCU read side.
 *
 * Return: 0, -EACCES, or -EINVAL if the number is not aligned.
 */
int roce_access_compare_swap(const struct roce_access *access, u64 compare,
			     u64 swap, u64 *original)
{
	struct number number = { .compare = compare, .swap_add = swap };
	int err = access_number(access, compare_swap_piece, &number);

	*original = number.original;
	return err;
}

/**
 * roce_access_fetch_add() - add to a number
 * @access: what is wanted, 8 bytes
 * @add: modulo 2^64
 * @original: set to what the number was
 *
 * As roce_access_compare_swap().
 *
 * Return: 0, -EACCES, or -EINVAL if the number is not aligned.
 */
int roce_access_fetch_add(const struct roce_access *access, u64 add,
			  u64 *original)
{
	struct number number = { .swap_add = add };
	int err = access_number(access, fetch_add_piece, &number);

	*original = number.original;
	return err;
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
	struct number stored = { .swap_add = number };

	return access_number(access, store_piece, &stored);
}

/**
 * roce_access_flush() - make visible to all what was written
 * @access: what is wanted; of a whole region if there are no bytes
 *
 * RCU read side.
 *
 * Return: 0 or -EACCES.
 */
int roce_access_flush(const struct roce_access *access)
{
	int err = access_memory(access, NULL, NULL);

	/* Before the response that says so is sent. */
	wmb();
	return err;
}
