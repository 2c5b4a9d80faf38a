/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of the tests' own making, open to the peer, and what lies in it. */
#ifndef MAPPING_H
#define MAPPING_H

#include "verbs.h"

#define HUGE_PAGE (2ul << 20)

enum page_kind {
	PAGES_SMALL,
	PAGES_TRANSPARENT,	/* huge ones, where the kernel finds them */
	PAGES_HUGE,		/* of hugetlbfs */
	PAGES_KINDS
};

extern const char *const page_kinds[];

/* Private memory of end b, all zero, and a region over a part of it */
struct mapping {
	enum page_kind kind;
	uint8_t *memory;
	size_t length;
	struct ibv_mr *mr;
};

/* Huge pages for everybody; more than the tests use at once. */
void reserve_huge_pages(void);
/* A number of /proc/meminfo; @format: its name, ": %ld" */
long memory_info(const char *format);
long huge_pages_free(void);

/* @length: a multiple of the page's. All pages are there. */
void map_memory(struct mapping *m, enum page_kind kind, size_t length);
/*
 * Registers @length bytes from @offset on, for all that a peer may do, or for @access;
 * the test ends if that is refused.
 */
void open_region(struct duo *d, struct mapping *m, size_t offset, size_t length);
void open_region_for(struct duo *d, struct mapping *m, size_t offset, size_t length,
		     int access);
/* The region and the memory go; @m may have been unmapped already: @memory is NULL */
void unmap_memory(struct mapping *m);

/* A pattern of which no part is like another one; @seed chooses it. */
void fill(uint8_t *at, size_t length, uint64_t seed);
bool holds(const uint8_t *at, size_t length, uint64_t seed);
bool is_zero(const uint8_t *at, size_t length);

/* a writes the pattern to where b has registered it; whether all completed */
bool peer_writes(struct duo *d, const struct ibv_mr *mr, const void *at,
		 size_t length, uint64_t seed);
/* a reads there; whether it found the pattern, or zeros if @seed is 0 */
bool peer_reads(struct duo *d, const struct ibv_mr *mr, const void *at,
		size_t length, uint64_t seed);

#endif
