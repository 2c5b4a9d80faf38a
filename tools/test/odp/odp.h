/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tests of on-demand paging share: memory that is registered, but not pinned, and
 * a duo that moves it from a to b.
 */
#ifndef ODP_H
#define ODP_H

#include "../verbs/verbs.h"

#define MEMORY_SIZE	(4u << 20)
#define RIGHTS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

enum kind {
	EXPLICIT,	/* a region of this memory alone */
	IMPLICIT,	/* a region of all memory of the program */
};

struct memory {
	uint8_t *start;		/* as the device knows it */
	uint8_t *view;		/* the same bytes for this program; private: @start */
	int fd;			/* of shared memory, else -1 */
	struct ibv_mr *mr;
};

struct bench {
	struct duo duo;
	struct memory a, b;
};

/* Shared memory, which keeps its content when its pages are taken from the program. */
void memory_open(struct memory *memory, struct ibv_pd *pd, enum kind kind);
/* Memory that a fork copies, and that may have huge pages. */
void memory_open_private(struct memory *memory, struct ibv_pd *pd);
void memory_close(struct memory *memory);
struct ibv_mr *memory_register(const struct memory *memory, struct ibv_pd *pd,
			       enum kind kind);
/* Take all pages from @start. */
void memory_cool(const struct memory *memory);
/* Change the protection of the second half. */
void memory_protect(const struct memory *memory, int protection);
void memory_fill(const struct memory *memory, uint64_t seed);
struct ibv_sge memory_sge(const struct memory *memory, uint32_t offset, uint32_t length);

void bench_open(struct bench *bench, enum ibv_qp_type type, enum kind kind);
void bench_open_private(struct bench *bench);
void bench_close(struct bench *bench);

/* The status of a request of @length bytes at @offset from a to b, -1 if it hangs */
int bench_move(struct bench *bench, enum ibv_wr_opcode opcode, uint32_t offset,
	       uint32_t length);
bool bench_is_moved(const struct bench *bench, uint32_t offset, uint32_t length);

void test_operations(void);
void test_changes(void);
void test_failures(void);
void test_secret(void);
void test_advice(void);
void test_frozen(void);
void test_neighbour(void);
void test_statistics(void);
void test_exit(void);
void print_rates(void);

#endif
