// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program with regions has children. The memory that the peer sees is the
 * parent's, whoever of the two writes first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mapping.h"

#define SIZE	HUGE_PAGE

/* The two talk by bytes, in turn. */
struct child {
	pid_t pid;
	int to, from;
};

static void tell(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(2);
}

/* The end of the other one ends the wait, too. */
static void await(int fd)
{
	char c;

	if (read(fd, &c, 1) < 0)
		_exit(2);
}

/* @run in a child of ours; what it returns is whether it saw what it should. */
static void child_begin(struct child *child, struct mapping *m,
			bool (*run)(struct mapping *m, int in, int out))
{
	int down[2], up[2];

	fflush(stdout);
	if (pipe(down) || pipe(up))
		die_errno(errno, "pipe");
	child->pid = fork();
	if (child->pid < 0)
		die_errno(errno, "fork");
	if (!child->pid) {
		close(down[1]);
		close(up[0]);
		_exit(!run(m, down[0], up[1]));
	}
	close(down[0]);
	close(up[1]);
	child->to = down[1];
	child->from = up[0];
}

static bool child_end(struct child *child)
{
	int status;

	close(child->to);
	if (waitpid(child->pid, &status, 0) != child->pid)
		die_errno(errno, "waitpid");
	close(child->from);
	return !status;
}

static bool write_first(struct mapping *m, int in, int out)
{
	bool same = holds(m->memory, SIZE, 1);

	fill(m->memory, SIZE, 2);
	tell(out);
	await(in);
	return same && holds(m->memory, SIZE, 2);
}

static void named(const char *format, enum page_kind kind, bool right)
{
	char name[128];

	snprintf(name, sizeof(name), format, page_kinds[kind]);
	tap_true(name, right);
}

static void child_writes_first(enum page_kind kind)
{
	struct child child;
	struct mapping m;
	struct duo d;

	duo_open(&d, NULL);
	map_memory(&m, kind, SIZE);
	fill(m.memory, SIZE, 1);
	open_region(&d, &m, 0, SIZE);
	child_begin(&child, &m, write_first);
	await(child.from);
	named("what a child writes to its copy neither parent nor peer see (%s)", kind,
	      holds(m.memory, SIZE, 1) && peer_reads(&d, m.mr, m.memory, SIZE, 1));
	fill(m.memory, SIZE, 3);
	named("the peer reads what the parent writes (%s)", kind,
	      peer_reads(&d, m.mr, m.memory, SIZE, 3));
	named("the parent sees what the peer writes (%s)", kind,
	      peer_writes(&d, m.mr, m.memory, SIZE, 4) && holds(m.memory, SIZE, 4));
	tell(child.to);
	named("and the child nothing of that (%s)", kind, child_end(&child));
	unmap_memory(&m);
	duo_close(&d);
}

static bool write_last(struct mapping *m, int in, int out)
{
	await(in);
	return holds(m->memory, SIZE, 1);
}

/* On old kernels who writes first gets the copy, and loses the peer. */
static void parent_writes_first(enum page_kind kind, int access)
{
	struct child child;
	struct mapping m;
	struct duo d;

	duo_open(&d, NULL);
	map_memory(&m, kind, SIZE);
	fill(m.memory, SIZE, 1);
	open_region_for(&d, &m, 0, SIZE, access);
	child_begin(&child, &m, write_last);
	fill(m.memory, SIZE, 3);
	named(access & IBV_ACCESS_LOCAL_WRITE ?
	      "a parent that writes first keeps the peer (%s)" :
	      "also where the peer only reads (%s)", kind,
	      peer_reads(&d, m.mr, m.memory, SIZE, 3));
	tell(child.to);
	named("and its child has what was there (%s)", kind, child_end(&child));
	unmap_memory(&m);
	duo_close(&d);
}

static bool has_no_memory(struct mapping *m, int in, int out)
{
	errno = 0;
	return write(out, m->memory, 1) < 0 && errno == EFAULT;
}

static void not_inherited(enum page_kind kind)
{
	struct child child;
	struct mapping m;
	struct duo d;

	duo_open(&d, NULL);
	map_memory(&m, kind, SIZE);
	if (madvise(m.memory, SIZE, MADV_DONTFORK))
		die_errno(errno, "MADV_DONTFORK");
	open_region(&d, &m, 0, SIZE);
	child_begin(&child, &m, has_no_memory);
	named("with MADV_DONTFORK a child has no such memory (%s)", kind, child_end(&child));
	named("and the parent has it still (%s)", kind,
	      peer_writes(&d, m.mr, m.memory, SIZE, 4) && holds(m.memory, SIZE, 4));
	unmap_memory(&m);
	duo_close(&d);
}

#define TIMES	12
#define ROUNDS	10

static bool scribble(struct mapping *m, int in, int out)
{
	memset(m->memory, 0xee, m->length);
	return true;
}

/* The pages are copied, and their tables changed, while they are written to. */
static void fork_under_traffic(void)
{
	unsigned int round, i, complete = 0, arrived = 0;
	struct child child;
	struct ibv_wc wc;
	struct mapping m;
	struct duo d;

	duo_open(&d, NULL);
	map_memory(&m, PAGES_SMALL, BUF_SIZE);
	open_region(&d, &m, 0, BUF_SIZE);
	for (round = 1; round <= ROUNDS; round++) {
		fill(d.a.buf, BUF_SIZE, round);
		for (i = 0; i < TIMES; i++)
			post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge_of(&d.a, 0, BUF_SIZE),
				  (uintptr_t)m.memory, m.mr->rkey);
		child_begin(&child, &m, scribble);
		for (i = 0; i < TIMES; i++)
			complete += wait_wc(d.a.scq, &wc, PATIENCE_MS) && !wc.status;
		child_end(&child);
		arrived += holds(m.memory, BUF_SIZE, round);
	}
	tap_int("writes complete while the program has children", TIMES * ROUNDS, complete);
	tap_int("and arrive in the memory of the parent", ROUNDS, arrived);
	unmap_memory(&m);
	duo_close(&d);
}

struct legacy {
	uint64_t address;
	uint32_t handle, rkey;
};

static struct ibv_pd *heirs_pd;

static bool register_and_die(struct mapping *m, int in, int out)
{
	struct legacy legacy;
	struct ibv_mr *mr;

	fill(m->memory, m->length, 20);
	mr = ibv_reg_mr(heirs_pd, m->memory, m->length,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ);
	if (!mr)
		return false;
	legacy = (struct legacy) { (uintptr_t)m->memory, mr->handle, mr->rkey };
	return write(out, &legacy, sizeof(legacy)) == sizeof(legacy);
}

/* Both have the file of the device, and with it all objects. */
static void region_of_a_child(void)
{
	struct ibv_mr mr = { 0 };
	struct legacy legacy;
	struct child child;
	struct mapping m;
	struct duo d;

	duo_open(&d, NULL);
	heirs_pd = d.b.pd;
	map_memory(&m, PAGES_SMALL, SIZE);
	child_begin(&child, &m, register_and_die);
	if (read(child.from, &legacy, sizeof(legacy)) != sizeof(legacy))
		legacy = (struct legacy) { 0 };
	tap_true("a child registers its own memory", child_end(&child));
	mr.rkey = legacy.rkey;
	tap_true("the peer reads it when the child is dead",
		 peer_reads(&d, &mr, m.memory, SIZE, 20));
	tap_true("and writes to it, not to the parent's",
		 peer_writes(&d, &mr, m.memory, SIZE, 21) &&
		 peer_reads(&d, &mr, m.memory, SIZE, 21) && is_zero(m.memory, SIZE));
	tap_errno("the parent deregisters it", 0, dereg_handle(d.b.port->ctx, legacy.handle));
	unmap_memory(&m);
	duo_close(&d);
}

void test_fork(void)
{
	const int writable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	enum page_kind kind;

	reserve_huge_pages();
	for (kind = 0; kind < PAGES_KINDS; kind++) {
		child_writes_first(kind);
		parent_writes_first(kind, writable);
		parent_writes_first(kind, IBV_ACCESS_REMOTE_READ);
	}
	not_inherited(PAGES_SMALL);
	not_inherited(PAGES_HUGE);
	fork_under_traffic();
	region_of_a_child();
}
