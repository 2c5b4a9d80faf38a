/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_PAYLOAD_H
#define ROCE_PAYLOAD_H

#include <linux/types.h>

struct roce_access;
struct roce_packet;
struct roce_sge_walk;
struct roce_train;

int roce_payload_read(const struct roce_access *access, struct roce_train *train);
int roce_payload_write(const struct roce_access *access,
		       const struct roce_packet *packet, u32 offset);
int roce_payload_gather(struct roce_sge_walk *walk, struct roce_train *train);
int roce_payload_scatter(struct roce_sge_walk *walk,
			 const struct roce_packet *packet);

#endif /* ROCE_PAYLOAD_H */
