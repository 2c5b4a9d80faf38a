// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Assertions about what verbs return and complete. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

static const char *error_str(int err)
{
	return err ? strerror(err) : "success";
}

void tap_errno(const char *name, int expected, int seen)
{
	if (expected == seen)
		tap_ok(name);
	else
		tap_not_ok(name, "expected %s, seen %s (%d)",
			   expected ? strerrorname_np(expected) : "success",
			   error_str(seen), seen);
}

void tap_refused(const char *name, int expected_errno, const void *object)
{
	if (object)
		tap_not_ok(name, "expected %s, seen success",
			   strerrorname_np(expected_errno));
	else
		tap_errno(name, expected_errno, errno);
}

void tap_state(const char *name, enum ibv_qp_state expected, struct ibv_qp *qp)
{
	enum ibv_qp_state seen = qp_state(qp);
	unsigned int ms;

	/* Error states are entered a moment after the completion. */
	for (ms = 0; ms < PATIENCE_MS && seen != expected; ms += 20) {
		sleep_ms(20);
		seen = qp_state(qp);
	}
	if (seen == expected)
		tap_ok(name);
	else
		tap_not_ok(name, "expected state %s, seen %s",
			   qp_state_str(expected), qp_state_str(seen));
}

static bool wc_matches(const char *name, struct ibv_cq *cq, uint64_t wr_id,
		       enum ibv_wc_status status)
{
	struct ibv_wc wc;

	if (!wait_wc(cq, &wc, PATIENCE_MS)) {
		tap_not_ok(name, "expected wr_id %lu with '%s', seen none in %d ms",
			   wr_id, ibv_wc_status_str(status), PATIENCE_MS);
		return false;
	}
	if (wc.wr_id == wr_id && wc.status == status)
		return true;
	tap_not_ok(name, "expected wr_id %lu with '%s', seen wr_id %lu with '%s'",
		   wr_id, ibv_wc_status_str(status), wc.wr_id,
		   ibv_wc_status_str(wc.status));
	return false;
}

bool tap_wc(const char *name, struct ibv_cq *cq, uint64_t wr_id,
	    enum ibv_wc_status status)
{
	if (!wc_matches(name, cq, wr_id, status))
		return false;
	tap_ok(name);
	return true;
}

void tap_wcs(const char *name, struct ibv_cq *cq, uint64_t first, uint64_t last,
	     enum ibv_wc_status status)
{
	uint64_t i;

	for (i = first; i <= last; i++)
		if (!wc_matches(name, cq, i, status))
			return;
	tap_ok(name);
}

void tap_no_wc(const char *name, struct ibv_cq *cq, unsigned int ms)
{
	struct ibv_wc wc;

	if (wait_wc(cq, &wc, ms))
		tap_not_ok(name, "expected none, seen wr_id %lu with '%s'",
			   wc.wr_id, ibv_wc_status_str(wc.status));
	else
		tap_ok(name);
}
