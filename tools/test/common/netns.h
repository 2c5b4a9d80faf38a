/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Network namespaces by their names, as "ip netns" has them. */
#ifndef TEST_NETNS_H
#define TEST_NETNS_H

/* The caller is in that namespace from now on, and its /sys shows it; or it ends. */
void netns_enter(const char *name);

#endif
