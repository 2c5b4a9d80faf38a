// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mistakes that a debug kernel is there to find, made on demand:
 *
 *	echo NAME >/sys/kernel/debug/roce_controls
 *
 * If the harness does not report them, its silence about roce.ko says nothing.
 * Lockdep reports once, and neither it nor RCU's checks work after a report of
 * KASAN: "rcu" and "atomic" come first, then "lockdep", then the others.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define OBJECT 64

static void __rcu *protected;

/* Suspicious RCU usage */
static int use_without_rcu_lock(void)
{
	return !!rcu_dereference(protected);
}

/* A sleeping function called from an invalid context */
static int sleep_in_atomic_context(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
	return 0;
}

/* A possible circular locking dependency */
static int invert_locks(void)
{
	static DEFINE_MUTEX(first);
	static DEFINE_MUTEX(second);

	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
	return 0;
}

/* A use after free */
static int use_after_free(void)
{
	u8 *object = kmalloc(OBJECT, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	kfree(object);
	/* It may be of somebody else by now: it is only read. */
	return READ_ONCE(object[0]) & 1;
}

/* An undefined shift */
static int shift_too_far(void)
{
	static unsigned int bits = 64;

	return (1 << READ_ONCE(bits)) & 1;
}

/* Unreferenced objects: many, for an old pointer to one may lie on some stack. */
static int leak_memory(void)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		if (!kzalloc(OBJECT, GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

static const struct {
	const char *name;
	int (*make)(void);
} mistakes[] = {
	{ "rcu", use_without_rcu_lock },
	{ "atomic", sleep_in_atomic_context },
	{ "lockdep", invert_locks },
	{ "kasan", use_after_free },
	{ "ubsan", shift_too_far },
	{ "leak", leak_memory },
};

static ssize_t controls_write(struct file *file, const char __user *from,
			      size_t length, loff_t *offset)
{
	char name[16] = {};
	unsigned int i;
	int err;

	if (length >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, from, length))
		return -EFAULT;
	strim(name);
	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (strcmp(name, mistakes[i].name))
			continue;
		err = mistakes[i].make();
		return err < 0 ? err : length;
	}
	return -EINVAL;
}

static const struct file_operations controls_fops = {
	.owner = THIS_MODULE,
	.write = controls_write,
};

static struct dentry *controls;

static int __init controls_init(void)
{
	controls = debugfs_create_file("roce_controls", 0200, NULL, NULL,
				       &controls_fops);
	return 0;
}
module_init(controls_init);

static void __exit controls_exit(void)
{
	debugfs_remove(controls);
}
module_exit(controls_exit);

MODULE_DESCRIPTION("Mistakes for the kernel's checks to find");
MODULE_LICENSE("Dual BSD/GPL");
