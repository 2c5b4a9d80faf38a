/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints "roce:*", which show the life of a packet. A train is one event, with the
 * range of its PSNs.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM roce

#if !defined(ROCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ROCE_TRACE_H

#include <linux/tracepoint.h>

#include "codec.h"
#include "qp.h"
#include "roce_wire.h"

#define show_qp_state(state) \
	__print_symbolic(state, \
			 { IB_QPS_RESET, "RESET" }, { IB_QPS_INIT, "INIT" }, \
			 { IB_QPS_RTR, "RTR" }, { IB_QPS_RTS, "RTS" }, \
			 { IB_QPS_SQD, "SQD" }, { IB_QPS_SQE, "SQE" }, \
			 { IB_QPS_ERR, "ERR" })

/* The first BTH is at @offset of @skb. */
DECLARE_EVENT_CLASS(roce_train,
	TP_PROTO(const struct roce_qp *qp, const struct sk_buff *skb,
		 u32 offset, u32 packets, u32 bytes),
	TP_ARGS(qp, skb, offset, packets, bytes),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, destination)
		__field(u32, psn)
		__field(u32, last_psn)
		__field(u32, packets)
		__field(u32, bytes)
		__field(u8, opcode)
	),

	TP_fast_assign(
		u32 last = offset + (packets - 1) * skb_shinfo(skb)->gso_size;
		struct roce_bth buffer = {}, last_buffer = {};
		const struct roce_bth *bth, *last_bth;

		bth = skb_header_pointer(skb, offset, sizeof(buffer), &buffer)
			?: &buffer;
		last_bth = skb_header_pointer(skb, last, sizeof(last_buffer),
					      &last_buffer) ?: &last_buffer;
		strscpy(__entry->device, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->destination = roce_bth_qpn(bth);
		__entry->psn = roce_bth_psn(bth);
		__entry->last_psn = roce_bth_psn(last_bth);
		__entry->packets = packets;
		__entry->bytes = bytes;
		__entry->opcode = bth->opcode;
	),

	TP_printk("%s qpn=%u to=%u opcode=0x%02x psn=%u..%u packets=%u bytes=%u",
		  __entry->device, __entry->qpn, __entry->destination,
		  __entry->opcode, __entry->psn, __entry->last_psn,
		  __entry->packets, __entry->bytes)
);

DEFINE_EVENT(roce_train, roce_train_sent,
	TP_PROTO(const struct roce_qp *qp, const struct sk_buff *skb,
		 u32 offset, u32 packets, u32 bytes),
	TP_ARGS(qp, skb, offset, packets, bytes)
);

DEFINE_EVENT(roce_train, roce_train_received,
	TP_PROTO(const struct roce_qp *qp, const struct sk_buff *skb,
		 u32 offset, u32 packets, u32 bytes),
	TP_ARGS(qp, skb, offset, packets, bytes)
);

/* @reason: name of the counter. Without a QP, @qpn is the one in the packet. */
TRACE_EVENT(roce_drop,
	TP_PROTO(const struct roce_device *dev, u32 qpn, u32 psn, u32 packets,
		 const char *reason),
	TP_ARGS(dev, qpn, psn, packets, reason),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__array(char, reason, 32)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, packets)
	),

	TP_fast_assign(
		strscpy(__entry->device, dev_name(&dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		strscpy(__entry->reason, reason, 32);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->packets = packets;
	),

	TP_printk("%s qpn=%u psn=%u packets=%u reason=%s", __entry->device,
		  __entry->qpn, __entry->psn, __entry->packets, __entry->reason)
);

/* The syndrome of an AETH: 0x20 and more is an RNR NAK, 0x60 and more a NAK. */
DECLARE_EVENT_CLASS(roce_nak,
	TP_PROTO(const struct roce_qp *qp, u32 psn, u8 syndrome),
	TP_ARGS(qp, psn, syndrome),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, syndrome)
	),

	TP_fast_assign(
		strscpy(__entry->device, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->psn = psn;
		__entry->syndrome = syndrome;
	),

	TP_printk("%s qpn=%u psn=%u syndrome=0x%02x %s", __entry->device,
		  __entry->qpn, __entry->psn, __entry->syndrome,
		  __print_symbolic(__entry->syndrome & ROCE_AETH_KIND_MASK,
				   { ROCE_AETH_RNR_NAK, "RNR" },
				   { ROCE_AETH_NAK, "NAK" }))
);

DEFINE_EVENT(roce_nak, roce_nak_sent,
	TP_PROTO(const struct roce_qp *qp, u32 psn, u8 syndrome),
	TP_ARGS(qp, psn, syndrome)
);

DEFINE_EVENT(roce_nak, roce_nak_received,
	TP_PROTO(const struct roce_qp *qp, u32 psn, u8 syndrome),
	TP_ARGS(qp, psn, syndrome)
);

/* @lost: missing packets are lost up to this offset from @psn */
DECLARE_EVENT_CLASS(roce_sack,
	TP_PROTO(const struct roce_qp *qp, u32 psn, u32 lost, u32 ranges),
	TP_ARGS(qp, psn, lost, ranges),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, lost)
		__field(u32, ranges)
	),

	TP_fast_assign(
		strscpy(__entry->device, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->psn = psn;
		__entry->lost = lost;
		__entry->ranges = ranges;
	),

	TP_printk("%s qpn=%u psn=%u lost=%u ranges=%u", __entry->device,
		  __entry->qpn, __entry->psn, __entry->lost, __entry->ranges)
);

DEFINE_EVENT(roce_sack, roce_sack_sent,
	TP_PROTO(const struct roce_qp *qp, u32 psn, u32 lost, u32 ranges),
	TP_ARGS(qp, psn, lost, ranges)
);

DEFINE_EVENT(roce_sack, roce_sack_received,
	TP_PROTO(const struct roce_qp *qp, u32 psn, u32 lost, u32 ranges),
	TP_ARGS(qp, psn, lost, ranges)
);

/* A path of the requester, by its index, see path.c */
DECLARE_EVENT_CLASS(roce_path,
	TP_PROTO(const struct roce_qp *qp, u32 path),
	TP_ARGS(qp, path),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, path)
	),

	TP_fast_assign(
		strscpy(__entry->device, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->path = path;
	),

	TP_printk("%s qpn=%u path=%u", __entry->device, __entry->qpn, __entry->path)
);

DEFINE_EVENT(roce_path, roce_path_left,
	TP_PROTO(const struct roce_qp *qp, u32 path),
	TP_ARGS(qp, path)
);

DEFINE_EVENT(roce_path, roce_path_returned,
	TP_PROTO(const struct roce_qp *qp, u32 path),
	TP_ARGS(qp, path)
);

/* The requester goes back to @psn; @reason is the name of the counter. */
TRACE_EVENT(roce_retry,
	TP_PROTO(const struct roce_qp *qp, const char *reason),
	TP_ARGS(qp, reason),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__array(char, reason, 32)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, limit)
		__field(u8, retries)
	),

	TP_fast_assign(
		strscpy(__entry->device, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		strscpy(__entry->reason, reason, 32);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->psn = qp->requester.unacked_psn;
		__entry->limit = qp->requester.limit_psn;
		__entry->retries = qp->requester.retries;
	),

	TP_printk("%s qpn=%u psn=%u limit=%u retries_left=%u reason=%s",
		  __entry->device, __entry->qpn, __entry->psn, __entry->limit,
		  __entry->retries, __entry->reason)
);

TRACE_EVENT(roce_cnp_sent,
	TP_PROTO(const struct roce_qp *qp),
	TP_ARGS(qp),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, destination)
	),

	TP_fast_assign(
		strscpy(__entry->device, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->destination = qp->attr.dest_qp_num;
	),

	TP_printk("%s qpn=%u to=%u", __entry->device, __entry->qpn,
		  __entry->destination)
);

/* @handled: the QP's algorithm reacts to CNPs. */
TRACE_EVENT(roce_cnp_received,
	TP_PROTO(const struct roce_qp *qp, bool handled),
	TP_ARGS(qp, handled),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(bool, handled)
	),

	TP_fast_assign(
		strscpy(__entry->device, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->handled = handled;
	),

	TP_printk("%s qpn=%u %s", __entry->device, __entry->qpn,
		  __entry->handled ? "handled" : "ignored")
);

/* Bits per second; the line rate for an unlimited flow */
TRACE_EVENT(roce_rate_change,
	TP_PROTO(const struct roce_qp *qp, u64 from, u64 to),
	TP_ARGS(qp, from, to),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u64, from)
		__field(u64, to)
	),

	TP_fast_assign(
		strscpy(__entry->device, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->from = min(from, qp->flow.cc.line_rate);
		__entry->to = min(to, qp->flow.cc.line_rate);
	),

	TP_printk("%s qpn=%u from=%llu to=%llu", __entry->device,
		  __entry->qpn, __entry->from, __entry->to)
);

TRACE_EVENT(roce_qp_state,
	TP_PROTO(const struct roce_qp *qp, enum ib_qp_state from,
		 enum ib_qp_state to),
	TP_ARGS(qp, from, to),

	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u8, from)
		__field(u8, to)
	),

	TP_fast_assign(
		strscpy(__entry->device, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->from = from;
		__entry->to = to;
	),

	TP_printk("%s qpn=%u %s -> %s", __entry->device, __entry->qpn,
		  show_qp_state(__entry->from), show_qp_state(__entry->to))
);

#endif /* ROCE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
