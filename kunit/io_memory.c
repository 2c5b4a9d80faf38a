// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* I/O memory that a test can look into. */
#include <linux/io.h>

#include "io_memory.h"

#ifdef CONFIG_INDIRECT_IOMEM
#include <linux/logic_iomem.h>
#include <linux/sizes.h>

#define ADDRESS	BIT_ULL(40)	/* far behind the memory of the machine */

static void *behind;

static unsigned long read_behind(void *memory, unsigned int offset, int size)
{
	unsigned long value = 0;

	memcpy(&value, memory + offset, size);
	return value;
}

static void write_behind(void *memory, unsigned int offset, int size,
			 unsigned long value)
{
	memcpy(memory + offset, &value, size);
}

static const struct logic_iomem_ops memory_ops = {
	.read = read_behind,
	.write = write_behind,
};

static long map(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
		void **priv)
{
	*ops = &memory_ops;
	*priv = behind;
	return 0;
}

static const struct logic_iomem_region_ops region_ops = { .map = map };

/* The kernel cannot forget a region, so the module must stay until the machine ends. */
static struct resource region = DEFINE_RES_MEM_NAMED(ADDRESS, SZ_1M, "KUnit");

/**
 * io_memory_map() - get I/O memory that consists of memory
 * @test: the test
 * @memory: its bytes
 * @size: number of them
 *
 * In user mode Linux nothing but the functions for I/O memory can use it; elsewhere it is
 * @memory. One at a time.
 */
void __iomem *io_memory_map(struct kunit *test, void *memory, size_t size)
{
	void __iomem *io;

	if (!region.parent)
		KUNIT_ASSERT_EQ(test, 0, logic_iomem_add_region(&region, &region_ops));
	behind = memory;
	io = ioremap(ADDRESS, size);
	KUNIT_ASSERT_NOT_NULL(test, io);
	return io;
}

/**
 * io_memory_unmap() - release I/O memory
 * @io: returned by io_memory_map()
 */
void io_memory_unmap(void __iomem *io)
{
	iounmap(io);
}
#else
void __iomem *io_memory_map(struct kunit *test, void *memory, size_t size)
{
	return (void __iomem *)memory;
}

void io_memory_unmap(void __iomem *io)
{
}
#endif
