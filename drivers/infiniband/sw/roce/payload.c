// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copies payload between memory (access.c, sge.c), which knows no packets, and packets
 * (train.c, run.c), which know no memory.
 */
#include <linux/io.h>

#include "access.h"
#include "packet.h"
#include "payload.h"
#include "sge.h"
#include "train.h"

#define IO_BUFFER	256	/* bytes */

/* Packets are built in memory, and come in it: I/O memory meets them in a buffer. */
static noinline int append_io(struct roce_train *train,
			      const struct roce_access_pieces *pieces)
{
	u8 buffer[IO_BUFFER];
	u32 done, n;
	int err;

	for (done = 0; done < pieces->length; done += n) {
		n = min_t(u32, pieces->length - done, sizeof(buffer));
		memcpy_fromio(buffer, pieces->io + done, n);
		err = roce_train_append(train, buffer, n);
		if (err)
			return err;
	}
	return 0;
}

static noinline int place_io(const struct roce_access_pieces *pieces,
			     const struct roce_packet *packet, u32 offset)
{
	u8 buffer[IO_BUFFER];
	u32 done, n;
	int err;

	for (done = 0; done < pieces->length; done += n) {
		n = min_t(u32, pieces->length - done, sizeof(buffer));
		err = roce_packet_copy(packet, offset + done, buffer, n);
		if (err)
			return err;
		roce_access_copy_to_io(pieces, done, buffer, n);
	}
	return 0;
}

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
		err = pieces.is_io ?
		      append_io(train, &pieces) :
		      roce_train_append(train, pieces.data, pieces.length);
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
		err = pieces.is_io ?
		      place_io(&pieces, packet, offset) :
		      roce_packet_copy(packet, offset, pieces.data, pieces.length);
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
