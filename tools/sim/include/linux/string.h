/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SIM_LINUX_STRING_H
#define SIM_LINUX_STRING_H

#include <string.h>

#endif /* SIM_LINUX_STRING_H */
