// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What /sys/class/infiniband/X tells of a device beside what the core does.
 * Monitoring programs read these two files of RDMA cards; some of them show
 * nothing at all of a device that has none.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "roce.h"

static ssize_t hca_type_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "roce\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "software\n");
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *attributes[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	NULL
};

const struct attribute_group roce_device_group = {
	.attrs = attributes,
};
