// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * regions DEVICE COUNT: what it costs to register COUNT regions of one page, and to
 * deregister them: microseconds, and function call interrupts (IPIs) of all CPUs, for
 * each. Then how many seconds a program needs to exit with COUNT regions.
 */
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "program.h"

#define PAGE 4096

/* Function call interrupts of all CPUs, since the machine runs */
static unsigned long function_calls(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	unsigned long sum = 0;
	char line[4096], *at, *end;

	if (!f)
		error(1, errno, "/proc/interrupts");
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, "CAL:");
		if (!at)
			continue;
		/* A column for each CPU, and words behind them */
		for (at += strlen("CAL:"); ; at = end) {
			sum += strtoul(at, &end, 10);
			if (end == at)
				break;
		}
	}
	fclose(f);
	return sum;
}

static struct ibv_pd *open_pd(const char *name)
{
	struct ibv_context *context = open_device(name);

	return context ? ibv_alloc_pd(context) : NULL;
}

static void register_all(struct ibv_pd *pd, void *page, struct ibv_mr **mrs, long count)
{
	long i;

	for (i = 0; i < count; i++) {
		mrs[i] = ibv_reg_mr(pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE);
		if (!mrs[i])
			error(1, errno, "ibv_reg_mr, number %ld", i);
	}
}

static void deregister_all(struct ibv_mr **mrs, long count)
{
	long i;

	for (i = 0; i < count; i++)
		if (ibv_dereg_mr(mrs[i]))
			error(1, errno, "ibv_dereg_mr, number %ld", i);
}

/* Says what each costs, and on @ready when all are there once more; exits with them. */
static void have_regions(const char *device, long count, int ready)
{
	struct ibv_mr **mrs = calloc(count, sizeof(*mrs));
	struct ibv_pd *pd = open_pd(device);
	char *page = aligned_alloc(PAGE, PAGE);
	unsigned long calls[3];
	double time[3];

	if (!mrs || !pd || !page)
		error(1, errno, "no device %s, or no PD", device);
	calls[0] = function_calls();
	time[0] = now();
	register_all(pd, page, mrs, count);
	time[1] = now();
	calls[1] = function_calls();
	deregister_all(mrs, count);
	time[2] = now();
	calls[2] = function_calls();
	printf("registered in %.1f us, %.2f IPIs; deregistered in %.1f us, %.2f IPIs; ",
	       (time[1] - time[0]) / count * 1e6,
	       (double)(calls[1] - calls[0]) / count,
	       (time[2] - time[1]) / count * 1e6,
	       (double)(calls[2] - calls[1]) / count);
	fflush(stdout);

	register_all(pd, page, mrs, count);
	if (write(ready, "r", 1) != 1)
		error(1, errno, "write");
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	double there, gone;
	int ready[2], status;
	char byte;
	pid_t pid;

	if (argc != 3)
		error(2, 0, "usage: regions DEVICE COUNT");
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (pipe(ready))
		error(1, errno, "pipe");
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
	printf("%s go at exit in %.2f s\n", argv[2], gone - there);
	return !!status;
}
