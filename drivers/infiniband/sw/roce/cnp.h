/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_CNP_H
#define ROCE_CNP_H

/* Congestion notification packets (annex A17.9.3) */
struct roce_packet;
struct roce_qp;
struct sk_buff;

void roce_cnp_notify(struct roce_qp *qp, struct sk_buff *skb,
		     const struct roce_packet *packet);
void roce_cnp_receive(struct roce_qp *qp, struct sk_buff *skb);

#endif /* ROCE_CNP_H */
