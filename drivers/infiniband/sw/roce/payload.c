// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copies payload between memory (access.c, sge.c), which knows no packets, and packets
 * (train.c, run.c), which know no memory.
 */
#include "access.h"
#include "packet.h"
#include "payload.h"
#include "sge.h"
#include "train.h"

/**
 * roce_payload_read() - append memory to the packets under construction
 * @access: the memory, at least one byte
 * @train: between begin and end of a packet
 *
 * In a section.
 *
 * Return: 0, -EACCES, -ENOMEM, or -EAGAIN, see roce_access_begin(); after an error the
 * packet must be cancelled.
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
 * roce_payload_write() - copy received bytes to memory
 * @access: the memory, at least one byte
 * @packet: the received packet
 * @offset: of the first byte in its payload
 *
 * In a section.
 *
 * Return: 0, -EACCES, -EAGAIN, see roce_access_begin(), or -EFAULT if the payload is too
 * short.
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
 * roce_payload_gather() - append a scatter/gather list to the packets under
 *	construction
 * @walk: the source
 * @train: between begin and end of a packet
 *
 * In a section.
 *
 * Return: 0, -EACCES, -ENOMEM, or -EAGAIN, see roce_access_begin().
 */
int roce_payload_gather(struct roce_sge_walk *walk, struct roce_train *train)
{
	int err = 0;

	while (!err && roce_sge_next(walk))
		err = roce_payload_read(&walk->piece, train);
	return err;
}

/**
 * roce_payload_scatter() - copy the payload of a packet to a scatter/gather list
 * @walk: the destination
 * @packet: the packet
 *
 * In a section.
 *
 * Return: 0, -EACCES, -EFAULT, or -EAGAIN, see roce_access_begin().
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
