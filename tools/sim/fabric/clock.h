/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_CLOCK_H
#define FABRIC_CLOCK_H

#include <linux/types.h>

/*
 * Whose turn is next. Each actor (a link, a host, an end of a flow) waits for one moment,
 * or for none. Times are in nanoseconds.
 */
#define CLOCK_NEVER U64_MAX

void clock_start(u32 actors);
void clock_set(u32 actor, u64 time);
void clock_set_earlier(u32 actor, u64 time);
bool clock_next(u32 *actor, u64 *time);

#endif /* FABRIC_CLOCK_H */
