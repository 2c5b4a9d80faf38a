/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_REPAIR_H
#define ROCE_REPAIR_H

#include <linux/types.h>

struct roce_packet;
struct roce_qp;
struct roce_requester;
struct roce_scoreboard;

struct roce_scoreboard *roce_repair_board(struct roce_requester *requester);
void roce_repair_learn(struct roce_qp *qp, const struct roce_packet *packet, u32 count);
void roce_repair_count_news(struct roce_qp *qp);
bool roce_repair_alone(struct roce_qp *qp);
bool roce_repair_is_due(struct roce_requester *requester);
bool roce_repair_send(struct roce_qp *qp);

#endif /* ROCE_REPAIR_H */
