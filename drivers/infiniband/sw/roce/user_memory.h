/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_USER_MEMORY_H
#define ROCE_USER_MEMORY_H

#include "mr.h"

struct dma_buf_attachment;
struct ib_device;
struct ib_umem;
struct page;
struct roce_extent;

/**
 * struct roce_user_memory - what a program's region consists of, pages or a dma-buf
 * @kind: ROCE_MR_USER or ROCE_MR_DMABUF
 * @iova: address of the first byte, as work requests and packets use it
 * @length: bytes
 * @access: IB_ACCESS_* flags that it was got for
 * @first_offset: as in struct roce_mr
 * @umem: the pinned memory
 * @pages: of @umem
 * @extents: in place of @pages, if these would be more
 * @extent_count: how many
 * @dmabuf: the memory of another driver
 * @contiguous: where it begins
 *
 * Nothing in it is nothing to be released.
 */
struct roce_user_memory {
	enum roce_mr_kind kind;
	u64 iova;
	u64 length;
	int access;
	u64 first_offset;
	struct ib_umem *umem;
	struct page **pages;
	struct roce_extent *extents;
	u32 extent_count;
	struct dma_buf_attachment *dmabuf;
	void *contiguous;
};

int roce_user_memory_pin(struct ib_device *ibdev, u64 start,
			 struct roce_user_memory *memory);
int roce_user_memory_map_dmabuf(struct ib_device *ibdev, int fd, u64 offset,
				struct roce_user_memory *memory);
void roce_user_memory_release(const struct roce_user_memory *memory);

#endif /* ROCE_USER_MEMORY_H */
