/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The rings that librxe shares with the kernel, for programs that write to them
 * by themselves. They are found by looking over libibverbs' shoulder: mmap() of
 * user_rings.c notes what is mapped from the uverbs file.
 */
#ifndef USER_RINGS_H
#define USER_RINGS_H

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

#define MAX_RINGS 16

struct user_ring {
	struct rxe_queue_buf *buf;
	size_t size;
};

/* In the order of their mapping: of a QP the receive queue, then the send queue */
extern struct user_ring rings[MAX_RINGS];
extern unsigned int nr_rings;

/* Forgets all rings, and notes those that are made until record_rings_end(). */
void record_rings(void);
void record_rings_end(void);

/* A POST_SEND, empty as librxe's doorbell is, or not; 0 or an errno. */
int ring_doorbell(struct ibv_qp *qp, uint32_t wr_count, uint32_t sge_count,
		  uint32_t wqe_size);

#endif
