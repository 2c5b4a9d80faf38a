/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_MR_H
#define ROCE_MR_H

#include <rdma/ib_verbs.h>

#include "key.h"

struct dma_buf_attachment;
struct roce_extent;
struct roce_pd;

enum roce_mr_kind {
	ROCE_MR_USER,		/* pinned pages of a program */
	ROCE_MR_DMABUF,		/* what a program has of another driver */
	ROCE_MR_DMA,		/* all of the kernel's memory, by virtual address */
	ROCE_MR_FAST,		/* pages of the kernel, by work requests */
};

/**
 * struct roce_mr - a memory region
 * @ibmr: what the RDMA core knows of it
 * @key: L_Key and R_Key, which are the same
 * @kind: what the addresses mean
 * @lock: held for reading while somebody accesses the memory of a fast region,
 *	or of any region through a window; for writing while @valid or
 *	@windows changes
 * @valid: the state of the key is Valid, else Invalid (IBA volume 1, 10.6.3)
 * @windows: that are bound to it
 * @access: IB_ACCESS_* flags
 * @iova: address of the first byte, as work requests and packets use it
 * @length: bytes
 * @first_offset: of the first byte in the first page or block, or in the dma-buf
 * @umem: the pinned memory of a program
 * @extents: what the region consists of, if @pages or @blocks would be more: memory
 *	that is mostly contiguous, and lists with gaps
 * @extent_count: how many
 * @pages: of @umem
 * @dmabuf: the memory of another driver
 * @contiguous: where it begins
 * @blocks: of a fast region: where its pages are, @block_shift each
 * @block_shift: log2 of the bytes of a block
 * @max_blocks: how many there may be
 * @mapped: what map_mr_sg made, the blocks of the next registration
 * @mapped_extents: likewise, of a region for lists with gaps
 * @mapped_count: how many of either
 * @mapped_offset: of the first byte in the first one
 * @mapped_length: bytes from there on
 * @rcu: lookups are under RCU
 *
 * Who found a valid region in a section may use its memory until the end of the
 * section, without a lock, but for fast regions: those are invalidated by work
 * requests and packets, at once.
 */
struct roce_mr {
	struct ib_mr ibmr;
	struct roce_key key;
	enum roce_mr_kind kind;
	rwlock_t lock;			/* see above */
	bool valid;
	u32 windows;
	int access;
	u64 iova;
	u64 length;
	u64 first_offset;
	struct ib_umem *umem;
	struct dma_buf_attachment *dmabuf;
	struct roce_extent *extents;
	u32 extent_count;
	union {
		struct page **pages;
		void *contiguous;
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
 * roce_mr_set_valid() - let the state of a region's key be Valid, or Invalid
 * @mr: complete; its lock is held for writing, or nobody can find it yet
 * @valid: whether its memory may be used from here on
 *
 * IBA volume 1, 10.6.3.
 */
static inline void roce_mr_set_valid(struct roce_mr *mr, bool valid)
{
	/* What it consists of is there before it is looked at without a lock. */
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
