// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The memory of a user region: pinned and listed pages, pages on demand, or a mapped
 * dma-buf.
 */
#include <rdma/ib_umem.h>

#include "compat.h"
#include "dmabuf.h"
#include "extent.h"
#include "odp.h"
#include "prefetch.h"
#include "roce.h"
#include "user_memory.h"

/* An address of the program, and a length, may be too large for a 32-bit kernel. */
static int check_range(u64 start, struct roce_user_memory *memory)
{
	u64 end;

	if (memory->access & IB_ZERO_BASED)
		memory->iova = 0;
	if (!memory->length || memory->length > min_t(u64, ROCE_MAX_MR_SIZE, SIZE_MAX) ||
	    (unsigned long)start != start ||
	    check_add_overflow(memory->iova, memory->length, &end))
		return -EINVAL;
	return 0;
}

/*
 * Extents pay off if they need less than half the memory of the page list: finding an
 * extent costs more than finding a page. Pages of high memory have no permanent address.
 */
static bool is_mostly_contiguous(struct ib_umem *umem)
{
	return !IS_ENABLED(CONFIG_HIGHMEM) &&
	       umem->sgt_append.sgt.orig_nents <= ib_umem_num_pages(umem) / 4;
}

static int make_extents(struct ib_umem *umem, struct roce_user_memory *memory)
{
	struct sg_table *table = &umem->sgt_append.sgt;
	struct scatterlist *sg;
	int i;

	memory->extents = kvcalloc(table->orig_nents + 1,
				   sizeof(*memory->extents),
				   GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!memory->extents)
		return -ENOMEM;
	for_each_sgtable_sg(table, sg, i)
		roce_extent_add(memory->extents, &memory->extent_count,
				sg_virt(sg), sg->length);
	return 0;
}

static int list_pages(struct ib_umem *umem, struct roce_user_memory *memory)
{
	struct sg_page_iter iter;
	size_t i = 0;

	memory->pages = kvmalloc_array(ib_umem_num_pages(umem),
				       sizeof(*memory->pages),
				       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!memory->pages)
		return -ENOMEM;
	for_each_sgtable_page(&umem->sgt_append.sgt, &iter, 0)
		memory->pages[i++] = sg_page_iter_page(&iter);
	return 0;
}

/**
 * roce_user_memory_pin() - pin and list pages of the calling program
 * @ibdev: the device that will use them
 * @start: address in the program
 * @memory: iova, length and access are set, the rest is zeroed and gets filled in;
 *	IB_ZERO_BASED changes iova
 *
 * Process context.
 *
 * Return: 0, -EINVAL for an invalid range, -ENOMEM, or the error of pinning. After an
 * error there is nothing to release.
 */
int roce_user_memory_pin(struct ib_device *ibdev, u64 start,
			 struct roce_user_memory *memory)
{
	struct ib_umem *umem;
	int err;

	err = check_range(start, memory);
	if (err)
		return err;

	umem = ib_umem_get(ibdev, start, memory->length, memory->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);

	err = is_mostly_contiguous(umem) ? make_extents(umem, memory) :
					   list_pages(umem, memory);
	if (err) {
		ib_umem_release(umem);
		return err;
	}
	memory->kind = ROCE_MR_USER;
	memory->umem = umem;
	memory->first_offset = ib_umem_offset(umem);
	return 0;
}

static bool is_implicit(u64 start, const struct roce_user_memory *memory)
{
	return !start && memory->length == U64_MAX;
}

/**
 * roce_user_memory_map_on_demand() - use memory of the calling program without pinning it
 * @ibdev: the device that will use it
 * @start: address in the program; 0 with a length of U64_MAX means all of its memory
 * @memory: as in roce_user_memory_pin()
 *
 * Process context. Nothing is looked for in the program: memory may appear later.
 *
 * Return: 0, -EINVAL for an invalid range, -ENOMEM, or -EOPNOTSUPP if the kernel has no
 * on-demand paging. After an error there is nothing to release.
 */
int roce_user_memory_map_on_demand(struct ib_device *ibdev, u64 start,
				   struct roce_user_memory *memory)
{
	u64 end;
	int err;

	if (is_implicit(start, memory))
		err = memory->iova ? -EINVAL : 0;
	else
		err = check_range(start, memory);
	if (err)
		return err;
	if (check_add_overflow(start, memory->length, &end))
		return -EINVAL;

	memory->odp = roce_odp_new(ibdev, memory->access);
	if (IS_ERR(memory->odp))
		return PTR_ERR(memory->odp);
	memory->kind = ROCE_MR_ODP;
	memory->first_offset = start;
	return 0;
}

/**
 * roce_user_memory_map_dmabuf() - map a dma-buf of the calling program
 * @ibdev: the device that will use it
 * @fd: of the dma-buf, in the calling process
 * @offset: of the first byte in the buffer
 * @memory: as in roce_user_memory_pin()
 *
 * Process context.
 *
 * Return: 0, -EINVAL for an invalid range, or the error of roce_dmabuf_map(). After
 * an error there is nothing to release.
 */
int roce_user_memory_map_dmabuf(struct ib_device *ibdev, int fd, u64 offset,
				struct roce_user_memory *memory)
{
	u64 end;
	int err;

	err = check_range(offset, memory);
	if (err)
		return err;
	if (check_add_overflow(offset, memory->length, &end))
		return -EINVAL;

	memory->dmabuf = roce_dmabuf_map(&ibdev->dev, fd, end, &memory->dmabuf_map);
	if (IS_ERR(memory->dmabuf))
		return PTR_ERR(memory->dmabuf);
	memory->kind = ROCE_MR_DMABUF;
	memory->first_offset = offset;
	return 0;
}

/**
 * roce_user_memory_release() - unpin or unmap memory and free its lists
 * @memory: pinned, mapped or zeroed
 *
 * Process context. The memory must be unused.
 */
void roce_user_memory_release(const struct roce_user_memory *memory)
{
	kvfree(memory->pages);
	kvfree(memory->extents);
	if (memory->umem)
		ib_umem_release(memory->umem);
	if (memory->odp) {
		roce_prefetch_stop(memory->odp);
		roce_odp_free(memory->odp);
	}
	if (memory->dmabuf)
		roce_dmabuf_unmap(memory->dmabuf, memory->dmabuf_map);
}
