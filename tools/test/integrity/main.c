// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * integrity: moves messages between two RDMA devices and verifies every byte,
 * every byte around, and every field of every completion.
 *
 *	integrity --dev roce_a --gid 1 --listen /tmp/sock
 *	integrity --dev roce_b --gid 1 --connect /tmp/sock --ops write,read \
 *		--sizes 0,1,mtu-1,mtu,mtu+1,64k,8m --layouts one,many
 *
 * or both sides from one command, each in a namespace if it has one:
 *
 *	integrity --dev roce_b --gid 1 --netns b \
 *		--peer-dev roce_a --peer-gid 1 --peer-netns a --ops write
 *
 * The client runs the product of its lists as rounds; the server follows. One
 * line tells the result, and the exit status: 0 if all is well, EXIT_GONE if the
 * device or the connection went away, EXIT_WRONG for anything else.
 */
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "netns.h"
#include "round.h"

#define MAX_LIST 32
#define MEMORY (64u << 20)	/* a side's message memory, at most */

struct list {
	int n;
	uint32_t value[MAX_LIST];
};

/* Sizes may be given relative to the path MTU. */
#define SIZE_OF_MTU 0x80000000u

/* Where a side is */
struct place {
	const char *dev, *netns;
	int gid;
};

static struct options {
	struct place own, peer;
	const char *listen, *connect, *until;
	int cpu;
	struct list types, ops, sizes, mtus, layouts, qps;
	uint32_t flags, count, depth, timeout, psn, seed, sample, seconds;
	uint32_t may_lose, spoiled;
	uint64_t bytes;
	bool verbose;
} opt = {
	.types = { 1, { IBV_QPT_RC } },
	.ops = { 1, { OP_SEND } },
	.sizes = { 1, { 4096 } },
	.mtus = { 1, { 0 } },
	.layouts = { 1, { LAYOUT_ONE } },
	.qps = { 1, { 1 } },
	.cpu = -1,
	.count = 64,
	.depth = 16,
	.timeout = 14,
	.psn = 0xfffff0,	/* soon comes the wrap */
	.seed = 1,
	.sample = 1,
	.seconds = PATIENCE_MS / 1000,
	.bytes = 32u << 20,
};

static struct total {
	unsigned int rounds, messages;
	uint64_t bytes;
} total;

static const char *const type_names[] = { "rc", "uc", "ud", NULL };
static const uint32_t type_values[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
static const char *const flag_names[] = {
	"bidir", "inline", "unsignaled", "events", "solicited", "rnr", NULL
};

static uint32_t index_of(const char *word, const char *const *names)
{
	uint32_t i;

	for (i = 0; names[i]; i++)
		if (!strcmp(word, names[i]))
			return i;
	die("unknown word: %s", word);
}

static uint32_t parse_number(const char *word)
{
	char *end;
	unsigned long v = strtoul(word, &end, 0);

	if (*end == 'k')
		v <<= 10, end++;
	else if (*end == 'm')
		v <<= 20, end++;
	if (end == word || *end)
		die("no number: %s", word);
	return v;
}

static uint32_t parse_size(const char *word)
{
	if (strncmp(word, "mtu", 3))
		return parse_number(word);
	return SIZE_OF_MTU + 4096 + atoi(word + 3);
}

static uint32_t parse_type(const char *word)
{
	return type_values[index_of(word, type_names)];
}

static uint32_t parse_op(const char *word)
{
	return index_of(word, op_names);
}

static uint32_t parse_layout(const char *word)
{
	return index_of(word, layout_names);
}

static uint32_t parse_mtu(const char *word)
{
	uint32_t mtu = strcmp(word, "auto") ? parse_number(word) : 0;

	if (mtu)
		mtu_enum(mtu);
	return mtu;
}

static void parse_list(struct list *list, char *arg, uint32_t (*parse)(const char *))
{
	char *word;

	list->n = 0;
	for (word = strtok(arg, ","); word; word = strtok(NULL, ",")) {
		if (list->n == MAX_LIST)
			die("too long a list");
		list->value[list->n++] = parse(word);
	}
}

static uint32_t parse_flags(char *arg)
{
	uint32_t flags = 0;
	char *word;

	for (word = strtok(arg, ","); word; word = strtok(NULL, ","))
		flags |= 1u << index_of(word, flag_names);
	return flags;
}

enum {
	OPT_DEV = 1, OPT_GID, OPT_LISTEN, OPT_CONNECT, OPT_TYPES, OPT_OPS,
	OPT_SIZES, OPT_MTUS, OPT_LAYOUTS, OPT_QPS, OPT_FLAGS, OPT_COUNT,
	OPT_DEPTH, OPT_TIMEOUT, OPT_PSN, OPT_SEED, OPT_SAMPLE, OPT_SECONDS,
	OPT_BYTES, OPT_VERBOSE, OPT_HELP, OPT_NETNS, OPT_PEER_DEV, OPT_PEER_GID,
	OPT_PEER_NETNS, OPT_CPU, OPT_UNTIL, OPT_LOST, OPT_SPOIL
};

static const struct option long_options[] = {
	{ "dev", 1, NULL, OPT_DEV },
	{ "gid", 1, NULL, OPT_GID },
	{ "netns", 1, NULL, OPT_NETNS },
	{ "peer-dev", 1, NULL, OPT_PEER_DEV },
	{ "peer-gid", 1, NULL, OPT_PEER_GID },
	{ "peer-netns", 1, NULL, OPT_PEER_NETNS },
	{ "cpu", 1, NULL, OPT_CPU },
	{ "listen", 1, NULL, OPT_LISTEN },
	{ "connect", 1, NULL, OPT_CONNECT },
	{ "types", 1, NULL, OPT_TYPES },
	{ "ops", 1, NULL, OPT_OPS },
	{ "sizes", 1, NULL, OPT_SIZES },
	{ "mtus", 1, NULL, OPT_MTUS },
	{ "layouts", 1, NULL, OPT_LAYOUTS },
	{ "qps", 1, NULL, OPT_QPS },
	{ "flags", 1, NULL, OPT_FLAGS },
	{ "count", 1, NULL, OPT_COUNT },
	{ "depth", 1, NULL, OPT_DEPTH },
	{ "timeout", 1, NULL, OPT_TIMEOUT },
	{ "psn", 1, NULL, OPT_PSN },
	{ "seed", 1, NULL, OPT_SEED },
	{ "sample", 1, NULL, OPT_SAMPLE },
	{ "seconds", 1, NULL, OPT_SECONDS },
	{ "bytes", 1, NULL, OPT_BYTES },
	{ "until", 1, NULL, OPT_UNTIL },
	{ "lost", 1, NULL, OPT_LOST },
	{ "spoil", 1, NULL, OPT_SPOIL },
	{ "verbose", 0, NULL, OPT_VERBOSE },
	{ "help", 0, NULL, OPT_HELP },
	{ }
};

static void usage(void)
{
	puts("integrity --dev DEVICE --gid INDEX --listen ADDRESS\n"
	     "integrity --dev DEVICE --gid INDEX --connect ADDRESS [lists] [settings]\n"
	     "integrity --dev DEVICE --gid INDEX --peer-dev DEVICE --peer-gid INDEX ...\n"
	     "ADDRESS: a path with a slash (UNIX socket) or host:port\n"
	     "  --netns, --peer-netns   namespaces of the two sides\n"
	     "  --cpu N                 both sides on this one\n"
	     "lists, comma separated; the rounds are their product:\n"
	     "  --types   rc uc ud                               (rc)\n"
	     "  --ops     send send_imm write write_imm read fetch_add compare_swap\n"
	     "            mix push all                           (send)\n"
	     "  --sizes   bytes, 64k, 8m, mtu, mtu-1, mtu+1      (4096)\n"
	     "  --mtus    256 512 1024 2048 4096 auto            (auto)\n"
	     "  --layouts one odd uneven holes many tiny         (one)\n"
	     "  --qps     QPs at once                            (1)\n"
	     "settings:\n"
	     "  --flags   bidir,inline,unsignaled,events,solicited,rnr\n"
	     "  --count   messages a round, QP and direction     (64)\n"
	     "  --bytes   ... and at most so many bytes          (32m)\n"
	     "  --depth   messages on their way                  (16)\n"
	     "  --timeout of the QPs                             (14)\n"
	     "  --psn     the first one                          (0xfffff0)\n"
	     "  --seed    of patterns and of the sample          (1)\n"
	     "  --sample  N: run one round in N                  (1)\n"
	     "  --seconds after which a round is stuck          (900)\n"
	     "  --until   FILE: all rounds again and again, until it is there\n"
	     "  --lost    percent of the messages that an unreliable service may lose\n"
	     "  --spoil   N: the client's N-th message is wrong: the server must say so\n"
	     "  --verbose a line for each round");
	exit(0);
}

static void set_list(int c, char *arg)
{
	switch (c) {
	case OPT_TYPES:
		return parse_list(&opt.types, arg, parse_type);
	case OPT_OPS:
		return parse_list(&opt.ops, arg, parse_op);
	case OPT_SIZES:
		return parse_list(&opt.sizes, arg, parse_size);
	case OPT_MTUS:
		return parse_list(&opt.mtus, arg, parse_mtu);
	case OPT_LAYOUTS:
		return parse_list(&opt.layouts, arg, parse_layout);
	default:
		return parse_list(&opt.qps, arg, parse_number);
	}
}

static void set_option(int c, char *arg)
{
	switch (c) {
	case OPT_DEV:
		opt.own.dev = arg;
		break;
	case OPT_GID:
		opt.own.gid = atoi(arg);
		break;
	case OPT_NETNS:
		opt.own.netns = arg;
		break;
	case OPT_PEER_DEV:
		opt.peer.dev = arg;
		break;
	case OPT_PEER_GID:
		opt.peer.gid = atoi(arg);
		break;
	case OPT_PEER_NETNS:
		opt.peer.netns = arg;
		break;
	case OPT_CPU:
		opt.cpu = atoi(arg);
		break;
	case OPT_LISTEN:
		opt.listen = arg;
		break;
	case OPT_CONNECT:
		opt.connect = arg;
		break;
	case OPT_FLAGS:
		opt.flags |= parse_flags(arg);
		break;
	case OPT_COUNT:
		opt.count = parse_number(arg);
		break;
	case OPT_DEPTH:
		opt.depth = parse_number(arg);
		break;
	case OPT_TIMEOUT:
		opt.timeout = parse_number(arg);
		break;
	case OPT_PSN:
		opt.psn = parse_number(arg);
		break;
	case OPT_SEED:
		opt.seed = parse_number(arg);
		break;
	case OPT_SAMPLE:
		opt.sample = max(parse_number(arg), 1u);
		break;
	case OPT_SECONDS:
		opt.seconds = parse_number(arg);
		break;
	case OPT_BYTES:
		opt.bytes = parse_number(arg);
		break;
	case OPT_UNTIL:
		opt.until = arg;
		break;
	case OPT_LOST:
		opt.flags |= ROUND_LOSSY;
		opt.may_lose = parse_number(arg);
		break;
	case OPT_SPOIL:
		opt.spoiled = parse_number(arg);
		break;
	case OPT_VERBOSE:
		opt.verbose = true;
		break;
	default:
		set_list(c, arg);
	}
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (c == '?')
			exit(2);
		if (c == 'h' || c == OPT_HELP)
			usage();
		set_option(c, optarg);
	}
	if (optind != argc || !opt.own.dev ||
	    !!opt.listen + !!opt.connect + !!opt.peer.dev != 1)
		die("integrity: a device and one of --listen, --connect, --peer-dev are needed; --help tells more");
}

static bool possible(const struct round *r)
{
	bool inlined = r->flags & ROUND_INLINE;

	if (inlined && (r->size > 400 || op_fetches(r->op)))
		return false;
	if (r->flags & (ROUND_RNR | ROUND_SOLICITED) && r->op < OP_MIX &&
	    !op_takes_recv(r->op))
		return false;
	if (r->qp_type == IBV_QPT_RC)
		return !(r->flags & ROUND_LOSSY);
	if (op_fetches(r->op) || r->op == OP_MIX || r->op == OP_ALL ||
	    r->flags & ROUND_RNR)
		return false;
	if (r->flags & ROUND_LOSSY && (r->size < 8 || !op_takes_recv(r->op) ||
				       r->op == OP_WRITE_IMM))
		return false;
	/* No event tells of a write that has landed. */
	if (r->qp_type == IBV_QPT_UC)
		return !(r->flags & ROUND_EVENTS) || op_takes_recv(r->op);
	return r->size <= r->mtu && (r->op == OP_SEND || r->op == OP_SEND_IMM);
}

/* As many messages and as deep a queue as time and memory allow. */
static void fit(struct round *r)
{
	uint64_t slot = (uint64_t)slot_stride(r->size) * r->qps;

	r->count = min((uint64_t)r->count, max(opt.bytes / max(r->size, 1u), 3ull));
	r->depth = min((uint64_t)r->depth, max(MEMORY / slot, 1ull));
}

static void run(struct port *port, int line, const struct round *r)
{
	double begin = seconds();

	line_send(line, r, sizeof(*r));
	round_run(port, line, false, r);
	total.rounds++;
	total.messages += r->count * r->qps * (r->flags & ROUND_BIDIR ? 2 : 1);
	total.bytes += (uint64_t)r->size * r->count * r->qps *
		       (r->flags & ROUND_BIDIR ? 2 : 1);
	if (opt.verbose)
		printf("# %s: %.2f s\n", round_str(r), seconds() - begin);
	fflush(stdout);
}

static uint32_t real_size(uint32_t size, uint32_t mtu)
{
	return size & SIZE_OF_MTU ? (size & ~SIZE_OF_MTU) - 4096 + mtu : size;
}

/* Counts in mixed radix through the lists: the n-th round, if there is one. */
static bool nth_round(struct round *r, uint32_t n, uint32_t active_mtu)
{
	uint32_t at[6], k;
	const struct list *lists[6] = {
		&opt.layouts, &opt.sizes, &opt.ops, &opt.mtus, &opt.qps, &opt.types,
	};

	for (k = 0; k < 6; k++) {
		at[k] = n % lists[k]->n;
		n /= lists[k]->n;
	}
	if (n)
		return false;
	*r = (struct round) {
		.seed = opt.seed, .flags = opt.flags, .count = opt.count,
		.depth = opt.depth, .timeout = opt.timeout, .psn = opt.psn,
		.seconds = opt.seconds,
		.may_lose = opt.may_lose, .spoiled = opt.spoiled,
		.tx_layout = opt.layouts.value[at[0]],
		/* Gathering and scattering must not cut at the same places. */
		.rx_layout = opt.layouts.value[(at[0] + 1) % opt.layouts.n],
		.op = opt.ops.value[at[2]],
		.mtu = opt.mtus.value[at[3]] ?: active_mtu,
		.qps = opt.qps.value[at[4]],
		.qp_type = opt.types.value[at[5]],
	};
	r->size = real_size(opt.sizes.value[at[1]], r->mtu);
	return true;
}

static void run_all(struct port *port, int line)
{
	uint32_t mtu = mtu_bytes(port->attr.active_mtu);
	struct round r;
	uint32_t n;

	for (n = 0; nth_round(&r, n, mtu); n++) {
		if (!possible(&r) || mix64((uint64_t)opt.seed << 32 | n) % opt.sample)
			continue;
		fit(&r);
		r.number = n;
		run(port, line, &r);
	}
}

static bool go_on(void)
{
	return opt.until && total.rounds && access(opt.until, F_OK);
}

static void client(struct port *port, int line)
{
	struct round end = { .last = 1 };
	double begin = seconds();

	do
		run_all(port, line);
	while (go_on());
	line_send(line, &end, sizeof(end));
	if (!total.rounds)
		die("integrity: none of these rounds is possible");
	printf("integrity: %u rounds, %u messages, %.1f MB in %.1f s: every byte is right\n",
	       total.rounds, total.messages, total.bytes / 1e6,
	       seconds() - begin);
}

static void server(struct port *port, int line)
{
	struct round r;

	for (;;) {
		line_recv(line, &r, sizeof(r));
		if (r.last)
			return;
		round_run(port, line, true, &r);
	}
}

/* From opening the device to closing it; @line is -1 if it is still to be made. */
static void run_side(const struct place *place, int line, bool is_server)
{
	struct port port;

	if (place->netns)
		netns_enter(place->netns);
	port_open(&port, place->dev, place->gid);
	if (line < 0)
		line = is_server ? line_listen(opt.listen) : line_connect(opt.connect);
	if (is_server)
		server(&port, line);
	else
		client(&port, line);
	port_close(&port);
}

/* A side in a process of its own, with its end of the line */
static pid_t fork_side(const struct place *place, int line, int other_end,
		       bool is_server)
{
	pid_t pid = fork();

	if (pid < 0)
		die_errno(errno, "fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(other_end);
	run_side(place, line, is_server);
	exit(0);
}

static int status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die_errno(errno, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WRONG;
}

/* Both sides; what one of them finds wrong is told before what the other one lost. */
static int run_both(void)
{
	int line[2], status[2];
	pid_t pid[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, line))
		die_errno(errno, "socketpair");
	pid[0] = fork_side(&opt.peer, line[0], line[1], true);
	pid[1] = fork_side(&opt.own, line[1], line[0], false);
	close(line[0]);
	close(line[1]);
	status[0] = status_of(pid[0]);
	status[1] = status_of(pid[1]);
	if (status[0] == EXIT_WRONG || status[1] == EXIT_WRONG)
		return EXIT_WRONG;
	return status[0] ?: status[1];
}

static void stay_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die_errno(errno, "CPU %d", cpu);
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse_options(argc, argv);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (opt.cpu >= 0)
		stay_on_cpu(opt.cpu);
	if (opt.peer.dev)
		return run_both();
	run_side(&opt.own, -1, opt.listen);
	return 0;
}
