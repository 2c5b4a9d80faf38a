/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_XMIT_H
#define ROCE_XMIT_H

#include "congestion.h"
#include "train.h"

struct roce_av;
struct roce_engine;
struct roce_qp;

/**
 * struct roce_xmit - a train that one half of a QP wants to send
 * @half: the sending half
 * @engine: of that half, owned by the caller
 * @av: destination of the train
 * @source_port: of its UDP header
 * @data: it carries payload of a connection, and counts against its rate
 * @build: adds packets to the train; fails if it can add none
 * @built: set when the train is complete and was handed to the network
 * @wait: set to the nanoseconds to wait for the rate of the flow, or 0
 * @sent_at: set to the time of sending, if round trips are measured
 * @train: set to the train, with the number of packets that were sent
 */
struct roce_xmit {
	enum roce_half half;
	struct roce_engine *engine;
	struct roce_av *av;
	u16 source_port;
	bool data;
	int (*build)(struct roce_qp *qp, struct roce_train *train);
	bool built;
	u64 wait;
	u64 sent_at;
	struct roce_train train;
};

int roce_xmit(struct roce_qp *qp, struct roce_xmit *xmit);

#endif /* ROCE_XMIT_H */
