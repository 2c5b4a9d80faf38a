// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * dma-buf: memory of another driver, which hands it around as a file.
 *
 * An RNIC attaches itself to such a buffer and gets addresses for its DMA. This
 * device copies with the CPU: it asks the exporter for a mapping into the
 * kernel's address space instead. I/O memory is not to be used like the memory
 * that work requests and packets speak of, and is refused.
 *
 * The memory must stay where it is while it is registered:
 *
 * - An exporter with a pin operation moves and evicts whatever is not pinned,
 *   mapped for the CPU or not (TTM, which most drivers of GPUs are built on). Its
 *   buffer is attached dynamically and pinned before it is mapped. As we accept
 *   no peer-to-peer access, it is pinned in memory of the host.
 * - Other exporters never move their memory, or not as long as there is a static
 *   attachment (the helpers of DRM pin there) or a mapping for the CPU (i915).
 *
 * DMA addresses are never asked for: no device would use them, and the pages
 * would be synchronized for it, or bounced.
 *
 * Access of the CPU begins when the buffer is registered and ends with the
 * region. Where devices and CPUs see the same memory, as on x86, that is all;
 * where they do not, what a device writes after the registration may be seen
 * late. No exporter can be asked at each packet: the answer may have to wait.
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
	/* The core maps for DMA at once what only one side has as dynamic. */
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
 * dma_buf_vmap(), without its WARN_ON_ONCE() for an exporter that fails: programs
 * choose the exporter, and may drive it to fail. dma_buf_vunmap() undoes it.
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

static int map(struct dma_buf *buffer, void **memory)
{
	struct iosys_map map;
	int err;

	err = vmap_quietly(buffer, &map);
	if (err)
		return err;
	if (map.is_iomem) {
		err = -EOPNOTSUPP;
		goto unmap;
	}
	err = dma_buf_begin_cpu_access(buffer, DMA_BIDIRECTIONAL);
	if (err)
		goto unmap;
	*memory = map.vaddr;
	return 0;

unmap:
	dma_buf_vunmap_unlocked(buffer, &map);
	return err;
}

/* The buffer is the attachment's, if it succeeds. */
static struct dma_buf_attachment *use(struct dma_buf *buffer, struct device *dev,
				      void **memory)
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
 * roce_dmabuf_map() - take a buffer into use
 * @dev: that uses it, until roce_dmabuf_unmap()
 * @fd: of the buffer, in the process that calls
 * @size: bytes that it must have at least
 * @memory: set to where they are
 *
 * Process context; waits for what devices are doing with the buffer.
 *
 * Return: its attachment, for roce_dmabuf_unmap(), or an error pointer: -EBADF or
 * -EINVAL for what is no such buffer, is too small or cannot be mapped,
 * -EOPNOTSUPP if it is I/O memory, or an error of its exporter.
 */
struct dma_buf_attachment *roce_dmabuf_map(struct device *dev, int fd, u64 size,
					   void **memory)
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
 * roce_dmabuf_unmap() - let go of a buffer
 * @attachment: made by roce_dmabuf_map()
 * @memory: likewise; nobody uses it any more
 *
 * Process context.
 */
void roce_dmabuf_unmap(struct dma_buf_attachment *attachment, void *memory)
{
	struct iosys_map map = IOSYS_MAP_INIT_VADDR(memory);
	struct dma_buf *buffer = attachment->dmabuf;

	dma_buf_end_cpu_access(buffer, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(buffer, &map);
	unpin(attachment);
	dma_buf_detach(buffer, attachment);
	dma_buf_put(buffer);
}

MODULE_IMPORT_NS(ROCE_COMPAT_DMA_BUF_NAMESPACE);
