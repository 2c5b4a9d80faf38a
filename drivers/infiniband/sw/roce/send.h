/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SEND_H
#define ROCE_SEND_H

#include <linux/types.h>

struct roce_av;
struct roce_qp;
struct roce_train;

int roce_send(struct roce_qp *qp, struct roce_av *av, struct roce_train *train);
u16 roce_udp_source_port(const struct roce_av *av, u32 local_qpn, u32 remote_qpn);

#endif /* ROCE_SEND_H */
