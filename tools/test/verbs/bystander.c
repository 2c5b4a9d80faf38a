// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bystander.h"

void bystander_open(struct bystander *by, const char *const device[2],
		    const int gid_index[2])
{
	const struct duo_options patient = { .timeout = 18, .retry_cnt = 7 };

	port_open(&by->a, device[0], gid_index[0]);
	port_open(&by->b, device[1], gid_index[1]);
	duo_ports(&by->a, &by->b);
	duo_open(&by->d, &patient);
	map_memory(&by->m, PAGES_SMALL, 4 * PAGE);
	open_region(&by->d, &by->m, 0, by->m.length);
}

void bystander_move(struct bystander *by)
{
	uint64_t seed = ++by->messages;
	double begin = seconds();

	by->wrong += !peer_writes(&by->d, by->m.mr, by->m.memory, by->m.length, seed) ||
		     !holds(by->m.memory, by->m.length, seed);
	by->longest = max(by->longest, seconds() - begin);
}

void bystander_close(struct bystander *by)
{
	unmap_memory(&by->m);
	duo_close(&by->d);
	port_close(&by->a);
	port_close(&by->b);
}
