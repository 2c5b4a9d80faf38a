// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "random.h"

static u64 state;

void random_seed(u64 seed)
{
	state = mix(seed);
}

u64 random_bits(void)
{
	return mix(state++);
}

u32 random_below(u32 limit)
{
	return scale(random_bits() >> 32, limit);
}

/** random_share() - from 0 to less than 1 */
double random_share(void)
{
	return (random_bits() >> 11) * 0x1p-53;
}
