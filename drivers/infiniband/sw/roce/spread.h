/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SPREAD_H
#define ROCE_SPREAD_H

#include "qp.h"

struct roce_cursor_place;
struct roce_packet;

/**
 * roce_spread_is_on() - whether packets of the requester are spread
 * @qp: its requester is owned by the caller
 *
 * Only after the peer has received a packet that confirms the agreement: before, it would
 * answer packets that came early with a NAK.
 */
static inline bool roce_spread_is_on(const struct roce_qp *qp)
{
	const struct roce_requester *requester = &qp->requester;

	return requester->sack_confirmed &&
	       (requester->paths || unlikely(READ_ONCE(qp->dev->paths) > 1));
}

void roce_spread_train(struct roce_qp *qp, struct roce_train *train);
void roce_spread_sent(struct roce_qp *qp, const struct roce_xmit *xmit,
		      const struct roce_cursor_place *place);
void roce_spread_train_again(struct roce_qp *qp, struct roce_train *train, bool silence);
void roce_spread_sent_again(struct roce_qp *qp, const struct roce_xmit *xmit,
			    const u32 *psns);
void roce_spread_learn(struct roce_qp *qp, u32 until);
void roce_spread_acknowledged(struct roce_qp *qp, u32 until);
void roce_spread_silence(struct roce_qp *qp);
void roce_spread_unanswered(struct roce_requester *requester, u32 probes);
u32 roce_spread_unknown(const struct roce_requester *requester, u32 lost_end);
void roce_spread_forget(struct roce_requester *requester);
void roce_spread_stop(struct roce_requester *requester);

void roce_spread_probe_came(struct roce_qp *qp, const struct roce_packet *packet);
bool roce_spread_answer_came(struct roce_qp *qp, const struct roce_packet *packet);
void roce_spread_duplicate_came(struct roce_qp *qp);
u16 roce_spread_other_port(const struct roce_qp *qp);
void roce_spread_take_other(const struct roce_qp *qp, struct roce_train *train);

/** roce_spread_answer_port() - the UDP source port for answers */
static inline u16 roce_spread_answer_port(const struct roce_qp *qp)
{
	return likely(!qp->responder.path) ? qp->source_port : roce_spread_other_port(qp);
}

/**
 * roce_spread_answer() - choose the path of a train of answers
 * @qp: its responder is owned by the caller
 * @train: empty, or with the port of roce_spread_answer_port()
 */
static inline void roce_spread_answer(const struct roce_qp *qp, struct roce_train *train)
{
	if (unlikely(qp->responder.path))
		roce_spread_take_other(qp, train);
}

#endif /* ROCE_SPREAD_H */
