/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_MEMORY_H
#define FABRIC_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

/* Memory that is there, or the program ends. */

static inline void *or_end(void *memory)
{
	if (!memory) {
		fprintf(stderr, "fabric: no memory\n");
		exit(2);
	}
	return memory;
}

/** allocate() - zeroed memory for @count things, also for none */
static inline void *allocate(size_t count, size_t size)
{
	return or_end(calloc(count ? count : 1, size));
}

/** resize() - more or less memory for the same things */
static inline void *resize(void *memory, size_t count, size_t size)
{
	return or_end(realloc(memory, count * size));
}

#endif /* FABRIC_MEMORY_H */
