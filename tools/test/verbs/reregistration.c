// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reregistration of memory regions */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs.h"

static struct ibv_mr *region(struct duo *d, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(d->b.pd, d->b.buf, PAGE, access);

	if (!mr)
		die_errno(errno, "ibv_reg_mr");
	return mr;
}

static void write_to(struct duo *d, uint64_t wr_id, struct ibv_mr *mr,
		     uint64_t address, uint32_t length)
{
	memset(d->a.buf, 0x42, length);
	if (post_rdma(d, IBV_WR_RDMA_WRITE, wr_id, sge_of(&d->a, 0, length),
		      address, mr->rkey))
		die("ibv_post_send");
}

static void access_rights(void)
{
	struct ibv_mr *mr;
	struct duo d;

	duo_open(&d, NULL);
	/* Pinned for reading: to be written to it must be pinned again. */
	mr = region(&d, 0);
	tap_errno("a region gets more rights", 0,
		  rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, d.b.pd, NULL, 0, 0,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	write_to(&d, 1, mr, (uintptr_t)d.b.buf, PAGE);
	tap_wc("and can be written to", d.a.scq, 1, IBV_WC_SUCCESS);
	tap_true("by the peer", d.b.buf[0] == 0x42 && d.b.buf[PAGE - 1] == 0x42);
	tap_errno("but other addresses only with its memory", EINVAL,
		  rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, d.b.pd, NULL, 0, 0,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_ZERO_BASED));

	tap_errno("REMOTE_WRITE without LOCAL_WRITE is refused", EINVAL,
		  rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, d.b.pd, NULL, 0, 0,
			IBV_ACCESS_REMOTE_WRITE));
	write_to(&d, 2, mr, (uintptr_t)d.b.buf, PAGE);
	tap_wc("and leaves the region as it was", d.a.scq, 2, IBV_WC_SUCCESS);

	tap_errno("it loses its rights", 0,
		  rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, d.b.pd, NULL, 0, 0, 0));
	write_to(&d, 3, mr, (uintptr_t)d.b.buf, 1);
	tap_wc("and is closed", d.a.scq, 3, IBV_WC_REM_ACCESS_ERR);
	ibv_dereg_mr(mr);
	duo_close(&d);
}

static void translation(void)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	const uint64_t iova = 0x10000000;
	struct ibv_mr *mr;
	struct duo d;

	duo_open(&d, NULL);
	mr = region(&d, access);
	memset(d.b.buf, 0, BUF_SIZE);
	tap_errno("a region moves to other memory", 0,
		  rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, d.b.pd,
			d.b.buf + 2 * PAGE, 2 * PAGE,
			iova + (uintptr_t)d.b.buf % PAGE, access));
	write_to(&d, 1, mr, iova + (uintptr_t)d.b.buf % PAGE, 2 * PAGE);
	tap_wc("is written to at its new address", d.a.scq, 1, IBV_WC_SUCCESS);
	tap_true("and the bytes are there", d.b.buf[2 * PAGE] == 0x42 &&
		 d.b.buf[4 * PAGE - 1] == 0x42 && !d.b.buf[2 * PAGE - 1] &&
		 !d.b.buf[4 * PAGE]);
	tap_errno("memory that is not mapped is refused", EFAULT,
		  rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, d.b.pd,
			(void *)PAGE, PAGE, PAGE, access));
	write_to(&d, 2, mr, iova + (uintptr_t)d.b.buf % PAGE, 1);
	tap_wc("and leaves the region where it was", d.a.scq, 2, IBV_WC_SUCCESS);
	write_to(&d, 3, mr, (uintptr_t)d.b.buf, 1);
	tap_wc("its old address is refused", d.a.scq, 3, IBV_WC_REM_ACCESS_ERR);
	ibv_dereg_mr(mr);
	duo_close(&d);
}

static void protection_domain(void)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	struct duo d;

	duo_open(&d, NULL);
	mr = region(&d, access);
	pd = ibv_alloc_pd(d.b.port->ctx);
	tap_errno("a region moves to another protection domain", 0,
		  rereg(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0, 0));
	tap_errno("which it keeps busy", EBUSY, ibv_dealloc_pd(pd));
	tap_errno("and comes back", 0,
		  rereg(mr, IBV_REREG_MR_CHANGE_PD, d.b.pd, NULL, 0, 0, 0));
	write_to(&d, 1, mr, (uintptr_t)d.b.buf, 8);
	tap_wc("where it works", d.a.scq, 1, IBV_WC_SUCCESS);
	rereg(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0, 0);
	write_to(&d, 2, mr, (uintptr_t)d.b.buf, 8);
	tap_wc("a QP of another protection domain is refused", d.a.scq, 2,
	       IBV_WC_REM_ACCESS_ERR);
	ibv_dereg_mr(mr);
	tap_errno("then the protection domain can go", 0, ibv_dealloc_pd(pd));
	duo_close(&d);
}

static void bound_window(void)
{
	struct ibv_mw_bind bind = { .wr_id = 1, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct duo d;

	duo_open(&d, NULL);
	mr = region(&d, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(d.b.pd, IBV_MW_TYPE_1);
	if (!mw)
		die_errno(errno, "ibv_alloc_mw");
	bind.bind_info = (struct ibv_mw_bind_info) {
		.mr = mr, .addr = (uintptr_t)d.b.buf, .length = 8,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ,
	};
	ibv_bind_mw(d.b.qp, mw, &bind);
	tap_wc("a window is bound", d.b.scq, 1, IBV_WC_SUCCESS);
	tap_errno("its region is busy", EBUSY,
		  rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, d.b.pd, NULL, 0, 0, 0));
	ibv_dealloc_mw(mw);
	tap_errno("until the window goes", 0,
		  rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, d.b.pd, NULL, 0, 0, 0));
	ibv_dereg_mr(mr);
	duo_close(&d);
}

void test_reregistration(void)
{
	access_rights();
	translation();
	protection_domain();
	bound_window();
}
