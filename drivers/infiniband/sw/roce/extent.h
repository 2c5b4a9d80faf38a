/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_EXTENT_H
#define ROCE_EXTENT_H

#include <linux/types.h>

/**
 * struct roce_extent - a part of a region that is contiguous in the kernel
 * @offset: of its first byte from the start of the first extent. An extent ends where
 *	the next one begins; an entry after the last one holds only this end.
 * @start: kernel address
 */
struct roce_extent {
	u64 offset;
	void *start;
};

/**
 * roce_extent_add() - add memory to the end of a list of extents
 * @extents: zeroed at first, with room for one entry more than @count will be
 * @count: number of extents; it stays the same if the memory follows the last extent
 *	directly and only makes it longer
 * @start: kernel address of the memory
 * @length: bytes
 *
 * The caller serializes access to the list.
 */
static inline void roce_extent_add(struct roce_extent *extents, u32 *count,
				   void *start, u64 length)
{
	/* The end of the last extent is the beginning of a new one. */
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
