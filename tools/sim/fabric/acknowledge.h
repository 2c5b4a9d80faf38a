/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_ACKNOWLEDGE_H
#define FABRIC_ACKNOWLEDGE_H

#include "sender.h"

void acknowledge(struct sender *sender, const struct packet *packet, u64 now);
void acknowledge_probe(struct sender *sender, u32 probe, u64 now);

#endif /* FABRIC_ACKNOWLEDGE_H */
