/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Assertions, printed as TAP; the name says what is promised. */
#ifndef TEST_TAP_H
#define TEST_TAP_H

#include <stdbool.h>

void tap_ok(const char *name);
void tap_not_ok(const char *name, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The runner compares skips with a list: the reason is always the same. */
void tap_skip(const char *name, const char *reason);
void tap_true(const char *name, bool right);
void tap_int(const char *name, long expected, long seen);

/* The end of a program: prints the plan (1..N); returns the exit status. */
int tap_end(void);

#endif
