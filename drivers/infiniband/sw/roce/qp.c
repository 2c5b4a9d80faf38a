// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs on the data path: the table of QPs, and errors of a QP. qp_verbs.c has the
 * verbs.
 */
#include <net/ipv6.h>

#include "counters.h"
#include "engine.h"
#include "qp.h"
#include "roce_wire.h"
#include "run.h"
#include "trace.h"

#define FIRST_QPN	16

/* QPs of all devices, by QPN alone: packets need no other key to find their QP. */
static DEFINE_XARRAY_ALLOC(qps);
static u32 next_qpn;

/**
 * roce_qp_find() - look up a QP
 * @qpn: from a received packet
 *
 * In a section, which keeps the QP.
 *
 * Return: the QP or NULL.
 */
struct roce_qp *roce_qp_find(u32 qpn)
{
	return xa_load(&qps, qpn);
}

/**
 * roce_qp_publish() - give a QP its number, and make it findable
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
	/* xa_alloc_cyclic() writes the number before the QP can be found by it. */
	err = xa_alloc_cyclic(&qps, &qp->ibqp.qp_num, qp,
			      XA_LIMIT(FIRST_QPN, ROCE_BTH_LOW_24 - 1),
			      &next_qpn, GFP_KERNEL);
	return min(err, 0);
}

/**
 * roce_qp_unpublish() - remove a QP from the table
 * @qp: published
 *
 * Running sections may have found it before.
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
 * roce_qp_event() - report an asynchronous event to the consumer
 * @qp: subject of the event
 * @type: the event
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
 * roce_qp_set_error() - put a QP into an error state
 * @qp: one of its engines is owned by the caller
 * @state: IB_QPS_ERR, or IB_QPS_SQE, which does not replace a worse state
 *
 * Return: false if it was in the error state, or is not in use.
 */
bool roce_qp_set_error(struct roce_qp *qp, enum ib_qp_state state)
{
	bool changes;

	spin_lock_bh(&qp->state_lock);
	changes = qp->state != IB_QPS_RESET && qp->state != IB_QPS_ERR;
	if (changes) {
		trace_roce_qp_state(qp, qp->state, state);
		WRITE_ONCE(qp->state, state);
	}
	spin_unlock_bh(&qp->state_lock);

	roce_engine_schedule(&qp->requester.engine);
	roce_engine_schedule(&qp->responder.engine);
	return changes;
}

/**
 * roce_qp_fail() - put a QP into the error state, without a failed work request
 * @qp: one of its engines is owned by the caller
 * @event: to report to the consumer
 */
void roce_qp_fail(struct roce_qp *qp, enum ib_event_type event)
{
	if (roce_qp_set_error(qp, IB_QPS_ERR))
		roce_qp_event(qp, event);
}

/* The hash is 0 unless the NIC, or steering (RPS), has computed it. */
static void remember_hash(struct roce_qp *qp, const struct sk_buff *skb)
{
	if (skb->hash && skb->hash != READ_ONCE(qp->received_hash))
		WRITE_ONCE(qp->received_hash, skb->hash);
}

/**
 * roce_qp_receive() - give a run of packets to a QP
 * @qp: found in this section
 * @engine: half of the QP that the packets are for
 * @skb: with the run in its control block; consumed
 *
 * Softirq context.
 */
void roce_qp_receive(struct roce_qp *qp, struct roce_engine *engine,
		     struct sk_buff *skb)
{
	roce_count(qp, rx_trains);
	trace_roce_train_received(qp, skb, roce_run(skb)->offset,
				  roce_run_packets(skb), roce_run_bytes(skb));
	if (!roce_qp_is_datagram(qp))
		remember_hash(qp, skb);
	if (!roce_engine_receive(engine, skb))
		roce_drop_run(qp->dev, READ_ONCE(qp->counters), skb,
			      ROCE_COUNTER_rx_dropped_inbox_full);
}

/**
 * roce_qp_hold() - keep the rest of a run until the memory for its packet is present
 * @engine: owned by the caller; an access for @packet returned -EAGAIN in this section
 * @skb: with the run; it waits in the inbox, and later runs behind it
 * @packet: the latest packet that was taken from the run; it is taken again later
 *
 * Return: true, which tells the callers of the caller that @skb is kept.
 */
bool roce_qp_hold(struct roce_engine *engine, struct sk_buff *skb,
		  const struct roce_packet *packet)
{
	roce_run_return(skb, packet);
	roce_engine_hold(engine, skb);
	return true;
}
