/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_COMPAT_ODP_H
#define ROCE_COMPAT_ODP_H

/*
 * On-demand paging: where the RDMA core lists the pages, and how it is told about rights.
 * Older kernels list DMA addresses and rights beside the pages. compat.h explains the
 * symbols.
 */
#include <linux/hmm.h>
#include <rdma/ib_umem_odp.h>

/* Entries are those of hmm_range_fault(). */
static inline const unsigned long *roce_compat_odp_pfns(const struct ib_umem_odp *umem)
{
#ifdef ROCE_HAVE_ODP_DMA_MAP
	return umem->map.pfn_list;
#else
	return umem->pfn_list;
#endif
}

static inline u64 roce_compat_odp_rights(bool write)
{
#ifdef ROCE_HAVE_ODP_DMA_MAP
	return write ? HMM_PFN_VALID | HMM_PFN_WRITE : HMM_PFN_VALID;
#else
	return write ? ODP_READ_ALLOWED_BIT | ODP_WRITE_ALLOWED_BIT :
		       ODP_READ_ALLOWED_BIT;
#endif
}

#endif /* ROCE_COMPAT_ODP_H */
