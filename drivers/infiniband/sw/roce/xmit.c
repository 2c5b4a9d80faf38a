// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The transmitter: how a train leaves, whichever half of a QP sends it. It waits for
 * the rate of the flow and for its turn among the QPs of the host, is built, and is
 * handed to the network.
 */
#include "congestion.h"
#include "egress.h"
#include "engine.h"
#include "qp.h"
#include "train.h"
#include "xmit.h"

static bool may_send_train(struct roce_qp *qp, struct roce_xmit *xmit)
{
	if (xmit->data)
		xmit->wait = roce_flow_wait(qp, &qp->flow, xmit->half);
	if (xmit->wait)
		return false;
	if (roce_egress_take_turn(qp, xmit->engine))
		return true;
	if (roce_flow_is_limited(&qp->flow))
		roce_flow_interrupt(qp, xmit->half);
	return false;
}

static int build(struct roce_qp *qp, struct roce_xmit *xmit)
{
	struct roce_train *train = &xmit->train;
	int err;

	roce_train_open(train, xmit->av, xmit->source_port);
	train->data = xmit->data;
	if (xmit->data)
		train->limit = roce_flow_train_bytes(&qp->flow);
	err = xmit->build(qp, train);
	roce_engine_charge(train->bytes);
	if (err)
		roce_train_drop(train);
	/* Whatever is wrong with the memory of a consumer: waiting does not help. */
	return err && err != -ENOMEM ? -EACCES : err;
}

/**
 * roce_xmit() - send a train
 * @qp: of which one half is owned by the caller
 * @xmit: what to send
 *
 * BH disabled, RCU read side.
 *
 * Return: 0; -EBUSY if it has to wait, for its rate if @xmit->wait is set, else for
 * its turn, with which the engine is scheduled; -ENOMEM or -EACCES if nothing could be
 * built. If @xmit->built is set, it is what roce_send() returns.
 */
int roce_xmit(struct roce_qp *qp, struct roce_xmit *xmit)
{
	int err;

	if (!may_send_train(qp, xmit))
		return -EBUSY;
	err = build(qp, xmit);
	if (err)
		return err;
	xmit->built = true;
	if (xmit->data && roce_flow_wants_rtt(&qp->flow))
		xmit->sent_at = ktime_get_ns();
	return roce_flow_send(qp, xmit->half, xmit->av, &xmit->train);
}
