// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests, receives and completions. */
#include <poll.h>
#include <string.h>

#include "storm.h"

#define LONGEST	8192	/* of a message */
#define LIST	4	/* requests that are posted at once */

/* A request, and the objects that it is made of until it is posted */
struct request {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct object *used[4];
	unsigned int nr_used;
};

static void *use(struct request *request, struct object *object)
{
	if (!object)
		return NULL;
	request->used[request->nr_used++] = object;
	return object->verbs;
}

static void let_go(struct request *request)
{
	while (request->nr_used)
		object_put(request->used[--request->nr_used]);
}

/* An MR or MW, of that PD if one is soon found; any other one is for errors. */
static struct object *get_in_pd(unsigned int side, enum kind kind, const struct ibv_pd *pd)
{
	struct object *object;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		object = object_get(side, kind);
		if (object && object->parent == (uintptr_t)pd)
			return object;
		if (object)
			object_put(object);
	}
	return object_get(side, kind);
}

static uint32_t some_length(const struct ibv_mr *mr)
{
	return min(mr->length, below(below(8) ? 1500 : LONGEST));
}

static void fill_sge(struct ibv_sge *sge, const struct ibv_mr *mr)
{
	sge->length = some_length(mr);
	sge->addr = (uintptr_t)mr->addr + below(mr->length - sge->length + 1);
	sge->lkey = mr->lkey;
}

/* --- what is sent --- */

static struct ibv_mw *use_window(struct request *request, unsigned int side)
{
	return use(request, object_get(side, MW));
}

/* At the other side; of any PD. Some go through a window, some nowhere. */
static void fill_target(struct request *request, unsigned int side)
{
	struct ibv_mr *mr = use(request, object_get(!side, MR));
	struct ibv_mw *mw = below(4) ? NULL : use_window(request, !side);
	uint32_t length = request->sge.length;
	uint64_t addr;
	uint32_t rkey;

	if (!mr || mr->length <= length)
		return;
	/* Aligned, for the atomic ones. */
	addr = ((uintptr_t)mr->addr + below(mr->length - length) + 7) & ~7ul;
	rkey = mw ? mw->rkey : below(32) ? mr->rkey : below(~0u);
	if (request->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    request->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		request->sge.length = 8;
		request->wr.wr.atomic.remote_addr = addr;
		request->wr.wr.atomic.rkey = rkey;
	} else {
		request->wr.wr.rdma.remote_addr = addr;
		request->wr.wr.rdma.rkey = rkey;
	}
}

static void fill_bind(struct request *request, unsigned int side, struct ibv_mr *mr,
		      const struct ibv_pd *pd)
{
	struct ibv_mw *mw = use(request, get_in_pd(side, MW, pd));

	if (!mw)
		return;
	request->wr.opcode = IBV_WR_BIND_MW;
	request->wr.bind_mw.mw = mw;
	request->wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	request->wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {
		.mr = mr,
		.addr = (uintptr_t)mr->addr,
		.length = mr->length,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	request->wr.num_sge = 0;
}

/* It was posted. If it fails, the key is one that is refused from now on. */
static void note_bind(struct request *request)
{
	if (request->wr.opcode == IBV_WR_BIND_MW)
		request->wr.bind_mw.mw->rkey = request->wr.bind_mw.rkey;
}

static void fill_invalidation(struct request *request, unsigned int side,
			      enum ibv_wr_opcode opcode)
{
	struct ibv_mw *mw = use_window(request, side);

	if (!mw)
		return;
	request->wr.opcode = opcode;
	request->wr.invalidate_rkey = mw->rkey;
	if (opcode == IBV_WR_LOCAL_INV)
		request->wr.num_sge = 0;
}

static void fill_datagram(struct request *request, unsigned int side)
{
	struct ibv_ah *ah = use(request, object_get(side, AH));

	request->sge.length = min(request->sge.length, 1024);
	request->wr.wr.ud.ah = ah;
	request->wr.wr.ud.remote_qpn = below(8) ? some_qpn(!side) : 0xffffff;
	request->wr.wr.ud.remote_qkey = TEST_QKEY;
}

static void fill_connected(struct request *request, unsigned int side,
			   const struct ibv_qp *qp, struct ibv_mr *mr)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_BIND_MW, IBV_WR_LOCAL_INV, IBV_WR_SEND_WITH_INV,
	};
	enum ibv_wr_opcode opcode = opcodes[below(ARRAY_SIZE(opcodes))];

	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		request->wr.opcode = opcode;
		break;
	case IBV_WR_BIND_MW:
		fill_bind(request, side, mr, qp->pd);
		break;
	case IBV_WR_LOCAL_INV:
		fill_invalidation(request, side, opcode);
		break;
	case IBV_WR_SEND_WITH_INV:
		fill_invalidation(request, !side, opcode);
		break;
	default:
		request->wr.opcode = opcode;
		fill_target(request, side);
	}
}

/* False if there is nothing to make a request of. */
static bool fill_request(struct request *request, unsigned int side,
			 const struct ibv_qp *qp)
{
	struct ibv_mr *mr;

	memset(request, 0, sizeof(*request));
	mr = use(request, get_in_pd(side, MR, qp->pd));
	if (!mr)
		return false;
	fill_sge(&request->sge, mr);
	request->wr.sg_list = &request->sge;
	request->wr.num_sge = 1;
	request->wr.opcode = IBV_WR_SEND;
	if (qp->qp_type == IBV_QPT_UD)
		fill_datagram(request, side);
	else
		fill_connected(request, side, qp, mr);
	request->wr.send_flags = (below(4) ? IBV_SEND_SIGNALED : 0) |
				 (below(8) ? 0 : IBV_SEND_FENCE) |
				 (below(4) ? 0 : IBV_SEND_SOLICITED);
	return qp->qp_type != IBV_QPT_UD || request->wr.wr.ud.ah;
}

static void bind(unsigned int side, struct ibv_qp *qp)
{
	struct object *region = get_in_pd(side, MR, qp->pd);
	struct object *window = object_get(side, MW);
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };
	struct ibv_mr *mr;

	if (region && window) {
		mr = region->verbs;
		bind.bind_info = (struct ibv_mw_bind_info) {
			.mr = mr,
			.addr = (uintptr_t)mr->addr,
			.length = mr->length,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		};
		ibv_bind_mw(qp, window->verbs, &bind);
	}
	if (region)
		object_put(region);
	if (window)
		object_put(window);
}

/* Few windows are as a request alone wants them. */
static void bind_and_invalidate(unsigned int side, struct ibv_qp *qp)
{
	struct request request = { .wr = { .send_flags = IBV_SEND_SIGNALED } };
	struct ibv_send_wr second = {
		.opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_mr *mr = use(&request, get_in_pd(side, MR, qp->pd));

	if (mr)
		fill_bind(&request, side, mr, qp->pd);
	if (request.wr.opcode == IBV_WR_BIND_MW) {
		second.invalidate_rkey = request.wr.bind_mw.rkey;
		request.wr.next = &second;
		tried(POST_SEND, !ibv_post_send(qp, &request.wr, &bad));
		note_bind(&request);
	}
	let_go(&request);
}

static void post_list(unsigned int side, struct ibv_qp *qp)
{
	struct request requests[LIST];
	struct ibv_send_wr *bad;
	unsigned int i, n = 0, most = 1 + below(LIST);

	for (i = 0; i < most; i++) {
		if (!fill_request(&requests[i], side, qp))
			break;
		if (n++)
			requests[i - 1].wr.next = &requests[i].wr;
	}
	if (n)
		tried(POST_SEND, !ibv_post_send(qp, &requests[0].wr, &bad));
	for (i = 0; i < n; i++)
		note_bind(&requests[i]);
	for (i = 0; i < min(n + 1, most); i++)
		let_go(&requests[i]);
}

void send_some(unsigned int side)
{
	struct object *object = object_get(side, QP);

	if (!object)
		return;
	switch (below(8)) {
	case 0:
		bind(side, object->verbs);
		break;
	case 1:
		bind_and_invalidate(side, object->verbs);
		break;
	default:
		post_list(side, object->verbs);
	}
	object_put(object);
}

/* --- what is received --- */

static void post_receive(struct ibv_qp *qp, const struct ibv_mr *mr)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	fill_sge(&sge, mr);
	sge.addr = (uintptr_t)mr->addr;
	sge.length = mr->length;
	tried(POST_RECV, !ibv_post_recv(qp, &wr, &bad));
}

static void receive_of_qp(unsigned int side)
{
	struct object *object = object_get(side, QP), *region;
	struct ibv_qp *qp;

	if (!object)
		return;
	qp = object->verbs;
	region = get_in_pd(side, MR, qp->pd);
	if (region && !qp->srq)
		post_receive(qp, region->verbs);
	if (region)
		object_put(region);
	object_put(object);
}

static void receive_of_srq(unsigned int side)
{
	struct object *object = object_get(side, SRQ), *region = NULL;
	struct ibv_recv_wr wr = { .num_sge = 1 }, *bad;
	struct ibv_srq *srq;
	struct ibv_sge sge;
	struct ibv_mr *mr;

	if (!object)
		return;
	srq = object->verbs;
	region = get_in_pd(side, MR, srq->pd);
	if (region && !pthread_mutex_trylock(&object->alone)) {
		mr = region->verbs;
		sge = (struct ibv_sge){ (uintptr_t)mr->addr, mr->length, mr->lkey };
		wr.sg_list = &sge;
		tried(POST_SRQ, !ibv_post_srq_recv(srq, &wr, &bad));
		pthread_mutex_unlock(&object->alone);
	}
	if (region)
		object_put(region);
	object_put(object);
}

void receive_some(unsigned int side)
{
	if (below(4))
		receive_of_qp(side);
	else
		receive_of_srq(side);
}

/* --- what comes of it --- */

static enum operation operation_of(unsigned int side, enum ibv_wc_opcode opcode)
{
	switch (opcode) {
	case IBV_WC_RDMA_WRITE:
		return DONE_WRITE;
	case IBV_WC_RDMA_READ:
		return DONE_READ;
	case IBV_WC_COMP_SWAP:
	case IBV_WC_FETCH_ADD:
		return DONE_ATOMIC;
	case IBV_WC_BIND_MW:
		return DONE_BIND;
	case IBV_WC_LOCAL_INV:
		return DONE_INVALIDATE;
	case IBV_WC_RECV:
	case IBV_WC_RECV_RDMA_WITH_IMM:
		return side ? DONE_RECV_B : DONE_RECV_A;
	default:
		return DONE_SEND;
	}
}

static void poll_all(unsigned int side, struct ibv_cq *cq)
{
	struct ibv_wc wcs[16];
	int i, n = ibv_poll_cq(cq, ARRAY_SIZE(wcs), wcs);

	for (i = 0; i < n; i++)
		tried(wcs[i].status ? DONE_ERROR : operation_of(side, wcs[i].opcode), true);
}

void poll_some(unsigned int side)
{
	struct object *object = object_get(side, CQ);

	if (!object)
		return;
	if (!pthread_mutex_trylock(&object->alone)) {
		poll_all(side, object->verbs);
		pthread_mutex_unlock(&object->alone);
	}
	object_put(object);
}

void arm(unsigned int side)
{
	struct object *object = object_get(side, CQ);

	if (!object)
		return;
	tried(NOTIFY_CQ, !ibv_req_notify_cq(object->verbs, below(4) == 0));
	object_put(object);
}

static void take_completion_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(channel, &cq, &context))
		return;
	ibv_ack_cq_events(cq, 1);
	tried(EVENT, true);
}

static void take_async_event(struct ibv_context *ctx)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(ctx, &event))
		return;
	ibv_ack_async_event(&event);
	tried(ASYNC, true);
}

void take_events(unsigned int side)
{
	struct pollfd fds[] = {
		{ .fd = sides[side].channel->fd, .events = POLLIN },
		{ .fd = sides[side].port.ctx->async_fd, .events = POLLIN },
	};

	if (poll(fds, ARRAY_SIZE(fds), 20) <= 0)
		return;
	if (fds[0].revents & POLLIN)
		take_completion_event(sides[side].channel);
	if (fds[1].revents & POLLIN)
		take_async_event(sides[side].port.ctx);
}
