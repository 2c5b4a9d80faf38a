/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What programs of the benchmark share */
#ifndef BENCHMARK_PROGRAM_H
#define BENCHMARK_PROGRAM_H

#include <string.h>
#include <time.h>
#include <infiniband/verbs.h>

/* Seconds */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* NULL if there is none of that name, or it cannot be opened */
static inline struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return ibv_open_device(*list);
	return NULL;
}

#endif /* BENCHMARK_PROGRAM_H */
