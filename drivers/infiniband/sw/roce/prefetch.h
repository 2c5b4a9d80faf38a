/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_PREFETCH_H
#define ROCE_PREFETCH_H

#include <rdma/ib_verbs.h>

struct roce_odp;
struct uverbs_attr_bundle;

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
int roce_prefetch_init(void);
void roce_prefetch_exit(void);
void roce_prefetch_stop(struct roce_odp *odp);
#else
static inline int roce_prefetch_init(void)
{
	return 0;
}

static inline void roce_prefetch_exit(void)
{
}

static inline void roce_prefetch_stop(struct roce_odp *odp)
{
}
#endif

int roce_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice,
		   u32 flags, struct ib_sge *list, u32 count,
		   struct uverbs_attr_bundle *attrs);

#endif /* ROCE_PREFETCH_H */
