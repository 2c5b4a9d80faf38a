// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * talk: an example of each kind of packet, one after the other.
 *
 *	talk SOCKET [FAMILY DEVICE GID_INDEX DEVICE GID_INDEX]...
 *
 * The QPs of the first device send to those of the second one. SOCKET is the number of a
 * packet socket that sees both ends. Says, a line each, what it does and what came by:
 *
 *	name HEX NAME		from here on, this number of 32 bits is random, and called so
 *	step TEXT
 *	packet HEX		an IP packet
 *
 * All that programs choose is the same in each run: PSNs, addresses, flow labels, bytes.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <linux/if_packet.h>

#include "rdma.h"
#include "util.h"

#define MTU		1024
#define FLOW_LABEL	0x12345
#define SETTLE_MS	10	/* until nothing is under way */
#define RNR_MS		5	/* until a receive is posted, where none is */
#define RNR_TIMER	12	/* the code of 0.64 ms */
#define ROOM		65536
#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* Where the memory of both ends lies */
#define ADDRESS_A	0x10000000ul
#define ADDRESS_B	0x20000000ul

struct side {
	struct port port;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

struct talk {
	const char *family, *service;
	enum ibv_qp_type type;
	struct side a, b;
	struct ibv_ah *ah;
};

static int capture;

static void must(const char *what, int err)
{
	if (err)
		die_errno(err, "%s", what);
}

/* --- What is said --------------------------------------------------------------- */

static void print_packets(void)
{
	unsigned char data[2048];
	struct sockaddr_ll from;
	socklen_t length;
	ssize_t size, i;

	for (;;) {
		length = sizeof(from);
		size = recvfrom(capture, data, sizeof(data), MSG_DONTWAIT,
				(struct sockaddr *)&from, &length);
		if (size < 0)
			return;
		if (from.sll_pkttype == PACKET_OUTGOING)
			continue;
		printf("packet ");
		for (i = 0; i < size; i++)
			printf("%02x", data[i]);
		printf("\n");
	}
}

static void step(const struct talk *talk, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void step(const struct talk *talk, const char *format, ...)
{
	va_list arguments;

	printf("step %s, %s: ", talk->family, talk->service);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
}

static void step_ends(void)
{
	sleep_ms(SETTLE_MS);
	print_packets();
}

/* --- Two sides ------------------------------------------------------------------ */

static void *memory_at(unsigned long address)
{
	unsigned char *memory = mmap((void *)address, ROOM, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	int i;

	if (memory == MAP_FAILED)
		die_errno(errno, "mmap");
	for (i = 0; i < ROOM; i++)
		memory[i] = mix64(address + i);
	return memory;
}

static void open_side(const struct talk *talk, struct side *side, const char *device,
		      int gid_index, unsigned long address)
{
	struct ibv_qp_init_attr init = {
		.qp_type = talk->type,
		.cap = {
			.max_send_wr = 16,
			.max_recv_wr = 16,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	port_open(&side->port, device, gid_index);
	side->pd = ibv_alloc_pd(side->port.ctx);
	side->channel = ibv_create_comp_channel(side->port.ctx);
	side->cq = ibv_create_cq(side->port.ctx, 32, NULL, side->channel, 0);
	side->mr = ibv_reg_mr(side->pd, memory_at(address), ROOM, ACCESS);
	if (!side->pd || !side->cq || !side->mr)
		die_errno(errno, "%s: PD, CQ or MR", device);
	init.send_cq = side->cq;
	init.recv_cq = side->cq;
	side->qp = ibv_create_qp(side->pd, &init);
	if (!side->qp)
		die_errno(errno, "%s: QP", device);
	must("ibv_req_notify_cq", ibv_req_notify_cq(side->cq, 0));
}

static struct path path_to(const struct side *peer, uint32_t psn, uint32_t peer_psn)
{
	return (struct path) {
		.gid = peer->port.gid,
		.qpn = peer->qp->qp_num,
		.rq_psn = peer_psn,
		.sq_psn = psn,
		.mtu = MTU,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = RNR_TIMER,
		.rd_atomic = 4,
		.flow_label = FLOW_LABEL,
	};
}

static void connect_side(struct side *side, const struct path *path)
{
	must("to INIT", qp_to_init(side->qp, side->qp->qp_type == IBV_QPT_UD ? 0 : ACCESS));
	must("to RTR", qp_to_rtr(side->qp, &side->port, path));
	must("to RTS", qp_to_rts(side->qp, path));
}

static void open_talk(struct talk *talk, char **argv)
{
	struct path to_a, to_b;

	talk->family = argv[0];
	open_side(talk, &talk->a, argv[1], atoi(argv[2]), ADDRESS_A);
	open_side(talk, &talk->b, argv[3], atoi(argv[4]), ADDRESS_B);
	/* PSNs wrap around within the first messages. */
	to_b = path_to(&talk->b, 0xfffffe, 0x100);
	to_a = path_to(&talk->a, 0x100, 0xfffffe);
	connect_side(&talk->a, &to_b);
	connect_side(&talk->b, &to_a);
	if (talk->type == IBV_QPT_UD) {
		talk->ah = ah_create(talk->a.pd, &talk->a.port, &to_b);
		if (!talk->ah)
			die_errno(errno, "AH");
	}
	printf("name %08x qpn1\nname %08x qpn2\n", talk->a.qp->qp_num, talk->b.qp->qp_num);
	printf("name %08x rkey2\n", talk->b.mr->rkey);
}

static void close_side(struct side *side)
{
	must("ibv_destroy_qp", ibv_destroy_qp(side->qp));
	must("ibv_dereg_mr", ibv_dereg_mr(side->mr));
	must("ibv_destroy_cq", ibv_destroy_cq(side->cq));
	must("ibv_destroy_comp_channel", ibv_destroy_comp_channel(side->channel));
	must("ibv_dealloc_pd", ibv_dealloc_pd(side->pd));
	port_close(&side->port);
}

static void close_talk(struct talk *talk)
{
	if (talk->ah)
		must("ibv_destroy_ah", ibv_destroy_ah(talk->ah));
	close_side(&talk->a);
	close_side(&talk->b);
}

/* --- Messages ------------------------------------------------------------------- */

/* Sleeps until there is a completion. */
static struct ibv_wc completion_of(struct side *side)
{
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *context;

	while (ibv_poll_cq(side->cq, 1, &wc) < 1) {
		if (ibv_get_cq_event(side->channel, &cq, &context))
			die_errno(errno, "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
		must("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0));
	}
	return wc;
}

static void await(struct side *side, enum ibv_wc_status status)
{
	struct ibv_wc wc = completion_of(side);

	if (wc.status != status)
		die("%s instead of %s", ibv_wc_status_str(wc.status),
		    ibv_wc_status_str(status));
}

static void post_receive(struct side *side)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)side->mr->addr, .length = ROOM, .lkey = side->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	must("ibv_post_recv", ibv_post_recv(side->qp, &wr, &bad));
}

static void set_target(const struct talk *talk, struct ibv_send_wr *wr)
{
	if (talk->type == IBV_QPT_UD) {
		wr->wr.ud.ah = talk->ah;
		wr->wr.ud.remote_qpn = talk->b.qp->qp_num;
		wr->wr.ud.remote_qkey = TEST_QKEY;
	} else if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
		   wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr->wr.atomic.remote_addr = ADDRESS_B + 64;
		wr->wr.atomic.rkey = talk->b.mr->rkey;
		wr->wr.atomic.compare_add = 0x1122334455667788;
		wr->wr.atomic.swap = 0x99aabbccddeeff00;
	} else {
		wr->wr.rdma.remote_addr = ADDRESS_B + 128;
		wr->wr.rdma.rkey = talk->b.mr->rkey;
	}
}

/* So many of them in one list, of which the last one completes */
static void post(struct talk *talk, enum ibv_wr_opcode opcode, uint32_t size, int flags,
		 int count)
{
	struct ibv_sge sge = {
		.addr = ADDRESS_A, .length = size, .lkey = talk->a.mr->lkey,
	};
	struct ibv_send_wr *bad, wrs[8] = {};
	int i;

	for (i = 0; i < count; i++) {
		wrs[i] = (struct ibv_send_wr) {
			.next = i + 1 < count ? &wrs[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = flags | (i + 1 < count ? 0 : IBV_SEND_SIGNALED),
			.imm_data = htobe32(0xdeadbe00 + i),
		};
		set_target(talk, &wrs[i]);
	}
	must("ibv_post_send", ibv_post_send(talk->a.qp, wrs, &bad));
}

static bool takes_receive(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static const char *name_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND: return "SEND";
	case IBV_WR_SEND_WITH_IMM: return "SEND with immediate";
	case IBV_WR_RDMA_WRITE: return "WRITE";
	case IBV_WR_RDMA_WRITE_WITH_IMM: return "WRITE with immediate";
	case IBV_WR_RDMA_READ: return "READ";
	case IBV_WR_ATOMIC_FETCH_AND_ADD: return "FETCH_ADD";
	case IBV_WR_ATOMIC_CMP_AND_SWP: return "CMP_SWAP";
	default: return "?";
	}
}

static void say(struct talk *talk, enum ibv_wr_opcode opcode, uint32_t size, int flags,
		int count)
{
	int i;

	step(talk, "%d %s of %u bytes%s", count, name_of(opcode), size,
	     flags & IBV_SEND_SOLICITED ? ", solicited" : "");
	for (i = 0; takes_receive(opcode) && i < count; i++)
		post_receive(&talk->b);
	post(talk, opcode, size, flags, count);
	await(&talk->a, IBV_WC_SUCCESS);
	for (i = 0; takes_receive(opcode) && i < count; i++)
		await(&talk->b, IBV_WC_SUCCESS);
	step_ends();
}

/* --- What is talked of ---------------------------------------------------------- */

static void datagrams(struct talk *talk)
{
	say(talk, IBV_WR_SEND, 0, 0, 1);
	say(talk, IBV_WR_SEND, 1, 0, 1);
	say(talk, IBV_WR_SEND, MTU, IBV_SEND_SOLICITED, 1);
	say(talk, IBV_WR_SEND_WITH_IMM, 65, 0, 1);
	say(talk, IBV_WR_SEND, 64, 0, 4);
}

static void messages(struct talk *talk)
{
	say(talk, IBV_WR_SEND, 0, 0, 1);
	say(talk, IBV_WR_SEND, 1, 0, 1);
	say(talk, IBV_WR_SEND, 5003, IBV_SEND_SOLICITED, 1);
	say(talk, IBV_WR_SEND_WITH_IMM, 2, 0, 1);
	say(talk, IBV_WR_SEND_WITH_IMM, 2049, 0, 1);
	say(talk, IBV_WR_RDMA_WRITE, 0, 0, 1);
	say(talk, IBV_WR_RDMA_WRITE, MTU, 0, 1);
	say(talk, IBV_WR_RDMA_WRITE, 5003, 0, 1);
	say(talk, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 1);
	say(talk, IBV_WR_RDMA_WRITE_WITH_IMM, 3000, IBV_SEND_SOLICITED, 1);
	say(talk, IBV_WR_SEND, 64, 0, 4);
	say(talk, IBV_WR_RDMA_WRITE, 1500, 0, 4);
}

static void answers(struct talk *talk)
{
	say(talk, IBV_WR_RDMA_READ, 0, 0, 1);
	say(talk, IBV_WR_RDMA_READ, 9, 0, 1);
	say(talk, IBV_WR_RDMA_READ, 5003, 0, 1);
	say(talk, IBV_WR_RDMA_READ, 1500, 0, 3);
	say(talk, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0, 1);
	say(talk, IBV_WR_ATOMIC_CMP_AND_SWP, 8, 0, 1);
}

static void not_ready(struct talk *talk)
{
	step(talk, "SEND of 1500 bytes, and the receive %d ms later", RNR_MS);
	post(talk, IBV_WR_SEND, 1500, 0, 1);
	sleep_ms(RNR_MS);
	post_receive(&talk->b);
	await(&talk->a, IBV_WC_SUCCESS);
	await(&talk->b, IBV_WC_SUCCESS);
	step_ends();
}

/* The n-th packet for RoCE of the family is lost on its last bit of way to a host. */
static void lossy(struct talk *talk, enum ibv_wr_opcode opcode, uint32_t size,
		  const char *host, int n)
{
	const char *table = strcmp(talk->family, "IPv6") ? "ip" : "ip6";
	char command[512];

	step(talk, "%s of %u bytes; packet %d to %s is lost", name_of(opcode), size, n, host);
	snprintf(command, sizeof(command),
		 "ip netns exec %s nft 'table %s lost { chain arrival { type filter hook "
		 "prerouting priority raw; udp dport 4791 numgen inc mod 1000000000 == %d "
		 "drop; }; }'", host, table, n - 1);
	must(command, system(command));
	post(talk, opcode, size, 0, 1);
	await(&talk->a, IBV_WC_SUCCESS);
	step_ends();
	snprintf(command, sizeof(command), "ip netns exec %s nft delete table %s lost", host,
		 table);
	must(command, system(command));
}

/* A key that nobody has; the connection is in its error state then. */
static void refused(struct talk *talk)
{
	struct ibv_sge sge = { .addr = ADDRESS_A, .length = 64, .lkey = talk->a.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = ADDRESS_B },
	};

	step(talk, "WRITE that is refused");
	must("ibv_post_send", ibv_post_send(talk->a.qp, &wr, &bad));
	await(&talk->a, IBV_WC_REM_ACCESS_ERR);
	step_ends();
}

static void connected(struct talk *talk)
{
	messages(talk);
	answers(talk);
	not_ready(talk);
	lossy(talk, IBV_WR_RDMA_WRITE, 5003, "h2", 2);
	lossy(talk, IBV_WR_RDMA_READ, 5003, "h1", 2);
	refused(talk);
}

static void talk_about(const char *service, enum ibv_qp_type type,
		       void (*topic)(struct talk *talk), char **argv)
{
	struct talk talk = { .service = service, .type = type };

	open_talk(&talk, argv);
	topic(&talk);
	close_talk(&talk);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2 || argc % 5 != 2)
		die("see the head of talk.c");
	capture = atoi(argv[1]);
	for (i = 2; i < argc; i += 5) {
		talk_about("RC", IBV_QPT_RC, connected, argv + i);
		talk_about("UC", IBV_QPT_UC, messages, argv + i);
		talk_about("UD", IBV_QPT_UD, datagrams, argv + i);
	}
	return 0;
}
