// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * metronome: how much of the time has this machine run?
 *
 * Wakes every 5 ms, before anybody else, until its standard input ends, and prints
 * "RUN LOST": microseconds in which it did so in time, and those by which it was late.
 * An emulated machine on a busy host is stopped now and then, for its clock goes on: what
 * has a rate keeps it in RUN, not in the sum.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "util.h"

#define PERIOD_US 5000
#define LATE_US 2000	/* less is how exact a timer is */

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* Until the next beat; true when the input has ended. */
static bool sleep_until(long long beat)
{
	long long left = max(beat - now_us(), 0LL);
	struct timespec timeout = { .tv_nsec = left * 1000 };
	struct pollfd input = { .fd = 0, .events = POLLIN };

	return ppoll(&input, 1, &timeout, NULL) > 0;
}

int main(void)
{
	struct sched_param first = { .sched_priority = 50 };
	long long begin, beat, late, lost = 0;

	if (sched_setscheduler(0, SCHED_FIFO, &first) || mlockall(MCL_CURRENT | MCL_FUTURE))
		die_errno(errno, "SCHED_FIFO and locked memory");
	begin = now_us();
	for (beat = begin + PERIOD_US; !sleep_until(beat); beat = now_us() + PERIOD_US) {
		late = now_us() - beat;
		if (late > LATE_US)
			lost += late;
	}
	printf("%lld %lld\n", now_us() - begin - lost, lost);
	return 0;
}
