/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SIM_LINUX_TIME64_H
#define SIM_LINUX_TIME64_H

#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L

#endif /* SIM_LINUX_TIME64_H */
