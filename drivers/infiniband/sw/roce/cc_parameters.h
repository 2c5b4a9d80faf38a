/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_CC_PARAMETERS_H
#define ROCE_CC_PARAMETERS_H

#include <linux/kobject.h>

#include "cc.h"

/**
 * struct roce_cc_parameters - values of parameters, and their folder in sysfs
 * @kobj: the folder; its release frees this structure
 * @node: in &roce_congestion.algorithms
 * @ops: their algorithm; NULL for the notification point
 * @table: names and ranges
 * @count: number of parameters
 * @files: one for each parameter
 * @value: one for each parameter; sysfs writes them, others read them at any time
 */
struct roce_cc_parameters {
	struct kobject kobj;
	struct list_head node;
	const struct roce_cc_ops *ops;
	const struct roce_cc_parameter *table;
	u32 count;
	struct attribute *files;
	u32 value[];
};

struct roce_cc_parameters *
roce_cc_parameters_new(const struct roce_cc_ops *ops,
		       const struct roce_cc_parameter *table, u32 count);
int roce_cc_parameters_publish(struct roce_cc_parameters *parameters,
			       struct kobject *folder, const char *name);
void roce_cc_parameters_drop(struct roce_cc_parameters *parameters);

#endif /* ROCE_CC_PARAMETERS_H */
