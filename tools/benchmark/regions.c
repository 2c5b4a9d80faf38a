// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * regions DEVICE COUNT: how many seconds it takes a program to register COUNT regions of
 * one page, and how many until it is gone when it exits with all of them.
 */
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define PAGE 4096

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static struct ibv_pd *open_pd(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	for (; list && *list; list++) {
		if (strcmp(ibv_get_device_name(*list), name))
			continue;
		ctx = ibv_open_device(*list);
		return ctx ? ibv_alloc_pd(ctx) : NULL;
	}
	return NULL;
}

/* Says so on @ready when all are there. */
static void have_regions(const char *device, long count, int ready)
{
	struct ibv_pd *pd = open_pd(device);
	char *page = aligned_alloc(PAGE, PAGE);

	if (!pd || !page)
		error(1, errno, "no device %s, or no PD", device);
	for (; count; count--)
		if (!ibv_reg_mr(pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE))
			error(1, errno, "ibv_reg_mr, %ld to come", count);
	if (write(ready, "r", 1) != 1)
		error(1, errno, "write");
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	double begin, there, gone;
	int ready[2], status;
	char byte;
	pid_t pid;

	if (argc != 3)
		error(2, 0, "usage: regions DEVICE COUNT");
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (pipe(ready))
		error(1, errno, "pipe");
	begin = now();
	pid = fork();
	if (pid < 0)
		error(1, errno, "fork");
	if (!pid)
		have_regions(argv[1], atol(argv[2]), ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		error(1, 0, "the program with the regions failed");
	there = now();
	waitpid(pid, &status, 0);
	gone = now();
	printf("%s: %s regions come in %.2f s, and go in %.2f s\n", argv[1], argv[2],
	       there - begin, gone - there);
	return !!status;
}
