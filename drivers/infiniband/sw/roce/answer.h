/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_ANSWER_H
#define ROCE_ANSWER_H

#include "access.h"
#include "qp.h"
#include "roce_opcode.h"

struct roce_packet;

/* Requests with responses, not only an acknowledgment */
#define ROCE_HAS_RESPONSE	(ROCE_IS_READ | ROCE_IS_ATOMIC | \
				 ROCE_IS_FLUSH | ROCE_IS_ATOMIC_WRITE)

/* Maximum number of parts of READs to answer again, a power of two */
#define ROCE_MAX_PARTS		16

/**
 * struct roce_resource - a READ, an atomic or the like, as the responder knows it
 * @kind: ROCE_IS_READ, ROCE_IS_ATOMIC, ROCE_IS_FLUSH or ROCE_IS_ATOMIC_WRITE
 * @psn: PSN of its first response
 * @packets: number of its responses, 0 if the resource was never used
 * @original: for an atomic, the value that was in memory
 * @left: responses still to be sent
 * @next_psn: PSN of the next response
 * @begin: the next response is the first one to the request
 * @address: for a READ, of the next byte
 * @length: for a READ, bytes still to be sent
 * @rkey: for a READ
 * @msn: of the request
 * @repeated: the requester has asked for it again
 *
 * The IBA calls them responder resources. A request stays known after it was
 * answered, until another one replaces it. So an atomic that is asked for again is
 * answered from here, and not executed again.
 */
struct roce_resource {
	u32 kind;
	u32 psn;
	u32 packets;
	u64 original;
	u32 left;
	u32 next_psn;
	bool begin;
	u64 address;
	u32 length;
	u32 rkey;
	u32 msn;
	bool repeated;
};

/**
 * roce_remote_access() - describe an access to memory by a received request
 * @qp: the QP
 * @rkey: R_Key
 * @address: of the first byte
 * @length: bytes
 * @rights: IB_ACCESS_* flags that the access needs
 */
static inline struct roce_access
roce_remote_access(struct roce_qp *qp, u32 rkey, u64 address, u32 length,
		   int rights)
{
	return (struct roce_access) {
		.pd = roce_qp_pd(qp),
		.qpn = qp->ibqp.qp_num,
		.key = rkey,
		.rights = rights,
		.address = address,
		.length = length,
		.fault = qp->responder.engine.fault,
	};
}

/** roce_answer_has_data() - whether the responses count against the rate */
static inline bool roce_answer_has_data(const struct roce_resource *resource)
{
	return resource->kind == ROCE_IS_READ;
}

/* answer.c */
u32 roce_answer_packets(const struct roce_qp *qp,
			const struct roce_packet *packet);
bool roce_answer_has_room(const struct roce_qp *qp);
void roce_answer_respond(struct roce_qp *qp, const struct roce_packet *packet,
			 u64 original);
void roce_answer_executed(struct roce_qp *qp, const struct roce_packet *packet);
void roce_answer_nak(struct roce_qp *qp, u8 syndrome);
void roce_answer_gap(struct roce_qp *qp);
void roce_answer_again(struct roce_qp *qp, const struct roce_packet *packet);
void roce_answer_owe(struct roce_responder *responder, u8 syndrome, u32 psn);
bool roce_answer_owes_nak(const struct roce_responder *responder);
struct roce_resource *roce_answer_next(struct roce_responder *responder);
struct roce_resource *roce_answer_nth(struct roce_responder *responder, u32 n);
void roce_answer_forget(struct roce_responder *responder);
void roce_answer_set_resources(struct roce_qp *qp,
			       struct roce_resource *resources);

/* answer_send.c */
bool roce_answer_send(struct roce_qp *qp);

#endif /* ROCE_ANSWER_H */
