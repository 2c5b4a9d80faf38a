// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * flush DEVICE GID-INDEX DEPTH ROUNDS: an RC QP with DEPTH receives, and DEPTH sends to
 * a QP of the same device that does not exist, goes to the error state; ROUNDS times.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <infiniband/verbs.h>

#include "program.h"

#define NO_QPN		0xfffffe
#define MESSAGE		64

static void to_rts(struct ibv_qp *qp, int gid_index)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		err(1, "INIT");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = NO_QPN,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .sgid_index = gid_index, .hop_limit = 64 },
		},
	};
	if (ibv_query_gid(qp->context, 1, gid_index, &attr.ah_attr.grh.dgid))
		err(1, "GID %d", gid_index);
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		err(1, "RTR");
	/* 17 s: nothing is sent again meanwhile. */
	attr = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 22 };
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		err(1, "RTS");
}

static void post(struct ibv_qp *qp, struct ibv_mr *mr, int depth)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, MESSAGE, mr->lkey };
	struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr send = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad_send;
	int i;

	for (i = 0; i < depth; i++)
		if (ibv_post_recv(qp, &receive, &bad_receive) ||
		    ibv_post_send(qp, &send, &bad_send))
			err(1, "posting, number %d", i);
}

/* What was posted was not completed before: nobody has acknowledged it. */
static void poll_flushed(struct ibv_cq *cq, int left)
{
	struct ibv_wc wc;
	int n;

	for (; left; left -= n) {
		n = ibv_poll_cq(cq, 1, &wc);
		if (n < 0 || (n && wc.status != IBV_WC_WR_FLUSH_ERR))
			errx(1, "completion: %d, %s", n, ibv_wc_status_str(wc.status));
	}
}

int main(int argc, char **argv)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	static char memory[MESSAGE];
	struct ibv_context *context;
	int depth, rounds;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	if (argc != 5)
		errx(2, "see the head of flush.c");
	depth = atoi(argv[3]);
	context = open_device(argv[1]);
	pd = context ? ibv_alloc_pd(context) : NULL;
	mr = pd ? ibv_reg_mr(pd, memory, MESSAGE, IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!mr)
		err(1, "%s", argv[1]);
	init.cap = (struct ibv_qp_cap) {
		.max_send_wr = depth, .max_recv_wr = depth,
		.max_send_sge = 1, .max_recv_sge = 1,
	};
	init.send_cq = ibv_create_cq(context, depth, NULL, NULL, 0);
	init.recv_cq = ibv_create_cq(context, depth, NULL, NULL, 0);
	if (!init.send_cq || !init.recv_cq)
		err(1, "CQ");
	for (rounds = atoi(argv[4]); rounds; rounds--) {
		qp = ibv_create_qp(pd, &init);
		if (!qp)
			err(1, "QP");
		to_rts(qp, atoi(argv[2]));
		post(qp, mr, depth);
		if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
			err(1, "ERR");
		poll_flushed(init.send_cq, depth);
		poll_flushed(init.recv_cq, depth);
		ibv_destroy_qp(qp);
	}
	return 0;
}
