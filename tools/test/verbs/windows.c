// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory windows of type 1 and 2B, and what takes a key away. */
#include <errno.h>
#include <string.h>

#include "verbs.h"

#define START	1000		/* of a window in the region */
#define LENGTH	2000		/* of a window */

/*
 * The region of end b is closed to peers but for windows. a writes, b binds and
 * invalidates.
 */
struct house {
	struct duo d;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static void house_open(struct house *h, enum ibv_mw_type type)
{
	duo_open(&h->d, NULL);
	h->mr = ibv_reg_mr(h->d.b.pd, h->d.b.buf, BUF_SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	if (!h->mr)
		die_errno(errno, "ibv_reg_mr");
	h->mw = ibv_alloc_mw(h->d.b.pd, type);
	if (!h->mw)
		die_errno(errno, "ibv_alloc_mw");
}

static void house_close(struct house *h)
{
	if (h->mw)
		tap_errno("a window is deallocated", 0, ibv_dealloc_mw(h->mw));
	tap_errno("and its region is deregistered", 0, ibv_dereg_mr(h->mr));
	duo_close(&h->d);
}

static struct ibv_mw_bind_info bind_info(struct house *h)
{
	return (struct ibv_mw_bind_info) {
		.mr = h->mr,
		.addr = (uintptr_t)h->d.b.buf + START,
		.length = LENGTH,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
}

static int bind_type_1(struct house *h, uint64_t wr_id, uint64_t length)
{
	struct ibv_mw_bind bind = {
		.wr_id = wr_id,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = bind_info(h),
	};

	bind.bind_info.length = length;
	return ibv_bind_mw(h->d.b.qp, h->mw, &bind);
}

static int bind_type_2(struct house *h, struct ibv_qp *qp, uint64_t wr_id,
		       uint32_t rkey, unsigned int access)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = h->mw, .rkey = rkey, .bind_info = bind_info(h) },
	}, *bad;
	int err;

	wr.bind_mw.bind_info.mw_access_flags = access;
	err = ibv_post_send(qp, &wr, &bad);
	if (!err)
		h->mw->rkey = rkey;
	return err;
}

static int post_invalidate(struct ibv_qp *qp, enum ibv_wr_opcode opcode,
			   uint64_t wr_id, uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = rkey,
	}, *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static void post_write(struct house *h, uint64_t wr_id, uint64_t addr,
		       uint32_t rkey, uint32_t length)
{
	if (post_rdma(&h->d, IBV_WR_RDMA_WRITE, wr_id, sge_of(&h->d.a, 0, length),
		      addr, rkey))
		die("ibv_post_send");
}

static uint64_t window_address(const struct house *h)
{
	return (uintptr_t)h->d.b.buf + START;
}

static void tap_completion(const char *name, struct ibv_cq *cq, uint64_t wr_id,
			   enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = {};

	if (!wait_wc(cq, &wc, PATIENCE_MS))
		tap_not_ok(name, "no completion");
	else if (wc.status || wc.wr_id != wr_id || wc.opcode != opcode)
		tap_not_ok(name, "status '%s', wr_id %lu, opcode %s",
			   ibv_wc_status_str(wc.status), (long)wc.wr_id,
			   wc_opcode_str(wc.opcode));
	else
		tap_ok(name);
}

static void type_1(void)
{
	struct house h;
	uint32_t old;

	house_open(&h, IBV_MW_TYPE_1);
	tap_errno("a window of type 1 is bound", 0, bind_type_1(&h, 1, LENGTH));
	tap_completion("and its bind completes", h.d.b.scq, 1, IBV_WC_BIND_MW);
	memset(h.d.a.buf, 0x42, BUF_SIZE);
	memset(h.d.b.buf, 0, BUF_SIZE);
	post_write(&h, 2, window_address(&h), h.mw->rkey, LENGTH);
	tap_wc("a write through the window arrives", h.d.a.scq, 2, IBV_WC_SUCCESS);
	tap_true("where the window is", !h.d.b.buf[START - 1] &&
		 h.d.b.buf[START] == 0x42 && h.d.b.buf[START + LENGTH - 1] == 0x42 &&
		 !h.d.b.buf[START + LENGTH]);
	tap_errno("a region with a bound window is busy", EBUSY,
		  ibv_dereg_mr(h.mr));

	old = h.mw->rkey;
	tap_errno("it is bound again", 0, bind_type_1(&h, 3, LENGTH));
	tap_wc("which completes, too", h.d.b.scq, 3, IBV_WC_SUCCESS);
	post_write(&h, 4, window_address(&h), h.mw->rkey, LENGTH);
	tap_wc("its new key is good", h.d.a.scq, 4, IBV_WC_SUCCESS);
	post_write(&h, 5, window_address(&h), old, LENGTH);
	tap_wc("its old key is not", h.d.a.scq, 5, IBV_WC_REM_ACCESS_ERR);
	house_close(&h);
}

static void type_1_unbound(void)
{
	struct house h;

	house_open(&h, IBV_MW_TYPE_1);
	bind_type_1(&h, 1, LENGTH);
	bind_type_1(&h, 2, 0);
	tap_wcs("a window of type 1 is bound and taken off", h.d.b.scq, 1, 2,
		IBV_WC_SUCCESS);
	post_write(&h, 3, window_address(&h), h.mw->rkey, 1);
	tap_wc("and nobody comes through it any more", h.d.a.scq, 3,
	       IBV_WC_REM_ACCESS_ERR);
	house_close(&h);
}

static void refused_write(const char *name, long offset, uint32_t length,
			  bool by_region)
{
	struct house h;

	house_open(&h, IBV_MW_TYPE_2);
	bind_type_2(&h, h.d.b.qp, 1, ibv_inc_rkey(h.mw->rkey),
		    IBV_ACCESS_REMOTE_WRITE);
	tap_wc("a window of type 2 is bound", h.d.b.scq, 1, IBV_WC_SUCCESS);
	memset(h.d.b.buf, 0x77, BUF_SIZE);
	post_write(&h, 2, window_address(&h) + offset,
		   by_region ? h.mr->rkey : h.mw->rkey, length);
	tap_wc(name, h.d.a.scq, 2, IBV_WC_REM_ACCESS_ERR);
	tap_true("and not a byte is written",
		 !memcmp(h.d.b.buf, h.d.b.buf + 1, BUF_SIZE - 1) &&
		 h.d.b.buf[0] == 0x77);
	house_close(&h);
}

static void ranges(void)
{
	refused_write("a write past the end of a window is refused", 1, LENGTH,
		      false);
	refused_write("a write before a window is refused", -1, 2, false);
	refused_write("a region that is open to windows only is closed", 0, 1,
		      true);
}

static void local_invalidate(void)
{
	struct house h;
	uint32_t rkey;

	house_open(&h, IBV_MW_TYPE_2);
	rkey = ibv_inc_rkey(h.mw->rkey);
	bind_type_2(&h, h.d.b.qp, 1, rkey,
		    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED);
	tap_completion("a zero-based window of type 2 is bound", h.d.b.scq, 1,
		       IBV_WC_BIND_MW);
	memset(h.d.a.buf, 0x24, BUF_SIZE);
	post_write(&h, 2, 0, rkey, LENGTH);
	tap_wc("a write to its address 0 arrives", h.d.a.scq, 2, IBV_WC_SUCCESS);
	tap_true("at its beginning", h.d.b.buf[START] == 0x24);

	post_invalidate(h.d.b.qp, IBV_WR_LOCAL_INV, 3, rkey);
	tap_completion("it is invalidated", h.d.b.scq, 3, IBV_WC_LOCAL_INV);
	bind_type_2(&h, h.d.b.qp, 4, ibv_inc_rkey(rkey), IBV_ACCESS_REMOTE_WRITE);
	tap_wc("and bound again", h.d.b.scq, 4, IBV_WC_SUCCESS);
	post_write(&h, 5, window_address(&h), h.mw->rkey, LENGTH);
	tap_wc("its new key is good", h.d.a.scq, 5, IBV_WC_SUCCESS);
	post_write(&h, 6, 0, rkey, 1);
	tap_wc("its old key is not", h.d.a.scq, 6, IBV_WC_REM_ACCESS_ERR);
	house_close(&h);
}

static void send_with_invalidate(void)
{
	struct ibv_wc wc = {};
	struct house h;

	house_open(&h, IBV_MW_TYPE_2);
	bind_type_2(&h, h.d.b.qp, 1, ibv_inc_rkey(h.mw->rkey),
		    IBV_ACCESS_REMOTE_WRITE);
	tap_wc("a window is bound", h.d.b.scq, 1, IBV_WC_SUCCESS);
	post_recv(&h.d.b, 2, sge_of(&h.d.b, 0, 100));
	post_invalidate(h.d.a.qp, IBV_WR_SEND_WITH_INV, 3, h.mw->rkey);
	tap_wc("SEND with invalidate completes", h.d.a.scq, 3, IBV_WC_SUCCESS);
	tap_true("and is received", wait_wc(h.d.b.rcq, &wc, PATIENCE_MS) &&
		 wc.status == IBV_WC_SUCCESS && wc.wr_id == 2);
	tap_true("the receiver is told that a key is gone",
		 wc.wc_flags & IBV_WC_WITH_INV);
	tap_int("and which one", h.mw->rkey, wc.invalidated_rkey);
	post_write(&h, 4, window_address(&h), h.mw->rkey, 1);
	tap_wc("the key is stale", h.d.a.scq, 4, IBV_WC_REM_ACCESS_ERR);
	house_close(&h);
}

static void invalidate_what_cannot_be(void)
{
	struct house h;
	struct ibv_wc wc = {};

	house_open(&h, IBV_MW_TYPE_1);
	bind_type_1(&h, 1, LENGTH);
	tap_wc("a window of type 1 is bound", h.d.b.scq, 1, IBV_WC_SUCCESS);
	post_recv(&h.d.b, 2, sge_of(&h.d.b, 0, 100));
	post_invalidate(h.d.a.qp, IBV_WR_SEND_WITH_INV, 3, h.mw->rkey);
	tap_wc("a peer cannot invalidate it", h.d.a.scq, 3, IBV_WC_REM_ACCESS_ERR);
	tap_true("and its message is no success", wait_wc(h.d.b.rcq, &wc, PATIENCE_MS) &&
		 wc.status != IBV_WC_SUCCESS && wc.wr_id == 2);
	house_close(&h);

	house_open(&h, IBV_MW_TYPE_2);
	post_invalidate(h.d.b.qp, IBV_WR_LOCAL_INV, 1, h.mr->rkey);
	tap_wc("a registered region cannot be invalidated", h.d.b.scq, 1,
	       IBV_WC_MW_BIND_ERR);
	tap_state("which ends in ERR", IBV_QPS_ERR, h.d.b.qp);
	house_close(&h);

	house_open(&h, IBV_MW_TYPE_2);
	post_invalidate(h.d.b.qp, IBV_WR_LOCAL_INV, 1, h.mw->rkey);
	tap_wc("a window that is not bound cannot be invalidated", h.d.b.scq, 1,
	       IBV_WC_MW_BIND_ERR);
	house_close(&h);
}

static void bad_bind(const char *name, int access, int region_access)
{
	struct house h;

	house_open(&h, IBV_MW_TYPE_2);
	ibv_dereg_mr(h.mr);
	h.mr = ibv_reg_mr(h.d.b.pd, h.d.b.buf, BUF_SIZE, region_access);
	if (!h.mr)
		die_errno(errno, "ibv_reg_mr");
	bind_type_2(&h, h.d.b.qp, 1, ibv_inc_rkey(h.mw->rkey), access);
	tap_wc(name, h.d.b.scq, 1, IBV_WC_MW_BIND_ERR);
	house_close(&h);
}

static void bad_binds(void)
{
	struct house h;
	uint32_t rkey;

	bad_bind("a region without MW_BIND takes no window",
		 IBV_ACCESS_REMOTE_READ, IBV_ACCESS_LOCAL_WRITE);
	bad_bind("a region without LOCAL_WRITE takes no window for writing",
		 IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_MW_BIND);

	house_open(&h, IBV_MW_TYPE_2);
	rkey = ibv_inc_rkey(h.mw->rkey);
	bind_type_2(&h, h.d.b.qp, 1, rkey, IBV_ACCESS_REMOTE_WRITE);
	tap_wc("a window of type 2 is bound once", h.d.b.scq, 1, IBV_WC_SUCCESS);
	bind_type_2(&h, h.d.b.qp, 2, ibv_inc_rkey(rkey), IBV_ACCESS_REMOTE_WRITE);
	tap_wc("and not a second time", h.d.b.scq, 2, IBV_WC_MW_BIND_ERR);
	house_close(&h);
}

void test_windows(void)
{
	type_1();
	type_1_unbound();
	ranges();
	local_invalidate();
	send_with_invalidate();
	invalidate_what_cannot_be();
	bad_binds();
}
