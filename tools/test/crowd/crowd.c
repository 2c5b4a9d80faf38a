// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * crowd: one process with thousands of connected QPs, some of which have traffic, and
 * its end; beside it another one that nothing of this concerns, as TAP.
 *
 *	crowd DEVICE GID_INDEX DEVICE GID_INDEX QPS TALKERS exit|kill|destroy|removed
 *
 * The child has the crowd. The parent, the bystander, moves messages from before the
 * crowd comes until after it has gone, and all of them must arrive. The crowd ends by
 * itself without a word to the device, or is killed, or destroys each QP; or somebody
 * takes the second device away when the parent has printed "# ready": then there is no
 * bystander.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../verbs/bystander.h"

#define MESSAGE	4096
#define ROUNDS	20	/* of all talkers, before the crowd is called ready */

static struct options {
	const char *device[2];
	int gid_index[2];
	unsigned int qps, talkers;
	const char *end;
} opt;

static bool ends_by(const char *how)
{
	return !strcmp(opt.end, how);
}

/* The name of an assertion, with how the crowd ends */
static void tap_named(const char *format, bool right)
{
	char name[128];

	snprintf(name, sizeof(name), format, opt.end);
	tap_true(name, right);
}

/* --- the crowd ------------------------------------------------------------ */

struct half {
	struct port port;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_qp **qps;
};

static struct crowd {
	struct half half[2];
	unsigned int pairs;
	atomic_uint rounds;
	uint8_t memory[2][MESSAGE];
} crowd;

/* With an SRQ a QP has one ring that is mapped. */
static struct ibv_qp *new_qp(struct half *h)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = h->cq,
		.recv_cq = h->cq,
		.srq = h->srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(h->pd, &init);

	if (!qp)
		die_errno(errno, "ibv_create_qp");
	return qp;
}

static void half_open(struct half *h, unsigned int i)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };

	port_open(&h->port, opt.device[i], opt.gid_index[i]);
	h->pd = ibv_alloc_pd(h->port.ctx);
	h->cq = ibv_create_cq(h->port.ctx, 2 * opt.talkers + 16, NULL, NULL, 0);
	h->srq = ibv_create_srq(h->pd, &init);
	h->mr = ibv_reg_mr(h->pd, crowd.memory[i], MESSAGE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	h->qps = zalloc(crowd.pairs * sizeof(*h->qps));
	if (!h->pd || !h->cq || !h->srq || !h->mr)
		die_errno(errno, "PD, CQ, SRQ or MR");
}

static void connect_qp(struct half *h, const struct half *peer, unsigned int i)
{
	struct path path = {
		.gid = peer->port.gid,
		.qpn = peer->qps[i]->qp_num,
		.mtu = 1024,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
		.rd_atomic = 1,
	};
	int err = qp_to_init(h->qps[i], IBV_ACCESS_REMOTE_WRITE) ?:
		  qp_to_rtr(h->qps[i], &h->port, &path) ?: qp_to_rts(h->qps[i], &path);

	if (err)
		die_errno(err, "ibv_modify_qp");
}

static void gather(void)
{
	struct half *a = &crowd.half[0], *b = &crowd.half[1];
	unsigned int i;

	for (i = 0; i < crowd.pairs; i++) {
		a->qps[i] = new_qp(a);
		b->qps[i] = new_qp(b);
		connect_qp(a, b, i);
		connect_qp(b, a, i);
	}
}

static void post_write(struct ibv_qp *qp)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)crowd.memory[0], .length = MESSAGE,
		.lkey = crowd.half[0].mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)crowd.memory[1], crowd.half[1].mr->rkey },
	}, *bad;
	int err = ibv_post_send(qp, &wr, &bad);

	if (err)
		die_errno(err, "ibv_post_send");
}

/* Until a device is removed: their requests go with it. */
static void *talk(void *arg)
{
	unsigned int rounds = ends_by("removed") ? ROUNDS : UINT_MAX;
	unsigned int i, done;
	struct ibv_wc wc;

	for (; crowd.rounds < rounds; crowd.rounds++) {
		for (i = 0; i < opt.talkers; i++)
			post_write(crowd.half[0].qps[i]);
		for (done = 0; done < opt.talkers; done++) {
			if (!wait_wc(crowd.half[0].cq, &wc, 100000))
				die("a talker waits in vain");
			if (wc.status)
				die("a talker: %s", ibv_wc_status_str(wc.status));
		}
	}
	return NULL;
}

static void destroy_each(void)
{
	unsigned int i, j;

	/* Those that talk are left to the end of the process. */
	for (i = opt.talkers; i < crowd.pairs; i++)
		for (j = 0; j < 2; j++)
			if (ibv_destroy_qp(crowd.half[j].qps[i]))
				die("ibv_destroy_qp");
}

static void be_a_crowd(int in, int out)
{
	pthread_t thread;
	char c = 'r';

	crowd.pairs = opt.qps / 2;
	half_open(&crowd.half[0], 0);
	half_open(&crowd.half[1], 1);
	gather();
	if (pthread_create(&thread, NULL, talk, NULL))
		die("pthread_create");
	while (crowd.rounds < ROUNDS)
		sleep_ms(1);
	if (write(out, &c, 1) != 1)
		die_errno(errno, "write");
	if (ends_by("removed"))
		_exit(!wait_async(crowd.half[1].port.ctx, IBV_EVENT_DEVICE_FATAL, 300000));
	if (read(in, &c, 1) != 1)
		die_errno(errno, "read");
	if (ends_by("destroy"))
		destroy_each();
	_exit(0);
}

/* --- what the parent sees -------------------------------------------------- */

static long available(void)
{
	return memory_info("MemAvailable: %ld");
}

static bool is_readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

/* The crowd has come, or has failed to. */
static bool await_crowd(struct bystander *by, int from)
{
	char c;

	while (by && !is_readable(from))
		bystander_move(by);
	return read(from, &c, 1) == 1;
}

/* Returns whether the child ended as it should. */
static bool await_end(struct bystander *by, pid_t pid)
{
	bool killed = ends_by("kill");
	int status;

	if (by)
		while (!waitpid(pid, &status, WNOHANG))
			bystander_move(by);
	else if (waitpid(pid, &status, 0) != pid)
		return false;
	return killed ? WIFSIGNALED(status) : !status;
}

static void end(pid_t pid, int to)
{
	if (ends_by("kill"))
		kill(pid, SIGKILL);
	else if (ends_by("removed"))
		puts("# ready");
	else if (write(to, "x", 1) != 1)
		die_errno(errno, "write");
}

static void watch(struct bystander *by, pid_t pid, int to, int from, long before)
{
	double begin = seconds();

	tap_named("the crowd is connected, and some of it talk (%s)",
		  await_crowd(by, from));
	printf("# figure: %u QPs at once\n", opt.qps);
	printf("# they came in %.1f s and take %ld KiB each, the program's own included\n",
	       seconds() - begin, (before - available()) / opt.qps);
	if (by) {
		printf("# bystander: the longest of %u messages took %.3f s\n", by->messages,
		       by->longest);
		by->longest = 0;
		by->messages = 0;
	}
	begin = seconds();
	end(pid, to);
	tap_named("the crowd goes (%s)", await_end(by, pid));
	printf("# in %.2f s (%s)\n", seconds() - begin, opt.end);
	if (by) {
		printf("# bystander: the longest of %u messages took %.3f s\n", by->messages,
		       by->longest);
		tap_named("meanwhile others move messages (%s)", by->messages > 0);
	}
}

static void parse(int argc, char **argv)
{
	int i;

	if (argc != 8)
		die("usage: crowd DEVICE GID_INDEX DEVICE GID_INDEX QPS TALKERS END");
	for (i = 0; i < 2; i++) {
		opt.device[i] = argv[1 + 2 * i];
		opt.gid_index[i] = atoi(argv[2 + 2 * i]);
	}
	opt.qps = atoi(argv[5]);
	opt.talkers = atoi(argv[6]);
	opt.end = argv[7];
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct bystander by = { .messages = 0 };
	int down[2], up[2];
	bool alone;
	long before;
	pid_t pid;

	parse(argc, argv);
	alone = ends_by("removed");
	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (pipe(down) || pipe(up))
		die_errno(errno, "pipe");
	before = available();
	pid = fork();
	if (pid < 0)
		die_errno(errno, "fork");
	if (!pid) {
		close(up[0]);
		be_a_crowd(down[0], up[1]);
	}
	close(up[1]);
	if (!alone)
		bystander_open(&by, opt.device, opt.gid_index);
	watch(alone ? NULL : &by, pid, down[1], up[0], before);
	if (!alone) {
		tap_named("and all of them arrive (%s)", !by.wrong);
		tap_alive("who is left works on", &by.d);
		bystander_close(&by);
	}
	return tap_end();
}
