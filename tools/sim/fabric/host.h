/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_HOST_H
#define FABRIC_HOST_H

#include <linux/types.h>

void hosts_begin(u32 first_actor, u32 nodes);
bool host_has_room(u32 node, u64 now);
void host_wait(u32 node, u32 sender, u64 now);
void host_wake(u32 node, u64 now);

#endif /* FABRIC_HOST_H */
