// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * performance: asks the performance management agent of a port, by MADs to its
 * QP 1, as monitoring programs of InfiniBand do (IBA volume 1, 16.1).
 *
 *	performance DEVICE GID_INDEX DESTINATION_GID [zero]
 *
 * DEVICE sends, over the link. Prints ClassPortInfo, PortCounters and
 * PortCountersExtended, a "name value" a line; "zero" sets all of
 * PortCountersExtended first.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/umad.h>

#include "util.h"

#define CLASS_PERFORMANCE	0x04
#define GET			0x01
#define SET			0x02
#define GET_RESPONSE		0x81
#define CLASS_PORT_INFO		0x0001
#define PORT_COUNTERS		0x0012
#define PORT_COUNTERS_EXTENDED	0x001d

#define GSI_QPN			1
#define GSI_QKEY		0x80010000u
#define MAD_SIZE		256
#define DATA			64	/* where the attribute begins */
#define PATIENCE		3000	/* ms */

struct mad {
	uint8_t base_version, class, class_version, method;
	uint16_t status, class_specific;
	uint64_t transaction;
	uint16_t attribute, reserved;
	uint32_t modifier;
	uint8_t data[MAD_SIZE - 24];
};

_Static_assert(sizeof(struct mad) == MAD_SIZE, "a MAD has 256 bytes");

/* A field of an attribute */
struct field {
	const char *name;
	unsigned int offset, bytes;
};

static const struct field class_port_info[] = {
	{ "base_version", 0, 1 }, { "class_version", 1, 1 },
	{ "capability_mask", 2, 2 }, { }
};

static const struct field port_counters[] = {
	{ "port_select", 1, 1 }, { "symbol_error", 4, 2 },
	{ "link_downed", 7, 1 }, { "port_rcv_errors", 8, 2 },
	{ "port_xmit_discards", 14, 2 }, { "port_rcv_constraint_errors", 17, 1 },
	{ "port_xmit_data", 24, 4 }, { "port_rcv_data", 28, 4 },
	{ "port_xmit_packets", 32, 4 }, { "port_rcv_packets", 36, 4 },
	{ "port_xmit_wait", 40, 4 }, { }
};

static const struct field port_counters_extended[] = {
	{ "port_select", 1, 1 },
	{ "port_xmit_data", 8, 8 }, { "port_rcv_data", 16, 8 },
	{ "port_xmit_packets", 24, 8 }, { "port_rcv_packets", 32, 8 },
	{ "unicast_xmit_packets", 40, 8 }, { "unicast_rcv_packets", 48, 8 },
	{ "multicast_xmit_packets", 56, 8 }, { "multicast_rcv_packets", 64, 8 },
	{ }
};

struct agent {
	int port, id;
	int gid_index;
	union umad_gid destination;
	uint64_t transaction;
};

static void open_agent(struct agent *agent, const char *device)
{
	if (umad_init())
		die("umad_init");
	agent->port = umad_open_port(device, 1);
	if (agent->port < 0)
		die_errno(-agent->port, "umad_open_port %s", device);
	agent->id = umad_register(agent->port, CLASS_PERFORMANCE, 1, 0, NULL);
	if (agent->id < 0)
		die_errno(-agent->id, "umad_register");
}

/* Sends *@mad and replaces it by its answer. */
static void ask(struct agent *agent, struct mad *mad)
{
	struct ib_mad_addr grh = {
		.hop_limit = 64,
	};
	void *umad = zalloc(umad_size() + MAD_SIZE);
	int length = MAD_SIZE;

	memcpy(grh.gid, agent->destination.raw, sizeof(grh.gid));
	memcpy(umad_get_mad(umad), mad, MAD_SIZE);
	umad_set_addr(umad, 0, GSI_QPN, 0, GSI_QKEY);
	umad_set_grh(umad, &grh);
	umad_get_mad_addr(umad)->gid_index = agent->gid_index;
	if (umad_send(agent->port, agent->id, umad, MAD_SIZE, PATIENCE, 0))
		die_errno(errno, "umad_send");
	if (umad_recv(agent->port, umad, &length, 2 * PATIENCE) < 0)
		die_errno(errno, "umad_recv");
	if (umad_status(umad))
		die_errno(umad_status(umad), "no answer");
	memcpy(mad, umad_get_mad(umad), MAD_SIZE);
	free(umad);
}

static struct mad request(struct agent *agent, uint8_t method, uint16_t attribute)
{
	struct mad mad = {
		.base_version = 1, .class = CLASS_PERFORMANCE,
		.class_version = 1, .method = method,
		.transaction = htobe64(++agent->transaction),
		.attribute = htobe16(attribute),
	};

	/* PortSelect; ClassPortInfo does not read it */
	mad.data[DATA - 24 + 1] = 1;
	return mad;
}

static uint64_t read_field(const struct mad *mad, const struct field *field)
{
	const uint8_t *at = mad->data + DATA - 24 + field->offset;
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < field->bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static void show(struct agent *agent, const char *name, uint16_t attribute,
		 const struct field *fields)
{
	struct mad mad = request(agent, GET, attribute);

	ask(agent, &mad);
	if (mad.method != GET_RESPONSE || mad.status)
		die("%s: method %#x, status %#x", name, mad.method,
		    be16toh(mad.status));
	for (; fields->name; fields++)
		printf("%s.%s %llu\n", name, fields->name,
		       (unsigned long long)read_field(&mad, fields));
}

static void zero(struct agent *agent)
{
	struct mad mad = request(agent, SET, PORT_COUNTERS_EXTENDED);

	memset(mad.data + DATA - 24 + 2, 0xff, 2);	/* CounterSelect */
	ask(agent, &mad);
	if (mad.status)
		die("Set: status %#x", be16toh(mad.status));
}

int main(int argc, char **argv)
{
	struct agent agent = { };

	if (argc < 4)
		die("usage: performance DEVICE GID_INDEX DESTINATION_GID [zero]");
	agent.gid_index = atoi(argv[2]);
	if (inet_pton(AF_INET6, argv[3], &agent.destination) != 1)
		die("no GID: %s", argv[3]);
	open_agent(&agent, argv[1]);
	if (argc > 4)
		zero(&agent);
	show(&agent, "extended", PORT_COUNTERS_EXTENDED, port_counters_extended);
	show(&agent, "plain", PORT_COUNTERS, port_counters);
	show(&agent, "class", CLASS_PORT_INFO, class_port_info);
	umad_close_port(agent.port);
	return 0;
}
