/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_VERBS_H
#define ROCE_VERBS_H

#include <rdma/ib_verbs.h>

/* restrack.c */
int roce_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int roce_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int roce_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);
int roce_fill_stat_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

/* pma.c */
int roce_process_mad(struct ib_device *ibdev, int flags, u32 port,
		     const struct ib_wc *wc, const struct ib_grh *grh,
		     const struct ib_mad *in, struct ib_mad *out, size_t *size,
		     u16 *pkey_index);

/* sysfs.c */
extern const struct attribute_group roce_device_group;

/* verbs.c */
extern const struct ib_device_ops roce_device_ops;

#endif /* ROCE_VERBS_H */
