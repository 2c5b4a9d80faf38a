/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_RANDOM_H
#define FABRIC_RANDOM_H

#include <linux/types.h>

/* Random numbers and hashes: the same in each run with the same seed */

/** mix() - a hash of 64 bits, all of which depend on all of @x (splitmix64) */
static inline u64 mix(u64 x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/** scale() - a number below @limit, from 32 bits of a hash */
static inline u32 scale(u32 hash, u32 limit)
{
	return (u64)hash * limit >> 32;
}

void random_seed(u64 seed);
u64 random_bits(void);
u32 random_below(u32 limit);
double random_share(void);

#endif /* FABRIC_RANDOM_H */
