// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions of a dma-buf, one that the kernel makes of a program's own pages
 * (udmabuf), or one that moves or is I/O memory (exporter/exporter.c). The stock
 * provider has no call for them, so this speaks to the kernel directly.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uverbs.h"
#include "verbs.h"
#include "../exporter/exporter.h"

#define SIZE	(4 * PAGE)
#define IOVA	0x10000000
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)

/* What a buffer consists of can be looked at from here. */
struct buffer {
	int fd;
	uint8_t *memory;
};

struct dmabuf_region {
	uint32_t handle, lkey, rkey;
};

static struct buffer make_buffer(int udmabuf)
{
	struct udmabuf_create create = { .size = SIZE };
	struct buffer buffer;
	int memfd = memfd_create("roce-test", MFD_ALLOW_SEALING);

	if (memfd < 0 || ftruncate(memfd, SIZE) ||
	    fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		die_errno(errno, "memfd_create");
	buffer.memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			     memfd, 0);
	if (buffer.memory == MAP_FAILED)
		die_errno(errno, "mmap");
	create.memfd = memfd;
	buffer.fd = ioctl(udmabuf, UDMABUF_CREATE, &create);
	if (buffer.fd < 0)
		die_errno(errno, "UDMABUF_CREATE");
	close(memfd);
	return buffer;
}

static int reg(struct end *e, int fd, uint64_t offset, uint64_t length,
	       struct dmabuf_region *region)
{
	struct {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attrs[9];
	} request = {
		.header = {
			.length = sizeof(request),
			.object_id = UVERBS_OBJECT_MR,
			.method_id = UVERBS_METHOD_REG_DMABUF_MR,
			.num_attrs = ARRAY_SIZE(request.attrs),
			.driver_id = RDMA_DRIVER_RXE,
		},
		.attrs = {
			uverbs_attr(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0),
			uverbs_attr(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0,
				    e->pd->handle),
			uverbs_attr(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, offset),
			uverbs_attr(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, length),
			uverbs_attr(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, IOVA),
			uverbs_attr(UVERBS_ATTR_REG_DMABUF_MR_FD, 4, fd),
			uverbs_attr(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, ACCESS),
			uverbs_attr(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4,
				    (uintptr_t)&region->lkey),
			uverbs_attr(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4,
				    (uintptr_t)&region->rkey),
		},
	};

	if (ioctl(e->pd->context->cmd_fd, RDMA_VERBS_IOCTL, &request))
		return errno;
	region->handle = request.attrs[0].data;
	return 0;
}

int dereg_handle(struct ibv_context *ctx, uint32_t handle)
{
	struct {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attrs[1];
	} request = {
		.header = {
			.length = sizeof(request),
			.object_id = UVERBS_OBJECT_MR,
			.method_id = UVERBS_METHOD_MR_DESTROY,
			.num_attrs = ARRAY_SIZE(request.attrs),
			.driver_id = RDMA_DRIVER_RXE,
		},
		.attrs = { uverbs_attr(UVERBS_ATTR_DESTROY_MR_HANDLE, 0, handle) },
	};

	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &request) ? errno : 0;
}

static void transfer(struct duo *d, struct buffer *buffer)
{
	const uint32_t length = 2 * PAGE + 100;
	struct dmabuf_region region;
	unsigned int i;

	tap_errno("a dma-buf becomes a region", 0,
		  reg(&d->b, buffer->fd, PAGE, SIZE - PAGE, &region));
	close(buffer->fd);
	for (i = 0; i < length; i++)
		d->a.buf[i] = i % 251 + 1;
	post_rdma(d, IBV_WR_RDMA_WRITE, 1, sge_of(&d->a, 0, length), IOVA + 50,
		  region.rkey);
	tap_wc("and is written to", d->a.scq, 1, IBV_WC_SUCCESS);
	tap_true("where it begins in the buffer, and nowhere else",
		 !memcmp(buffer->memory + PAGE + 50, d->a.buf, length) &&
		 !buffer->memory[PAGE + 49] &&
		 !buffer->memory[PAGE + 50 + length]);
	memset(buffer->memory + 3 * PAGE, 0x77, PAGE);
	post_rdma(d, IBV_WR_RDMA_READ, 2, sge_of(&d->a, 0, PAGE),
		  IOVA + 2 * PAGE, region.rkey);
	tap_wc("it is read", d->a.scq, 2, IBV_WC_SUCCESS);
	tap_true("as the program has it", d->a.buf[0] == 0x77 &&
		 d->a.buf[PAGE - 1] == 0x77);

	post_rdma(d, IBV_WR_RDMA_WRITE, 3, sge_of(&d->a, 0, 2),
		  IOVA + SIZE - PAGE - 1, region.rkey);
	tap_wc("nothing is written behind it", d->a.scq, 3,
	       IBV_WC_REM_ACCESS_ERR);
	tap_errno("it is deregistered", 0, dereg_handle(d->b.port->ctx, region.handle));
}

static void refusals(struct duo *d, struct buffer *buffer)
{
	struct dmabuf_region region;

	tap_errno("more than the buffer has is refused", EINVAL,
		  reg(&d->b, buffer->fd, PAGE, SIZE, &region));
	tap_errno("an offset that overflows, too", EINVAL,
		  reg(&d->b, buffer->fd, -(uint64_t)PAGE, 2 * PAGE, &region));
	tap_errno("nothing, too", EINVAL,
		  reg(&d->b, buffer->fd, 0, 0, &region));
	tap_errno("a file that is no dma-buf, too", EINVAL,
		  reg(&d->b, d->a.channel->fd, 0, PAGE, &region));
	tap_errno("a file that is not open, too", EBADF,
		  reg(&d->b, 1000, 0, PAGE, &region));
}

void test_dmabuf(void)
{
	int udmabuf = open("/dev/udmabuf", O_RDWR);
	struct buffer buffer;
	struct duo d;

	if (udmabuf < 0) {
		tap_skip("a dma-buf becomes a region", "this kernel has no udmabuf");
		return;
	}
	buffer = make_buffer(udmabuf);
	close(udmabuf);
	duo_open(&d, NULL);
	refusals(&d, &buffer);
	transfer(&d, &buffer);
	duo_close(&d);
	munmap(buffer.memory, SIZE);
}

static int make_exported(int exporter, unsigned long kind)
{
	int fd = ioctl(exporter, EXPORTER_MAKE, kind);

	if (fd < 0)
		die_errno(errno, "EXPORTER_MAKE");
	return fd;
}

static int move(int exporter, int fd)
{
	return ioctl(exporter, EXPORTER_MOVE, fd) ? errno : 0;
}

static bool holds(int exporter, int fd, uint32_t offset, const uint8_t *bytes)
{
	struct exporter_peek peek = { .fd = fd, .offset = offset };

	if (ioctl(exporter, EXPORTER_PEEK, &peek))
		die_errno(errno, "EXPORTER_PEEK");
	return !memcmp(peek.bytes, bytes, sizeof(peek.bytes));
}

static void write_to_moving(struct duo *d, int exporter)
{
	int fd = make_exported(exporter, 0);
	struct dmabuf_region region;

	tap_errno("a dma-buf moves while nobody has pinned it", 0,
		  move(exporter, fd));
	tap_errno("it becomes a region", 0,
		  reg(&d->b, fd, 0, EXPORTER_SIZE, &region));
	tap_errno("and does not move any more", EBUSY, move(exporter, fd));
	memcpy(d->a.buf, "it stays", 8);
	post_rdma(d, IBV_WR_RDMA_WRITE, 1, sge_of(&d->a, 0, 8), IOVA, region.rkey);
	tap_wc("it is written to", d->a.scq, 1, IBV_WC_SUCCESS);
	tap_true("where it is", holds(exporter, fd, 0, d->a.buf));
	tap_errno("it is deregistered", 0, dereg_handle(d->b.port->ctx, region.handle));
	tap_errno("and moves again", 0, move(exporter, fd));
	close(fd);
}

static void write_to_io(struct duo *d, int exporter)
{
	const uint32_t length = EXPORTER_SIZE - 9, last = length - 8;
	uint8_t *back = d->a.buf + EXPORTER_SIZE;
	int fd = make_exported(exporter, EXPORTER_IO);
	struct dmabuf_region region;
	unsigned int i;

	for (i = 0; i < length; i++)
		d->a.buf[i] = i % 251 + 1;
	tap_errno("I/O memory becomes a region", 0,
		  reg(&d->b, fd, 0, EXPORTER_SIZE, &region));
	post_rdma(d, IBV_WR_RDMA_WRITE, 1, sge_of(&d->a, 0, length), IOVA, region.rkey);
	tap_wc("it is written to", d->a.scq, 1, IBV_WC_SUCCESS);
	tap_true("from its first bytes to its last", holds(exporter, fd, 0, d->a.buf) &&
		 holds(exporter, fd, last, d->a.buf + last));
	post_rdma(d, IBV_WR_RDMA_READ, 2, sge_of(&d->a, EXPORTER_SIZE, length - 1),
		  IOVA + 1, region.rkey);
	tap_wc("it is read", d->a.scq, 2, IBV_WC_SUCCESS);
	tap_true("as it was written", !memcmp(back, d->a.buf + 1, length - 1));
	tap_errno("it is deregistered", 0, dereg_handle(d->b.port->ctx, region.handle));
	close(fd);
}

static void refuse_moving(struct duo *d, int exporter, const char *name,
			  unsigned long kind, int err)
{
	int fd = make_exported(exporter, kind);
	struct dmabuf_region region;

	tap_errno(name, err, reg(&d->b, fd, 0, EXPORTER_SIZE, &region));
	close(fd);
}

/* exporter.ko is loaded. */
void test_moving_dmabuf(void)
{
	int exporter = open("/dev/" EXPORTER_DEVICE, O_RDWR);
	struct duo d;

	if (exporter < 0)
		die_errno(errno, "/dev/" EXPORTER_DEVICE);
	duo_open(&d, NULL);
	refuse_moving(&d, exporter, "one that cannot be pinned is refused",
		      EXPORTER_NO_PIN, EBUSY);
	refuse_moving(&d, exporter, "one that cannot be mapped is refused",
		      EXPORTER_NO_MAP, ENOMEM);
	write_to_moving(&d, exporter);
	write_to_io(&d, exporter);
	duo_close(&d);
	close(exporter);
}
