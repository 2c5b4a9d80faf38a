// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "odp.h"

struct ibv_mr *memory_register(const struct memory *memory, struct ibv_pd *pd,
			       enum kind kind)
{
	int rights = RIGHTS | IBV_ACCESS_ON_DEMAND;

	return kind == IMPLICIT ? ibv_reg_mr(pd, NULL, SIZE_MAX, rights) :
				  ibv_reg_mr(pd, memory->start, MEMORY_SIZE, rights);
}

static void must_register(struct memory *memory, struct ibv_pd *pd, enum kind kind)
{
	memory->mr = memory_register(memory, pd, kind);
	if (!memory->mr)
		die_errno(errno, "ibv_reg_mr on demand");
}

static uint8_t *map(int flags, int fd)
{
	uint8_t *start = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (start == MAP_FAILED)
		die_errno(errno, "mmap");
	return start;
}

void memory_open(struct memory *memory, struct ibv_pd *pd, enum kind kind)
{
	memory->fd = memfd_create("odp", MFD_CLOEXEC);
	if (memory->fd < 0 || ftruncate(memory->fd, MEMORY_SIZE))
		die_errno(errno, "memfd_create");
	memory->start = map(MAP_SHARED, memory->fd);
	memory->view = map(MAP_SHARED, memory->fd);
	must_register(memory, pd, kind);
}

void memory_open_private(struct memory *memory, struct ibv_pd *pd)
{
	memory->fd = -1;
	memory->start = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memory->view = memory->start;
	must_register(memory, pd, EXPLICIT);
}

void memory_close(struct memory *memory)
{
	if (memory->mr && ibv_dereg_mr(memory->mr))
		die_errno(errno, "ibv_dereg_mr");
	munmap(memory->start, MEMORY_SIZE);
	if (memory->fd < 0)
		return;
	munmap(memory->view, MEMORY_SIZE);
	close(memory->fd);
}

void memory_cool(const struct memory *memory)
{
	if (madvise(memory->start, MEMORY_SIZE, MADV_DONTNEED))
		die_errno(errno, "madvise");
}

void memory_protect(const struct memory *memory, int protection)
{
	if (mprotect(memory->start + MEMORY_SIZE / 2, MEMORY_SIZE / 2, protection))
		die_errno(errno, "mprotect");
}

void memory_fill(const struct memory *memory, uint64_t seed)
{
	uint64_t *word = (uint64_t *)memory->view;
	size_t i;

	for (i = 0; i < MEMORY_SIZE / sizeof(*word); i++)
		word[i] = mix64(seed + i * RANDOM_STEP);
}

struct ibv_sge memory_sge(const struct memory *memory, uint32_t offset, uint32_t length)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)memory->start + offset,
		.length = length,
		.lkey = memory->mr->lkey,
	};
}

static void allow_atomics(struct end *end)
{
	struct ibv_qp_attr attr = { .qp_access_flags = RIGHTS };

	if (end->qp->qp_type != IBV_QPT_UD &&
	    ibv_modify_qp(end->qp, &attr, IBV_QP_ACCESS_FLAGS))
		die("no remote atomics");
}

static void open_duo(struct bench *bench, enum ibv_qp_type type)
{
	memset(bench, 0, sizeof(*bench));
	/* On a busy host a page may take seconds, while all memory is compacted. */
	duo_open(&bench->duo, &(struct duo_options){ .type = type, .timeout = 20 });
	allow_atomics(&bench->duo.a);
	allow_atomics(&bench->duo.b);
}

void bench_open(struct bench *bench, enum ibv_qp_type type, enum kind kind)
{
	open_duo(bench, type);
	memory_open(&bench->a, bench->duo.a.pd, kind);
	memory_open(&bench->b, bench->duo.b.pd, kind);
}

void bench_open_private(struct bench *bench)
{
	open_duo(bench, IBV_QPT_RC);
	memory_open_private(&bench->a, bench->duo.a.pd);
	memory_open_private(&bench->b, bench->duo.b.pd);
}

void bench_close(struct bench *bench)
{
	memory_close(&bench->a);
	memory_close(&bench->b);
	duo_close(&bench->duo);
}

static bool takes_receive(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

int bench_move(struct bench *bench, enum ibv_wr_opcode opcode, uint32_t offset,
	       uint32_t length)
{
	struct duo *d = &bench->duo;
	struct ibv_sge from = memory_sge(&bench->a, offset, length);
	struct ibv_sge to = memory_sge(&bench->b, offset, length);
	bool datagram = d->a.qp->qp_type == IBV_QPT_UD;
	struct ibv_wc wc;

	if (datagram) {
		to.addr -= 40;
		to.length += 40;
	}
	if (takes_receive(opcode) && post_recv(&d->b, 1, to))
		die("ibv_post_recv");
	if (opcode == IBV_WR_SEND ? post_send(&d->a, 2, from, 0) :
	    post_rdma(d, opcode, 2, from, to.addr, bench->b.mr->rkey))
		die("ibv_post_send");
	if (!wait_wc(d->a.scq, &wc, PATIENCE_MS))
		return -1;
	if (wc.status || !takes_receive(opcode))
		return wc.status;
	return wait_wc(d->b.rcq, &wc, PATIENCE_MS) ? (int)wc.status : -1;
}

bool bench_is_moved(const struct bench *bench, uint32_t offset, uint32_t length)
{
	return !memcmp(bench->a.view + offset, bench->b.view + offset, length);
}
