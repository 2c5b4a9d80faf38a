// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs as the data path knows them: how they are found, and what becomes of
 * one that cannot go on. The verbs are in qp_verbs.c.
 */
#include <net/ipv6.h>

#include "counters.h"
#include "engine.h"
#include "qp.h"
#include "roce_wire.h"
#include "run.h"
#include "trace.h"

#define FIRST_QPN	16

/* Of all devices of the host, so that a packet needs no other key to find its QP */
static DEFINE_XARRAY_ALLOC(qps);
static u32 next_qpn;

/**
 * roce_qp_find() - look a QP up
 * @qpn: of a received packet
 *
 * In a section, to the end of which the QP stays.
 */
struct roce_qp *roce_qp_find(u32 qpn)
{
	return xa_load(&qps, qpn);
}

/**
 * roce_qp_publish() - give a QP its number, by which it is found from now on
 * @qp: complete
 *
 * Process context.
 *
 * Return: 0, -EBUSY for a second QP 1, or -ENOMEM.
 */
int roce_qp_publish(struct roce_qp *qp)
{
	int err;

	if (qp->ibqp.qp_type == IB_QPT_GSI) {
		if (rcu_access_pointer(qp->dev->gsi_qp))
			return -EBUSY;
		qp->ibqp.qp_num = ROCE_QPN_GSI;
		rcu_assign_pointer(qp->dev->gsi_qp, qp);
		return 0;
	}
	/* The number is written before the QP can be found by it. */
	err = xa_alloc_cyclic(&qps, &qp->ibqp.qp_num, qp,
			      XA_LIMIT(FIRST_QPN, ROCE_BTH_LOW_24 - 1),
			      &next_qpn, GFP_KERNEL);
	return min(err, 0);
}

/**
 * roce_qp_unpublish() - let nobody find a QP any more
 * @qp: published
 *
 * Sections that have begun may have found it before.
 */
void roce_qp_unpublish(struct roce_qp *qp)
{
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi_qp, NULL);
	else
		xa_erase(&qps, qp->ibqp.qp_num);
}

/**
 * roce_qp_is_from_peer() - whether a packet has the addresses of the connection
 * @qp: connected
 * @skb: the packet
 */
bool roce_qp_is_from_peer(const struct roce_qp *qp, const struct sk_buff *skb)
{
	struct in6_addr source, destination;

	roce_run_addresses(skb, &source, &destination);
	return ipv6_addr_equal(&source, &qp->av.destination) &&
	       ipv6_addr_equal(&destination, &qp->av.source);
}

/**
 * roce_qp_event() - tell the consumer of an asynchronous event
 * @qp: what it is about
 * @type: what happened
 *
 * Any context; calls the consumer's handler.
 */
void roce_qp_event(struct roce_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/**
 * roce_qp_set_error() - go to an error state because of what happened
 * @qp: an engine of it is owned by the caller
 * @state: IB_QPS_ERR, or IB_QPS_SQE which a worse state takes precedence of
 */
void roce_qp_set_error(struct roce_qp *qp, enum ib_qp_state state)
{
	spin_lock_bh(&qp->state_lock);
	if (qp->state != IB_QPS_RESET && qp->state != IB_QPS_ERR) {
		trace_roce_qp_state(qp, qp->state, state);
		WRITE_ONCE(qp->state, state);
	}
	spin_unlock_bh(&qp->state_lock);

	roce_engine_schedule(&qp->requester.engine);
	roce_engine_schedule(&qp->responder.engine);
}

/**
 * roce_qp_fail() - a QP cannot go on, through no fault of a work request
 * @qp: an engine of it is owned by the caller
 * @event: what to tell the consumer
 */
void roce_qp_fail(struct roce_qp *qp, enum ib_event_type event)
{
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		return;
	roce_qp_set_error(qp, IB_QPS_ERR);
	roce_qp_event(qp, event);
}

/**
 * roce_qp_receive() - give a run of packets to a QP
 * @qp: found in this section
 * @engine: the half of it that the packets are for
 * @skb: with the run in its control block; consumed
 *
 * Softirq context.
 */
void roce_qp_receive(struct roce_qp *qp, struct roce_engine *engine,
		     struct sk_buff *skb)
{
	roce_count(qp, rx_trains);
	trace_roce_train_received(qp, skb, roce_run(skb)->offset,
				  roce_run_packets(skb),
				  roce_run(skb)->end - roce_run(skb)->offset);
	if (!roce_engine_receive(engine, skb))
		roce_drop_run(qp->dev, READ_ONCE(qp->counters), skb,
			      ROCE_COUNTER_rx_dropped_inbox_full);
}
