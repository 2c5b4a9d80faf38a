// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams as the responder of a UD QP receives them (IBA volume 1, 9.8.3). There are
 * no answers, and a sender of bad datagrams must not be able to stop the QP.
 */
#include <linux/if_vlan.h>

#include "counters.h"
#include "packet.h"
#include "qp.h"
#include "receive.h"
#include "responder.h"
#include "roce_opcode.h"
#include "roce_wire.h"
#include "run.h"
#include "sge.h"

/* The header in front of a datagram in its receive (11.4.2.1, annex A17.4.7) */
static void make_grh(const struct sk_buff *skb, const struct roce_packet *packet,
		     u8 grh[ROCE_GRH_SIZE])
{
	struct roce_ip_headers headers;

	roce_run_ip_headers(skb, packet, &headers);
	memset(grh, 0, ROCE_GRH_SIZE);
	if (headers.ipv6)
		memcpy(grh, &headers.v6, sizeof(headers.v6));
	else
		memcpy(grh + ROCE_GRH_SIZE - sizeof(headers.v4), &headers.v4,
		       sizeof(headers.v4));
}

/* Returns 0, or -EINVAL, -EMSGSIZE, -EACCES, or -EAGAIN if memory is not present. */
static int place_datagram(struct roce_qp *qp, const struct sk_buff *skb,
			  const struct roce_packet *packet)
{
	struct roce_sge_walk walk = roce_receive_walk(qp, 0, ROCE_GRH_SIZE);
	u8 grh[ROCE_GRH_SIZE];

	if (!qp->responder.receive->valid)
		return -EINVAL;
	if (ROCE_GRH_SIZE + (u64)packet->payload > qp->responder.receive->length)
		return -EMSGSIZE;
	make_grh(skb, packet, grh);
	return roce_sge_scatter_buffer(&walk, grh) ?:
	       roce_receive_place(qp, packet, ROCE_GRH_SIZE);
}

/* Returns true if the rest of the run is kept for later. */
static bool receive_datagram(struct roce_qp *qp, struct sk_buff *skb,
			     const struct roce_packet *packet)
{
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = ROCE_GRH_SIZE + packet->payload,
		.src_qp = packet->source_qpn,
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
		.network_hdr_type = roce_is_ipv6(skb) ? RDMA_NETWORK_IPV6 :
							RDMA_NETWORK_IPV4,
	};

	if (roce_run(skb)->vlan_id < VLAN_N_VID) {
		wc.wc_flags |= IB_WC_WITH_VLAN;
		wc.vlan_id = roce_run(skb)->vlan_id;
	}
	switch (place_datagram(qp, skb, packet)) {
	case 0:
		roce_receive_succeed(qp, &wc, packet);
		return false;
	case -EAGAIN:
		return roce_qp_hold(&qp->responder.engine, skb, packet);
	case -EMSGSIZE:
		/* Anyone can send a datagram that is too long: it must not stop the QP. */
		roce_drop(qp, rx_dropped_length, packet);
		return false;
	case -EINVAL:
		roce_receive_fail(qp, IB_WC_LOC_QP_OP_ERR);
		break;
	default:
		roce_receive_fail(qp, IB_WC_LOC_PROT_ERR);
		break;
	}
	roce_qp_set_error(qp, IB_QPS_ERR);
	return false;
}

/**
 * roce_datagram_receive() - place a datagram in a receive, or drop it
 * @qp: of type UD or GSI, in a state in which it receives; its responder is owned by
 *	the caller
 * @skb: the run of the datagram
 * @packet: the datagram, taken from @skb
 *
 * BH disabled, in a section.
 *
 * Return: true if the rest of the run is kept for later, and @skb with it.
 */
bool roce_datagram_receive(struct roce_qp *qp, struct sk_buff *skb,
			   const struct roce_packet *packet)
{
	if ((packet->opcode & ROCE_SERVICE_MASK) != ROCE_SERVICE_UD)
		roce_drop(qp, rx_dropped_opcode, packet);
	else if (packet->qkey != qp->attr.qkey)
		roce_drop(qp, rx_dropped_qkey, packet);
	else if (packet->payload > qp->mtu)
		roce_drop(qp, rx_dropped_length, packet);
	else if (!roce_receive_ensure(qp))
		roce_drop(qp, rx_dropped_no_receive, packet);
	else
		return receive_datagram(qp, skb, packet);
	return false;
}
