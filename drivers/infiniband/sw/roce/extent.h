/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_EXTENT_H
#define ROCE_EXTENT_H

#include <linux/types.h>

/**
 * struct roce_extent - a part of a region that is contiguous in the kernel
 * @offset: of its first byte from that of the first extent; it ends where the next one
 *	begins, and behind the last one there is one that only says where
 * @start: where it is
 */
struct roce_extent {
	u64 offset;
	void *start;
};

/**
 * roce_extent_add() - add memory to the end of a list of extents
 * @extents: zeroed at first; one more than are ever added, for the one that only says
 *	where the last one ends
 * @count: how many there are; it stays the same if the memory lies right behind the last
 *	one, which becomes longer
 * @start: where the memory is
 * @length: bytes
 *
 * Nobody else uses the list meanwhile.
 */
static inline void roce_extent_add(struct roce_extent *extents, u32 *count,
				   void *start, u64 length)
{
	/* The first extent that is not there yet begins where the last one ends. */
	struct roce_extent *end = &extents[*count];

	if (*count && end[-1].start + (end->offset - end[-1].offset) == start) {
		end->offset += length;
		return;
	}
	end->start = start;
	end[1].offset = end->offset + length;
	++*count;
}

#endif /* ROCE_EXTENT_H */
