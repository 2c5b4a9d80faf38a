// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A heap of the actors that wait, with four children a node: it is flatter than one with
 * two, and the children share a cache line. Of actors with the same time, the one with the
 * lower number comes first, so that each run is the same.
 */
#include "clock.h"
#include "memory.h"

#define CHILDREN	4u
#define ABSENT		U32_MAX

struct entry {
	u64 time;
	u32 actor;
};

static struct entry *heap;
static u32 *places;	/* of each actor, or ABSENT */
static u32 count;

/** clock_start() - begin anew, with actors that wait for nothing */
void clock_start(u32 actors)
{
	u32 i;

	free(heap);
	free(places);
	heap = allocate(actors, sizeof(*heap));
	places = allocate(actors, sizeof(*places));
	for (i = 0; i < actors; i++)
		places[i] = ABSENT;
	count = 0;
}

static bool is_before(struct entry a, struct entry b)
{
	return a.time != b.time ? a.time < b.time : a.actor < b.actor;
}

static void put(u32 place, struct entry entry)
{
	heap[place] = entry;
	places[entry.actor] = place;
}

static void rise(u32 place, struct entry entry)
{
	while (place) {
		u32 parent = (place - 1) / CHILDREN;

		if (!is_before(entry, heap[parent]))
			break;
		put(place, heap[parent]);
		place = parent;
	}
	put(place, entry);
}

static void sink(u32 place, struct entry entry)
{
	for (;;) {
		u32 first = place * CHILDREN + 1, end = first + CHILDREN, least = first, i;

		if (first >= count)
			break;
		if (end > count)
			end = count;
		for (i = first + 1; i < end; i++)
			if (is_before(heap[i], heap[least]))
				least = i;
		if (!is_before(heap[least], entry))
			break;
		put(place, heap[least]);
		place = least;
	}
	put(place, entry);
}

static void replace(u32 place, struct entry entry)
{
	if (is_before(entry, heap[place]))
		rise(place, entry);
	else
		sink(place, entry);
}

static void leave(u32 actor)
{
	u32 place = places[actor];

	places[actor] = ABSENT;
	if (place != --count)
		replace(place, heap[count]);
}

/** clock_set() - an actor waits for that time, or for none (CLOCK_NEVER) */
void clock_set(u32 actor, u64 time)
{
	struct entry entry = { time, actor };

	if (places[actor] == ABSENT) {
		if (time != CLOCK_NEVER)
			rise(count++, entry);
	} else if (time == CLOCK_NEVER) {
		leave(actor);
	} else {
		replace(places[actor], entry);
	}
}

/** clock_set_earlier() - an actor waits for that time, unless it waits for an earlier one */
void clock_set_earlier(u32 actor, u64 time)
{
	u32 place = places[actor];

	if (place == ABSENT || time < heap[place].time)
		clock_set(actor, time);
}

/**
 * clock_next() - find whose turn is next
 * @actor: set; it goes on to wait for that time until clock_set()
 * @time: set
 *
 * Return: false if nobody waits.
 */
bool clock_next(u32 *actor, u64 *time)
{
	if (!count)
		return false;
	*actor = heap[0].actor;
	*time = heap[0].time;
	return true;
}
