// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Regions of a dma-buf, with an exporter that records the calls. */
#include <linux/delay.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/vmalloc.h>

#include "fixture.h"
#include "io_memory.h"

#define SIZE	(3 * PAGE_SIZE)
#define OFFSET	(PAGE_SIZE + 100)	/* where the region begins in the buffer */
#define IOVA	0x7f00dead0064ull
#define LENGTH	(PAGE_SIZE + 200)
#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

/**
 * struct exporter - exporter of a buffer, and the state of the buffer
 * @dev: a device
 * @pd: its protection domain
 * @fd: of the buffer
 * @memory: of the buffer
 * @io: the same as I/O memory, if it is that
 * @refuse: error of CPU access
 * @refuse_attach: error of attaching
 * @refuse_pin: error of pinning
 * @refuse_vmap: error of mapping
 * @attachments: number of attachments
 * @pins: number of pins
 * @pins_when_mapped: number of pins when the memory was mapped
 * @mappings: number of mappings
 * @accesses: number of CPU accesses that have begun and not ended
 * @released: the buffer was released
 */
struct exporter {
	struct roce_device *dev;
	struct roce_pd *pd;
	int fd;
	u8 *memory;
	void __iomem *io;
	int refuse;
	int refuse_attach;
	int refuse_pin;
	int refuse_vmap;
	int attachments;
	int pins;
	int pins_when_mapped;
	int mappings;
	int accesses;
	bool released;
};

static int map_for_cpu(struct dma_buf *buffer, struct iosys_map *map)
{
	struct exporter *exporter = buffer->priv;

	if (exporter->refuse_vmap)
		return exporter->refuse_vmap;
	exporter->pins_when_mapped = exporter->pins;
	exporter->mappings++;
	if (exporter->io)
		iosys_map_set_vaddr_iomem(map, exporter->io);
	else
		iosys_map_set_vaddr(map, exporter->memory);
	return 0;
}

static void unmap_for_cpu(struct dma_buf *buffer, struct iosys_map *map)
{
	struct exporter *exporter = buffer->priv;

	exporter->mappings--;
}

static int begin_access(struct dma_buf *buffer, enum dma_data_direction direction)
{
	struct exporter *exporter = buffer->priv;

	if (!exporter->refuse)
		exporter->accesses++;
	return exporter->refuse;
}

static int end_access(struct dma_buf *buffer, enum dma_data_direction direction)
{
	struct exporter *exporter = buffer->priv;

	exporter->accesses--;
	return 0;
}

static void release(struct dma_buf *buffer)
{
	struct exporter *exporter = buffer->priv;

	WRITE_ONCE(exporter->released, true);
}

static int attach(struct dma_buf *buffer, struct dma_buf_attachment *attachment)
{
	struct exporter *exporter = buffer->priv;

	if (!exporter->refuse_attach)
		exporter->attachments++;
	return exporter->refuse_attach;
}

static void detach(struct dma_buf *buffer, struct dma_buf_attachment *attachment)
{
	struct exporter *exporter = buffer->priv;

	exporter->attachments--;
}

static int pin(struct dma_buf_attachment *attachment)
{
	struct exporter *exporter = attachment->dmabuf->priv;

	if (!exporter->refuse_pin)
		exporter->pins++;
	return exporter->refuse_pin;
}

static void unpin(struct dma_buf_attachment *attachment)
{
	struct exporter *exporter = attachment->dmabuf->priv;

	exporter->pins--;
}

/* DMA addresses must not be requested. */
static struct sg_table *map_for_device(struct dma_buf_attachment *attachment,
				       enum dma_data_direction direction)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void unmap_for_device(struct dma_buf_attachment *attachment,
			     struct sg_table *table,
			     enum dma_data_direction direction)
{
}

static const struct dma_buf_ops for_cpus = {
	.attach = attach,
	.detach = detach,
	.map_dma_buf = map_for_device,
	.unmap_dma_buf = unmap_for_device,
	.release = release,
	.vmap = map_for_cpu,
	.vunmap = unmap_for_cpu,
	.begin_cpu_access = begin_access,
	.end_cpu_access = end_access,
};

/* An exporter that moves its memory while it is not pinned */
static const struct dma_buf_ops movable = {
	.attach = attach,
	.detach = detach,
	.pin = pin,
	.unpin = unpin,
	.map_dma_buf = map_for_device,
	.unmap_dma_buf = unmap_for_device,
	.release = release,
	.vmap = map_for_cpu,
	.vunmap = unmap_for_cpu,
};

static const struct dma_buf_ops not_for_cpus = {
	.map_dma_buf = map_for_device,
	.unmap_dma_buf = unmap_for_device,
	.release = release,
};

static struct dma_buf *export(struct kunit *test, const struct dma_buf_ops *ops)
{
	struct exporter *exporter = test->priv;
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *buffer;

	info.ops = ops;
	info.size = SIZE;
	info.flags = O_RDWR;
	info.priv = exporter;
	buffer = dma_buf_export(&info);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buffer);
	exporter->fd = dma_buf_fd(buffer, O_CLOEXEC);
	KUNIT_ASSERT_GE(test, exporter->fd, 0);
	return buffer;
}

static void withdraw(struct exporter *exporter)
{
	close_fd(exporter->fd);
	exporter->fd = -1;
}

/* The last fput() of a kernel thread is done by a work item. */
static bool is_released(struct exporter *exporter)
{
	unsigned long end = jiffies + 60 * HZ;

	while (!READ_ONCE(exporter->released) && time_before(jiffies, end))
		usleep_range(500, 1000);
	return exporter->released;
}

static struct ib_mr *reg(struct exporter *exporter, u64 offset, u64 length)
{
	return roce_reg_dmabuf_mr(&exporter->pd->ibpd, offset, length, IOVA,
				  exporter->fd, ALL);
}

static int copy_to(struct exporter *exporter, struct ib_mr *ibmr, u64 address,
		   u32 length, const void *bytes)
{
	struct roce_access access = {
		.pd = exporter->pd, .key = ibmr->rkey, .address = address,
		.length = length, .rights = IB_ACCESS_REMOTE_WRITE,
	};
	int err;

	rcu_read_lock();
	err = roce_access_copy_to(&access, bytes);
	rcu_read_unlock();
	return err;
}

static void a_region_has_the_bytes_of_the_buffer(struct kunit *test)
{
	struct exporter *exporter = test->priv;
	u8 *bytes = fixture_buffer(test, LENGTH);
	struct ib_mr *ibmr;

	export(test, &for_cpus);
	ibmr = reg(exporter, OFFSET, LENGTH);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	fixture_fill(bytes, LENGTH, 5);

	KUNIT_EXPECT_EQ(test, 0, copy_to(exporter, ibmr, IOVA, LENGTH, bytes));
	KUNIT_EXPECT_EQ(test, memcmp(exporter->memory + OFFSET, bytes, LENGTH), 0);
	KUNIT_EXPECT_EQ(test, exporter->memory[OFFSET - 1], 0);
	KUNIT_EXPECT_EQ(test, exporter->memory[OFFSET + LENGTH], 0);

	KUNIT_EXPECT_EQ(test, 0, copy_to(exporter, ibmr, IOVA + LENGTH - 1, 1,
					 bytes));
	KUNIT_EXPECT_EQ(test, exporter->memory[OFFSET + LENGTH - 1], bytes[0]);
	KUNIT_EXPECT_EQ(test, -EACCES, copy_to(exporter, ibmr, IOVA - 1, 1, bytes));
	KUNIT_EXPECT_EQ(test, -EACCES,
			copy_to(exporter, ibmr, IOVA + LENGTH, 1, bytes));
	roce_dereg_mr(ibmr, NULL);
}

static void a_region_keeps_the_buffer_until_it_is_deregistered(struct kunit *test)
{
	struct exporter *exporter = test->priv;
	struct ib_mr *ibmr;

	export(test, &for_cpus);
	ibmr = reg(exporter, 0, SIZE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	withdraw(exporter);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, exporter->released);
	KUNIT_EXPECT_EQ(test, exporter->attachments, 1);
	KUNIT_EXPECT_EQ(test, exporter->mappings, 1);
	KUNIT_EXPECT_EQ(test, exporter->accesses, 1);

	roce_dereg_mr(ibmr, NULL);
	KUNIT_EXPECT_EQ(test, exporter->accesses, 0);
	KUNIT_EXPECT_EQ(test, exporter->mappings, 0);
	KUNIT_EXPECT_EQ(test, exporter->attachments, 0);
	KUNIT_EXPECT_TRUE(test, is_released(exporter));
}

static void a_range_outside_the_buffer_is_refused(struct kunit *test)
{
	struct exporter *exporter = test->priv;

	export(test, &for_cpus);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(reg(exporter, 0, SIZE + 1)));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(reg(exporter, SIZE, 1)));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(reg(exporter, U64_MAX, 2)));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(reg(exporter, U64_MAX, SIZE)));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(reg(exporter, 0, 0)));
	KUNIT_EXPECT_EQ(test, exporter->mappings, 0);
	withdraw(exporter);
	KUNIT_EXPECT_EQ(test, -EBADF, PTR_ERR(reg(exporter, 0, SIZE)));
	KUNIT_EXPECT_TRUE(test, is_released(exporter));
}

static void expect_refusal(struct kunit *test, int err)
{
	struct exporter *exporter = test->priv;

	KUNIT_EXPECT_EQ(test, err, PTR_ERR(reg(exporter, 0, SIZE)));
	KUNIT_EXPECT_EQ(test, exporter->mappings, 0);
	KUNIT_EXPECT_EQ(test, exporter->pins, 0);
	KUNIT_EXPECT_EQ(test, exporter->attachments, 0);
}

static void io_memory_is_read_and_written_but_has_no_atomics(struct kunit *test)
{
	struct exporter *exporter = test->priv;
	u8 *sent = fixture_buffer(test, LENGTH), *bytes = fixture_buffer(test, LENGTH);
	struct roce_access access;
	struct ib_mr *ibmr;
	u64 original;

	exporter->io = io_memory_map(test, exporter->memory, SIZE);
	export(test, &for_cpus);
	ibmr = reg(exporter, OFFSET, LENGTH);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	access = (struct roce_access) {
		.pd = exporter->pd, .key = ibmr->rkey, .address = IOVA,
		.length = LENGTH, .rights = IB_ACCESS_REMOTE_WRITE,
	};
	fixture_fill(bytes, LENGTH, 5);

	KUNIT_EXPECT_EQ(test, 0, fixture_receive_bytes(test, &access, bytes, LENGTH));
	KUNIT_EXPECT_EQ(test, memcmp(exporter->memory + OFFSET, bytes, LENGTH), 0);
	KUNIT_EXPECT_EQ(test, exporter->memory[OFFSET - 1], 0);
	KUNIT_EXPECT_EQ(test, exporter->memory[OFFSET + LENGTH], 0);
	fixture_send_bytes(test, &access, sent);
	KUNIT_EXPECT_EQ(test, memcmp(sent, bytes, LENGTH), 0);
	KUNIT_EXPECT_EQ(test, 0, copy_to(exporter, ibmr, IOVA + 1, 4, "roce"));
	KUNIT_EXPECT_EQ(test, memcmp(exporter->memory + OFFSET + 1, "roce", 4), 0);

	access.address = ALIGN(IOVA, 8);
	access.length = 8;
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, 0, roce_access_flush(&access));
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_access_store(&access, 1));
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_access_fetch_add(&access, 1, &original));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			roce_access_compare_swap(&access, 1, 2, &original));
	access.length = 0;
	KUNIT_EXPECT_EQ(test, 0, roce_access_flush(&access));
	rcu_read_unlock();
	roce_dereg_mr(ibmr, NULL);
	KUNIT_EXPECT_EQ(test, exporter->mappings, 0);
	io_memory_unmap(exporter->io);
}

static void a_buffer_that_cpus_cannot_map_is_refused(struct kunit *test)
{
	export(test, &not_for_cpus);
	expect_refusal(test, -EINVAL);
}

static void the_error_of_an_exporter_is_passed_on(struct kunit *test)
{
	struct exporter *exporter = test->priv;

	exporter->refuse = -ENODEV;
	export(test, &for_cpus);
	expect_refusal(test, -ENODEV);
}

static void tell_of_a_move(struct dma_buf *buffer)
{
#ifdef ROCE_HAVE_INVALIDATE_MAPPINGS
	dma_buf_invalidate_mappings(buffer);
#else
	dma_buf_move_notify(buffer);
#endif
}

/* Like eviction by TTM: a mapping for the CPU does not keep the memory in place. */
static bool move(struct kunit *test, struct dma_buf *buffer)
{
	struct exporter *exporter = test->priv;
	u8 *memory = NULL;

	dma_resv_lock(buffer->resv, NULL);
	if (!exporter->pins)
		memory = kmemdup(exporter->memory, SIZE, GFP_KERNEL);
	if (memory) {
		tell_of_a_move(buffer);
		kfree(exporter->memory);
		exporter->memory = memory;
	}
	dma_resv_unlock(buffer->resv);
	return memory;
}

static struct dma_buf *export_movable(struct kunit *test)
{
	struct exporter *exporter = test->priv;

	exporter->memory = kzalloc(SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, exporter->memory);
	return export(test, &movable);
}

static void the_memory_of_a_region_does_not_move(struct kunit *test)
{
	struct exporter *exporter = test->priv;
	struct dma_buf *buffer = export_movable(test);
	struct ib_mr *first, *second;

	KUNIT_EXPECT_TRUE(test, move(test, buffer));
	first = reg(exporter, 0, SIZE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, first);
	KUNIT_EXPECT_EQ(test, exporter->pins_when_mapped, 1);
	second = reg(exporter, OFFSET, LENGTH);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, second);

	KUNIT_EXPECT_FALSE(test, move(test, buffer));
	KUNIT_EXPECT_EQ(test, 0, copy_to(exporter, first, IOVA, 1, "a"));
	KUNIT_EXPECT_EQ(test, exporter->memory[0], 'a');
	roce_dereg_mr(first, NULL);
	KUNIT_EXPECT_FALSE(test, move(test, buffer));
	KUNIT_EXPECT_EQ(test, 0, copy_to(exporter, second, IOVA, 1, "b"));
	KUNIT_EXPECT_EQ(test, exporter->memory[OFFSET], 'b');

	roce_dereg_mr(second, NULL);
	KUNIT_EXPECT_EQ(test, exporter->pins, 0);
	KUNIT_EXPECT_EQ(test, exporter->attachments, 0);
	KUNIT_EXPECT_EQ(test, exporter->mappings, 0);
	KUNIT_EXPECT_TRUE(test, move(test, buffer));
	kfree(exporter->memory);
}

/* No WARN either, which the check of the log would find. */
static void a_buffer_that_cannot_be_attached_pinned_or_mapped_is_refused(struct kunit *test)
{
	struct exporter *exporter = test->priv;
	struct ib_mr *ibmr;

	export(test, &movable);
	exporter->refuse_attach = -EPERM;
	expect_refusal(test, -EPERM);
	exporter->refuse_attach = 0;
	exporter->refuse_pin = -EBUSY;
	expect_refusal(test, -EBUSY);
	exporter->refuse_pin = 0;
	exporter->refuse_vmap = -ENOMEM;
	expect_refusal(test, -ENOMEM);

	exporter->refuse_vmap = 0;
	ibmr = reg(exporter, 0, SIZE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	roce_dereg_mr(ibmr, NULL);
}

static void a_rereg_changes_the_rights_and_keeps_the_bytes(struct kunit *test)
{
	struct exporter *exporter = test->priv;
	struct ib_mr *ibmr;

	export(test, &for_cpus);
	ibmr = reg(exporter, 0, SIZE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);

	KUNIT_EXPECT_NULL(test, roce_rereg_mr(ibmr, IB_MR_REREG_ACCESS, 0, 0, 0, 0,
					      NULL, NULL));
	KUNIT_EXPECT_EQ(test, -EACCES, copy_to(exporter, ibmr, IOVA, 1, "a"));
	KUNIT_EXPECT_NULL(test, roce_rereg_mr(ibmr, IB_MR_REREG_ACCESS, 0, 0, 0,
					      ALL, NULL, NULL));
	KUNIT_EXPECT_EQ(test, 0, copy_to(exporter, ibmr, IOVA, 1, "a"));
	KUNIT_EXPECT_EQ(test, exporter->memory[0], 'a');
	KUNIT_EXPECT_EQ(test, exporter->mappings, 1);
	roce_dereg_mr(ibmr, NULL);
}

static int make_exporter(struct kunit *test)
{
	struct exporter *exporter = kunit_kzalloc(test, sizeof(*exporter),
						  GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, exporter);
	exporter->dev = fixture_device(test);
	exporter->pd = fixture_pd(test, exporter->dev);
	exporter->memory = fixture_buffer(test, SIZE);
	exporter->fd = -1;
	test->priv = exporter;
	return 0;
}

static void close_buffer(struct kunit *test)
{
	struct exporter *exporter = test->priv;

	if (exporter->fd < 0)
		return;
	withdraw(exporter);
	is_released(exporter);
}

static struct kunit_case dmabuf_cases[] = {
	KUNIT_CASE(a_region_has_the_bytes_of_the_buffer),
	KUNIT_CASE(a_region_keeps_the_buffer_until_it_is_deregistered),
	KUNIT_CASE(a_range_outside_the_buffer_is_refused),
	KUNIT_CASE(io_memory_is_read_and_written_but_has_no_atomics),
	KUNIT_CASE(a_buffer_that_cpus_cannot_map_is_refused),
	KUNIT_CASE(the_error_of_an_exporter_is_passed_on),
	KUNIT_CASE(the_memory_of_a_region_does_not_move),
	KUNIT_CASE(a_buffer_that_cannot_be_attached_pinned_or_mapped_is_refused),
	KUNIT_CASE(a_rereg_changes_the_rights_and_keeps_the_bytes),
	{}
};

static struct kunit_suite dmabuf_suite = {
	.name = "roce_dmabuf",
	.init = make_exporter,
	.exit = close_buffer,
	.test_cases = dmabuf_cases,
};

kunit_test_suite(dmabuf_suite);
