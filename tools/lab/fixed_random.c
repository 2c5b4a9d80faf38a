// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Preloaded into user mode linux: where it asks the host for randomness, it gets the same
 * bytes in each run. So hash seeds, ports and what RED and netem throw are the same, too.
 */
#include <sys/random.h>
#include <sys/types.h>

#include "util.h"

/* So that the first number is that of splitmix64 with a state of 0 */
static uint64_t state = -RANDOM_STEP;

ssize_t getrandom(void *buffer, size_t length, unsigned int flags __attribute__((unused)))
{
	uint8_t *bytes = buffer;
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = next_random(&state);
	return length;
}
