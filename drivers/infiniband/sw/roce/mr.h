/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_MR_H
#define ROCE_MR_H

#include <linux/rhashtable.h>
#include <rdma/ib_verbs.h>

struct roce_pd;
struct roce_train;
struct roce_device;

/*
 * A key is 24 random bits that name the region, and 8 bits that its owner may
 * change (IBA volume 1, 10.6.3.3). L_Key and R_Key of a region are the same.
 */
#define ROCE_KEY_INDEX_SHIFT	8

enum roce_mr_kind {
	ROCE_MR_USER,		/* pinned pages of a program */
	ROCE_MR_DMA,		/* all of the kernel's memory, by virtual address */
};

/**
 * struct roce_mr - a memory region
 * @ibmr: what the RDMA core knows of it
 * @node: in the device's table of keys
 * @index: upper 24 bits of the key
 * @kind: what the addresses mean
 * @access: IB_ACCESS_* flags
 * @iova: address of the first byte, as work requests and packets use it
 * @length: bytes
 * @umem: the pinned memory, if any
 * @pages: of the region, the first one holds @iova
 * @rcu: lookups are under RCU, and what they found stays valid until the end
 *	of the read section
 */
struct roce_mr {
	struct ib_mr ibmr;
	struct rhash_head node;
	u32 index;
	enum roce_mr_kind kind;
	int access;
	u64 iova;
	u64 length;
	struct ib_umem *umem;
	struct page **pages;
	struct rcu_head rcu;
};

static inline struct roce_mr *to_roce_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct roce_mr, ibmr);
}

int roce_mr_table_init(struct roce_device *dev);
void roce_mr_table_destroy(struct roce_device *dev);

struct ib_mr *roce_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *roce_reg_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
			  int access);
int roce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

struct roce_mr *roce_mr_find(struct roce_pd *pd, u32 key, u64 address,
			     u64 length, int access);
int roce_mr_read(const struct roce_mr *mr, u64 address, u32 length,
		 struct roce_train *train);
int roce_mr_write(const struct roce_mr *mr, u64 address, u32 length,
		  const struct sk_buff *skb, unsigned int offset);
int roce_mr_copy(const struct roce_mr *mr, u64 address, void *buffer, u32 length,
		 bool to_mr);

#endif /* ROCE_MR_H */
