// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Questions: requests for lost responses alone, of READs and atomics. For a responder, a
 * duplicate request is one that lies within a request that it has executed, so every peer
 * may be asked (IBA volume 1, 9.4.4 and 9.4.5). Later responses have come, and are kept:
 * the gaps between them say what is missing (reorder.c).
 *
 * The question for the first lost response begins a round of questions, for all gaps that
 * are known by then. Those for later gaps follow when they are lost, too.
 *
 * rdma_rxe remembers where the latest question about a READ began, and answers none for
 * memory before that. If the question for the first of two gaps, or its answer, was lost,
 * that gap could never be filled. So rdma_rxe is asked about the next gap of a READ when
 * the one before is filled. It is known by its MigReq bit, which is 0: the QPs of an RNIC
 * are in the migrated state (17.2.8).
 *
 * It is part of the requester's engine and works on its state.
 */
#include "answer.h"
#include "counters.h"
#include "qp.h"
#include "question.h"
#include "reorder.h"
#include "request.h"
#include "request_packet.h"
#include "requester.h"
#include "roce_psn.h"
#include "spread.h"
#include "train.h"
#include "xmit.h"

/* Find missing responses from @begin to @end; false if there are none. */
static bool find_missing_between(struct roce_requester *requester, u32 begin, u32 end,
				 struct roce_missing *missing)
{
	u32 number = roce_request_number(requester, begin);

	for (; number != requester->fetched; number++) {
		const struct roce_request *request = roce_request(requester, number);
		u32 behind;

		begin = roce_psn_later(begin, request->first_psn);
		if (!roce_psn_precedes(begin, end))
			break;
		if (!roce_request_has_response(request))
			continue;
		behind = roce_psn_earlier(roce_request_packet_end(requester, begin), end);
		*missing = (struct roce_missing) {
			.request = request,
			.psn = begin,
			.packets = roce_psn_add(behind, -begin),
		};
		return true;
	}
	return false;
}

/*
 * Find the next missing responses from question_psn on and before question_end, before a
 * response that came early; false if there are none.
 */
static bool find_missing(struct roce_requester *requester, struct roce_missing *missing)
{
	u32 begin = roce_psn_later(requester->question_psn, requester->unacked_psn), end;

	while (roce_reorder_find_gap(requester->reorder, &begin, &end) &&
	       roce_psn_precedes(begin, requester->question_end)) {
		if (find_missing_between(requester, begin, end, missing))
			return true;
		/* Only acknowledgments are missing: no search comes here again. */
		requester->question_psn = end;
		begin = end;
	}
	return false;
}

/* Go on behind a question, or behind all gaps of its READ. */
static void skip_question(struct roce_requester *requester,
			  const struct roce_missing *missing)
{
	requester->question_psn = requester->one_question ?
				  roce_request_packet_end(requester, missing->psn) :
				  roce_psn_add(missing->psn, missing->packets);
}

/* Go on behind the first questions from @psn on: these have left. */
static void skip_questions(struct roce_requester *requester, u32 psn, u32 questions)
{
	struct roce_missing missing;

	requester->question_psn = psn;
	while (questions-- && find_missing(requester, &missing))
		skip_question(requester, &missing);
}

/* As many at most as a responder of this driver remembers */
static int add_questions(struct roce_qp *qp, struct roce_train *train)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_missing missing;

	roce_spread_train_again(qp, train, true);
	while (train->packets < ROCE_MAX_PARTS && find_missing(requester, &missing)) {
		struct roce_packet packet;
		int err;

		roce_request_describe(qp, missing.request, missing.psn,
				      missing.packets, &packet);
		if (!roce_train_fits(train, roce_packet_size(&packet)))
			return 0;
		err = roce_request_add_packets(qp, missing.request, &packet, 1,
					       train);
		if (err)
			return train->packets ? 0 : err;
		skip_question(requester, &missing);
	}
	return 0;
}

/**
 * roce_questions_begin() - ask for all missing responses from a PSN on
 * @requester: owned by the caller, and has kept later responses
 * @psn: PSN of the first one
 *
 * The engine sends the questions when it sends next. The ACK timeout goes on.
 */
void roce_questions_begin(struct roce_requester *requester, u32 psn)
{
	requester->questions_due = true;
	requester->question_psn = psn;
	requester->question_end = requester->limit_psn;
}

/**
 * roce_questions_go_on() - ask for responses that are lost after the first
 * @requester: owned by the caller; roce_questions_begin() was called for the first ones
 * @end: PSN of a kept response before which all missing ones are lost
 */
void roce_questions_go_on(struct roce_requester *requester, u32 end)
{
	if (requester->questions_due || !roce_psn_precedes(requester->question_psn, end))
		return;
	requester->questions_due = true;
	requester->question_end = end;
}

/**
 * roce_questions_are_due() - whether there is a question to send
 * @requester: owned by the caller
 *
 * Goes on behind gaps in which only acknowledgments are missing.
 */
bool roce_questions_are_due(struct roce_requester *requester)
{
	struct roce_missing missing;

	if (requester->questions_due && !find_missing(requester, &missing))
		requester->questions_due = false;
	return requester->questions_due;
}

/**
 * roce_questions_send() - send one train of questions
 * @qp: its requester is owned by the caller; roce_questions_are_due()
 *
 * BH disabled, RCU read side. Those that find no room in it follow later, see
 * roce_questions_go_on().
 *
 * Return: false if nothing can be sent now.
 */
bool roce_questions_send(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_xmit xmit = { .build = add_questions };
	u32 begin = requester->question_psn;

	requester->questions_due = roce_retransmit_send(qp, &xmit) == -EBUSY;
	if (xmit.train.sent)
		requester->question_at = ktime_get_ns();
	if (requester->questions_due)
		skip_questions(requester, begin, xmit.train.sent);
	roce_count_add(qp, responses_asked_again, xmit.train.sent);
	return !requester->questions_due;
}
