/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_TIMERS_H
#define FABRIC_TIMERS_H

#include "sender.h"

u64 timers_ack_timeout(const struct sender *sender);
void timers_measured(struct sender *sender);
void timers_probe(struct sender *sender, u64 now);
void timers_timeout(struct sender *sender, u64 now);
void timers_wait(struct sender *sender, u64 now);

#endif /* FABRIC_TIMERS_H */
