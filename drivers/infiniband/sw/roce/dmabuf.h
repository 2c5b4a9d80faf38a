/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_DMABUF_H
#define ROCE_DMABUF_H

#include <linux/types.h>

#include "compat.h"

struct device;
struct dma_buf_attachment;

struct dma_buf_attachment *roce_dmabuf_map(struct device *dev, int fd, u64 size,
					   void **memory);
void roce_dmabuf_unmap(struct dma_buf_attachment *attachment, void *memory);

#endif /* ROCE_DMABUF_H */
