// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Objects come, change and go. */
#include <stdio.h>

#include "../verbs/verbs.h"
#include "storm.h"

#define ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
			 IBV_ACCESS_MW_BIND)

/* References to what a new object is made of */
struct parts {
	struct object *pd, *scq, *rcq, *srq;
};

static void *verbs_of(struct object *object)
{
	return object ? object->verbs : NULL;
}

static void put(struct object *object)
{
	if (object)
		object_put(object);
}

/* --- they come --- */

static void *new_pd(unsigned int side)
{
	return ibv_alloc_pd(sides[side].port.ctx);
}

static void *new_cq(unsigned int side)
{
	return ibv_create_cq(sides[side].port.ctx, 16 + below(240), NULL,
			     sides[side].channel, 0);
}

static void *new_mr(unsigned int side, struct ibv_pd *pd)
{
	size_t length = 1 + below(MEMORY / 2), offset = below(MEMORY - length);

	return ibv_reg_mr(pd, memory[side] + offset, length, ALL_ACCESS);
}

static void *new_mw(unsigned int side, struct ibv_pd *pd)
{
	return ibv_alloc_mw(pd, below(2) ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
}

static void *new_srq(unsigned int side, struct ibv_pd *pd)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 8 + below(56), .max_sge = 1 + below(2) },
	};

	return ibv_create_srq(pd, &init);
}

static void fill_path(struct path *path, unsigned int side, uint32_t qpn)
{
	const struct port *here = &sides[side].port, *there = &sides[!side].port;

	*path = (struct path) {
		.gid = there->gid,
		.qpn = qpn,
		.rq_psn = below(1 << 24),
		.sq_psn = below(1 << 24),
		.mtu = min(mtu_bytes(here->attr.active_mtu),
			   mtu_bytes(there->attr.active_mtu)) >> below(2),
		.timeout = 8 + below(6),
		.retry_cnt = below(8),
		.rnr_retry = below(8),
		.min_rnr_timer = 1 + below(8),
		.rd_atomic = 1 + below(4),
	};
}

static void *new_ah(unsigned int side, struct ibv_pd *pd)
{
	struct path path;

	fill_path(&path, side, 0);
	return ah_create(pd, &sides[side].port, &path);
}

/* Most connected QPs have their own receive queue. */
static void *new_qp(unsigned int side, enum ibv_qp_type type, struct ibv_pd *pd)
{
	struct parts parts = {
		.scq = object_get(side, CQ),
		.rcq = object_get(side, CQ),
		.srq = below(3) ? NULL : object_get(side, SRQ),
	};
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = verbs_of(parts.scq),
		.recv_cq = verbs_of(parts.rcq),
		.srq = verbs_of(parts.srq),
		.cap = {
			.max_send_wr = 4 + below(28), .max_recv_wr = 4 + below(28),
			.max_send_sge = 1 + below(2), .max_recv_sge = 1 + below(2),
			.max_inline_data = 64,
		},
	};
	struct ibv_qp *qp = parts.scq && parts.rcq ? ibv_create_qp(pd, &init) : NULL;

	put(parts.scq);
	put(parts.rcq);
	put(parts.srq);
	if (qp)
		board->qpns[side][below(BOARD)] = qp->qp_num;
	return qp;
}

static void *new_rc(unsigned int side, struct ibv_pd *pd)
{
	return new_qp(side, IBV_QPT_RC, pd);
}

static void *new_uc(unsigned int side, struct ibv_pd *pd)
{
	return new_qp(side, IBV_QPT_UC, pd);
}

static void *new_ud(unsigned int side, struct ibv_pd *pd)
{
	return new_qp(side, IBV_QPT_UD, pd);
}

static const struct birth {
	enum operation what;
	enum kind kind;
	void *(*alone)(unsigned int side);
	void *(*in_pd)(unsigned int side, struct ibv_pd *pd);
} births[] = {
	{ ALLOC_PD, PD, .alone = new_pd },
	{ CREATE_CQ, CQ, .alone = new_cq },
	{ REG_MR, MR, .in_pd = new_mr },
	{ ALLOC_MW, MW, .in_pd = new_mw },
	{ CREATE_SRQ, SRQ, .in_pd = new_srq },
	{ CREATE_AH, AH, .in_pd = new_ah },
	{ CREATE_RC, QP, .in_pd = new_rc },
	{ CREATE_RC, QP, .in_pd = new_rc },
	{ CREATE_UC, QP, .in_pd = new_uc },
	{ CREATE_UD, QP, .in_pd = new_ud },
};

void come(unsigned int side)
{
	const struct birth *birth = &births[below(ARRAY_SIZE(births))];
	struct object *room = object_room(side, birth->kind);
	struct object *pd = NULL;
	void *verbs = NULL;

	if (!room)
		return;
	if (birth->in_pd)
		pd = object_get(side, PD);
	if (pd)
		verbs = birth->in_pd(side, pd->verbs);
	else if (birth->alone)
		verbs = birth->alone(side);
	room->parent = (uintptr_t)verbs_of(pd);
	tried(birth->what, object_fill(room, verbs));
	put(pd);
}

/* --- they go --- */

static int end_pd(void *verbs)
{
	return ibv_dealloc_pd(verbs);
}

static int end_cq(void *verbs)
{
	return ibv_destroy_cq(verbs);
}

static int end_mr(void *verbs)
{
	return ibv_dereg_mr(verbs);
}

static int end_mw(void *verbs)
{
	return ibv_dealloc_mw(verbs);
}

static int end_srq(void *verbs)
{
	return ibv_destroy_srq(verbs);
}

static int end_ah(void *verbs)
{
	return ibv_destroy_ah(verbs);
}

static int end_qp(void *verbs)
{
	return ibv_destroy_qp(verbs);
}

static const struct death {
	enum operation what;
	int (*end)(void *verbs);
} deaths[KINDS] = {
	[PD] = { DEALLOC_PD, end_pd }, [CQ] = { DESTROY_CQ, end_cq },
	[MR] = { DEREG_MR, end_mr }, [MW] = { DEALLOC_MW, end_mw },
	[SRQ] = { DESTROY_SRQ, end_srq }, [AH] = { DESTROY_AH, end_ah },
	[QP] = { DESTROY_QP, end_qp },
};

static union ibv_gid group(void)
{
	union ibv_gid gid;

	gid_of_address(&gid, "239.7.7.7");
	return gid;
}

static void detach(struct object *qp)
{
	union ibv_gid gid = group();
	bool detached = !ibv_detach_mcast(qp->verbs, &gid, 0);

	if (detached)
		qp->attached = false;
	tried(DETACH, detached);
}

static void attach(struct object *qp)
{
	union ibv_gid gid = group();
	bool attached = !ibv_attach_mcast(qp->verbs, &gid, 0);

	if (attached)
		qp->attached = true;
	tried(ATTACH, attached);
}

/* Takes the caller's reference. */
static bool end(struct object *object, enum kind kind)
{
	bool gone;

	if (pthread_mutex_trylock(&object->alone)) {
		object_put(object);
		return false;
	}
	/* The kernel keeps a QP that is a member of a group. */
	if (kind == QP && object->attached)
		detach(object);
	gone = object_end(object, deaths[kind].end);
	pthread_mutex_unlock(&object->alone);
	return gone;
}

void go(unsigned int side)
{
	enum kind kind = below(KINDS);
	struct object *object = object_get(side, kind);

	if (object)
		tried(deaths[kind].what, end(object, kind));
}

unsigned int clear_up(void)
{
	static const enum kind order[KINDS] = { QP, AH, MW, MR, SRQ, CQ, PD };
	unsigned int side, i, stayed = 0;
	struct object *object;

	for (side = 0; side < SIDES; side++) {
		for (i = 0; i < KINDS; i++) {
			while ((object = object_first(side, order[i]))) {
				if (end(object, order[i]))
					continue;
				printf("# refused at the end: %s\n",
				       operation_names[deaths[order[i]].what]);
				stayed++;
				break;
			}
		}
	}
	return stayed;
}

/* --- they change --- */

/* Under the same address, other memory, another PD, or other rights */
static void rereg_some(unsigned int side)
{
	struct object *object = object_get(side, MR), *pd = object_get(side, PD);
	int flags = 1 + below(7), access = below(8) ? ALL_ACCESS : 0;
	struct ibv_mr *mr = verbs_of(object);
	uint8_t *other;
	bool done;

	if (mr && pd && !pthread_mutex_trylock(&object->alone)) {
		other = memory[side] + below(MEMORY - mr->length);
		done = !rereg(mr, flags, pd->verbs, other, mr->length,
			      (uintptr_t)mr->addr, access);
		if (done && flags & IBV_REREG_MR_CHANGE_PD)
			object->parent = (uintptr_t)pd->verbs;
		pthread_mutex_unlock(&object->alone);
		tried(REREG_MR, done);
	}
	put(object);
	put(pd);
}

static void resize_cq(struct ibv_cq *cq)
{
	tried(RESIZE_CQ, !ibv_resize_cq(cq, 16 + below(500)));
}

static void change_srq(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr = { .max_wr = 8 + below(120), .srq_limit = below(8) };

	if (below(2))
		tried(MODIFY_SRQ, !ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	else
		tried(RESIZE_SRQ, !ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
}

/* Calls @alter while no other thread is at the ring. */
static void alter_ring(unsigned int side, enum kind kind)
{
	struct object *object = object_get(side, kind);

	if (!object)
		return;
	if (!pthread_mutex_trylock(&object->alone)) {
		if (kind == CQ)
			resize_cq(object->verbs);
		else
			change_srq(object->verbs);
		pthread_mutex_unlock(&object->alone);
	}
	object_put(object);
}

static void join_or_leave(unsigned int side)
{
	struct object *qp = object_get(side, QP);

	if (!qp)
		return;
	if (qp->attached)
		detach(qp);
	else
		attach(qp);
	object_put(qp);
}

static void query(unsigned int side)
{
	struct object *qp = object_get(side, QP);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!qp)
		return;
	tried(QUERY_QP, !ibv_query_qp(qp->verbs, &attr, IBV_QP_STATE | IBV_QP_AV, &init));
	object_put(qp);
}

void change(unsigned int side)
{
	switch (below(5)) {
	case 0:
		return rereg_some(side);
	case 1:
		return alter_ring(side, CQ);
	case 2:
		return alter_ring(side, SRQ);
	case 3:
		return join_or_leave(side);
	default:
		return query(side);
	}
}

/* --- QPs and their states --- */

static void to_rts(struct ibv_qp *qp, const struct path *path)
{
	/* From SQD it needs no attribute. */
	tried(TO_RTS, !(below(2) ? qp_to_state(qp, IBV_QPS_RTS) : qp_to_rts(qp, path)));
}

/* To any state, be that allowed or not, and to a peer that does not expect it */
void modify(unsigned int side)
{
	struct object *object = object_get(side, QP);
	struct ibv_qp *qp = verbs_of(object);
	struct path path;

	if (!qp)
		return;
	fill_path(&path, side, some_qpn(!side));
	switch (below(6)) {
	case 0:
		tried(TO_RESET, !qp_to_state(qp, IBV_QPS_RESET));
		break;
	case 1:
		tried(TO_INIT, !qp_to_init(qp, ALL_ACCESS & ~IBV_ACCESS_MW_BIND));
		break;
	case 2:
		tried(TO_RTR, !qp_to_rtr(qp, &sides[side].port, &path));
		break;
	case 3:
		to_rts(qp, &path);
		break;
	case 4:
		tried(TO_SQD, !qp_to_state(qp, IBV_QPS_SQD));
		break;
	default:
		tried(TO_ERR, !qp_to_state(qp, IBV_QPS_ERR));
	}
	object_put(object);
}

static bool to_peer(unsigned int side, struct ibv_qp *qp, const struct path *path)
{
	return !qp_to_state(qp, IBV_QPS_RESET) &&
	       !qp_to_init(qp, ALL_ACCESS & ~IBV_ACCESS_MW_BIND) &&
	       !qp_to_rtr(qp, &sides[side].port, path) && !qp_to_rts(qp, path);
}

void connect_two(void)
{
	struct object *a = object_get(0, QP), *b = object_get(1, QP);
	struct ibv_qp *qp_a = verbs_of(a), *qp_b = verbs_of(b);
	struct path to_a, to_b;

	if (qp_a && qp_b && qp_a->qp_type == qp_b->qp_type) {
		fill_path(&to_b, 0, qp_b->qp_num);
		to_a = to_b;
		to_a.gid = sides[0].port.gid;
		to_a.qpn = qp_a->qp_num;
		to_a.sq_psn = to_b.rq_psn;
		to_a.rq_psn = to_b.sq_psn;
		tried(CONNECT, to_peer(0, qp_a, &to_b) && to_peer(1, qp_b, &to_a));
	}
	put(a);
	put(b);
}
