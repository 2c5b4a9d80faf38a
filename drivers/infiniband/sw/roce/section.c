// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Waits for the sections of other CPUs. The header says what a section is.
 */
#include <linux/delay.h>

#include "section.h"

DEFINE_PER_CPU_ALIGNED(struct roce_section, roce_sections);

static unsigned int read_sequence(const struct roce_section *section)
{
	/* Pairs with the release in roce_section_leave(). */
	return smp_load_acquire(&section->sequence);
}

static void wait_for_cpu(const struct roce_section *section)
{
	unsigned int sequence = read_sequence(section);

	if (!(sequence & 1))
		return;
	while (read_sequence(section) == sequence)
		usleep_range(10, 50);
}

/**
 * roce_section_wait() - wait for all running sections
 *
 * Later sections see the caller's earlier writes: they do not find an object that
 * was removed from its table, and they read a flag as cleared that was cleared.
 *
 * Process context. A section lasts as long as the budget of an engine.
 */
void roce_section_wait(void)
{
	int cpu;

	might_sleep();
	/*
	 * Pairs with the barrier in roce_section_enter(): either this CPU sees the
	 * section, or the section sees this CPU's earlier writes.
	 */
	smp_mb();
	for_each_possible_cpu(cpu)
		wait_for_cpu(per_cpu_ptr(&roce_sections, cpu));
}
