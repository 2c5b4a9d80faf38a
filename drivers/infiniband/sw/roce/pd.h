/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_PD_H
#define ROCE_PD_H

#include <rdma/ib_verbs.h>

/**
 * struct roce_ucontext - a program that has opened the device
 * @ibuc: the core's part
 * @ring_bytes: size of the rings that it shares with the kernel, see ring.c
 */
struct roce_ucontext {
	struct ib_ucontext ibuc;
	atomic64_t ring_bytes;
};

struct roce_pd {
	struct ib_pd ibpd;
};

static inline struct roce_pd *to_roce_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct roce_pd, ibpd);
}

int roce_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata);
void roce_dealloc_ucontext(struct ib_ucontext *context);
void roce_disassociate_ucontext(struct ib_ucontext *context);
int roce_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int roce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

#endif /* ROCE_PD_H */
