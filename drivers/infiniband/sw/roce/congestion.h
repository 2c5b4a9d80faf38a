/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_CONGESTION_H
#define ROCE_CONGESTION_H

/*
 * Congestion control of a device: the choice of an algorithm, and parameters. flow.h has
 * the part of QPs, and cc.h the interface of an algorithm.
 */
#include <linux/types.h>

struct kobject;
struct net_device;
struct roce_cc_parameters;
struct roce_device;

/* The parameters of the notification point, named as those of ConnectX */
enum roce_np_parameter {
	ROCE_NP_MIN_TIME_BETWEEN_CNPS,
	ROCE_NP_CNP_DSCP,
	ROCE_NP_CNP_802P_PRIO,
	ROCE_NP_PARAMETER_COUNT,
};

/**
 * struct roce_congestion - congestion control of a device
 * @node: in the list of devices, see cc.c
 * @algorithms: their parameters on this device
 * @selected: the algorithm of new QPs; one of @algorithms
 * @np: parameters of the notification point
 * @folder: cc in sysfs; NULL until the device is registered
 * @priorities: bit mask of the priorities under congestion control
 * @line_rate: of the port, bits per second
 */
struct roce_congestion {
	struct list_head node;
	struct list_head algorithms;
	struct roce_cc_parameters *selected;
	struct roce_cc_parameters *np;
	struct kobject *folder;
	u8 priorities;
	u64 line_rate;
};

int roce_cc_device_init(struct roce_device *dev);
int roce_cc_device_publish(struct roce_device *dev);
void roce_cc_device_destroy(struct roce_device *dev);
void roce_cc_set_line_rate(struct roce_device *dev);
const struct roce_cc_parameters *roce_cc_get(struct roce_device *dev);
void roce_cc_put(const struct roce_cc_parameters *algorithm);
int roce_cc_init(void);
void roce_cc_exit(void);

#endif /* ROCE_CONGESTION_H */
