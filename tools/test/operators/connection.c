// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * connection: a connection that does what it is told, for whoever looks at it
 * from outside.
 *
 *	connection rc|uc|ud DEVICE GID_INDEX DEVICE GID_INDEX
 *
 * Prints "qpn A B", then takes commands from its standard input, each of which
 * moves COUNT messages of BYTES from A, one after the other, and answers
 * "done STATUS":
 *
 *	send|write|read COUNT BYTES
 *
 * It ends with its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../verbs/verbs.h"


static const struct {
	const char *name;
	enum ibv_wr_opcode opcode;
} operations[] = {
	{ "send", IBV_WR_SEND },
	{ "write", IBV_WR_RDMA_WRITE },
	{ "read", IBV_WR_RDMA_READ },
};

static enum ibv_wc_status move_one(struct duo *d, enum ibv_wr_opcode opcode,
				   uint32_t bytes)
{
	struct ibv_sge sge = sge_of(&d->a, 0, bytes);
	struct ibv_wc wc;
	int err;

	if (opcode == IBV_WR_SEND)
		/* Of a datagram, with its GRH */
		err = post_recv(&d->b, 1, sge_of(&d->b, 0, 40 + bytes)) ?:
		      post_send(&d->a, 2, sge, 0);
	else
		err = post_rdma(d, opcode, 2, sge, (uintptr_t)d->b.buf,
				d->b.mr->rkey);
	if (err)
		die_errno(err, "post");
	if (!wait_wc(d->a.scq, &wc, PATIENCE_MS))
		die("no completion");
	if (opcode == IBV_WR_SEND)
		wait_wc(d->b.rcq, &(struct ibv_wc){ }, 0);
	return wc.status;
}

static enum ibv_wc_status move(struct duo *d, enum ibv_wr_opcode opcode,
			       unsigned int count, uint32_t bytes)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	while (count-- && status == IBV_WC_SUCCESS)
		status = move_one(d, opcode, bytes);
	return status;
}

static enum ibv_qp_type qp_type(const char *name)
{
	if (!strcmp(name, "rc"))
		return IBV_QPT_RC;
	if (!strcmp(name, "uc"))
		return IBV_QPT_UC;
	if (!strcmp(name, "ud"))
		return IBV_QPT_UD;
	die("no service %s", name);
}

static enum ibv_wr_opcode opcode_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(operations); i++)
		if (!strcmp(name, operations[i].name))
			return operations[i].opcode;
	die("no operation %s", name);
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	/* Time to look at it while nothing arrives: 1 s, 8 times */
	struct duo_options options = {
		.rnr_retry = 7, .timeout = 18, .retry_cnt = 7,
	};
	unsigned int count, bytes;
	struct port a, b;
	char name[16];
	struct duo d;

	if (argc != 6)
		die("usage: connection rc|uc|ud DEVICE GID_INDEX DEVICE GID_INDEX");
	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	options.type = qp_type(argv[1]);
	port_open(&a, argv[2], atoi(argv[3]));
	port_open(&b, argv[4], atoi(argv[5]));
	duo_ports(&a, &b);
	duo_open(&d, &options);
	printf("qpn %u %u\n", d.a.qp->qp_num, d.b.qp->qp_num);

	while (scanf("%15s %u %u", name, &count, &bytes) == 3) {
		if (bytes > BUF_SIZE - 40)
			die("%u bytes are too much", bytes);
		printf("done %s\n", ibv_wc_status_str(move(&d, opcode_of(name),
							   count, bytes)));
	}
	duo_close(&d);
	port_close(&a);
	port_close(&b);
	return 0;
}
