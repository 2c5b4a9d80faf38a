// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * storm: processes whose threads create, change, use and destroy objects of all kinds, all
 * at once and in any order; beside them a connection that nothing of this concerns, as TAP.
 *
 *	storm DEVICE GID_INDEX DEVICE GID_INDEX SEED PROCESSES THREADS ROUNDS
 *
 * Each thread does ROUNDS things, and those of the first process as many more as it takes
 * until each kind of operation has succeeded. The first process destroys all it has. The
 * others leave that to the kernel: they end while their threads are at work, by themselves
 * or killed.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../verbs/bystander.h"
#include "storm.h"

#define MOST_PROCESSES	16
#define MOST_THREADS	64
#define EXTENSION	100	/* times ROUNDS, at most */

enum manner { TIDY, LEAVES, IS_KILLED, MANNERS };

static struct options {
	const char *device[SIDES];
	int gid_index[SIDES];
	uint64_t seed;
	unsigned int processes, threads, rounds;
} opt;

const char *const operation_names[OPERATION_COUNT] = {
	[ALLOC_PD] = "alloc PD",
	[DEALLOC_PD] = "dealloc PD",
	[REG_MR] = "reg MR",
	[REREG_MR] = "rereg MR",
	[DEREG_MR] = "dereg MR",
	[ALLOC_MW] = "alloc MW",
	[DEALLOC_MW] = "dealloc MW",
	[CREATE_CQ] = "create CQ",
	[RESIZE_CQ] = "resize CQ",
	[NOTIFY_CQ] = "arm CQ",
	[DESTROY_CQ] = "destroy CQ",
	[CREATE_SRQ] = "create SRQ",
	[MODIFY_SRQ] = "modify SRQ",
	[RESIZE_SRQ] = "resize SRQ",
	[DESTROY_SRQ] = "destroy SRQ",
	[CREATE_RC] = "create RC QP",
	[CREATE_UC] = "create UC QP",
	[CREATE_UD] = "create UD QP",
	[QUERY_QP] = "query QP",
	[DESTROY_QP] = "destroy QP",
	[CREATE_AH] = "create AH",
	[DESTROY_AH] = "destroy AH",
	[ATTACH] = "attach to a group",
	[DETACH] = "detach from a group",
	[TO_RESET] = "to RESET",
	[TO_INIT] = "to INIT",
	[TO_RTR] = "to RTR",
	[TO_RTS] = "to RTS",
	[TO_SQD] = "to SQD",
	[TO_ERR] = "to ERR",
	[CONNECT] = "connect two QPs",
	[POST_SEND] = "post to a send queue",
	[POST_RECV] = "post to a receive queue",
	[POST_SRQ] = "post to an SRQ",
	[EVENT] = "completion event",
	[ASYNC] = "asynchronous event",
	[DONE_SEND] = "completed send",
	[DONE_WRITE] = "completed write",
	[DONE_READ] = "completed read",
	[DONE_ATOMIC] = "completed atomic",
	[DONE_BIND] = "completed bind",
	[DONE_INVALIDATE] = "completed invalidation",
	[DONE_RECV_A] = "receive completed at side A",
	[DONE_RECV_B] = "receive completed at side B",
	[DONE_ERROR] = "completion with an error",
};

struct side sides[SIDES];
struct board *board;
uint8_t memory[SIDES][MEMORY];
__thread uint64_t chance;

/* --- one process ----------------------------------------------------------- */

static unsigned int process;	/* its number */
static atomic_bool over;

static bool all_succeeded(void)
{
	unsigned int i;

	for (i = 0; i < OPERATION_COUNT; i++)
		if (!board->tallies[i].succeeded)
			return false;
	return true;
}

static void work(void)
{
	static const struct {
		unsigned int weight;
		void (*run)(unsigned int side);
	} works[] = {
		{ 20, come }, { 8, go }, { 8, change }, { 4, modify }, { 22, send_some },
		{ 18, receive_some }, { 14, poll_some }, { 6, arm },
	};
	unsigned int i, n = below(100);

	for (i = 0; i < ARRAY_SIZE(works) && n >= works[i].weight; i++)
		n -= works[i].weight;
	if (i < ARRAY_SIZE(works))
		works[i].run(below(SIDES));
	if (!below(12))
		connect_two();
}

/* Its objects and its threads are the kernel's business now. */
static void go_down(void)
{
	if (process % MANNERS == LEAVES)
		_exit(0);
	if (process % MANNERS == IS_KILLED)
		raise(SIGKILL);
}

static void *worker(void *arg)
{
	unsigned int i, number = (uintptr_t)arg;

	chance = mix64(opt.seed + process * MOST_THREADS + number);
	for (i = 0; i < opt.rounds; i++)
		work();
	if (!number)
		go_down();
	for (; !all_succeeded() && i / EXTENSION < opt.rounds; i++)
		work();
	return NULL;
}

static void *take_all_events(void *side)
{
	while (!over)
		take_events((uintptr_t)side);
	return NULL;
}

static pthread_t begin(void *(*run)(void *arg), unsigned int arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)arg))
		die("pthread_create");
	return thread;
}

static void set_nonblocking(int fd)
{
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK))
		die_errno(errno, "fcntl");
}

static void side_open(unsigned int i)
{
	struct side *side = &sides[i];

	port_open(&side->port, opt.device[i], opt.gid_index[i]);
	side->channel = ibv_create_comp_channel(side->port.ctx);
	if (!side->channel)
		die_errno(errno, "ibv_create_comp_channel");
	set_nonblocking(side->channel->fd);
	set_nonblocking(side->port.ctx->async_fd);
}

static void side_close(unsigned int i)
{
	if (ibv_destroy_comp_channel(sides[i].channel))
		die("ibv_destroy_comp_channel");
	port_close(&sides[i].port);
}

static void be_a_storm(void)
{
	pthread_t workers[MOST_THREADS], watchers[SIDES];
	unsigned int i;

	objects_init();
	for (i = 0; i < SIDES; i++) {
		side_open(i);
		watchers[i] = begin(take_all_events, i);
	}
	for (i = 0; i < opt.threads; i++)
		workers[i] = begin(worker, i);
	for (i = 0; i < opt.threads; i++)
		pthread_join(workers[i], NULL);
	over = true;
	for (i = 0; i < SIDES; i++)
		pthread_join(watchers[i], NULL);
	board->stayed += clear_up();
	for (i = 0; i < SIDES; i++)
		side_close(i);
	exit(0);
}

/* --- what is said ----------------------------------------------------------- */

static bool ended_as_meant(unsigned int number, int status)
{
	if (number % MANNERS == IS_KILLED)
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	return !status;
}

/* Returns how many processes ended otherwise than they should. */
static unsigned int await(struct bystander *by, const pid_t *pids)
{
	unsigned int i, wrong = 0;
	int status;

	for (i = 0; i < opt.processes; i++) {
		while (!waitpid(pids[i], &status, WNOHANG))
			bystander_move(by);
		if (ended_as_meant(i, status))
			continue;
		printf("# process %u: status %#x\n", i, status);
		wrong++;
	}
	return wrong;
}

static unsigned long show_tallies(void)
{
	unsigned long tried, succeeded, sum = 0;
	unsigned int i;

	for (i = 0; i < OPERATION_COUNT; i++) {
		tried = board->tallies[i].tried;
		succeeded = board->tallies[i].succeeded;
		printf("# %s: %lu of %lu\n", operation_names[i], succeeded, tried);
		sum += tried;
	}
	return sum;
}

static unsigned int never_succeeded(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < OPERATION_COUNT; i++) {
		if (board->tallies[i].succeeded)
			continue;
		printf("# never: %s\n", operation_names[i]);
		n++;
	}
	return n;
}

static void parse(int argc, char **argv)
{
	int i;

	if (argc != 9)
		die("usage: storm DEVICE GID_INDEX DEVICE GID_INDEX SEED PROCESSES THREADS ROUNDS");
	for (i = 0; i < SIDES; i++) {
		opt.device[i] = argv[1 + 2 * i];
		opt.gid_index[i] = atoi(argv[2 + 2 * i]);
	}
	opt.seed = strtoull(argv[5], NULL, 0);
	opt.processes = atoi(argv[6]);
	opt.threads = atoi(argv[7]);
	opt.rounds = atoi(argv[8]);
	if (!opt.processes || opt.processes > MOST_PROCESSES ||
	    !opt.threads || opt.threads > MOST_THREADS)
		die("1 to %d processes, 1 to %d threads", MOST_PROCESSES, MOST_THREADS);
}

static void begin_processes(pid_t *pids)
{
	for (process = 0; process < opt.processes; process++) {
		pids[process] = fork();
		if (pids[process] < 0)
			die_errno(errno, "fork");
		if (!pids[process])
			be_a_storm();
	}
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct bystander by = { .messages = 0 };
	pid_t pids[MOST_PROCESSES];

	parse(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	printf("# seed %lu\n", opt.seed);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		die_errno(errno, "mmap");
	begin_processes(pids);
	bystander_open(&by, opt.device, opt.gid_index);
	tap_int("each process ends as it should", 0, await(&by, pids));
	printf("# figure: %lu operations in a storm\n", show_tallies());
	tap_int("each kind of operation succeeds", 0, never_succeeded());
	tap_int("and every object can be destroyed", 0, board->stayed);
	printf("# bystander: %u messages\n", by.messages);
	tap_true("meanwhile others move messages", by.messages > 0);
	tap_int("and all of them arrive", 0, by.wrong);
	tap_alive("a connection works afterwards", &by.d);
	bystander_close(&by);
	return tap_end();
}
