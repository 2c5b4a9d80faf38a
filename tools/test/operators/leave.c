// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * leave: how long the kernel needs to clean up after a program.
 *
 *	leave DEVICE REGIONS QPS
 *
 * A process makes that many memory regions of a page and QPs, and exits with all
 * of them. Prints the seconds that the exit took. The exit status is 0 if all was
 * made.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util.h"
#include "rdma.h"

static void make_qps(struct ibv_context *ctx, struct ibv_pd *pd, int count)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	init.send_cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	if (!init.send_cq)
		die_errno(errno, "ibv_create_cq");
	init.recv_cq = init.send_cq;
	while (count--)
		if (!ibv_create_qp(pd, &init))
			die_errno(errno, "ibv_create_qp");
}

static void make_regions(struct ibv_pd *pd, int count)
{
	void *page = zalloc(4096);

	while (count--)
		if (!ibv_reg_mr(pd, page, 4096, IBV_ACCESS_LOCAL_WRITE))
			die_errno(errno, "ibv_reg_mr");
}

static void live(const char *device, int regions, int qps, int pipe)
{
	struct port port;
	struct ibv_pd *pd;

	port_open(&port, device, 0);
	pd = ibv_alloc_pd(port.ctx);
	if (!pd)
		die_errno(errno, "ibv_alloc_pd");
	make_regions(pd, regions);
	make_qps(port.ctx, pd, qps);
	if (write(pipe, "", 1) != 1)
		die_errno(errno, "write");
	_exit(0);
}

int main(int argc, char **argv)
{
	int status, pipes[2];
	double begin;
	char byte;
	pid_t pid;

	if (argc != 4)
		die("usage: leave DEVICE REGIONS QPS");
	if (pipe(pipes))
		die_errno(errno, "pipe");
	pid = fork();
	if (pid < 0)
		die_errno(errno, "fork");
	if (!pid)
		live(argv[1], atoi(argv[2]), atoi(argv[3]), pipes[1]);
	close(pipes[1]);

	if (read(pipes[0], &byte, 1) != 1)
		die("not all could be made");
	begin = seconds();
	if (waitpid(pid, &status, 0) != pid || status)
		die("the process ended with status %d", status);
	printf("figure: the exit took %.2f s\n", seconds() - begin);
	return 0;
}
