// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The QP's states: which ways lead where, and what happens on the way. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

#define STATES 7	/* RESET INIT RTR RTS SQD SQE ERR */

/* RC: allowed[from][to], by the specification and ib_core's table */
static const bool allowed[STATES][STATES] = {
	[IBV_QPS_RESET] = { [IBV_QPS_RESET] = 1, [IBV_QPS_INIT] = 1 },
	[IBV_QPS_INIT] = { [IBV_QPS_RESET] = 1, [IBV_QPS_INIT] = 1,
			   [IBV_QPS_RTR] = 1, [IBV_QPS_ERR] = 1 },
	[IBV_QPS_RTR] = { [IBV_QPS_RESET] = 1, [IBV_QPS_RTS] = 1, [IBV_QPS_ERR] = 1 },
	[IBV_QPS_RTS] = { [IBV_QPS_RESET] = 1, [IBV_QPS_RTS] = 1,
			  [IBV_QPS_SQD] = 1, [IBV_QPS_ERR] = 1 },
	[IBV_QPS_SQD] = { [IBV_QPS_RESET] = 1, [IBV_QPS_RTS] = 1,
			  [IBV_QPS_SQD] = 1, [IBV_QPS_ERR] = 1 },
	[IBV_QPS_ERR] = { [IBV_QPS_RESET] = 1, [IBV_QPS_ERR] = 1 },
};

static int go(struct end *e, enum ibv_qp_state from, enum ibv_qp_state to)
{
	switch (to) {
	case IBV_QPS_INIT:
		return qp_to_init(e->qp, IBV_ACCESS_REMOTE_WRITE);
	case IBV_QPS_RTR:
		return qp_to_rtr(e->qp, e->port, &e->path);
	case IBV_QPS_RTS:
		if (from == IBV_QPS_RTR)
			return qp_to_rts(e->qp, &e->path);
		return qp_to_state(e->qp, to);
	default:
		return qp_to_state(e->qp, to);
	}
}

/* From RESET by the ordinary way. */
static void put(struct end *e, enum ibv_qp_state state)
{
	static const enum ibv_qp_state way[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD,
	};
	enum ibv_qp_state from = IBV_QPS_RESET;
	unsigned int i;

	qp_to_state(e->qp, IBV_QPS_RESET);
	if (state == IBV_QPS_ERR) {
		go(e, from, IBV_QPS_INIT);
		go(e, from, IBV_QPS_ERR);
	}
	for (i = 0; state < IBV_QPS_SQE && i < ARRAY_SIZE(way) &&
	     from != state; i++) {
		if (go(e, from, way[i]))
			die("cannot get to %s", qp_state_str(way[i]));
		from = way[i];
	}
}

static void try_transition(struct duo *d, enum ibv_qp_state from,
			   enum ibv_qp_state to)
{
	bool want = allowed[from][to];
	enum ibv_qp_state seen;
	char name[96];
	int err;

	put(&d->a, from);
	err = go(&d->a, from, to);
	seen = qp_state(d->a.qp);
	snprintf(name, sizeof(name), "RC QP: %s to %s is %s",
		 qp_state_str(from), qp_state_str(to),
		 want ? "allowed" : "refused and changes nothing");
	if (want)
		tap_errno(name, 0, err ?: seen == to ? 0 : EPROTO);
	else
		tap_errno(name, EINVAL, seen != from ? EPROTO : err);
}

static void transitions(void)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
		IBV_QPS_SQD, IBV_QPS_ERR,
	};
	unsigned int i, k;
	struct duo d;

	duo_open(&d, NULL);
	for (i = 0; i < ARRAY_SIZE(states); i++)
		for (k = 0; k < ARRAY_SIZE(states); k++)
			try_transition(&d, states[i], states[k]);
	duo_close(&d);
}

static int modify_without(struct end *e, enum ibv_qp_state state, int mask,
			  int left_out)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = 1,
		.path_mtu = mtu_enum(e->path.mtu),
		.dest_qp_num = e->path.qpn,
		.max_dest_rd_atomic = 1,
		.max_rd_atomic = 1,
		.timeout = 14,
	};

	fill_ah_attr(&attr.ah_attr, e->port, &e->path);
	return ibv_modify_qp(e->qp, &attr, mask & ~left_out);
}

/* Each attribute that a transition needs is missed when it is not there. */
static void required_attributes(void)
{
	static const struct {
		enum ibv_qp_state from, to;
		int mask;
	} steps[] = {
		{ IBV_QPS_RESET, IBV_QPS_INIT,
		  IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
		{ IBV_QPS_INIT, IBV_QPS_RTR,
		  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		  IBV_QP_MIN_RNR_TIMER },
		{ IBV_QPS_RTR, IBV_QPS_RTS,
		  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC },
	};
	unsigned int i;
	struct duo d;
	char name[96];
	int bit;

	duo_open(&d, NULL);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		put(&d.a, steps[i].from);
		for (bit = 1; bit <= steps[i].mask; bit <<= 1) {
			if (!(steps[i].mask & bit))
				continue;
			snprintf(name, sizeof(name),
				 "RC QP: %s to %s without attribute %#x is refused",
				 qp_state_str(steps[i].from),
				 qp_state_str(steps[i].to), bit);
			tap_errno(name, EINVAL,
				  modify_without(&d.a, steps[i].to,
						 steps[i].mask | IBV_QP_STATE,
						 bit));
		}
		snprintf(name, sizeof(name), "RC QP: %s to %s with all of them succeeds",
			 qp_state_str(steps[i].from), qp_state_str(steps[i].to));
		tap_errno(name, 0, modify_without(&d.a, steps[i].to,
						  steps[i].mask | IBV_QP_STATE, 0));
	}
	put(&d.a, IBV_QPS_INIT);
	tap_errno("RC QP: INIT to RTR with an attribute of RTS is refused", EINVAL,
		  modify_without(&d.a, IBV_QPS_RTR, steps[1].mask |
				 IBV_QP_STATE | IBV_QP_SQ_PSN, 0));
	duo_close(&d);
}

static void flush_by_modify(void)
{
	struct duo d;
	int i;

	duo_open(&d, &(struct duo_options){ .rnr_retry = 7 });
	for (i = 1; i <= 8; i++)
		post_send(&d.a, i, sge_of(&d.a, 0, 8), 0);
	for (i = 11; i <= 18; i++)
		post_recv(&d.a, i, sge_of(&d.a, 0, 8));
	tap_errno("a busy QP goes to ERR", 0, qp_to_state(d.a.qp, IBV_QPS_ERR));
	tap_wcs("its sends are flushed in order", d.a.scq, 1, 8,
		IBV_WC_WR_FLUSH_ERR);
	tap_wcs("its receives are flushed in order", d.a.rcq, 11, 18,
		IBV_WC_WR_FLUSH_ERR);
	tap_no_wc("nothing is flushed twice", d.a.scq, 20);

	qp_to_state(d.a.qp, IBV_QPS_RESET);
	qp_to_state(d.b.qp, IBV_QPS_RESET);
	duo_connect(&d);
	tap_alive("the same QPs connect again after RESET", &d);
	duo_close(&d);
}

static void reset_forgets(void)
{
	struct duo d;
	int i;

	duo_open(&d, &(struct duo_options){ .rnr_retry = 7 });
	for (i = 1; i <= 8; i++)
		post_send(&d.a, i, sge_of(&d.a, 0, 8), 0);
	tap_errno("a busy QP goes to RESET", 0,
		  qp_to_state(d.a.qp, IBV_QPS_RESET));
	tap_no_wc("RESET drops its requests without completions", d.a.scq, 50);
	qp_to_state(d.b.qp, IBV_QPS_RESET);
	duo_connect(&d);
	tap_alive("and it connects again", &d);
	duo_close(&d);
}

static void sqd(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};
	struct duo d;
	int i;

	duo_open(&d, NULL);
	for (i = 1; i <= 4; i++)
		post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge_of(&d.a, 0, 20000),
			  (uintptr_t)d.b.buf, d.b.mr->rkey);
	tap_errno("RTS to SQD with notification", 0,
		  ibv_modify_qp(d.a.qp, &attr, IBV_QP_STATE |
				IBV_QP_EN_SQD_ASYNC_NOTIFY));
	tap_true("SQ_DRAINED is signalled when the queue has drained",
		 wait_async(d.a.port->ctx, IBV_EVENT_SQ_DRAINED, PATIENCE_MS));
	for (i = 5; i <= 6; i++)
		post_rdma(&d, IBV_WR_RDMA_WRITE, i, sge_of(&d.a, 0, 100),
			  (uintptr_t)d.b.buf, d.b.mr->rkey);
	tap_errno("SQD to RTS", 0, qp_to_state(d.a.qp, IBV_QPS_RTS));
	tap_wcs("what was posted before and in SQD completes once, in order",
		d.a.scq, 1, 6, IBV_WC_SUCCESS);
	duo_close(&d);

	duo_open(&d, NULL);
	qp_to_state(d.a.qp, IBV_QPS_SQD);
	post_recv(&d.b, 11, sge_of(&d.b, 0, 8));
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_no_wc("a request posted in SQD is not sent", d.b.rcq, 100);
	post_recv(&d.a, 12, sge_of(&d.a, 0, 8));
	post_send(&d.b, 2, sge_of(&d.b, 0, 8), 0);
	tap_wc("a QP in SQD receives", d.a.rcq, 12, IBV_WC_SUCCESS);
	duo_close(&d);
}

/* INIT may take receives, RTR may use them, only RTS may send. */
static void early_receive(void)
{
	struct duo d;

	duo_open(&d, &(struct duo_options){ .rnr_retry = 7 });
	qp_to_state(d.b.qp, IBV_QPS_RESET);
	qp_to_init(d.b.qp, IBV_ACCESS_REMOTE_WRITE);
	post_recv(&d.b, 11, sge_of(&d.b, 0, 8));
	qp_to_rtr(d.b.qp, d.b.port, &d.b.path);
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_wc("a receive posted in INIT is used in RTR", d.b.rcq, 11,
	       IBV_WC_SUCCESS);
	tap_wc("a QP in RTR acknowledges", d.a.scq, 1, IBV_WC_SUCCESS);
	duo_close(&d);
}

/* What was refused is not sent either, when the QP can send at last, and not flushed. */
static void early_send(void)
{
	struct duo d;

	duo_open(&d, NULL);
	put(&d.a, IBV_QPS_RTR);
	tap_errno("a send in RTR is refused", EINVAL,
		  post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0));
	go(&d.a, IBV_QPS_RTR, IBV_QPS_RTS);
	tap_no_wc("and not sent in RTS", d.a.scq, 100);
	tap_alive("what is posted then is the first to be sent", &d);
	put(&d.a, IBV_QPS_RTR);
	tap_errno("a QP that never gets to RTS refuses, too", EINVAL,
		  post_send(&d.a, 2, sge_of(&d.a, 0, 8), 0));
	qp_to_state(d.a.qp, IBV_QPS_ERR);
	post_send(&d.a, 3, sge_of(&d.a, 0, 8), 0);
	tap_wc("and flushes what is posted later alone", d.a.scq, 3, IBV_WC_WR_FLUSH_ERR);
	duo_close(&d);
}

static void query(struct end *e, struct ibv_qp_attr *attr)
{
	struct ibv_qp_init_attr init;

	if (ibv_query_qp(e->qp, attr, IBV_QP_RQ_PSN | IBV_QP_SQ_PSN |
			 IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_AV, &init))
		die("ibv_query_qp");
}

static void reset_leaves_no_trace(void)
{
	struct ibv_qp_attr fresh, used;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .unconnected = true });
	put(&d.a, IBV_QPS_INIT);
	query(&d.a, &fresh);
	duo_connect(&d);
	put(&d.a, IBV_QPS_INIT);
	query(&d.a, &used);
	tap_int("after RESET the path MTU is that of a new QP", fresh.path_mtu,
		used.path_mtu);
	tap_int("and so is the PSN to send", fresh.sq_psn, used.sq_psn);
	tap_int("and the PSN to receive", fresh.rq_psn, used.rq_psn);
	tap_int("and the peer", fresh.dest_qp_num, used.dest_qp_num);
	tap_true("and its address", !memcmp(&fresh.ah_attr, &used.ah_attr, sizeof(used.ah_attr)));
	duo_close(&d);
}

static atomic_bool stop_sending;

/* Datagrams, which nobody has to answer */
static void *send_on(void *arg)
{
	struct end *e = arg;
	struct ibv_wc wc;

	while (!stop_sending) {
		if (post_send(e, 1, sge_of(e, 0, 64), 0) ||
		    !wait_wc(e->scq, &wc, PATIENCE_MS) || wc.status)
			die("a datagram cannot be sent");
	}
	return NULL;
}

#define RESETS	200

static void reset_under_traffic(void)
{
	pthread_t thread;
	struct duo d;
	int i;

	duo_open(&d, &(struct duo_options){ .type = IBV_QPT_UD });
	stop_sending = false;
	if (pthread_create(&thread, NULL, send_on, &d.a))
		die("pthread_create");
	for (i = 0; i < RESETS; i++)
		put(&d.b, IBV_QPS_RTS);
	stop_sending = true;
	pthread_join(thread, NULL);
	duo_close(&d);

	duo_open(&d, &(struct duo_options){ .type = IBV_QPT_UD });
	tap_alive("a QP is reset again and again while packets come for it", &d);
	duo_close(&d);
}

void test_states(void)
{
	transitions();
	required_attributes();
	flush_by_modify();
	reset_forgets();
	sqd();
	early_receive();
	early_send();
	reset_leaves_no_trace();
	reset_under_traffic();
}
