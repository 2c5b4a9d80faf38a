// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work requests that change the meaning of keys and send nothing: local invalidate,
 * fast registration and bind (IBA volume 1, 10.6 and 11.4.1). The requester
 * executes them in order. Invalidation by packets is here, too.
 */
#include "fast_mr.h"
#include "key.h"
#include "mr.h"
#include "mw.h"
#include "qp.h"
#include "request.h"

/**
 * roce_invalidate() - invalidate a key
 * @qp: one of its engines is owned by the caller
 * @rkey: of a region or window
 * @by_peer: on behalf of a packet, not of the consumer
 *
 * In a section. On return no access through the key is possible or in progress.
 *
 * Return: 0, or -EINVAL if there is no such key or it may not be invalidated.
 */
int roce_invalidate(struct roce_qp *qp, u32 rkey, bool by_peer)
{
	struct roce_key *key = roce_key_find(qp->dev, rkey);

	if (!key)
		return -EINVAL;
	if (key->is_window)
		return roce_mw_invalidate(roce_mw_of_key(key), rkey, qp);
	return roce_fast_mr_invalidate(roce_mr_of_key(key), rkey, roce_qp_pd(qp),
				       by_peer);
}

/**
 * roce_request_execute() - execute a local operation
 * @qp: its requester is owned by the caller
 * @request: a local operation, valid
 *
 * In a section.
 *
 * Return: the completion status.
 */
enum ib_wc_status roce_request_execute(struct roce_qp *qp,
				       const struct roce_request *request)
{
	int err;

	switch (request->opcode) {
	case IB_WR_LOCAL_INV:
		err = roce_invalidate(qp, request->invalidate, false);
		break;
	case IB_WR_REG_MR:
		err = roce_fast_mr_register(&request->registration, roce_qp_pd(qp));
		break;
	case IB_WR_BIND_MW:
		err = roce_mw_bind(&request->binding, qp);
		break;
	default:
		err = -EINVAL;
		break;
	}
	/* The status of all memory management operations (11.6.2) */
	return err ? IB_WC_MW_BIND_ERR : IB_WC_SUCCESS;
}
