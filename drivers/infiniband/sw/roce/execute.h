/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_EXECUTE_H
#define ROCE_EXECUTE_H

#include "roce_wire.h"

struct roce_packet;
struct roce_qp;

/* The result of a request packet: one of these, or a NAK code */
enum roce_verdict {
	ROCE_DONE		= -1,
	ROCE_NOT_READY		= -2,
	ROCE_NOT_PRESENT	= -3,
	ROCE_INVALID		= ROCE_NAK_INVALID_REQUEST,
	ROCE_ACCESS_VIOLATION	= ROCE_NAK_REMOTE_ACCESS_ERROR,
	ROCE_OPERATIONAL_ERROR	= ROCE_NAK_REMOTE_OPERATIONAL_ERROR,
};

enum roce_verdict roce_execute(struct roce_qp *qp,
			       const struct roce_packet *packet);
enum roce_verdict roce_execute_check_read(struct roce_qp *qp,
					  const struct roce_packet *packet);

#endif /* ROCE_EXECUTE_H */
