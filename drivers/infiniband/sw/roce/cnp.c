// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The notification point, and congestion notification packets (CNPs; annex A17
 * of the IBA specification, A17.9.3).
 *
 * The receiver of data that a switch has marked notifies the sender, at most once
 * in a while for each QP: one CNP slows a flow down as well as many.
 *
 *	BTH: opcode 0x81, BECN, the sender's QP, PSN 0
 *	16 bytes of zero
 *	ICRC
 *
 * A CNP belongs to no message and to neither half of a QP: it is received without the
 * engines, is not paced, not acknowledged, and must not be marked. It does not go through
 * the transmitter (xmit.c) either, because nothing waits to send it.
 */
#include "cnp.h"
#include "congestion.h"
#include "counters.h"
#include "flow.h"
#include "qp.h"
#include "roce_opcode.h"
#include "run.h"
#include "send.h"
#include "trace.h"
#include "train.h"

#define CNP_RESERVED_BYTES	16

static u32 np_parameter(const struct roce_qp *qp, enum roce_np_parameter which)
{
	return READ_ONCE(qp->dev->congestion.np->value[which]);
}

static int build_cnp(struct roce_qp *qp, struct roce_train *train)
{
	static const u8 reserved[CNP_RESERVED_BYTES];
	struct roce_packet packet = {
		.opcode = ROCE_OPCODE_CNP,
		.info = roce_opcode_info(ROCE_OPCODE_CNP),
		.becn = true,
		.qpn = qp->attr.dest_qp_num,
		.payload = sizeof(reserved),
	};
	int err;

	err = roce_train_of_one(train, &qp->av, qp->source_port, &packet,
				reserved);
	if (err)
		return err;
	roce_train_set_traffic_class(train,
				     np_parameter(qp, ROCE_NP_CNP_DSCP) << 2);
	train->priority = np_parameter(qp, ROCE_NP_CNP_802P_PRIO);
	return 0;
}

/* Returns true at most once in min_time_between_cnps. */
static bool is_due(struct roce_qp *qp)
{
	u64 gap = np_parameter(qp, ROCE_NP_MIN_TIME_BETWEEN_CNPS) *
		  (u64)NSEC_PER_USEC;
	struct roce_flow *flow = &qp->flow;
	bool due;
	u64 now;

	spin_lock_bh(&flow->lock);
	now = ktime_get_ns();
	due = !flow->cnp_sent || now - flow->cnp_sent >= gap;
	if (due) {
		flow->cnp_sent = now;
		flow->cnps_sent++;
	}
	spin_unlock_bh(&flow->lock);
	return due;
}

/**
 * roce_cnp_notify() - send a CNP if a packet of a connection was marked
 * @qp: receiver of the packet; a half of it is owned by the caller
 * @skb: the run of the packet
 * @packet: the packet, taken from @skb
 *
 * BH disabled, RCU read side. A CNP that cannot be sent now is dropped: more
 * marked packets will follow. A run that was kept because it came early has notified then:
 * what its other packets could tell is old.
 */
void roce_cnp_notify(struct roce_qp *qp, struct sk_buff *skb,
		     const struct roce_packet *packet)
{
	const struct roce_run *run = roce_run(skb);
	struct roce_train train;

	if (likely(!run->congestion) || packet->again)
		return;
	roce_count(qp, np_ecn_marked_roce_packets);
	if (run->early || !is_due(qp) || build_cnp(qp, &train))
		return;
	if (roce_send(qp, &qp->av, &train))
		return;
	roce_count(qp, np_cnp_sent);
	trace_roce_cnp_sent(qp);
}

static bool is_from_peer(const struct roce_qp *qp, const struct sk_buff *skb)
{
	/*
	 * Racy: the path of a QP in SQD may change. The CNP is then lost, or counts
	 * for the new path.
	 */
	return data_race(roce_qp_is_from_peer(qp, skb));
}

static void react(struct roce_qp *qp)
{
	bool handled = roce_flow_notified(qp);

	trace_roce_cnp_received(qp, handled);
	if (handled)
		roce_count(qp, rp_cnp_handled);
	else
		roce_count(qp, rp_cnp_ignored);
}

static void receive_cnp(struct roce_qp *qp, const struct sk_buff *skb,
			const struct roce_packet *packet)
{
	if (packet->payload != CNP_RESERVED_BYTES)
		roce_drop(qp, rx_dropped_length, packet);
	else if (roce_qp_is_datagram(qp))
		roce_drop(qp, rx_dropped_opcode, packet);
	else if (!roce_qp_can_receive(qp))
		roce_drop(qp, rx_dropped_qp_state, packet);
	else if (!is_from_peer(qp, skb))
		roce_drop(qp, rx_dropped_address, packet);
	else
		react(qp);
}

/**
 * roce_cnp_receive() - handle a run of CNPs
 * @qp: their destination
 * @skb: consumed
 *
 * Softirq context, RCU read side. Neither half needs to be owned.
 */
void roce_cnp_receive(struct roce_qp *qp, struct sk_buff *skb)
{
	struct roce_packet packet;

	while (roce_run_next(skb, qp, &packet))
		receive_cnp(qp, skb, &packet);
	consume_skb(skb);
}
