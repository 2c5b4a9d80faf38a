/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_H
#define ROCE_H

/* The version, and the limits of a device */
#include <linux/bits.h>
#include <rdma/ib_verbs.h>

#define ROCE_VERSION		"0.2.0"
#define ROCE_VENDOR_ID		0xffffff	/* of no vendor: there is no hardware */

/* Limits of a device, also for requests of user space */
#define ROCE_MAX_QP		0x10000
#define ROCE_MAX_CQ		0x10000
#define ROCE_MAX_MR		0x40000
#define ROCE_MAX_MW		0x40000
#define ROCE_MAX_PD		0x8000
#define ROCE_MAX_AH		0x10000
#define ROCE_MAX_SRQ		0x8000
#define ROCE_MAX_ATTACHMENTS	0x2000	/* of QPs to multicast groups */
#define ROCE_MAX_GROUP_QPS	0x100	/* attached to one group */
#define ROCE_MAX_QP_WR		0x3fff
#define ROCE_MAX_SRQ_WR		0x3fff
#define ROCE_MAX_CQE		0xffffe
#define ROCE_MIN_USER_ENTRIES	7u	/* of a send queue or CQ of a program */
#define ROCE_MAX_SGE		32
#define ROCE_MAX_INLINE		(ROCE_MAX_SGE * sizeof(struct ib_sge))
#define ROCE_MAX_RD_ATOMIC	128
#define ROCE_MAX_MESSAGE	0x80000000u
#define ROCE_MAX_MR_SIZE	BIT_ULL(39)	/* kvmalloc() can list so many 4 KiB pages */
#define ROCE_MAX_FAST_PAGES	0x4000
#define ROCE_GID_TABLE_LENGTH	256

#endif /* ROCE_H */
