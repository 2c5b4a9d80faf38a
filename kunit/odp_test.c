// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Lists of pages on demand, with memory of the program that loads the module */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>

#include "fault.h"
#include "odp.h"
#include "section.h"

/* Chunks that are touched one after the other */
#define CHUNKS		200

/**
 * struct bench - memory on demand
 * @ibdev: a device that does no DMA
 * @lock: in place of that of a region
 * @odp: the memory
 */
struct bench {
	struct ib_device ibdev;
	struct roce_fair_lock lock;
	struct roce_odp *odp;
};

/* A case runs in a thread that has no memory, and borrows that of the program. */
static struct mm_struct *program;

/* Where an assertion ends the case, its thread puts the reference as it exits. */
static struct bench *enter_program(struct kunit *test)
{
	struct bench *bench = test->priv;

	mmget(program);
	kthread_use_mm(program);
	bench->odp = roce_odp_new(&bench->ibdev, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, bench->odp);
	bench->odp->lock = &bench->lock;
	return bench;
}

static void leave_program(void)
{
	kthread_unuse_mm(program);
	mmput(program);
}

static unsigned long map_memory(struct kunit *test, unsigned long length)
{
	unsigned long start = vm_mmap(NULL, 0, length, PROT_READ | PROT_WRITE,
				      MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(start));
	return start;
}

static bool has(struct bench *bench, unsigned long address, u32 length, bool write)
{
	bool present;

	local_bh_disable();
	roce_section_enter();
	roce_fair_read_lock(&bench->lock);
	present = roce_odp_has(bench->odp, address, length, write);
	roce_fair_read_unlock(&bench->lock);
	roce_section_leave();
	local_bh_enable();
	return present;
}

static void pages_are_present_once_they_are_mapped(struct kunit *test)
{
	struct bench *bench = enter_program(test);
	unsigned long start = map_memory(test, 4 * PAGE_SIZE);

	KUNIT_EXPECT_FALSE(test, has(bench, start, 1, false));
	KUNIT_EXPECT_EQ(test, 2, roce_odp_map(bench->odp, start + PAGE_SIZE + 5, PAGE_SIZE,
					      ROCE_ODP_WRITE));
	KUNIT_EXPECT_FALSE(test, has(bench, start, 1, false));
	KUNIT_EXPECT_TRUE(test, has(bench, start + PAGE_SIZE, 2 * PAGE_SIZE, true));
	KUNIT_EXPECT_FALSE(test, has(bench, start + PAGE_SIZE, 2 * PAGE_SIZE + 1, true));
	leave_program();
}

static void a_page_that_is_read_is_not_written_to(struct kunit *test)
{
	struct bench *bench = enter_program(test);
	unsigned long start = map_memory(test, PAGE_SIZE);

	KUNIT_EXPECT_EQ(test, 1, roce_odp_map(bench->odp, start, 1, ROCE_ODP_READ));
	KUNIT_EXPECT_TRUE(test, has(bench, start, 1, false));
	KUNIT_EXPECT_FALSE(test, has(bench, start, 1, true));
	KUNIT_EXPECT_EQ(test, 1, roce_odp_map(bench->odp, start, 1, ROCE_ODP_WRITE));
	KUNIT_EXPECT_TRUE(test, has(bench, start, 1, true));
	/* Reading again takes no right away. */
	KUNIT_EXPECT_EQ(test, 1, roce_odp_map(bench->odp, start, 1, ROCE_ODP_READ));
	KUNIT_EXPECT_TRUE(test, has(bench, start, 1, true));
	leave_program();
}

static void a_page_that_the_program_loses_is_not_present(struct kunit *test)
{
	struct bench *bench = enter_program(test);
	unsigned long start = map_memory(test, 3 * PAGE_SIZE);

	KUNIT_EXPECT_EQ(test, 3, roce_odp_map(bench->odp, start, 3 * PAGE_SIZE,
					      ROCE_ODP_WRITE));
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(start + PAGE_SIZE, PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, has(bench, start, PAGE_SIZE, true));
	KUNIT_EXPECT_FALSE(test, has(bench, start + PAGE_SIZE, 1, false));
	KUNIT_EXPECT_TRUE(test, has(bench, start + 2 * PAGE_SIZE, PAGE_SIZE, true));
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&bench->odp->page_invalidations));
	KUNIT_EXPECT_LT(test, roce_odp_map(bench->odp, start, 3 * PAGE_SIZE,
					   ROCE_ODP_READ), 0);
	leave_program();
}

static void only_pages_of_the_program_are_found_without_a_fault(struct kunit *test)
{
	struct bench *bench = enter_program(test);
	unsigned long start = map_memory(test, 2 * PAGE_SIZE);

	KUNIT_EXPECT_EQ(test, 0, roce_odp_map(bench->odp, start, 2 * PAGE_SIZE,
					      ROCE_ODP_PRESENT));
	KUNIT_ASSERT_EQ(test, 0, put_user(1, (u8 __user *)start));
	KUNIT_EXPECT_EQ(test, 1, roce_odp_map(bench->odp, start, 2 * PAGE_SIZE,
					      ROCE_ODP_PRESENT));
	KUNIT_EXPECT_TRUE(test, has(bench, start, 1, true));
	KUNIT_EXPECT_FALSE(test, has(bench, start + PAGE_SIZE, 1, false));
	leave_program();
}

static void unused_parts_of_the_address_space_take_no_memory(struct kunit *test)
{
	struct bench *bench = enter_program(test);
	unsigned long start = map_memory(test, CHUNKS * PMD_SIZE);
	int i;

	for (i = 0; i < CHUNKS; i++) {
		unsigned long page = start + i * PMD_SIZE;

		KUNIT_ASSERT_EQ(test, 1, roce_odp_map(bench->odp, page, 1, ROCE_ODP_WRITE));
		/* The last ones stay. */
		if (i < CHUNKS - 3)
			KUNIT_ASSERT_EQ(test, 0, vm_munmap(page, PMD_SIZE));
	}
	KUNIT_EXPECT_LE(test, bench->odp->count, CHUNKS / 2);
	for (i = CHUNKS - 3; i < CHUNKS; i++)
		KUNIT_EXPECT_TRUE(test, has(bench, start + i * PMD_SIZE, 1, true));
	leave_program();
}

/* Somebody else has made the pages present before the engine came again. */
static void an_error_is_no_answer_to_a_later_access(struct kunit *test)
{
	struct roce_odp *odp = kunit_kcalloc(test, 2, sizeof(*odp), GFP_KERNEL);
	struct roce_fault fault = {};

	KUNIT_ASSERT_NOT_NULL(test, odp);
	odp[1].id = 1;
	KUNIT_EXPECT_EQ(test, roce_fault_need(&fault, odp, 4096, 1, 1, true), -EAGAIN);
	fault.err = -EFAULT;
	roce_fault_settle(&fault, odp, 8192, true);
	roce_fault_settle(&fault, odp, 4096, false);
	roce_fault_settle(&fault, odp + 1, 4096, true);
	KUNIT_EXPECT_EQ(test, roce_fault_need(&fault, odp, 4096, 1, 1, true), -EACCES);

	KUNIT_EXPECT_EQ(test, roce_fault_need(&fault, odp, 4096, 1, 1, true), -EAGAIN);
	fault.err = -EFAULT;
	roce_fault_settle(&fault, odp, 4096, true);
	KUNIT_EXPECT_EQ(test, roce_fault_need(&fault, odp, 4096, 1, 1, true), -EAGAIN);
}

static int find_program(struct kunit_suite *suite)
{
	program = current->mm;
	return program ? 0 : -ESRCH;
}

static int bench_init(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	if (!ROCE_HAS_ODP)
		kunit_skip(test, "this kernel has no on-demand paging");
	roce_fair_lock_init(&bench->lock);
	test->priv = bench;
	return 0;
}

static void bench_exit(struct kunit *test)
{
	struct bench *bench = test->priv;

	if (bench && !IS_ERR_OR_NULL(bench->odp))
		roce_odp_free(bench->odp);
}

static struct kunit_case odp_cases[] = {
	KUNIT_CASE(pages_are_present_once_they_are_mapped),
	KUNIT_CASE(a_page_that_is_read_is_not_written_to),
	KUNIT_CASE(a_page_that_the_program_loses_is_not_present),
	KUNIT_CASE(only_pages_of_the_program_are_found_without_a_fault),
	KUNIT_CASE(unused_parts_of_the_address_space_take_no_memory),
	KUNIT_CASE(an_error_is_no_answer_to_a_later_access),
	{}
};

static struct kunit_suite odp_suite = {
	.name = "roce_odp",
	.suite_init = find_program,
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = odp_cases,
};

kunit_test_suite(odp_suite);
