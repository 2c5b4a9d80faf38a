// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Selective acknowledgments on their way: few packets carry one. */
#include "memory.h"
#include "sack.h"

static struct sack *sacks;
static u32 *unused;
static u32 unused_count, room;

static void grow(void)
{
	u32 i, more = room ? room : 1024;

	sacks = resize(sacks, room + more, sizeof(*sacks));
	unused = resize(unused, room + more, sizeof(*unused));
	for (i = 0; i < more; i++)
		unused[unused_count++] = room + i;
	room += more;
}

/** sack_new() - number of one that nobody uses; what is in it is undefined */
u32 sack_new(void)
{
	if (!unused_count)
		grow();
	return unused[--unused_count];
}

/** sack_get() - the one with that number, until sack_new() */
struct sack *sack_get(u32 number)
{
	return &sacks[number];
}

/** sack_free() - of SACK_NONE, too */
void sack_free(u32 number)
{
	if (number != SACK_NONE)
		unused[unused_count++] = number;
}
