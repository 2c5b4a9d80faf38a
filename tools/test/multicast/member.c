// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * member: a QP in multicast groups, without librdmacm, until it is killed.
 *
 *	member DEVICE GROUP...
 *
 * A group is an IPv6 multicast address, or an IPv4 one as ::ffff:a.b.c.d.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "util.h"
#include "rdma.h"

static struct ibv_qp *make_qp(struct ibv_context *ctx)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = cq && pd ? ibv_create_qp(pd, &init) : NULL;

	if (!qp)
		die_errno(errno, "no QP");
	return qp;
}

int main(int argc, char **argv)
{
	struct ibv_qp *qp;
	union ibv_gid gid;
	struct port port;
	int i, err;

	if (argc < 3)
		die("usage: member DEVICE GROUP...");
	port_open(&port, argv[1], 0);
	qp = make_qp(port.ctx);
	for (i = 2; i < argc; i++) {
		if (inet_pton(AF_INET6, argv[i], gid.raw) != 1)
			die("%s is not an IPv6 address", argv[i]);
		err = ibv_attach_mcast(qp, &gid, 0);
		if (err)
			die_errno(err, "ibv_attach_mcast to %s", argv[i]);
	}
	puts("attached");
	fflush(stdout);
	pause();
	return 0;
}
