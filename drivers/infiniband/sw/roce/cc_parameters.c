// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Parameters of an algorithm on one device, or of its notification point: numbers
 * with a range, each with a file in sysfs.
 */
#include <linux/slab.h>

#include "cc_parameters.h"
#include "compat.h"

static struct roce_cc_parameters *to_parameters(struct kobject *kobj)
{
	return container_of(kobj, struct roce_cc_parameters, kobj);
}

static void release_parameters(struct kobject *kobj)
{
	struct roce_cc_parameters *parameters = to_parameters(kobj);

	kfree(parameters->files);
	kfree(parameters);
}

static ssize_t show_parameter(struct kobject *kobj, struct attribute *file,
			      char *buffer)
{
	struct roce_cc_parameters *parameters = to_parameters(kobj);

	return sysfs_emit(buffer, "%u\n",
			  READ_ONCE(parameters->value[file - parameters->files]));
}

static ssize_t store_parameter(struct kobject *kobj, struct attribute *file,
			       const char *text, size_t length)
{
	struct roce_cc_parameters *parameters = to_parameters(kobj);
	u32 index = file - parameters->files, value;
	int err;

	err = kstrtou32(text, 0, &value);
	if (err)
		return err;
	if (value < parameters->table[index].minimum ||
	    value > parameters->table[index].maximum)
		return -ERANGE;
	WRITE_ONCE(parameters->value[index], value);
	return length;
}

static const struct sysfs_ops parameter_ops = {
	.show = show_parameter,
	.store = store_parameter,
};

static const struct kobj_type parameters_type = {
	.release = release_parameters,
	.sysfs_ops = &parameter_ops,
};

/**
 * roce_cc_parameters_new() - allocate parameters with their initial values
 * @ops: their algorithm; NULL for the notification point
 * @table: names and ranges
 * @count: number of parameters
 *
 * Process context.
 *
 * Return: the parameters, to be freed by roce_cc_parameters_drop(), or NULL.
 */
struct roce_cc_parameters *
roce_cc_parameters_new(const struct roce_cc_ops *ops,
		       const struct roce_cc_parameter *table, u32 count)
{
	struct roce_cc_parameters *parameters;
	u32 i;

	parameters = kzalloc(struct_size(parameters, value, count), GFP_KERNEL);
	if (!parameters)
		return NULL;
	parameters->files = kcalloc(count, sizeof(*parameters->files), GFP_KERNEL);
	if (!parameters->files) {
		kfree(parameters);
		return NULL;
	}

	parameters->ops = ops;
	parameters->table = table;
	parameters->count = count;
	for (i = 0; i < count; i++) {
		parameters->value[i] = table[i].initial;
		sysfs_attr_init(&parameters->files[i]);
		parameters->files[i].name = table[i].name;
		parameters->files[i].mode = 0644;
	}
	kobject_init(&parameters->kobj, &parameters_type);
	return parameters;
}

/**
 * roce_cc_parameters_publish() - create the files of parameters in sysfs
 * @parameters: without files
 * @folder: parent of their new folder, which exists only if there are parameters
 * @name: of the new folder
 *
 * Process context.
 *
 * Return: 0 or a negative errno; some files may exist then.
 */
int roce_cc_parameters_publish(struct roce_cc_parameters *parameters,
			       struct kobject *folder, const char *name)
{
	u32 i;
	int err;

	if (!parameters->count)
		return 0;
	err = kobject_add(&parameters->kobj, folder, "%s", name);
	for (i = 0; !err && i < parameters->count; i++)
		err = sysfs_create_file(&parameters->kobj, &parameters->files[i]);
	return err;
}

/**
 * roce_cc_parameters_drop() - remove parameters from sysfs and free them
 * @parameters: with or without files
 *
 * Process context. Waits for readers and writers of the files.
 */
void roce_cc_parameters_drop(struct roce_cc_parameters *parameters)
{
	kobject_del(&parameters->kobj);
	kobject_put(&parameters->kobj);
}
