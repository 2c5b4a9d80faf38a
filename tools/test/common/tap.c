// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdarg.h>
#include <stdio.h>

#include "tap.h"

static int assertions, failures;

void tap_ok(const char *name)
{
	assertions++;
	printf("ok - %s\n", name);
}

void tap_not_ok(const char *name, const char *fmt, ...)
{
	va_list args;

	assertions++;
	failures++;
	printf("not ok - %s\n# ", name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

void tap_skip(const char *name, const char *reason)
{
	assertions++;
	printf("ok - %s # SKIP %s\n", name, reason);
}

void tap_true(const char *name, bool right)
{
	if (right)
		tap_ok(name);
	else
		tap_not_ok(name, "it is not so");
}

void tap_int(const char *name, long expected, long seen)
{
	if (expected == seen)
		tap_ok(name);
	else
		tap_not_ok(name, "expected %ld (%#lx), seen %ld (%#lx)",
			   expected, expected, seen, seen);
}

int tap_end(void)
{
	printf("1..%d\n", assertions);
	return failures ? 1 : 0;
}
