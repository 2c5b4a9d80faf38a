/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_REQUEST_H
#define ROCE_REQUEST_H

#include "fast_mr.h"
#include "mw.h"
#include "qp.h"
#include "roce_psn.h"
#include "sge.h"
#include "wr.h"

/**
 * struct roce_request - the kernel's copy of a send work request
 * @wr_id: the consumer's
 * @opcode: the operation
 * @info: properties of the opcode; set when the request is fetched
 * @flags: IB_SEND_*
 * @status: IB_WC_SUCCESS, or the error that it will complete with
 * @length: bytes of the message; for a FLUSH, bytes to flush
 * @first_psn: PSN of its first packet
 * @packets: number of its PSNs; for a READ those of the response
 * @flush: for a FLUSH, ROCE_FLUSH_*
 * @remote_address: for RDMA and atomics
 * @rkey: for RDMA and atomics
 * @swap_add: for an atomic, the new value or the number to add
 * @compare: for an atomic, the expected value
 * @immediate: as on the wire
 * @invalidate: key that SEND with invalidate or a local invalidate invalidates
 * @registration: for REG_MR
 * @binding: for BIND_MW
 * @executed: a local operation is done, but earlier requests have not completed
 * @ah_number: for UD, of a program: number of the address vector, which is looked up
 *	for each packet
 * @av: for UD, of a kernel consumer, which keeps the address handle
 * @remote_qpn: for UD
 * @remote_qkey: for UD
 * @sges: number of elements of @sge; 0 with inline data
 * @sge: the memory to send from, or to read into
 * @inline_data: payload that came with the work request
 *
 * A program's work request is copied from its ring once and never read again: the
 * program can change the ring at any time.
 */
struct roce_request {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	const struct roce_wr_info *info;
	u32 flags;
	enum ib_wc_status status;
	u32 length;
	u32 first_psn;
	u32 packets;
	u32 flush;
	u64 remote_address;
	u32 rkey;
	u64 swap_add;
	u64 compare;
	union {
		__be32 immediate;
		u32 invalidate;
		struct roce_registration registration;
		struct roce_binding binding;
	};
	bool executed;
	u32 ah_number;
	struct roce_av *av;
	u32 remote_qpn;
	u32 remote_qkey;
	u32 sges;
	union {
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

static inline bool roce_request_is_atomic(const struct roce_request *request)
{
	return request->info->flags & ROCE_WR_IS_ATOMIC;
}

/** roce_request_is_local() - whether it sends nothing and takes no PSN */
static inline bool roce_request_is_local(const struct roce_request *request)
{
	return request->info->flags & ROCE_WR_IS_LOCAL;
}

/** roce_request_has_response() - whether it has responses, not only acknowledgments */
static inline bool roce_request_has_response(const struct roce_request *request)
{
	return request->info->flags & ROCE_WR_HAS_RESPONSE;
}

static inline bool roce_request_is_read(const struct roce_request *request)
{
	return request->opcode == IB_WR_RDMA_READ;
}

/** roce_request_end() - one past the last PSN of a request */
static inline u32 roce_request_end(const struct roce_request *request)
{
	return roce_psn_add(request->first_psn, request->packets);
}

/**
 * roce_request_walk() - make a walk over a part of the memory of a request
 * @qp: its requester is owned by the caller
 * @request: of @qp
 * @offset: bytes from the start
 * @length: bytes
 * @access: IB_ACCESS_LOCAL_WRITE to place a received packet, 0 to send
 */
static inline struct roce_sge_walk
roce_request_walk(struct roce_qp *qp, const struct roce_request *request,
		  u64 offset, u32 length, int access)
{
	return (struct roce_sge_walk) {
		.pd = roce_qp_pd(qp),
		.sge = request->sge,
		.sges = request->sges,
		.offset = offset,
		.left = length,
		.access = access,
		.fault = access ? qp->requester.engine.fault :
				  qp->requester.sender.fault,
	};
}

/* request.c */
int roce_request_slots_init(struct roce_qp *qp);
int roce_request_slots_alloc(struct roce_qp *qp);
struct roce_request *roce_request(const struct roce_requester *requester,
				  u32 number);
u32 roce_request_number(const struct roce_requester *requester, u32 psn);
const struct roce_request *roce_request_of(const struct roce_requester *requester,
					   u32 psn);
u32 roce_requests_waiting(const struct roce_qp *qp);
struct roce_request *roce_request_fetch(struct roce_qp *qp);
int roce_request_post(struct roce_qp *qp, const struct ib_send_wr *wr);
void roce_requests_complete(struct roce_qp *qp, u32 count);
void roce_request_complete(struct roce_qp *qp, enum ib_wc_status status);
void roce_request_fail(struct roce_qp *qp, enum ib_wc_status status);

/* memory_operation.c */
enum ib_wc_status roce_request_execute(struct roce_qp *qp,
				       const struct roce_request *request);
int roce_invalidate(struct roce_qp *qp, u32 rkey, bool by_peer);

#endif /* ROCE_REQUEST_H */
