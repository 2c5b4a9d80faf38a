// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two threads that count in one variable, without a lock: what KCSAN is there to
 * find. If it does not report this one, its silence about roce.ko says nothing.
 */
#include <linux/kthread.h>
#include <linux/module.h>

static struct task_struct *threads[2];
static u64 counter;

static int count(void *unused)
{
	while (!kthread_should_stop()) {
		counter++;
		cond_resched();
	}
	return 0;
}

static void stop(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR_OR_NULL(threads[i]))
			kthread_stop(threads[i]);
}

static int __init race_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		threads[i] = kthread_run(count, NULL, "race/%d", i);
		if (IS_ERR(threads[i])) {
			stop();
			return PTR_ERR(threads[i]);
		}
	}
	return 0;
}
module_init(race_init);

static void __exit race_exit(void)
{
	stop();
	pr_info("counted to %llu\n", counter);
}
module_exit(race_exit);

MODULE_DESCRIPTION("A data race");
MODULE_LICENSE("Dual BSD/GPL");
