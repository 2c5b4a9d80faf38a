/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The objects of one process in a storm, and what is counted of all of them. Threads
 * share the objects: each uses any of them at any time, also while another one destroys
 * it.
 */
#ifndef STORM_H
#define STORM_H

#include <pthread.h>
#include <stdatomic.h>
#include <infiniband/verbs.h>

#include "rdma.h"
#include "util.h"

#define SIDES	2
#define MEMORY	(256 * 1024)	/* of each side of a process, for its regions */
#define BOARD	64

enum kind { PD, MR, MW, CQ, SRQ, QP, AH, KINDS };

/*
 * One object, or the room for one.
 * @verbs: what the library knows it by
 * @references: threads that use @verbs, under the lock of all objects
 * @there, @ending: the kernel has it; somebody destroys it. Under the same lock
 * @alone: held to destroy it, and for what the library cannot do in two threads at once:
 *	to poll and resize a CQ, to post to an SRQ and to modify it
 * @parent: an MR's PD. It is compared, never followed.
 * @attached: a QP has been attached to the group
 */
struct object {
	void *verbs;
	unsigned int references;
	bool there, ending;
	pthread_mutex_t alone;
	atomic_uintptr_t parent;
	atomic_bool attached;
};

enum operation {
	ALLOC_PD, DEALLOC_PD, REG_MR, REREG_MR, DEREG_MR, ALLOC_MW, DEALLOC_MW,
	CREATE_CQ, RESIZE_CQ, NOTIFY_CQ, DESTROY_CQ, CREATE_SRQ, MODIFY_SRQ,
	RESIZE_SRQ, DESTROY_SRQ, CREATE_RC, CREATE_UC, CREATE_UD, QUERY_QP,
	DESTROY_QP, CREATE_AH, DESTROY_AH, ATTACH, DETACH, TO_RESET, TO_INIT,
	TO_RTR, TO_RTS, TO_SQD, TO_ERR, CONNECT, POST_SEND, POST_RECV,
	POST_SRQ, EVENT, ASYNC, DONE_SEND, DONE_WRITE, DONE_READ, DONE_ATOMIC,
	DONE_BIND, DONE_INVALIDATE, DONE_RECV_A, DONE_RECV_B, DONE_ERROR,
	OPERATION_COUNT
};

extern const char *const operation_names[OPERATION_COUNT];

/* One device, as this process has it open */
struct side {
	struct port port;
	struct ibv_comp_channel *channel;
};

extern struct side sides[SIDES];

/* All that a thread does comes from this. */
extern __thread uint64_t chance;

static inline unsigned int below(unsigned int n)
{
	return next_random(&chance) % n;
}

/* --- objects.c */

void objects_init(void);
/* Some object of that kind, which the library has until object_put(); or NULL */
struct object *object_get(unsigned int side, enum kind kind);
void object_put(struct object *object);
/* Room for one more, which the caller has to fill; or NULL */
struct object *object_room(unsigned int side, enum kind kind);
/* Puts @verbs there, and the caller's reference. Returns false if @verbs is NULL. */
bool object_fill(struct object *object, void *verbs);
/*
 * Calls @destroy while others may use the object, waits until they have let go of it, and
 * puts the caller's reference. Returns whether the object is gone; it is not if another
 * thread is at it.
 */
bool object_end(struct object *object, int (*destroy)(void *verbs));
/* As object_get(), the first one there is, with no other thread about */
struct object *object_first(unsigned int side, enum kind kind);

/* --- life.c: objects come, change and go */

void come(unsigned int side);
void go(unsigned int side);
void change(unsigned int side);
void modify(unsigned int side);
/* Brings a QP of each side to RTS, connected to one another. */
void connect_two(void);
/* Destroys all there is, with nobody else at it; returns how many objects stay. */
unsigned int clear_up(void);

/* --- traffic.c: what QPs are there for */

void send_some(unsigned int side);
void receive_some(unsigned int side);
void poll_some(unsigned int side);
void arm(unsigned int side);
/* Waits a moment for an event of that side. */
void take_events(unsigned int side);

/* --- storm.c */

/* QPNs of all processes, of some that have gone, too: where datagrams go to */
struct board {
	atomic_uint qpns[SIDES][BOARD];
	struct tally {
		atomic_ulong tried, succeeded;
	} tallies[OPERATION_COUNT];
	atomic_uint stayed;
};

extern struct board *board;
extern uint8_t memory[SIDES][MEMORY];

static inline void tried(enum operation what, bool succeeded)
{
	board->tallies[what].tried++;
	board->tallies[what].succeeded += succeeded;
}

static inline uint32_t some_qpn(unsigned int side)
{
	return board->qpns[side][below(BOARD)];
}

#endif
