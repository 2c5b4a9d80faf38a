// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sge.h"

/**
 * roce_sge_next() - the next piece of a scatter/gather list
 * @walk: pd, sge, sges, offset, left and access were set by the caller
 *
 * Keys are checked where the piece is accessed, since they can lose their
 * meaning at any time.
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
			.address = sge->addr + walk->offset,
			.length = min_t(u64, walk->left,
					sge->length - walk->offset),
		};
		walk->offset += walk->piece.length;
		walk->left -= walk->piece.length;
		return true;
	}
	return false;
}

/**
 * roce_sge_gather() - append memory to the packet under construction
 * @walk: over what to append
 * @train: between begin and end of a packet
 *
 * Return: 0, -EACCES or -ENOMEM.
 */
int roce_sge_gather(struct roce_sge_walk *walk, struct roce_train *train)
{
	int err = 0;

	while (!err && roce_sge_next(walk))
		err = roce_access_read(&walk->piece, train);
	return err;
}

/**
 * roce_sge_scatter() - place a part of a packet in memory
 * @walk: over where to place it
 * @skb: holds the packet
 * @offset: of the first byte in @skb
 *
 * Return: 0 or a negative errno.
 */
int roce_sge_scatter(struct roce_sge_walk *walk, const struct sk_buff *skb,
		     unsigned int offset)
{
	int err = 0;

	while (!err && roce_sge_next(walk)) {
		err = roce_access_write(&walk->piece, skb, offset);
		offset += walk->piece.length;
	}
	return err;
}

/**
 * roce_sge_scatter_buffer() - place the bytes of a buffer in memory
 * @walk: over where to place them
 * @buffer: as long as walk says
 *
 * Return: 0 or a negative errno.
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
