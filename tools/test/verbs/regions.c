// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions: what can be registered, and what a key opens. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs.h"

static void refused_region(const char *name, int err, struct duo *d, void *addr,
			   size_t len, int access)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_mr(d->a.pd, addr, len, access);
	tap_refused(name, err, mr);
	if (mr)
		ibv_dereg_mr(mr);
}

static void registration(void)
{
	void *hole = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *ro = mmap(NULL, 8192, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct duo d;

	duo_open(&d, NULL);
	munmap(hole, 8192);
	refused_region("REMOTE_WRITE without LOCAL_WRITE is refused", EINVAL, &d,
		       d.a.buf, 4096, IBV_ACCESS_REMOTE_WRITE);
	refused_region("REMOTE_ATOMIC without LOCAL_WRITE is refused", EINVAL, &d,
		       d.a.buf, 4096, IBV_ACCESS_REMOTE_ATOMIC);
	refused_region("memory that is not mapped is refused", EFAULT, &d, hole,
		       4096, IBV_ACCESS_LOCAL_WRITE);
	refused_region("LOCAL_WRITE on read-only memory is refused", EFAULT, &d,
		       ro, 4096, IBV_ACCESS_LOCAL_WRITE);
	refused_region("a length around the end of the address space is refused",
		       EINVAL, &d, d.a.buf, -4096ul, 0);
	munmap(ro, 8192);
	duo_close(&d);
}

static void keys(void)
{
	struct ibv_mr *mr[16];
	uint32_t steps = 0, old;
	unsigned int i;
	struct duo d;

	duo_open(&d, NULL);
	for (i = 0; i < ARRAY_SIZE(mr); i++)
		mr[i] = ibv_reg_mr(d.a.pd, d.a.buf, 4096, IBV_ACCESS_LOCAL_WRITE);
	for (i = 2; i < ARRAY_SIZE(mr); i++)
		if (mr[i]->rkey - mr[i - 1]->rkey != mr[1]->rkey - mr[0]->rkey)
			steps++;
	tap_true("the next key cannot be told from the ones before", steps > 0);
	old = mr[0]->rkey;
	for (i = 0; i < ARRAY_SIZE(mr); i++)
		ibv_dereg_mr(mr[i]);
	mr[0] = ibv_reg_mr(d.a.pd, d.a.buf, 4096, IBV_ACCESS_LOCAL_WRITE);
	tap_true("a key is not given out again at once", mr[0]->rkey != old);
	ibv_dereg_mr(mr[0]);
	duo_close(&d);
}

/* A region may have any address for the peer: its own is not told. */
static void iova(void)
{
	const uint64_t at = 0x123456789000ull + 0x345;
	struct ibv_mr *mr;
	struct duo d;

	duo_open(&d, NULL);
	mr = ibv_reg_mr_iova(d.b.pd, d.b.buf + 0x345, 10000, at,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr) {
		tap_not_ok("a region with an address of its own", "%s",
			   strerror(errno));
		duo_close(&d);
		return;
	}
	memset(d.a.buf, 0x42, 3000);
	post_rdma(&d, IBV_WR_RDMA_WRITE, 1, sge_of(&d.a, 0, 3000), at + 7000,
		  mr->rkey);
	tap_wc("a write to a region with an address of its own", d.a.scq, 1,
	       IBV_WC_SUCCESS);
	tap_true("lands at the right place", d.b.buf[0x345 + 7000] == 0x42 &&
		 d.b.buf[0x345 + 9999] == 0x42 && !d.b.buf[0x345 + 6999] &&
		 !d.b.buf[0x345 + 10000]);
	post_rdma(&d, IBV_WR_RDMA_WRITE, 2, sge_of(&d.a, 0, 8),
		  (uintptr_t)d.b.buf + 0x345, mr->rkey);
	tap_wc("its real address is refused", d.a.scq, 2, IBV_WC_REM_ACCESS_ERR);
	ibv_dereg_mr(mr);
	duo_close(&d);
}

#define LARGE (32ul << 20)
#define HUGE (2ul << 20)
#define STRIDE 7	/* odd, so that it comes to each page of a power of two */

/* Each number is its place. Pages that are touched one after the other, and may be next
 * to each other in memory, are @stride pages apart.
 */
static void fill_large(uint64_t *memory, unsigned int stride)
{
	const size_t pages = LARGE / PAGE, numbers = PAGE / sizeof(*memory);
	size_t i, j, page = 0;

	for (i = 0; i < pages; i++) {
		for (j = 0; j < numbers; j++)
			memory[page * numbers + j] = page * numbers + j;
		page = (page + stride) % pages;
	}
}

static bool is_in_place(const uint8_t *bytes, uint64_t at, size_t length)
{
	uint64_t number;
	size_t i;

	for (i = 0; i < length; i++) {
		number = (at + i) / sizeof(number);
		if (bytes[i] != ((uint8_t *)&number)[(at + i) % sizeof(number)])
			return false;
	}
	return true;
}

/* Across every edge of 2 MiB, and to the very ends */
static bool reads_all_edges(struct duo *d, const struct ibv_mr *mr)
{
	const uint32_t length = 50001;
	uint64_t at, edge;
	struct ibv_wc wc;

	for (edge = 0; edge <= LARGE; edge += HUGE) {
		at = edge < length ? 0 : edge - length / 2;
		if (at + length > LARGE)
			at = LARGE - length;
		memset(d->a.buf, 0, length);
		post_rdma(d, IBV_WR_RDMA_READ, edge, sge_of(&d->a, 0, length),
			  (uintptr_t)mr->addr + at, mr->rkey);
		if (!wait_wc(d->a.scq, &wc, 8000) || wc.status != IBV_WC_SUCCESS ||
		    !is_in_place(d->a.buf, at, length))
			return false;
	}
	return true;
}

static void large_region(const char *name, int advice, unsigned int stride)
{
	uint8_t *area = mmap(NULL, LARGE + HUGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *memory;
	struct ibv_mr *mr;
	struct duo d;

	if (area == MAP_FAILED)
		die_errno(errno, "mmap");
	memory = area + (-(uintptr_t)area & (HUGE - 1));
	/* A kernel without huge pages refuses, and that is as good. */
	madvise(memory, LARGE, advice);
	fill_large((uint64_t *)memory, stride);
	duo_open(&d, NULL);
	mr = ibv_reg_mr(d.b.pd, memory, LARGE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die_errno(errno, "ibv_reg_mr");
	tap_true(name, reads_all_edges(&d, mr));
	ibv_dereg_mr(mr);
	duo_close(&d);
	munmap(area, LARGE + HUGE);
}

void test_regions(void)
{
	large_region("a large region of huge pages", MADV_HUGEPAGE, 1);
	large_region("a large region of small pages", MADV_NOHUGEPAGE, 1);
	large_region("a large region of small pages that are not next to each other",
		     MADV_NOHUGEPAGE, STRIDE);
	registration();
	keys();
	iova();
}
