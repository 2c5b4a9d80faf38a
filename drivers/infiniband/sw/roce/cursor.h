/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_CURSOR_H
#define ROCE_CURSOR_H

#include "requester.h"

struct roce_qp;
struct roce_request;
struct roce_train;

/**
 * struct roce_cursor_place - a saved cursor
 * @psn: PSN of the next packet
 * @request_number: number of its request
 * @limit_psn: one past the highest PSN ever sent
 * @ack_request_psn: PSN of the latest packet with AckReq
 */
struct roce_cursor_place {
	u32 psn;
	u32 request_number;
	u32 limit_psn;
	u32 ack_request_psn;
};

/**
 * roce_cursor_sent_before() - whether the packet at the cursor was sent before going back
 * @requester: owned by the caller
 */
static inline bool roce_cursor_sent_before(const struct roce_requester *requester)
{
	return requester->psn != requester->limit_psn;
}

struct roce_request *roce_cursor_request(struct roce_qp *qp);
void roce_cursor_skip_what_has_arrived(struct roce_qp *qp);
bool roce_cursor_window_is_open(const struct roce_qp *qp);
bool roce_cursor_must_wait(struct roce_qp *qp, const struct roce_request *request);
bool roce_cursor_waits_for_company(struct roce_qp *qp,
				   const struct roce_request *request);
int roce_cursor_fill_train(struct roce_qp *qp, struct roce_train *train);
struct roce_cursor_place roce_cursor_here(const struct roce_requester *requester);
void roce_cursor_return_to(struct roce_requester *requester,
			   const struct roce_cursor_place *place, u32 packets);
void roce_cursor_count_retransmitted(struct roce_qp *qp,
				     const struct roce_cursor_place *place, u32 packets);

#endif /* ROCE_CURSOR_H */
