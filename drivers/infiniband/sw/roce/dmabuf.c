// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * dma-buf: memory of another driver, passed around as a file descriptor.
 *
 * An RNIC attaches to such a buffer and gets DMA addresses. This device copies with
 * the CPU, so it asks the exporter for a mapping in the kernel's address space. The
 * mapping may be of I/O memory, if the exporter does not pin, or pins where the memory is.
 * It is copied with functions of its own (access.c, payload.c).
 *
 * The memory must not move while it is registered:
 *
 * - An exporter with a pin operation moves and evicts buffers that are not pinned,
 *   mapped for the CPU or not (TTM, the base of most GPU drivers). The attachment
 *   is then dynamic, and the buffer is pinned before it is mapped. It is pinned in
 *   host memory, because the attachment does not allow peer-to-peer access.
 * - Other exporters never move their memory, or not while there is a static
 *   attachment (the helpers of DRM pin there) or a mapping for the CPU (i915).
 *
 * DMA addresses are never requested: no device would use them, and the exporter
 * would synchronize or bounce the pages.
 *
 * CPU access begins when the buffer is registered and ends with the region. This is
 * enough where devices and CPUs see the same memory, as on x86. Elsewhere, writes by
 * a device after the registration may be seen late: asking the exporter for each
 * packet is impossible, because the call may sleep.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/module.h>

#include "compat.h"
#include "dmabuf.h"

static const struct dma_buf_attach_ops importer_ops = {
	ROCE_COMPAT_DMA_BUF_MOVE_NOTIFY
};

static struct dma_buf_attachment *attach_to_dmabuf(struct dma_buf *buffer,
						   struct device *dev)
{
	/* A dynamic exporter and a static importer: the core would map for DMA. */
	if (buffer->ops->pin)
		return dma_buf_dynamic_attach(buffer, dev, &importer_ops, NULL);
	return dma_buf_attach(buffer, dev);
}

static int pin(struct dma_buf_attachment *attachment)
{
	struct dma_buf *buffer = attachment->dmabuf;
	int err;

	if (!buffer->ops->pin)
		return 0;
	dma_resv_lock(buffer->resv, NULL);
	err = dma_buf_pin(attachment);
	dma_resv_unlock(buffer->resv);
	return err;
}

static void unpin(struct dma_buf_attachment *attachment)
{
	struct dma_buf *buffer = attachment->dmabuf;

	if (!buffer->ops->pin)
		return;
	dma_resv_lock(buffer->resv, NULL);
	dma_buf_unpin(attachment);
	dma_resv_unlock(buffer->resv);
}

/*
 * dma_buf_vmap() without its WARN_ON_ONCE() for an exporter that fails: programs
 * choose the exporter and can make it fail. dma_buf_vunmap() undoes it.
 */
static int vmap_quietly(struct dma_buf *buffer, struct iosys_map *map)
{
	int err = 0;

	if (!buffer->ops->vmap)
		return -EINVAL;

	roce_compat_lock_vmap(buffer);
	if (!buffer->vmapping_counter)
		err = buffer->ops->vmap(buffer, &buffer->vmap_ptr);
	if (err) {
		iosys_map_clear(&buffer->vmap_ptr);
	} else {
		buffer->vmapping_counter++;
		*map = buffer->vmap_ptr;
	}
	roce_compat_unlock_vmap(buffer);
	return err;
}

static int map(struct dma_buf *buffer, struct iosys_map *memory)
{
	int err;

	err = vmap_quietly(buffer, memory);
	if (err)
		return err;
	err = dma_buf_begin_cpu_access(buffer, DMA_BIDIRECTIONAL);
	if (err)
		dma_buf_vunmap_unlocked(buffer, memory);
	return err;
}

/* On success the attachment owns the reference to the buffer. */
static struct dma_buf_attachment *use(struct dma_buf *buffer, struct device *dev,
				      struct iosys_map *memory)
{
	struct dma_buf_attachment *attachment;
	int err;

	attachment = attach_to_dmabuf(buffer, dev);
	if (IS_ERR(attachment))
		return attachment;
	err = pin(attachment);
	if (err)
		goto detach;
	err = map(buffer, memory);
	if (err)
		goto unpin;
	return attachment;

unpin:
	unpin(attachment);
detach:
	dma_buf_detach(buffer, attachment);
	return ERR_PTR(err);
}

/**
 * roce_dmabuf_map() - attach to a dma-buf and map it for the CPU
 * @dev: the importing device
 * @fd: of the buffer, in the calling process
 * @size: minimum size, in bytes
 * @memory: set to the mapping
 *
 * Process context; waits until devices are done with the buffer.
 *
 * Return: the attachment, for roce_dmabuf_unmap(), or an error pointer: -EBADF or
 * -EINVAL if @fd is no dma-buf, or it is too small or cannot be mapped, or an error of
 * the exporter.
 */
struct dma_buf_attachment *roce_dmabuf_map(struct device *dev, int fd, u64 size,
					   struct iosys_map *memory)
{
	struct dma_buf_attachment *attachment = ERR_PTR(-EINVAL);
	struct dma_buf *buffer = dma_buf_get(fd);

	if (IS_ERR(buffer))
		return ERR_CAST(buffer);
	if (size <= buffer->size)
		attachment = use(buffer, dev, memory);
	if (IS_ERR(attachment))
		dma_buf_put(buffer);
	return attachment;
}

/**
 * roce_dmabuf_unmap() - unmap a dma-buf and detach from it
 * @attachment: returned by roce_dmabuf_map()
 * @memory: the mapping, unused now
 *
 * Process context.
 */
void roce_dmabuf_unmap(struct dma_buf_attachment *attachment, struct iosys_map memory)
{
	struct dma_buf *buffer = attachment->dmabuf;

	dma_buf_end_cpu_access(buffer, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(buffer, &memory);
	unpin(attachment);
	dma_buf_detach(buffer, attachment);
	dma_buf_put(buffer);
}

MODULE_IMPORT_NS(ROCE_COMPAT_DMA_BUF_NAMESPACE);
