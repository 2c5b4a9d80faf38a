// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * register DEVICE MEGABYTES hugetlb|thp|small: how long it takes to register so much
 * memory, which is there already, and to let go of it, and what the kernel takes for
 * it: five times, the median.
 */
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <infiniband/verbs.h>

#include "program.h"

#define ROUNDS 5
#define HUGE (2ul << 20)

/* KiB */
static long free_memory(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = 0;

	if (!f)
		error(1, errno, "/proc/meminfo");
	while (fgets(line, sizeof(line), f) && !kib)
		sscanf(line, "MemFree: %ld", &kib);
	fclose(f);
	return kib;
}

static void *get_memory(size_t size, const char *kind)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *area;

	if (!strcmp(kind, "hugetlb"))
		flags |= MAP_HUGETLB;
	area = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (area == MAP_FAILED)
		error(1, errno, "mmap");
	area += -(unsigned long)area & (HUGE - 1);
	if (!(flags & MAP_HUGETLB))
		madvise(area, size, strcmp(kind, "thp") ? MADV_NOHUGEPAGE :
							  MADV_HUGEPAGE);
	memset(area, 1, size);
	return area;
}

static int compare(const void *a, const void *b)
{
	return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	double begin, registered[ROUNDS], deregistered[ROUNDS], kib[ROUNDS];
	struct ibv_context *context;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	size_t size;
	void *memory;
	int i;

	if (argc != 4)
		error(2, 0, "register DEVICE MEGABYTES hugetlb|thp|small");
	size = strtoul(argv[2], NULL, 0) << 20;
	context = open_device(argv[1]);
	if (!context)
		error(1, 0, "no device %s", argv[1]);
	pd = ibv_alloc_pd(context);
	if (!pd)
		error(1, errno, "ibv_alloc_pd");
	memory = get_memory(size, argv[3]);
	for (i = 0; i < ROUNDS; i++) {
		kib[i] = free_memory();
		begin = now();
		mr = ibv_reg_mr(pd, memory, size, IBV_ACCESS_LOCAL_WRITE);
		registered[i] = (now() - begin) * 1e3;
		if (!mr)
			error(1, errno, "ibv_reg_mr");
		kib[i] -= free_memory();
		begin = now();
		ibv_dereg_mr(mr);
		deregistered[i] = (now() - begin) * 1e3;
	}
	printf("%s MiB, %s: registered in %.2f ms, deregistered in %.2f ms, %.0f KiB\n",
	       argv[2], argv[3], median(registered), median(deregistered),
	       median(kib));
	return 0;
}
