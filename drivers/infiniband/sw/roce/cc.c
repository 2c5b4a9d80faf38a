// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The list of algorithms, and the folder cc of a device, in which an algorithm is
 * chosen and parameters are set: Documentation/ABI/sysfs-class-infiniband-roce.
 *
 * Each device has its own parameters of each algorithm, even of those that are not
 * in use. A device holds a reference to the module of the algorithm for new QPs,
 * and each QP holds one to the module of its own. So an algorithm is not in use
 * when it is unregistered.
 */
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rtnetlink.h>

#include "cc.h"
#include "cc_parameters.h"
#include "congestion.h"
#include "dcqcn.h"
#include "device.h"

/* Line rate of a port of unknown speed: 10 Gbit/s */
#define UNKNOWN_LINE_RATE	(10ull * 1000 * 1000 * 1000)

static LIST_HEAD(algorithms);
static LIST_HEAD(devices);
static DEFINE_MUTEX(cc_lock);	/* of both lists, and of each device's algorithms */

/* Data is neither delayed nor marked as ECN-capable: its sender would not react. */
static struct roce_cc_ops none = {
	.name = "none",
};

static const struct roce_cc_parameter np_parameters[ROCE_NP_PARAMETER_COUNT] = {
	[ROCE_NP_MIN_TIME_BETWEEN_CNPS] = { "min_time_between_cnps", 0, 4095, 50 },
	[ROCE_NP_CNP_DSCP] = { "cnp_dscp", 0, 63, 48 },
	[ROCE_NP_CNP_802P_PRIO] = { "cnp_802p_prio", 0, 7, 6 },
};

static struct roce_cc_parameters *find_algorithm(const struct roce_device *dev,
						 const char *name)
{
	struct roce_cc_parameters *algorithm;

	lockdep_assert_held(&cc_lock);
	list_for_each_entry(algorithm, &dev->congestion.algorithms, node)
		if (sysfs_streq(name, algorithm->ops->name))
			return algorithm;
	return NULL;
}

static int add_algorithm(struct roce_device *dev, const struct roce_cc_ops *ops)
{
	struct roce_congestion *congestion = &dev->congestion;
	struct roce_cc_parameters *algorithm;
	int err = 0;

	algorithm = roce_cc_parameters_new(ops, ops->parameters, ops->parameter_count);
	if (!algorithm)
		return -ENOMEM;
	if (congestion->folder)
		err = roce_cc_parameters_publish(algorithm, congestion->folder, ops->name);
	/* -ENOENT: the device is being unregistered, its files are gone. */
	if (err && err != -ENOENT) {
		roce_cc_parameters_drop(algorithm);
		return err;
	}
	list_add_tail(&algorithm->node, &congestion->algorithms);
	return 0;
}

static void remove_algorithm(struct roce_device *dev,
			     const struct roce_cc_ops *ops)
{
	struct roce_cc_parameters *algorithm = find_algorithm(dev, ops->name);

	if (!algorithm)
		return;
	list_del(&algorithm->node);
	roce_cc_parameters_drop(algorithm);
}

/* Returns -ENOENT for an unknown algorithm. */
static int select_algorithm(struct roce_device *dev, const char *name)
{
	struct roce_cc_parameters *algorithm, *before;
	int err = -ENOENT;

	mutex_lock(&cc_lock);
	before = dev->congestion.selected;
	algorithm = find_algorithm(dev, name);
	if (algorithm && try_module_get(algorithm->ops->owner)) {
		dev->congestion.selected = algorithm;
		if (before)
			module_put(before->ops->owner);
		err = 0;
	}
	mutex_unlock(&cc_lock);
	return err;
}

/**
 * roce_cc_get() - get the algorithm for a new QP
 * @dev: the device
 *
 * Process context.
 *
 * Return: its parameters on @dev, valid until roce_cc_put().
 */
const struct roce_cc_parameters *roce_cc_get(struct roce_device *dev)
{
	const struct roce_cc_parameters *selected;

	mutex_lock(&cc_lock);
	selected = dev->congestion.selected;
	/* The device holds a reference, so this cannot fail. */
	__module_get(selected->ops->owner);
	mutex_unlock(&cc_lock);
	return selected;
}

/**
 * roce_cc_put() - release the algorithm of a QP
 * @algorithm: returned by roce_cc_get()
 */
void roce_cc_put(const struct roce_cc_parameters *algorithm)
{
	module_put(algorithm->ops->owner);
}

/**
 * roce_cc_register() - register an algorithm
 * @ops: valid until roce_cc_unregister(); with a unique name
 *
 * Process context. Each device gets the folder cc/NAME with its parameters.
 *
 * Return: 0, -EEXIST or -ENOMEM.
 */
int roce_cc_register(struct roce_cc_ops *ops)
{
	struct roce_cc_ops *other;
	struct roce_device *dev;
	int err = 0;

	mutex_lock(&cc_lock);
	list_for_each_entry(other, &algorithms, node)
		if (!strcmp(other->name, ops->name))
			err = -EEXIST;
	if (err)
		goto unlock;

	list_for_each_entry(dev, &devices, congestion.node) {
		err = add_algorithm(dev, ops);
		if (err)
			break;
	}
	if (err)
		list_for_each_entry(dev, &devices, congestion.node)
			remove_algorithm(dev, ops);
	else
		list_add_tail(&ops->node, &algorithms);
unlock:
	mutex_unlock(&cc_lock);
	return err;
}
EXPORT_SYMBOL_GPL(roce_cc_register);

/**
 * roce_cc_unregister() - undo roce_cc_register()
 * @ops: of a module without references
 *
 * Process context.
 */
void roce_cc_unregister(struct roce_cc_ops *ops)
{
	struct roce_device *dev;

	mutex_lock(&cc_lock);
	list_for_each_entry(dev, &devices, congestion.node)
		remove_algorithm(dev, ops);
	list_del(&ops->node);
	mutex_unlock(&cc_lock);
}
EXPORT_SYMBOL_GPL(roce_cc_unregister);

/* --- the folder cc of a device --- */

static struct roce_device *folder_device(struct kobject *folder)
{
	return to_roce_device(container_of(kobj_to_dev(folder->parent),
					   struct ib_device, dev));
}

static ssize_t algorithm_show(struct kobject *folder,
			      struct kobj_attribute *file, char *buffer)
{
	struct roce_device *dev = folder_device(folder);
	ssize_t length;

	mutex_lock(&cc_lock);
	length = sysfs_emit(buffer, "%s\n", dev->congestion.selected->ops->name);
	mutex_unlock(&cc_lock);
	return length;
}

static ssize_t algorithm_store(struct kobject *folder,
			       struct kobj_attribute *file, const char *text,
			       size_t length)
{
	struct roce_device *dev = folder_device(folder);
	char name[32];
	int err;

	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	err = select_algorithm(dev, name);
	if (err && capable(CAP_SYS_MODULE)) {
		request_module("roce-cc-%s", strim(name));
		err = select_algorithm(dev, name);
	}
	return err ?: length;
}

static ssize_t available_algorithms_show(struct kobject *folder,
					 struct kobj_attribute *file,
					 char *buffer)
{
	struct roce_cc_ops *ops;
	int length = 0;

	mutex_lock(&cc_lock);
	list_for_each_entry(ops, &algorithms, node)
		length += sysfs_emit_at(buffer, length, "%s%s",
					length ? " " : "", ops->name);
	mutex_unlock(&cc_lock);
	return length + sysfs_emit_at(buffer, length, "\n");
}

static ssize_t priorities_show(struct kobject *folder,
			       struct kobj_attribute *file, char *buffer)
{
	return sysfs_emit(buffer, "%u\n",
			  READ_ONCE(folder_device(folder)->congestion.priorities));
}

static ssize_t priorities_store(struct kobject *folder,
				struct kobj_attribute *file, const char *text,
				size_t length)
{
	u8 mask;
	int err;

	err = kstrtou8(text, 0, &mask);
	if (err)
		return err;
	WRITE_ONCE(folder_device(folder)->congestion.priorities, mask);
	return length;
}

static struct kobj_attribute algorithm_file = __ATTR_RW(algorithm);
static struct kobj_attribute available_algorithms_file =
	__ATTR_RO(available_algorithms);
static struct kobj_attribute priorities_file = __ATTR_RW(priorities);

static const struct attribute *folder_files[] = {
	&algorithm_file.attr,
	&available_algorithms_file.attr,
	&priorities_file.attr,
	NULL
};

/**
 * roce_cc_device_init() - give a device all algorithms, and select DCQCN
 * @dev: new
 *
 * Process context.
 *
 * Return: 0, or -ENOMEM; after an error there is nothing to destroy.
 */
int roce_cc_device_init(struct roce_device *dev)
{
	struct roce_congestion *congestion = &dev->congestion;
	struct roce_cc_ops *ops;
	int err = 0;

	INIT_LIST_HEAD(&congestion->algorithms);
	congestion->priorities = U8_MAX;
	congestion->line_rate = UNKNOWN_LINE_RATE;
	congestion->np = roce_cc_parameters_new(NULL, np_parameters,
						ROCE_NP_PARAMETER_COUNT);

	mutex_lock(&cc_lock);
	list_add_tail(&congestion->node, &devices);
	list_for_each_entry(ops, &algorithms, node)
		err = err ?: add_algorithm(dev, ops);
	mutex_unlock(&cc_lock);

	err = err ?: select_algorithm(dev, roce_dcqcn.name);
	if (!congestion->np)
		err = -ENOMEM;
	if (err)
		roce_cc_device_destroy(dev);
	return err;
}

static int publish_folder(struct roce_device *dev, struct kobject *folder)
{
	struct roce_congestion *congestion = &dev->congestion;
	struct roce_cc_parameters *algorithm;
	int err;

	err = roce_cc_parameters_publish(congestion->np, folder, "np");
	list_for_each_entry(algorithm, &congestion->algorithms, node)
		err = err ?: roce_cc_parameters_publish(algorithm, folder,
							algorithm->ops->name);
	return err ?: sysfs_create_files(folder, folder_files);
}

/**
 * roce_cc_device_publish() - create the folder cc of a device in sysfs
 * @dev: registered; it may be unregistered concurrently
 *
 * Process context. The folder goes with the device.
 *
 * Return: 0, -ENODEV, or another negative errno.
 */
int roce_cc_device_publish(struct roce_device *dev)
{
	struct roce_congestion *congestion = &dev->congestion;
	int err = -ENODEV;

	/* The folder above must not go meanwhile. */
	if (!ib_device_try_get(&dev->ibdev))
		return -ENODEV;
	mutex_lock(&cc_lock);
	if (!congestion->np)
		goto unlock;
	err = -ENOMEM;
	congestion->folder = kobject_create_and_add("cc", &dev->ibdev.dev.kobj);
	if (congestion->folder)
		err = publish_folder(dev, congestion->folder);
unlock:
	mutex_unlock(&cc_lock);
	ib_device_put(&dev->ibdev);
	return err;
}

/**
 * roce_cc_device_destroy() - undo init and publish
 * @dev: without QPs, and in no table
 *
 * Process context.
 */
void roce_cc_device_destroy(struct roce_device *dev)
{
	struct roce_congestion *congestion = &dev->congestion;
	struct roce_cc_parameters *algorithm, *next, *np;
	struct kobject *folder;
	LIST_HEAD(gone);

	mutex_lock(&cc_lock);
	list_del(&congestion->node);
	list_splice_init(&congestion->algorithms, &gone);
	np = congestion->np;
	congestion->np = NULL;
	folder = congestion->folder;
	congestion->folder = NULL;
	mutex_unlock(&cc_lock);

	/* Without the lock: writers of these files take it. */
	if (congestion->selected)
		module_put(congestion->selected->ops->owner);
	list_for_each_entry_safe(algorithm, next, &gone, node)
		roce_cc_parameters_drop(algorithm);
	if (np)
		roce_cc_parameters_drop(np);
	if (folder) {
		kobject_del(folder);
		kobject_put(folder);
	}
}

/**
 * roce_cc_set_line_rate() - take over the speed of the netdev
 * @dev: the device
 *
 * Under the RTNL, without the lock of the netdev. Only new connections use the new rate.
 */
void roce_cc_set_line_rate(struct roce_device *dev)
{
	u64 rate = UNKNOWN_LINE_RATE;
	struct ethtool_link_ksettings settings;

	if (!__ethtool_get_link_ksettings(dev->netdev, &settings) &&
	    settings.base.speed && settings.base.speed != (u32)SPEED_UNKNOWN)
		rate = settings.base.speed * 1000000ull;
	WRITE_ONCE(dev->congestion.line_rate, min(rate, ROCE_CC_MAX_RATE));
}

/** roce_cc_init() - register the built-in algorithms */
int roce_cc_init(void)
{
	return roce_cc_register(&roce_dcqcn) ?: roce_cc_register(&none);
}

/** roce_cc_exit() - unregister them, after all devices are gone */
void roce_cc_exit(void)
{
	roce_cc_unregister(&none);
	roce_cc_unregister(&roce_dcqcn);
}
