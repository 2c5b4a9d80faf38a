/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_RATE_H
#define FABRIC_RATE_H

#include "sender.h"

bool rate_is_limited(const struct sender *sender);
u32 rate_train(const struct sender *sender);
u64 rate_wait(struct sender *sender, u64 now);
void rate_sent(struct sender *sender, u32 packets, u64 now);
void rate_lost(struct sender *sender, enum roce_cc_loss how, u64 now);
void rate_notified(struct sender *sender, u64 now);

#endif /* FABRIC_RATE_H */
