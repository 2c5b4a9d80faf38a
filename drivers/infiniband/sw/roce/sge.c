// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sge.h"

/**
 * roce_sge_next() - the next piece of a scatter/gather list
 * @walk: pd, sge, sges, offset, left and access were set by the caller
 *
 * RCU read side. Keys are checked piece by piece, since they can lose their
 * meaning at any time.
 *
 * Return: 1 with a piece, 0 at the end, -EACCES if its key does not allow it.
 */
int roce_sge_next(struct roce_sge_walk *walk)
{
	while (walk->left && walk->sges) {
		const struct ib_sge *sge = walk->sge;

		if (walk->offset >= sge->length) {
			walk->offset -= sge->length;
			walk->sge++;
			walk->sges--;
			continue;
		}
		walk->address = sge->addr + walk->offset;
		walk->length = min_t(u64, walk->left,
				     sge->length - walk->offset);
		walk->mr = roce_mr_find(walk->pd, sge->lkey, walk->address,
					walk->length, walk->access);
		walk->offset += walk->length;
		walk->left -= walk->length;
		return walk->mr ? 1 : -EACCES;
	}
	return 0;
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
	int err;

	while ((err = roce_sge_next(walk)) > 0) {
		err = roce_mr_read(walk->mr, walk->address, walk->length, train);
		if (err)
			break;
	}
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
	int err;

	while ((err = roce_sge_next(walk)) > 0) {
		err = roce_mr_write(walk->mr, walk->address, walk->length,
				    skb, offset);
		if (err)
			break;
		offset += walk->length;
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
int roce_sge_scatter_buffer(struct roce_sge_walk *walk, void *buffer)
{
	int err;

	while ((err = roce_sge_next(walk)) > 0) {
		err = roce_mr_copy(walk->mr, walk->address, buffer,
				   walk->length, true);
		if (err)
			break;
		buffer += walk->length;
	}
	return err;
}
