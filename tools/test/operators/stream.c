// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * stream: writes as fast as they complete, without a busy CPU.
 *
 *	stream DEVICE GID_INDEX DEVICE GID_INDEX SECONDS OUTSTANDING
 *
 * The first device writes messages of 64 KiB into the memory of a peer on the
 * second one, as many at a time as are outstanding, and sleeps until one completes:
 * programs that poll would take the CPUs from the switch that is tested. Prints
 * "ready" when it is connected, begins with a line on its standard input, or the end
 * of that, and prints the bytes that arrived in the end, and the seconds they took.
 * With 0 SECONDS it goes on until its standard input ends.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/resource.h>

#include "../verbs/verbs.h"

/* How long the last messages may take */

static void post(struct duo *d)
{
	int err = post_rdma(d, IBV_WR_RDMA_WRITE, 1, sge_of(&d->a, 0, BUF_SIZE),
			    (uintptr_t)d->b.buf, d->b.mr->rkey);

	if (err)
		die_errno(err, "post");
}

static void wait_for_event(struct end *end)
{
	struct pollfd pfd = { .fd = end->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, PATIENCE_MS) <= 0)
		die("no completion");
	if (ibv_get_cq_event(end->channel, &cq, &context))
		die_errno(errno, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

/* Returns how many have completed, at least one. */
static unsigned int reap(struct end *end)
{
	unsigned int count = 0;
	struct ibv_wc wc;

	while (!count) {
		if (ibv_req_notify_cq(end->scq, 0))
			die("ibv_req_notify_cq");
		while (ibv_poll_cq(end->scq, 1, &wc) > 0) {
			if (wc.status)
				die("%s", ibv_wc_status_str(wc.status));
			count++;
		}
		if (!count)
			wait_for_event(end);
	}
	return count;
}

/* @end: when it is over, or 0 if that is told on standard input */
static bool is_over(double end)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return end ? seconds() >= end : poll(&input, 1, 0) > 0;
}

static void stream(struct duo *d, double length, unsigned int outstanding)
{
	double begin = seconds(), end = length ? begin + length : 0;
	unsigned int posted, done = 0;

	for (posted = 0; posted < outstanding; posted++)
		post(d);
	while (done < posted) {
		done += reap(&d->a);
		while (posted < done + outstanding && !is_over(end)) {
			post(d);
			posted++;
		}
	}
	printf("%.0f %.3f\n", (double)done * BUF_SIZE, seconds() - begin);
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	/* A second until a timeout, for a queue may be long */
	struct duo_options options = { .timeout = 18, .retry_cnt = 7 };
	struct port a, b;
	struct duo d;

	if (argc != 7)
		die("usage: stream DEVICE GID_INDEX DEVICE GID_INDEX SECONDS OUTSTANDING");
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* What is read ahead could not be polled for. */
	setvbuf(stdin, NULL, _IONBF, 0);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	port_open(&a, argv[1], atoi(argv[2]));
	port_open(&b, argv[3], atoi(argv[4]));
	duo_ports(&a, &b);
	options.wr = atoi(argv[6]);
	duo_open(&d, &options);
	puts("ready");
	getchar();
	stream(&d, atof(argv[5]), options.wr);
	duo_close(&d);
	port_close(&a);
	port_close(&b);
	return 0;
}
