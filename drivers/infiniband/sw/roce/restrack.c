// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What "rdma resource show -dd" tells of an object beyond what the core knows.
 *
 * Engines go on while they are looked at, and nothing waits: each number is
 * right, but two of them may be of different moments.
 */
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "qp.h"

struct detail {
	const char *name;
	u64 value;
};

static int put_details(struct sk_buff *msg, const struct detail *details,
		       size_t count, const char *kind)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	if (kind && rdma_nl_put_driver_string(msg, "kind", kind))
		goto cancel;
	for (; count--; details++)
		if (rdma_nl_put_driver_u64(msg, details->name, details->value))
			goto cancel;
	nla_nest_end(msg, table);
	return 0;

cancel:
	nla_nest_cancel(msg, table);
	return -EMSGSIZE;
}

/**
 * roce_fill_res_qp_entry() - the fill_res_qp_entry verb
 * @msg: to be added to
 * @ibqp: the QP, referenced by the core
 *
 * Process context.
 *
 * Return: 0 or -EMSGSIZE.
 */
int roce_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct roce_qp *qp = to_roce_qp(ibqp);
	const struct roce_requester *requester = &qp->requester;
	const struct roce_responder *responder = &qp->responder;
	u32 unacked = READ_ONCE(requester->unacked_psn);
	u32 completed = READ_ONCE(requester->completed);
	const struct detail details[] = {
		{ "mtu", READ_ONCE(qp->mtu) },
		{ "udp_source_port", READ_ONCE(qp->source_port) },
		{ "sq_psn", READ_ONCE(requester->psn) },
		{ "sq_unacked_psn", unacked },
		{ "sq_in_flight",
		  roce_psn_add(READ_ONCE(requester->psn), -unacked) },
		{ "sq_outstanding", READ_ONCE(requester->fetched) - completed },
		{ "sq_reads_and_atomics", READ_ONCE(requester->asked) },
		{ "sq_recovering", READ_ONCE(requester->recovering) },
		{ "sq_waiting", READ_ONCE(requester->waiting) },
		{ "ack_timeout", READ_ONCE(qp->attr.timeout) },
		{ "retries_left", READ_ONCE(requester->retries) },
		{ "rnr_retries_left", READ_ONCE(requester->rnr_retries) },
		{ "rq_psn", READ_ONCE(responder->psn) },
		{ "rq_msn", READ_ONCE(responder->msn) },
	};

	return put_details(msg, details, ARRAY_SIZE(details), NULL);
}

/**
 * roce_fill_res_cq_entry() - the fill_res_cq_entry verb
 * @msg: to be added to
 * @ibcq: the CQ, referenced by the core
 *
 * Process context.
 *
 * Return: 0 or -EMSGSIZE.
 */
int roce_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct roce_cq *cq = to_roce_cq(ibcq);
	struct detail details[3];

	/* The ring can be exchanged. */
	spin_lock_irq(&cq->lock);
	details[0] = (struct detail) { "entries", roce_ring_used(&cq->ring) };
	details[1] = (struct detail) { "armed", !!cq->notify };
	details[2] = (struct detail) { "overflowed", cq->overflowed };
	spin_unlock_irq(&cq->lock);
	return put_details(msg, details, ARRAY_SIZE(details), NULL);
}

static const char *mr_kind(const struct roce_mr *mr)
{
	switch (mr->kind) {
	case ROCE_MR_USER:
		return "user";
	case ROCE_MR_DMA:
		return "dma";
	case ROCE_MR_FAST:
		return "fast";
	}
	return "unknown";
}

/**
 * roce_fill_res_mr_entry() - the fill_res_mr_entry verb
 * @msg: to be added to
 * @ibmr: the region, referenced by the core
 *
 * Process context.
 *
 * Return: 0 or -EMSGSIZE.
 */
int roce_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct roce_mr *mr = to_roce_mr(ibmr);
	/* Not of the umem, which a program can exchange meanwhile. */
	u64 pages = mr->kind == ROCE_MR_DMA ? 0 :
		    DIV_ROUND_UP_ULL(READ_ONCE(mr->length) +
				     READ_ONCE(mr->first_offset), PAGE_SIZE);
	const struct detail details[] = {
		{ "pages", pages },
		{ "access", READ_ONCE(mr->access) },
		{ "valid", READ_ONCE(mr->valid) },
		{ "windows", READ_ONCE(mr->windows) },
	};

	return put_details(msg, details, ARRAY_SIZE(details), mr_kind(mr));
}
