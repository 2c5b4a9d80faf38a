/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_FAULT_H
#define ROCE_FAULT_H

#include <linux/compiler.h>
#include <linux/workqueue.h>

struct roce_engine;
struct roce_odp;

/**
 * struct roce_fault - what an engine waits for when memory is not present
 * @engine: the engine
 * @done: called when the wait is over, with BH disabled
 * @work: makes the pages present
 * @pending: @work has it; else the owner of the engine has it
 * @write: the memory will be written to
 * @length: bytes that must be present
 * @ahead: bytes that the message will probably need, @length of them at once
 * @address: in the program, of the first byte
 * @odp: the memory, kept while @pending
 * @odp_id: its id
 * @err: why the pages that were missing last cannot be made present, else 0
 */
struct roce_fault {
	struct roce_engine *engine;
	void (*done)(struct roce_fault *fault);
	struct work_struct work;
	bool pending;
	bool write;
	u32 length;
	u32 ahead;
	u64 address;
	struct roce_odp *odp;
	u64 odp_id;
	int err;
};

int roce_faults_init(void);
void roce_faults_exit(void);
void roce_fault_init(struct roce_fault *fault, struct roce_engine *engine,
		     void (*done)(struct roce_fault *fault));
void roce_fault_settle(struct roce_fault *fault, const struct roce_odp *odp, u64 address,
		       bool write);
int roce_fault_need(struct roce_fault *fault, struct roce_odp *odp, u64 address,
		    u32 length, u64 ahead, bool write);
void roce_fault_start(struct roce_fault *fault);
void roce_fault_cancel(struct roce_fault *fault);

/**
 * roce_fault_is_pending() - whether an engine still waits for memory
 * @fault: of the engine, whose owner the caller is
 */
static inline bool roce_fault_is_pending(const struct roce_fault *fault)
{
	/* Pairs with the release in handle_fault(). */
	return smp_load_acquire(&fault->pending);
}

#endif /* ROCE_FAULT_H */
