/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_SACK_H
#define FABRIC_SACK_H

#include <linux/types.h>

#include "roce_wire.h"

#define SACK_NONE	U32_MAX

/**
 * struct sack - what has come behind a gap
 * @lost_end: what is missing before this PSN is lost, says the receiver
 * @count: number of ranges
 * @begin: first PSN of each range
 * @end: one past the last PSN
 */
struct sack {
	u32 lost_end;
	u32 count;
	u32 begin[ROCE_SACK_RANGES];
	u32 end[ROCE_SACK_RANGES];
};

u32 sack_new(void);
struct sack *sack_get(u32 number);
void sack_free(u32 number);

#endif /* FABRIC_SACK_H */
