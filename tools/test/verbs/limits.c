// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The limits that query_device tells are the limits that hold. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

static struct ibv_qp *make_qp(struct duo *d, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = d->a.scq,
		.recv_cq = d->a.rcq,
		.cap = cap,
	};

	errno = 0;
	return ibv_create_qp(d->a.pd, &init);
}

static void qp_allowed(const char *name, struct duo *d, struct ibv_qp_cap cap)
{
	struct ibv_qp *qp = make_qp(d, cap);

	if (!qp)
		tap_not_ok(name, "expected a QP, seen %s", strerror(errno));
	else
		tap_ok(name);
	if (qp)
		ibv_destroy_qp(qp);
}

static void qp_refused(const char *name, struct duo *d, struct ibv_qp_cap cap)
{
	struct ibv_qp *qp = make_qp(d, cap);

	tap_refused(name, EINVAL, qp);
	if (qp)
		ibv_destroy_qp(qp);
}

static void qp_no_memory(const char *name, struct duo *d, struct ibv_qp_cap cap)
{
	struct ibv_qp *qp = make_qp(d, cap);

	tap_refused(name, ENOMEM, qp);
	if (qp)
		ibv_destroy_qp(qp);
}

#define CAP(...) ((struct ibv_qp_cap){ .max_send_wr = 4, .max_recv_wr = 4, \
				       .max_send_sge = 1, .max_recv_sge = 1, \
				       __VA_ARGS__ })

#pragma GCC diagnostic ignored "-Woverride-init"

static void qp_limits(void)
{
	struct ibv_device_attr *dev;
	struct duo d;

	duo_open(&d, NULL);
	dev = &d.a.port->dev;
	tap_true("max_sge is at least 32", dev->max_sge >= 32);
	qp_allowed("a QP with max_sge send sges", &d,
		   CAP(.max_send_sge = dev->max_sge));
	qp_allowed("a QP with max_sge receive sges", &d,
		   CAP(.max_recv_sge = dev->max_sge));
	qp_refused("a QP with max_sge + 1 send sges is refused", &d,
		   CAP(.max_send_sge = dev->max_sge + 1));
	qp_refused("a QP with max_sge + 1 receive sges is refused", &d,
		   CAP(.max_recv_sge = dev->max_sge + 1));
	qp_refused("a QP with max_qp_wr + 1 sends is refused", &d,
		   CAP(.max_send_wr = dev->max_qp_wr + 1));
	qp_refused("a QP with max_qp_wr + 1 receives is refused", &d,
		   CAP(.max_recv_wr = dev->max_qp_wr + 1));
	qp_allowed("a QP with 400 bytes of inline data", &d,
		   CAP(.max_inline_data = 400));
	qp_refused("a QP with 1 GB of inline data is refused", &d,
		   CAP(.max_inline_data = 1u << 30));
	duo_close(&d);
}

static void cq_limits(void)
{
	struct ibv_device_attr *dev;
	struct ibv_cq *cq;
	struct duo d;

	duo_open(&d, NULL);
	dev = &d.a.port->dev;
	errno = 0;
	cq = ibv_create_cq(d.a.port->ctx, 0, NULL, NULL, 0);
	tap_refused("a CQ without entries is refused", EINVAL, cq);
	errno = 0;
	cq = ibv_create_cq(d.a.port->ctx, dev->max_cqe + 1, NULL, NULL, 0);
	tap_refused("a CQ with max_cqe + 1 entries is refused", EINVAL, cq);
	cq = ibv_create_cq(d.a.port->ctx, 100, NULL, NULL, 0);
	tap_true("a CQ has at least the entries asked for", cq && cq->cqe >= 100);
	if (cq)
		ibv_destroy_cq(cq);
	duo_close(&d);
}

#define RING_LIMIT	"/sys/module/roce/parameters/max_ring_mib"
#define RING_MIB	4
#define CQE		4094	/* of 64 bytes: a ring of 256 KiB and a header */
#define CQS		(RING_MIB * 1024 / 256)

static void set_ring_limit(unsigned int mib)
{
	FILE *file = fopen(RING_LIMIT, "w");

	if (!file || fprintf(file, "%u\n", mib) < 0 || fclose(file))
		die_errno(errno, "%s", RING_LIMIT);
}

static unsigned int ring_limit(void)
{
	FILE *file = fopen(RING_LIMIT, "r");
	unsigned int mib;

	if (!file || fscanf(file, "%u", &mib) != 1)
		die_errno(errno, "%s", RING_LIMIT);
	fclose(file);
	return mib;
}

/* As many as there can be; how many that was */
static unsigned int make_cqs(struct ibv_context *ctx, struct ibv_cq **cqs)
{
	unsigned int made = 0;

	while (made < CQS) {
		errno = 0;
		cqs[made] = ibv_create_cq(ctx, CQE, NULL, NULL, 0);
		if (!cqs[made])
			break;
		made++;
	}
	return made;
}

static void destroy_cqs(struct ibv_cq **cqs, unsigned int made)
{
	while (made--)
		ibv_destroy_cq(cqs[made]);
}

static void ring_memory(void)
{
	unsigned int limit, made;
	struct ibv_cq *cqs[CQS], *other;
	struct duo d;

	if (access(RING_LIMIT, W_OK)) {
		tap_not_ok("rings are bounded", "no " RING_LIMIT);
		return;
	}
	limit = ring_limit();
	duo_open(&d, NULL);
	set_ring_limit(RING_MIB);
	made = make_cqs(d.a.port->ctx, cqs);
	tap_refused("a CQ that would exceed max_ring_mib is refused", ENOMEM,
		    made < CQS ? NULL : cqs[0]);
	tap_true("but none before", made >= CQS / 2);
	qp_no_memory("a QP, too", &d, CAP(.max_send_wr = 4000));
	other = ibv_create_cq(d.b.port->ctx, CQE, NULL, NULL, 0);
	tap_true("another program's is not", other);
	if (other)
		ibv_destroy_cq(other);
	destroy_cqs(cqs, made);
	tap_int("what it gives back it can have again", made,
		make_cqs(d.a.port->ctx, cqs));
	destroy_cqs(cqs, made);
	set_ring_limit(limit);
	duo_close(&d);
}

static void port_truth(void)
{
	union ibv_gid gid;
	struct duo d;
	__be16 pkey = 0;

	duo_open(&d, NULL);
	tap_int("a device has one port", 1, d.a.port->dev.phys_port_cnt);
	tap_true("a device has a node GUID", d.a.port->dev.node_guid);
	tap_int("the port is active", IBV_PORT_ACTIVE, d.a.port->attr.state);
	tap_int("the link layer is Ethernet", IBV_LINK_LAYER_ETHERNET,
		d.a.port->attr.link_layer);
	tap_true("active MTU is not above max MTU",
		 d.a.port->attr.active_mtu <= d.a.port->attr.max_mtu);
	tap_true("there is a message size limit of 2 GiB",
		 d.a.port->attr.max_msg_sz >= 0x80000000u);
	ibv_query_pkey(d.a.port->ctx, 1, 0, &pkey);
	tap_int("the first P_Key is 0xffff", 0xffff, pkey);
	tap_true("a P_Key beyond the table is refused",
		 ibv_query_pkey(d.a.port->ctx, 1, 9999, &pkey) != 0);
	tap_true("a GID beyond the table is refused",
		 ibv_query_gid(d.a.port->ctx, 1, 9999, &gid) != 0);
	duo_close(&d);
}

void test_limits(void)
{
	qp_limits();
	cq_limits();
	ring_memory();
	port_truth();
}
