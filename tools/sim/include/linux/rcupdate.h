/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SIM_LINUX_RCUPDATE_H
#define SIM_LINUX_RCUPDATE_H

struct rcu_head {
	void *unused;
};

#endif /* SIM_LINUX_RCUPDATE_H */
