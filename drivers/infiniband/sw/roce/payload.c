// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Payload is copied between memory, which knows no packets, and packets, which know
 * no memory.
 */
#include "access.h"
#include "packet.h"
#include "payload.h"
#include "sge.h"
#include "train.h"

/**
 * roce_payload_read() - append memory to the packets under construction
 * @access: what memory, with at least one byte
 * @train: between begin and end of a packet
 *
 * In a section.
 *
 * Return: 0, -EACCES, or -ENOMEM; then the packet is to be cancelled.
 */
int roce_payload_read(const struct roce_access *access, struct roce_train *train)
{
	struct roce_access_pieces pieces;
	int err = roce_access_begin(access, &pieces);

	if (err)
		return err;
	do {
		err = roce_train_append(train, pieces.data, pieces.length);
	} while (!err && roce_access_next(&pieces));
	roce_access_end(&pieces);
	return err;
}

/**
 * roce_payload_write() - place received bytes in memory
 * @access: what memory, with at least one byte
 * @packet: has the bytes
 * @offset: of the first one in the payload
 *
 * In a section.
 *
 * Return: 0, -EACCES, or -EFAULT if the packet is shorter than that.
 */
int roce_payload_write(const struct roce_access *access,
		       const struct roce_packet *packet, u32 offset)
{
	struct roce_access_pieces pieces;
	int err = roce_access_begin(access, &pieces);

	if (err)
		return err;
	do {
		err = roce_packet_copy(packet, offset, pieces.data, pieces.length);
		offset += pieces.length;
	} while (!err && roce_access_next(&pieces));
	roce_access_end(&pieces);
	return err;
}

/**
 * roce_payload_gather() - append what a scatter/gather list names to the packets under
 *	construction
 * @walk: over what to append
 * @train: between begin and end of a packet
 *
 * In a section.
 *
 * Return: 0, -EACCES or -ENOMEM.
 */
int roce_payload_gather(struct roce_sge_walk *walk, struct roce_train *train)
{
	int err = 0;

	while (!err && roce_sge_next(walk))
		err = roce_payload_read(&walk->piece, train);
	return err;
}

/**
 * roce_payload_scatter() - place the payload of a packet where a scatter/gather list
 *	says
 * @walk: over where to place it
 * @packet: the packet
 *
 * In a section.
 *
 * Return: 0, -EACCES or -EFAULT.
 */
int roce_payload_scatter(struct roce_sge_walk *walk, const struct roce_packet *packet)
{
	u32 offset = 0;
	int err = 0;

	while (!err && roce_sge_next(walk)) {
		err = roce_payload_write(&walk->piece, packet, offset);
		offset += walk->piece.length;
	}
	return err;
}
