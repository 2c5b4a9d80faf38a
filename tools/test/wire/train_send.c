// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * train_send: trains from a sender that is not the driver. A train is one
 * datagram of many RoCE packets (UDP_SEGMENT), each with its own PSN and ICRC,
 * that the stack hands over whole. This program is the peer of a QP of the
 * device under test: it makes the packets itself, sends them from an ordinary
 * UDP socket, and looks at the memory and at the acknowledgements.
 *
 *	train_send DEVICE GID_INDEX OWN_ADDRESS [constant|increasing|random]
 *
 * With the last one each packet travels alone, as from an RNIC, with an IPv4
 * identification of that kind, and all packets are sent before it waits for anything.
 *
 * It runs in the namespace of OWN_ADDRESS, where nobody else has port 4791; the
 * device is in another one. TAP on stdout.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"
#include "util.h"
#include "rdma.h"
#include "packet.h"

#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define MTU 1024
#define SEGMENT (BTH_SIZE + MTU + ICRC_SIZE)
#define MAX_TRAIN 60
#define SINGLES 40
#define BUF_SIZE (128 * 1024)
#define PEER_QPN 0x123456
#define FIRST_PSN 0xffffe0	/* the wrap is inside of the first train */

struct target {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	uint32_t psn;		/* expected next */
	uint32_t messages;	/* executed so far: the MSN */
};

static struct port port;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static uint8_t *buf, *data;
static struct wire_flow flow;
static struct target one, two;
static int sock;

static void tap(const char *name, bool right, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The name gets the address family, the diagnostic comes from @fmt. */
static void tap(const char *name, bool right, const char *fmt, ...)
{
	char full_name[120], seen[200];
	va_list args;

	snprintf(full_name, sizeof(full_name), "%s (IPv%c)", name,
		 gid_is_ipv4(&flow.from) ? '4' : '6');
	va_start(args, fmt);
	vsnprintf(seen, sizeof(seen), fmt, args);
	va_end(args);
	if (right)
		tap_ok(full_name);
	else
		tap_not_ok(full_name, "%s", seen);
}

static void target_create(struct target *t)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 128,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	const struct path path = {
		.gid = flow.from, .qpn = PEER_QPN, .rq_psn = FIRST_PSN,
		.mtu = MTU, .timeout = 14, .rd_atomic = 1, .min_rnr_timer = 1,
	};

	t->cq = ibv_create_cq(port.ctx, 256, NULL, NULL, 0);
	init.send_cq = t->cq;
	init.recv_cq = t->cq;
	t->qp = ibv_create_qp(pd, &init);
	if (!t->cq || !t->qp)
		die_errno(errno, "CQ or QP");
	if (qp_to_init(t->qp, IBV_ACCESS_REMOTE_WRITE) ||
	    qp_to_rtr(t->qp, &port, &path) || qp_to_rts(t->qp, &path))
		die("the QP does not get to RTS");
	t->psn = FIRST_PSN;
	t->messages = 0;
}

static void target_destroy(struct target *t)
{
	if (ibv_destroy_qp(t->qp) || ibv_destroy_cq(t->cq))
		die("the QP cannot be destroyed");
}

static void post_receives(struct target *t, int n)
{
	struct ibv_sge sge = { .lkey = mr->lkey, .length = MTU };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int i;

	for (i = 0; i < n; i++) {
		sge.addr = (uintptr_t)buf + i * MTU;
		wr.wr_id = i;
		if (ibv_post_recv(t->qp, &wr, &bad))
			die("ibv_post_recv");
	}
}

/* Not connected and DF set: the kernel then puts 0 into the identification. */
static void open_socket(const char *address)
{
	struct sockaddr_in6 sin6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(ROCE_PORT),
	};
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(ROCE_PORT),
	};
	int pmtu = IP_PMTUDISC_DO, one_flag = 1;
	bool v4;

	gid_of_address(&flow.from, address);
	v4 = gid_is_ipv4(&flow.from);
	memcpy(&sin.sin_addr, flow.from.raw + 12, 4);
	memcpy(&sin6.sin6_addr, flow.from.raw, 16);
	sock = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
	/* RoCE has its ICRC: a UDP checksum of 0 is as good, over IPv6 too. */
	setsockopt(sock, IPPROTO_UDP, UDP_NO_CHECK6_RX, &one_flag, sizeof(one_flag));
	if (v4)
		setsockopt(sock, IPPROTO_IP, IP_MTU_DISCOVER, &pmtu, sizeof(pmtu));
	if (bind(sock, v4 ? (void *)&sin : (void *)&sin6,
		 v4 ? sizeof(sin) : sizeof(sin6)))
		die_errno(errno, "bind %s port %d", address, ROCE_PORT);
	flow.sport = ROCE_PORT;
	flow.to = port.gid;
}

/* One datagram; of several packets if @segment is not 0. */
static void send_datagram(const uint8_t *bytes, size_t len, uint16_t segment)
{
	struct sockaddr_in6 sin6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(ROCE_PORT),
	};
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(ROCE_PORT),
	};
	int gso = segment;
	ssize_t n;

	memcpy(&sin.sin_addr, flow.to.raw + 12, 4);
	memcpy(&sin6.sin6_addr, flow.to.raw, 16);
	if (setsockopt(sock, IPPROTO_UDP, UDP_SEGMENT, &gso, sizeof(gso)))
		die_errno(errno, "UDP_SEGMENT");
	if (gid_is_ipv4(&flow.to))
		n = sendto(sock, bytes, len, 0, (void *)&sin, sizeof(sin));
	else
		n = sendto(sock, bytes, len, 0, (void *)&sin6, sizeof(sin6));
	if (n != (ssize_t)len)
		die_errno(errno, "sendto of %zu bytes", len);
}

struct ack {
	uint32_t psn, msn;
	uint8_t syndrome;
};

/* One packet, with headers of our own, and no UDP checksum. */
static void send_single(int raw, const uint8_t *bytes, size_t len, uint16_t id)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in sin = { .sin_family = AF_INET };
	bool v4 = gid_is_ipv4(&flow.to);
	struct udphdr udp = {
		.source = htons(flow.sport), .dest = htons(ROCE_PORT),
		.len = htons(sizeof(udp) + len),
	};
	struct iphdr ip = {
		.version = 4, .ihl = 5, .id = htons(id), .frag_off = htons(IP_DF),
		.ttl = 64, .protocol = IPPROTO_UDP,
	};
	struct ip6_hdr ip6 = {
		.ip6_flow = htonl(6 << 28), .ip6_plen = udp.len,
		.ip6_nxt = IPPROTO_UDP, .ip6_hlim = 64,
	};
	struct iovec iov[] = {
		{ v4 ? (void *)&ip : (void *)&ip6, v4 ? sizeof(ip) : sizeof(ip6) },
		{ &udp, sizeof(udp) }, { (void *)bytes, len },
	};
	struct msghdr msg = {
		.msg_name = v4 ? (void *)&sin : (void *)&sin6,
		.msg_namelen = v4 ? sizeof(sin) : sizeof(sin6),
		.msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov),
	};

	memcpy(&ip.saddr, flow.from.raw + 12, 4);
	memcpy(&ip.daddr, flow.to.raw + 12, 4);
	memcpy(&ip6.ip6_src, flow.from.raw, 16);
	memcpy(&ip6.ip6_dst, flow.to.raw, 16);
	memcpy(&sin.sin_addr, flow.to.raw + 12, 4);
	memcpy(&sin6.sin6_addr, flow.to.raw, 16);
	if (sendmsg(raw, &msg, 0) < 0)
		die_errno(errno, "sendmsg of %zu bytes", len);
}

/* The last acknowledgement that comes until it is quiet. */
static bool last_ack(struct ack *ack, unsigned int ms)
{
	struct pollfd pfd = { .fd = sock, .events = POLLIN };
	uint8_t p[2048];
	bool any = false;

	while (poll(&pfd, 1, any ? 100 : ms) > 0) {
		if (recv(sock, p, sizeof(p), 0) < BTH_SIZE + 4 || p[0] != RC_ACK)
			continue;
		ack->psn = p[9] << 16 | p[10] << 8 | p[11];
		ack->syndrome = p[12];
		ack->msn = p[13] << 16 | p[14] << 8 | p[15];
		any = true;
	}
	return any;
}

static void expect_ack(const char *name, uint32_t psn, uint32_t msn)
{
	struct ack ack = { 0 };

	if (!last_ack(&ack, PATIENCE_MS))
		tap(name, false, "no acknowledgement came");
	else
		tap(name, ack.psn == (psn & 0xffffff) && ack.msn == msn &&
		    ack.syndrome >> 5 == 0,
		    "expected ACK of PSN %#x, MSN %u, seen PSN %#x, MSN %u, syndrome %#x",
		    psn & 0xffffff, msn, ack.psn, ack.msn, ack.syndrome);
}

/* Forgets the memory and thinks of new data. */
static void fresh(uint64_t seed)
{
	size_t i;

	memset(buf, 0, BUF_SIZE);
	for (i = 0; i < BUF_SIZE; i++)
		data[i] = mix64(seed + i) | 1;
}

static void expect_bytes(const char *name, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len && buf[i] == data[i]; i++)
		;
	tap(name, i == len && !buf[len],
	    "byte %u of %u: expected %#x, seen %#x; the byte behind is %#x", i,
	    len, data[min(i, len - 1)], buf[min(i, len - 1)], buf[len]);
}

/* The packet number @k of a WRITE of @len bytes to the start of the buffer. */
static uint32_t write_packet(uint8_t *out, struct target *t, uint32_t k,
			     uint32_t len, uint16_t ip_id)
{
	uint32_t last = (len - 1) / MTU;
	struct wire_packet p = {
		.opcode = !k ? RC_WRITE_FIRST :
			  k == last ? RC_WRITE_LAST : RC_WRITE_MIDDLE,
		.qpn = t->qp->qp_num,
		.psn = t->psn + k,
		.ack_request = k == last,
		.has_reth = !k,
		.addr = (uintptr_t)buf,
		.rkey = mr->rkey,
		.dma_len = len,
		.payload = data + k * MTU,
		.len = k == last ? len - k * MTU : MTU,
	};

	return wire_build(out, &flow, &p, ip_id);
}

/* FIRST alone (it is longer), then all the rest as one train. */
static void send_write(struct target *t, uint32_t len, int spoiled)
{
	static uint8_t train[MAX_TRAIN * SEGMENT];
	uint32_t n = (len + MTU - 1) / MTU, k, at = 0;

	send_datagram(train, write_packet(train, t, 0, len, 0), 0);
	for (k = 1; k < n; k++) {
		at += write_packet(train + at, t, k, len, k - 1);
		if ((int)k == spoiled)
			train[at - 100] ^= 0x10;
	}
	send_datagram(train, at, SEGMENT);
}

/* What follows an identification. The kernel would replace 0. */
static uint16_t next_id(uint16_t id, const char *kind, uint64_t *rnd)
{
	uint16_t next = id;

	if (!strcmp(kind, "increasing"))
		return id + 1;
	while (!strcmp(kind, "random") && (!next || (uint16_t)(next - id) < 2))
		next = next_random(rnd);
	return next;
}

static void single_packets(const char *kind, uint32_t n)
{
	int raw = socket(gid_is_ipv4(&flow.to) ? AF_INET : AF_INET6, SOCK_RAW,
			 IPPROTO_RAW);
	uint8_t packet[SEGMENT + RETH_SIZE];
	uint64_t rnd = 3;
	uint16_t id = 17;
	uint32_t k;

	if (raw < 0)
		die_errno(errno, "raw socket");
	fresh(n);
	for (k = 0; k < n; k++) {
		id = next_id(id, kind, &rnd);
		send_single(raw, packet,
			    write_packet(packet, &one, k, n * MTU, id), id);
	}
	expect_ack("all packets are acknowledged", one.psn + n - 1, ++one.messages);
	expect_bytes("every byte is in its place", n * MTU);
	close(raw);
}

static void long_write(uint32_t len, const char *what)
{
	char name[128];
	uint32_t n = (len + MTU - 1) / MTU;

	fresh(len);
	send_write(&one, len, -1);
	snprintf(name, sizeof(name), "a train of %u packets, %s, is executed whole",
		 n - 1, what);
	expect_ack(name, one.psn + n - 1, ++one.messages);
	snprintf(name, sizeof(name), "every byte of it is in its place, %s", what);
	expect_bytes(name, len);
	one.psn += n;
}

/* The packets before the bad one count, those after it have a gap before. */
static void spoiled_write(void)
{
	const uint32_t len = 20 * MTU, bad = 9;
	struct ack ack = { 0 };

	fresh(4711);
	send_write(&one, len, bad);
	tap("a bad ICRC in a train makes a NAK", last_ack(&ack, PATIENCE_MS) &&
	    ack.syndrome == 0x60, "expected syndrome 0x60, seen %#x",
	    ack.syndrome);
	tap("the NAK names the bad packet's PSN",
	    ack.psn == ((one.psn + bad) & 0xffffff),
	    "expected %#x, seen %#x", (one.psn + bad) & 0xffffff, ack.psn);
	expect_bytes("the packets before it are executed, those behind are not",
		     bad * MTU);
	send_write(&one, len, -1);
	expect_ack("the train sent again completes the message",
		   one.psn + 19, ++one.messages);
	expect_bytes("and every byte of it is in its place", len);
	one.psn += 20;
}

/* A run of small messages of equal size, to two QPs in turn. */
static void small_sends(void)
{
	static uint8_t train[32 * 128];
	struct ibv_wc wc;
	uint32_t k, at = 0, come[2] = { 0 };

	fresh(99);
	post_receives(&one, 16);
	post_receives(&two, 16);
	for (k = 0; k < 32; k++) {
		struct target *t = k & 1 ? &two : &one;
		struct wire_packet p = {
			.opcode = RC_SEND_ONLY,
			.qpn = t->qp->qp_num,
			.psn = t->psn++,
			.ack_request = k >= 30,
			.payload = data + k * 61,
			.len = 61,
		};

		at += wire_build(train + at, &flow, &p, k);
	}
	send_datagram(train, at, at / 32);
	sleep_ms(300);
	while (ibv_poll_cq(one.cq, 1, &wc) == 1)
		come[0] += !wc.status && wc.byte_len == 61;
	while (ibv_poll_cq(two.cq, 1, &wc) == 1)
		come[1] += !wc.status && wc.byte_len == 61;
	tap("a train for two QPs reaches both", come[0] == 16 && come[1] == 16,
	    "expected 16 and 16 receives, seen %u and %u", come[0], come[1]);
	one.messages += 16;
	two.messages += 16;
	last_ack(&(struct ack){ 0 }, 100);
}

/* Trains that no sender of ours makes: nothing but counters may change. */
static void odd_trains(void)
{
	static uint8_t junk[MAX_TRAIN * SEGMENT];
	uint64_t rnd = 5;
	uint32_t k;

	for (k = 0; k < sizeof(junk); k++)
		junk[k] = next_random(&rnd);
	for (k = 1; k < 60; k++)
		send_datagram(junk + k, 100 + k * 7, 1 + k * 3);
	send_datagram(junk, 16 * 15 + 3, 16);
	last_ack(&(struct ack){ 0 }, 100);
	long_write(5 * MTU, "after trains of rubbish");
}

static void trains(void)
{
	target_create(&two);
	long_write(40 * MTU, "the last one full");
	long_write(50 * MTU - 1000, "the last one short");
	long_write(2 * MTU, "the shortest");
	small_sends();
	spoiled_write();
	odd_trains();
	target_destroy(&two);
}

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 5)
		die("usage: train_send DEVICE GID_INDEX OWN_ADDRESS [constant|increasing|random]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	port_open(&port, argv[1], atoi(argv[2]));
	open_socket(argv[3]);
	pd = ibv_alloc_pd(port.ctx);
	buf = aligned_alloc(4096, BUF_SIZE);
	data = aligned_alloc(4096, BUF_SIZE);
	mr = ibv_reg_mr(pd, buf, BUF_SIZE, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		die_errno(errno, "ibv_reg_mr");
	target_create(&one);
	if (argc == 5)
		single_packets(argv[4], SINGLES);
	else
		trains();
	target_destroy(&one);
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	port_close(&port);
	return tap_end();
}
