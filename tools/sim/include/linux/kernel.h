/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SIM_LINUX_KERNEL_H
#define SIM_LINUX_KERNEL_H

#define READ_ONCE(x) (x)

#endif /* SIM_LINUX_KERNEL_H */
