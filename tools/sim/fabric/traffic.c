// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Who sends to whom. No flow stays below its leaf. */
#include "flow.h"
#include "memory.h"
#include "network.h"
#include "options.h"
#include "random.h"
#include "roce_psn.h"
#include "traffic.h"

/* Of the kernel's packets: Ethernet, IPv4, UDP, BTH and ICRC around the payload */
#define HEADERS (14 + 20 + 8 + 12 + 4)

static u32 leaf_of(u32 host)
{
	return network.nodes[network.hosts[host]].leaf;
}

static void swap(u32 *a, u32 *b)
{
	u32 before = *a;

	*a = *b;
	*b = before;
}

/* A random order in which no host has the place of a neighbour of its leaf */
static void shuffle(u32 *order)
{
	u32 i, n = network.host_count;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i > 0; i--)
		swap(&order[i], &order[random_below(i + 1)]);
	for (i = 0; i < n; i++)
		while (leaf_of(order[i]) == leaf_of(i)) {
			u32 other = random_below(n);

			if (leaf_of(order[other]) != leaf_of(i) &&
			    leaf_of(order[i]) != leaf_of(other))
				swap(&order[i], &order[other]);
		}
}

static void add_flow(u32 source, u32 target)
{
	flows[flow_count++] = (struct flow) {
		.source = network.hosts[source], .target = network.hosts[target],
		.identity = random_bits(),
		.port = 0xc000 | random_below(0x4000),
		.first_psn = random_bits() & ROCE_PSN_MASK,
		.message = options.size / options.payload,
		.messages = options.messages,
		.outstanding = options.outstanding,
	};
}

/* Each host sends to another one, then each to yet another one, and so on. */
static void permute(u32 *order)
{
	while (flow_count < options.flows) {
		u32 source = flow_count % network.host_count;

		if (source == 0)
			shuffle(order);
		add_flow(source, order[source]);
	}
}

/* Groups of senders, each with one receiver */
static void gather(u32 *order)
{
	u32 group = 0;

	shuffle(order);
	while (flow_count < options.flows) {
		u32 target = order[group++ % network.host_count], n;

		for (n = 0; n < options.senders && flow_count < options.flows; n++) {
			u32 source;

			do
				source = random_below(network.host_count);
			while (leaf_of(source) == leaf_of(target));
			add_flow(source, target);
		}
	}
}

/** traffic_build() - the flows of the options, between the hosts that there are */
void traffic_build(void)
{
	u32 *order = allocate(network.host_count, sizeof(*order));

	free(flows);
	flows = allocate(options.flows, sizeof(*flows));
	flow_count = 0;
	packet_bytes = options.payload + HEADERS;
	if (options.shape == WAYS)
		add_flow(0, 1);
	else if (options.traffic == PERMUTATION)
		permute(order);
	else
		gather(order);
	free(order);
}
