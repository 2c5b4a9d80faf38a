// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user_rings.h"

struct user_ring rings[MAX_RINGS];
unsigned int nr_rings;
static bool recording;

/* Overrides libc's: shared mappings made while recording are rings. */
void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	void *p = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);

	if (recording && fd >= 0 && flags & MAP_SHARED && p != MAP_FAILED &&
	    nr_rings < MAX_RINGS)
		rings[nr_rings++] = (struct user_ring){ p, len };
	return p;
}

/* The name that libraries built for large files use. */
void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	return mmap(addr, len, prot, flags, fd, offset);
}

void record_rings(void)
{
	nr_rings = 0;
	recording = true;
}

void record_rings_end(void)
{
	recording = false;
}

int ring_doorbell(struct ibv_qp *qp, uint32_t wr_count, uint32_t sge_count,
		  uint32_t wqe_size)
{
	struct ib_uverbs_post_send_resp response;
	struct {
		struct ib_uverbs_cmd_hdr header;
		uint64_t response;
		uint32_t qp_handle, wr_count, sge_count, wqe_size;
	} __attribute__((packed)) request = {
		.header = {
			.command = IB_USER_VERBS_CMD_POST_SEND,
			.in_words = sizeof(request) / 4,
			.out_words = sizeof(response) / 4,
		},
		.response = (uintptr_t)&response,
		.qp_handle = qp->handle,
		.wr_count = wr_count,
		.sge_count = sge_count,
		.wqe_size = wqe_size,
	};

	return write(qp->context->cmd_fd, &request, sizeof(request)) < 0 ?
	       errno : 0;
}
