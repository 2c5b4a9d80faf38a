/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_EGRESS_H
#define ROCE_EGRESS_H

#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>

/*
 * The most sk_buffs that a CPU may have in the queues of its host: by default, a qdisc
 * and the backlog of a CPU take 1000.
 */
#define ROCE_EGRESS_LIMIT	256u

/*
 * The most bytes of them, but for a train that begins below: 1.7 ms of a line of
 * 10 Gbit/s, and 42 us of one of 400 Gbit/s.
 */
#define ROCE_EGRESS_BYTES	SZ_2M

struct roce_device;
struct roce_egress;
struct roce_engine;
struct roce_qp;

/**
 * struct roce_turn - one half of a QP in the queue of those that wait to send
 * @egress: the queue where it waits, or waited last
 * @node: in that queue; the engine's owner adds it, the timer removes it
 * @granted: it may send
 * @waited: it had to wait for the latest turn
 */
struct roce_turn {
	struct roce_egress *egress;
	struct list_head node;
	bool granted;
	bool waited;
};

void roce_egress_turn_init(struct roce_turn *turn);
void roce_egress_turn_cancel(struct roce_turn *turn);

int roce_egress_open(struct roce_device *dev);
void roce_egress_close(struct roce_device *dev);
void roce_egress_charge(struct roce_device *dev, struct sk_buff *skb, bool turn);
bool roce_egress_take_turn(struct roce_qp *qp, struct roce_engine *engine);

#endif /* ROCE_EGRESS_H */
