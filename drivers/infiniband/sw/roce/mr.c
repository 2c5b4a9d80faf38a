// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/highmem.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <rdma/ib_umem.h>

#include "roce.h"
#include "train.h"

/*
 * What a region can be registered with. What the IBA calls optional may be
 * asked for and is not needed; paging on demand is not implemented.
 */
#define SUPPORTED_ACCESS \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
	 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB | \
	 IB_ACCESS_OPTIONAL)

static const struct rhashtable_params key_table_params = {
	.key_len = sizeof_field(struct roce_mr, index),
	.key_offset = offsetof(struct roce_mr, index),
	.head_offset = offsetof(struct roce_mr, node),
	.automatic_shrinking = true,
};

/**
 * roce_mr_table_init() - make a device's table of keys
 * @dev: under construction
 *
 * Return: 0 or -ENOMEM.
 */
int roce_mr_table_init(struct roce_device *dev)
{
	return rhashtable_init(&dev->keys, &key_table_params);
}

/**
 * roce_mr_table_destroy() - free a device's table of keys
 * @dev: has no regions any more
 */
void roce_mr_table_destroy(struct roce_device *dev)
{
	rhashtable_destroy(&dev->keys);
}

static int check_access(int access)
{
	if (access & ~SUPPORTED_ACCESS)
		return -EOPNOTSUPP;

	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

static struct roce_mr *new_region(struct ib_pd *ibpd, int access)
{
	struct roce_device *dev = to_roce_device(ibpd->device);
	struct roce_mr *mr;
	int err;

	err = check_access(access);
	if (err)
		return ERR_PTR(err);

	if (!roce_object_get(&dev->objects.mr, ROCE_MAX_MR))
		return ERR_PTR(-ENOMEM);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr) {
		roce_object_put(&dev->objects.mr);
		return ERR_PTR(-ENOMEM);
	}
	mr->ibmr.device = ibpd->device;
	mr->ibmr.pd = ibpd;
	mr->access = access;
	return mr;
}

static void free_region(struct roce_mr *mr)
{
	struct roce_device *dev = to_roce_device(mr->ibmr.device);

	kvfree(mr->pages);
	if (mr->umem)
		ib_umem_release(mr->umem);
	kfree(mr);
	roce_object_put(&dev->objects.mr);
}

/* 0 is what a program has where it has no key. */
static u32 random_key(void)
{
	u32 key;

	do {
		key = get_random_u32();
	} while (!(key >> ROCE_KEY_INDEX_SHIFT));
	return key;
}

/*
 * From here on the region can be found. Its key cannot be guessed: what a
 * peer learns of one region tells it nothing about another.
 */
static int publish(struct roce_mr *mr)
{
	struct roce_device *dev = to_roce_device(mr->ibmr.device);
	int err;

	do {
		mr->ibmr.lkey = random_key();
		mr->ibmr.rkey = mr->ibmr.lkey;
		mr->index = mr->ibmr.rkey >> ROCE_KEY_INDEX_SHIFT;
		err = rhashtable_lookup_insert_fast(&dev->keys, &mr->node,
						    key_table_params);
	} while (err == -EEXIST);

	return err;
}

/**
 * roce_get_dma_mr() - the get_dma_mr verb: all of the kernel's memory
 * @ibpd: of a kernel consumer
 * @access: IB_ACCESS_* flags
 *
 * The device does no DMA, so the addresses of such a region are kernel virtual
 * ones; see ib_dma_virt_map_sg().
 *
 * Return: the region, or an error pointer.
 */
struct ib_mr *roce_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct roce_mr *mr = new_region(ibpd, access);
	int err;

	if (IS_ERR(mr))
		return ERR_CAST(mr);

	mr->kind = ROCE_MR_DMA;
	mr->length = U64_MAX;

	err = publish(mr);
	if (err) {
		free_region(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

static int pin_pages(struct roce_mr *mr, u64 start)
{
	struct sg_page_iter iter;
	struct ib_umem *umem;
	size_t i = 0;

	umem = ib_umem_get(mr->ibmr.device, start, mr->length, mr->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mr->umem = umem;

	mr->pages = kvmalloc_array(ib_umem_num_pages(umem), sizeof(*mr->pages),
				   GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!mr->pages)
		return -ENOMEM;

	for_each_sgtable_page(&umem->sgt_append.sgt, &iter, 0)
		mr->pages[i++] = sg_page_iter_page(&iter);
	return 0;
}

/**
 * roce_reg_mr() - the reg_user_mr verb
 * @ibpd: of a user program
 * @start: address of the memory in the program that calls
 * @length: bytes
 * @iova: address of the first byte in work requests and packets
 * @access: IB_ACCESS_* flags
 *
 * Return: the region, or an error pointer.
 */
struct ib_mr *roce_reg_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
			  int access)
{
	struct roce_mr *mr;
	u64 end;
	int err;

	if (access & IB_ZERO_BASED)
		iova = 0;
	if (!length || length > ROCE_MAX_MR_SIZE ||
	    check_add_overflow(iova, length, &end))
		return ERR_PTR(-EINVAL);

	mr = new_region(ibpd, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	mr->kind = ROCE_MR_USER;
	mr->iova = iova;
	mr->length = length;

	err = pin_pages(mr, start) ?: publish(mr);
	if (err) {
		free_region(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/**
 * roce_dereg_mr() - the dereg_mr verb
 * @ibmr: the region
 * @udata: NULL for a kernel consumer
 *
 * When it returns nobody reads or writes the memory any more.
 *
 * Return: 0.
 */
int roce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct roce_device *dev = to_roce_device(ibmr->device);
	struct roce_mr *mr = to_roce_mr(ibmr);

	rhashtable_remove_fast(&dev->keys, &mr->node, key_table_params);
	synchronize_rcu_expedited();
	free_region(mr);
	return 0;
}

static bool covers(const struct roce_mr *mr, u64 address, u64 length)
{
	return address >= mr->iova && length <= mr->length &&
	       address - mr->iova <= mr->length - length;
}

/**
 * roce_mr_find() - look a region up and check that it may be accessed
 * @pd: the protection domain of the QP that asks
 * @key: L_Key of a scatter/gather entry, or R_Key of a packet
 * @address: of the first byte
 * @length: bytes; the address does not count if there are none
 * @access: the IB_ACCESS_* flags that the access needs, 0 to read locally
 *
 * IBA volume 1, 10.6.3 and 9.4. Under RCU: the region and its memory stay
 * until the end of the read section.
 *
 * Return: the region, or NULL if the access is refused.
 */
struct roce_mr *roce_mr_find(struct roce_pd *pd, u32 key, u64 address,
			     u64 length, int access)
{
	struct roce_device *dev = to_roce_device(pd->ibpd.device);
	u32 index = key >> ROCE_KEY_INDEX_SHIFT;
	struct roce_mr *mr;

	mr = rhashtable_lookup(&dev->keys, &index, key_table_params);
	if (!mr || mr->ibmr.rkey != key || mr->ibmr.pd != &pd->ibpd)
		return NULL;
	if ((mr->access & access) != access)
		return NULL;
	if (length && !covers(mr, address, length))
		return NULL;
	return mr;
}

/* A piece of a region that lies within one page and is mapped. */
struct piece {
	void *data;
	u32 length;
};

static struct piece map_piece(const struct roce_mr *mr, u64 address, u32 length)
{
	u64 offset;

	if (mr->kind == ROCE_MR_DMA)
		return (struct piece) { (void *)(uintptr_t)address, length };

	offset = address - mr->iova + ib_umem_offset(mr->umem);
	return (struct piece) {
		.data = kmap_local_page(mr->pages[offset >> PAGE_SHIFT]) +
			offset_in_page(offset),
		.length = min_t(u32, length, PAGE_SIZE - offset_in_page(offset)),
	};
}

static void unmap_piece(const struct roce_mr *mr, const struct piece *piece)
{
	if (mr->kind == ROCE_MR_USER)
		kunmap_local(piece->data);
}

/**
 * roce_mr_read() - append bytes of a region to the packet under construction
 * @mr: found and checked in this RCU read section
 * @address: of the first byte
 * @length: bytes
 * @train: with a packet under construction
 *
 * Return: 0, or the error of roce_train_append().
 */
int roce_mr_read(const struct roce_mr *mr, u64 address, u32 length,
		 struct roce_train *train)
{
	struct piece piece;
	int err;

	for (; length; address += piece.length, length -= piece.length) {
		piece = map_piece(mr, address, length);
		err = roce_train_append(train, piece.data, piece.length);
		unmap_piece(mr, &piece);
		if (err)
			return err;
	}
	return 0;
}

/**
 * roce_mr_write() - place received bytes into a region
 * @mr: found and checked in this RCU read section
 * @address: where to
 * @length: bytes
 * @skb: has them
 * @offset: of the first one in @skb
 *
 * Return: 0, or -EFAULT if @skb is shorter than that.
 */
int roce_mr_write(const struct roce_mr *mr, u64 address, u32 length,
		  const struct sk_buff *skb, unsigned int offset)
{
	struct piece piece;
	int err;

	for (; length; address += piece.length, length -= piece.length) {
		piece = map_piece(mr, address, length);
		err = skb_copy_bits(skb, offset, piece.data, piece.length);
		unmap_piece(mr, &piece);
		if (err)
			return err;
		offset += piece.length;
	}
	return 0;
}

/**
 * roce_mr_copy() - copy between a region and a buffer in the kernel
 * @mr: found and checked in this RCU read section
 * @address: in the region
 * @buffer: in the kernel
 * @length: bytes
 * @to_mr: from @buffer to @mr, else the other way
 *
 * Return: 0.
 */
int roce_mr_copy(const struct roce_mr *mr, u64 address, void *buffer, u32 length,
		 bool to_mr)
{
	struct piece piece;

	for (; length; address += piece.length, length -= piece.length) {
		piece = map_piece(mr, address, length);
		if (to_mr)
			memcpy(piece.data, buffer, piece.length);
		else
			memcpy(buffer, piece.data, piece.length);
		unmap_piece(mr, &piece);
		buffer += piece.length;
	}
	return 0;
}
