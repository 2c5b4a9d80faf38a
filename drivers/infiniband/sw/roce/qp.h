/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_QP_H
#define ROCE_QP_H

#include <rdma/ib_verbs.h>

#include "ah.h"
#include "cq.h"
#include "device.h"
#include "flow.h"
#include "pd.h"
#include "requester.h"
#include "responder.h"
#include "roce_opcode.h"
#include "srq.h"

/*
 * Racy read, for display only, of a field that an engine owns or modify_qp writes. The
 * owner's accesses stay plain, so that KCSAN finds all others.
 */
#define roce_peek(field)	data_race(READ_ONCE(field))

/*
 * Attributes that were modified, named as in &struct ib_qp_attr. Its others are constant,
 * or lie elsewhere in the QP.
 */
struct roce_qp_attr {
	enum ib_mtu path_mtu;
	int qp_access_flags;
	u32 qkey;
	u32 rq_psn;
	u32 sq_psn;
	u32 dest_qp_num;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	u8 min_rnr_timer;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
};

/* Memory of a QP that may be not present, by what it waits for */
enum roce_qp_fault {
	ROCE_FAULT_REQUEST,	/* memory to send */
	ROCE_FAULT_RESPONSE,	/* memory for a response */
	ROCE_FAULT_RECEIVE,	/* memory that a request writes or reads */
	ROCE_FAULT_ANSWER,	/* memory to send in a response */
	ROCE_FAULT_COUNT,
};

/**
 * struct roce_qp - queue pair
 * @ibqp: the core's part
 * @dev: its device
 * @counters: counters for its events, see counters.h
 * @modify_lock: serializes modify_qp; query_qp takes it for a consistent view
 * @state_lock: guards changes of @state
 * @state: read without a lock by the engines
 * @attr: changed with both engines claimed
 * @cap: capabilities that the QP was created with
 * @signal_all: every request generates a completion
 * @av: path to the peer of a connected QP
 * @source_port: UDP source port towards the peer
 * @received_hash: flow hash of packets from the peer, 0 if unknown
 * @mtu: path MTU in bytes
 * @flow: congestion control of both halves; see flow.h
 * @faults: page faults, by &enum roce_qp_fault; apart, so that a QP fits into 2 KiB
 * @requester: sends requests and completes them
 * @responder: executes requests of the peer
 */
struct roce_qp {
	struct ib_qp ibqp;
	struct roce_device *dev;
	struct roce_counters __percpu *counters;
	struct mutex modify_lock;	/* see @modify_lock above */
	spinlock_t state_lock;		/* see @state_lock above */
	enum ib_qp_state state;
	struct roce_qp_attr attr;
	struct ib_qp_cap cap;
	bool signal_all;
	struct roce_av av;
	u16 source_port;
	u32 received_hash;
	u32 mtu;
	struct roce_flow flow;
	struct roce_fault *faults;
	struct roce_requester requester ____cacheline_aligned_in_smp;
	struct roce_responder responder ____cacheline_aligned_in_smp;
};

static inline struct roce_qp *to_roce_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct roce_qp, ibqp);
}

static inline struct roce_cq *roce_send_cq(const struct roce_qp *qp)
{
	return to_roce_cq(qp->ibqp.send_cq);
}

static inline struct roce_cq *roce_recv_cq(const struct roce_qp *qp)
{
	return to_roce_cq(qp->ibqp.recv_cq);
}

static inline struct roce_pd *roce_qp_pd(const struct roce_qp *qp)
{
	return to_roce_pd(qp->ibqp.pd);
}

/** roce_qp_srq() - the shared receive queue, NULL if the QP has its own */
static inline struct roce_srq *roce_qp_srq(const struct roce_qp *qp)
{
	return qp->ibqp.srq ? to_roce_srq(qp->ibqp.srq) : NULL;
}

static inline bool roce_qp_is_user(const struct roce_qp *qp)
{
	return qp->ibqp.uobject;
}

/** roce_qp_is_datagram() - whether it is UD, or the GSI, which is a UD QP with number 1 */
static inline bool roce_qp_is_datagram(const struct roce_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI;
}

/** roce_qp_is_reliable() - whether packets are acknowledged, and sent again if lost */
static inline bool roce_qp_is_reliable(const struct roce_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_RC;
}

static inline enum roce_service roce_qp_service(const struct roce_qp *qp)
{
	if (roce_qp_is_datagram(qp))
		return ROCE_SERVICE_UD;
	return roce_qp_is_reliable(qp) ? ROCE_SERVICE_RC : ROCE_SERVICE_UC;
}

static inline struct roce_qp *roce_requester_qp(struct roce_engine *engine)
{
	return container_of(engine, struct roce_qp, requester.engine);
}

/** roce_qp_is_sending() - whether requests may be sent */
static inline bool roce_qp_is_sending(const struct roce_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	return state == IB_QPS_RTS || state == IB_QPS_SQD;
}

/** roce_qp_can_receive() - whether it receives packets; path and flow are valid then */
static inline bool roce_qp_can_receive(const struct roce_qp *qp)
{
	/* Pairs with the release in enter_state(). */
	switch (smp_load_acquire(&qp->state)) {
	case IB_QPS_RTR:
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return true;
	default:
		return false;
	}
}

/* qp.c */
struct roce_qp *roce_qp_find(u32 qpn);
int roce_qp_publish(struct roce_qp *qp);
void roce_qp_unpublish(struct roce_qp *qp);
bool roce_qp_is_from_peer(const struct roce_qp *qp, const struct sk_buff *skb);
bool roce_qp_set_error(struct roce_qp *qp, enum ib_qp_state state);
void roce_qp_fail(struct roce_qp *qp, enum ib_event_type event);
void roce_qp_event(struct roce_qp *qp, enum ib_event_type event);
void roce_qp_receive(struct roce_qp *qp, struct roce_engine *engine,
		     struct sk_buff *skb);
bool roce_qp_hold(struct roce_engine *engine, struct sk_buff *skb,
		  const struct roce_packet *packet);

/* qp_verbs.c */
int roce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		   struct ib_udata *udata);
int roce_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata);
int roce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
int roce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int roce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);

#endif /* ROCE_QP_H */
