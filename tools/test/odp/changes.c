// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel takes pages, moves and copies them while messages come and go. Every byte
 * arrives, and none in a page that belongs to somebody else by now.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "odp.h"

#ifndef MADV_COLD
#define MADV_COLD	20
#define MADV_PAGEOUT	21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

static unsigned int rounds(void)
{
	const char *text = getenv("ROCE_ODP_ROUNDS");

	return text ? atoi(text) : 60;
}

/* --- What happens to memory --- */

struct part {
	uint8_t *start;
	size_t length;
};

static struct part random_part(const struct memory *memory, uint64_t *random)
{
	uint64_t first = next_random(random) % (MEMORY_SIZE / PAGE);
	uint64_t pages = 1 + next_random(random) % 64;

	return (struct part) {
		.start = memory->start + first * PAGE,
		.length = min(pages, MEMORY_SIZE / PAGE - first) * PAGE,
	};
}

static void take_pages(const struct memory *memory, uint64_t *random)
{
	struct part part = random_part(memory, random);

	madvise(part.start, part.length, MADV_DONTNEED);
}

static void protect(const struct memory *memory, uint64_t *random)
{
	struct part part = random_part(memory, random);

	mprotect(part.start, part.length, PROT_READ | PROT_WRITE | PROT_EXEC);
	mprotect(part.start, part.length, PROT_READ | PROT_WRITE);
}

static void swap_out(const struct memory *memory, uint64_t *random)
{
	struct part part = random_part(memory, random);

	madvise(part.start, part.length, next_random(random) & 1 ? MADV_PAGEOUT : MADV_COLD);
}

static void fork_child(const struct memory *memory, uint64_t *random)
{
	pid_t child = fork();

	if (child < 0)
		die_errno(errno, "fork");
	if (!child) {
		/* Its copy is its own. */
		memset(random_part(memory, random).start, 0xee, PAGE);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Huge pages come and are split. */
static void merge_and_split(const struct memory *memory, uint64_t *random)
{
	struct part part = random_part(memory, random);

	madvise(memory->start, MEMORY_SIZE, MADV_HUGEPAGE);
	madvise(memory->start, MEMORY_SIZE, MADV_COLLAPSE);
	madvise(part.start, PAGE, MADV_NOHUGEPAGE);
	mprotect(part.start, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	mprotect(part.start, PAGE, PROT_READ | PROT_WRITE);
}

static void compact(const struct memory *memory, uint64_t *random)
{
	int fd = open("/proc/sys/vm/compact_memory", O_WRONLY);

	if (fd >= 0 && write(fd, "1", 1) < 0)
		sleep_ms(1);
	if (fd >= 0)
		close(fd);
	take_pages(memory, random);
}

static void everything_shared(const struct memory *memory, uint64_t *random)
{
	static void (*const all[])(const struct memory *, uint64_t *) = {
		take_pages, protect, swap_out, compact,
	};

	all[next_random(random) % ARRAY_SIZE(all)](memory, random);
}

static const struct change {
	const char *name;
	void (*make)(const struct memory *memory, uint64_t *random);
	bool private;
} changes[] = {
	{ "MADV_DONTNEED", take_pages, false },
	{ "mprotect", protect, false },
	{ "swap, shared memory", swap_out, false },
	{ "compaction", compact, false },
	{ "all of these", everything_shared, false },
	{ "mprotect of private memory", protect, true },
	{ "swap, private memory", swap_out, true },
	{ "fork", fork_child, true },
	{ "huge pages merged and split", merge_and_split, true },
};

/* --- A thread that makes the changes --- */

struct disturber {
	const struct change *change;
	struct bench *bench;
	pthread_t thread;
	unsigned long made;
	bool stop;
};

static void *disturb(void *argument)
{
	struct disturber *disturber = argument;
	uint64_t random = 1;

	while (!__atomic_load_n(&disturber->stop, __ATOMIC_ACQUIRE)) {
		disturber->change->make(&disturber->bench->a, &random);
		disturber->change->make(&disturber->bench->b, &random);
		__atomic_add_fetch(&disturber->made, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void disturber_start(struct disturber *disturber)
{
	if (pthread_create(&disturber->thread, NULL, disturb, disturber))
		die("no thread");
}

static unsigned long disturber_made(struct disturber *disturber)
{
	return __atomic_load_n(&disturber->made, __ATOMIC_ACQUIRE);
}

static void disturber_stop(struct disturber *disturber)
{
	__atomic_store_n(&disturber->stop, true, __ATOMIC_RELEASE);
	pthread_join(disturber->thread, NULL);
}

/* --- Messages meanwhile --- */

/* One message of random place and length; only its bytes are written and compared. */
static bool moves_one(struct bench *bench, unsigned int number, uint64_t *random)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ,
	};
	enum ibv_wr_opcode opcode = opcodes[number % ARRAY_SIZE(opcodes)];
	uint32_t offset = next_random(random) % (MEMORY_SIZE - 300000);
	uint32_t length = 1 + next_random(random) % 300000, i;
	const struct memory *from = opcode == IBV_WR_RDMA_READ ? &bench->b : &bench->a;
	int status;

	for (i = 0; i < length; i++)
		from->view[offset + i] = mix64(number) >> (i % 57);
	status = bench_move(bench, opcode, offset, length);
	if (status)
		printf("# message %u: status %d\n", number, status);
	else if (!bench_is_moved(bench, offset, length))
		printf("# message %u: %u bytes at %u differ\n", number, length, offset);
	else
		return true;
	return false;
}

static void test_change(const struct change *change)
{
	struct bench bench;
	struct disturber disturber = { .change = change, .bench = &bench };
	uint64_t random = 2;
	unsigned int number = 0;
	bool right = true;
	char name[128];

	if (change->private)
		bench_open_private(&bench);
	else
		bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	disturber_start(&disturber);
	while (right && (number < rounds() || disturber_made(&disturber) < rounds()))
		right = moves_one(&bench, number++, &random);
	disturber_stop(&disturber);
	snprintf(name, sizeof(name), "every byte arrives: %s", change->name);
	tap_true(name, right);
	bench_close(&bench);
}

/* --- Other memory at the same place --- */

static void replace(struct memory *memory, int fd)
{
	if (mmap(memory->start, MEMORY_SIZE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, fd, 0) != memory->start)
		die_errno(errno, "mmap in place");
}

static void test_replacement(void)
{
	struct bench bench;
	int other = memfd_create("odp", MFD_CLOEXEC);
	uint8_t *seen;

	if (other < 0 || ftruncate(other, MEMORY_SIZE))
		die_errno(errno, "memfd_create");
	seen = mmap(NULL, MEMORY_SIZE, PROT_READ, MAP_SHARED, other, 0);
	bench_open(&bench, IBV_QPT_RC, EXPLICIT);
	memset(bench.a.view, 1, MEMORY_SIZE);
	tap_int("a WRITE before other memory is mapped there", 0,
		bench_move(&bench, IBV_WR_RDMA_WRITE, 0, 100000));
	replace(&bench.b, other);
	memset(bench.a.view, 2, MEMORY_SIZE);
	tap_int("a WRITE after it", 0, bench_move(&bench, IBV_WR_RDMA_WRITE, 0, 100000));
	tap_true("goes to the other memory", seen[0] == 2 && seen[99999] == 2);
	tap_true("and not to what was there before",
		 bench.b.view[0] == 1 && bench.b.view[99999] == 1);
	munmap(seen, MEMORY_SIZE);
	close(other);
	bench_close(&bench);
}

/* MADV_FREE makes pages clean: the next write of the device must make them dirty. */
static void test_freed(void)
{
	struct bench bench;

	bench_open_private(&bench);
	memset(bench.a.start, 1, MEMORY_SIZE);
	memset(bench.b.start, 2, MEMORY_SIZE);
	madvise(bench.b.start, MEMORY_SIZE, MADV_FREE);
	tap_int("a WRITE to memory that may be freed", 0,
		bench_move(&bench, IBV_WR_RDMA_WRITE, 0, MEMORY_SIZE / 2));
	madvise(bench.b.start, MEMORY_SIZE, MADV_PAGEOUT);
	tap_true("keeps it", bench_is_moved(&bench, 0, MEMORY_SIZE / 2));
	bench_close(&bench);
}

void test_changes(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(changes); i++)
		test_change(&changes[i]);
	test_replacement();
	test_freed();
}
