/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_QUESTION_H
#define ROCE_QUESTION_H

#include <linux/types.h>

struct roce_qp;
struct roce_requester;

void roce_questions_begin(struct roce_requester *requester, u32 psn);
void roce_questions_go_on(struct roce_requester *requester, u32 end);
bool roce_questions_are_due(struct roce_requester *requester);
bool roce_questions_send(struct roce_qp *qp);

#endif /* ROCE_QUESTION_H */
