/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SECTION_H
#define ROCE_SECTION_H

#include <linux/percpu.h>
#include <linux/rcupdate.h>

/*
 * Sections of the data path: softirqs find QPs, regions and windows by their
 * numbers and use them within a section. To destroy an object, remove it from its
 * table, and then wait for all running sections.
 *
 * RCU alone would do, but a grace period involves all CPUs: an expedited one
 * interrupts them, a normal one takes milliseconds. roce_section_wait() only reads
 * a variable of each CPU, and waits for CPUs that are in a section at that moment.
 * The price is a memory barrier for each section, that is for each received train
 * and each run of an engine.
 */

/**
 * struct roce_section - state of a CPU
 * @depth: nesting level
 * @sequence: odd while the CPU is in a section; each section has another number
 */
struct roce_section {
	unsigned int depth;
	unsigned int sequence;
};

DECLARE_PER_CPU_ALIGNED(struct roce_section, roce_sections);

/**
 * roce_section_enter() - begin a section: objects found in it are not freed
 *
 * BH disabled, until roce_section_leave(). Sections nest. Each is also an RCU read
 * section.
 */
static inline void roce_section_enter(void)
{
	struct roce_section *section;

	rcu_read_lock();
	section = this_cpu_ptr(&roce_sections);
	if (section->depth++)
		return;
	WRITE_ONCE(section->sequence, section->sequence + 1);
	/* Pairs with the barrier in roce_section_wait(). */
	smp_mb();
}

/** roce_section_leave() - end a section: its objects must not be used any more */
static inline void roce_section_leave(void)
{
	struct roce_section *section = this_cpu_ptr(&roce_sections);

	if (!--section->depth)
		/* Pairs with the acquire in read_sequence(). */
		smp_store_release(&section->sequence, section->sequence + 1);
	rcu_read_unlock();
}

void roce_section_wait(void);

#endif /* ROCE_SECTION_H */
