/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_MCAST_H
#define ROCE_MCAST_H

#include <rdma/ib_verbs.h>

void roce_mcast_receive(struct net *net, struct net_device *netdev,
			struct sk_buff *skb);
int roce_mcast_init(void);
void roce_mcast_exit(void);

int roce_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int roce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif /* ROCE_MCAST_H */
