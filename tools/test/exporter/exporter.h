/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What programs say to /dev/roce_exporter; see exporter.c. */
#ifndef EXPORTER_H
#define EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EXPORTER_DEVICE	"roce_exporter"
#define EXPORTER_SIZE	8192	/* bytes of a buffer */

/* Of a buffer: what it refuses, and what it is */
#define EXPORTER_NO_PIN	1	/* with EBUSY */
#define EXPORTER_NO_MAP	2	/* with ENOMEM */
#define EXPORTER_IO	4	/* said to be I/O memory */

/**
 * struct exporter_peek - look at a buffer
 * @fd: of the buffer
 * @offset: of the first byte
 * @bytes: set to what is there
 */
struct exporter_peek {
	__s32 fd;
	__u32 offset;
	__u8 bytes[8];
};

/* Makes a buffer of that kind; returns its file descriptor */
#define EXPORTER_MAKE	_IO('R', 1)
/* Moves the memory of the buffer with that file descriptor; EBUSY if it is pinned */
#define EXPORTER_MOVE	_IO('R', 2)
#define EXPORTER_PEEK	_IOWR('R', 3, struct exporter_peek)

#endif /* EXPORTER_H */
