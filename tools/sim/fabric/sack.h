/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_SACK_H
#define FABRIC_SACK_H

#include <linux/types.h>

/* As on the wire: Documentation/reliability.md */
#define SACK_RANGES	128u
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
	u32 begin[SACK_RANGES];
	u32 end[SACK_RANGES];
};

u32 sack_new(void);
struct sack *sack_get(u32 number);
void sack_free(u32 number);

#endif /* FABRIC_SACK_H */
