// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device has a maximum number of objects of each kind. A refused object is not counted,
 * and a destroyed one makes room for another.
 */
#include "fixture.h"

/**
 * struct shop - the environment of new objects
 * @test: the test
 * @dev: the device
 * @pd: of all objects that need one
 * @cq: of all queues that need one
 * @object: the latest object, of any kind
 */
struct shop {
	struct kunit *test;
	struct roce_device *dev;
	struct roce_pd *pd;
	struct roce_cq *cq;
	void *object;
};

static struct shop *open_shop(struct kunit *test)
{
	struct shop *shop = kunit_kzalloc(test, sizeof(*shop), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, shop);
	shop->test = test;
	shop->dev = fixture_device(test);
	shop->pd = fixture_pd(test, shop->dev);
	shop->cq = fixture_cq(test, shop->dev, 4);
	return shop;
}

/* Allocate an object like the core does before it calls the driver. */
static void *new_object(struct shop *shop, size_t size)
{
	shop->object = kunit_kzalloc(shop->test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(shop->test, shop->object);
	return shop->object;
}

static void expect_limit(struct shop *shop, atomic_t *count, int limit,
			 int (*create)(struct shop *shop),
			 int (*destroy)(struct shop *shop))
{
	int before = atomic_read(count);

	atomic_set(count, limit);
	KUNIT_EXPECT_EQ(shop->test, create(shop), -ENOMEM);
	KUNIT_EXPECT_EQ(shop->test, atomic_read(count), limit);

	atomic_set(count, limit - 1);
	KUNIT_ASSERT_EQ(shop->test, create(shop), 0);
	KUNIT_EXPECT_EQ(shop->test, atomic_read(count), limit);
	KUNIT_EXPECT_EQ(shop->test, destroy(shop), 0);
	KUNIT_EXPECT_EQ(shop->test, atomic_read(count), limit - 1);
	atomic_set(count, before);
}

static int create_pd(struct shop *shop)
{
	struct roce_pd *pd = new_object(shop, sizeof(*pd));

	pd->ibpd.device = &shop->dev->ibdev;
	return roce_alloc_pd(&pd->ibpd, NULL);
}

static int destroy_pd(struct shop *shop)
{
	struct roce_pd *pd = shop->object;

	return roce_dealloc_pd(&pd->ibpd, NULL);
}

static void protection_domains_are_limited(struct kunit *test)
{
	struct shop *shop = open_shop(test);

	expect_limit(shop, &shop->dev->objects.pd, ROCE_MAX_PD, create_pd,
		     destroy_pd);
}

static int create_cq(struct shop *shop)
{
	struct ib_cq_init_attr attr = { .cqe = 4 };
	struct roce_cq *cq = new_object(shop, sizeof(*cq));

	cq->ibcq.device = &shop->dev->ibdev;
	return roce_create_cq(&cq->ibcq, &attr, NULL);
}

static int destroy_cq(struct shop *shop)
{
	struct roce_cq *cq = shop->object;

	return roce_destroy_cq(&cq->ibcq, NULL);
}

static void completion_queues_are_limited(struct kunit *test)
{
	struct shop *shop = open_shop(test);

	expect_limit(shop, &shop->dev->objects.cq, ROCE_MAX_CQ, create_cq,
		     destroy_cq);
}

static int create_srq(struct shop *shop)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct roce_srq *srq = new_object(shop, sizeof(*srq));

	srq->ibsrq.device = &shop->dev->ibdev;
	srq->ibsrq.pd = &shop->pd->ibpd;
	return roce_create_srq(&srq->ibsrq, &init, NULL);
}

static int destroy_srq(struct shop *shop)
{
	struct roce_srq *srq = shop->object;

	return roce_destroy_srq(&srq->ibsrq, NULL);
}

static void shared_receive_queues_are_limited(struct kunit *test)
{
	struct shop *shop = open_shop(test);

	expect_limit(shop, &shop->dev->objects.srq, ROCE_MAX_SRQ, create_srq,
		     destroy_srq);
}

static int create_mr(struct shop *shop)
{
	struct ib_mr *ibmr = roce_alloc_mr(&shop->pd->ibpd, IB_MR_TYPE_MEM_REG, 4);

	shop->object = ibmr;
	return PTR_ERR_OR_ZERO(ibmr);
}

static int destroy_mr(struct shop *shop)
{
	return roce_dereg_mr(shop->object, NULL);
}

static void memory_regions_are_limited(struct kunit *test)
{
	struct shop *shop = open_shop(test);

	expect_limit(shop, &shop->dev->objects.mr, ROCE_MAX_MR, create_mr,
		     destroy_mr);
}

static int create_mw(struct shop *shop)
{
	struct roce_mw *mw = new_object(shop, sizeof(*mw));

	mw->ibmw.device = &shop->dev->ibdev;
	mw->ibmw.pd = &shop->pd->ibpd;
	mw->ibmw.type = IB_MW_TYPE_2;
	return roce_alloc_mw(&mw->ibmw, NULL);
}

static int destroy_mw(struct shop *shop)
{
	struct roce_mw *mw = shop->object;

	return roce_dealloc_mw(&mw->ibmw);
}

static void memory_windows_are_limited(struct kunit *test)
{
	struct shop *shop = open_shop(test);

	expect_limit(shop, &shop->dev->objects.mw, ROCE_MAX_MW, create_mw,
		     destroy_mw);
}

static int create_qp(struct shop *shop)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.send_cq = &shop->cq->ibcq,
		.recv_cq = &shop->cq->ibcq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.port_num = 1,
	};
	struct roce_qp *qp = new_object(shop, sizeof(*qp));

	qp->ibqp.device = &shop->dev->ibdev;
	qp->ibqp.pd = &shop->pd->ibpd;
	qp->ibqp.qp_type = init.qp_type;
	qp->ibqp.send_cq = init.send_cq;
	qp->ibqp.recv_cq = init.recv_cq;
	return roce_create_qp(&qp->ibqp, &init, NULL);
}

static int destroy_qp(struct shop *shop)
{
	struct roce_qp *qp = shop->object;

	return roce_destroy_qp(&qp->ibqp, NULL);
}

static void queue_pairs_are_limited(struct kunit *test)
{
	struct shop *shop = open_shop(test);

	expect_limit(shop, &shop->dev->objects.qp, ROCE_MAX_QP, create_qp,
		     destroy_qp);
}

static struct kunit_case objects_cases[] = {
	KUNIT_CASE(protection_domains_are_limited),
	KUNIT_CASE(completion_queues_are_limited),
	KUNIT_CASE(shared_receive_queues_are_limited),
	KUNIT_CASE(memory_regions_are_limited),
	KUNIT_CASE(memory_windows_are_limited),
	KUNIT_CASE(queue_pairs_are_limited),
	{}
};

static struct kunit_suite objects_suite = {
	.name = "roce_objects",
	.test_cases = objects_cases,
};

kunit_test_suite(objects_suite);
