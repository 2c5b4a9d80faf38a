/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_MR_H
#define ROCE_MR_H

#include <linux/dma-buf.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "fair_lock.h"
#include "key.h"

struct roce_extent;
struct roce_odp;
struct roce_pd;

enum roce_mr_kind {
	ROCE_MR_USER,		/* pinned pages of a program */
	ROCE_MR_DMABUF,		/* a dma-buf that a program registered */
	ROCE_MR_DMA,		/* all memory, by kernel virtual address */
	/* The memory of these is accessed under the lock of the region. */
	ROCE_MR_FAST,		/* kernel pages, registered by work requests */
	ROCE_MR_ODP,		/* pages of a program that are not pinned */
	ROCE_MR_LOCKED = ROCE_MR_FAST,
};

/**
 * struct roce_mr - a memory region
 * @ibmr: the core's part
 * @key: L_Key and R_Key, which are the same
 * @kind: what the region consists of
 * @lock: held for reading during access to the memory of a fast region, of one that is
 *	not pinned, or of any region through a window; for writing while @valid, @windows
 *	or the pages of @odp change
 * @valid: the state of the key is Valid, else Invalid (IBA volume 1, 10.6.3)
 * @windows: number of windows bound to it
 * @access: IB_ACCESS_* flags
 * @iova: address of the first byte, as work requests and packets use it
 * @length: bytes
 * @first_offset: offset of the first byte in the first page or block, or in the
 *	dma-buf; for @odp, its address in the program
 * @umem: the pinned memory of a program
 * @extents: used instead of @pages or @blocks where it is smaller, for mostly
 *	contiguous memory, and for lists with gaps
 * @extent_count: number of extents
 * @pages: pages of @umem
 * @odp: memory of a program that is not pinned
 * @dmabuf: attachment of the dma-buf
 * @dmabuf_map: its mapping in the kernel, which may be of I/O memory
 * @blocks: kernel addresses of the pages of a fast region
 * @block_shift: log2 of the bytes of a block
 * @max_blocks: capacity of @blocks and @mapped, or of the extents
 * @mapped: the blocks that map_mr_sg prepared for the next registration
 * @mapped_extents: the same, for lists with gaps
 * @mapped_count: number of entries in @mapped or @mapped_extents
 * @mapped_offset: offset of the first byte in the first entry
 * @mapped_length: bytes from there on
 * @rcu: lookups are under RCU
 *
 * A section that finds a valid region may use its memory until the section ends,
 * without a lock. Fast regions need the lock: work requests and packets invalidate
 * them at once. So does memory that is not pinned: the kernel takes its pages.
 */
struct roce_mr {
	struct ib_mr ibmr;
	struct roce_key key;
	enum roce_mr_kind kind;
	struct roce_fair_lock lock;	/* see @lock above */
	bool valid;
	u32 windows;
	int access;
	u64 iova;
	u64 length;
	u64 first_offset;
	struct ib_umem *umem;
	struct roce_odp *odp;
	struct dma_buf_attachment *dmabuf;
	struct roce_extent *extents;
	u32 extent_count;
	union {
		struct page **pages;
		struct iosys_map dmabuf_map;
		void **blocks;
	};
	u32 block_shift;
	u32 max_blocks;
	void **mapped;
	struct roce_extent *mapped_extents;
	u32 mapped_count;
	u32 mapped_offset;
	u64 mapped_length;
	struct rcu_head rcu;
};

static inline struct roce_mr *to_roce_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct roce_mr, ibmr);
}

static inline struct roce_mr *roce_mr_of_key(struct roce_key *key)
{
	return container_of(key, struct roce_mr, key);
}

/**
 * roce_mr_set_valid() - set the state of a region's key to Valid or Invalid
 * @mr: complete; its lock is held for writing, or nobody can find it yet
 * @valid: whether its memory may be used from here on
 *
 * IBA volume 1, 10.6.3.
 */
static inline void roce_mr_set_valid(struct roce_mr *mr, bool valid)
{
	/* Pairs with the acquire in region_allows(): readers take no lock. */
	smp_store_release(&mr->valid, valid);
}

struct ib_mr *roce_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *roce_reg_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
			  int access);
struct ib_mr *roce_reg_dmabuf_mr(struct ib_pd *ibpd, u64 offset, u64 length,
				 u64 iova, int fd, int access);
struct ib_mr *roce_rereg_mr(struct ib_mr *ibmr, int flags, u64 start,
			    u64 length, u64 iova, int access,
			    struct ib_pd *ibpd, struct ib_udata *udata);
int roce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

int roce_mr_check_access(int access);
struct roce_mr *roce_mr_new(struct ib_pd *ibpd, enum roce_mr_kind kind, int access);
struct ib_mr *roce_mr_publish(struct roce_mr *mr);
void roce_mr_free(struct roce_mr *mr);

#endif /* ROCE_MR_H */
