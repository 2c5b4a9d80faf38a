/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_WINDOW_H
#define FABRIC_WINDOW_H

#include "sender.h"

/* Packets, as in requester.h */
#define NEAR_WINDOW	256u

u64 window_delivered(const struct sender *sender);
void window_end_slow_start(struct sender *sender);
void window_arrived(struct sender *sender, u32 psn);
void window_end_round_trip(struct sender *sender, u64 now);
void window_halve(struct sender *sender);

#endif /* FABRIC_WINDOW_H */
