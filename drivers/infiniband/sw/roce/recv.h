/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_RECV_H
#define ROCE_RECV_H

#include <linux/types.h>

struct list_head;
struct net;
struct net_device;
struct sk_buff;
struct sock;

void roce_recv(struct net *net, struct sk_buff *skb);
int roce_recv_open(struct net *net);
void roce_recv_close(struct net *net);
int roce_recv_init(void);
void roce_recv_exit(void);

/* gro.c */
struct sk_buff *roce_gro_receive(struct sock *sk, struct list_head *head,
				 struct sk_buff *skb);

/* local_users.c */
int roce_local_users_init(void);
void roce_local_users_exit(void);

#endif /* ROCE_RECV_H */
