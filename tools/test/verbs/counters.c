// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What counts what goes wrong: each case does one thing once, and the counters
 * of both devices grow by as much as that is, and no other one does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/* Of either side, in the namespace of this program */
static uint64_t read_counter(const struct port *port, const char *name)
{
	const char *device = ibv_get_device_name(port->ctx->device);
	unsigned long long value;
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s", device, name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &value) != 1)
		die_errno(errno, "%s", path);
	fclose(file);
	return value;
}

static const char *const names[] = {
	"rcvd_seq_err", "packet_seq_err", "implied_nak_seq_err",
	"local_ack_timeout_err", "completer_retry_err", "retransmitted_packets",
	"rcvd_rnr_err", "rnr_nak_retry_err", "out_of_sequence",
	"out_of_seq_request", "out_of_buffer", "send_rnr_err",
	"duplicate_request", "req_cqe_error", "resp_cqe_error",
	"req_cqe_flush_error", "resp_cqe_flush_error",
	"req_remote_access_errors", "req_remote_invalid_request",
	"resp_remote_access_errors", "resp_local_length_error",
	"req_transport_retries_exceeded", "req_rnr_retries_exceeded",
	"retry_exceeded_err", "retry_rnr_exceeded_err",
	"rx_icrc_encapsulated", "rx_dropped_header", "rx_dropped_length",
	"rx_dropped_opcode", "rx_dropped_pkey", "rx_dropped_qkey",
	"rx_dropped_address", "rx_dropped_no_qp", "rx_dropped_qp_state",
	"rx_dropped_unexpected_ack", "rx_dropped_no_receive",
	"rx_dropped_incomplete", "rx_dropped_inbox_full",
	"rx_dropped_no_memory", "tx_dropped_no_route", "tx_dropped_queue_full",
};

/* What is too much, or must not be counted, comes this soon. */
#define SETTLE_MS 50

struct snapshot {
	uint64_t a[ARRAY_SIZE(names)];
	uint64_t b[ARRAY_SIZE(names)];
};

static void take_snapshot(const struct duo *d, struct snapshot *snapshot)
{
	unsigned int i;

	/* The core shows again what it has read within the same tick of the kernel. */
	sleep_ms(SETTLE_MS);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snapshot->a[i] = read_counter(d->a.port, names[i]);
		snapshot->b[i] = read_counter(d->b.port, names[i]);
	}
}

/* How much of @name @side is expected to have grown: 0 if not mentioned */
static uint64_t expected_of(const char *expected, char side, const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), " %c:%s=", side, name);
	at = strstr(expected, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* What @expected says of @side, or more */
static bool has_grown(const char *expected, char side, const uint64_t *before,
		      const uint64_t *after)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (after[i] - before[i] < expected_of(expected, side, names[i]))
			return false;
	return true;
}

static bool side_is_right(const char *expected, char side, const uint64_t *before,
			  const uint64_t *after)
{
	bool right = true;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		uint64_t say = expected_of(expected, side, names[i]);

		if (say)
			printf("# moved: %s\n", names[i]);
		if (after[i] - before[i] == say)
			continue;
		printf("# %c: %s grew by %lu, not by %lu\n", side, names[i],
		       (unsigned long)(after[i] - before[i]), (unsigned long)say);
		right = false;
	}
	return right;
}

/* @expected: " SIDE:NAME=GROWTH" for each that has to grow; no other one may. */
static void tap_counted(const char *name, const struct duo *d,
			const struct snapshot *before, const char *expected)
{
	struct snapshot after;
	unsigned int tries;
	bool right;

	for (tries = PATIENCE_MS / SETTLE_MS; tries; tries--) {
		take_snapshot(d, &after);
		if (has_grown(expected, 'a', before->a, after.a) &&
		    has_grown(expected, 'b', before->b, after.b))
			break;
	}
	right = side_is_right(expected, 'a', before->a, after.a);
	right &= side_is_right(expected, 'b', before->b, after.b);
	tap_true(name, right);
}

static void refused_access(void)
{
	struct snapshot before;
	struct duo d;

	duo_open(&d, NULL);
	take_snapshot(&d, &before);
	post_rdma(&d, IBV_WR_RDMA_WRITE, 1, sge_of(&d.a, 0, 100),
		  (uintptr_t)d.b.buf, d.b.mr->rkey ^ 0x5500);
	tap_wc("a write with a wrong key fails", d.a.scq, 1,
	       IBV_WC_REM_ACCESS_ERR);
	tap_counted("and is counted on both sides", &d, &before,
		    " a:req_remote_access_errors=1 a:req_cqe_error=1"
		    " b:resp_remote_access_errors=1");
	duo_close(&d);
}

static void refused_request(void)
{
	struct snapshot before;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .no_remote_access = true });
	take_snapshot(&d, &before);
	post_rdma(&d, IBV_WR_RDMA_READ, 1, sge_of(&d.a, 0, 100),
		  (uintptr_t)d.b.buf, d.b.mr->rkey);
	tap_wc("a read from a QP that does not allow it fails", d.a.scq, 1,
	       IBV_WC_REM_INV_REQ_ERR);
	tap_counted("and is counted as an invalid request", &d, &before,
		    " a:req_remote_invalid_request=1 a:req_cqe_error=1");
	duo_close(&d);
}

static void short_receive(void)
{
	struct snapshot before;
	struct duo d;

	duo_open(&d, NULL);
	take_snapshot(&d, &before);
	post_recv(&d.b, 10, sge_of(&d.b, 0, 99));
	post_recv(&d.b, 11, sge_of(&d.b, 0, 99));
	post_recv(&d.b, 12, sge_of(&d.b, 0, 99));
	post_send(&d.a, 1, sge_of(&d.a, 0, 100), 0);
	tap_wc("a send that is longer than the receive fails", d.a.scq, 1,
	       IBV_WC_REM_INV_REQ_ERR);
	tap_wc("the receive fails", d.b.rcq, 10, IBV_WC_LOC_LEN_ERR);
	tap_wcs("those behind it are flushed", d.b.rcq, 11, 12,
		IBV_WC_WR_FLUSH_ERR);
	post_send(&d.a, 2, sge_of(&d.a, 0, 100), 0);
	tap_wc("so is what is sent now", d.a.scq, 2, IBV_WC_WR_FLUSH_ERR);
	tap_counted("completions with an error are counted, and why", &d, &before,
		    " a:req_remote_invalid_request=1 a:req_cqe_error=2"
		    " a:req_cqe_flush_error=1 b:resp_local_length_error=1"
		    " b:resp_cqe_error=3 b:resp_cqe_flush_error=2");
	duo_close(&d);
}

static void no_receive(void)
{
	struct snapshot before;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .rnr_retry = 2 });
	take_snapshot(&d, &before);
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_wc("a send without a receive fails at its third RNR NAK", d.a.scq, 1,
	       IBV_WC_RNR_RETRY_EXC_ERR);
	tap_counted("and each is counted on both sides", &d, &before,
		    " a:rcvd_rnr_err=3 a:rnr_nak_retry_err=2"
		    " a:retransmitted_packets=2 a:req_rnr_retries_exceeded=1"
		    " a:retry_rnr_exceeded_err=1 a:req_cqe_error=1"
		    " b:out_of_buffer=3 b:send_rnr_err=3");
	duo_close(&d);
}

static void peer_gone(void)
{
	struct snapshot before;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .timeout = 12, .retry_cnt = 2 });
	ibv_destroy_qp(d.b.qp);
	d.b.qp = NULL;
	take_snapshot(&d, &before);
	post_send(&d.a, 1, sge_of(&d.a, 0, 3000), 0);
	tap_wc("a send of 3 packets to a QP that is gone is sent 3 times",
	       d.a.scq, 1, IBV_WC_RETRY_EXC_ERR);
	tap_counted("and each time is counted", &d, &before,
		    " a:local_ack_timeout_err=2 a:completer_retry_err=2"
		    " a:retransmitted_packets=6 a:req_cqe_error=1"
		    " a:req_transport_retries_exceeded=1 a:retry_exceeded_err=1"
		    " b:rx_dropped_no_qp=9");
	duo_close(&d);
}

static void failed_peer(void)
{
	struct snapshot before;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .infinite_timeout = true });
	qp_to_state(d.b.qp, IBV_QPS_ERR);
	take_snapshot(&d, &before);
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_no_wc("a send to a QP in ERR is not answered", d.a.scq, 100);
	tap_counted("and dropped for its state", &d, &before,
		    " b:rx_dropped_qp_state=1");
	duo_close(&d);
}

static void datagrams(void)
{
	const struct duo_options ud = { .type = IBV_QPT_UD };
	struct snapshot before;
	struct duo d, rc;

	duo_open(&d, &ud);
	take_snapshot(&d, &before);
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_wc("a datagram without a receive is sent", d.a.scq, 1, IBV_WC_SUCCESS);
	tap_counted("and dropped for that", &d, &before,
		    " b:rx_dropped_no_receive=1 b:out_of_buffer=1");

	post_recv(&d.b, 10, sge_of(&d.b, 0, 40 + 99));
	take_snapshot(&d, &before);
	post_send(&d.a, 2, sge_of(&d.a, 0, 100), 0);
	tap_wc("a datagram that is longer than the receive is sent", d.a.scq, 2,
	       IBV_WC_SUCCESS);
	tap_counted("and dropped for its length", &d, &before,
		    " b:rx_dropped_length=1");

	qp_to_state(d.b.qp, IBV_QPS_RESET);
	take_snapshot(&d, &before);
	post_send(&d.a, 3, sge_of(&d.a, 0, 8), 0);
	tap_wc("a datagram to a QP in RESET is sent", d.a.scq, 3, IBV_WC_SUCCESS);
	tap_counted("and dropped for its state", &d, &before,
		    " b:rx_dropped_qp_state=1");

	duo_open(&rc, NULL);
	take_snapshot(&d, &before);
	d.a.path.qpn = rc.b.qp->qp_num;
	post_send(&d.a, 4, sge_of(&d.a, 0, 8), 0);
	tap_wc("a datagram to an RC QP is sent", d.a.scq, 4, IBV_WC_SUCCESS);
	tap_counted("and dropped for its opcode", &d, &before,
		    " b:rx_dropped_opcode=1");
	duo_close(&rc);
	duo_close(&d);
}

static void wrong_qkey(void)
{
	const struct duo_options ud = { .type = IBV_QPT_UD };
	struct snapshot before;
	struct ibv_qp_attr attr = { .qkey = TEST_QKEY + 1 };
	struct duo d;

	duo_open(&d, &ud);
	post_recv(&d.b, 10, sge_of(&d.b, 0, 100));
	ibv_modify_qp(d.b.qp, &attr, IBV_QP_QKEY);
	take_snapshot(&d, &before);
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_wc("a datagram with another Q_Key is sent", d.a.scq, 1,
	       IBV_WC_SUCCESS);
	tap_counted("and dropped for that", &d, &before, " b:rx_dropped_qkey=1");
	duo_close(&d);
}

static void connect_to(struct end *e, const struct path *path)
{
	if (qp_to_init(e->qp, IBV_ACCESS_LOCAL_WRITE) ||
	    qp_to_rtr(e->qp, e->port, path) || qp_to_rts(e->qp, path))
		die("cannot connect");
}

static void wrong_peer(void)
{
	struct snapshot before;
	struct path path;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .infinite_timeout = true });
	/* b takes itself for its peer. */
	path = d.b.path;
	path.gid = d.b.port->gid;
	qp_to_state(d.b.qp, IBV_QPS_RESET);
	connect_to(&d.b, &path);
	take_snapshot(&d, &before);
	post_send(&d.a, 1, sge_of(&d.a, 0, 8), 0);
	tap_no_wc("a send from an address that is not the peer's is not answered",
		  d.a.scq, 100);
	tap_counted("and dropped for that", &d, &before,
		    " b:rx_dropped_address=1");
	duo_close(&d);
}

/* A third QP sends to a, which answers b, of whom it knows. */
static void unexpected_ack(void)
{
	struct snapshot before;
	struct duo d, third;
	struct path path;

	duo_open(&d, NULL);
	duo_open(&third, &(struct duo_options){ .unconnected = true });
	path = d.b.path;
	path.timeout = 0;
	connect_to(&third.b, &path);
	post_recv(&d.a, 20, sge_of(&d.a, 0, 8));
	take_snapshot(&d, &before);
	post_send(&third.b, 1, sge_of(&third.b, 0, 8), 0);
	tap_wc("a QP that was not connected sends", d.a.rcq, 20, IBV_WC_SUCCESS);
	tap_counted("and the acknowledgment is dropped by who did not send", &d,
		    &before, " b:rx_dropped_unexpected_ack=1");
	duo_close(&third);
	duo_close(&d);
}

void test_counters(void)
{
	refused_access();
	refused_request();
	short_receive();
	no_receive();
	peer_gone();
	failed_peer();
	datagrams();
	wrong_qkey();
	wrong_peer();
	unexpected_ack();
}
