/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SACK_H
#define ROCE_SACK_H

#include <linux/types.h>

#include "roce_wire.h"

struct roce_packet;
struct roce_qp;
struct roce_requester;

/* State of the handshake, at the responder */
enum roce_sack_state {
	ROCE_SACK_UNKNOWN,
	ROCE_SACK_OFFERED,
	ROCE_SACK_CONFIRMED,	/* selective acknowledgments can be sent */
};

u8 roce_sack_of_request(const struct roce_qp *qp);
u8 roce_sack_of_response(const struct roce_qp *qp);
void roce_sack_request_came(struct roce_qp *qp, const struct roce_packet *packet);
void roce_sack_response_came(struct roce_qp *qp, const struct roce_packet *packet);
void roce_sack_progressed(struct roce_requester *requester);
bool roce_sack_is_confirmed(const struct roce_qp *qp);
const struct roce_sack_range *roce_sack_describe(struct roce_qp *qp,
						 struct roce_packet *packet);
int roce_sack_check(const struct roce_qp *qp, const struct roce_packet *packet,
		    struct roce_sack_range *ranges);

#endif /* ROCE_SACK_H */
