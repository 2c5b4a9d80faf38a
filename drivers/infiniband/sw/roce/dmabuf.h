/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_DMABUF_H
#define ROCE_DMABUF_H

#include <linux/types.h>

#include "compat.h"

struct dma_buf;

struct dma_buf *roce_dmabuf_map(int fd, u64 size, void **memory);
void roce_dmabuf_unmap(struct dma_buf *buffer, void *memory);

#endif /* ROCE_DMABUF_H */
