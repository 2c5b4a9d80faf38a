// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Those who are attacked: a QP of each service in each state, all connected
 * with a peer that is not there, and memory of which only one region may be
 * written to.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flood.h"

#define PAGE		4096
#define PAGES		16
#define DEPTH		16
#define CQ_SIZE		255
#define PEER_QPN	0x123456
#define RIGHTS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

#define MAX_VICTIMS	32

struct victim victims[MAX_VICTIMS];
unsigned int nr_victims;
struct ibv_mr *regions[REGIONS];

static struct port *port;
static struct path path;
static struct ibv_pd *pd, *other_pd;
static uint8_t *memory;

/* Pages of each region, and one before and after each that nobody opens */
static const struct {
	int page, pages, access;
} layout[REGIONS] = {
	[OPEN_REGION] = { 1, OPEN_SIZE / PAGE, RIGHTS },
	[LOCAL_REGION] = { 5, 1, IBV_ACCESS_LOCAL_WRITE },
	[FOREIGN_REGION] = { 8, 1, RIGHTS },
	[SECRET_REGION] = { 11, 4, RIGHTS },
};

bool is_victim(uint32_t qpn)
{
	unsigned int i;

	for (i = 0; i < nr_victims; i++)
		if (victims[i].qp->qp_num == qpn)
			return true;
	return false;
}

bool victims_unharmed(void)
{
	size_t i;

	for (i = 0; i < PAGES * PAGE; i++) {
		if (i / PAGE == (size_t)layout[OPEN_REGION].page)
			i += OPEN_SIZE;
		if (memory[i]) {
			printf("byte %zu of page %zu was written to\n",
			       i % PAGE, i / PAGE);
			return false;
		}
	}
	return true;
}

static void post_receives(struct victim *v)
{
	struct ibv_mr *mr = regions[OPEN_REGION];
	struct ibv_sge sge = {
		.addr = (uintptr_t)mr->addr, .length = 2048, .lkey = mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	while (!ibv_post_recv(v->qp, &wr, &bad))
		;
}

/* Something to be acknowledged, and there is nobody who would. */
static void post_request(struct victim *v)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	static unsigned int turn;
	struct ibv_mr *mr = regions[OPEN_REGION];
	enum ibv_wr_opcode opcode = opcodes[turn++ % ARRAY_SIZE(opcodes)];
	struct ibv_sge sge = {
		.addr = (uintptr_t)mr->addr, .lkey = mr->lkey,
		.length = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 3000,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = 4096, .rkey = 0x1234 },
	}, *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = 4096;
		wr.wr.atomic.rkey = 0x1234;
	}
	ibv_post_send(v->qp, &wr, &bad);
}

static int bring(struct victim *v)
{
	enum ibv_qp_state state = v->state;

	if (qp_to_state(v->qp, IBV_QPS_RESET))
		return errno;
	if (state == IBV_QPS_RESET)
		return 0;
	if (qp_to_init(v->qp, RIGHTS))
		return errno;
	post_receives(v);
	if (state == IBV_QPS_INIT)
		return 0;
	if (qp_to_rtr(v->qp, port, &path))
		return errno;
	if (state == IBV_QPS_RTR)
		return 0;
	if (qp_to_rts(v->qp, &path))
		return errno;
	return state == IBV_QPS_RTS ? 0 : qp_to_state(v->qp, state);
}

static void drain_events(void)
{
	struct pollfd pfd = { .fd = port->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (poll(&pfd, 1, 0) > 0 && !ibv_get_async_event(port->ctx, &event))
		ibv_ack_async_event(&event);
}

void victim_keep(struct victim *v)
{
	struct ibv_wc wc[32];
	int err;

	while (ibv_poll_cq(v->cq, ARRAY_SIZE(wc), wc) > 0)
		;
	if (qp_state(v->qp) != v->state) {
		drain_events();
		err = bring(v);
		if (err)
			die_errno(err, "QP %u does not get to %s", v->qp->qp_num,
				  qp_state_str(v->state));
	}
	if (v->state != IBV_QPS_RESET && v->state != IBV_QPS_ERR)
		post_receives(v);
	if (v->state == IBV_QPS_RTS && v->qp->qp_type == IBV_QPT_RC)
		post_request(v);
}

static void victim_create(enum ibv_qp_type type, enum ibv_qp_state state)
{
	struct victim *v = &victims[nr_victims];
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	v->state = state;
	v->cq = ibv_create_cq(port->ctx, CQ_SIZE, NULL, NULL, 0);
	init.send_cq = v->cq;
	init.recv_cq = v->cq;
	v->qp = ibv_create_qp(pd, &init);
	if (!v->cq || !v->qp)
		die_errno(errno, "CQ or QP");
	nr_victims++;
	victim_keep(v);
}

static void regions_create(void)
{
	int i;

	memory = aligned_alloc(PAGE, PAGES * PAGE);
	memset(memory, 0, PAGES * PAGE);
	for (i = 0; i < REGIONS; i++) {
		regions[i] = ibv_reg_mr(i == FOREIGN_REGION ? other_pd : pd,
					memory + layout[i].page * PAGE,
					layout[i].pages * PAGE, layout[i].access);
		if (!regions[i])
			die_errno(errno, "ibv_reg_mr");
	}
}

void victims_create(struct port *at, const union ibv_gid *peer)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	static const enum ibv_qp_state states[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
		IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR,
	};
	unsigned int i, k;

	port = at;
	path = (struct path) {
		.gid = *peer, .qpn = PEER_QPN, .rq_psn = VICTIM_PSN,
		.sq_psn = VICTIM_PSN, .mtu = VICTIM_MTU, .retry_cnt = 7,
		.rnr_retry = 7, .min_rnr_timer = 1, .rd_atomic = 4,
	};
	pd = ibv_alloc_pd(port->ctx);
	other_pd = ibv_alloc_pd(port->ctx);
	if (!pd || !other_pd)
		die_errno(errno, "ibv_alloc_pd");
	regions_create();
	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (k = 0; k < ARRAY_SIZE(states); k++)
			victim_create(types[i], states[k]);
}

void victims_destroy(void)
{
	int i, err = 0;

	while (nr_victims--)
		err |= ibv_destroy_qp(victims[nr_victims].qp) |
		       ibv_destroy_cq(victims[nr_victims].cq);
	for (i = 0; i < REGIONS; i++)
		err |= ibv_dereg_mr(regions[i]);
	err |= ibv_dealloc_pd(pd) | ibv_dealloc_pd(other_pd);
	if (err)
		die("an object of the victims cannot be destroyed");
	free(memory);
}
