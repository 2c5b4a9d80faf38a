// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fast regions of kernel consumers: map_mr_sg lists their memory, and work requests and
 * packets validate and invalidate their keys (IBA volume 1, 10.6).
 */
#include "compat.h"
#include "extent.h"
#include "fast_mr.h"
#include "key.h"
#include "mr.h"
#include "pd.h"
#include "roce.h"

#define REMOTE_ACCESS \
	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_FLUSH_GLOBAL)

static int alloc_fast(struct roce_mr *mr)
{
	if (mr->ibmr.type == IB_MR_TYPE_SG_GAPS) {
		mr->extents = kvcalloc(mr->max_blocks + 1, sizeof(*mr->extents),
				       GFP_KERNEL_ACCOUNT);
		mr->mapped_extents = kvcalloc(mr->max_blocks + 1,
					      sizeof(*mr->mapped_extents),
					      GFP_KERNEL_ACCOUNT);
		return mr->extents && mr->mapped_extents ? 0 : -ENOMEM;
	}
	mr->blocks = kvcalloc(mr->max_blocks, sizeof(*mr->blocks),
			      GFP_KERNEL_ACCOUNT);
	mr->mapped = kvcalloc(mr->max_blocks, sizeof(*mr->mapped),
			      GFP_KERNEL_ACCOUNT);
	return mr->blocks && mr->mapped ? 0 : -ENOMEM;
}

/**
 * roce_alloc_mr() - the alloc_mr verb: a region for REG_MR work requests
 * @ibpd: of a kernel consumer
 * @type: IB_MR_TYPE_MEM_REG: full pages, except for the first and the last one;
 *	IB_MR_TYPE_SG_GAPS: pieces of any size
 * @max_sges: the most pages or list elements that it must hold
 *
 * Return: the region, in the Invalid state, or an error pointer.
 */
struct ib_mr *roce_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			    u32 max_sges)
{
	struct roce_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sges || max_sges > ROCE_MAX_FAST_PAGES)
		return ERR_PTR(-EINVAL);

	mr = roce_mr_new(ibpd, ROCE_MR_FAST, 0);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	mr->ibmr.type = type;
	mr->max_blocks = max_sges;
	err = alloc_fast(mr);
	if (err) {
		roce_mr_free(mr);
		return ERR_PTR(err);
	}
	return roce_mr_publish(mr);
}

static int add_block(struct ib_mr *ibmr, u64 address)
{
	struct roce_mr *mr = to_roce_mr(ibmr);

	if (mr->mapped_count == mr->max_blocks)
		return -ENOMEM;
	mr->mapped[mr->mapped_count++] = (void *)(uintptr_t)address;
	return 0;
}

static int map_pages(struct roce_mr *mr, struct scatterlist *sg, int sges,
		     unsigned int *offset)
{
	struct ib_mr *ibmr = &mr->ibmr;
	u64 room;
	int taken;

	taken = ib_sg_to_pages(ibmr, sg, sges, offset, add_block);
	room = (u64)mr->mapped_count * ibmr->page_size;
	mr->mapped_offset = ibmr->iova & (ibmr->page_size - 1);
	mr->mapped_length = room - min_t(u64, room, mr->mapped_offset);
	return taken;
}

static int map_list(struct roce_mr *mr, struct scatterlist *list, int sges,
		    unsigned int *offset)
{
	unsigned int skip = offset ? *offset : 0;
	struct ib_mr *ibmr = &mr->ibmr;
	struct scatterlist *sg;
	int i;

	if (sges <= 0 || skip >= sg_dma_len(list))
		return -EINVAL;
	ibmr->iova = sg_dma_address(list) + skip;
	mr->mapped_offset = 0;
	for_each_sg(list, sg, sges, i) {
		if (mr->mapped_count == mr->max_blocks)
			break;
		roce_extent_add(mr->mapped_extents, &mr->mapped_count,
				(void *)(uintptr_t)(sg_dma_address(sg) + skip),
				sg_dma_len(sg) - skip);
		skip = 0;
	}
	mr->mapped_length = mr->mapped_extents[mr->mapped_count].offset;
	ibmr->length = mr->mapped_length;
	if (offset)
		*offset = 0;
	return i;
}

/**
 * roce_map_mr_sg() - the map_mr_sg verb: set the memory of the next registration
 * @ibmr: allocated by roce_alloc_mr()
 * @sg: mapped for the device: the addresses are kernel virtual ones
 * @sges: number of elements
 * @offset: of the first byte in the first element; set to where mapping stopped
 *
 * The region does not change before a REG_MR work request is executed.
 *
 * Return: number of elements that were mapped, or a negative errno.
 */
int roce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sges,
		   unsigned int *offset)
{
	struct roce_mr *mr = to_roce_mr(ibmr);

	mr->mapped_count = 0;
	mr->mapped_length = 0;
	return mr->mapped_extents ? map_list(mr, sg, sges, offset) :
				    map_pages(mr, sg, sges, offset);
}

static int check_registration(const struct roce_registration *registration,
			      const struct roce_pd *pd)
{
	const struct roce_mr *mr = registration->mr;

	if (mr->kind != ROCE_MR_FAST || mr->valid || mr->ibmr.pd != &pd->ibpd ||
	    !roce_key_has_index(&mr->key, registration->key) ||
	    !registration->length || registration->length > mr->mapped_length)
		return -EINVAL;
	return roce_mr_check_access(registration->access);
}

static void take_mapped(struct roce_mr *mr)
{
	if (mr->mapped_extents) {
		memcpy(mr->extents, mr->mapped_extents,
		       (mr->mapped_count + 1) * sizeof(*mr->extents));
		mr->extent_count = mr->mapped_count;
	} else {
		memcpy(mr->blocks, mr->mapped,
		       mr->mapped_count * sizeof(*mr->blocks));
		mr->block_shift = ilog2(mr->ibmr.page_size);
	}
	mr->first_offset = mr->mapped_offset;
}

/**
 * roce_fast_mr_register() - execute a REG_MR work request
 * @registration: the work request
 * @pd: of the QP
 *
 * IBA volume 1, 10.6 and 11.4.1. The region must be in the Invalid state.
 *
 * Return: 0 or a negative errno.
 */
int roce_fast_mr_register(const struct roce_registration *registration,
			  struct roce_pd *pd)
{
	struct roce_mr *mr = registration->mr;
	int err;

	roce_fair_write_lock(&mr->lock);
	err = check_registration(registration, pd);
	if (!err) {
		take_mapped(mr);
		mr->iova = registration->iova;
		mr->length = registration->length;
		mr->access = registration->access;
		mr->key.value = registration->key;
		roce_mr_set_valid(mr, true);
	}
	roce_fair_write_unlock(&mr->lock);
	return err;
}

/**
 * roce_fast_mr_invalidate() - invalidate a region for a work request or packet
 * @mr: found in this section
 * @key: the key that named it
 * @pd: of the QP
 * @by_peer: for a packet, which can only invalidate keys that its sender could use
 *
 * IBA volume 1, 10.6. On return, no access to the memory is possible or in progress.
 *
 * Return: 0, or -EINVAL if such a request may not invalidate the region.
 */
int roce_fast_mr_invalidate(struct roce_mr *mr, u32 key, struct roce_pd *pd,
			    bool by_peer)
{
	int err = -EINVAL;

	roce_fair_write_lock(&mr->lock);
	if (mr->kind == ROCE_MR_FAST && mr->key.value == key &&
	    mr->ibmr.pd == &pd->ibpd && !mr->windows &&
	    (!by_peer || (mr->valid && mr->access & REMOTE_ACCESS))) {
		roce_mr_set_valid(mr, false);
		err = 0;
	}
	roce_fair_write_unlock(&mr->lock);
	return err;
}
