// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What was set can be queried; what makes no sense cannot be set. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

#define ALL_RC (IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | \
		IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV | IBV_QP_PATH_MTU | \
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
		IBV_QP_RQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | \
		IBV_QP_SQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_CAP | \
		IBV_QP_DEST_QPN)

static void query(struct ibv_qp *qp, int mask, struct ibv_qp_attr *attr,
		  struct ibv_qp_init_attr *init)
{
	int err;

	memset(attr, 0, sizeof(*attr));
	err = ibv_query_qp(qp, attr, mask, init);
	if (err)
		die_errno(err, "ibv_query_qp");
}

static void rc_attributes(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .timeout = 15, .retry_cnt = 5,
					    .rnr_retry = 6 });
	query(d.a.qp, ALL_RC, &attr, &init);
	tap_int("query_qp: qp_state", IBV_QPS_RTS, attr.qp_state);
	tap_int("query_qp: path_mtu", mtu_enum(d.a.path.mtu), attr.path_mtu);
	tap_int("query_qp: dest_qp_num", d.b.qp->qp_num, attr.dest_qp_num);
	tap_int("query_qp: rq_psn", d.a.path.rq_psn, attr.rq_psn);
	tap_int("query_qp: sq_psn", d.a.path.sq_psn, attr.sq_psn);
	tap_int("query_qp: timeout", 15, attr.timeout);
	tap_int("query_qp: retry_cnt", 5, attr.retry_cnt);
	tap_int("query_qp: rnr_retry", 6, attr.rnr_retry);
	tap_int("query_qp: min_rnr_timer", 12, attr.min_rnr_timer);
	tap_int("query_qp: max_rd_atomic", 4, attr.max_rd_atomic);
	tap_int("query_qp: max_dest_rd_atomic", 4, attr.max_dest_rd_atomic);
	tap_int("query_qp: access flags", IBV_ACCESS_LOCAL_WRITE |
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		attr.qp_access_flags);
	tap_int("query_qp: port_num", 1, attr.port_num);
	tap_int("query_qp: pkey_index", 0, attr.pkey_index);
	tap_int("query_qp: sgid_index", d.a.port->gid_index,
		attr.ah_attr.grh.sgid_index);
	tap_int("query_qp: hop_limit", 64, attr.ah_attr.grh.hop_limit);
	tap_true("query_qp: is_global", attr.ah_attr.is_global);
	tap_true("query_qp: dgid", !memcmp(&attr.ah_attr.grh.dgid,
					   &d.b.port->gid, 16));
	tap_true("query_qp: capabilities are at least what was asked for",
		 attr.cap.max_send_wr >= 16 && attr.cap.max_recv_wr >= 16 &&
		 attr.cap.max_send_sge >= 4 && attr.cap.max_recv_sge >= 4);
	tap_int("query_qp: sq_sig_all", 0, init.sq_sig_all);
	tap_int("query_qp: qp_type", IBV_QPT_RC, init.qp_type);
	duo_close(&d);
}

static void rts_changes(void)
{
	struct ibv_qp_attr attr = {
		.qp_access_flags = IBV_ACCESS_REMOTE_READ, .min_rnr_timer = 3,
	};
	struct ibv_qp_init_attr init;
	struct duo d;

	duo_open(&d, NULL);
	tap_errno("access flags and RNR timer can be changed in RTS", 0,
		  ibv_modify_qp(d.b.qp, &attr,
				IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER));
	query(d.b.qp, ALL_RC, &attr, &init);
	tap_int("and are what is queried: min_rnr_timer", 3,
		attr.min_rnr_timer);
	tap_int("and are what is queried: access flags", IBV_ACCESS_REMOTE_READ,
		attr.qp_access_flags & ~IBV_ACCESS_LOCAL_WRITE);
	post_rdma(&d, IBV_WR_RDMA_WRITE, 1, sge_of(&d.a, 0, 8),
		  (uintptr_t)d.b.buf, d.b.mr->rkey);
	tap_wc("and hold: a write is refused from now on", d.a.scq, 1,
	       IBV_WC_REM_INV_REQ_ERR);
	duo_close(&d);
}

static void ud_attributes(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .type = IBV_QPT_UD });
	query(d.a.qp, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_PORT, &attr, &init);
	tap_int("query_qp of UD: qkey", TEST_QKEY, attr.qkey);
	tap_int("query_qp of UD: state", IBV_QPS_RTS, attr.qp_state);
	tap_int("query_qp of UD: qp_type", IBV_QPT_UD, init.qp_type);
	duo_close(&d);
}

static int init_with(struct duo *d, uint8_t port, uint16_t pkey)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = port, .pkey_index = pkey,
	};

	return ibv_modify_qp(d->a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT |
			     IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS);
}

static int rtr_with(struct duo *d, int gid_index, enum ibv_mtu mtu,
		    uint8_t rd_atomic, bool global)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu,
		.dest_qp_num = d->b.qp->qp_num,
		.max_dest_rd_atomic = rd_atomic,
		.min_rnr_timer = 1,
		.ah_attr = {
			.is_global = global,
			.port_num = 1,
			.grh = {
				.dgid = d->b.port->gid,
				.sgid_index = gid_index,
				.hop_limit = 64,
			},
		},
	};

	return ibv_modify_qp(d->a.qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static void bad_values(void)
{
	struct duo d;
	enum ibv_mtu mtu;
	int gid;

	duo_open(&d, &(struct duo_options){ .unconnected = true });
	mtu = d.a.port->attr.active_mtu;
	gid = d.a.port->gid_index;
	tap_errno("INIT with port 2 is refused", EINVAL, init_with(&d, 2, 0));
	tap_errno("INIT with a P_Key index beyond the table is refused", EINVAL,
		  init_with(&d, 1, d.a.port->attr.pkey_tbl_len + 5));
	tap_errno("INIT with port 1 and P_Key index 0 succeeds", 0,
		  init_with(&d, 1, 0));
	tap_true("RTR with a GID index that is not there is refused",
		 rtr_with(&d, 255, mtu, 1, true) != 0);
	tap_errno("RTR without a GRH is refused", EINVAL,
		  rtr_with(&d, gid, mtu, 1, false));
	if (mtu < IBV_MTU_4096)
		tap_errno("RTR with a path MTU above the active MTU is refused",
			  EINVAL, rtr_with(&d, gid, mtu + 1, 1, true));
	tap_errno("RTR with more read resources than the device has is refused",
		  EINVAL, rtr_with(&d, gid, mtu,
				   min(d.a.port->dev.max_qp_rd_atom + 1, 255), true));
	tap_errno("RTR with good values succeeds after all these", 0,
		  rtr_with(&d, gid, mtu, 1, true));
	duo_close(&d);
}

void test_attributes(void)
{
	rc_attributes();
	rts_changes();
	ud_attributes();
	bad_values();
}
