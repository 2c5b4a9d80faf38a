// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The performance management agent (IBA volume 1, 16.1): PortCounters and
 * PortCountersExtended, for MADs to QP 1, and for the core's
 * /sys/class/infiniband/DEVICE/ports/1/counters.
 *
 * These counters are sums of counters of counters.c, but a manager can set them. So
 * each has a base: the sum at the time when the counter was zero.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "compat.h"
#include "counters.h"
#include "device.h"
#include "verbs.h"

/* Offset of the attribute in the data of a MAD */
#define PMA_DATA_OFFSET	40

#define PORT		1
#define ALL_PORTS	0xff

/* 16.1.3.1: 4.096 us * 2^18, the usual value */
#define RESPONSE_TIME	18

/**
 * struct field - a counter in an attribute
 * @offset: of its first byte
 * @size: bytes, 0 if the attribute does not have this counter
 * @select: its bit in CounterSelect; in CounterSelect2 from 16 on
 */
struct field {
	u8 offset;
	u8 size;
	u8 select;
};

#define SUM_OF_MAX	5

/**
 * struct port_counter - a counter of performance management
 * @sum_of: counters of the device
 * @terms: number of counters in @sum_of
 * @less: how many of them, at the end, are subtracted
 * @shift: 2 if it counts words of four bytes and they count bytes
 * @plain: in PortCounters, where it stops at its largest value
 * @extended: in PortCountersExtended
 */
struct port_counter {
	enum roce_counter sum_of[SUM_OF_MAX];
	u8 terms;
	u8 less;
	u8 shift;
	struct field plain;
	struct field extended;
};

#define SUM_OF(...) \
	.sum_of = { __VA_ARGS__ }, \
	.terms = sizeof((enum roce_counter[]){ __VA_ARGS__ }) / \
		 sizeof(enum roce_counter)
#define PLAIN(member, bytes, bit) \
	.plain.offset = offsetof(struct ib_pma_portcounters, member), \
	.plain.size = (bytes), .plain.select = (bit)
#define EXTENDED(member, bit) \
	.extended.offset = offsetof(struct ib_pma_portcounters_ext, member), \
	.extended.size = sizeof(u64), .extended.select = (bit)

/* 16.1.3.5 and 16.1.4.11. Counters that are missing here are 0 on Ethernet. */
static const struct port_counter port_counters[ROCE_PORT_COUNTERS] = {
	{
		SUM_OF(ROCE_COUNTER_tx_bytes), .shift = 2,
		PLAIN(port_xmit_data, 4, 12), EXTENDED(port_xmit_data, 0),
	}, {
		SUM_OF(ROCE_COUNTER_rx_bytes), .shift = 2,
		PLAIN(port_rcv_data, 4, 13), EXTENDED(port_rcv_data, 1),
	}, {
		SUM_OF(ROCE_COUNTER_tx_packets),
		PLAIN(port_xmit_packets, 4, 14), EXTENDED(port_xmit_packets, 2),
	}, {
		SUM_OF(ROCE_COUNTER_rx_packets),
		PLAIN(port_rcv_packets, 4, 15), EXTENDED(port_rcv_packets, 3),
	}, {
		SUM_OF(ROCE_COUNTER_tx_packets,
		       ROCE_COUNTER_tx_multicast_packets), .less = 1,
		EXTENDED(port_unicast_xmit_packets, 4),
	}, {
		SUM_OF(ROCE_COUNTER_rx_packets,
		       ROCE_COUNTER_rx_multicast_packets), .less = 1,
		EXTENDED(port_unicast_rcv_packets, 5),
	}, {
		SUM_OF(ROCE_COUNTER_tx_multicast_packets),
		EXTENDED(port_multicast_xmit_packets, 6),
	}, {
		SUM_OF(ROCE_COUNTER_rx_multicast_packets),
		EXTENDED(port_multicast_rcv_packets, 7),
	}, {
		SUM_OF(ROCE_COUNTER_link_downed),
		PLAIN(link_downed_counter, 1, 2),
	}, {
		SUM_OF(ROCE_COUNTER_rx_icrc_encapsulated,
		       ROCE_COUNTER_rx_dropped_header,
		       ROCE_COUNTER_rx_dropped_length,
		       ROCE_COUNTER_rx_dropped_inbox_full,
		       ROCE_COUNTER_rx_dropped_no_memory),
		PLAIN(port_rcv_errors, 2, 3),
	}, {
		SUM_OF(ROCE_COUNTER_tx_dropped_no_route,
		       ROCE_COUNTER_tx_dropped_queue_full),
		PLAIN(port_xmit_discards, 2, 6),
	}, {
		SUM_OF(ROCE_COUNTER_rx_dropped_pkey),
		PLAIN(port_rcv_constraint_errors, 1, 8),
	}, {
		SUM_OF(ROCE_COUNTER_tx_wait_us),
		PLAIN(port_xmit_wait, 4, 16),
	},
};

/* The sum since the device was created */
static u64 total(struct roce_device *dev, const struct port_counter *counter)
{
	u64 sum = 0;
	int i;

	/* Read the subtracted counters first, so that the sum cannot be negative. */
	for (i = counter->terms; i--; ) {
		u64 term = roce_counter_total(dev, counter->sum_of[i]);

		if (i < counter->terms - counter->less)
			sum += term;
		else
			sum -= term;
	}
	return sum >> counter->shift;
}

static u64 get_field(const u8 *data, const struct field *field)
{
	switch (field->size) {
	case 1:
		return data[field->offset];
	case 2:
		return get_unaligned_be16(data + field->offset);
	case 4:
		return get_unaligned_be32(data + field->offset);
	default:
		return get_unaligned_be64(data + field->offset);
	}
}

static void put_field(u8 *data, const struct field *field, u64 value)
{
	switch (field->size) {
	case 1:
		data[field->offset] = min_t(u64, value, U8_MAX);
		break;
	case 2:
		put_unaligned_be16(min_t(u64, value, U16_MAX),
				   data + field->offset);
		break;
	case 4:
		put_unaligned_be32(min_t(u64, value, U32_MAX),
				   data + field->offset);
		break;
	default:
		put_unaligned_be64(value, data + field->offset);
		break;
	}
}

static const struct field *field_in(const struct port_counter *counter,
				    bool extended)
{
	const struct field *field = extended ? &counter->extended :
					       &counter->plain;

	return field->size ? field : NULL;
}

static void set_counters(struct roce_device *dev, const u8 *data, u32 select,
			 bool extended)
{
	int i;

	for (i = 0; i < ROCE_PORT_COUNTERS; i++) {
		const struct port_counter *counter = &port_counters[i];
		const struct field *field = field_in(counter, extended);

		if (field && select & BIT(field->select))
			dev->port_counters.base[i] = total(dev, counter) -
						     get_field(data, field);
	}
}

static void get_counters(struct roce_device *dev, u8 *data, bool extended)
{
	int i;

	for (i = 0; i < ROCE_PORT_COUNTERS; i++) {
		const struct port_counter *counter = &port_counters[i];
		const struct field *field = field_in(counter, extended);

		if (field)
			put_field(data, field, total(dev, counter) -
					       dev->port_counters.base[i]);
	}
}

static __be16 answer_counters(struct roce_device *dev, bool set, const u8 *in,
			      u8 *out, bool extended)
{
	/* The fields that are not counters are the same in both attributes. */
	const struct ib_pma_portcounters *request = (const void *)in;
	struct ib_pma_portcounters *response = (void *)out;
	u32 select = be16_to_cpu(request->counter_select);

	if (request->port_select != PORT && request->port_select != ALL_PORTS)
		return cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);

	mutex_lock(&dev->port_counters.lock);
	if (!extended)
		select |= request->reserved1 << 16;	/* CounterSelect2 */
	if (set)
		set_counters(dev, in, select, extended);
	get_counters(dev, out, extended);
	mutex_unlock(&dev->port_counters.lock);

	response->port_select = request->port_select;
	response->counter_select = request->counter_select;
	if (!extended)
		response->reserved1 = request->reserved1;
	return 0;
}

static __be16 answer_class_port_info(bool set, u8 *out)
{
	struct ib_class_port_info *info = (void *)out;

	if (set)
		return cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_ALLPORTSELECT |
				IB_PMA_CLASS_CAP_EXT_WIDTH |
				IB_PMA_CLASS_CAP_XMIT_WAIT;
	ib_set_cpi_resp_time(info, RESPONSE_TIME);
	return 0;
}

static __be16 answer(struct roce_device *dev, const struct ib_mad *in,
		     struct ib_mad *out)
{
	const struct ib_mad_hdr *header = &in->mad_hdr;
	const u8 *request = in->data + PMA_DATA_OFFSET;
	bool set = header->method == IB_MGMT_METHOD_SET;
	u8 *response = out->data + PMA_DATA_OFFSET;

	if (header->base_version != IB_MGMT_BASE_VERSION ||
	    header->class_version != 1)
		return cpu_to_be16(IB_MGMT_MAD_STATUS_BAD_VERSION);
	if (!set && header->method != IB_MGMT_METHOD_GET)
		return cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD);

	switch (header->attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		return answer_class_port_info(set, response);
	case IB_PMA_PORT_COUNTERS:
		return answer_counters(dev, set, request, response, false);
	case IB_PMA_PORT_COUNTERS_EXT:
		return answer_counters(dev, set, request, response, true);
	default:
		return cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	}
}

/**
 * roce_process_mad() - the process_mad verb
 * @ibdev: the device
 * @flags: ignored; there is no M_Key
 * @port: 1
 * @wc: of the receive, NULL for a request of the core
 * @grh: of the receive, NULL for a request of the core
 * @in: a MAD to QP 1
 * @out: the response, if there is one
 * @size: of @out
 * @pkey_index: of the response, left at 0
 *
 * Process context. Anyone who can send to QP 1 may set the counters, as the class
 * defines it.
 *
 * Return: IB_MAD_RESULT_SUCCESS, with IB_MAD_RESULT_REPLY for a request of performance
 * management. All other MADs are for other agents, like the connection manager.
 */
int roce_process_mad(struct ib_device *ibdev, int flags, u32 port,
		     const struct ib_wc *wc, const struct ib_grh *grh,
		     const struct ib_mad *in, struct ib_mad *out, size_t *size,
		     u16 *pkey_index)
{
	const struct ib_mad_hdr *header = &in->mad_hdr;

	if (header->mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    header->method & IB_MGMT_METHOD_RESP)
		return IB_MAD_RESULT_SUCCESS;

	*out = (struct ib_mad) { .mad_hdr = *header };
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = answer(to_roce_device(ibdev), in, out);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
