// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send queue: work requests go from the consumer to the requester, and their
 * completions back.
 */
#include "ah.h"
#include "compat.h"
#include "counters.h"
#include "cq.h"
#include "mr.h"
#include "port.h"
#include "qp.h"
#include "request.h"
#include "ring.h"
#include "roce.h"
#include "roce_psn.h"
#include "roce_wire.h"
#include "wr.h"

#define USER_SEND_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED | \
			 IB_SEND_SOLICITED | IB_SEND_INLINE)

/* Requests to complete with one look at the CQ; more take more stack. */
#define COMPLETE_TOGETHER	8u

/**
 * roce_request_slots_init() - set up the requests of a send queue
 * @qp: its cap and, for a program's QP, its send ring are set
 *
 * Allocates the requests of a kernel consumer, which may post in atomic context.
 *
 * Return: 0 or -ENOMEM.
 */
int roce_request_slots_init(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	u32 room = max_t(u32, qp->cap.max_send_sge * sizeof(struct ib_sge),
			 qp->cap.max_inline_data);
	u32 slots = roundup_pow_of_two(qp->cap.max_send_wr + 1);

	requester->slot_size = ALIGN(sizeof(struct roce_request) + room, 8);
	requester->slot_mask = slots - 1;
	return roce_qp_is_user(qp) ? 0 : roce_request_slots_alloc(qp);
}

/**
 * roce_request_slots_alloc() - allocate the requests of a send queue
 * @qp: set up; nothing is done if it has its requests
 *
 * Process context. A program's QP gets its requests when it sends for the first time:
 * most of thousands of connections are idle.
 *
 * Return: 0 or -ENOMEM.
 */
int roce_request_slots_alloc(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	void *slots;

	if (READ_ONCE(requester->slots))
		return 0;
	slots = kvcalloc(requester->slot_mask + 1, requester->slot_size,
			 GFP_KERNEL_ACCOUNT);
	if (!slots)
		return -ENOMEM;
	/* Two threads may post the first work request of a QP. */
	if (cmpxchg(&requester->slots, NULL, slots))
		kvfree(slots);
	return 0;
}

/**
 * roce_request() - get a request by its number
 * @requester: of the QP
 * @number: between completed and fetched, or posted; free running
 */
struct roce_request *roce_request(const struct roce_requester *requester,
				  u32 number)
{
	/* Racy: another thread may be in roce_request_slots_alloc(). */
	return READ_ONCE(requester->slots) +
	       (size_t)(number & requester->slot_mask) * requester->slot_size;
}

/**
 * roce_request_number() - find the request of a PSN
 * @requester: owned by the caller
 * @psn: of a packet that was sent, not before unacked_psn
 *
 * A binary search: a peer decides how often it runs, among thousands of requests.
 *
 * Return: the number of the last request that begins at or before @psn. The oldest
 * request is taken to do so: it may have begun half of all PSNs ago.
 */
u32 roce_request_number(const struct roce_requester *requester, u32 psn)
{
	u32 number = requester->completed, end = requester->fetched;

	while (end - number > 1) {
		u32 middle = number + (end - number) / 2;

		if (roce_psn_diff(roce_request(requester, middle)->first_psn, psn) > 0)
			end = middle;
		else
			number = middle;
	}
	return number;
}

/**
 * roce_request_of() - find the request that has a PSN
 * @requester: owned by the caller
 * @psn: not before unacked_psn
 *
 * Return: the request, or NULL if the PSN is not that of a fetched request.
 */
const struct roce_request *roce_request_of(const struct roce_requester *requester,
					   u32 psn)
{
	u32 number = roce_request_number(requester, psn);
	const struct roce_request *request = roce_request(requester, number);

	if (number == requester->fetched ||
	    roce_psn_add(psn, -request->first_psn) >= request->packets)
		return NULL;
	return request;
}

/**
 * roce_requests_waiting() - number of posted requests that are not fetched yet
 * @qp: its requester is owned by the caller
 */
u32 roce_requests_waiting(const struct roce_qp *qp)
{
	const struct roce_requester *requester = &qp->requester;
	u32 in_work = requester->fetched - requester->completed;
	u32 used;

	if (!roce_qp_is_user(qp)) {
		/* Pairs with the release in roce_request_post(). */
		used = smp_load_acquire(&requester->posted);
		return used - requester->fetched;
	}

	/* A program may have moved its index back, before the fetched requests. */
	used = roce_ring_used(&requester->ring);
	return used > in_work ? used - in_work : 0;
}

/* The same as a question, which reads the index of a program less often */
static bool is_request_waiting(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;

	if (!roce_qp_is_user(qp))
		return roce_requests_waiting(qp);
	return roce_ring_ready(&requester->ring,
			       requester->fetched - requester->completed);
}

static bool is_allowed(const struct roce_qp *qp, const struct roce_wr_info *info)
{
	u32 consumer = roce_qp_is_user(qp) ? ROCE_WR_PROGRAM : ROCE_WR_KERNEL;
	u32 service = roce_qp_is_datagram(qp) ? ROCE_WR_UD :
		      roce_qp_is_reliable(qp) ? ROCE_WR_RC : ROCE_WR_UC;

	return info->flags & consumer && info->flags & service;
}

static void set_operands(struct roce_request *request, u64 compare_add, u64 swap)
{
	if (request->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		request->compare = compare_add;
		request->swap_add = swap;
	} else {
		request->compare = 0;
		request->swap_add = compare_add;
	}
}

/* Copy the fields of a program's work request that depend on the opcode (not UD). */
static void copy_operation(const struct rxe_send_wr *wr,
			   struct roce_request *request)
{
	switch (request->opcode) {
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		request->invalidate = wr->ex.invalidate_rkey;
		break;
	case IB_WR_BIND_MW:
		request->binding = (struct roce_binding) {
			.window_key = wr->wr.mw.mw_rkey,
			.new_key = wr->wr.mw.rkey,
			.region_key = wr->wr.mw.mr_lkey,
			.access = wr->wr.mw.access,
			.address = wr->wr.mw.addr,
			.length = wr->wr.mw.length,
		};
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		request->remote_address = wr->wr.atomic.remote_addr;
		request->rkey = wr->wr.atomic.rkey;
		set_operands(request, wr->wr.atomic.compare_add,
			     wr->wr.atomic.swap);
		break;
	default:
		request->immediate = wr->ex.imm_data;
		request->remote_address = wr->wr.rdma.remote_addr;
		request->rkey = wr->wr.rdma.rkey;
		break;
	}
}

static enum ib_wc_status copy_flush(const struct rxe_send_wqe *wqe,
				    struct roce_request *request)
{
	const struct roce_flush_wr *wr = roce_flush_wr(&wqe->wr);

	if (wr->placement & ~ROCE_FLUSH_PLACEMENT_MASK ||
	    wr->selectivity > ROCE_FLUSH_SELECTIVITY_MASK >>
			      ROCE_FLUSH_SELECTIVITY_SHIFT)
		return IB_WC_LOC_QP_OP_ERR;
	request->flags &= ~IB_SEND_INLINE;
	request->sges = 0;
	request->length = wqe->dma.length;
	request->remote_address = wr->remote_address;
	request->rkey = wr->rkey;
	request->flush = wr->placement |
			 wr->selectivity << ROCE_FLUSH_SELECTIVITY_SHIFT;
	return IB_WC_SUCCESS;
}

/* The 8 bytes lie where inline data does, even if inline data has less room. */
static enum ib_wc_status copy_atomic_write(const struct roce_qp *qp,
					   const struct rxe_send_wqe *wqe,
					   const struct rxe_send_wqe *shared,
					   struct roce_request *request)
{
	if (qp->requester.slot_size < sizeof(*request) + sizeof(u64) ||
	    qp->requester.ring.element_size < sizeof(*wqe) + sizeof(u64))
		return IB_WC_LOC_QP_OP_ERR;
	if (wqe->dma.length != sizeof(u64))
		return IB_WC_LOC_LEN_ERR;
	request->flags |= IB_SEND_INLINE;
	request->sges = 0;
	request->length = sizeof(u64);
	roce_ring_copy(request->inline_data, shared->dma.inline_data,
		       sizeof(u64));
	return IB_WC_SUCCESS;
}

static enum ib_wc_status copy_program_inline(const struct roce_qp *qp,
					     const struct rxe_send_wqe *wqe,
					     const struct rxe_send_wqe *shared,
					     struct roce_request *request)
{
	request->sges = 0;
	if (wqe->dma.length > qp->cap.max_inline_data)
		return IB_WC_LOC_LEN_ERR;
	roce_ring_copy(request->inline_data, shared->dma.inline_data,
		       wqe->dma.length);
	request->length = wqe->dma.length;
	return IB_WC_SUCCESS;
}

static enum ib_wc_status copy_program_sges(const struct roce_qp *qp,
					   const struct rxe_send_wqe *wqe,
					   const struct rxe_send_wqe *shared,
					   struct roce_request *request)
{
	u64 length;

	request->sges = wqe->dma.num_sge;
	if (request->sges > qp->cap.max_send_sge)
		return IB_WC_LOC_QP_OP_ERR;
	BUILD_BUG_ON(sizeof(struct rxe_sge) != sizeof(struct ib_sge));
	roce_ring_copy(request->sge, shared->dma.sge,
		       request->sges * sizeof(struct ib_sge));
	length = roce_sge_length(request->sge, request->sges);
	if (length > ROCE_MAX_MESSAGE)
		return IB_WC_LOC_LEN_ERR;
	request->length = length;
	return IB_WC_SUCCESS;
}

/* Copy a work request from a program's ring, and look at the copy only. */
static enum ib_wc_status copy_wqe(const struct roce_qp *qp,
				  const struct rxe_send_wqe *shared,
				  struct roce_request *request)
{
	struct rxe_send_wqe wqe;

	roce_ring_copy(&wqe, shared, sizeof(wqe));

	request->wr_id = wqe.wr.wr_id;
	request->opcode = wqe.wr.opcode;
	request->flags = wqe.wr.send_flags & USER_SEND_FLAGS;
	if (roce_qp_is_datagram(qp)) {
		request->immediate = wqe.wr.ex.imm_data;
		request->ah_number = roce_compat_ah_number(&wqe.wr);
		request->remote_qpn = wqe.wr.wr.ud.remote_qpn;
		request->remote_qkey = wqe.wr.wr.ud.remote_qkey;
	} else {
		copy_operation(&wqe.wr, request);
	}

	/* The parameters of these are no scatter/gather list. */
	if (request->opcode == IB_WR_FLUSH)
		return copy_flush(&wqe, request);
	if (request->opcode == IB_WR_ATOMIC_WRITE)
		return copy_atomic_write(qp, &wqe, shared, request);
	if (request->flags & IB_SEND_INLINE)
		return copy_program_inline(qp, &wqe, shared, request);
	return copy_program_sges(qp, &wqe, shared, request);
}

static enum ib_wc_status check_request(const struct roce_qp *qp,
				       const struct roce_request *request)
{
	if (!is_allowed(qp, request->info))
		return IB_WC_LOC_QP_OP_ERR;
	if (roce_request_has_response(request) && !qp->attr.max_rd_atomic)
		return IB_WC_LOC_QP_OP_ERR;
	if (request->flags & IB_SEND_INLINE &&
	    request->info->flags & ROCE_WR_NOT_INLINE)
		return IB_WC_LOC_QP_OP_ERR;
	if (request->opcode == IB_WR_ATOMIC_WRITE &&
	    request->length != sizeof(u64))
		return IB_WC_LOC_LEN_ERR;
	if (roce_request_is_atomic(request) && request->length < sizeof(u64))
		return IB_WC_LOC_LEN_ERR;
	if (roce_qp_is_datagram(qp) &&
	    request->length > ib_mtu_enum_to_int(roce_port_active_mtu(qp->dev)))
		return IB_WC_LOC_LEN_ERR;
	return IB_WC_SUCCESS;
}

/**
 * roce_request_fetch() - fetch the next work request of the consumer
 * @qp: its requester is owned by the caller
 *
 * Assigns PSNs. An invalid request has the reason in its status, and must not be sent.
 *
 * Return: the request, or NULL if there is none.
 */
struct roce_request *roce_request_fetch(struct roce_qp *qp)
{
	struct roce_requester *requester = &qp->requester;
	struct roce_request *request;

	if (!READ_ONCE(requester->slots) || !is_request_waiting(qp))
		return NULL;

	request = roce_request(requester, requester->fetched);
	request->status = IB_WC_SUCCESS;
	if (roce_qp_is_user(qp)) {
		u32 ahead = requester->fetched - requester->completed;
		const struct rxe_send_wqe *wqe =
			roce_ring_element(&requester->ring, ahead);

		request->length = 0;
		request->status = copy_wqe(qp, wqe, request);
	}
	request->info = roce_wr_info(request->opcode);
	if (request->status == IB_WC_SUCCESS)
		request->status = check_request(qp, request);
	/* The response of an atomic has 8 bytes, even if the memory is larger. */
	if (roce_request_is_atomic(request))
		request->length = sizeof(u64);

	request->executed = false;
	request->first_psn = requester->next_psn;
	request->packets = roce_request_is_local(request) ? 0 :
			   request->opcode == IB_WR_FLUSH ? 1 :
			   max(1u, DIV_ROUND_UP(request->length, qp->mtu));
	requester->next_psn = roce_psn_add(requester->next_psn,
					   request->packets);
	requester->fetched++;
	return request;
}

static int copy_inline(struct roce_request *request,
		       const struct ib_send_wr *wr, u32 limit)
{
	u64 length = roce_sge_length(wr->sg_list, wr->num_sge);
	u8 *place = request->inline_data;
	int i;

	if (length > limit)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		memcpy(place, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		place += wr->sg_list[i].length;
	}
	request->sges = 0;
	request->length = length;
	return 0;
}

static int copy_sges(struct roce_request *request, const struct ib_send_wr *wr)
{
	u64 length = roce_sge_length(wr->sg_list, wr->num_sge);

	if (length > ROCE_MAX_MESSAGE)
		return -EINVAL;
	memcpy(request->sge, wr->sg_list,
	       wr->num_sge * sizeof(struct ib_sge));
	request->sges = wr->num_sge;
	request->length = length;
	return 0;
}

/* copy_operation() for a kernel consumer, whose work requests have different types */
static void copy_kernel_operation(const struct ib_send_wr *wr,
				  struct roce_request *request)
{
	const struct ib_reg_wr *reg;

	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		request->immediate = wr->ex.imm_data;
		break;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		request->invalidate = wr->ex.invalidate_rkey;
		break;
	case IB_WR_REG_MR:
		reg = reg_wr(wr);
		request->registration = (struct roce_registration) {
			.mr = to_roce_mr(reg->mr),
			.key = reg->key,
			.access = reg->access,
			.iova = reg->mr->iova,
			.length = reg->mr->length,
		};
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		request->remote_address = atomic_wr(wr)->remote_addr;
		request->rkey = atomic_wr(wr)->rkey;
		set_operands(request, atomic_wr(wr)->compare_add,
			     atomic_wr(wr)->swap);
		break;
	default:
		request->immediate = wr->ex.imm_data;
		request->remote_address = rdma_wr(wr)->remote_addr;
		request->rkey = rdma_wr(wr)->rkey;
		break;
	}
}

static int copy_work_request(const struct roce_qp *qp,
			     const struct ib_send_wr *wr,
			     struct roce_request *request)
{
	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_send_sge)
		return -EINVAL;
	if (!is_allowed(qp, roce_wr_info(wr->opcode)))
		return -EOPNOTSUPP;

	request->wr_id = wr->wr_id;
	request->opcode = wr->opcode;
	request->flags = wr->send_flags;
	if (roce_qp_is_datagram(qp)) {
		request->immediate = wr->ex.imm_data;
		request->av = to_roce_ah(ud_wr(wr)->ah)->av;
		request->remote_qpn = ud_wr(wr)->remote_qpn;
		request->remote_qkey = ud_wr(wr)->remote_qkey;
	} else {
		copy_kernel_operation(wr, request);
	}

	if (wr->send_flags & IB_SEND_INLINE)
		return copy_inline(request, wr, qp->cap.max_inline_data);
	return copy_sges(request, wr);
}

/**
 * roce_request_post() - queue a work request of a kernel consumer
 * @qp: of a kernel consumer
 * @wr: work request; the rest of the list is ignored
 *
 * Any context, even with interrupts disabled. Sends nothing.
 *
 * Return: 0, -ENOMEM if the queue is full, -EINVAL or -EOPNOTSUPP.
 */
int roce_request_post(struct roce_qp *qp, const struct ib_send_wr *wr)
{
	struct roce_requester *requester = &qp->requester;
	unsigned long flags;
	int err = -ENOMEM;
	u32 completed;

	spin_lock_irqsave(&requester->post_lock, flags);
	/* Pairs with the release in free_slots(). */
	completed = smp_load_acquire(&requester->completed);
	if (requester->posted - completed < qp->cap.max_send_wr)
		err = copy_work_request(qp, wr, roce_request(requester,
							     requester->posted));
	if (!err)
		/* The engine may read the slot after this. */
		smp_store_release(&requester->posted, requester->posted + 1);
	spin_unlock_irqrestore(&requester->post_lock, flags);
	return err;
}

static void count_error(struct roce_qp *qp, enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_WR_FLUSH_ERR:
		roce_count(qp, req_cqe_flush_error);
		break;
	case IB_WC_REM_ACCESS_ERR:
		roce_count(qp, req_remote_access_errors);
		break;
	case IB_WC_REM_INV_REQ_ERR:
		roce_count(qp, req_remote_invalid_request);
		break;
	case IB_WC_RETRY_EXC_ERR:
		roce_count(qp, req_transport_retries_exceeded);
		break;
	case IB_WC_RNR_RETRY_EXC_ERR:
		roce_count(qp, req_rnr_retries_exceeded);
		break;
	default:
		break;
	}
	roce_count(qp, req_cqe_error);
}

/*
 * Describe the completion of a request. False if the consumer gets none: it has not asked
 * for one, and the request was successful (IBA volume 1, 10.8.5).
 */
static bool describe_completion(struct roce_qp *qp, u32 number,
				enum ib_wc_status status, struct ib_wc *wc)
{
	const struct roce_request *request = roce_request(&qp->requester, number);

	if (request->info->completion == IB_WC_SEND)
		roce_count(qp, rdma_sends);
	if (status == IB_WC_SUCCESS && !qp->signal_all &&
	    !(request->flags & IB_SEND_SIGNALED))
		return false;
	*wc = (struct ib_wc) {
		.wr_id = request->wr_id,
		.status = status,
		.opcode = request->info->completion,
		.byte_len = request->length,
		.qp = &qp->ibqp,
		.port_num = 1,
	};
	return true;
}

/* Before the completions: a consumer that sees them may fill the slots again at once. */
static void free_slots(struct roce_qp *qp, u32 count)
{
	struct roce_requester *requester = &qp->requester;

	/* Pairs with the acquire in roce_request_post(). */
	smp_store_release(&requester->completed, requester->completed + count);
	if (roce_qp_is_user(qp))
		roce_ring_advance_by(&requester->ring, count);
}

static void post_completions(struct roce_qp *qp, const struct ib_wc *wc, u32 count)
{
	if (count && !roce_cq_post(roce_send_cq(qp), wc, count, false))
		roce_qp_fail(qp, IB_EVENT_QP_FATAL);
}

/**
 * roce_request_complete() - complete the oldest request
 * @qp: its requester is owned by the caller; there is a fetched request
 * @status: of the completion
 *
 * Frees the slot of the consumer. Posts a completion if the consumer asked for one
 * or the request failed.
 */
void roce_request_complete(struct roce_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc;
	bool described = describe_completion(qp, qp->requester.completed, status, &wc);

	free_slots(qp, 1);
	if (status != IB_WC_SUCCESS)
		count_error(qp, status);
	post_completions(qp, &wc, described);
}

static void complete_together(struct roce_qp *qp, u32 count)
{
	struct ib_wc wc[COMPLETE_TOGETHER];
	u32 described = 0, n;

	for (n = 0; n < count; n++)
		described += describe_completion(qp, qp->requester.completed + n,
						 IB_WC_SUCCESS, &wc[described]);
	free_slots(qp, count);
	post_completions(qp, wc, described);
}

/**
 * roce_requests_complete() - complete the oldest requests, all of them with success
 * @qp: its requester is owned by the caller
 * @count: their number; they are fetched
 */
void roce_requests_complete(struct roce_qp *qp, u32 count)
{
	u32 n;

	for (; count > 1; count -= n) {
		n = min(count, COMPLETE_TOGETHER);
		complete_together(qp, n);
	}
	/* Alone, it does not need so much stack, which the compiler clears. */
	if (count)
		roce_request_complete(qp, IB_WC_SUCCESS);
}

/**
 * roce_request_fail() - complete the oldest request with an error
 * @qp: its requester is owned by the caller, with a request outstanding
 * @status: of the completion
 *
 * An RC QP goes to the error state, an unreliable QP to SQE. The engine flushes the
 * other requests soon (IBA volume 1, 10.3.1).
 */
void roce_request_fail(struct roce_qp *qp, enum ib_wc_status status)
{
	if (roce_qp_is_reliable(qp)) {
		roce_request_complete(qp, status);
		roce_qp_set_error(qp, IB_QPS_ERR);
		return;
	}
	/* Before the completion: a program may set the QP to RTS when it sees the error. */
	roce_qp_set_error(qp, IB_QPS_SQE);
	roce_request_complete(qp, status);
}
