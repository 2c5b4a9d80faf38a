/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_MR_H
#define ROCE_MR_H

#include <rdma/ib_verbs.h>

#include "key.h"

struct dma_buf_attachment;
struct roce_pd;

enum roce_mr_kind {
	ROCE_MR_USER,		/* pinned pages of a program */
	ROCE_MR_DMABUF,		/* what a program has of another driver */
	ROCE_MR_DMA,		/* all of the kernel's memory, by virtual address */
	ROCE_MR_FAST,		/* pages of the kernel, by work requests */
};

/**
 * struct roce_extent - a part of a region that is contiguous in the kernel
 * @offset: of its first byte from that of the first extent; it ends where the next one
 *	begins, and behind the last one there is one that only says where
 * @start: where it is
 */
struct roce_extent {
	u64 offset;
	void *start;
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
 * struct roce_registration - what a REG_MR work request asks for
 * @mr: a fast region
 * @key: that it shall have
 * @access: IB_ACCESS_* flags
 * @iova: address of the first byte
 * @length: bytes
 */
struct roce_registration {
	struct roce_mr *mr;
	u32 key;
	int access;
	u64 iova;
	u64 length;
};

struct ib_mr *roce_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *roce_reg_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
			  int access);
struct ib_mr *roce_reg_dmabuf_mr(struct ib_pd *ibpd, u64 offset, u64 length,
				 u64 iova, int fd, int access);
struct ib_mr *roce_rereg_mr(struct ib_mr *ibmr, int flags, u64 start,
			    u64 length, u64 iova, int access,
			    struct ib_pd *ibpd, struct ib_udata *udata);
struct ib_mr *roce_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			    u32 max_sges);
int roce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sges,
		   unsigned int *offset);
int roce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

int roce_mr_register(const struct roce_registration *registration,
		     struct roce_pd *pd);
int roce_mr_invalidate(struct roce_mr *mr, u32 key, struct roce_pd *pd,
		       bool by_peer);

#endif /* ROCE_MR_H */
