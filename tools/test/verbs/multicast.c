// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Multicast groups of datagram QPs. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

#define MULTICAST_QPN 0xffffff
#define ROUNDS	200
#define DATAGRAMS	4

/* 239.9.9.@last or ff15::9:@last, as the port's address family is */
static union ibv_gid group(const struct port *port, uint8_t last)
{
	union ibv_gid gid = {};

	if (gid_is_ipv4(&port->gid)) {
		memset(gid.raw + 10, 0xff, 2);
		gid.raw[12] = 239;
		gid.raw[13] = 9;
		gid.raw[14] = 9;
	} else {
		gid.raw[0] = 0xff;
		gid.raw[1] = 0x15;
		gid.raw[13] = 9;
	}
	gid.raw[15] = last;
	return gid;
}

static struct ibv_ah *ah_to(const struct end *e, const union ibv_gid *gid)
{
	struct path path = { .gid = *gid };
	struct ibv_ah *ah = ah_create(e->pd, e->port, &path);

	if (!ah)
		die_errno(errno, "ibv_create_ah");
	return ah;
}

static struct ibv_send_wr send_wr(struct ibv_sge *sge, struct ibv_ah *ah)
{
	return (struct ibv_send_wr){
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {
			.ah = ah,
			.remote_qpn = MULTICAST_QPN,
			.remote_qkey = TEST_QKEY,
		},
	};
}

static void post(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (ibv_post_send(e->qp, wr, &bad))
		die("ibv_post_send");
}

static void check_sent(const struct ibv_wc *wc)
{
	if (wc->status)
		die("a multicast send failed: %s", ibv_wc_status_str(wc->status));
}

/* One datagram of @e to the group, and its own completion. */
static void send_to(struct end *e, const union ibv_gid *gid, uint8_t byte)
{
	struct ibv_sge sge = sge_of(e, 0, 64);
	struct ibv_ah *ah = ah_to(e, gid);
	struct ibv_send_wr wr = send_wr(&sge, ah);
	struct ibv_wc wc;

	memset(e->buf, byte, 64);
	post(e, &wr);
	if (!wait_wc(e->scq, &wc, PATIENCE_MS))
		die("a multicast send did not complete");
	check_sent(&wc);
	ibv_destroy_ah(ah);
}

/* Both QPs of a duo can receive one datagram, at 1024. */
static void expect_datagrams(struct duo *d)
{
	memset(d->a.buf + 1024, 0, 256);
	memset(d->b.buf + 1024, 0, 256);
	post_recv(&d->a, 1, sge_of(&d->a, 1024, 256));
	post_recv(&d->b, 1, sge_of(&d->b, 1024, 256));
}

static void tap_got(const char *name, struct end *e, const union ibv_gid *gid,
		    uint8_t byte)
{
	const uint8_t *grh = e->buf + 1024;
	struct ibv_wc wc;

	if (!wait_wc(e->rcq, &wc, PATIENCE_MS) || wc.status)
		tap_not_ok(name, "no good completion");
	else if (wc.byte_len != 40 + 64 || grh[40] != byte || grh[103] != byte)
		tap_not_ok(name, "wrong bytes");
	else if (gid_is_ipv4(gid) ? memcmp(grh + 36, gid->raw + 12, 4) :
				    memcmp(grh + 24, gid->raw, 16))
		tap_not_ok(name, "the destination in the GRH is not the group");
	else
		tap_ok(name);
}

static void delivery(void)
{
	const struct duo_options ud = { .type = IBV_QPT_UD };
	union ibv_gid gid, other;
	struct duo x, y;

	duo_open(&x, &ud);
	duo_open(&y, &ud);
	gid = group(x.a.port, 1);
	other = group(x.a.port, 2);
	tap_errno("a QP is attached to a group", 0,
		  ibv_attach_mcast(x.b.qp, &gid, 0));
	expect_datagrams(&x);
	expect_datagrams(&y);
	send_to(&x.a, &gid, 0x11);
	tap_got("it gets what is sent to the group", &x.b, &gid, 0x11);
	tap_no_wc("a QP that is not attached does not", y.b.rcq, 50);

	ibv_attach_mcast(y.b.qp, &gid, 0);
	ibv_attach_mcast(x.a.qp, &gid, 0);
	ibv_attach_mcast(y.a.qp, &other, 0);
	post_recv(&x.b, 1, sge_of(&x.b, 1024, 256));
	send_to(&x.a, &gid, 0x22);
	tap_got("every QP of a group gets a copy: one", &x.b, &gid, 0x22);
	tap_got("two", &y.b, &gid, 0x22);
	tap_got("one beside the sender, too", &x.a, &gid, 0x22);
	tap_no_wc("but none of another group", y.a.rcq, 50);
	send_to(&x.a, &other, 0x33);
	tap_got("which gets what is for that", &y.a, &other, 0x33);

	tap_errno("a QP is detached", 0, ibv_detach_mcast(y.b.qp, &gid, 0));
	post_recv(&x.b, 1, sge_of(&x.b, 1024, 256));
	post_recv(&y.b, 1, sge_of(&y.b, 1024, 256));
	send_to(&y.a, &gid, 0x44);
	tap_got("others are still there", &x.b, &gid, 0x44);
	tap_no_wc("it gets nothing any more", y.b.rcq, 50);

	ibv_detach_mcast(x.b.qp, &gid, 0);
	ibv_detach_mcast(x.a.qp, &gid, 0);
	ibv_detach_mcast(y.a.qp, &other, 0);
	duo_close(&x);
	duo_close(&y);
}

/* A member of a group that sends to it, some datagrams a turn, from a thread of its own */
struct speaker {
	struct end *e;
	struct ibv_ah *ah[2];
	atomic_uint turn;
};

/* Datagrams with different address handles leave one by one. */
static void *speak(void *arg)
{
	struct speaker *speaker = arg;
	struct ibv_sge sge = sge_of(speaker->e, 0, 64);
	struct ibv_send_wr wrs[DATAGRAMS];
	unsigned int turn;
	int i;

	for (i = 0; i < DATAGRAMS; i++) {
		wrs[i] = send_wr(&sge, speaker->ah[i % 2]);
		wrs[i].next = i + 1 < DATAGRAMS ? &wrs[i + 1] : NULL;
	}
	for (turn = 1; turn <= ROUNDS; turn++) {
		while (speaker->turn != turn)
			;
		post(speaker->e, wrs);
	}
	return NULL;
}

/* One turn. Returns how many datagrams complete before the speaker has its own copy. */
static unsigned int count_late(struct speaker *speaker)
{
	unsigned int late = 0, received = 0, sent = 0;
	struct end *e = speaker->e;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < DATAGRAMS; i++)
		post_recv(e, i, sge_of(e, 1024, 256));
	speaker->turn++;
	while (sent < DATAGRAMS) {
		if (!ibv_poll_cq(e->scq, 1, &wc))
			continue;
		check_sent(&wc);
		sent++;
		while (ibv_poll_cq(e->rcq, 1, &wc))
			received++;
		late += received < sent;
	}
	for (; received < DATAGRAMS; received++)
		if (!wait_wc(e->rcq, &wc, PATIENCE_MS))
			die("a member did not get its own copy");
	return late;
}

/* Where softirqs run for too long, the stack may leave a copy for later. */
static void order(void)
{
	struct speaker speaker = {};
	unsigned int i, late = 0;
	union ibv_gid gid;
	pthread_t thread;
	struct duo d;

	duo_open(&d, &(struct duo_options){ .type = IBV_QPT_UD });
	gid = group(d.a.port, 4);
	ibv_attach_mcast(d.a.qp, &gid, 0);
	speaker.e = &d.a;
	for (i = 0; i < 2; i++)
		speaker.ah[i] = ah_to(&d.a, &gid);
	if (pthread_create(&thread, NULL, speak, &speaker))
		die("pthread_create");
	for (i = 0; i < ROUNDS; i++)
		late += count_late(&speaker);
	pthread_join(thread, NULL);
	printf("# %u of %u copies came later\n", late, ROUNDS * DATAGRAMS);
	tap_true("a member has its own copy when its datagram completes",
		 late < ROUNDS * DATAGRAMS / 10);
	for (i = 0; i < 2; i++)
		ibv_destroy_ah(speaker.ah[i]);
	ibv_detach_mcast(d.a.qp, &gid, 0);
	duo_close(&d);
}

static void rules(void)
{
	union ibv_gid gid;
	struct duo rc, ud;

	duo_open(&rc, NULL);
	duo_open(&ud, &(struct duo_options){ .type = IBV_QPT_UD });
	tap_true("a device has groups", ud.a.port->dev.max_mcast_grp > 0 &&
		 ud.a.port->dev.max_mcast_qp_attach > 0);
	gid = group(ud.a.port, 3);
	tap_errno("an RC QP is not attached", EINVAL,
		  ibv_attach_mcast(rc.a.qp, &gid, 0));
	tap_errno("nor to the address of a host", EINVAL,
		  ibv_attach_mcast(ud.a.qp, &ud.a.port->gid, 0));
	tap_errno("a QP that is not attached is not detached", EINVAL,
		  ibv_detach_mcast(ud.a.qp, &gid, 0));
	ibv_attach_mcast(ud.a.qp, &gid, 0);
	tap_errno("one that is attached is not destroyed", EBUSY,
		  ibv_destroy_qp(ud.a.qp));
	ibv_detach_mcast(ud.a.qp, &gid, 0);
	duo_close(&ud);
	duo_close(&rc);
}

void test_multicast(void)
{
	rules();
	delivery();
	order();
}
