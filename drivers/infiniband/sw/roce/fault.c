// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Page faults of on-demand paging. Engines run in softirq and cannot sleep. An access to
 * memory that is not present notes the missing pages and fails with -EAGAIN. The engine
 * keeps the packet or the request, starts the fault, and returns. A work item, which may
 * sleep, makes the pages present and runs the engine again. The engine then repeats the
 * access.
 */
#include <linux/bottom_half.h>
#include <linux/sizes.h>

#include "fault.h"
#include "odp.h"

/*
 * Bytes to make present at once. A cold message would otherwise wait for each of its
 * packets, a long one must not fill the memory long before its packets arrive.
 */
#define MAX_AHEAD	SZ_256K

/*
 * Of its own: a fault may take as long as a disk or a file server needs. Many may wait, so
 * that others need not wait for them.
 */
static struct workqueue_struct *queue;

/* Whether the answer to this very access was an error */
static bool has_failed(const struct roce_fault *fault, const struct roce_odp *odp,
		       u64 address, bool write)
{
	return fault->err && fault->odp_id == odp->id && fault->address == address &&
	       fault->write == write;
}

/**
 * roce_fault_settle() - the pages of an access are present
 * @fault: of the engine; in its owner's hands
 * @odp: the memory
 * @address: in the program
 * @write: they are written to
 *
 * Somebody else may have made them present after an error, which is no answer to a later
 * access.
 */
void roce_fault_settle(struct roce_fault *fault, const struct roce_odp *odp, u64 address,
		       bool write)
{
	if (!roce_fault_is_pending(fault) && has_failed(fault, odp, address, write))
		fault->err = 0;
}

/**
 * roce_fault_need() - note that memory is missing
 * @fault: of the engine; in its owner's hands
 * @odp: the memory
 * @address: in the program
 * @length: bytes that are accessed, some of them missing
 * @ahead: bytes that lie in the region and may be accessed next, with these
 * @write: they are written to
 *
 * In a section that has found the region valid.
 *
 * Return: -EAGAIN: the caller keeps what it works on, and calls roce_fault_start() in
 * the same section. -EACCES if it has done so, and the pages cannot be made present.
 */
int roce_fault_need(struct roce_fault *fault, struct roce_odp *odp, u64 address,
		    u32 length, u64 ahead, bool write)
{
	bool failed;

	/* The access comes again when the present wait is over. */
	if (roce_fault_is_pending(fault))
		return -EAGAIN;
	failed = has_failed(fault, odp, address, write);
	fault->err = 0;
	if (failed)
		return -EACCES;

	fault->odp = odp;
	fault->odp_id = odp->id;
	fault->address = address;
	fault->length = length;
	fault->ahead = clamp_t(u64, ahead, length, max_t(u32, length, MAX_AHEAD));
	fault->write = write;
	return -EAGAIN;
}

/**
 * roce_fault_start() - make the noted memory present
 * @fault: noted in this section by roce_fault_need(); belongs to the work item until
 *	its done function is called. Nothing happens if it already does.
 *
 * BH disabled.
 */
void roce_fault_start(struct roce_fault *fault)
{
	if (roce_fault_is_pending(fault))
		return;
	roce_odp_get(fault->odp);
	WRITE_ONCE(fault->pending, true);
	queue_work(queue, &fault->work);
}

static void handle_fault(struct work_struct *work)
{
	struct roce_fault *fault = container_of(work, struct roce_fault, work);
	enum roce_odp_map how = fault->write ? ROCE_ODP_WRITE : ROCE_ODP_READ;
	long pages = roce_odp_map(fault->odp, fault->address, fault->ahead, how);

	/* What is behind the accessed bytes may not exist. */
	if (pages < 0 && fault->ahead > fault->length)
		pages = roce_odp_map(fault->odp, fault->address, fault->length, how);
	if (pages > 0)
		atomic64_add(pages, &fault->odp->page_faults);
	roce_odp_put(fault->odp);
	/* If the kernel took the pages back all the time, the access is tried again. */
	fault->err = pages == -EBUSY ? 0 : min(pages, 0l);

	local_bh_disable();
	/* Pairs with the acquire in roce_fault_is_pending(). */
	smp_store_release(&fault->pending, false);
	fault->done(fault);
	local_bh_enable();
}

/**
 * roce_fault_init() - initialize the faults of an engine
 * @fault: to be filled in
 * @engine: the engine
 * @done: called when the access can be repeated, with BH disabled
 */
void roce_fault_init(struct roce_fault *fault, struct roce_engine *engine,
		     void (*done)(struct roce_fault *fault))
{
	fault->engine = engine;
	fault->done = done;
	fault->pending = false;
	fault->err = 0;
	INIT_WORK(&fault->work, handle_fault);
}

/**
 * roce_fault_cancel() - end the wait for memory
 * @fault: of an engine that starts no other one
 *
 * Process context. Waits for a fault in progress.
 */
void roce_fault_cancel(struct roce_fault *fault)
{
	if (cancel_work_sync(&fault->work)) {
		roce_odp_put(fault->odp);
		fault->pending = false;
	}
	fault->err = 0;
}

/**
 * roce_faults_init() - make the work queue of page faults
 *
 * Return: 0 or -ENOMEM.
 */
int roce_faults_init(void)
{
	queue = alloc_workqueue("roce_faults", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return queue ? 0 : -ENOMEM;
}

/** roce_faults_exit() - undo roce_faults_init(); there is no region any more */
void roce_faults_exit(void)
{
	destroy_workqueue(queue);
}
