// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Preloaded into user mode linux: where it asks the host for randomness, it gets the same
 * bytes in each run. So hash seeds, ports and what RED and netem throw are the same, too.
 */
#include <stdint.h>
#include <sys/random.h>
#include <sys/types.h>

static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t x = state += 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags __attribute__((unused)))
{
	uint8_t *bytes = buffer;
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = next();
	return length;
}
