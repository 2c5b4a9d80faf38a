/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_DMABUF_H
#define ROCE_DMABUF_H

#include <linux/dma-buf.h>

#include "compat.h"

struct dma_buf_attachment *roce_dmabuf_map(struct device *dev, int fd, u64 size,
					   struct iosys_map *memory);
void roce_dmabuf_unmap(struct dma_buf_attachment *attachment, struct iosys_map memory);

#endif /* ROCE_DMABUF_H */
