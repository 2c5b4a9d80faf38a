// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The stock provider has no call for rereg_mr: this speaks to the kernel directly. */
#include <errno.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>

#include "verbs.h"

int rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *start,
	  size_t length, uint64_t iova, int access)
{
	struct ib_uverbs_rereg_mr_resp response = {};
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_rereg_mr command;
	} request = {
		.header = {
			.command = IB_USER_VERBS_CMD_REREG_MR,
			.in_words = sizeof(request) / 4,
			.out_words = sizeof(response) / 4,
		},
		.command = {
			.response = (uintptr_t)&response,
			.mr_handle = mr->handle,
			.flags = flags,
			.start = (uintptr_t)start,
			.length = length,
			.hca_va = iova,
			.pd_handle = pd->handle,
			.access_flags = access,
		},
	};

	if (write(mr->context->cmd_fd, &request, sizeof(request)) < 0)
		return errno;
	if (response.lkey != mr->lkey || response.rkey != mr->rkey)
		die("the keys of the region changed");
	return 0;
}
