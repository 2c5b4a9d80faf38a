// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A region consists of pages, not of addresses: they stay what they were when it
 * was registered, whatever the program does to its mappings from then on.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mapping.h"

#define SMALL	(16 * PAGE)

/* What one of the tests below needs: a connection, and a region */
struct scene {
	struct duo d;
	struct mapping m;
};

static void scene_open(struct scene *s, enum page_kind kind, size_t length)
{
	duo_open(&s->d, NULL);
	map_memory(&s->m, kind, length);
	open_region(&s->d, &s->m, 0, length);
}

static void scene_close(struct scene *s)
{
	unmap_memory(&s->m);
	duo_close(&s->d);
}

/* A part of the region, seen from the peer */
static bool writes(struct scene *s, size_t offset, size_t length, uint64_t seed)
{
	return peer_writes(&s->d, s->m.mr, (void *)((uintptr_t)s->m.mr->addr + offset),
			   length, seed);
}

static bool reads(struct scene *s, size_t offset, size_t length, uint64_t seed)
{
	return peer_reads(&s->d, s->m.mr, (void *)((uintptr_t)s->m.mr->addr + offset),
			  length, seed);
}

static void named(const char *format, enum page_kind kind, bool right)
{
	char name[128];

	snprintf(name, sizeof(name), format, page_kinds[kind]);
	tap_true(name, right);
}

/* Exactly the bytes of the region, and not one more on either side */
static bool is_exact(enum page_kind kind, size_t length, size_t offset, size_t size)
{
	struct ibv_wc wc;
	struct mapping m;
	struct duo d;
	bool exact;

	duo_open(&d, NULL);
	map_memory(&m, kind, length);
	open_region(&d, &m, offset, size);
	exact = peer_writes(&d, m.mr, m.memory + offset, size, 7) &&
		holds(m.memory + offset, size, 7) &&
		is_zero(m.memory, offset) &&
		is_zero(m.memory + offset + size, length - offset - size) &&
		peer_reads(&d, m.mr, m.memory + offset, size, 7);
	post_rdma(&d, IBV_WR_RDMA_WRITE, 1, sge_of(&d.a, 0, 2),
		  (uintptr_t)m.memory + offset + size - 1, m.mr->rkey);
	exact &= wait_wc(d.a.scq, &wc, 5000) && wc.status == IBV_WC_REM_ACCESS_ERR &&
		 is_zero(m.memory + offset + size, length - offset - size);
	unmap_memory(&m);
	duo_close(&d);
	return exact;
}

static void odd_regions(void)
{
	static const size_t offsets[] = { 0, 1, 100, PAGE - 1, PAGE };
	static const size_t sizes[] = { 2, PAGE - 1, PAGE + 1, 3 * PAGE + 5, 70001 };
	unsigned int i, j, exact = 0;

	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		for (j = 0; j < ARRAY_SIZE(sizes); j++)
			exact += is_exact(PAGES_SMALL, 20 * PAGE, offsets[i], sizes[j]);
	tap_int("regions that begin and end anywhere in a page are exact",
		ARRAY_SIZE(offsets) * ARRAY_SIZE(sizes), exact);
	named("a region across the border of %s is exact", PAGES_TRANSPARENT,
	      is_exact(PAGES_TRANSPARENT, 2 * HUGE_PAGE, HUGE_PAGE - 70001, 140007));
	named("a region across the border of %s is exact", PAGES_HUGE,
	      is_exact(PAGES_HUGE, 2 * HUGE_PAGE, HUGE_PAGE - 70001, 140007));
}

/* Whether the kernel says of the mapping that it is made of huge pages */
static bool is_huge(const struct mapping *m)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long start, end, kilobytes;
	bool here = false, huge = false;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx", &start, &end) == 2)
			here = start <= (uintptr_t)m->memory && end > (uintptr_t)m->memory;
		else if (here && sscanf(line, "AnonHugePages: %lu", &kilobytes) == 1)
			huge = kilobytes << 10 >= HUGE_PAGE;
	}
	if (file)
		fclose(file);
	return huge;
}

/* Its page table is split, and the pages stay where they are. */
static void huge_page_is_split(void)
{
	uint8_t *middle;
	struct scene s;

	scene_open(&s, PAGES_TRANSPARENT, HUGE_PAGE);
	middle = s.m.memory + HUGE_PAGE / 2;
	tap_true("a transparent huge page is there", is_huge(&s.m));
	if (mprotect(middle, PAGE, PROT_READ))
		die_errno(errno, "mprotect");
	tap_true("the peer writes to a huge page that was split",
		 writes(&s, 0, HUGE_PAGE, 3) && holds(s.m.memory, HUGE_PAGE, 3));
	madvise(middle, PAGE, MADV_DONTNEED);
	tap_true("what is thrown away of it the program finds empty",
		 is_zero(middle, PAGE) && !is_zero(middle + PAGE, PAGE));
	tap_true("and the peer as it was", reads(&s, 0, HUGE_PAGE, 3));
	tap_true("what the peer writes there nobody sees but the peer",
		 writes(&s, 0, HUGE_PAGE, 4) && is_zero(middle, PAGE) &&
		 holds(s.m.memory, HUGE_PAGE / 2, 4) && reads(&s, 0, HUGE_PAGE, 4));
	scene_close(&s);
}

/* All of the region at once, from a buffer that the caller has filled */
static void post_all(struct scene *s, enum ibv_wr_opcode opcode, unsigned int times)
{
	unsigned int i;

	for (i = 0; i < times; i++)
		if (post_rdma(&s->d, opcode, i, sge_of(&s->d.a, 0, SMALL),
			      (uintptr_t)s->m.mr->addr, s->m.mr->rkey))
			die("ibv_post_send");
}

static bool all_succeed(struct scene *s, unsigned int times)
{
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < times; i++)
		if (!wait_wc(s->d.a.scq, &wc, 20000) || wc.status)
			return false;
	return true;
}

/* Something else is mapped where a region was. */
static uint8_t *map_in_place(uint8_t *at, size_t length)
{
	uint8_t *memory = mmap(at, length, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (memory == MAP_FAILED)
		die_errno(errno, "mmap");
	memset(memory, 0, length);
	return memory;
}

#define TIMES	12

static void unmapped_under_traffic(void)
{
	unsigned int round, complete = 0, kept = 0, untouched = 0;
	struct scene s;

	for (round = 0; round < 8; round++) {
		scene_open(&s, PAGES_SMALL, SMALL);
		fill(s.d.a.buf, SMALL, 5);
		post_all(&s, IBV_WR_RDMA_WRITE, TIMES);
		sleep_ms(round);
		if (munmap(s.m.memory, SMALL))
			die_errno(errno, "munmap");
		map_in_place(s.m.memory, SMALL);
		complete += all_succeed(&s, TIMES);
		untouched += is_zero(s.m.memory, SMALL);
		kept += reads(&s, 0, SMALL, 5);
		scene_close(&s);
	}
	tap_int("a region can be unmapped while the peer writes to it", 8, complete);
	tap_int("what is mapped in its place is not written to", 8, untouched);
	tap_int("and the peer reads what it wrote", 8, kept);
}

static void all_unmapped(enum page_kind kind)
{
	struct scene s;

	scene_open(&s, kind, HUGE_PAGE);
	if (munmap(s.m.memory, s.m.length))
		die_errno(errno, "munmap");
	s.m.memory = NULL;
	named("%s stay with the peer when they are unmapped", kind,
	      writes(&s, 0, HUGE_PAGE, 6) && reads(&s, 0, HUGE_PAGE, 6));
	scene_close(&s);
}

/* What is left of a region whose middle was unmapped */
static void partly_unmapped(void)
{
	struct scene s;

	scene_open(&s, PAGES_TRANSPARENT, HUGE_PAGE);
	if (munmap(s.m.memory + 100 * PAGE, 100 * PAGE))
		die_errno(errno, "munmap");
	tap_true("a region with a hole is whole to the peer",
		 writes(&s, 0, HUGE_PAGE, 8) && reads(&s, 0, HUGE_PAGE, 8));
	tap_true("and the program sees the rest",
		 holds(s.m.memory, 100 * PAGE, 8));
	scene_close(&s);
}

static void remapped(enum page_kind kind)
{
	uint8_t *elsewhere, *before;
	struct scene s;

	scene_open(&s, kind, HUGE_PAGE);
	before = s.m.memory;
	elsewhere = mmap(NULL, HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s.m.memory = mremap(before, HUGE_PAGE, HUGE_PAGE,
			    MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
	if (s.m.memory == MAP_FAILED)
		die_errno(errno, "mremap");
	map_in_place(before, HUGE_PAGE);
	named("what is written to %s that have moved is seen where they are now", kind,
	      writes(&s, 0, HUGE_PAGE, 9) && holds(s.m.memory, HUGE_PAGE, 9) &&
	      is_zero(before, HUGE_PAGE));
	fill(s.m.memory, HUGE_PAGE, 10);
	named("and the peer reads from there (%s)", kind, reads(&s, 0, HUGE_PAGE, 10));
	munmap(before, HUGE_PAGE);
	scene_close(&s);
}

static void shut(enum page_kind kind)
{
	struct scene s;

	scene_open(&s, kind, HUGE_PAGE);
	if (mprotect(s.m.memory, HUGE_PAGE, PROT_NONE))
		die_errno(errno, "mprotect");
	named("%s that the program has closed to itself are open to the peer", kind,
	      writes(&s, 0, HUGE_PAGE, 11) && reads(&s, 0, HUGE_PAGE, 11));
	if (mprotect(s.m.memory, HUGE_PAGE, PROT_READ))
		die_errno(errno, "mprotect");
	named("and have in them what it wrote (%s)", kind, holds(s.m.memory, HUGE_PAGE, 11));
	scene_close(&s);
}

static int new_file(void)
{
	int fd = memfd_create("roce-test", 0);

	if (fd < 0 || ftruncate(fd, SMALL))
		die_errno(errno, "memfd_create");
	return fd;
}

static uint8_t *map_file(int fd, int flags)
{
	uint8_t *memory = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (memory == MAP_FAILED)
		die_errno(errno, "mmap");
	return memory;
}

static void shared_file(void)
{
	struct scene s = { .m = { .length = SMALL } };
	uint8_t bytes[SMALL], *other;
	int fd = new_file();

	duo_open(&s.d, NULL);
	s.m.memory = map_file(fd, MAP_SHARED);
	other = map_file(fd, MAP_SHARED);
	open_region(&s.d, &s.m, 0, SMALL);
	tap_true("what the peer writes to a shared file is in the file",
		 writes(&s, 0, SMALL, 12) && holds(other, SMALL, 12) &&
		 pread(fd, bytes, SMALL, 0) == SMALL && holds(bytes, SMALL, 12));
	fill(bytes, SMALL, 13);
	tap_true("and it reads what others write to the file",
		 pwrite(fd, bytes, SMALL, 0) == SMALL && reads(&s, 0, SMALL, 13));
	if (ftruncate(fd, 0) || ftruncate(fd, SMALL))
		die_errno(errno, "ftruncate");
	tap_true("a file that was cut has nothing of the region any more",
		 writes(&s, 0, SMALL, 14) && reads(&s, 0, SMALL, 14) &&
		 is_zero(other, SMALL));
	munmap(other, SMALL);
	close(fd);
	scene_close(&s);
}

/* Pages that are shared with somebody until they are written to */
static void copied_on_write(void)
{
	struct scene s = { .m = { .length = SMALL } };
	uint8_t bytes[SMALL];
	int fd = new_file();

	duo_open(&s.d, NULL);
	fill(bytes, SMALL, 15);
	if (pwrite(fd, bytes, SMALL, 0) != SMALL)
		die_errno(errno, "pwrite");
	s.m.memory = map_file(fd, MAP_PRIVATE);
	open_region(&s.d, &s.m, 0, SMALL);
	tap_true("a private mapping of a file is the program's own",
		 reads(&s, 0, SMALL, 15) && writes(&s, 0, SMALL, 16) &&
		 holds(s.m.memory, SMALL, 16) &&
		 pread(fd, bytes, SMALL, 0) == SMALL && holds(bytes, SMALL, 15));
	close(fd);
	scene_close(&s);
}

static bool sees_later_writes(struct scene *s, uint64_t before)
{
	bool sees;

	s->m.mr = ibv_reg_mr(s->d.b.pd, s->m.memory, SMALL, IBV_ACCESS_REMOTE_READ);
	if (!s->m.mr)
		die_errno(errno, "ibv_reg_mr for reading");
	sees = reads(s, 0, SMALL, before);
	fill(s->m.memory, SMALL, 17);
	return sees && reads(s, 0, SMALL, 17);
}

/* Registered for reading only, with the page of zeros or of a file in their place */
static void read_only(void)
{
	struct scene s = { .m = { .length = SMALL } };
	uint8_t bytes[SMALL];
	int fd = new_file();

	duo_open(&s.d, NULL);
	s.m.memory = mmap(NULL, SMALL, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	tap_true("of memory that nobody has touched the peer reads what is written later",
		 is_zero(s.m.memory, SMALL) && sees_later_writes(&s, 0));
	unmap_memory(&s.m);

	fill(bytes, SMALL, 18);
	if (pwrite(fd, bytes, SMALL, 0) != SMALL)
		die_errno(errno, "pwrite");
	s.m.memory = map_file(fd, MAP_PRIVATE);
	tap_true("and of a private mapping of a file",
		 holds(s.m.memory, SMALL, 18) && sees_later_writes(&s, 18));
	close(fd);
	scene_close(&s);
}

static void nothing_is_left(long before)
{
	tap_int("huge pages are given back when the last region has gone", before,
		huge_pages_free());
}

void test_memory(void)
{
	long before;

	reserve_huge_pages();
	before = huge_pages_free();
	odd_regions();
	huge_page_is_split();
	unmapped_under_traffic();
	all_unmapped(PAGES_SMALL);
	all_unmapped(PAGES_HUGE);
	partly_unmapped();
	remapped(PAGES_SMALL);
	remapped(PAGES_TRANSPARENT);
	shut(PAGES_TRANSPARENT);
	shut(PAGES_HUGE);
	shared_file();
	copied_on_write();
	read_only();
	nothing_is_left(before);
}
