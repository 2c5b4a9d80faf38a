// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "flow.h"
#include "network.h"
#include "path.h"
#include "random.h"

struct flow *flows;
u32 flow_count;
u32 path_count;
u32 packet_bytes;

/* Addresses and ports of the ways there and back differ. */
static u32 entropy(const struct flow *flow, u32 path, bool back)
{
	return mix((u64)flow->identity << 32 |
		   roce_path_source_port(flow->port, path) << 1 | back);
}

static void send(u32 number, struct packet packet, u32 path, bool back, u64 now)
{
	const struct flow *flow = &flows[number];

	packet.flow = number;
	packet.to = back ? flow->source : flow->target;
	packet.entropy = entropy(flow, path, back);
	network_send(back ? flow->target : flow->source, &packet, now);
}

/** flow_send_forward() - of the requester; sets addresses and ports */
void flow_send_forward(u32 number, struct packet packet, u32 path, u64 now)
{
	send(number, packet, path, false, now);
}

/** flow_send_back() - of the responder, likewise */
void flow_send_back(u32 number, struct packet packet, u32 path, u64 now)
{
	send(number, packet, path, true, now);
}
