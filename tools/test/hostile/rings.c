// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hostile_rings: a program that owns its rings and means no good. The queues'
 * memory is shared with the kernel (<rdma/rdma_user_rxe.h>), so everything in
 * it may change at any time into anything. Several threads scribble while the
 * doorbell rings; the kernel must neither crash nor hang, and a connection
 * of somebody else must go on working.
 *
 *	hostile_rings DEVICE GID_INDEX [--rounds N] [--threads N] [--seed N]
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util.h"
#include "rdma.h"
#include "user_rings.h"

#define BUF_SIZE 65536
#define MAX_PAUSE_US 300

static volatile bool stop;
static struct port port;
static uint64_t seed = 1;
static unsigned int rounds = 3000, threads = 2;

struct victim {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];	/* connected with each other */
	struct ibv_qp *ud;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	uint8_t *buf;
};

static struct ibv_qp *make_qp(struct victim *v, enum ibv_qp_type type,
			      uint32_t depth)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = v->cq,
		.recv_cq = v->cq,
		.cap = { .max_send_wr = depth, .max_recv_wr = depth,
			 .max_send_sge = 4, .max_recv_sge = 4 },
	};
	struct ibv_qp *qp = ibv_create_qp(v->pd, &init);

	if (!qp)
		die_errno(errno, "ibv_create_qp");
	return qp;
}

static struct path path_to(uint32_t qpn)
{
	return (struct path) {
		.gid = port.gid, .qpn = qpn, .mtu = 1024, .timeout = 8,
		.retry_cnt = 1, .rnr_retry = 1, .min_rnr_timer = 1,
		.rd_atomic = 4,
	};
}

/* Also after a reset: a hostile QP dies all the time. */
static void connect_qp(struct ibv_qp *qp, uint32_t qpn)
{
	const struct path path = path_to(qpn);

	qp_to_state(qp, IBV_QPS_RESET);
	if (qp_to_init(qp, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		       IBV_ACCESS_REMOTE_READ) ||
	    qp_to_rtr(qp, &port, &path) || qp_to_rts(qp, &path))
		return;		/* the QP is busy dying; the next round tries again */
}

static void connect_all(struct victim *v)
{
	connect_qp(v->qp[0], v->qp[1]->qp_num);
	connect_qp(v->qp[1], v->qp[0]->qp_num);
	connect_qp(v->ud, 0);
}

static void victim_create(struct victim *v)
{
	const struct path path = path_to(0);
	struct ibv_ah_attr attr;

	v->pd = ibv_alloc_pd(port.ctx);
	if (!v->pd)
		die_errno(errno, "ibv_alloc_pd");
	v->buf = aligned_alloc(4096, BUF_SIZE);
	v->mr = ibv_reg_mr(v->pd, v->buf, BUF_SIZE, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	fill_ah_attr(&attr, &port, &path);
	v->ah = ibv_create_ah(v->pd, &attr);
	record_rings();
	v->cq = ibv_create_cq(port.ctx, 63, NULL, NULL, 0);
	if (!v->mr || !v->ah || !v->cq)
		die_errno(errno, "MR, AH or CQ");
	v->qp[0] = make_qp(v, IBV_QPT_RC, 31);
	v->qp[1] = make_qp(v, IBV_QPT_RC, 31);
	/* More than is flushed in one go */
	v->ud = make_qp(v, IBV_QPT_UD, 255);
	record_rings_end();
	connect_all(v);
}

/* Whatever was done to the rings, the objects can be destroyed. */
static void victim_destroy(struct victim *v)
{
	int err;

	err = ibv_destroy_ah(v->ah) | ibv_destroy_qp(v->ud) |
	      ibv_destroy_qp(v->qp[0]) | ibv_destroy_qp(v->qp[1]) |
	      ibv_destroy_cq(v->cq) | ibv_dereg_mr(v->mr) |
	      ibv_dealloc_pd(v->pd);
	if (err)
		die("an object of the hostile process cannot be destroyed");
	free(v->buf);
}

static uint64_t interesting(uint64_t *rnd)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1023, 4095,
		4096, 65535, 65536, 0x7fffffff, 0x80000000, 0x80000001,
		0xfffffffe, 0xffffffff, 0x7fffffffffffffff, 0xfffffffffffff000,
		0xffff800000000000, 0xffffffffffffffff,
	};
	uint64_t r = next_random(rnd);

	return r & 1 ? r >> 8 : values[(r >> 8) % ARRAY_SIZE(values)];
}

/* A request that is right but for one thing: it gets far. */
static void craft_send(struct rxe_send_wqe *wqe, struct victim *v, uint64_t *rnd)
{
	uint64_t r = next_random(rnd);

	memset(wqe, 0, sizeof(*wqe) + 4 * sizeof(wqe->dma.sge[0]));
	wqe->wr.wr_id = r;
	wqe->wr.opcode = r % 5;
	wqe->wr.send_flags = IBV_SEND_SIGNALED;
	wqe->wr.wr.rdma.remote_addr = (uintptr_t)v->buf;
	wqe->wr.wr.rdma.rkey = v->mr->rkey;
	wqe->dma.num_sge = 1;
	wqe->dma.length = (r >> 8) % BUF_SIZE;
	wqe->dma.resid = wqe->dma.length;
	wqe->dma.sge[0].addr = (uintptr_t)v->buf;
	wqe->dma.sge[0].length = wqe->dma.length;
	wqe->dma.sge[0].lkey = v->mr->lkey;
	switch ((r >> 32) % 16) {
	case 0:
		wqe->wr.opcode = interesting(rnd);
		break;
	case 1:
		wqe->dma.num_sge = interesting(rnd);
		break;
	case 2:
		wqe->dma.length = interesting(rnd);
		break;
	case 3:
		wqe->dma.resid = interesting(rnd);
		break;
	case 4:
		wqe->dma.cur_sge = interesting(rnd);
		break;
	case 5:
		wqe->dma.sge_offset = interesting(rnd);
		break;
	case 6:
		wqe->dma.sge[0].length = interesting(rnd);
		break;
	case 7:
		wqe->dma.sge[0].lkey = interesting(rnd);
		break;
	case 8:
		wqe->dma.sge[0].addr = interesting(rnd);
		break;
	case 9:
		wqe->wr.send_flags |= IBV_SEND_INLINE;
		wqe->dma.length = interesting(rnd);
		break;
	case 10:
		wqe->wr.send_flags = interesting(rnd);
		break;
	case 11:
		wqe->wr.wr.ud.ah_num = interesting(rnd);
		break;
	case 12:
		wqe->wr.wr.rdma.remote_addr = interesting(rnd);
		break;
	case 13:
		wqe->state = interesting(rnd);
		wqe->status = interesting(rnd);
		wqe->mask = interesting(rnd);
		break;
	case 14:
		wqe->first_psn = interesting(rnd);
		wqe->last_psn = interesting(rnd);
		wqe->has_rd_atomic = interesting(rnd);
		break;
	default:
		break;		/* nothing is wrong with it */
	}
}

static uint32_t ring_mask(const struct user_ring *ring)
{
	/* The header may be scribbled over: go by the mapping's size. */
	uint32_t elem = 1u << (ring->buf->log2_elem_size & 15);
	uint32_t n = (ring->size - sizeof(*ring->buf)) / elem;

	for (; n & (n - 1);)
		n &= n - 1;
	return n ? n - 1 : 0;
}

static void post_crafted(struct victim *v, struct user_ring *ring, struct ibv_qp *qp,
			 uint64_t *rnd)
{
	uint32_t shift = ring->buf->log2_elem_size & 15;
	uint32_t mask = ring_mask(ring);
	uint32_t at = ring->buf->producer_index & mask;
	size_t offset = (size_t)at << shift;

	if (offset + 512 > ring->size - sizeof(*ring->buf))
		return;
	craft_send((void *)(ring->buf->data + offset), v, rnd);
	__atomic_store_n(&ring->buf->producer_index, (at + 1) & mask,
			 __ATOMIC_RELEASE);
	ring_doorbell(qp, 0, 0, sizeof(struct rxe_send_wqe));
}

static void scribble(struct user_ring *ring, uint64_t *rnd)
{
	uint64_t r = next_random(rnd);
	uint32_t *words = (uint32_t *)ring->buf;

	switch (r % 8) {
	case 0:
		ring->buf->producer_index = interesting(rnd);
		break;
	case 1:
		ring->buf->consumer_index = interesting(rnd);
		break;
	case 2:
		ring->buf->index_mask = interesting(rnd);
		break;
	case 3:
		ring->buf->log2_elem_size = interesting(rnd);
		break;
	default:
		words[(r >> 8) % (ring->size / 4)] = interesting(rnd);
	}
}

static void heal(struct user_ring *ring, const struct rxe_queue_buf *header)
{
	ring->buf->log2_elem_size = header->log2_elem_size;
	ring->buf->index_mask = header->index_mask;
	ring->buf->producer_index = 0;
	ring->buf->consumer_index = 0;
}

static void *scribbler(void *arg)
{
	uint64_t rnd = mix64(seed + 77 + (uintptr_t)arg);

	while (!stop) {
		scribble(&rings[next_random(&rnd) % nr_rings], &rnd);
		usleep(next_random(&rnd) % MAX_PAUSE_US);
	}
	return NULL;
}

/* From SQE to RTS, as soon as anything has failed, while more is being flushed. */
static void *reviver(void *arg)
{
	struct victim *v = arg;

	while (!stop) {
		qp_to_state(v->ud, IBV_QPS_RTS);
		usleep(MAX_PAUSE_US);
	}
	return NULL;
}

/* mmap order: the CQ, then the receive and send queue of each QP. */
static void attack(struct victim *v)
{
	struct ibv_qp *qps[] = { v->qp[0], v->qp[1], v->ud };
	struct rxe_queue_buf headers[MAX_RINGS];
	uint64_t rnd = mix64(seed);
	unsigned int i, k;

	for (i = 0; i < nr_rings; i++)
		headers[i] = *rings[i].buf;
	for (i = 0; i < rounds; i++) {
		k = next_random(&rnd) % 3;
		if (nr_rings == 7)
			post_crafted(v, &rings[2 + 2 * k], qps[k], &rnd);
		if (i % 7 == 0)
			ring_doorbell(qps[k], interesting(&rnd),
				      interesting(&rnd), interesting(&rnd));
		if (i % 5 == 0)
			ibv_req_notify_cq(v->cq, i & 1);
		if (i % 16 == 15) {
			connect_all(v);
			for (k = 0; k < nr_rings; k++)
				heal(&rings[k], &headers[k]);
		}
	}
}

static void *run_attack(void *arg)
{
	struct victim *v = arg;

	attack(v);
	return NULL;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rounds", 1, NULL, 'r' }, { "threads", 1, NULL, 't' },
		{ "seed", 1, NULL, 's' }, { }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			rounds = atoi(optarg);
		else if (c == 't')
			threads = min(atoi(optarg), 16);
		else if (c == 's')
			seed = atoll(optarg);
		else
			exit(2);
	}
	if (argc - optind != 2)
		die("usage: hostile_rings DEVICE GID_INDEX [--rounds N] [--threads N] [--seed N]");
	port_open(&port, argv[optind], atoi(argv[optind + 1]));
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	pthread_t scribblers[16], attacker, revives;
	struct victim v = { 0 };
	uintptr_t i;

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	parse(argc, argv);
	victim_create(&v);
	printf("hostile_rings: seed %lu, %u rounds, %u threads, %u rings\n",
	       seed, rounds, threads, nr_rings);
	fflush(stdout);
	if (nr_rings != 7)
		die("expected 7 rings (CQ, 3 x RQ and SQ), found %u", nr_rings);
	pthread_create(&attacker, NULL, run_attack, &v);
	pthread_create(&revives, NULL, reviver, &v);
	for (i = 0; i < threads; i++)
		pthread_create(&scribblers[i], NULL, scribbler, (void *)i);
	pthread_join(attacker, NULL);
	stop = true;
	pthread_join(revives, NULL);
	for (i = 0; i < threads; i++)
		pthread_join(scribblers[i], NULL);
	victim_destroy(&v);
	port_close(&port);
	puts("hostile_rings: everything could be destroyed");
	return 0;
}
