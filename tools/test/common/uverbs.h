/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Verbs for which the provider has no call: an ioctl to the kernel. */
#ifndef TEST_UVERBS_H
#define TEST_UVERBS_H

#include <stdint.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

static inline struct ib_uverbs_attr uverbs_attr(uint16_t id, uint16_t length, uint64_t data)
{
	return (struct ib_uverbs_attr) {
		.attr_id = id, .len = length, .data = data,
		.flags = UVERBS_ATTR_F_MANDATORY,
	};
}

#endif /* TEST_UVERBS_H */
