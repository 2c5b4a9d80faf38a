/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SIM_LINUX_BUILD_BUG_H
#define SIM_LINUX_BUILD_BUG_H

#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)

#endif /* SIM_LINUX_BUILD_BUG_H */
