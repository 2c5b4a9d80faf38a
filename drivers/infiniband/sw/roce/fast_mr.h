/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_FAST_MR_H
#define ROCE_FAST_MR_H

#include <rdma/ib_verbs.h>

struct roce_mr;
struct roce_pd;

/**
 * struct roce_registration - a REG_MR work request
 * @mr: a fast region
 * @key: its new key
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

struct ib_mr *roce_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			    u32 max_sges);
int roce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sges,
		   unsigned int *offset);

int roce_fast_mr_register(const struct roce_registration *registration,
			  struct roce_pd *pd);
int roce_fast_mr_invalidate(struct roce_mr *mr, u32 key, struct roce_pd *pd,
			    bool by_peer);

#endif /* ROCE_FAST_MR_H */
