// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * flood: hostile packets by the million, made from a seed. Half of those that
 * could have a right ICRC have one. It attacks QPs of its own, and knows of
 * each packet what must become of it.
 *
 *	flood DEVICE GID_INDEX NETDEV OWN_ADDRESS TARGET_MAC
 *	      [--packets N] [--seed N] [--only KIND]
 *
 * It runs in the namespace of NETDEV, from which the device can be reached by
 * frames to TARGET_MAC; OWN_ADDRESS is of the family of the GID. Prints
 * "sent KIND COUNT" of each kind, "fate NAME COUNT" of what must become of the
 * packets, a train's counted one by one, and "fate packets COUNT", their sum.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "flood.h"

#define VICTIMS_PER_ROUND	6
#define ROUND			32	/* datagrams */
#define MAX_PACKET		1460

static uint64_t rnd = 1;
static uint64_t fates[FATES];
static struct wire_flow flow;
static const char *only = "";
static uint64_t packets = 1000, seed = 1;

static uint32_t random_below(uint32_t n)
{
	return (next_random(&rnd) >> 16) % n;
}

static bool one_in(uint32_t n)
{
	return !random_below(n);
}

static uint64_t interesting(void)
{
	static const uint64_t values[] = {
		0, 1, 3, 4, 7, 8, 255, 1023, 1024, 1025, OPEN_SIZE - 1,
		OPEN_SIZE, OPEN_SIZE + 1, 0x7fffffff, 0x80000000, 0x80000001,
		0xfffff000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000,
		0xffff800000000000, 0xfffffffffffff000, 0xffffffffffffffff,
	};

	return one_in(4) ? next_random(&rnd) :
			   values[random_below(ARRAY_SIZE(values))];
}

/* --- bytes ----------------------------------------------------------------- */

static void put16(uint8_t *p, uint16_t value)
{
	value = htons(value);
	memcpy(p, &value, sizeof(value));
}

static void put32(uint8_t *p, uint32_t value)
{
	value = htonl(value);
	memcpy(p, &value, sizeof(value));
}

static void put64(uint8_t *p, uint64_t value)
{
	put32(p, value >> 32);
	put32(p + 4, value);
}

static void put_random(uint8_t *p, uint32_t len)
{
	for (; len; len--)
		*p++ = next_random(&rnd);
}

static uint32_t qpn_of(const uint8_t *p)
{
	return p[5] << 16 | p[6] << 8 | p[7];
}

/* Half of them where the victims are now, more or less. */
static uint32_t any_psn(void)
{
	static const uint32_t psns[] = { 0, 1, 0x7fffff, 0x800000, 0xffffff };

	if (one_in(2))
		return VICTIM_PSN - 8 + random_below(48);
	return one_in(2) ? random_below(1 << 24) :
			   psns[random_below(ARRAY_SIZE(psns))];
}

static const struct victim *any_victim(void)
{
	return &victims[random_below(nr_victims)];
}

/* Address, key and length of a RETH or the like: in, around or out of a region. */
static void put_range(uint8_t *p)
{
	const struct ibv_mr *mr = regions[random_below(SECRET_REGION)];

	put64(p, one_in(3) ? interesting() :
			     (uintptr_t)mr->addr + (int64_t)random_below(64) - 8 +
			     (one_in(3) ? mr->length : 0));
	put32(p + 8, one_in(6) ? next_random(&rnd) : mr->rkey);
	put32(p + 12, one_in(2) ? interesting() : random_below(64));
}

/* What stands behind the BTH: what makes sense first, then at random. */
static void put_extended(uint8_t *p, uint8_t opcode, uint32_t len)
{
	static const uint8_t syndromes[] = {
		0x00, 0x1f, 0x20, 0x3f, 0x60, 0x61, 0x62, 0x63, 0x64, 0x7f,
		0x40, 0x80, 0xff,
	};

	put_random(p, len);
	if (opcode == 0x1c) {	/* FLUSH */
		put32(p, random_below(32));
		put_range(p + 4);
	} else if (opcode == 0x64 || opcode == 0x65) {
		put32(p, one_in(4) ? interesting() : TEST_QKEY);
	} else if (opcode >= 0x0d && opcode <= 0x12 && len) {
		p[0] = syndromes[random_below(ARRAY_SIZE(syndromes))];
	} else if (len >= 16) {
		put_range(p);
	}
}

/* A packet without its ICRC, whole for its opcode; returns its size. */
static uint32_t build(uint8_t *p, uint8_t opcode, uint32_t qpn, uint32_t payload)
{
	uint32_t headers = opcode_headers(opcode) ?: BTH_SIZE, pad = -payload & 3;

	if (!opcode_has_payload(opcode))
		payload = pad = 0;
	p[0] = opcode;
	p[1] = (next_random(&rnd) & 0xc0) | pad << 4;
	put16(p + 2, 0xffff);
	put32(p + 4, qpn);
	put32(p + 8, any_psn() | (uint32_t)one_in(2) << 31);
	put_extended(p + BTH_SIZE, opcode, headers - BTH_SIZE);
	put_random(p + headers, payload + pad);
	return headers + payload + pad;
}

/* Appends the ICRC to @len bytes; says whether it is right. */
static bool put_icrc(uint8_t *p, uint32_t len, uint16_t ip_id, bool right)
{
	uint32_t icrc = wire_icrc(&flow, p, len, ip_id);

	if (!right)
		icrc ^= 1u << random_below(32);
	memcpy(p + len, &icrc, ICRC_SIZE);
	return right;
}

/* A datagram that holds no whole BTH belongs to nobody. */
static void expect(const uint8_t *p, uint32_t size, bool icrc_right)
{
	fates[size < BTH_SIZE ? FATE_REFUSED :
	      packet_fate(p, size, qpn_of(p), icrc_right)]++;
}

/* One packet of @len bytes, and its ICRC */
static void emit(uint8_t *p, uint32_t len, bool right)
{
	uint16_t id = next_random(&rnd);

	expect(p, len + ICRC_SIZE, put_icrc(p, len, id, right));
	frame_datagram(&flow, p, len + ICRC_SIZE, id, random_below(4), 0);
}

/* --- kinds ------------------------------------------------------------------ */

static const uint8_t requests[] = {
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
	0x0c, 0x13, 0x14, 0x16, 0x17, 0x1c, 0x1d,
};

/* An opcode that the victim's service has */
static uint8_t opcode_for(const struct victim *v)
{
	switch (v->qp->qp_type) {
	case IBV_QPT_UD:
		return 0x64 + random_below(2);
	case IBV_QPT_UC:
		return 0x20 + random_below(12);
	default:
		return requests[random_below(ARRAY_SIZE(requests))];
	}
}

static uint32_t build_for_victim(uint8_t *p, uint32_t payload)
{
	const struct victim *v = any_victim();

	return build(p, opcode_for(v), v->qp->qp_num, payload);
}

static void any_opcode(uint8_t *p)
{
	uint32_t len = build(p, next_random(&rnd), any_victim()->qp->qp_num,
			     random_below(65));

	emit(p, len, one_in(2));
}

/* What would be right, if it went on */
static void truncated(uint8_t *p)
{
	uint32_t len = build_for_victim(p, random_below(200));

	len = 1 + random_below(len + ICRC_SIZE - 1);
	if (len > ICRC_SIZE && one_in(2)) {
		emit(p, len - ICRC_SIZE, true);
		return;
	}
	/* The last bytes are what happens to stand there. */
	put32(p + len - min(len, ICRC_SIZE), 0);
	expect(p, len, false);
	frame_datagram(&flow, p, len, 0, 0, 0);
}

static void oversized(uint8_t *p)
{
	emit(p, build_for_victim(p, VICTIM_MTU + 1 + random_below(380)), one_in(2));
}

static void wrong_pad(uint8_t *p)
{
	uint32_t len = build_for_victim(p, random_below(8));

	p[1] ^= (1 + random_below(3)) << 4;
	emit(p, len, one_in(2));
}

static void wrong_version(uint8_t *p)
{
	uint32_t len = build_for_victim(p, random_below(65));

	p[1] |= 1 + random_below(15);
	emit(p, len, one_in(2));
}

static void wrong_pkey(uint8_t *p)
{
	uint32_t len = build_for_victim(p, random_below(65));

	put16(p + 2, next_random(&rnd));
	emit(p, len, one_in(2));
}

static void wrong_address(uint8_t *p)
{
	uint32_t len = build_for_victim(p, random_below(65));

	flow.from.raw[15] ^= 0x40;
	emit(p, len, one_in(2));
	flow.from.raw[15] ^= 0x40;
}

/* Ranges that wrap, lengths that lie, memory of others */
static void ranges(uint8_t *p)
{
	static const uint8_t opcodes[] = {
		0x06, 0x0a, 0x0b, 0x0c, 0x13, 0x14, 0x1c, 0x1d, 0x26, 0x2a, 0x2b,
	};
	uint32_t len = build(p, opcodes[random_below(ARRAY_SIZE(opcodes))],
			     any_victim()->qp->qp_num, random_below(65));

	emit(p, len, one_in(2));
}

/* Acknowledgments and responses, mostly of what was never sent */
static void answers(uint8_t *p)
{
	uint32_t len = build(p, 0x0d + random_below(6), any_victim()->qp->qp_num,
			     one_in(2) ? VICTIM_MTU : random_below(65));

	emit(p, len, one_in(2));
}

static void spoofed_cnps(uint8_t *p)
{
	uint32_t len = build(p, 0x81, any_victim()->qp->qp_num,
			     one_in(4) ? random_below(40) : 16);

	emit(p, len, one_in(2));
}

/* The well known QPs, and such as are not there */
static void strangers(uint8_t *p)
{
	static const uint32_t qpns[] = { 0, 1, 0xfffffe, 0xffffff };
	uint32_t qpn = one_in(2) ? qpns[random_below(ARRAY_SIZE(qpns))] :
				   0x800000 + random_below(0x7ffffe);
	uint32_t len = build(p, one_in(2) ? 0x64 : next_random(&rnd), qpn,
			     random_below(300));

	emit(p, len, one_in(2));
}

/* As good as it gets without being the peer */
static void in_order(uint8_t *p)
{
	const struct ibv_mr *mr = regions[OPEN_REGION];
	const struct victim *v = any_victim();
	uint8_t service = v->qp->qp_type == IBV_QPT_UC ? 0x20 : 0;
	uint32_t payload = random_below(VICTIM_MTU + 1);
	uint32_t len = build(p, service + (one_in(2) ? 0x04 : 0x0a),
			     v->qp->qp_num, payload);

	put32(p + 8, ((VICTIM_PSN + random_below(4)) & 0xffffff) | 1u << 31);
	if ((p[0] & 0x1f) == 0x0a) {
		put64(p + BTH_SIZE, (uintptr_t)mr->addr);
		put32(p + BTH_SIZE + 8, mr->rkey);
		put32(p + BTH_SIZE + 12, payload);
	}
	emit(p, len, true);
}

static void fragments(uint8_t *p)
{
	uint32_t len = build_for_victim(p, 500 + random_below(2000));
	uint16_t id = next_random(&rnd);
	/* What is not whole waits at the receiver for half a minute. */
	bool whole = !one_in(100);

	flow.fragmented = true;
	put_icrc(p, len, id, true);
	if (whole)
		expect(p, len + ICRC_SIZE, true);
	frame_fragments(&flow, p, len + ICRC_SIZE, id, whole);
	flow.fragmented = false;
}

/*
 * Trains whose packets have not the size that they are cut at, go to many QPs, or
 * end with rubbish. Each segment begins with a BTH, so that none reaches a QP
 * that is nobody's victim.
 */
static void trains(uint8_t *p)
{
	uint32_t segment = one_in(16) ? 1 + random_below(BTH_SIZE + ICRC_SIZE) :
			   one_in(2) ? 16 + random_below(300) :
				       BTH_SIZE + 64 + ICRC_SIZE;
	uint32_t count = 2 + random_below(min(MAX_PAYLOAD / segment - 1, 62));
	uint32_t size = segment * (count - 1) + 1 + random_below(segment);
	bool equal = one_in(2), right;
	static uint8_t packet[MAX_PACKET];
	uint16_t id = next_random(&rnd), k = 0;
	uint32_t qpn = 0, at, len;

	for (at = 0; at < size; at += segment, k++) {
		if (!at || !equal || one_in(8))
			len = build_for_victim(packet, random_below(300));
		put32(packet + 8, any_psn());
		len = min(size - at, segment);
		memcpy(p + at, packet, len);
		if (segment < BTH_SIZE + ICRC_SIZE) {
			fates[FATE_REFUSED]++;
			continue;
		}
		right = len > ICRC_SIZE &&
			put_icrc(p + at, len - ICRC_SIZE, id + k, one_in(2));
		/* A rest without a BTH goes where the packet before it went. */
		qpn = len < BTH_SIZE ? qpn : qpn_of(p + at);
		fates[packet_fate(p + at, len, qpn, right)]++;
	}
	frame_datagram(&flow, p, size, id, 0, segment);
}

/* Writes to memory whose key nobody was told. UC does not mind wrong keys. */
static void guesses(uint8_t *p)
{
	const struct ibv_mr *mr = regions[SECRET_REGION];
	const struct victim *v;
	uint32_t len;

	do
		v = any_victim();
	while (v->qp->qp_type != IBV_QPT_UC || v->state != IBV_QPS_RTS);
	len = build(p, 0x2a, v->qp->qp_num, 8);
	put64(p + BTH_SIZE, (uintptr_t)mr->addr);
	put32(p + BTH_SIZE + 8, next_random(&rnd));
	put32(p + BTH_SIZE + 12, 8);
	emit(p, len, true);
}

static bool can_fragment(void)
{
	return gid_is_ipv4(&flow.from);
}

static bool can_train(void)
{
	static int can = -1;

	if (can < 0)
		can = frames_take_trains(&flow);
	return can;
}

static const struct {
	const char *name;
	void (*send)(uint8_t *buffer);
	bool (*possible)(void);
} kinds[] = {
	{ "any_opcode", any_opcode, NULL },
	{ "truncated", truncated, NULL },
	{ "oversized", oversized, NULL },
	{ "wrong_pad", wrong_pad, NULL },
	{ "wrong_version", wrong_version, NULL },
	{ "wrong_pkey", wrong_pkey, NULL },
	{ "wrong_address", wrong_address, NULL },
	{ "ranges", ranges, NULL },
	{ "answers", answers, NULL },
	{ "spoofed_cnps", spoofed_cnps, NULL },
	{ "strangers", strangers, NULL },
	{ "in_order", in_order, NULL },
	{ "fragments", fragments, can_fragment },
	{ "trains", trains, can_train },
	/* Only by name, so that the others keep most of the packets */
	{ "guesses", guesses, NULL },
};

static uint64_t sent[ARRAY_SIZE(kinds)];

static unsigned int pick_kind(void)
{
	unsigned int i;

	if (!*only) {
		do
			i = random_below(ARRAY_SIZE(kinds) - 1);
		while (kinds[i].possible && !kinds[i].possible());
		return i;
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, only))
			return i;
	die("no such kind: %s", only);
}

static void flood(void)
{
	static uint8_t buffer[MAX_PAYLOAD + MAX_PACKET];
	unsigned int kind, k, turn = 0;
	uint64_t i;

	for (i = 0; i < packets; i++) {
		kind = pick_kind();
		flow.sport = 0xc000 | random_below(1 << 14);
		kinds[kind].send(buffer);
		sent[kind]++;
		if (i % ROUND != ROUND - 1)
			continue;
		frames_flush();
		for (k = 0; k < VICTIMS_PER_ROUND; k++)
			victim_keep(&victims[turn++ % nr_victims]);
	}
	frames_flush();
}

static void report(void)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		printf("sent %s %lu\n", kinds[i].name, sent[i]);
	for (i = 0; i < FATES; i++) {
		printf("fate %s %lu\n", fate_names[i], fates[i]);
		sum += fates[i];
	}
	printf("fate packets %lu\n", sum);
	fflush(stdout);
}

static void parse(int argc, char **argv, struct port *port)
{
	static const struct option options[] = {
		{ "packets", 1, NULL, 'p' }, { "seed", 1, NULL, 's' },
		{ "only", 1, NULL, 'o' }, { }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			packets = strtoull(optarg, NULL, 0);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 'o')
			only = optarg;
		else
			exit(2);
	}
	if (argc - optind != 5)
		die("usage: flood DEVICE GID_INDEX NETDEV OWN_ADDRESS TARGET_MAC [OPTION...]");
	port_open(port, argv[optind], atoi(argv[optind + 1]));
	frames_open(argv[optind + 2], argv[optind + 4]);
	gid_of_address(&flow.from, argv[optind + 3]);
	flow.to = port->gid;
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct port port;
	bool unharmed;

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	parse(argc, argv, &port);
	rnd = mix64(seed);
	victims_create(&port, &flow.from);
	flood();
	report();
	unharmed = victims_unharmed();
	victims_destroy();
	port_close(&port);
	return unharmed ? 0 : 1;
}
