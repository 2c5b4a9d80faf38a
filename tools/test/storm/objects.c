// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that threads share. Nothing that the library has for an object is freed while a
 * thread uses it, but the kernel destroys the object whenever it is told to.
 */
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "storm.h"

#define MOST	12	/* of a kind, on a side */

static const unsigned int rooms[KINDS] = {
	[PD] = 2, [MR] = 8, [MW] = 6, [CQ] = 4, [SRQ] = 3, [QP] = MOST, [AH] = 4,
};

static struct object objects[SIDES][KINDS][MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;

/* What this thread destroys: only the kernel's part of it is to go at once. */
static __thread struct object *destroyed;

/* The kernel's object is gone: nobody new finds it, and those who use it come to an end. */
static void await_users(struct object *object)
{
	pthread_mutex_lock(&lock);
	object->there = false;
	while (object->references > 1)
		pthread_cond_wait(&let_go, &lock);
	pthread_mutex_unlock(&lock);
}

/*
 * Overrides libc's. The library frees what it has for an object when this returns from the
 * command that destroys the object.
 */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	int rc;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	rc = syscall(SYS_ioctl, fd, request, arg);
	if (destroyed && !rc) {
		await_users(destroyed);
		destroyed = NULL;
	}
	return rc;
}

void objects_init(void)
{
	unsigned int side, kind, i;

	for (side = 0; side < SIDES; side++)
		for (kind = 0; kind < KINDS; kind++)
			for (i = 0; i < MOST; i++)
				pthread_mutex_init(&objects[side][kind][i].alone, NULL);
}

struct object *object_get(unsigned int side, enum kind kind)
{
	struct object *object = &objects[side][kind][below(rooms[kind])];

	pthread_mutex_lock(&lock);
	if (object->there)
		object->references++;
	else
		object = NULL;
	pthread_mutex_unlock(&lock);
	return object;
}

void object_put(struct object *object)
{
	pthread_mutex_lock(&lock);
	object->references--;
	pthread_cond_broadcast(&let_go);
	pthread_mutex_unlock(&lock);
}

struct object *object_room(unsigned int side, enum kind kind)
{
	struct object *object = objects[side][kind], *found = NULL;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < rooms[kind] && !found; i++)
		if (!object[i].references && !object[i].there)
			found = &object[i];
	if (found)
		found->references = 1;
	pthread_mutex_unlock(&lock);
	return found;
}

bool object_fill(struct object *object, void *verbs)
{
	pthread_mutex_lock(&lock);
	object->verbs = verbs;
	object->there = verbs;
	object->ending = false;
	object->attached = false;
	object->references--;
	pthread_mutex_unlock(&lock);
	return verbs;
}

struct object *object_first(unsigned int side, enum kind kind)
{
	struct object *object;
	unsigned int i;

	for (i = 0; i < rooms[kind]; i++) {
		object = &objects[side][kind][i];
		if (object->there) {
			object->references++;
			return object;
		}
	}
	return NULL;
}

/* The one thread that may destroy it */
static bool begin_end(struct object *object)
{
	bool first;

	pthread_mutex_lock(&lock);
	first = object->there && !object->ending;
	if (first)
		object->ending = true;
	pthread_mutex_unlock(&lock);
	return first;
}

static void give_up_end(struct object *object)
{
	pthread_mutex_lock(&lock);
	object->ending = false;
	pthread_mutex_unlock(&lock);
}

bool object_end(struct object *object, int (*destroy)(void *verbs))
{
	bool gone = false;

	if (begin_end(object)) {
		destroyed = object;
		gone = !destroy(object->verbs);
		if (gone && destroyed)
			die("the library destroys by other means than an ioctl");
		destroyed = NULL;
		if (!gone)
			give_up_end(object);
	}
	object_put(object);
	return gone;
}
