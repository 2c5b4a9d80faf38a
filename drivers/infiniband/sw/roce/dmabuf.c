// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * dma-buf: memory of another driver, which hands it around as a file.
 *
 * An RNIC attaches itself to such a buffer and gets addresses for its DMA. This
 * device copies with the CPU instead: so what it asks for is what the exporter
 * has for CPUs, a mapping into the kernel's address space, which also keeps the
 * memory where it is. Memory of a card behind a PCI bus is I/O memory, which is
 * not to be used like the memory that work requests and packets speak of, and
 * is refused.
 *
 * Access of the CPU begins when the buffer is registered and ends with the
 * region. Where devices and CPUs see the same memory, as on x86, that is all;
 * where they do not, what a device writes after the registration may be seen
 * late. No exporter can be asked at each packet: the answer may have to wait.
 */
#include <linux/dma-buf.h>
#include <linux/module.h>

#include "dmabuf.h"

static int map(struct dma_buf *buffer, void **memory)
{
	struct iosys_map map;
	int err;

	err = dma_buf_vmap_unlocked(buffer, &map);
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

/**
 * roce_dmabuf_map() - take a buffer into use
 * @fd: of the buffer, in the process that calls
 * @size: bytes that it must have at least
 * @memory: set to where they are
 *
 * Process context; waits for what devices are doing with the buffer.
 *
 * Return: the buffer, for roce_dmabuf_unmap(), or an error pointer: -EBADF or
 * -EINVAL for what is no such buffer, is too small or cannot be mapped,
 * -EOPNOTSUPP if it is I/O memory, or an error of its exporter.
 */
struct dma_buf *roce_dmabuf_map(int fd, u64 size, void **memory)
{
	struct dma_buf *buffer = dma_buf_get(fd);
	int err = -EINVAL;

	if (IS_ERR(buffer))
		return buffer;
	if (size <= buffer->size)
		err = map(buffer, memory);
	if (err) {
		dma_buf_put(buffer);
		return ERR_PTR(err);
	}
	return buffer;
}

/**
 * roce_dmabuf_unmap() - let go of a buffer
 * @buffer: made by roce_dmabuf_map()
 * @memory: likewise; nobody uses it any more
 *
 * Process context.
 */
void roce_dmabuf_unmap(struct dma_buf *buffer, void *memory)
{
	struct iosys_map map = IOSYS_MAP_INIT_VADDR(memory);

	dma_buf_end_cpu_access(buffer, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(buffer, &map);
	dma_buf_put(buffer);
}

MODULE_IMPORT_NS(ROCE_COMPAT_DMA_BUF_NAMESPACE);
