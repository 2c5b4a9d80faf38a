// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The verbs of queue pairs, and their state machine (IBA volume 1, 10.3). What a
 * QP does in its states is in requester.c, completer.c and responder.c.
 */
#include <rdma/ib_cache.h>
#include <rdma/uverbs_ioctl.h>

#include "ah.h"
#include "answer.h"
#include "compat.h"
#include "device.h"
#include "engine.h"
#include "flow.h"
#include "port.h"
#include "qp.h"
#include "receive.h"
#include "request.h"
#include "requester.h"
#include "responder.h"
#include "ring.h"
#include "roce.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "section.h"
#include "send.h"
#include "trace.h"

static int check_qp_init_attr(const struct ib_qp_init_attr *init,
			      const struct ib_udata *udata)
{
	const struct ib_qp_cap *cap = &init->cap;

	switch (init->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		break;
	case IB_QPT_GSI:
		if (udata || init->srq || init->port_num != 1)
			return -EINVAL;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (init->create_flags)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > ROCE_MAX_QP_WR ||
	    cap->max_send_sge > ROCE_MAX_SGE ||
	    cap->max_inline_data > ROCE_MAX_INLINE)
		return -EINVAL;
	/* 11.2.4.1: ignored with a shared receive queue. */
	if (!init->srq && (cap->max_recv_wr > ROCE_MAX_QP_WR ||
			   cap->max_recv_sge > ROCE_MAX_SGE))
		return -EINVAL;
	if (udata && udata->outlen < sizeof(struct rxe_create_qp_resp))
		return -EINVAL;
	return 0;
}

static int init_send_queue(struct roce_qp *qp, struct ib_udata *udata,
			   struct mminfo *info)
{
	struct roce_requester *requester = &qp->requester;
	size_t room = max_t(size_t, qp->cap.max_send_sge * sizeof(struct rxe_sge),
			    qp->cap.max_inline_data);
	int err;

	qp->faults = kcalloc(ROCE_FAULT_COUNT, sizeof(*qp->faults), GFP_KERNEL_ACCOUNT);
	if (!qp->faults)
		return -ENOMEM;
	roce_requester_init(qp);
	if (udata) {
		/* A minimum size, for the reason in roce_create_cq(). */
		err = roce_ring_init(&requester->ring,
				     max(qp->cap.max_send_wr, ROCE_MIN_USER_ENTRIES),
				     sizeof(struct rxe_send_wqe) + room,
				     false, udata, info);
		if (err)
			return err;
		qp->cap.max_send_wr = roce_ring_capacity(&requester->ring);
	}
	return roce_request_slots_init(qp);
}

static int init_receive_queue(struct roce_qp *qp, struct ib_udata *udata,
			      struct mminfo *info)
{
	struct roce_responder *responder = &qp->responder;
	int err;

	err = roce_responder_init(qp);
	if (err || roce_qp_srq(qp))
		return err;
	err = roce_ring_init(&responder->ring, qp->cap.max_recv_wr,
			     roce_receive_size(qp->cap.max_recv_sge), false, udata,
			     info);
	if (!err)
		qp->cap.max_recv_wr = roce_ring_capacity(&responder->ring);
	return err;
}

static void free_queues(struct roce_qp *qp)
{
	kvfree(qp->requester.slots);
	kfree(qp->requester.asked_end);
	roce_ring_free(&qp->requester.ring);
	roce_responder_destroy(qp);
	roce_ring_free(&qp->responder.ring);
	kfree(qp->faults);
}

static int build_qp(struct roce_qp *qp, struct ib_udata *udata)
{
	struct rxe_create_qp_resp response = {};
	int err;

	err = init_send_queue(qp, udata, &response.sq_mi);
	if (err)
		return err;
	err = init_receive_queue(qp, udata, &response.rq_mi);
	if (err)
		return err;
	if (udata) {
		err = ib_copy_to_udata(udata, &response, sizeof(response));
		if (err)
			return err;
	}
	return roce_qp_publish(qp);
}

static void set_default_attr(struct roce_qp *qp)
{
	qp->attr = (struct roce_qp_attr) { .path_mtu = IB_MTU_256 };
	qp->mtu = ib_mtu_enum_to_int(qp->attr.path_mtu);
}

/**
 * roce_create_qp() - the create_qp verb
 * @ibqp: allocated and zeroed by the core
 * @init: wanted values; cap is set to the granted ones
 * @udata: of a program, or NULL
 *
 * IBA volume 1, 11.2.4.1.
 *
 * Return: 0, -EOPNOTSUPP for a type or flag that is not supported, -EINVAL for
 * values out of range, -EBUSY for a second QP 1, -ENOMEM or -EFAULT.
 */
int roce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		   struct ib_udata *udata)
{
	struct roce_device *dev = to_roce_device(ibqp->device);
	struct roce_qp *qp = to_roce_qp(ibqp);
	int err;

	err = check_qp_init_attr(init, udata);
	if (err)
		return err;
	if (!roce_object_get(&dev->objects.qp, ROCE_MAX_QP))
		return -ENOMEM;

	qp->dev = dev;
	qp->counters = dev->counters;
	mutex_init(&qp->modify_lock);
	spin_lock_init(&qp->state_lock);
	qp->state = IB_QPS_RESET;
	qp->cap = init->cap;
	if (init->srq) {
		qp->cap.max_recv_wr = 0;
		qp->cap.max_recv_sge = 0;
	}
	qp->signal_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	set_default_attr(qp);
	roce_flow_init(qp);

	err = build_qp(qp, udata);
	if (err) {
		free_queues(qp);
		roce_flow_destroy(qp);
		roce_object_put(&dev->objects.qp);
		return err;
	}
	init->cap = qp->cap;
	return 0;
}

/**
 * roce_destroy_qp() - the destroy_qp verb
 * @ibqp: may have traffic
 * @udata: of a program, or NULL
 *
 * On return nothing in the driver refers to the QP.
 *
 * Return: 0.
 */
int roce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct roce_qp *qp = to_roce_qp(ibqp);

	roce_qp_unpublish(qp);
	/*
	 * Programs exit after their last message. The acknowledgment of a message that
	 * has completed is sent first, if the netdev takes it: otherwise the peer would
	 * take the message for lost.
	 */
	roce_engine_claim(&qp->responder.engine);
	spin_lock_bh(&qp->state_lock);
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	spin_unlock_bh(&qp->state_lock);
	roce_receive_remove_idle(qp);
	roce_engine_release(&qp->responder.engine);

	/* Running sections may have found the QP, or seen another state. */
	roce_section_wait();
	roce_requester_stop(qp);
	roce_responder_stop(qp);
	roce_engine_destroy(&qp->requester.engine);
	roce_engine_destroy(&qp->responder.engine);
	/*
	 * The core stops a CQ's work before it destroys the CQ. After the last QP is
	 * destroyed, no handler may schedule this work.
	 */
	roce_bh_flush(&roce_send_cq(qp)->handler);
	roce_bh_flush(&roce_recv_cq(qp)->handler);

	roce_av_release(&qp->av);
	free_queues(qp);
	roce_flow_destroy(qp);
	roce_object_put(&qp->dev->objects.qp);
	return 0;
}

static int check_qp_attr(struct roce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 ||
	     attr->path_mtu > roce_port_active_mtu(qp->dev)))
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > ROCE_MAX_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > ROCE_MAX_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num > ROCE_BTH_LOW_24)
		return -EINVAL;
	if ((mask & IB_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7) ||
	    (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31))
		return -EINVAL;
	/* Path migration is not implemented. */
	if (mask & IB_QP_ALT_PATH ||
	    (mask & IB_QP_PATH_MIG_STATE &&
	     attr->path_mig_state != IB_MIG_MIGRATED))
		return -EOPNOTSUPP;
	return 0;
}

/* Allocated by modify_qp before the point of no return */
struct new_parts {
	struct roce_av av;
	struct roce_resource *resources;
	u32 *asked_end;
};

static void discard_parts(struct new_parts *parts)
{
	roce_av_release(&parts->av);
	kfree(parts->resources);
	kfree(parts->asked_end);
}

static int prepare_parts(const struct ib_qp_attr *attr, int mask,
			 struct new_parts *parts)
{
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic) {
		parts->asked_end =
			kcalloc(roundup_pow_of_two(attr->max_rd_atomic),
				sizeof(*parts->asked_end), GFP_KERNEL_ACCOUNT);
		if (!parts->asked_end)
			return -ENOMEM;
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic) {
		parts->resources =
			kcalloc(roundup_pow_of_two(attr->max_dest_rd_atomic),
				sizeof(*parts->resources), GFP_KERNEL_ACCOUNT);
		if (!parts->resources)
			return -ENOMEM;
	}
	return mask & IB_QP_AV ? roce_av_init(&parts->av, &attr->ah_attr) : 0;
}

static void copy_attr(struct roce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct roce_qp_attr *to = &qp->attr;

	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_QKEY)
		to->qkey = attr->qkey;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn & ROCE_PSN_MASK;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn & ROCE_PSN_MASK;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_PATH_MTU) {
		to->path_mtu = attr->path_mtu;
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	}
	if (mask & (IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY))
		roce_retransmit_renew(qp);
}

static void install_parts(struct roce_qp *qp, const struct ib_qp_attr *attr,
			  int mask, struct new_parts *parts)
{
	if (mask & IB_QP_AV) {
		roce_av_release(&qp->av);
		qp->av = parts->av;
	}
	if (mask & (IB_QP_AV | IB_QP_DEST_QPN))
		qp->source_port = roce_udp_source_port(&qp->av,
						       qp->ibqp.qp_num,
						       qp->attr.dest_qp_num);
	if (mask & IB_QP_MAX_QP_RD_ATOMIC) {
		qp->attr.max_rd_atomic = attr->max_rd_atomic;
		roce_requester_set_asked_end(qp, parts->asked_end);
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
		roce_answer_set_resources(qp, parts->resources);
	}
}

static void forget_everything(struct roce_qp *qp)
{
	roce_requester_reset(qp);
	roce_responder_reset(qp);
	roce_av_release(&qp->av);
	/* CNPs may look at it meanwhile, and find no peer. */
	memset(&qp->av, 0, sizeof(qp->av));
	qp->source_port = 0;
	set_default_attr(qp);
	roce_requester_start(qp);
	roce_responder_start(qp);
}

static void start_to_receive(struct roce_qp *qp)
{
	/* That of the port may change, and limits each datagram. */
	if (roce_qp_is_datagram(qp))
		qp->mtu = ib_mtu_enum_to_int(IB_MTU_4096);
	roce_flow_start(qp);
	roce_responder_start(qp);
}

/*
 * Both engines are claimed, so only CNPs look at what changes. They check the state
 * alone, so the flow must have begun by then.
 */
static void enter_state(struct roce_qp *qp, const struct ib_qp_attr *attr,
			int mask, enum ib_qp_state from, enum ib_qp_state to)
{
	trace_roce_qp_state(qp, from, to);
	if (to == IB_QPS_RTR)
		start_to_receive(qp);
	if (from == IB_QPS_RTR && to == IB_QPS_RTS)
		roce_requester_start(qp);
	if (from == IB_QPS_SQE && to == IB_QPS_RTS)
		roce_requester_flush(qp);
	/* The flush has overflowed the CQ: the QP is in the error state. */
	if (to == IB_QPS_RTS && READ_ONCE(qp->state) == IB_QPS_ERR)
		return;
	/* Pairs with the acquire in roce_qp_can_receive(). */
	smp_store_release(&qp->state, to);
	switch (to) {
	case IB_QPS_RESET:
		forget_everything(qp);
		break;
	case IB_QPS_RTS:
		qp->requester.draining = false;
		break;
	case IB_QPS_SQD:
		if (from == IB_QPS_RTS)
			qp->requester.draining =
				mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
				attr->en_sqd_async_notify;
		break;
	default:
		break;
	}
}

static bool state_is(const struct roce_qp *qp, const struct ib_qp_attr *attr,
		     int mask)
{
	return !(mask & IB_QP_CUR_STATE) ||
	       attr->cur_qp_state == READ_ONCE(qp->state);
}

/**
 * roce_modify_qp() - the modify_qp verb
 * @ibqp: the QP
 * @attr: new values
 * @mask: IB_QP_*: which ones
 * @udata: of a program, or NULL
 *
 * IBA volume 1, 11.2.4.2. On error nothing has changed.
 *
 * Return: 0, -EINVAL for a transition or an attribute that is not allowed in
 * it, -EOPNOTSUPP, -ENOMEM, or -EAFNOSUPPORT for an IPv6 address on a host without IPv6.
 */
int roce_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata)
{
	struct roce_qp *qp = to_roce_qp(ibqp);
	struct new_parts parts = {};
	enum ib_qp_state from, to;
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	err = check_qp_attr(qp, attr, mask);
	if (err)
		return err;
	err = prepare_parts(attr, mask, &parts);
	if (err) {
		discard_parts(&parts);
		return err;
	}

	mutex_lock(&qp->modify_lock);
	roce_engine_claim(&qp->requester.engine);
	roce_engine_claim(&qp->responder.engine);

	from = READ_ONCE(qp->state);
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	if (state_is(qp, attr, mask) &&
	    ib_modify_qp_is_ok(from, to, ibqp->qp_type, mask)) {
		copy_attr(qp, attr, mask);
		install_parts(qp, attr, mask, &parts);
		if (mask & IB_QP_STATE)
			enter_state(qp, attr, mask, from, to);
	} else {
		discard_parts(&parts);
		err = -EINVAL;
	}

	roce_engine_release(&qp->responder.engine);
	roce_engine_release(&qp->requester.engine);
	mutex_unlock(&qp->modify_lock);

	/* The new state may allow sending, or require a flush or SQD's drain. */
	roce_engine_schedule(&qp->requester.engine);
	roce_engine_schedule(&qp->responder.engine);
	return err;
}

static void get_attr(const struct roce_qp *qp, struct ib_qp_attr *attr)
{
	const struct roce_qp_attr *from = &qp->attr;

	*attr = (struct ib_qp_attr) {
		.qp_state = READ_ONCE(qp->state),
		.path_mtu = from->path_mtu,
		.path_mig_state = IB_MIG_MIGRATED,
		.qkey = from->qkey,
		.rq_psn = from->rq_psn,
		.sq_psn = from->sq_psn,
		.dest_qp_num = from->dest_qp_num,
		.qp_access_flags = from->qp_access_flags,
		.cap = qp->cap,
		.max_rd_atomic = from->max_rd_atomic,
		.max_dest_rd_atomic = from->max_dest_rd_atomic,
		.min_rnr_timer = from->min_rnr_timer,
		.port_num = 1,
		.timeout = from->timeout,
		.retry_cnt = from->retry_cnt,
		.rnr_retry = from->rnr_retry,
	};
	attr->cur_qp_state = attr->qp_state;
}

/**
 * roce_query_qp() - the query_qp verb
 * @ibqp: the QP
 * @attr: filled in
 * @mask: ignored, all attributes are returned
 * @init: filled in
 *
 * Return: 0.
 */
int roce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init)
{
	struct roce_qp *qp = to_roce_qp(ibqp);

	mutex_lock(&qp->modify_lock);
	get_attr(qp, attr);
	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    roce_peek(qp->requester.completed) !=
			    roce_peek(qp->requester.fetched);
	if (attr->qp_state != IB_QPS_RESET && !roce_qp_is_datagram(qp)) {
		attr->rq_psn = roce_peek(qp->responder.psn);
		attr->sq_psn = roce_peek(qp->requester.psn);
		attr->ah_attr = qp->av.attr;
	}
	mutex_unlock(&qp->modify_lock);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = qp->cap;
	init->sq_sig_type = qp->signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	init->port_num = 1;
	return 0;
}

static bool accepts_sends(const struct roce_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return false;
	default:
		return true;
	}
}

/*
 * Whether the state still refuses sends while it cannot change. librxe has put them into
 * the ring: no later state is to find them there.
 */
static bool skip_refused(struct roce_qp *qp)
{
	bool refused;

	roce_engine_claim(&qp->requester.engine);
	refused = !accepts_sends(qp);
	if (refused)
		roce_ring_skip(&qp->requester.ring);
	roce_engine_release(&qp->requester.engine);
	return refused;
}

/* A program has filled its ring and made the system call. */
static void run_doorbell(struct roce_qp *qp)
{
	local_bh_disable();
	roce_engine_run(&qp->requester.engine);
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		roce_engine_run(&qp->responder.engine);
	local_bh_enable();
}

/**
 * roce_post_send() - the post_send verb
 * @ibqp: the QP
 * @wr: list of work requests of a kernel consumer; ignored for a program
 * @bad_wr: set to the first one that was refused
 *
 * Any context for a kernel consumer, for which this sends nothing: it may hold a lock that
 * its event handlers take, and requests that it posts one by one share a train. But an
 * engine that runs already may send a request, complete it, and so give its memory back
 * to the consumer, before the next one is posted. Process context for a program.
 *
 * Return: 0, -EINVAL in the wrong state or for a bad work request, -ENOMEM if
 * the queue is full or memory is missing, -EOPNOTSUPP.
 */
int roce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr)
{
	struct roce_qp *qp = to_roce_qp(ibqp);
	const struct ib_send_wr *next;
	int err = 0;

	*bad_wr = wr;
	if (!accepts_sends(qp) && (!roce_qp_is_user(qp) || skip_refused(qp)))
		return -EINVAL;
	/* The answers are to come to this CPU (RFS). */
	sock_rps_record_flow_hash(READ_ONCE(qp->received_hash));
	if (roce_qp_is_user(qp)) {
		err = roce_request_slots_alloc(qp);
		if (!err)
			run_doorbell(qp);
		return err;
	}

	for (; wr; wr = next) {
		next = wr->next;
		err = roce_request_post(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	roce_engine_schedule(&qp->requester.engine);
	return err;
}
