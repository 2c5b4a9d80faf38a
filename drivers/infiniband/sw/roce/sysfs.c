// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attributes of /sys/class/infiniband/X that the core does not provide. Monitoring
 * programs read hca_type and board_id of RDMA cards; some of them skip a device
 * without these files.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "device.h"
#include "path.h"
#include "reorder.h"
#include "verbs.h"

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

static struct roce_device *from_device(struct device *device)
{
	return rdma_device_to_drv_device(device, struct roce_device, ibdev);
}

/* Name of the netdev; rdma_rxe has this file, too. */
static ssize_t parent_show(struct device *device, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n", from_device(device)->netdev->name);
}
static DEVICE_ATTR_RO(parent);

static ssize_t reordering_us_show(struct device *device,
				  struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(from_device(device)->reordering_us));
}

static ssize_t reordering_us_store(struct device *device,
				   struct device_attribute *attr, const char *text,
				   size_t length)
{
	u32 value;
	int err;

	err = kstrtou32(text, 0, &value);
	if (err)
		return err;
	if (value > ROCE_REORDERING_MAX_US)
		return -ERANGE;
	WRITE_ONCE(from_device(device)->reordering_us, value);
	return length;
}
static DEVICE_ATTR_RW(reordering_us);

static const char * const loss_recoveries[] = {
	[ROCE_GO_BACK_N] = "go-back-n",
	[ROCE_TOLERATE] = "tolerate",
	[ROCE_SELECTIVE] = "selective",
};

static ssize_t loss_recovery_show(struct device *device,
				  struct device_attribute *attr, char *buf)
{
	u8 value = READ_ONCE(from_device(device)->loss_recovery);

	return sysfs_emit(buf, "%s\n", loss_recoveries[value]);
}

static ssize_t loss_recovery_store(struct device *device,
				   struct device_attribute *attr, const char *text,
				   size_t length)
{
	int value = sysfs_match_string(loss_recoveries, text);

	if (value < 0)
		return value;
	WRITE_ONCE(from_device(device)->loss_recovery, value);
	return length;
}
static DEVICE_ATTR_RW(loss_recovery);

static ssize_t paths_show(struct device *device, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(from_device(device)->paths));
}

static ssize_t paths_store(struct device *device, struct device_attribute *attr,
			   const char *text, size_t length)
{
	u32 value;
	int err;

	err = kstrtou32(text, 0, &value);
	if (err)
		return err;
	if (!value || value > ROCE_MAX_PATHS)
		return -ERANGE;
	WRITE_ONCE(from_device(device)->paths, value);
	return length;
}
static DEVICE_ATTR_RW(paths);

static struct attribute *attributes[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	&dev_attr_parent.attr,
	&dev_attr_reordering_us.attr,
	&dev_attr_loss_recovery.attr,
	&dev_attr_paths.attr,
	NULL
};

const struct attribute_group roce_device_group = {
	.attrs = attributes,
};
