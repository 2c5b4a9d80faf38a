// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/vmalloc.h>
#include <rdma/ib_umem.h>

#include "fixture.h"

#define PAGES	3
#define IN_PAGE	100			/* where the region begins in its first page */
#define IOVA	0x7f00dead0064ull	/* likewise */
#define LENGTH	(2 * PAGE_SIZE + 200)
#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

/**
 * struct bench - a region of a program's pages
 * @dev: the device
 * @pd: of the region
 * @mr: the region
 * @umem: says where it begins in its first page
 * @memory: the pages
 * @bytes: to compare with
 */
struct bench {
	struct roce_device *dev;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct ib_umem umem;
	u8 *memory;
	u8 bytes[LENGTH];
};

static bool found(struct bench *bench, u64 address, u64 length, int access)
{
	struct roce_mr *mr;

	rcu_read_lock();
	mr = roce_mr_find(bench->pd, bench->mr->ibmr.rkey, address, length, access);
	rcu_read_unlock();
	return mr == bench->mr;
}

static void a_region_is_found_by_its_key(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_TRUE(test, found(bench, IOVA, LENGTH, 0));
	KUNIT_EXPECT_EQ(test, bench->mr->ibmr.lkey, bench->mr->ibmr.rkey);
}

static void a_key_with_one_wrong_bit_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	int bit;

	for (bit = 0; bit < 32; bit++) {
		rcu_read_lock();
		KUNIT_EXPECT_NULL(test,
				  roce_mr_find(bench->pd,
					       bench->mr->ibmr.rkey ^ BIT(bit),
					       IOVA, 1, 0));
		rcu_read_unlock();
	}
}

static void keys_are_never_0_and_differ(struct kunit *test)
{
	struct bench *bench = test->priv;
	u32 last = bench->mr->ibmr.rkey;
	int i;

	for (i = 0; i < 32; i++) {
		struct roce_mr *mr = fixture_dma_mr(test, bench->pd, 0);

		KUNIT_EXPECT_NE(test, mr->ibmr.rkey >> 8, 0);
		KUNIT_EXPECT_NE(test, mr->ibmr.rkey >> 8, last >> 8);
		last = mr->ibmr.rkey;
	}
}

static void another_protection_domain_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_pd *other = fixture_pd(test, bench->dev);

	rcu_read_lock();
	KUNIT_EXPECT_NULL(test, roce_mr_find(other, bench->mr->ibmr.rkey, IOVA, 1,
					     0));
	rcu_read_unlock();
}

static void every_byte_of_it_may_be_accessed_and_no_other(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_TRUE(test, found(bench, IOVA, 1, 0));
	KUNIT_EXPECT_TRUE(test, found(bench, IOVA + LENGTH - 1, 1, 0));
	KUNIT_EXPECT_TRUE(test, found(bench, IOVA + 1, LENGTH - 1, 0));

	KUNIT_EXPECT_FALSE(test, found(bench, IOVA - 1, 1, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, IOVA - 1, LENGTH, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, IOVA + LENGTH, 1, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, IOVA, LENGTH + 1, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, IOVA + 1, LENGTH, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, 0, 1, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, U64_MAX, 1, 0));
}

static void sums_that_overflow_are_refused(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_FALSE(test, found(bench, IOVA, U64_MAX, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, IOVA + 1, U64_MAX, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, IOVA + 1, -IOVA, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, IOVA - 1, U64_MAX, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, U64_MAX, 2, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, U64_MAX - 3, IOVA + 8, 0));
}

/* At the upper end of the address space nothing wraps either. */
static void a_region_may_end_where_addresses_end(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->mr->iova = U64_MAX - LENGTH;
	KUNIT_EXPECT_TRUE(test, found(bench, U64_MAX - LENGTH, LENGTH, 0));
	KUNIT_EXPECT_TRUE(test, found(bench, U64_MAX - 1, 1, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, U64_MAX - 1, 2, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, U64_MAX, 1, 0));
	KUNIT_EXPECT_FALSE(test, found(bench, 0, 1, 0));
	bench->mr->iova = IOVA;
}

static void nothing_may_be_asked_for_anywhere(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_TRUE(test, found(bench, 0, 0, 0));
	KUNIT_EXPECT_TRUE(test, found(bench, U64_MAX, 0, 0));
}

static void all_rights_that_are_needed_must_be_there(struct kunit *test)
{
	static const int rights[] = {
		IB_ACCESS_LOCAL_WRITE, IB_ACCESS_REMOTE_WRITE,
		IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_ATOMIC,
	};
	struct bench *bench = test->priv;
	u32 has, needs;

	for (has = 0; has < BIT(ARRAY_SIZE(rights)); has++) {
		for (needs = 0; needs < BIT(ARRAY_SIZE(rights)); needs++) {
			int i, access = 0;

			bench->mr->access = 0;
			for (i = 0; i < ARRAY_SIZE(rights); i++) {
				bench->mr->access |= has & BIT(i) ? rights[i] : 0;
				access |= needs & BIT(i) ? rights[i] : 0;
			}
			KUNIT_EXPECT_EQ(test, found(bench, IOVA, 1, access),
					!(needs & ~has));
		}
	}
}

static void remote_writing_needs_local_writing(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct ib_pd *pd = &bench->pd->ibpd;

	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(roce_get_dma_mr(pd, IB_ACCESS_REMOTE_WRITE)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(roce_get_dma_mr(pd, IB_ACCESS_REMOTE_ATOMIC)));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			PTR_ERR(roce_get_dma_mr(pd, IB_ACCESS_ON_DEMAND)));
}

static void a_region_that_is_gone_is_not_found(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct ib_mr *ibmr = roce_get_dma_mr(&bench->pd->ibpd, ALL);
	u32 key;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	key = ibmr->rkey;
	KUNIT_EXPECT_EQ(test, roce_dereg_mr(ibmr, NULL), 0);
	rcu_read_lock();
	KUNIT_EXPECT_NULL(test, roce_mr_find(bench->pd, key, 0, 1, 0));
	rcu_read_unlock();
}

static void regions_of_no_or_too_many_bytes_are_refused(struct kunit *test)
{
	struct ib_pd *pd = &((struct bench *)test->priv)->pd->ibpd;

	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(roce_reg_mr(pd, 0x1000, 0, 0x1000, 0)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(roce_reg_mr(pd, 0x1000, ROCE_MAX_MR_SIZE + 1,
					    0x1000, 0)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(roce_reg_mr(pd, 0x1000, 0x2000, U64_MAX - 0xfff,
					    0)));
}

/* Offsets and lengths around the ends of pages */
static const struct {
	u32 offset, length;
} pieces[] = {
	{ 0, 1 }, { 0, LENGTH }, { LENGTH - 1, 1 },
	{ PAGE_SIZE - IN_PAGE - 1, 1 }, { PAGE_SIZE - IN_PAGE - 1, 2 },
	{ PAGE_SIZE - IN_PAGE, 1 }, { PAGE_SIZE - IN_PAGE, PAGE_SIZE },
	{ 1, PAGE_SIZE + 7 }, { PAGE_SIZE - IN_PAGE - 3, PAGE_SIZE + 6 },
};

static void copies_reach_the_right_bytes(struct kunit *test)
{
	struct bench *bench = test->priv;
	u8 *region = bench->memory + IN_PAGE;
	int i;

	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		u32 offset = pieces[i].offset, length = pieces[i].length;

		memset(bench->memory, 0, PAGES * PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, 0, roce_mr_copy(bench->mr, IOVA + offset,
						      bench->bytes, length, true));
		KUNIT_EXPECT_EQ(test, memcmp(region + offset, bench->bytes, length),
				0);
		KUNIT_EXPECT_NULL(test, memchr_inv(bench->memory, 0,
						   IN_PAGE + offset));
		KUNIT_EXPECT_NULL(test,
				  memchr_inv(region + offset + length, 0,
					     PAGES * PAGE_SIZE - IN_PAGE -
					     offset - length));
	}
}

static void copies_from_it_are_what_is_there(struct kunit *test)
{
	struct bench *bench = test->priv;
	u8 *region = bench->memory + IN_PAGE;
	int i;

	fixture_fill(bench->memory, PAGES * PAGE_SIZE, 5);
	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		u32 offset = pieces[i].offset, length = pieces[i].length;

		memset(bench->bytes, 0, LENGTH);
		KUNIT_EXPECT_EQ(test, 0, roce_mr_copy(bench->mr, IOVA + offset,
						      bench->bytes, length, false));
		KUNIT_EXPECT_EQ(test, memcmp(region + offset, bench->bytes, length),
				0);
		KUNIT_EXPECT_NULL(test, memchr_inv(bench->bytes + length, 0,
						   LENGTH - length));
	}
}

static void received_bytes_are_placed_across_pages(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct sk_buff *skb = alloc_skb(LENGTH + 10, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, 10);
	skb_put_data(skb, bench->bytes, LENGTH);
	KUNIT_EXPECT_EQ(test, roce_mr_write(bench->mr, IOVA, LENGTH, skb, 10), 0);
	KUNIT_EXPECT_EQ(test, memcmp(bench->memory + IN_PAGE, bench->bytes, LENGTH),
			0);
	KUNIT_EXPECT_EQ(test, -EFAULT,
			roce_mr_write(bench->mr, IOVA, LENGTH, skb, 11));
	kfree_skb(skb);
}

static void a_dma_region_is_all_of_the_kernels_memory(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = fixture_dma_mr(test, bench->pd, ALL);
	u64 address = (uintptr_t)bench->memory;

	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, mr,
			    roce_mr_find(bench->pd, mr->ibmr.lkey, address,
					 LENGTH, IB_ACCESS_LOCAL_WRITE));
	KUNIT_EXPECT_EQ(test, 0, roce_mr_copy(mr, address, bench->bytes, LENGTH,
					      true));
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, memcmp(bench->memory, bench->bytes, LENGTH), 0);
}

/* A program's region is made of pages by hand, there is no program to pin. */
static int make_bench(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->dev = fixture_device(test);
	bench->pd = fixture_pd(test, bench->dev);
	bench->memory = fixture_buffer(test, PAGES * PAGE_SIZE);
	bench->mr = fixture_dma_mr(test, bench->pd, ALL);
	fixture_fill(bench->bytes, LENGTH, 3);

	bench->mr->pages = kvmalloc_array(PAGES, sizeof(struct page *), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench->mr->pages);
	for (i = 0; i < PAGES; i++)
		bench->mr->pages[i] = vmalloc_to_page(bench->memory + i * PAGE_SIZE);
	bench->mr->kind = ROCE_MR_USER;
	bench->mr->iova = IOVA;
	bench->mr->length = LENGTH;
	bench->umem.address = IOVA;
	bench->mr->umem = &bench->umem;
	test->priv = bench;
	return 0;
}

/* Before the region goes, which would unpin what was never pinned */
static void take_umem_away(struct kunit *test)
{
	struct bench *bench = test->priv;

	if (bench)
		bench->mr->umem = NULL;
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE(a_region_is_found_by_its_key),
	KUNIT_CASE(a_key_with_one_wrong_bit_is_refused),
	KUNIT_CASE(keys_are_never_0_and_differ),
	KUNIT_CASE(another_protection_domain_is_refused),
	KUNIT_CASE(every_byte_of_it_may_be_accessed_and_no_other),
	KUNIT_CASE(sums_that_overflow_are_refused),
	KUNIT_CASE(a_region_may_end_where_addresses_end),
	KUNIT_CASE(nothing_may_be_asked_for_anywhere),
	KUNIT_CASE(all_rights_that_are_needed_must_be_there),
	KUNIT_CASE(remote_writing_needs_local_writing),
	KUNIT_CASE(a_region_that_is_gone_is_not_found),
	KUNIT_CASE(regions_of_no_or_too_many_bytes_are_refused),
	KUNIT_CASE(copies_reach_the_right_bytes),
	KUNIT_CASE(copies_from_it_are_what_is_there),
	KUNIT_CASE(received_bytes_are_placed_across_pages),
	KUNIT_CASE(a_dma_region_is_all_of_the_kernels_memory),
	{}
};

static struct kunit_suite mr_suite = {
	.name = "roce_mr",
	.init = make_bench,
	.exit = take_umem_away,
	.test_cases = mr_cases,
};

kunit_test_suite(mr_suite);
