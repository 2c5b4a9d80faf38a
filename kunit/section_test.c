// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Destroying an object waits for the sections that use it, and for nothing else. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>

#include "fixture.h"
#include "section.h"

#define PATIENCE	60	/* seconds until a missing event is a failure */

/**
 * struct visit - a CPU in a section, and a thread that waits for it
 * @entered: the CPU is in its section
 * @may_leave: it should leave
 * @left: it has left
 * @over: the wait has ended
 * @left_before: @left at the end of the wait
 */
struct visit {
	struct completion entered;
	bool may_leave;
	bool left;
	struct completion over;
	bool left_before;
};

static void wait_until_told(const struct visit *visit)
{
	while (!READ_ONCE(visit->may_leave))
		cpu_relax();
}

/* The end of a nested section is not the end. */
static int stay(void *context)
{
	struct visit *visit = context;

	local_bh_disable();
	roce_section_enter();
	roce_section_enter();
	roce_section_leave();
	complete(&visit->entered);
	wait_until_told(visit);
	WRITE_ONCE(visit->left, true);
	roce_section_leave();
	local_bh_enable();
	return 0;
}

static int wait(void *context)
{
	struct visit *visit = context;

	roce_section_wait();
	visit->left_before = READ_ONCE(visit->left);
	complete(&visit->over);
	return 0;
}

static void start(struct kunit *test, int (*function)(void *), void *context,
		  int cpu)
{
	struct task_struct *task = kthread_create(function, context, "roce-section");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	kthread_bind(task, cpu);
	wake_up_process(task);
}

static void a_section_is_waited_for(struct kunit *test)
{
	static struct visit visit;
	int here, there;

	if (num_online_cpus() < 2)
		kunit_skip(test, "takes two CPUs");
	here = cpumask_first(cpu_online_mask);
	there = cpumask_next(here, cpu_online_mask);
	init_completion(&visit.entered);
	init_completion(&visit.over);

	start(test, stay, &visit, there);
	wait_for_completion(&visit.entered);
	start(test, wait, &visit, here);
	/* Long enough for a call that does not wait */
	msleep(50);
	KUNIT_EXPECT_FALSE(test, completion_done(&visit.over));
	WRITE_ONCE(visit.may_leave, true);
	wait_for_completion(&visit.over);
	KUNIT_EXPECT_TRUE(test, visit.left_before);
}

static void without_sections_there_is_no_wait(struct kunit *test)
{
	local_bh_disable();
	roce_section_enter();
	roce_section_leave();
	local_bh_enable();
	roce_section_wait();
}

/**
 * struct belongings - one object of each kind, and a thread that destroys them
 * @ibmr: a region
 * @mw: a window
 * @qp: a QP
 * @gone: all objects are destroyed
 */
struct belongings {
	struct ib_mr *ibmr;
	struct roce_mw mw;
	struct roce_qp qp;
	struct completion gone;
};

static void make_objects(struct kunit *test, struct belongings *own)
{
	struct roce_device *dev = fixture_device(test);
	struct roce_pd *pd = fixture_pd(test, dev);
	struct roce_cq *cq = fixture_cq(test, dev, 1);
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.send_cq = &cq->ibcq,
		.recv_cq = &cq->ibcq,
		.cap = {
			.max_send_wr = 1, .max_send_sge = 1,
			.max_recv_wr = 1, .max_recv_sge = 1,
		},
	};

	own->ibmr = roce_get_dma_mr(&pd->ibpd, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, own->ibmr);
	own->mw.ibmw.device = &dev->ibdev;
	own->mw.ibmw.pd = &pd->ibpd;
	own->mw.ibmw.type = IB_MW_TYPE_1;
	KUNIT_ASSERT_EQ(test, roce_alloc_mw(&own->mw.ibmw, NULL), 0);
	own->qp.ibqp.device = &dev->ibdev;
	own->qp.ibqp.pd = &pd->ibpd;
	own->qp.ibqp.qp_type = init.qp_type;
	own->qp.ibqp.send_cq = init.send_cq;
	own->qp.ibqp.recv_cq = init.recv_cq;
	KUNIT_ASSERT_EQ(test, roce_create_qp(&own->qp.ibqp, &init, NULL), 0);
}

static int destroy(void *context)
{
	struct belongings *own = context;

	roce_dereg_mr(own->ibmr, NULL);
	roce_dealloc_mw(&own->mw.ibmw);
	roce_destroy_qp(&own->qp.ibqp, NULL);
	complete(&own->gone);
	return 0;
}

/* Neither a normal nor an expedited grace period can end meanwhile. */
static int read_under_rcu(void *context)
{
	struct visit *visit = context;

	rcu_read_lock();
	complete(&visit->entered);
	wait_until_told(visit);
	rcu_read_unlock();
	complete(&visit->over);
	return 0;
}

static void destroying_objects_does_not_wait_for_a_grace_period(struct kunit *test)
{
	struct belongings *own = kunit_kzalloc(test, sizeof(*own), GFP_KERNEL);
	static struct visit reader;
	int here, there;
	bool in_time;

	if (num_online_cpus() < 2)
		kunit_skip(test, "takes two CPUs");
	here = cpumask_first(cpu_online_mask);
	there = cpumask_next(here, cpu_online_mask);
	init_completion(&reader.entered);
	init_completion(&reader.over);
	KUNIT_ASSERT_NOT_NULL(test, own);
	init_completion(&own->gone);
	make_objects(test, own);

	start(test, read_under_rcu, &reader, there);
	wait_for_completion(&reader.entered);
	start(test, destroy, own, here);
	in_time = wait_for_completion_timeout(&own->gone, PATIENCE * HZ);
	WRITE_ONCE(reader.may_leave, true);
	wait_for_completion(&reader.over);
	KUNIT_EXPECT_TRUE(test, in_time);
	if (!in_time)
		wait_for_completion(&own->gone);
}

static struct kunit_case section_cases[] = {
	KUNIT_CASE(a_section_is_waited_for),
	KUNIT_CASE(without_sections_there_is_no_wait),
	KUNIT_CASE(destroying_objects_does_not_wait_for_a_grace_period),
	{}
};

static struct kunit_suite section_suite = {
	.name = "roce_section",
	.test_cases = section_cases,
};

kunit_test_suite(section_suite);
