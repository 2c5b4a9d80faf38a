// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The transmitter of both halves of a QP. A train waits for the rate of the flow and for
 * its turn among the QPs of the host, is built, and is handed to the network.
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
	/* All other errors are those of the consumer's memory: waiting does not help. */
	return err && err != -ENOMEM ? -EACCES : err;
}

/**
 * roce_xmit() - send a train
 * @qp: the caller owns the half in @xmit
 * @xmit: the train to send
 *
 * BH disabled, RCU read side.
 *
 * Return: if @xmit->built is set, the return value of roce_send(). Otherwise -EBUSY if it
 * must wait, for @xmit->wait, or if that is 0, for its turn, when the engine is scheduled;
 * -ENOMEM or -EACCES if nothing could be built.
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
