// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A port of a device, and a QP's way from RESET to RTS. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "util.h"
#include "rdma.h"

#define MAX_ASKED 60

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	if (!list)
		die_errno(errno, "ibv_get_device_list");
	for (i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			break;
	if (!list[i])
		die("no RDMA device %s", name);
	ctx = ibv_open_device(list[i]);
	if (!ctx)
		die_errno(errno, "ibv_open_device %s", name);
	ibv_free_device_list(list);
	return ctx;
}

void port_open(struct port *port, const char *device, int gid_index)
{
	int err;

	port->ctx = open_device(device);
	port->gid_index = gid_index;
	err = ibv_query_device(port->ctx, &port->dev);
	if (err)
		die_errno(err, "ibv_query_device");
	err = ibv_query_port(port->ctx, 1, &port->attr);
	if (err)
		die_errno(err, "ibv_query_port");
	if (ibv_query_gid(port->ctx, 1, gid_index, &port->gid))
		die_errno(errno, "ibv_query_gid %d", gid_index);
}

void port_close(struct port *port)
{
	if (ibv_close_device(port->ctx))
		die_errno(errno, "ibv_close_device");
}

enum ibv_mtu mtu_enum(uint32_t bytes)
{
	switch (bytes) {
	case 256:
		return IBV_MTU_256;
	case 512:
		return IBV_MTU_512;
	case 1024:
		return IBV_MTU_1024;
	case 2048:
		return IBV_MTU_2048;
	case 4096:
		return IBV_MTU_4096;
	}
	die("no path MTU: %u", bytes);
}

uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

bool gid_is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

void gid_of_address(union ibv_gid *gid, const char *address)
{
	if (inet_pton(AF_INET6, address, gid->raw) == 1)
		return;
	memset(gid->raw, 0, 10);
	memset(gid->raw + 10, 0xff, 2);
	if (inet_pton(AF_INET, address, gid->raw + 12) != 1)
		die("no address: %s", address);
}

void fill_ah_attr(struct ibv_ah_attr *attr, const struct port *port,
		  const struct path *path)
{
	*attr = (struct ibv_ah_attr) {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = path->gid,
			.sgid_index = port->gid_index,
			.hop_limit = 64,
			.traffic_class = path->traffic_class,
			.flow_label = path->flow_label,
		},
	};
}

/*
 * The core waits for a neighbour's answer for one second. On a slow machine, and on a
 * NIC whose carrier has just come, the answer takes longer.
 */
static bool ask_again(int *asked)
{
	return ++*asked < MAX_ASKED;
}

struct ibv_ah *ah_create(struct ibv_pd *pd, const struct port *port,
			 const struct path *path)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	int asked = 0;

	fill_ah_attr(&attr, port, path);
	do
		ah = ibv_create_ah(pd, &attr);
	while (!ah && errno == ETIMEDOUT && ask_again(&asked));
	return ah;
}

int qp_to_init(struct ibv_qp *qp, unsigned int access)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = TEST_QKEY,
		.qp_access_flags = access,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	mask |= qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	return ibv_modify_qp(qp, &attr, mask);
}

int qp_to_rtr(struct ibv_qp *qp, const struct port *port,
	      const struct path *path)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int err, asked = 0, mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD) {
		attr.path_mtu = mtu_enum(path->mtu);
		attr.dest_qp_num = path->qpn;
		attr.rq_psn = path->rq_psn;
		fill_ah_attr(&attr.ah_attr, port, path);
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	}
	if (qp->qp_type == IBV_QPT_RC) {
		attr.max_dest_rd_atomic = path->rd_atomic;
		attr.min_rnr_timer = path->min_rnr_timer;
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	}
	do
		err = ibv_modify_qp(qp, &attr, mask);
	while (err == ETIMEDOUT && ask_again(&asked));
	return err;
}

int qp_to_rts(struct ibv_qp *qp, const struct path *path)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = path->sq_psn,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (qp->qp_type == IBV_QPT_RC) {
		attr.timeout = path->timeout;
		attr.retry_cnt = path->retry_cnt;
		attr.rnr_retry = path->rnr_retry;
		attr.max_rd_atomic = path->rd_atomic;
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	}
	return ibv_modify_qp(qp, &attr, mask);
}

int qp_to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

enum ibv_qp_state qp_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { 0 };
	int err = ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);

	if (err)
		die_errno(err, "ibv_query_qp");
	return attr.qp_state;
}

const char *wc_opcode_str(enum ibv_wc_opcode opcode)
{
	switch (opcode) {
	case IBV_WC_SEND:
		return "SEND";
	case IBV_WC_RDMA_WRITE:
		return "RDMA_WRITE";
	case IBV_WC_RDMA_READ:
		return "RDMA_READ";
	case IBV_WC_COMP_SWAP:
		return "COMP_SWAP";
	case IBV_WC_FETCH_ADD:
		return "FETCH_ADD";
	case IBV_WC_RECV:
		return "RECV";
	case IBV_WC_RECV_RDMA_WITH_IMM:
		return "RECV_RDMA_WITH_IMM";
	default:
		return "another";
	}
}

const char *qp_state_str(enum ibv_qp_state state)
{
	static const char *const names[] = {
		"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR", "UNKNOWN",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}
