/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SGE_H
#define ROCE_SGE_H

#include <rdma/ib_verbs.h>

#include "access.h"

/**
 * struct roce_sge_walk - a walk over a part of a scatter/gather list
 * @pd: protection domain that the memory must belong to
 * @sge: next element
 * @sges: elements left
 * @offset: bytes to skip first
 * @left: bytes left
 * @access: IB_ACCESS_* flags that the access needs, 0 for reading
 * @fault: see &struct roce_access
 * @latest: see &struct roce_access
 * @piece: set by roce_sge_next()
 */
struct roce_sge_walk {
	struct roce_pd *pd;
	const struct ib_sge *sge;
	u32 sges;
	u64 offset;
	u32 left;
	int access;
	struct roce_fault *fault;
	struct roce_key **latest;
	struct roce_access piece;
};

/** roce_sge_length() - bytes of a scatter/gather list */
static inline u64 roce_sge_length(const struct ib_sge *sge, u32 sges)
{
	u64 length = 0;

	while (sges--)
		length += (sge++)->length;
	return length;
}

bool roce_sge_next(struct roce_sge_walk *walk);
int roce_sge_scatter_buffer(struct roce_sge_walk *walk, const void *buffer);

#endif /* ROCE_SGE_H */
