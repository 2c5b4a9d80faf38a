/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_TRAFFIC_H
#define FABRIC_TRAFFIC_H

void traffic_build(void);

#endif /* FABRIC_TRAFFIC_H */
