// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Executes the requests of a connected QP: packets of a SEND or a WRITE, READs,
 * atomics, FLUSH and ATOMIC WRITE (IBA volume 1, 9.4 and 9.7.4).
 *
 * A SEND goes to the receive in use, all other requests to memory that the peer names.
 * Requests with responses leave a resource for answer.c.
 */
#include "access.h"
#include "answer.h"
#include "counters.h"
#include "execute.h"
#include "packet.h"
#include "payload.h"
#include "qp.h"
#include "receive.h"
#include "request.h"
#include "roce.h"
#include "roce_opcode.h"
#include "roce_wire.h"

static enum roce_verdict fail_receive(struct roce_qp *qp, enum ib_wc_status status)
{
	roce_receive_fail(qp, status);
	qp->responder.failed = true;
	switch (status) {
	case IB_WC_LOC_LEN_ERR:
		return ROCE_INVALID;
	case IB_WC_REM_INV_REQ_ERR:
		return ROCE_ACCESS_VIOLATION;
	default:
		return ROCE_OPERATIONAL_ERROR;
	}
}

static enum roce_verdict refuse_length(struct roce_qp *qp,
				       const struct roce_packet *packet)
{
	if (roce_qp_is_reliable(qp))
		return fail_receive(qp, IB_WC_LOC_LEN_ERR);
	/* Without NAKs, a peer must not be able to put the QP into the error state. */
	roce_drop(qp, rx_dropped_length, packet);
	return ROCE_INVALID;
}

static enum roce_verdict execute_send(struct roce_qp *qp,
				      const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u32 placed = packet->info->flags & ROCE_IS_FIRST ? 0 : responder->placed;
	int err;

	if (!roce_receive_ensure(qp))
		return ROCE_NOT_READY;
	if (!responder->receive->valid)
		return fail_receive(qp, IB_WC_LOC_QP_OP_ERR);
	if ((u64)placed + packet->payload > responder->receive->length)
		return refuse_length(qp, packet);
	err = roce_receive_place(qp, packet, placed);
	if (err == -EAGAIN)
		return ROCE_NOT_PRESENT;
	if (err)
		return fail_receive(qp, IB_WC_LOC_PROT_ERR);

	/* Before the completion: after it the consumer may reuse the memory. */
	if (packet->info->flags & ROCE_HAS_INVALIDATE &&
	    roce_invalidate(qp, packet->invalidate, true))
		return fail_receive(qp, IB_WC_REM_INV_REQ_ERR);

	responder->placed = placed + packet->payload;
	if (packet->info->flags & ROCE_IS_LAST) {
		struct ib_wc wc = {
			.opcode = IB_WC_RECV,
			.byte_len = responder->placed,
			.src_qp = qp->attr.dest_qp_num,
		};

		roce_receive_succeed(qp, &wc, packet);
	}
	return ROCE_DONE;
}

static bool remote_access_is_allowed(struct roce_qp *qp,
				     const struct roce_packet *packet,
				     int rights)
{
	struct roce_access access = roce_remote_access(qp, packet->rkey, packet->va,
						       packet->length, rights);

	return roce_access_is_allowed(&access);
}

static enum roce_verdict begin_write(struct roce_qp *qp,
				     const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE) ||
	    packet->length > ROCE_MAX_MESSAGE)
		return ROCE_INVALID;
	if (!remote_access_is_allowed(qp, packet, IB_ACCESS_REMOTE_WRITE))
		return ROCE_ACCESS_VIOLATION;
	responder->address = packet->va;
	responder->rkey = packet->rkey;
	responder->remaining = packet->length;
	responder->placed = 0;
	return ROCE_DONE;
}

static enum roce_verdict execute_write(struct roce_qp *qp,
				       const struct roce_packet *packet)
{
	struct roce_responder *responder = &qp->responder;
	u32 flags = packet->info->flags;
	u32 payload = packet->payload;
	struct roce_access access;
	enum roce_verdict verdict;
	int err;

	/* Before anything changes, because the packet will come again. */
	if (flags & ROCE_HAS_IMMEDIATE && !roce_receive_ensure(qp))
		return ROCE_NOT_READY;
	if (flags & ROCE_IS_FIRST) {
		verdict = begin_write(qp, packet);
		if (verdict != ROCE_DONE)
			return verdict;
	}
	if (payload > responder->remaining ||
	    (flags & ROCE_IS_LAST && payload != responder->remaining))
		return ROCE_INVALID;

	/* A program that polls memory and sees these bytes also sees earlier packets. */
	smp_wmb();
	access = roce_remote_access(qp, responder->rkey, responder->address,
				    payload, IB_ACCESS_REMOTE_WRITE);
	access.ahead = responder->remaining;
	access.latest = &responder->latest_key;
	err = payload ? roce_payload_write(&access, packet, 0) : 0;
	if (err)
		return err == -EAGAIN ? ROCE_NOT_PRESENT : ROCE_ACCESS_VIOLATION;
	if (flags & ROCE_IS_FIRST)
		roce_count(qp, rx_write_requests);
	responder->address += payload;
	responder->remaining -= payload;
	responder->placed += payload;

	if (flags & ROCE_HAS_IMMEDIATE) {
		struct ib_wc wc = {
			.opcode = IB_WC_RECV_RDMA_WITH_IMM,
			.byte_len = responder->placed,
			.src_qp = qp->attr.dest_qp_num,
		};

		roce_receive_succeed(qp, &wc, packet);
	}
	return ROCE_DONE;
}

/**
 * roce_execute_check_read() - whether the peer may read
 * @qp: its responder is owned by the caller
 * @packet: a READ request
 *
 * In a section.
 *
 * Return: ROCE_DONE if it may, ROCE_INVALID or ROCE_ACCESS_VIOLATION.
 */
enum roce_verdict roce_execute_check_read(struct roce_qp *qp,
					  const struct roce_packet *packet)
{
	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ) ||
	    packet->length > ROCE_MAX_MESSAGE)
		return ROCE_INVALID;
	if (!remote_access_is_allowed(qp, packet, IB_ACCESS_REMOTE_READ))
		return ROCE_ACCESS_VIOLATION;
	return ROCE_DONE;
}

static enum roce_verdict execute_read(struct roce_qp *qp,
				      const struct roce_packet *packet)
{
	enum roce_verdict verdict;

	if (!roce_answer_has_room(qp))
		return ROCE_INVALID;
	verdict = roce_execute_check_read(qp, packet);
	if (verdict != ROCE_DONE)
		return verdict;

	roce_count(qp, rx_read_requests);
	roce_answer_respond(qp, packet, 0);
	return ROCE_DONE;
}

/* @err: 0, -EACCES, -EAGAIN, or -EINVAL where a number cannot be reached at once */
static enum roce_verdict verdict_of(int err)
{
	switch (err) {
	case 0:
		return ROCE_DONE;
	case -EACCES:
		return ROCE_ACCESS_VIOLATION;
	case -EAGAIN:
		return ROCE_NOT_PRESENT;
	default:
		return ROCE_INVALID;
	}
}

static enum roce_verdict execute_atomic(struct roce_qp *qp,
					const struct roce_packet *packet)
{
	u8 operation = packet->opcode & ROCE_OPERATION_MASK;
	u64 original;
	struct roce_access access = roce_remote_access(qp, packet->rkey, packet->va,
						       sizeof(original),
						       IB_ACCESS_REMOTE_ATOMIC);
	int err;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC) ||
	    !roce_answer_has_room(qp))
		return ROCE_INVALID;
	err = operation == ROCE_COMPARE_SWAP ?
	      roce_access_compare_swap(&access, packet->compare,
				       packet->swap_add, &original) :
	      roce_access_fetch_add(&access, packet->swap_add, &original);
	if (err)
		return verdict_of(err);

	roce_count(qp, rx_atomic_requests);
	roce_answer_respond(qp, packet, original);
	return ROCE_DONE;
}

static enum roce_verdict execute_atomic_write(struct roce_qp *qp,
					      const struct roce_packet *packet)
{
	u64 number;
	struct roce_access access = roce_remote_access(qp, packet->rkey, packet->va,
						       sizeof(number),
						       IB_ACCESS_REMOTE_WRITE);
	int err;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE) ||
	    packet->length != sizeof(number) ||
	    packet->payload != sizeof(number) || !roce_answer_has_room(qp) ||
	    roce_packet_copy(packet, 0, &number, sizeof(number)))
		return ROCE_INVALID;
	err = roce_access_store(&access, number);
	if (err)
		return verdict_of(err);

	roce_answer_respond(qp, packet, 0);
	return ROCE_DONE;
}

/* Memory is not persistent: such access flags are not supported. */
static enum roce_verdict execute_flush(struct roce_qp *qp,
				       const struct roce_packet *packet)
{
	u32 placement = packet->flush & ROCE_FLUSH_PLACEMENT_MASK;
	u32 selectivity = packet->flush & ROCE_FLUSH_SELECTIVITY_MASK;
	bool range = selectivity == ROCE_FLUSH_RANGE;
	struct roce_access access =
		roce_remote_access(qp, packet->rkey, packet->va,
				   range ? packet->length : 0, 0);

	if (placement & ROCE_FLUSH_GLOBAL)
		access.rights |= IB_ACCESS_FLUSH_GLOBAL;
	if (placement & ROCE_FLUSH_PERSISTENT)
		access.rights |= IB_ACCESS_FLUSH_PERSISTENT;
	if (!access.rights ||
	    (qp->attr.qp_access_flags & access.rights) != access.rights ||
	    placement & ~(ROCE_FLUSH_GLOBAL | ROCE_FLUSH_PERSISTENT) ||
	    (!range && selectivity != ROCE_FLUSH_REGION) ||
	    !roce_answer_has_room(qp))
		return ROCE_INVALID;
	if (roce_access_flush(&access))
		return ROCE_ACCESS_VIOLATION;

	roce_answer_respond(qp, packet, 0);
	return ROCE_DONE;
}

/**
 * roce_execute() - execute a request packet
 * @qp: connected; its responder is owned by the caller
 * @packet: a request that fits into the present message; for RC, it has the expected
 *	PSN
 *
 * BH disabled, in a section. IBA volume 1, 9.7.4.1 and 9.7.5.1.
 *
 * Return: the result. After ROCE_NOT_READY nothing has changed, and the packet may
 * come again. After ROCE_NOT_PRESENT the caller keeps the packet until the memory is
 * present, see roce_engine_hold(); only memory that the message overwrites anyway may
 * have changed.
 */
enum roce_verdict roce_execute(struct roce_qp *qp, const struct roce_packet *packet)
{
	u32 flags = packet->info->flags;

	if (flags & ROCE_IS_SEND)
		return execute_send(qp, packet);
	if (flags & ROCE_IS_WRITE)
		return execute_write(qp, packet);
	if (flags & ROCE_IS_READ)
		return execute_read(qp, packet);
	if (flags & ROCE_IS_ATOMIC)
		return execute_atomic(qp, packet);
	if (flags & ROCE_IS_ATOMIC_WRITE)
		return execute_atomic_write(qp, packet);
	if (flags & ROCE_IS_FLUSH)
		return execute_flush(qp, packet);
	return ROCE_INVALID;
}
