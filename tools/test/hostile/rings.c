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
#define REMOTE_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		       IBV_ACCESS_REMOTE_ATOMIC)

static volatile bool stop;
static struct port port;
static uint64_t seed = 1;
static unsigned int rounds = 3000, threads = 2;

/* RC and SRQ_RC are connected with each other, UC with itself. */
enum { RC, SRQ_RC, UC, UD, QPS };

struct victim {
	struct ibv_pd *pd, *other_pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp[QPS];
	struct user_ring *send_queue[QPS];
	struct ibv_ah *ah, *other_ah;
	uint32_t ah_number, other_ah_number;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint8_t *buf;
};

static unsigned int connections, connected;

static void make_qp(struct victim *v, unsigned int which, enum ibv_qp_type type,
		    struct ibv_srq *srq, uint32_t depth)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = v->cq,
		.recv_cq = v->cq,
		.srq = srq,
		.cap = { .max_send_wr = depth, .max_recv_wr = depth,
			 .max_send_sge = 4, .max_recv_sge = 4 },
	};

	v->qp[which] = ibv_create_qp(v->pd, &init);
	if (!v->qp[which])
		die_errno(errno, "ibv_create_qp");
	/* The last one that is mapped */
	v->send_queue[which] = &rings[nr_rings - 1];
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
	connections++;
	/* It may be busy dying; the next round tries again. */
	connected += !qp_to_init(qp, qp->qp_type == IBV_QPT_UD ? 0 :
				 IBV_ACCESS_LOCAL_WRITE | REMOTE_ACCESS) &&
		     !qp_to_rtr(qp, &port, &path) && !qp_to_rts(qp, &path);
}

static void connect_all(struct victim *v)
{
	connect_qp(v->qp[RC], v->qp[SRQ_RC]->qp_num);
	connect_qp(v->qp[SRQ_RC], v->qp[RC]->qp_num);
	connect_qp(v->qp[UC], v->qp[UC]->qp_num);
	connect_qp(v->qp[UD], 0);
}

/* The number by which the kernel knows an address handle, which librxe posts. */
static uint32_t number_of(struct ibv_ah *ah, struct victim *v)
{
	struct rxe_queue_buf *ring = v->send_queue[UD]->buf;
	uint32_t at = ring->producer_index;
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.wr.ud = { .ah = ah, .remote_qpn = v->qp[UD]->qp_num,
			   .remote_qkey = TEST_QKEY },
	};
	struct rxe_send_wqe *wqe;

	if (ibv_post_send(v->qp[UD], &wr, &bad))
		die("ibv_post_send");
	wqe = (void *)(ring->data + ((size_t)at << ring->log2_elem_size));
	return wqe->wr.wr.ud.ah_num;
}

static void make_objects(struct victim *v)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 31, .max_sge = 4 } };
	const struct path path = path_to(0);

	v->pd = ibv_alloc_pd(port.ctx);
	v->other_pd = ibv_alloc_pd(port.ctx);
	if (!v->pd || !v->other_pd)
		die_errno(errno, "ibv_alloc_pd");
	v->buf = aligned_alloc(4096, BUF_SIZE);
	v->mr = ibv_reg_mr(v->pd, v->buf, BUF_SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | REMOTE_ACCESS);
	v->mw = ibv_alloc_mw(v->pd, IBV_MW_TYPE_2);
	v->ah = ah_create(v->pd, &port, &path);
	v->other_ah = ah_create(v->other_pd, &port, &path);
	record_rings();
	v->cq = ibv_create_cq(port.ctx, 63, NULL, NULL, 0);
	v->srq = ibv_create_srq(v->pd, &init);
	if (!v->mr || !v->mw || !v->ah || !v->other_ah || !v->cq || !v->srq)
		die_errno(errno, "MR, MW, AH, CQ or SRQ");
	make_qp(v, RC, IBV_QPT_RC, NULL, 31);
	make_qp(v, SRQ_RC, IBV_QPT_RC, v->srq, 31);
	make_qp(v, UC, IBV_QPT_UC, NULL, 31);
	/* More than is flushed in one go */
	make_qp(v, UD, IBV_QPT_UD, NULL, 255);
	record_rings_end();
	/* One of the CQ and the SRQ, a send queue of each QP, receive queues of three */
	if (nr_rings != 2 + QPS + 3)
		die("expected 9 rings, found %u", nr_rings);
}

static void victim_create(struct victim *v)
{
	make_objects(v);
	connect_all(v);
	if (connected != QPS)
		die("the victims cannot be connected");
	v->ah_number = number_of(v->ah, v);
	v->other_ah_number = number_of(v->other_ah, v);
}

/* Whatever was done to the rings, the objects can be destroyed. */
static void victim_destroy(struct victim *v)
{
	int i, err = 0;

	for (i = 0; i < QPS; i++)
		err |= ibv_destroy_qp(v->qp[i]);
	err |= ibv_destroy_ah(v->ah) | ibv_destroy_ah(v->other_ah) |
	       ibv_destroy_cq(v->cq) | ibv_destroy_srq(v->srq) |
	       ibv_dealloc_mw(v->mw) | ibv_dereg_mr(v->mr) |
	       ibv_dealloc_pd(v->pd) | ibv_dealloc_pd(v->other_pd);
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

/* Where a request goes, by its opcode; of a datagram, by its QP. */
static void craft_target(struct rxe_send_wr *wr, struct victim *v, bool datagram,
			 uint64_t r)
{
	bool other = (r >> 40) % 8 == 0;

	if (datagram) {
		wr->wr.ud.remote_qpn = v->qp[UD]->qp_num;
		wr->wr.ud.remote_qkey = TEST_QKEY;
		wr->wr.ud.ah_num = other ? v->other_ah_number : v->ah_number;
		return;
	}
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = (uintptr_t)v->buf;
		wr->wr.atomic.rkey = v->mr->rkey;
		break;
	case IBV_WR_BIND_MW:
		wr->wr.mw.addr = (uintptr_t)v->buf;
		wr->wr.mw.length = BUF_SIZE;
		wr->wr.mw.mr_lkey = v->mr->lkey;
		wr->wr.mw.mw_rkey = v->mw->rkey;
		wr->wr.mw.rkey = v->mw->rkey + (r >> 44) % 4;
		wr->wr.mw.access = REMOTE_ACCESS;
		break;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_SEND_WITH_INV:
		wr->ex.invalidate_rkey = v->mw->rkey + (r >> 44) % 4;
		break;
	default:
		wr->wr.rdma.remote_addr = (uintptr_t)v->buf;
		wr->wr.rdma.rkey = v->mr->rkey;
	}
}

static uint32_t right_length(uint32_t opcode, bool datagram, uint64_t r)
{
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return 8;
	return (r >> 8) % (datagram ? 1024 : BUF_SIZE);
}

/* A request that is right but for one thing: it gets far. */
static void craft_send(struct rxe_send_wqe *wqe, struct victim *v, bool datagram,
		       uint64_t *rnd)
{
	uint64_t r = next_random(rnd);

	memset(wqe, 0, sizeof(*wqe) + 4 * sizeof(wqe->dma.sge[0]));
	wqe->wr.wr_id = r;
	/* Some of them nobody knows, or programs may not post. */
	wqe->wr.opcode = r % 16;
	wqe->wr.send_flags = IBV_SEND_SIGNALED;
	craft_target(&wqe->wr, v, datagram, r);
	wqe->dma.num_sge = 1;
	wqe->dma.length = right_length(wqe->wr.opcode, datagram, r);
	wqe->dma.resid = wqe->dma.length;
	wqe->dma.sge[0].addr = (uintptr_t)v->buf;
	wqe->dma.sge[0].length = wqe->dma.length;
	wqe->dma.sge[0].lkey = v->mr->lkey;
	switch ((r >> 32) % 32) {
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

static void post_crafted(struct victim *v, unsigned int which, uint64_t *rnd)
{
	struct user_ring *ring = v->send_queue[which];
	uint32_t shift = ring->buf->log2_elem_size & 15;
	uint32_t mask = ring_mask(ring);
	uint32_t at = ring->buf->producer_index & mask;
	size_t offset = (size_t)at << shift;

	if (offset + 512 > ring->size - sizeof(*ring->buf))
		return;
	craft_send((void *)(ring->buf->data + offset), v, which == UD, rnd);
	__atomic_store_n(&ring->buf->producer_index, (at + 1) & mask,
			 __ATOMIC_RELEASE);
	ring_doorbell(v->qp[which], 0, 0, sizeof(struct rxe_send_wqe));
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
		qp_to_state(v->qp[UD], IBV_QPS_RTS);
		usleep(MAX_PAUSE_US);
	}
	return NULL;
}

static void attack(struct victim *v)
{
	struct rxe_queue_buf headers[MAX_RINGS];
	uint64_t rnd = mix64(seed);
	unsigned int i, k;

	for (i = 0; i < nr_rings; i++)
		headers[i] = *rings[i].buf;
	for (i = 0; i < rounds; i++) {
		k = next_random(&rnd) % QPS;
		post_crafted(v, k, &rnd);
		if (i % 7 == 0)
			ring_doorbell(v->qp[k], interesting(&rnd),
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
	printf("hostile_rings: seed %lu, %u threads, %u rings\n",
	       seed, threads, nr_rings);
	printf("figure: %u rounds of hostile rings\n", rounds);
	fflush(stdout);
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
	printf("hostile_rings: QPs were connected %u of %u times\n", connected,
	       connections);
	if (connected < connections / 2)
		die("the victims were dead most of the time");
	puts("hostile_rings: everything could be destroyed");
	return 0;
}
