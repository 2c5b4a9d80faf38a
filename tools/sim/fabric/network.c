// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hosts and switches, and links between them.
 *
 *	host --> [queue] link --> switch --> [queue] link --> switch --> ... --> host
 *
 * A packet that finds so many bytes waiting leaves when they have left, so its arrival at
 * the other end is known at once. It is then in the ring of the link, in order, and the
 * clock waits for the first one of each ring only.
 *
 * Of several shortest ways a switch chooses one: by a hash of addresses and ports (ECMP),
 * for which each switch has its own seed; or at random for each packet.
 */
#include "clock.h"
#include "memory.h"
#include "network.h"
#include "random.h"
#include "sack.h"

/* The links that lead from a switch to the switch of a host by a shortest way */
struct hops {
	u32 first;
	u32 count;
};

struct network network;

static struct hops *routes;	/* by node and leaf */
static u32 *hop_links;
static u32 hop_count;
static u32 *leaves;		/* nodes */
static u32 leaf_count;

/* --- To build one --- */

/** network_begin() - forget all nodes and links */
void network_begin(void)
{
	u32 i;

	for (i = 0; i < network.link_count; i++)
		free(network.links[i].ring);
	free(network.nodes);
	free(network.links);
	free(network.hosts);
	free(network.cores);
	network = (struct network) {};
}

static void add_number(u32 **numbers, u32 *count, u32 number)
{
	*numbers = resize(*numbers, *count + 1, sizeof(**numbers));
	(*numbers)[(*count)++] = number;
}

static u32 add_node(struct node node)
{
	node.seed = random_bits();
	network.nodes = resize(network.nodes, network.node_count + 1, sizeof(node));
	network.nodes[network.node_count] = node;
	return network.node_count++;
}

u32 network_add_host(void)
{
	u32 number = add_node((struct node) { .is_host = true });

	add_number(&network.hosts, &network.host_count, number);
	return number;
}

/** network_add_switch() - @is_core: it is one of the ways between hosts */
u32 network_add_switch(bool is_core)
{
	u32 number = add_node((struct node) { .is_core = is_core });

	if (is_core)
		add_number(&network.cores, &network.core_count, number);
	return number;
}

static void add_link(u32 from, u32 to, double gbits, u64 delay, double buffer)
{
	struct node *sender = &network.nodes[from], *receiver = &network.nodes[to];

	network.links = resize(network.links, network.link_count + 1, sizeof(struct link));
	network.links[network.link_count] = (struct link) {
		.from = from, .to = to, .gbits = gbits, .delay = delay, .buffer = buffer,
		.red = !sender->is_host,
	};
	if (sender->is_host)
		sender->uplink = network.link_count;
	if (receiver->is_host)
		receiver->downlink = network.link_count;
	network.link_count++;
}

/**
 * network_connect() - a cable between two nodes
 * @a: first host, then switch
 * @b: a switch
 * @gbits: Gbit/s in each direction
 * @delay: nanoseconds
 * @buffer: bytes in front of each direction; that of a host has no end
 */
void network_connect(u32 a, u32 b, double gbits, u64 delay, double buffer)
{
	add_link(a, b, gbits, delay, network.nodes[a].is_host ? 1e18 : buffer);
	add_link(b, a, gbits, delay, buffer);
}

static void find_leaves(void)
{
	u32 *number_of = allocate(network.node_count, sizeof(*number_of));
	u32 i;

	free(leaves);
	leaves = NULL;
	leaf_count = 0;
	for (i = 0; i < network.host_count; i++) {
		struct node *host = &network.nodes[network.hosts[i]];
		u32 leaf = network.links[host->uplink].to;

		if (!number_of[leaf]) {
			add_number(&leaves, &leaf_count, leaf);
			number_of[leaf] = leaf_count;
		}
		host->leaf = number_of[leaf] - 1;
	}
	free(number_of);
}

/* Links by the nodes that send: those of node n are from begin[n] to begin[n + 1]. */
static u32 *by_sender, *begin;

static void sort_links(void)
{
	u32 i;

	by_sender = allocate(network.link_count, sizeof(*by_sender));
	begin = allocate(network.node_count + 2, sizeof(*begin));
	for (i = 0; i < network.link_count; i++)
		begin[network.links[i].from + 2]++;
	for (i = 0; i < network.node_count; i++)
		begin[i + 2] += begin[i + 1];
	for (i = 0; i < network.link_count; i++)
		by_sender[begin[network.links[i].from + 1]++] = i;
}

/* How many links each switch is away from @leaf; cables have two directions. */
static void measure(u32 leaf, u32 *distance, u32 *queue)
{
	u32 i, head = 0, tail = 0;

	for (i = 0; i < network.node_count; i++)
		distance[i] = U32_MAX;
	distance[leaf] = 0;
	queue[tail++] = leaf;
	while (head < tail) {
		u32 node = queue[head++];

		for (i = begin[node]; i < begin[node + 1]; i++) {
			u32 peer = network.links[by_sender[i]].to;

			if (network.nodes[peer].is_host || distance[peer] != U32_MAX)
				continue;
			distance[peer] = distance[node] + 1;
			queue[tail++] = peer;
		}
	}
}

static struct hops find_hops(u32 node, const u32 *distance)
{
	struct hops hops = { .first = hop_count };
	u32 i;

	for (i = begin[node]; i < begin[node + 1]; i++) {
		u32 peer = network.links[by_sender[i]].to;

		if (network.nodes[peer].is_host || distance[peer] >= distance[node])
			continue;
		add_number(&hop_links, &hop_count, by_sender[i]);
		hops.count++;
	}
	return hops;
}

/** network_complete() - find the ways between all hosts */
void network_complete(void)
{
	u32 *distance = allocate(network.node_count, sizeof(*distance));
	u32 *queue = allocate(network.node_count, sizeof(*queue));
	u32 node, leaf;

	find_leaves();
	sort_links();
	free(routes);
	free(hop_links);
	hop_links = NULL;
	hop_count = 0;
	routes = allocate((size_t)network.node_count * leaf_count, sizeof(*routes));
	for (leaf = 0; leaf < leaf_count; leaf++) {
		measure(leaves[leaf], distance, queue);
		for (node = 0; node < network.node_count; node++)
			if (!network.nodes[node].is_host)
				routes[node * leaf_count + leaf] = find_hops(node, distance);
	}
	free(distance);
	free(queue);
	free(by_sender);
	free(begin);
}

/* --- A link --- */

static double bytes_per_ns(const struct link *link)
{
	return link->gbits / 8;
}

/** network_waiting() - bytes in the queue of a link */
double network_waiting(const struct link *link, u64 now)
{
	return link->free_at > now ? (link->free_at - now) * bytes_per_ns(link) : 0;
}

static bool is_marked(const struct link *link, double waiting)
{
	double kmin = network.kmin * link->gbits, kmax = network.kmax * link->gbits;

	if (!link->red || waiting <= kmin)
		return false;
	return waiting > kmax ||
	       random_share() < network.pmax * (waiting - kmin) / (kmax - kmin);
}

static void grow(struct link *link)
{
	u32 room = link->room ? 2 * link->room : 16, i;
	struct packet *ring = allocate(room, sizeof(*ring));

	for (i = link->first; i != link->next; i++)
		ring[i % room] = link->ring[i % link->room];
	free(link->ring);
	link->ring = ring;
	link->room = room;
}

static void transmit(u32 number, struct packet *packet, u64 now)
{
	struct link *link = &network.links[number];
	double waiting = network_waiting(link, now);

	if (waiting + packet->bytes > link->buffer) {
		link->lost += packet->kind == PACKET_DATA;
		sack_free(packet->sack);
		return;
	}
	if (packet->kind == PACKET_DATA && is_marked(link, waiting)) {
		packet->marked = true;
		link->marks++;
	}
	if (waiting + packet->bytes > link->longest)
		link->longest = waiting + packet->bytes;
	if (link->free_at < now)
		link->free_at = now;
	link->free_at += packet->bytes / bytes_per_ns(link);
	link->bytes += packet->bytes;
	packet->time = link->free_at + link->delay;
	if (link->next - link->first == link->room)
		grow(link);
	if (link->next == link->first)
		clock_set(number, packet->time);
	link->ring[link->next++ & (link->room - 1)] = *packet;
}

/* --- A switch --- */

static u32 choose(const struct node *node, const struct hops *hops, u32 entropy)
{
	u32 hash;

	if (hops->count == 1)
		return hop_links[hops->first];
	hash = network.sprays ? random_bits() >> 32 : mix(entropy ^ (u64)node->seed << 32) >> 32;
	return hop_links[hops->first + scale(hash, hops->count)];
}

static void forward(u32 number, struct packet *packet, u64 now)
{
	struct node *node = &network.nodes[number];
	const struct node *host = &network.nodes[packet->to];

	if (node->is_dead) {
		node->lost += packet->kind == PACKET_DATA;
		sack_free(packet->sack);
	} else if (leaves[host->leaf] == number) {
		transmit(host->downlink, packet, now);
	} else {
		transmit(choose(node, &routes[number * leaf_count + host->leaf],
				packet->entropy), packet, now);
	}
}

/** network_delay() - nanoseconds from host to host without any queue, by one of the ways */
u64 network_delay(u32 from, u32 to)
{
	const struct node *host = &network.nodes[to];
	const struct link *link = &network.links[network.nodes[from].uplink];
	u64 sum = link->delay;

	while (link->to != leaves[host->leaf]) {
		link = &network.links[hop_links[routes[link->to * leaf_count + host->leaf].first]];
		sum += link->delay;
	}
	return sum + network.links[host->downlink].delay;
}

/** network_send() - a host sends */
void network_send(u32 from, struct packet *packet, u64 now)
{
	transmit(network.nodes[from].uplink, packet, now);
}

/**
 * network_deliver() - the first packet of a link has reached the other end
 * @number: of the link
 * @now: nanoseconds
 * @packet: set, if it has come to a host
 *
 * Return: whether it has.
 */
bool network_deliver(u32 number, u64 now, struct packet *packet)
{
	struct link *link = &network.links[number];
	u32 to = link->to;

	*packet = link->ring[link->first++ & (link->room - 1)];
	clock_set(number, link->first == link->next ? CLOCK_NEVER :
		  link->ring[link->first & (link->room - 1)].time);
	if (network.nodes[to].is_host)
		return true;
	forward(to, packet, now);
	return false;
}
