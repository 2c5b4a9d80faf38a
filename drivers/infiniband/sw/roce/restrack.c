// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The details that "rdma resource show -dd" prints beyond those of the core.
 *
 * Engines keep running meanwhile, and nothing waits. Each number is correct, but two
 * of them may be of different moments.
 */
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "cq.h"
#include "flow.h"
#include "mr.h"
#include "odp.h"
#include "path.h"
#include "qp.h"
#include "ring.h"
#include "roce_psn.h"
#include "verbs.h"

static int put_numbers(struct sk_buff *msg, const struct roce_detail *details,
		       size_t count)
{
	for (; count--; details++)
		if (rdma_nl_put_driver_u64(msg, details->name, details->value))
			return -EMSGSIZE;
	return 0;
}

static int end_table(struct sk_buff *msg, struct nlattr *table, int err)
{
	if (err)
		nla_nest_cancel(msg, table);
	else
		nla_nest_end(msg, table);
	return err;
}

static int put_table(struct sk_buff *msg, const struct roce_detail *details,
		     size_t count)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	return end_table(msg, table, put_numbers(msg, details, count));
}

static int put_flow(struct sk_buff *msg, struct roce_qp *qp)
{
	struct roce_flow_view flow;
	struct roce_detail details[4];
	int err;

	rcu_read_lock();
	if (!roce_flow_look(qp, &flow)) {
		rcu_read_unlock();
		return 0;
	}
	details[0] = (struct roce_detail) { "cc_limited", flow.limited };
	details[1] = (struct roce_detail) { "cc_rate", flow.rate };
	details[2] = (struct roce_detail) { "cc_cnps_sent", flow.cnps_sent };
	details[3] = (struct roce_detail) {
		"cc_cnps_handled", flow.cnps_handled
	};
	err = rdma_nl_put_driver_string(msg, "cc_algorithm", flow.algorithm) ?:
	      put_numbers(msg, details, ARRAY_SIZE(details)) ?:
	      put_numbers(msg, flow.detail, flow.details);
	rcu_read_unlock();
	return err;
}

static const char * const path_states[] = {
	[ROCE_PATH_GOOD] = "good",
	[ROCE_PATH_LEFT] = "left",
};

static int put_path(struct sk_buff *msg, const struct roce_path *path, u32 number)
{
	char name[16], text[96];

	snprintf(name, sizeof(name), "path_%u", number);
	snprintf(text, sizeof(text), "%s rtt_us %llu sent %llu lost %llu",
		 path_states[roce_peek(path->state)],
		 div_u64(roce_peek(path->srtt), NSEC_PER_USEC),
		 roce_peek(path->sent), roce_peek(path->lost));
	return rdma_nl_put_driver_string(msg, name, text);
}

static int put_paths(struct sk_buff *msg, const struct roce_qp *qp)
{
	const struct roce_paths *paths;
	int err = 0;
	u32 i;

	rcu_read_lock();
	/* Pairs with the release in get_paths(). */
	paths = smp_load_acquire(&qp->requester.paths);
	for (i = 0; paths && i < roce_peek(paths->count) && !err; i++)
		err = put_path(msg, &paths->path[i], i);
	rcu_read_unlock();
	return err;
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
	struct roce_qp *qp = to_roce_qp(ibqp);
	const struct roce_requester *requester = &qp->requester;
	const struct roce_responder *responder = &qp->responder;
	u32 unacked = roce_peek(requester->unacked_psn);
	u32 completed = roce_peek(requester->completed);
	const struct roce_detail details[] = {
		{ "mtu", roce_peek(qp->mtu) },
		{ "udp_source_port", roce_peek(qp->source_port) },
		{ "sq_psn", roce_peek(requester->psn) },
		{ "sq_unacked_psn", unacked },
		{ "sq_in_flight",
		  roce_psn_add(roce_peek(requester->psn), -unacked) },
		{ "sq_outstanding", roce_peek(requester->fetched) - completed },
		{ "sq_reads_and_atomics", roce_peek(requester->asked) },
		{ "sq_recovering", roce_peek(requester->recovering) },
		{ "sq_waiting", roce_peek(requester->sender.wait_end) > ktime_get() },
		{ "ack_timeout", roce_peek(qp->attr.timeout) },
		{ "retries_left", roce_peek(requester->retries) },
		{ "rnr_retries_left", roce_peek(requester->rnr_retries) },
		{ "rq_psn", roce_peek(responder->psn) },
		{ "rq_msn", roce_peek(responder->msn) },
	};
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	return end_table(msg, table,
			 put_numbers(msg, details, ARRAY_SIZE(details)) ?:
			 put_flow(msg, qp) ?: put_paths(msg, qp));
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
	struct roce_detail details[3];

	/* The ring can be exchanged; older cores call this after it was freed. */
	spin_lock_irq(&cq->lock);
	details[0] = (struct roce_detail) {
		"entries", cq->ring.buf ? roce_ring_unconsumed(&cq->ring) : 0
	};
	details[1] = (struct roce_detail) { "armed", !!cq->notify };
	details[2] = (struct roce_detail) { "overflowed", cq->overflowed };
	spin_unlock_irq(&cq->lock);
	return put_table(msg, details, ARRAY_SIZE(details));
}

static const char *kind_name(enum roce_mr_kind kind)
{
	switch (kind) {
	case ROCE_MR_USER:
		return "user";
	case ROCE_MR_DMABUF:
		return "dmabuf";
	case ROCE_MR_DMA:
		return "dma";
	case ROCE_MR_FAST:
		return "fast";
	case ROCE_MR_ODP:
		return "odp";
	}
	return "unknown";
}

static u64 pages_of(const struct roce_mr *mr)
{
	lockdep_assert_held(&mr->lock.rwlock);
	/* Of all memory of the kernel, or of the program */
	if (mr->length == U64_MAX)
		return 0;
	return DIV_ROUND_UP_ULL(mr->length + offset_in_page(mr->first_offset),
				PAGE_SIZE);
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
	struct roce_mr *mr = to_roce_mr(ibmr);
	struct roce_detail details[4];
	enum roce_mr_kind kind;
	struct nlattr *table;

	/* A program can rereg the region meanwhile. */
	roce_fair_read_lock(&mr->lock);
	kind = mr->kind;
	details[0] = (struct roce_detail) { "pages", pages_of(mr) };
	details[1] = (struct roce_detail) { "access", mr->access };
	details[2] = (struct roce_detail) { "valid", mr->valid };
	details[3] = (struct roce_detail) { "windows", mr->windows };
	roce_fair_read_unlock(&mr->lock);

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	return end_table(msg, table,
			 rdma_nl_put_driver_string(msg, "kind", kind_name(kind)) ?:
			 put_numbers(msg, details, ARRAY_SIZE(details)));
}

/**
 * roce_fill_stat_mr_entry() - the fill_stat_mr_entry verb, for "rdma statistic show mr"
 * @msg: to be added to
 * @ibmr: the region, referenced by the core
 *
 * Process context. The names are those of mlx5; the values count pages.
 *
 * Return: 0 or -EMSGSIZE.
 */
int roce_fill_stat_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct roce_odp *odp = to_roce_mr(ibmr)->odp;
	struct nlattr *table;
	int err;

	if (!odp)
		return 0;
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	err = rdma_nl_stat_hwcounter_entry(msg, "page_faults",
					   atomic64_read(&odp->page_faults)) ?:
	      rdma_nl_stat_hwcounter_entry(msg, "page_invalidations",
					   atomic64_read(&odp->page_invalidations)) ?:
	      rdma_nl_stat_hwcounter_entry(msg, "page_prefetch",
					   atomic64_read(&odp->page_prefetches));
	return end_table(msg, table, err);
}
