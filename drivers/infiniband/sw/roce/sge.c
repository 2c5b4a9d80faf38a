// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Walks over scatter/gather lists.
 */
#include "access.h"
#include "sge.h"

/**
 * roce_sge_next() - find the next piece of a scatter/gather list
 * @walk: pd, sge, sges, offset, left and access were set by the caller
 *
 * The caller checks the key when it accesses the piece: keys can be invalidated at
 * any time.
 *
 * Return: false at the end.
 */
bool roce_sge_next(struct roce_sge_walk *walk)
{
	while (walk->left && walk->sges) {
		const struct ib_sge *sge = walk->sge;

		if (walk->offset >= sge->length) {
			walk->offset -= sge->length;
			walk->sge++;
			walk->sges--;
			continue;
		}
		walk->piece = (struct roce_access) {
			.pd = walk->pd,
			.key = sge->lkey,
			.rights = walk->access,
			.fault = walk->fault,
			.latest = walk->latest,
			.address = sge->addr + walk->offset,
			.length = min_t(u64, walk->left,
					sge->length - walk->offset),
			.ahead = sge->length - walk->offset,
		};
		walk->offset += walk->piece.length;
		walk->left -= walk->piece.length;
		return true;
	}
	return false;
}

/**
 * roce_sge_scatter_buffer() - copy a buffer to a scatter/gather list
 * @walk: the destination
 * @buffer: as long as @walk
 *
 * In a section.
 *
 * Return: 0, -EACCES, or -EAGAIN, see roce_access_begin().
 */
int roce_sge_scatter_buffer(struct roce_sge_walk *walk, const void *buffer)
{
	int err = 0;

	while (!err && roce_sge_next(walk)) {
		err = roce_access_copy_to(&walk->piece, buffer);
		buffer += walk->piece.length;
	}
	return err;
}
