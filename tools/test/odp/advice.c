// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Prefetching, and the statistics of a region. Before rdma-core 61 the provider has no
 * call for ibv_advise_mr(): this speaks to the kernel directly.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "odp.h"
#include "uverbs.h"

#define NOW	IBV_ADVISE_MR_FLAG_FLUSH

/* Returns 0 or an errno. */
static int advise(struct ibv_pd *pd, unsigned int advice, uint32_t flags,
		  struct ibv_sge *list, unsigned int count)
{
	struct {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attrs[4];
	} request = {
		.header = {
			.length = sizeof(request),
			.object_id = UVERBS_OBJECT_MR,
			.method_id = UVERBS_METHOD_ADVISE_MR,
			.num_attrs = 4,
			.driver_id = RDMA_DRIVER_RXE,
		},
		.attrs = {
			uverbs_attr(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0, pd->handle),
			uverbs_attr(UVERBS_ATTR_ADVISE_MR_ADVICE, sizeof(uint64_t), advice),
			uverbs_attr(UVERBS_ATTR_ADVISE_MR_FLAGS, sizeof(flags), flags),
			uverbs_attr(UVERBS_ATTR_ADVISE_MR_SGE_LIST, count * sizeof(*list),
				    (uintptr_t)list),
		},
	};

	return ioctl(pd->context->cmd_fd, RDMA_VERBS_IOCTL, &request) ? errno : 0;
}

/*
 * The value of that name, the largest one of the regions at b. A region is a line, or
 * several: then the first one has its device.
 */
static long counted(const struct bench *bench, const char *name)
{
	const char *device = ibv_get_device_name(bench->duo.b.port->ctx->device);
	FILE *output = popen("rdma statistic show mr", "r");
	bool ours = false;
	char line[1024];
	long value = -1;

	while (output && fgets(line, sizeof(line), output)) {
		char *found = strstr(line, name);

		if (strstr(line, " mrn "))
			ours = strstr(line, device);
		if (found && ours)
			value = max(value, atol(found + strlen(name) + 1));
	}
	if (output)
		pclose(output);
	return value;
}

static void test_advised(const char *name, unsigned int advice)
{
	struct bench bench;
	struct ibv_sge list[2];

	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	memory_fill(&bench.a, 1);
	list[0] = memory_sge(&bench.b, 0, 10 * PAGE);
	list[1] = memory_sge(&bench.b, 100 * PAGE + 1, 10);
	memory_cool(&bench.b);
	tap_int(name, 0, advise(bench.duo.b.pd, advice, NOW, list, 2));
	tap_int("its pages are counted", 11, counted(&bench, "page_prefetch"));
	tap_int("and a READ of them needs no fault",
		0, bench_move(&bench, IBV_WR_RDMA_READ, 0, 10 * PAGE));
	tap_int("as is counted", 0, counted(&bench, "page_faults"));
	tap_int("soon, not now", 0, advise(bench.duo.b.pd, advice, 0, list, 2));
	bench_close(&bench);
}

/* --- Several at once --- */

struct adviser {
	pthread_t thread;
	struct bench *bench;
	unsigned int advice;
	bool stop;
	int err;
};

static void *advise_always(void *data)
{
	struct adviser *adviser = data;
	struct ibv_sge list = memory_sge(&adviser->bench->b, 0, MEMORY_SIZE);

	while (!__atomic_load_n(&adviser->stop, __ATOMIC_ACQUIRE) && !adviser->err)
		adviser->err = advise(adviser->bench->duo.b.pd, adviser->advice, NOW, &list, 1);
	return NULL;
}

/* They find pages in the same part of the memory, while the kernel takes them. */
static void test_advised_at_once(void)
{
	static const unsigned int advice[] = {
		IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
		IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
		IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
	};
	struct adviser advisers[ARRAY_SIZE(advice)] = {};
	struct bench bench;
	unsigned int i;
	int err = 0;

	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	for (i = 0; i < ARRAY_SIZE(advice); i++) {
		advisers[i].bench = &bench;
		advisers[i].advice = advice[i];
		if (pthread_create(&advisers[i].thread, NULL, advise_always, &advisers[i]))
			die("pthread_create");
	}
	for (i = 0; i < 1000; i++)
		memory_cool(&bench.b);
	for (i = 0; i < ARRAY_SIZE(advice); i++) {
		__atomic_store_n(&advisers[i].stop, true, __ATOMIC_RELEASE);
		pthread_join(advisers[i].thread, NULL);
		err = err ?: advisers[i].err;
	}
	tap_int("prefetches of several threads, while the kernel takes the pages", 0, err);
	bench_close(&bench);
}

/* So many wait that the program carries out the last parts itself. */
static void test_advised_of_nothing(void)
{
	enum { PRESENT = 16, PARTS = 32, HALF = MEMORY_SIZE / 2 };
	struct ibv_sge list[PARTS];
	struct bench bench;
	unsigned int i;

	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	for (i = 0; i < PARTS; i++)
		list[i] = memory_sge(&bench.b, i < PRESENT ? 0 : HALF, HALF);
	memory_protect(&bench.b, PROT_NONE);
	memory_cool(&bench.b);
	tap_int("a long list ends in memory that is not there: told now", EFAULT,
		advise(bench.duo.b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, NOW, list, PARTS));
	memory_cool(&bench.b);
	tap_int("not told of what comes soon", 0,
		advise(bench.duo.b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, list, PARTS));
	memory_protect(&bench.b, PROT_READ | PROT_WRITE);
	bench_close(&bench);
}

/*
 * More prefetches than the kernel carries out at a time, of the file ROCE_ODP_FILE. They
 * wait until somebody thaws its file system.
 */
void test_frozen(void)
{
	enum { REGIONS = 80, PREFETCHES = 16 };
	int fd = open(getenv("ROCE_ODP_FILE") ?: "", O_RDWR | O_CLOEXEC);
	uint8_t *start = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct ibv_mr *mr[REGIONS];
	unsigned int i, n;
	struct bench bench;
	int err = 0;

	if (start == MAP_FAILED)
		die_errno(errno, "ROCE_ODP_FILE");
	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	tap_int("a file system is frozen", 0, ioctl(fd, FIFREEZE, 0));
	for (i = 0; i < REGIONS; i++) {
		struct ibv_sge list = { .addr = (uintptr_t)start, .length = PAGE };

		mr[i] = ibv_reg_mr(bench.duo.b.pd, start, PAGE,
				   RIGHTS | IBV_ACCESS_ON_DEMAND);
		if (!mr[i])
			die_errno(errno, "ibv_reg_mr on demand");
		list.lkey = mr[i]->lkey;
		for (n = 0; n < PREFETCHES && !err; n++)
			err = advise(bench.duo.b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0,
				     &list, 1);
	}
	tap_int("prefetches of its file wait", 0, err);
	for (i = 0; i < REGIONS; i++)
		ibv_dereg_mr(mr[i]);
	bench_close(&bench);
}

/* Of prefetches, the kernel is still busy with those of others. */
void test_neighbour(void)
{
	struct bench bench;
	struct ibv_sge list;

	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	list = memory_sge(&bench.b, 0, MEMORY_SIZE);
	tap_int("a prefetch waits behind those of another program", 0,
		advise(bench.duo.b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &list, 1));
	tap_int("its region does not", 0, ibv_dereg_mr(bench.b.mr));
	bench.b.mr = NULL;
	bench_close(&bench);
}

void test_advice(void)
{
	struct bench bench;
	struct ibv_sge list;

	test_advised("prefetch for reading", IBV_ADVISE_MR_ADVICE_PREFETCH);
	test_advised("prefetch for writing", IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);

	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	list = memory_sge(&bench.b, 0, 10 * PAGE);
	memory_cool(&bench.b);
	tap_int("prefetch without faults", 0,
		advise(bench.duo.b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, NOW, &list, 1));
	tap_int("finds no page that the program does not have", 0,
		counted(&bench, "page_prefetch"));
	memset(bench.b.start, 1, 3 * PAGE);
	tap_int("prefetch of pages that the program has", 0,
		advise(bench.duo.b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, NOW, &list, 1));
	tap_true("finds them", counted(&bench, "page_prefetch") >= 3);
	tap_int("an advice that does not exist", EOPNOTSUPP,
		advise(bench.duo.b.pd, 77, NOW, &list, 1));
	list.length = MEMORY_SIZE + 1;
	tap_int("prefetch beyond the region", EFAULT,
		advise(bench.duo.b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, NOW, &list, 1));
	list = memory_sge(&bench.b, 0, PAGE);
	tap_int("prefetch in another protection domain", EFAULT,
		advise(bench.duo.a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, NOW, &list, 1));
	list = sge_of(&bench.duo.b, 0, PAGE);
	tap_int("prefetch of pinned memory", EFAULT,
		advise(bench.duo.b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, NOW, &list, 1));
	bench_close(&bench);
	test_advised_at_once();
	test_advised_of_nothing();
}

void test_statistics(void)
{
	struct bench bench;

	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	memory_cool(&bench.b);
	tap_int("a WRITE to cold memory", 0,
		bench_move(&bench, IBV_WR_RDMA_WRITE, 0, 10 * PAGE));
	tap_int("the pages that it had to wait for are counted", 10,
		counted(&bench, "page_faults"));
	memory_cool(&bench.b);
	tap_int("the pages that the kernel took back, too", 10,
		counted(&bench, "page_invalidations"));
	bench_close(&bench);
}
