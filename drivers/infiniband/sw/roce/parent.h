/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_PARENT_H
#define ROCE_PARENT_H

struct roce_device;

int roce_parent_create(struct roce_device *dev);
void roce_parent_rename(struct roce_device *dev);
void roce_parent_destroy(struct roce_device *dev);
int roce_parent_init(void);
void roce_parent_exit(void);

#endif /* ROCE_PARENT_H */
