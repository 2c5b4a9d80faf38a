/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KUNIT_IO_MEMORY_H
#define KUNIT_IO_MEMORY_H

#include <kunit/test.h>

void __iomem *io_memory_map(struct kunit *test, void *memory, size_t size);
void io_memory_unmap(void __iomem *io);

#endif /* KUNIT_IO_MEMORY_H */
