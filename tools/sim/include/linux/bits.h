/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SIM_LINUX_BITS_H
#define SIM_LINUX_BITS_H

#define BIT(n) (1ul << (n))

#endif /* SIM_LINUX_BITS_H */
