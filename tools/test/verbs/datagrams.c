// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* UD: keys, errors that leave the QP alive, address handles. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

static const struct duo_options ud = { .type = IBV_QPT_UD };

static int post_to(struct duo *d, uint64_t wr_id, uint32_t qpn, uint32_t qkey)
{
	struct ibv_sge sge = sge_of(&d->a, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = d->a.ah, .remote_qpn = qpn,
			   .remote_qkey = qkey },
	}, *bad;

	return ibv_post_send(d->a.qp, &wr, &bad);
}

static void wrong_qkey(void)
{
	struct duo d;

	duo_open(&d, &ud);
	post_recv(&d.b, 10, sge_of(&d.b, 0, 100));
	post_to(&d, 1, d.b.qp->qp_num, TEST_QKEY + 1);
	tap_wc("a datagram with the wrong Q_Key is sent", d.a.scq, 1,
	       IBV_WC_SUCCESS);
	tap_no_wc("but not received", d.b.rcq, 100);
	post_to(&d, 2, d.b.qp->qp_num, TEST_QKEY);
	tap_wc("one with the right Q_Key takes the receive", d.b.rcq, 10,
	       IBV_WC_SUCCESS);
	duo_close(&d);
}

static void nobody_there(void)
{
	struct ibv_wc wc;
	struct duo d;

	duo_open(&d, &ud);
	post_to(&d, 1, 0xabcdef, TEST_QKEY);
	tap_wc("a datagram to a QP that does not exist is sent", d.a.scq, 1,
	       IBV_WC_SUCCESS);
	post_to(&d, 2, d.b.qp->qp_num, TEST_QKEY);
	wait_wc(d.a.scq, &wc, PATIENCE_MS);
	sleep_ms(50);
	post_recv(&d.b, 10, sge_of(&d.b, 0, 100));
	tap_no_wc("a datagram without a receive is dropped", d.b.rcq, 50);
	post_to(&d, 3, d.b.qp->qp_num, TEST_QKEY);
	tap_wc("neither harms the QPs", d.b.rcq, 10, IBV_WC_SUCCESS);
	duo_close(&d);
}

/* For a datagram QP a failed send is no end: SQE, and back to RTS. */
static void send_error(void)
{
	struct ibv_sge sge;
	struct duo d;

	duo_open(&d, &ud);
	sge = sge_of(&d.a, 0, 8);
	sge.lkey ^= 0x5500;
	post_send(&d.a, 1, sge, 0);
	tap_wc("a datagram with a bad lkey ends in LOC_PROT_ERR", d.a.scq, 1,
	       IBV_WC_LOC_PROT_ERR);
	tap_state("its QP goes to SQE", IBV_QPS_SQE, d.a.qp);
	post_recv(&d.a, 20, sge_of(&d.a, 0, 100));
	post_send(&d.b, 30, sge_of(&d.b, 0, 8), 0);
	tap_wc("a QP in SQE still receives", d.a.rcq, 20, IBV_WC_SUCCESS);
	post_send(&d.a, 2, sge_of(&d.a, 0, 8), 0);
	tap_wc("a send posted in SQE is flushed", d.a.scq, 2,
	       IBV_WC_WR_FLUSH_ERR);
	tap_errno("SQE to RTS", 0, qp_to_state(d.a.qp, IBV_QPS_RTS));
	tap_alive("and it sends again", &d);
	duo_close(&d);
}

static void oversize(void)
{
	struct ibv_wc wc;
	struct duo d;
	int err;

	duo_open(&d, &ud);
	post_recv(&d.b, 10, sge_of(&d.b, 0, BUF_SIZE));
	err = post_send(&d.a, 1, sge_of(&d.a, 0, d.a.path.mtu + 1), 0);
	if (!err && wait_wc(d.a.scq, &wc, PATIENCE_MS))
		tap_int("a datagram longer than the MTU ends in LOC_LEN_ERR",
			IBV_WC_LOC_LEN_ERR, wc.status);
	else
		tap_true("a datagram longer than the MTU is refused", err);
	tap_no_wc("and nothing of it is received", d.b.rcq, 50);
	duo_close(&d);
}

static void address_handles(void)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	struct duo d;

	duo_open(&d, &ud);
	fill_ah_attr(&attr, d.a.port, &d.a.path);
	attr.grh.sgid_index = 255;
	errno = 0;
	ah = ibv_create_ah(d.a.pd, &attr);
	tap_true("an AH with a GID index that is not there is refused", !ah);
	fill_ah_attr(&attr, d.a.port, &d.a.path);
	attr.is_global = 0;
	errno = 0;
	ah = ibv_create_ah(d.a.pd, &attr);
	tap_refused("an AH without a GRH is refused", EINVAL, ah);
	fill_ah_attr(&attr, d.a.port, &d.a.path);
	attr.port_num = 2;
	errno = 0;
	ah = ibv_create_ah(d.a.pd, &attr);
	tap_refused("an AH for port 2 is refused", EINVAL, ah);
	duo_close(&d);
}

void test_datagrams(void)
{
	wrong_qkey();
	nobody_there();
	send_error();
	oversize();
	address_handles();
}

/* --- The MTU of the netdevs changes --- */

static void set_mtu(unsigned int mtu)
{
	char command[256];

	snprintf(command, sizeof(command), "$ROCE_SET_MTU %u", mtu);
	if (system(command))
		die("%s", command);
}

static int send_bytes(struct duo *d, uint64_t wr_id, uint32_t length)
{
	return post_recv(&d->b, 10 * wr_id, sge_of(&d->b, 0, length + 40)) ?:
	       post_send(&d->a, wr_id, sge_of(&d->a, 0, length), 0);
}

/* $ROCE_SET_MTU is a command that sets the MTU of both netdevs. */
void test_changing_mtu(void)
{
	struct duo d;

	set_mtu(1500);
	duo_open(&d, &ud);
	send_bytes(&d, 1, 1024);
	if (tap_wc("a datagram as long as the MTU allows is sent", d.a.scq, 1, IBV_WC_SUCCESS))
		tap_wc("and arrives", d.b.rcq, 10, IBV_WC_SUCCESS);
	set_mtu(9000);
	send_bytes(&d, 2, 2048);
	if (tap_wc("a longer one is sent when the MTU has grown", d.a.scq, 2, IBV_WC_SUCCESS))
		tap_wc("and arrives as well", d.b.rcq, 20, IBV_WC_SUCCESS);
	set_mtu(1500);
	send_bytes(&d, 3, 2048);
	tap_wc("when it has shrunk, a longer one is an error", d.a.scq, 3, IBV_WC_LOC_LEN_ERR);
	duo_close(&d);
}
