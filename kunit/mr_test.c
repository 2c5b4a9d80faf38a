// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: a key reaches exactly the bytes that were registered, with the rights
 * that were granted, and no others.
 */
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
 * @memory: the pages
 * @bytes: to compare with
 */
struct bench {
	struct roce_device *dev;
	struct roce_pd *pd;
	struct roce_mr *mr;
	u8 *memory;
	u8 bytes[LENGTH];
};

static bool key_allows(struct roce_pd *pd, u32 key, u64 address, u32 length,
		       int rights)
{
	struct roce_access access = {
		.pd = pd, .key = key, .address = address, .length = length,
		.rights = rights,
	};
	bool allowed;

	rcu_read_lock();
	allowed = roce_access_is_allowed(&access);
	rcu_read_unlock();
	return allowed;
}

static bool allowed(struct bench *bench, u64 address, u32 length, int rights)
{
	return key_allows(bench->pd, bench->mr->ibmr.rkey, address, length, rights);
}

static void a_region_is_found_by_its_key(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_TRUE(test, allowed(bench, IOVA, LENGTH, 0));
	KUNIT_EXPECT_EQ(test, bench->mr->ibmr.lkey, bench->mr->ibmr.rkey);
}

static void a_key_with_one_wrong_bit_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	int bit;

	for (bit = 0; bit < 32; bit++) {
		u32 key = bench->mr->ibmr.rkey ^ BIT(bit);

		KUNIT_EXPECT_FALSE(test, key_allows(bench->pd, key, IOVA, 1, 0));
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

	KUNIT_EXPECT_FALSE(test, key_allows(other, bench->mr->ibmr.rkey, IOVA, 1, 0));
}

static void exactly_the_bytes_of_a_region_are_accessible(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_TRUE(test, allowed(bench, IOVA, 1, 0));
	KUNIT_EXPECT_TRUE(test, allowed(bench, IOVA + LENGTH - 1, 1, 0));
	KUNIT_EXPECT_TRUE(test, allowed(bench, IOVA + 1, LENGTH - 1, 0));

	KUNIT_EXPECT_FALSE(test, allowed(bench, IOVA - 1, 1, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, IOVA - 1, LENGTH, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, IOVA + LENGTH, 1, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, IOVA, LENGTH + 1, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, IOVA + 1, LENGTH, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, 0, 1, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, U64_MAX, 1, 0));
}

static void sums_that_overflow_are_refused(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_FALSE(test, allowed(bench, IOVA, U32_MAX, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, IOVA + 1, U32_MAX, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, IOVA + LENGTH - 1, 2, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, IOVA - 1, U32_MAX, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, U64_MAX, 2, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, U64_MAX - 3, U32_MAX, 0));
}

/* At the upper end of the address space nothing wraps either. */
static void a_region_may_end_where_addresses_end(struct kunit *test)
{
	struct bench *bench = test->priv;

	bench->mr->iova = U64_MAX - LENGTH;
	KUNIT_EXPECT_TRUE(test, allowed(bench, U64_MAX - LENGTH, LENGTH, 0));
	KUNIT_EXPECT_TRUE(test, allowed(bench, U64_MAX - 1, 1, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, U64_MAX - 1, 2, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, U64_MAX, 1, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, 0, 1, 0));
	bench->mr->iova = IOVA;
}

static void an_access_of_0_bytes_is_allowed_anywhere(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_TRUE(test, allowed(bench, 0, 0, 0));
	KUNIT_EXPECT_TRUE(test, allowed(bench, U64_MAX, 0, 0));
}

static void an_access_needs_all_its_rights(struct kunit *test)
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
			KUNIT_EXPECT_EQ(test, allowed(bench, IOVA, 1, access),
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

static void a_deregistered_region_is_not_found(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct ib_mr *ibmr = roce_get_dma_mr(&bench->pd->ibpd, ALL);
	u32 key;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	key = ibmr->rkey;
	KUNIT_EXPECT_TRUE(test, key_allows(bench->pd, key, 0, 1, 0));
	KUNIT_EXPECT_EQ(test, roce_dereg_mr(ibmr, NULL), 0);
	KUNIT_EXPECT_FALSE(test, key_allows(bench->pd, key, 0, 1, 0));
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

static struct roce_access whole_access(struct bench *bench, u32 offset, u32 length)
{
	return (struct roce_access) {
		.pd = bench->pd, .key = bench->mr->ibmr.rkey,
		.address = IOVA + offset, .length = length,
	};
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

		struct roce_access access = whole_access(bench, offset, length);

		memset(bench->memory, 0, PAGES * PAGE_SIZE);
		rcu_read_lock();
		KUNIT_EXPECT_EQ(test, 0, roce_access_copy_to(&access, bench->bytes));
		rcu_read_unlock();
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

static void sent_bytes_are_those_of_the_region(struct kunit *test)
{
	struct bench *bench = test->priv;
	u8 *region = bench->memory + IN_PAGE;
	int i;

	fixture_fill(bench->memory, PAGES * PAGE_SIZE, 5);
	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		u32 offset = pieces[i].offset, length = pieces[i].length;
		struct roce_access access = whole_access(bench, offset, length);

		fixture_send_bytes(test, &access, bench->bytes);
		KUNIT_EXPECT_EQ(test, memcmp(region + offset, bench->bytes, length),
				0);
	}
}

static void received_bytes_are_placed_across_pages(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_access access = whole_access(bench, 0, LENGTH);

	KUNIT_EXPECT_EQ(test, 0, fixture_receive_bytes(test, &access, bench->bytes, LENGTH));
	KUNIT_EXPECT_EQ(test, memcmp(bench->memory + IN_PAGE, bench->bytes, LENGTH),
			0);
	KUNIT_EXPECT_EQ(test, -EFAULT,
			fixture_receive_bytes(test, &access, bench->bytes, LENGTH - 1));
}

static void the_cached_key_matches_no_other_key(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = fixture_dma_mr(test, bench->pd, 0);
	struct roce_key *latest = &mr->key;
	struct roce_access access = whole_access(bench, 0, LENGTH);

	access.latest = &latest;
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, roce_access_is_allowed(&access));
	KUNIT_EXPECT_PTR_EQ(test, latest, &bench->mr->key);
	KUNIT_EXPECT_TRUE(test, roce_access_is_allowed(&access));
	access.key ^= 1;
	KUNIT_EXPECT_FALSE(test, roce_access_is_allowed(&access));
	rcu_read_unlock();
}

static void a_dma_region_is_all_of_the_kernels_memory(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = fixture_dma_mr(test, bench->pd, ALL);
	struct roce_access access = {
		.pd = bench->pd, .key = mr->ibmr.lkey, .length = LENGTH,
		.address = (uintptr_t)bench->memory,
		.rights = IB_ACCESS_LOCAL_WRITE,
	};

	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, roce_access_is_allowed(&access));
	KUNIT_EXPECT_EQ(test, 0, roce_access_copy_to(&access, bench->bytes));
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, memcmp(bench->memory, bench->bytes, LENGTH), 0);
}

/* The pages of the user region are listed by hand, since there is no program to pin. */
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
	bench->mr->first_offset = IN_PAGE;
	test->priv = bench;
	return 0;
}

static void free_region(void *ibmr)
{
	roce_dereg_mr(ibmr, NULL);
}

/*
 * Fast regions
 */
#define FAST_PAGES	4
#define FAST_OFFSET	24		/* of the first byte in its page */
#define FAST_LENGTH	(2 * PAGE_SIZE)

/* A fast region, and pages that it can be registered with */
static struct roce_mr *new_fast_region(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct ib_mr *ibmr = roce_alloc_mr(&bench->pd->ibpd, IB_MR_TYPE_MEM_REG,
					   FAST_PAGES);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	ibmr->page_size = PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_region,
							   ibmr));
	return to_roce_mr(ibmr);
}

/* The last page is first, so that the order differs from that in memory. */
static int map(struct kunit *test, struct roce_mr *mr)
{
	struct bench *bench = test->priv;
	struct scatterlist sg[3];
	int i;

	sg_init_table(sg, ARRAY_SIZE(sg));
	for (i = 0; i < ARRAY_SIZE(sg); i++) {
		u8 *page = bench->memory + (ARRAY_SIZE(sg) - 1 - i) * PAGE_SIZE;
		u32 begin = i == 0 ? FAST_OFFSET : 0;
		u32 end = i == 2 ? FAST_OFFSET : PAGE_SIZE;

		sg_dma_address(&sg[i]) = (uintptr_t)page + begin;
		sg_dma_len(&sg[i]) = end - begin;
	}
	return roce_map_mr_sg(&mr->ibmr, sg, ARRAY_SIZE(sg), NULL);
}

static struct roce_registration registration_of(struct roce_mr *mr, int access)
{
	return (struct roce_registration) {
		.mr = mr, .key = mr->ibmr.rkey, .access = access,
		.iova = mr->ibmr.iova, .length = mr->ibmr.length,
	};
}

static struct roce_mr *registered_region(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = new_fast_region(test);
	struct roce_registration registration;

	KUNIT_ASSERT_EQ(test, map(test, mr), 3);
	registration = registration_of(mr, ALL);
	KUNIT_ASSERT_EQ(test, roce_fast_mr_register(&registration, bench->pd), 0);
	return mr;
}

static bool fast_allows(struct kunit *test, struct roce_mr *mr)
{
	struct bench *bench = test->priv;

	return key_allows(bench->pd, mr->ibmr.rkey, mr->ibmr.iova, 1, 0);
}

static void a_fast_region_is_invalid_until_it_is_registered(struct kunit *test)
{
	struct roce_mr *mr = new_fast_region(test);

	KUNIT_EXPECT_FALSE(test, fast_allows(test, mr));
	KUNIT_ASSERT_EQ(test, map(test, mr), 3);
	KUNIT_EXPECT_EQ(test, mr->ibmr.length, FAST_LENGTH);
	KUNIT_EXPECT_FALSE(test, fast_allows(test, mr));
}

static void a_fast_region_reaches_its_pages_in_their_order(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = registered_region(test);
	struct roce_access access = {
		.pd = bench->pd, .key = mr->ibmr.rkey, .length = FAST_LENGTH,
		.address = mr->ibmr.iova, .rights = IB_ACCESS_REMOTE_WRITE,
	};
	u32 first = PAGE_SIZE - FAST_OFFSET;

	memset(bench->memory, 0, PAGES * PAGE_SIZE);
	rcu_read_lock();
	KUNIT_ASSERT_EQ(test, roce_access_copy_to(&access, bench->bytes), 0);
	access.length++;
	KUNIT_EXPECT_EQ(test, roce_access_copy_to(&access, bench->bytes), -EACCES);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, 0, memcmp(bench->memory + 2 * PAGE_SIZE + FAST_OFFSET,
					bench->bytes, first));
	KUNIT_EXPECT_EQ(test, 0, memcmp(bench->memory + PAGE_SIZE,
					bench->bytes + first, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, 0, memcmp(bench->memory,
					bench->bytes + first + PAGE_SIZE,
					FAST_OFFSET));
	KUNIT_EXPECT_NULL(test, memchr_inv(bench->memory + FAST_OFFSET, 0,
					   PAGE_SIZE - FAST_OFFSET));
}

/* Consumers replace the upper bits, which peers see; the pages stay. */
static void a_fast_region_has_the_address_that_is_asked_for(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = new_fast_region(test);
	struct roce_registration registration;

	KUNIT_ASSERT_EQ(test, map(test, mr), 3);
	registration = registration_of(mr, ALL);
	registration.iova = 0;
	KUNIT_ASSERT_EQ(test, roce_fast_mr_register(&registration, bench->pd), 0);
	KUNIT_EXPECT_TRUE(test, key_allows(bench->pd, mr->ibmr.rkey, 0,
					   FAST_LENGTH, 0));
	KUNIT_EXPECT_FALSE(test, fast_allows(test, mr));
}

static void a_valid_region_is_not_registered_again(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = registered_region(test);
	struct roce_registration registration = registration_of(mr, ALL);

	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_register(&registration, bench->pd));
	KUNIT_EXPECT_TRUE(test, fast_allows(test, mr));
}

static void an_invalidated_key_is_stale(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = registered_region(test);
	u32 old = mr->ibmr.rkey;
	struct roce_registration registration;

	KUNIT_ASSERT_EQ(test, roce_fast_mr_invalidate(mr, old, bench->pd, false), 0);
	KUNIT_EXPECT_FALSE(test, fast_allows(test, mr));

	ib_update_fast_reg_key(&mr->ibmr, ib_inc_rkey(old));
	registration = registration_of(mr, ALL);
	KUNIT_ASSERT_EQ(test, roce_fast_mr_register(&registration, bench->pd), 0);
	KUNIT_EXPECT_TRUE(test, fast_allows(test, mr));
	KUNIT_EXPECT_FALSE(test, key_allows(bench->pd, old, mr->ibmr.iova, 1, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			roce_fast_mr_invalidate(mr, old, bench->pd, false));
	KUNIT_EXPECT_TRUE(test, fast_allows(test, mr));
}

static void mapping_other_memory_does_not_change_a_valid_region(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = registered_region(test);
	struct roce_access access = {
		.pd = bench->pd, .key = mr->ibmr.rkey, .length = 8,
		.address = mr->ibmr.iova,
	};
	struct scatterlist sg;
	u8 other[8] = {};

	sg_init_table(&sg, 1);
	sg_dma_address(&sg) = (uintptr_t)other;
	sg_dma_len(&sg) = sizeof(other);
	KUNIT_ASSERT_EQ(test, roce_map_mr_sg(&mr->ibmr, &sg, 1, NULL), 1);
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, roce_access_copy_to(&access, bench->bytes), 0);
	rcu_read_unlock();
	KUNIT_EXPECT_NULL(test, memchr_inv(other, 0, sizeof(other)));
}

static void registrations_that_make_no_sense_are_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_pd *other = fixture_pd(test, bench->dev);
	struct roce_mr *mr = new_fast_region(test);
	struct roce_registration good, bad;

	KUNIT_ASSERT_EQ(test, map(test, mr), 3);
	good = registration_of(mr, ALL);

	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_register(&good, other));
	bad = good;
	bad.key ^= BIT(ROCE_KEY_INDEX_SHIFT);
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_register(&bad, bench->pd));
	bad = good;
	bad.access = IB_ACCESS_REMOTE_WRITE;
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_register(&bad, bench->pd));
	bad = good;
	bad.length = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_register(&bad, bench->pd));
	bad.length = 3 * PAGE_SIZE - FAST_OFFSET + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_register(&bad, bench->pd));
	bad.length = U64_MAX;
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_register(&bad, bench->pd));
	bad = good;
	bad.mr = bench->mr;
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_register(&bad, bench->pd));
	KUNIT_EXPECT_FALSE(test, fast_allows(test, mr));
	KUNIT_EXPECT_EQ(test, 0, roce_fast_mr_register(&good, bench->pd));
}

static void pages_are_mapped_up_to_the_capacity(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = new_fast_region(test);
	struct scatterlist sg[FAST_PAGES + 2];
	unsigned int offset = 0;
	int i;

	sg_init_table(sg, ARRAY_SIZE(sg));
	for (i = 0; i < ARRAY_SIZE(sg); i++) {
		/* Not next to each other, but any page will do. */
		sg_dma_address(&sg[i]) = (uintptr_t)bench->memory +
					 (i % 2) * 2 * PAGE_SIZE;
		sg_dma_len(&sg[i]) = PAGE_SIZE;
	}
	KUNIT_EXPECT_EQ(test, FAST_PAGES, roce_map_mr_sg(&mr->ibmr, sg,
							 ARRAY_SIZE(sg), &offset));
	KUNIT_EXPECT_EQ(test, mr->ibmr.length, FAST_PAGES * PAGE_SIZE);
}

/* A peer has no influence on keys that it cannot use. */
static void a_peer_invalidates_only_regions_with_remote_access(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = new_fast_region(test);
	u32 key = mr->ibmr.rkey;
	struct roce_registration registration;

	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_invalidate(mr, key, bench->pd, true));
	KUNIT_ASSERT_EQ(test, map(test, mr), 3);
	registration = registration_of(mr, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_EQ(test, roce_fast_mr_register(&registration, bench->pd), 0);
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_fast_mr_invalidate(mr, key, bench->pd, true));

	KUNIT_ASSERT_EQ(test, roce_fast_mr_invalidate(mr, key, bench->pd, false), 0);
	registration.access = IB_ACCESS_REMOTE_READ;
	KUNIT_ASSERT_EQ(test, roce_fast_mr_register(&registration, bench->pd), 0);
	KUNIT_EXPECT_EQ(test, 0, roce_fast_mr_invalidate(mr, key, bench->pd, true));
	KUNIT_EXPECT_FALSE(test, fast_allows(test, mr));
}

static void only_fast_regions_are_invalidated(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_EQ(test, -EINVAL,
			roce_fast_mr_invalidate(bench->mr, bench->mr->ibmr.rkey,
						bench->pd, false));
	KUNIT_EXPECT_TRUE(test, allowed(bench, IOVA, 1, 0));
}

static void other_types_of_regions_are_refused(struct kunit *test)
{
	struct ib_pd *pd = &((struct bench *)test->priv)->pd->ibpd;

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			PTR_ERR(roce_alloc_mr(pd, IB_MR_TYPE_INTEGRITY, 1)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(roce_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 0)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(roce_alloc_mr(pd, IB_MR_TYPE_MEM_REG,
					      ROCE_MAX_FAST_PAGES + 1)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(roce_alloc_mr(pd, IB_MR_TYPE_SG_GAPS,
					      ROCE_MAX_FAST_PAGES + 1)));
}

/* --- lists with gaps --- */

/* Places in the memory of the bench; the last two are adjacent. */
static const struct { u32 at, length; } parts[] = {
	{ 5000, 1 }, { 17, 100 }, { 300, 3000 }, { 9000, 7 }, { 9007, 500 },
};

#define GAPS_LENGTH	(1 + 100 + 3000 + 7 + 500)
#define GAPS_SKIPPED	1		/* what an offset of 1 leaves out */

static void make_list(struct bench *bench, struct scatterlist *sg)
{
	u32 i;

	sg_init_table(sg, ARRAY_SIZE(parts));
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		sg_dma_address(&sg[i]) = (uintptr_t)bench->memory + parts[i].at;
		sg_dma_len(&sg[i]) = parts[i].length;
	}
}

static struct roce_mr *new_list_region(struct kunit *test, u32 room)
{
	struct bench *bench = test->priv;
	struct ib_mr *ibmr = roce_alloc_mr(&bench->pd->ibpd, IB_MR_TYPE_SG_GAPS,
					   room);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_region,
							   ibmr));
	ibmr->page_size = PAGE_SIZE;
	return to_roce_mr(ibmr);
}

static struct roce_mr *registered_list(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = new_list_region(test, ARRAY_SIZE(parts));
	struct scatterlist sg[ARRAY_SIZE(parts)];
	struct roce_registration registration;

	make_list(bench, sg);
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(parts),
			roce_map_mr_sg(&mr->ibmr, sg, ARRAY_SIZE(sg), NULL));
	KUNIT_EXPECT_EQ(test, mr->ibmr.iova, sg_dma_address(&sg[0]));
	KUNIT_EXPECT_EQ(test, mr->ibmr.length, GAPS_LENGTH);
	registration = registration_of(mr, ALL);
	KUNIT_ASSERT_EQ(test, roce_fast_mr_register(&registration, bench->pd), 0);
	return mr;
}

static void expect_in_parts(struct kunit *test, const u8 *bytes)
{
	struct bench *bench = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		KUNIT_EXPECT_EQ(test, 0, memcmp(bench->memory + parts[i].at,
						bytes, parts[i].length));
		/* Nothing else of the memory has changed. */
		memset(bench->memory + parts[i].at, 0, parts[i].length);
		bytes += parts[i].length;
	}
	KUNIT_EXPECT_NULL(test, memchr_inv(bench->memory, 0, PAGES * PAGE_SIZE));
}

static void a_list_with_gaps_is_one_region(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = registered_list(test);
	struct roce_access access = {
		.pd = bench->pd, .key = mr->ibmr.rkey, .length = GAPS_LENGTH,
		.address = mr->ibmr.iova, .rights = IB_ACCESS_REMOTE_WRITE,
	};

	KUNIT_EXPECT_EQ(test, mr->extent_count, ARRAY_SIZE(parts) - 1);
	memset(bench->memory, 0, PAGES * PAGE_SIZE);
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, roce_access_copy_to(&access, bench->bytes), 0);
	access.length++;
	KUNIT_EXPECT_EQ(test, roce_access_copy_to(&access, bench->bytes), -EACCES);
	rcu_read_unlock();
	expect_in_parts(test, bench->bytes);
}

static void every_byte_of_a_list_is_where_it_should_be(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mr *mr = registered_list(test);
	struct roce_access access = {
		.pd = bench->pd, .key = mr->ibmr.rkey, .length = 1,
		.rights = IB_ACCESS_REMOTE_WRITE,
	};
	u32 i;

	memset(bench->memory, 0, PAGES * PAGE_SIZE);
	rcu_read_lock();
	for (i = GAPS_LENGTH; i--;) {
		access.address = mr->ibmr.iova + i;
		KUNIT_ASSERT_EQ(test, 0, roce_access_copy_to(&access,
							     bench->bytes + i));
	}
	rcu_read_unlock();
	expect_in_parts(test, bench->bytes);
}

static void a_list_is_mapped_up_to_the_capacity(struct kunit *test)
{
	struct roce_mr *mr = new_list_region(test, 2);
	struct scatterlist sg[ARRAY_SIZE(parts)];
	unsigned int offset = GAPS_SKIPPED;

	make_list(test->priv, sg);
	KUNIT_EXPECT_EQ(test, -EINVAL, roce_map_mr_sg(&mr->ibmr, sg, 5, &offset));
	KUNIT_EXPECT_EQ(test, roce_map_mr_sg(&mr->ibmr, &sg[1], 4, &offset), 2);
	KUNIT_EXPECT_EQ(test, offset, 0);
	KUNIT_EXPECT_EQ(test, mr->ibmr.iova, sg_dma_address(&sg[1]) + GAPS_SKIPPED);
	KUNIT_EXPECT_EQ(test, mr->ibmr.length, 100 - GAPS_SKIPPED + 3000);
}

static void a_region_can_have_the_reported_maximum_of_pages(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct ib_mr *ibmr = roce_alloc_mr(&bench->pd->ibpd, IB_MR_TYPE_MEM_REG,
					   ROCE_MAX_FAST_PAGES);
	struct roce_registration registration;
	struct scatterlist *sg;
	u32 i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_region,
							   ibmr));
	sg = kvcalloc(ROCE_MAX_FAST_PAGES, sizeof(*sg), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sg);
	sg_init_table(sg, ROCE_MAX_FAST_PAGES);
	for (i = 0; i < ROCE_MAX_FAST_PAGES; i++) {
		sg_dma_address(&sg[i]) = (uintptr_t)bench->memory +
					 i % 2 * 2 * PAGE_SIZE;
		sg_dma_len(&sg[i]) = PAGE_SIZE;
	}
	ibmr->page_size = PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, ROCE_MAX_FAST_PAGES,
			roce_map_mr_sg(ibmr, sg, ROCE_MAX_FAST_PAGES, NULL));
	kvfree(sg);
	registration = registration_of(to_roce_mr(ibmr), ALL);
	KUNIT_EXPECT_EQ(test, roce_fast_mr_register(&registration, bench->pd), 0);
	KUNIT_EXPECT_TRUE(test, key_allows(bench->pd, ibmr->rkey,
					   ibmr->iova + ibmr->length - 1, 1, 0));
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE(a_region_is_found_by_its_key),
	KUNIT_CASE(a_key_with_one_wrong_bit_is_refused),
	KUNIT_CASE(keys_are_never_0_and_differ),
	KUNIT_CASE(another_protection_domain_is_refused),
	KUNIT_CASE(exactly_the_bytes_of_a_region_are_accessible),
	KUNIT_CASE(sums_that_overflow_are_refused),
	KUNIT_CASE(a_region_may_end_where_addresses_end),
	KUNIT_CASE(an_access_of_0_bytes_is_allowed_anywhere),
	KUNIT_CASE(an_access_needs_all_its_rights),
	KUNIT_CASE(remote_writing_needs_local_writing),
	KUNIT_CASE(a_deregistered_region_is_not_found),
	KUNIT_CASE(regions_of_no_or_too_many_bytes_are_refused),
	KUNIT_CASE(copies_reach_the_right_bytes),
	KUNIT_CASE(sent_bytes_are_those_of_the_region),
	KUNIT_CASE(received_bytes_are_placed_across_pages),
	KUNIT_CASE(the_cached_key_matches_no_other_key),
	KUNIT_CASE(a_dma_region_is_all_of_the_kernels_memory),
	KUNIT_CASE(a_fast_region_is_invalid_until_it_is_registered),
	KUNIT_CASE(a_fast_region_reaches_its_pages_in_their_order),
	KUNIT_CASE(a_fast_region_has_the_address_that_is_asked_for),
	KUNIT_CASE(a_valid_region_is_not_registered_again),
	KUNIT_CASE(an_invalidated_key_is_stale),
	KUNIT_CASE(mapping_other_memory_does_not_change_a_valid_region),
	KUNIT_CASE(registrations_that_make_no_sense_are_refused),
	KUNIT_CASE(pages_are_mapped_up_to_the_capacity),
	KUNIT_CASE(a_peer_invalidates_only_regions_with_remote_access),
	KUNIT_CASE(only_fast_regions_are_invalidated),
	KUNIT_CASE(other_types_of_regions_are_refused),
	KUNIT_CASE(a_list_with_gaps_is_one_region),
	KUNIT_CASE(every_byte_of_a_list_is_where_it_should_be),
	KUNIT_CASE(a_list_is_mapped_up_to_the_capacity),
	KUNIT_CASE(a_region_can_have_the_reported_maximum_of_pages),
	{}
};

static struct kunit_suite mr_suite = {
	.name = "roce_mr",
	.init = make_bench,
	.test_cases = mr_cases,
};

kunit_test_suite(mr_suite);
