// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows: a window grants its own bytes and rights, as long as it is bound.
 */
#include "access.h"
#include "fixture.h"

#define SIZE	4096
#define BEGIN	100			/* of the window in the region */
#define LENGTH	1000			/* of the window */
#define WRITING	IB_ACCESS_REMOTE_WRITE
#define READING	IB_ACCESS_REMOTE_READ

/**
 * struct bench - a region that windows can be bound to
 * @dev: the device
 * @pd: protection domain of all objects below
 * @qp: binds windows
 * @other_qp: another QP
 * @mr: the region, SIZE bytes of the kernel's memory
 * @memory: the bytes of @mr
 */
struct bench {
	struct roce_device *dev;
	struct roce_pd *pd;
	struct roce_qp *qp;
	struct roce_qp *other_qp;
	struct roce_mr *mr;
	u8 *memory;
};

static u64 window_start(const struct bench *bench)
{
	return (uintptr_t)bench->memory + BEGIN;
}

static bool key_allows(struct roce_pd *pd, const struct roce_qp *qp, u32 key,
		       u64 address, u32 length, int rights)
{
	struct roce_access access = {
		.pd = pd, .qpn = qp ? qp->ibqp.qp_num : 0, .key = key,
		.address = address, .length = length, .rights = rights,
	};
	bool allowed;

	rcu_read_lock();
	allowed = roce_access_is_allowed(&access);
	rcu_read_unlock();
	return allowed;
}

static bool allowed(const struct bench *bench, const struct roce_mw *mw,
		    u64 address, u32 length, int rights)
{
	return key_allows(bench->pd, bench->qp, mw->key.value, address, length,
			  rights);
}

static struct roce_binding binding_of(const struct bench *bench,
				      const struct roce_mw *mw)
{
	return (struct roce_binding) {
		.window_key = mw->key.value,
		.new_key = ib_inc_rkey(mw->key.value),
		.region_key = bench->mr->ibmr.lkey,
		.access = WRITING | READING,
		.address = window_start(bench),
		.length = LENGTH,
	};
}

static int bind(const struct roce_binding *binding, struct roce_qp *qp)
{
	int err;

	rcu_read_lock();
	err = roce_mw_bind(binding, qp);
	rcu_read_unlock();
	return err;
}

static int invalidate(struct roce_mw *mw, struct roce_qp *qp)
{
	int err;

	rcu_read_lock();
	err = roce_mw_invalidate(mw, mw->key.value, qp);
	rcu_read_unlock();
	return err;
}

static struct roce_mw *bound_window(struct kunit *test, enum ib_mw_type type)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = fixture_mw(test, bench->pd, type);
	struct roce_binding binding = binding_of(bench, mw);

	KUNIT_ASSERT_EQ(test, bind(&binding, bench->qp), 0);
	return mw;
}

static void a_new_window_grants_no_access(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *one = fixture_mw(test, bench->pd, IB_MW_TYPE_1);
	struct roce_mw *two = fixture_mw(test, bench->pd, IB_MW_TYPE_2);

	KUNIT_EXPECT_FALSE(test, allowed(bench, one, window_start(bench), 1, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, one, 0, 1, 0));
	KUNIT_EXPECT_FALSE(test, allowed(bench, two, window_start(bench), 1, 0));
	KUNIT_EXPECT_NE(test, one->ibmw.rkey, two->ibmw.rkey);
	KUNIT_EXPECT_NE(test, one->ibmw.rkey, 0);
}

static void exactly_the_bytes_of_a_window_are_accessible(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = bound_window(test, IB_MW_TYPE_2);
	u64 start = window_start(bench);

	KUNIT_EXPECT_TRUE(test, allowed(bench, mw, start, LENGTH, WRITING | READING));
	KUNIT_EXPECT_TRUE(test, allowed(bench, mw, start + LENGTH - 1, 1, READING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, start - 1, 1, READING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, start, LENGTH + 1, READING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, start + LENGTH, 1, READING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, start + 1, U32_MAX, READING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, U64_MAX, 2, READING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, 0, 1, READING));
}

static void a_window_grants_its_own_rights(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = fixture_mw(test, bench->pd, IB_MW_TYPE_2);
	struct roce_binding binding = binding_of(bench, mw);
	u64 start = window_start(bench);

	binding.access = READING;
	KUNIT_ASSERT_EQ(test, bind(&binding, bench->qp), 0);
	KUNIT_EXPECT_TRUE(test, allowed(bench, mw, start, 1, READING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, start, 1, WRITING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, start, 1,
					 IB_ACCESS_REMOTE_ATOMIC));
}

/* The region itself has no remote access: all writes come through the window. */
static void bytes_go_where_the_window_is(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = bound_window(test, IB_MW_TYPE_1);
	struct roce_access access = {
		.pd = bench->pd, .qpn = bench->qp->ibqp.qp_num,
		.key = mw->key.value, .rights = WRITING,
		.address = window_start(bench) + 5, .length = 4,
	};

	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, roce_access_copy_to(&access, "roce"), 0);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, memcmp(bench->memory + BEGIN + 5, "roce", 4), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(bench->memory, 0, BEGIN + 5));
	KUNIT_EXPECT_FALSE(test, key_allows(bench->pd, bench->qp,
					    bench->mr->ibmr.rkey,
					    access.address, 4, WRITING));
}

static void a_zero_based_window_begins_at_0(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = fixture_mw(test, bench->pd, IB_MW_TYPE_2);
	struct roce_binding binding = binding_of(bench, mw);
	struct roce_access access = {
		.pd = bench->pd, .qpn = bench->qp->ibqp.qp_num,
		.rights = WRITING, .address = 0, .length = 4,
	};

	binding.access |= IB_ZERO_BASED;
	KUNIT_ASSERT_EQ(test, bind(&binding, bench->qp), 0);
	KUNIT_EXPECT_TRUE(test, allowed(bench, mw, 0, LENGTH, READING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, 1, LENGTH, READING));
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, window_start(bench), 1, READING));

	access.key = mw->key.value;
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, roce_access_copy_to(&access, "roce"), 0);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, memcmp(bench->memory + BEGIN, "roce", 4), 0);
}

static void only_peers_can_use_a_window(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = bound_window(test, IB_MW_TYPE_1);

	KUNIT_EXPECT_FALSE(test, key_allows(bench->pd, NULL, mw->key.value,
					    window_start(bench), 1, 0));
}

static void type_1_serves_all_qps_and_type_2_the_one_that_bound_it(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *one = bound_window(test, IB_MW_TYPE_1);
	struct roce_mw *two = bound_window(test, IB_MW_TYPE_2);
	u64 start = window_start(bench);

	KUNIT_EXPECT_TRUE(test, key_allows(bench->pd, bench->other_qp,
					   one->key.value, start, 1, READING));
	KUNIT_EXPECT_TRUE(test, key_allows(bench->pd, bench->qp,
					   two->key.value, start, 1, READING));
	KUNIT_EXPECT_FALSE(test, key_allows(bench->pd, bench->other_qp,
					    two->key.value, start, 1, READING));
}

static void another_protection_domain_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_pd *other = fixture_pd(test, bench->dev);
	struct roce_mw *bound = bound_window(test, IB_MW_TYPE_1);
	struct roce_mw *mw = fixture_mw(test, other, IB_MW_TYPE_1);
	struct roce_binding binding = binding_of(bench, mw);

	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), -EINVAL);
	KUNIT_EXPECT_FALSE(test, key_allows(other, bench->qp, bound->key.value,
					    window_start(bench), 1, READING));
}

static void binding_makes_the_old_key_stale(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = bound_window(test, IB_MW_TYPE_1);
	struct roce_binding binding = binding_of(bench, mw);
	u32 old = mw->key.value;

	KUNIT_ASSERT_EQ(test, bind(&binding, bench->qp), 0);
	KUNIT_EXPECT_EQ(test, mw->key.value, binding.new_key);
	KUNIT_EXPECT_TRUE(test, allowed(bench, mw, window_start(bench), 1, READING));
	KUNIT_EXPECT_FALSE(test, key_allows(bench->pd, bench->qp, old,
					    window_start(bench), 1, READING));
	/* Nor does the old key name the window in a work request. */
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), -EINVAL);
	KUNIT_EXPECT_EQ(test, bench->mr->windows, 1);
}

static void a_bind_of_length_0_unbinds_a_type_1_window(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = bound_window(test, IB_MW_TYPE_1);
	struct roce_binding binding = binding_of(bench, mw);

	binding.length = 0;
	binding.region_key = 0;
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), 0);
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, window_start(bench), 1, READING));
	KUNIT_EXPECT_EQ(test, bench->mr->windows, 0);
}

static void a_type_2_window_is_bound_once_and_invalidated_by_its_qp(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = bound_window(test, IB_MW_TYPE_2);
	struct roce_binding binding = binding_of(bench, mw);

	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), -EINVAL);
	KUNIT_EXPECT_EQ(test, invalidate(mw, bench->other_qp), -EINVAL);
	KUNIT_EXPECT_TRUE(test, allowed(bench, mw, window_start(bench), 1, READING));

	KUNIT_EXPECT_EQ(test, invalidate(mw, bench->qp), 0);
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, window_start(bench), 1, READING));
	KUNIT_EXPECT_EQ(test, invalidate(mw, bench->qp), -EINVAL);

	KUNIT_EXPECT_EQ(test, bind(&binding, bench->other_qp), 0);
	KUNIT_EXPECT_FALSE(test, allowed(bench, mw, window_start(bench), 1, READING));
	KUNIT_EXPECT_TRUE(test, key_allows(bench->pd, bench->other_qp,
					   mw->key.value, window_start(bench), 1,
					   READING));
}

static void a_type_2_window_is_not_bound_with_length_0(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = fixture_mw(test, bench->pd, IB_MW_TYPE_2);
	struct roce_binding binding = binding_of(bench, mw);

	binding.length = 0;
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), -EINVAL);
}

static void a_type_1_window_is_not_invalidated(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = bound_window(test, IB_MW_TYPE_1);

	KUNIT_EXPECT_EQ(test, invalidate(mw, bench->qp), -EINVAL);
	KUNIT_EXPECT_TRUE(test, allowed(bench, mw, window_start(bench), 1, READING));
}

static void a_type_1_window_is_not_zero_based(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = fixture_mw(test, bench->pd, IB_MW_TYPE_1);
	struct roce_binding binding = binding_of(bench, mw);

	binding.access |= IB_ZERO_BASED;
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), -EINVAL);
}

static void a_window_lies_within_its_region(struct kunit *test)
{
	static const struct {
		s64 begin;
		u64 length;
	} ranges[] = {
		{ -1, 1 }, { -1, 2 }, { SIZE, 1 }, { SIZE - 1, 2 }, { 0, SIZE + 1 },
		{ 0, U64_MAX }, { 1, U64_MAX }, { SIZE - 1, U64_MAX },
	};
	struct bench *bench = test->priv;
	struct roce_mw *mw = fixture_mw(test, bench->pd, IB_MW_TYPE_2);
	struct roce_binding binding = binding_of(bench, mw);
	int i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		binding.address = (uintptr_t)bench->memory + ranges[i].begin;
		binding.length = ranges[i].length;
		KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), -EINVAL);
	}
	binding.address = (uintptr_t)bench->memory;
	binding.length = SIZE;
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), 0);
}

static void a_region_must_have_the_rights_for_its_windows(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = fixture_mw(test, bench->pd, IB_MW_TYPE_2);
	struct roce_binding binding = binding_of(bench, mw);

	bench->mr->access = IB_ACCESS_LOCAL_WRITE;
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), -EINVAL);
	bench->mr->access = IB_ACCESS_MW_BIND;
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), -EINVAL);
	bench->mr->access = IB_ACCESS_MW_BIND | IB_ACCESS_LOCAL_WRITE | IB_ZERO_BASED;
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), -EINVAL);

	/* A window for reading needs no other rights of the region. */
	bench->mr->access = IB_ACCESS_MW_BIND;
	binding.access = READING;
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), 0);
}

static void a_bind_with_a_wrong_key_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = fixture_mw(test, bench->pd, IB_MW_TYPE_1);
	struct roce_binding good = binding_of(bench, mw), bad = good;

	bad.window_key ^= 1;
	KUNIT_EXPECT_EQ(test, bind(&bad, bench->qp), -EINVAL);
	bad.window_key = bench->mr->ibmr.rkey;
	KUNIT_EXPECT_EQ(test, bind(&bad, bench->qp), -EINVAL);
	bad = good;
	bad.new_key ^= BIT(ROCE_KEY_INDEX_SHIFT);
	KUNIT_EXPECT_EQ(test, bind(&bad, bench->qp), -EINVAL);
	bad = good;
	bad.region_key ^= 1;
	KUNIT_EXPECT_EQ(test, bind(&bad, bench->qp), -EINVAL);
	bad.region_key = mw->key.value;
	KUNIT_EXPECT_EQ(test, bind(&bad, bench->qp), -EINVAL);
	bad = good;
	bad.access |= IB_ACCESS_MW_BIND;
	KUNIT_EXPECT_EQ(test, bind(&bad, bench->qp), -EINVAL);
	KUNIT_EXPECT_EQ(test, bench->mr->windows, 0);
	KUNIT_EXPECT_EQ(test, bind(&good, bench->qp), 0);
}

static void a_region_with_windows_is_not_deregistered(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = bound_window(test, IB_MW_TYPE_2);

	KUNIT_EXPECT_EQ(test, roce_dereg_mr(&bench->mr->ibmr, NULL), -EBUSY);
	KUNIT_EXPECT_TRUE(test, allowed(bench, mw, window_start(bench), 1, READING));
	KUNIT_EXPECT_EQ(test, invalidate(mw, bench->qp), 0);
	KUNIT_EXPECT_EQ(test, bench->mr->windows, 0);
}

static void deallocating_a_window_releases_its_region(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct roce_mw *mw = kunit_kzalloc(test, sizeof(*mw), GFP_KERNEL);
	struct roce_binding binding;
	u32 key;

	KUNIT_ASSERT_NOT_NULL(test, mw);
	mw->ibmw.device = &bench->dev->ibdev;
	mw->ibmw.pd = &bench->pd->ibpd;
	mw->ibmw.type = IB_MW_TYPE_2;
	KUNIT_ASSERT_EQ(test, roce_alloc_mw(&mw->ibmw, NULL), 0);
	binding = binding_of(bench, mw);
	KUNIT_EXPECT_EQ(test, bind(&binding, bench->qp), 0);
	KUNIT_EXPECT_EQ(test, bench->mr->windows, 1);
	key = mw->key.value;
	KUNIT_EXPECT_EQ(test, roce_dealloc_mw(&mw->ibmw), 0);
	KUNIT_EXPECT_EQ(test, bench->mr->windows, 0);
	KUNIT_EXPECT_FALSE(test, key_allows(bench->pd, bench->qp, key,
					    window_start(bench), 1, READING));
}

static struct roce_qp *new_qp(struct kunit *test, struct bench *bench)
{
	struct fixture_qp_attr attr = {
		.type = IB_QPT_RC,
		.send_cq = fixture_cq(test, bench->dev, 4),
		.recv_cq = fixture_cq(test, bench->dev, 4),
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
	};

	return fixture_qp(test, bench->pd, &attr);
}

static int make_bench(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->dev = fixture_device(test);
	bench->pd = fixture_pd(test, bench->dev);
	bench->qp = new_qp(test, bench);
	bench->other_qp = new_qp(test, bench);
	bench->memory = fixture_buffer(test, SIZE);
	memset(bench->memory, 0, SIZE);
	bench->mr = fixture_dma_mr(test, bench->pd,
				   IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND);
	bench->mr->iova = (uintptr_t)bench->memory;
	bench->mr->length = SIZE;
	test->priv = bench;
	return 0;
}

static struct kunit_case mw_cases[] = {
	KUNIT_CASE(a_new_window_grants_no_access),
	KUNIT_CASE(exactly_the_bytes_of_a_window_are_accessible),
	KUNIT_CASE(a_window_grants_its_own_rights),
	KUNIT_CASE(bytes_go_where_the_window_is),
	KUNIT_CASE(a_zero_based_window_begins_at_0),
	KUNIT_CASE(only_peers_can_use_a_window),
	KUNIT_CASE(type_1_serves_all_qps_and_type_2_the_one_that_bound_it),
	KUNIT_CASE(another_protection_domain_is_refused),
	KUNIT_CASE(binding_makes_the_old_key_stale),
	KUNIT_CASE(a_bind_of_length_0_unbinds_a_type_1_window),
	KUNIT_CASE(a_type_2_window_is_bound_once_and_invalidated_by_its_qp),
	KUNIT_CASE(a_type_2_window_is_not_bound_with_length_0),
	KUNIT_CASE(a_type_1_window_is_not_invalidated),
	KUNIT_CASE(a_type_1_window_is_not_zero_based),
	KUNIT_CASE(a_window_lies_within_its_region),
	KUNIT_CASE(a_region_must_have_the_rights_for_its_windows),
	KUNIT_CASE(a_bind_with_a_wrong_key_is_refused),
	KUNIT_CASE(a_region_with_windows_is_not_deregistered),
	KUNIT_CASE(deallocating_a_window_releases_its_region),
	{}
};

static struct kunit_suite mw_suite = {
	.name = "roce_mw",
	.init = make_bench,
	.test_cases = mw_cases,
};

kunit_test_suite(mw_suite);
