// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An exporter of dma-bufs that moves its memory whenever it is told to and nobody has
 * pinned it, as TTM does under pressure: a mapping for the CPU does not keep the
 * memory. Whoever goes on using it after that is seen by KASAN. It may call the memory I/O
 * memory.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fcntl.h>
#include <linux/iosys-map.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "exporter.h"

#ifdef HAVE_INVALIDATE_MAPPINGS
#define tell_of_a_move dma_buf_invalidate_mappings
#else
#define tell_of_a_move dma_buf_move_notify
#endif

/**
 * struct buffer - a dma-buf
 * @memory: where it is
 * @kind: EXPORTER_NO_* and EXPORTER_IO
 * @pins: how many there are
 *
 * All of it is guarded by the reservation lock of the dma-buf.
 */
struct buffer {
	u8 *memory;
	unsigned long kind;
	unsigned int pins;
};

static int pin(struct dma_buf_attachment *attachment)
{
	struct buffer *buffer = attachment->dmabuf->priv;

	if (buffer->kind & EXPORTER_NO_PIN)
		return -EBUSY;
	buffer->pins++;
	return 0;
}

static void unpin(struct dma_buf_attachment *attachment)
{
	struct buffer *buffer = attachment->dmabuf->priv;

	buffer->pins--;
}

/* It is for CPUs only. */
static struct sg_table *map(struct dma_buf_attachment *attachment,
			    enum dma_data_direction direction)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
		  enum dma_data_direction direction)
{
}

static int map_for_cpu(struct dma_buf *dma_buf, struct iosys_map *map)
{
	struct buffer *buffer = dma_buf->priv;

	if (buffer->kind & EXPORTER_NO_MAP)
		return -ENOMEM;
	if (buffer->kind & EXPORTER_IO)
		iosys_map_set_vaddr_iomem(map, (void __iomem *)buffer->memory);
	else
		iosys_map_set_vaddr(map, buffer->memory);
	return 0;
}

static void release(struct dma_buf *dma_buf)
{
	struct buffer *buffer = dma_buf->priv;

	kfree(buffer->memory);
	kfree(buffer);
}

static const struct dma_buf_ops exporter_ops = {
	.pin = pin,
	.unpin = unpin,
	.map_dma_buf = map,
	.unmap_dma_buf = unmap,
	.vmap = map_for_cpu,
	.release = release,
};

static long make(unsigned long kind)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dma_buf;
	struct buffer *buffer;
	long fd;

	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	buffer->kind = kind;
	buffer->memory = kzalloc(EXPORTER_SIZE, GFP_KERNEL);
	info.ops = &exporter_ops;
	info.size = EXPORTER_SIZE;
	info.flags = O_RDWR;
	info.priv = buffer;
	dma_buf = buffer->memory ? dma_buf_export(&info) : ERR_PTR(-ENOMEM);
	if (IS_ERR(dma_buf)) {
		kfree(buffer->memory);
		kfree(buffer);
		return PTR_ERR(dma_buf);
	}
	fd = dma_buf_fd(dma_buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dma_buf);
	return fd;
}

static struct dma_buf *get(int fd)
{
	struct dma_buf *dma_buf = dma_buf_get(fd);

	if (!IS_ERR(dma_buf) && dma_buf->ops != &exporter_ops) {
		dma_buf_put(dma_buf);
		dma_buf = ERR_PTR(-EINVAL);
	}
	return dma_buf;
}

static int move_unless_pinned(struct dma_buf *dma_buf)
{
	struct buffer *buffer = dma_buf->priv;
	u8 *memory;

	if (buffer->pins)
		return -EBUSY;
	memory = kmemdup(buffer->memory, EXPORTER_SIZE, GFP_KERNEL);
	if (!memory)
		return -ENOMEM;
	tell_of_a_move(dma_buf);
	kfree(buffer->memory);
	buffer->memory = memory;
	return 0;
}

static long move(int fd)
{
	struct dma_buf *dma_buf = get(fd);
	int err;

	if (IS_ERR(dma_buf))
		return PTR_ERR(dma_buf);
	dma_resv_lock(dma_buf->resv, NULL);
	err = move_unless_pinned(dma_buf);
	dma_resv_unlock(dma_buf->resv);
	dma_buf_put(dma_buf);
	return err;
}

static long peek(struct exporter_peek __user *user)
{
	struct exporter_peek peek;
	struct dma_buf *dma_buf;
	struct buffer *buffer;

	if (copy_from_user(&peek, user, sizeof(peek)))
		return -EFAULT;
	if (peek.offset > EXPORTER_SIZE - sizeof(peek.bytes))
		return -EINVAL;
	dma_buf = get(peek.fd);
	if (IS_ERR(dma_buf))
		return PTR_ERR(dma_buf);
	buffer = dma_buf->priv;
	dma_resv_lock(dma_buf->resv, NULL);
	memcpy(peek.bytes, buffer->memory + peek.offset, sizeof(peek.bytes));
	dma_resv_unlock(dma_buf->resv);
	dma_buf_put(dma_buf);
	return copy_to_user(user, &peek, sizeof(peek)) ? -EFAULT : 0;
}

static long exporter_ioctl(struct file *file, unsigned int command,
			   unsigned long argument)
{
	switch (command) {
	case EXPORTER_MAKE:
		return make(argument);
	case EXPORTER_MOVE:
		return move(argument);
	case EXPORTER_PEEK:
		return peek((struct exporter_peek __user *)argument);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations exporter_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = exporter_ioctl,
};

static struct miscdevice exporter_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = EXPORTER_DEVICE,
	.fops = &exporter_fops,
};
module_misc_device(exporter_device);

#ifdef HAVE_QUOTED_NAMESPACES
MODULE_IMPORT_NS("DMA_BUF");
#else
MODULE_IMPORT_NS(DMA_BUF);
#endif
MODULE_DESCRIPTION("dma-bufs that move");
MODULE_LICENSE("Dual BSD/GPL");
