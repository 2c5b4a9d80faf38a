/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Small things that every test program needs. */
#ifndef TEST_UTIL_H
#define TEST_UTIL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What must happen is waited for: only a hang lasts so long. */
#define PATIENCE_MS 900000

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))

/* Exit statuses of a program that failed */
#define EXIT_WRONG	1
#define EXIT_GONE	3	/* the device or the peer went away */

/* Does a verb fail with @err because the device has been taken away? */
static inline bool device_is_gone(int err)
{
	return err == EIO || err == ENODEV;
}

/* Ends the program: message, errno's text if @err is not 0. */
void die_as(int status, int err, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
#define die_errno(err, ...) \
	die_as(device_is_gone(err) ? EXIT_GONE : EXIT_WRONG, err, __VA_ARGS__)
#define die(...) die_as(EXIT_WRONG, 0, __VA_ARGS__)

/* Zeroed memory or the end. */
void *zalloc(size_t size);

double seconds(void);
void sleep_ms(unsigned int ms);

/* splitmix64, whose state grows by this */
#define RANDOM_STEP 0x9e3779b97f4a7c15ull

/* All that is random here comes from a printed seed. */
static inline uint64_t mix64(uint64_t x)
{
	x += RANDOM_STEP;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline uint64_t next_random(uint64_t *state)
{
	*state += RANDOM_STEP;
	return mix64(*state);
}

#endif
