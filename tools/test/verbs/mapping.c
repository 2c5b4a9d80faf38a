// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of the tests' own making, open to the peer, and what lies in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mapping.h"

#define CHUNK	60001	/* of a transfer: the pieces begin at odd places */
#define HUGE_PAGES "24"

const char *const page_kinds[] = { "small pages", "transparent huge pages", "huge pages" };

void reserve_huge_pages(void)
{
	int fd = open("/proc/sys/vm/nr_hugepages", O_WRONLY);

	if (fd < 0 || write(fd, HUGE_PAGES, sizeof(HUGE_PAGES) - 1) < 0)
		die_errno(errno, "nr_hugepages");
	close(fd);
}

long memory_info(const char *format)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long value = -1;

	while (file && value < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, format, &value) != 1)
			value = -1;
	if (file)
		fclose(file);
	return value;
}

long huge_pages_free(void)
{
	return memory_info("HugePages_Free: %ld");
}

/* At a multiple of a huge page, so that small ones can be a huge one. */
static uint8_t *map_aligned(size_t length)
{
	uint8_t *raw = mmap(NULL, length + HUGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *aligned = (uint8_t *)(((uintptr_t)raw + HUGE_PAGE - 1) & -HUGE_PAGE);

	if (raw == MAP_FAILED)
		die_errno(errno, "mmap");
	if (aligned > raw)
		munmap(raw, aligned - raw);
	munmap(aligned + length, raw + HUGE_PAGE - aligned);
	return aligned;
}

void map_memory(struct mapping *m, enum page_kind kind, size_t length)
{
	*m = (struct mapping) { .kind = kind, .length = length };
	if (kind == PAGES_HUGE) {
		m->memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		if (m->memory == MAP_FAILED)
			die_errno(errno, "mmap of huge pages");
	} else {
		m->memory = map_aligned(length);
		madvise(m->memory, length, kind == PAGES_TRANSPARENT ?
			MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	}
	memset(m->memory, 1, length);
	memset(m->memory, 0, length);
}

void open_region_for(struct duo *d, struct mapping *m, size_t offset, size_t length,
		     int access)
{
	m->mr = ibv_reg_mr(d->b.pd, m->memory + offset, length, access);
	if (!m->mr)
		die_errno(errno, "ibv_reg_mr of %s", page_kinds[m->kind]);
}

void open_region(struct duo *d, struct mapping *m, size_t offset, size_t length)
{
	open_region_for(d, m, offset, length, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}

void unmap_memory(struct mapping *m)
{
	int err = m->mr ? ibv_dereg_mr(m->mr) : 0;

	if (err)
		die_errno(err, "ibv_dereg_mr");
	if (m->memory && munmap(m->memory, m->length))
		die_errno(errno, "munmap");
}

/* Bytes are asked for in order: eight of them come from one number. */
static uint8_t pattern(uint64_t seed, size_t i)
{
	static __thread uint64_t of, number;
	uint64_t wanted = seed << 32 ^ i / 8;

	if (of != wanted) {
		of = wanted;
		number = mix64(wanted);
	}
	return number >> i % 8 * 8;
}

void fill(uint8_t *at, size_t length, uint64_t seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		at[i] = pattern(seed, i);
}

static bool holds_from(const uint8_t *at, size_t first, size_t length, uint64_t seed)
{
	size_t i;

	if (!seed)
		return is_zero(at, length);
	for (i = 0; i < length; i++)
		if (at[i] != pattern(seed, first + i))
			return false;
	return true;
}

bool holds(const uint8_t *at, size_t length, uint64_t seed)
{
	return holds_from(at, 0, length, seed);
}

bool is_zero(const uint8_t *at, size_t length)
{
	return !length || (!at[0] && !memcmp(at, at + 1, length - 1));
}

static bool move(struct duo *d, enum ibv_wr_opcode opcode, const struct ibv_mr *mr,
		 uintptr_t at, size_t length)
{
	struct ibv_wc wc;

	return !post_rdma(d, opcode, 1, sge_of(&d->a, 0, length), at, mr->rkey) &&
	       wait_wc(d->a.scq, &wc, 20000) && wc.status == IBV_WC_SUCCESS;
}

bool peer_writes(struct duo *d, const struct ibv_mr *mr, const void *at,
		 size_t length, uint64_t seed)
{
	size_t done, n, i;

	for (done = 0; done < length; done += n) {
		n = min(length - done, (size_t)CHUNK);
		for (i = 0; i < n; i++)
			d->a.buf[i] = pattern(seed, done + i);
		if (!move(d, IBV_WR_RDMA_WRITE, mr, (uintptr_t)at + done, n))
			return false;
	}
	return true;
}

bool peer_reads(struct duo *d, const struct ibv_mr *mr, const void *at,
		size_t length, uint64_t seed)
{
	size_t done, n;

	for (done = 0; done < length; done += n) {
		n = min(length - done, (size_t)CHUNK);
		memset(d->a.buf, 0x99, n);
		if (!move(d, IBV_WR_RDMA_READ, mr, (uintptr_t)at + done, n) ||
		    !holds_from(d->a.buf, done, n, seed))
			return false;
	}
	return true;
}
