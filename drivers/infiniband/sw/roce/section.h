/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_SECTION_H
#define ROCE_SECTION_H

#include <linux/percpu.h>
#include <linux/rcupdate.h>

/*
 * Sections of the data path: softirq finds QPs, regions and windows by their
 * numbers and uses them within a section. Who destroys one takes it out of its
 * table first, and then waits for the sections that have begun before.
 *
 * An RCU grace period would do, but it takes all CPUs: an expedited one interrupts
 * them, another one lasts for milliseconds. roce_section_wait() only looks at
 * what each CPU has said, and waits for those that are in a section just then. The
 * price is a memory barrier for each section, which is a received train, or a
 * run of an engine.
 */

/**
 * struct roce_section - what a CPU tells of its section
 * @depth: sections in each other
 * @sequence: odd while the CPU is in a section, another number in the next one
 */
struct roce_section {
	unsigned int depth;
	unsigned int sequence;
};

DECLARE_PER_CPU_ALIGNED(struct roce_section, roce_sections);

/**
 * roce_section_enter() - from now on, objects that are found stay
 *
 * BH disabled, until roce_section_leave(). Sections nest. Each is an RCU read
 * section, too.
 */
static inline void roce_section_enter(void)
{
	struct roce_section *section;

	rcu_read_lock();
	section = this_cpu_ptr(&roce_sections);
	if (section->depth++)
		return;
	WRITE_ONCE(section->sequence, section->sequence + 1);
	/* Pairs with that in roce_section_wait(). */
	smp_mb();
}

/** roce_section_leave() - objects that were found are not used any more */
static inline void roce_section_leave(void)
{
	struct roce_section *section = this_cpu_ptr(&roce_sections);

	if (!--section->depth)
		/* All use of what was found is before it. */
		smp_store_release(&section->sequence, section->sequence + 1);
	rcu_read_unlock();
}

void roce_section_wait(void);

#endif /* ROCE_SECTION_H */
