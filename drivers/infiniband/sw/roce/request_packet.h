/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_REQUEST_PACKET_H
#define ROCE_REQUEST_PACKET_H

#include <linux/types.h>

struct roce_packet;
struct roce_qp;
struct roce_request;
struct roce_requester;
struct roce_train;

/**
 * struct roce_missing - missing packets of a request
 * @request: the request
 * @psn: of the first one
 * @packets: their number; one request packet covers them, or several that are alike
 */
struct roce_missing {
	const struct roce_request *request;
	u32 psn;
	u32 packets;
};

u32 roce_request_packet_end(struct roce_requester *requester, u32 psn);
void roce_request_ask_for_ack(const struct roce_qp *qp, struct roce_packet *packet);
void roce_request_describe(struct roce_qp *qp, const struct roce_request *request,
			   u32 psn, u32 psns, struct roce_packet *packet);
int roce_request_add_packets(struct roce_qp *qp, const struct roce_request *request,
			     const struct roce_packet *packet, u32 count,
			     struct roce_train *train);

#endif /* ROCE_REQUEST_PACKET_H */
