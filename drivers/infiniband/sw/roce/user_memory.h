/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_USER_MEMORY_H
#define ROCE_USER_MEMORY_H

#include "mr.h"

struct ib_device;
struct ib_umem;
struct page;
struct roce_extent;
struct roce_odp;

/**
 * struct roce_user_memory - the memory of a user region: pages or a dma-buf
 * @kind: ROCE_MR_USER, ROCE_MR_ODP or ROCE_MR_DMABUF
 * @iova: address of the first byte, as work requests and packets use it
 * @length: bytes
 * @access: IB_ACCESS_* flags of the region
 * @first_offset: as in struct roce_mr
 * @umem: the pinned memory
 * @pages: pages of @umem
 * @extents: used instead of @pages where it is smaller
 * @extent_count: number of extents
 * @odp: the memory that is not pinned
 * @dmabuf: attachment of the dma-buf
 * @dmabuf_map: its mapping in the kernel
 *
 * A zeroed one has nothing to release.
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
	struct roce_odp *odp;
	struct dma_buf_attachment *dmabuf;
	struct iosys_map dmabuf_map;
};

int roce_user_memory_pin(struct ib_device *ibdev, u64 start,
			 struct roce_user_memory *memory);
int roce_user_memory_map_on_demand(struct ib_device *ibdev, u64 start,
				   struct roce_user_memory *memory);
int roce_user_memory_map_dmabuf(struct ib_device *ibdev, int fd, u64 offset,
				struct roce_user_memory *memory);
void roce_user_memory_release(const struct roce_user_memory *memory);

#endif /* ROCE_USER_MEMORY_H */
