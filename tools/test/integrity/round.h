/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A round: a stream of messages of one kind, over fresh QPs. The client
 * chooses the rounds and tells the server; both then know, without asking, what
 * every byte of every message must be and where it must land.
 */
#ifndef INTEGRITY_ROUND_H
#define INTEGRITY_ROUND_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "util.h"
#include "rdma.h"

#define MAX_SGE 32
#define GUARD 64	/* bytes before and after a message's landing place */
#define GAP 24		/* bytes between the pieces of one message */
#define GRH_SIZE 40
#define POISON 0xeb	/* what no message has written to */

enum op {
	OP_SEND,
	OP_SEND_IMM,
	OP_WRITE,
	OP_WRITE_IMM,
	OP_READ,
	OP_FETCH_ADD,		/* 8 bytes, whatever the round's size is */
	OP_COMPARE_SWAP,
	OP_MIX,			/* all but atomics in turn */
	OP_PUSH,		/* all but reads and atomics in turn */
	OP_ALL,			/* all of them in turn */
	OP_COUNT
};

enum layout {
	LAYOUT_ONE,		/* one piece, aligned */
	LAYOUT_ODD,		/* one piece, at any address */
	LAYOUT_UNEVEN,		/* a few pieces of uneven length */
	LAYOUT_HOLES,		/* pieces of length zero between */
	LAYOUT_MANY,		/* 32 pieces of like length */
	LAYOUT_TINY,		/* 31 pieces of one byte, and the rest */
	LAYOUT_COUNT
};

enum round_flag {
	ROUND_BIDIR	 = 1 << 0,	/* both sides request */
	ROUND_INLINE	 = 1 << 1,
	ROUND_UNSIGNALED = 1 << 2,	/* a completion every depth / 2 */
	ROUND_EVENTS	 = 1 << 3,	/* sleep until a completion event */
	ROUND_SOLICITED	 = 1 << 4,	/* be woken by solicited ones only */
	ROUND_RNR	 = 1 << 5,	/* receives come late */
	ROUND_LOSSY	 = 1 << 6,	/* unreliable service on a bad link */
};

struct round {
	uint32_t last;		/* no round, but the end */
	uint32_t number;
	uint32_t seed;
	uint32_t qp_type;
	uint32_t op;
	uint32_t size;
	uint32_t mtu;
	uint32_t count;		/* messages of each QP in each direction */
	uint32_t depth;		/* messages on their way at once */
	uint32_t qps;
	uint32_t tx_layout;
	uint32_t rx_layout;
	uint32_t flags;
	uint32_t timeout;	/* of the QP: 4.096 us << timeout */
	uint32_t psn;		/* where packet sequence numbers begin */
	uint32_t seconds;	/* after which a round is called stuck */
	uint32_t may_lose;	/* percent, of an unreliable service on a bad link */
	uint32_t spoiled;	/* a control: this message of the client, from 1, is wrong */
};

/* A message's pieces in memory, in order. */
struct pieces {
	int n;
	uint8_t *addr[MAX_SGE];
	uint32_t len[MAX_SGE];
};

extern const char *const op_names[];
extern const char *const layout_names[];

const char *round_str(const struct round *r);

/* What kind message @i of a round is. */
enum op round_op(const struct round *r, uint32_t i);
bool op_takes_recv(enum op op);
bool op_has_imm(enum op op);
bool op_is_atomic(enum op op);
/* Does it bring something back? */
bool op_fetches(enum op op);
/* How many bytes message @i has. */
uint32_t round_size(const struct round *r, uint32_t i);
uint32_t round_imm(const struct round *r, uint32_t qp, uint32_t i);
/* Is there a completion for request @i? */
bool round_signaled(const struct round *r, uint32_t i);

/* layout.c */
uint32_t slot_stride(uint32_t size);
void layout_pieces(struct pieces *p, enum layout layout, uint8_t *slot,
		   uint32_t size, uint32_t i);
/* Where in its slot message @i of a remote operation lies. */
uint32_t target_offset(const struct round *r, uint32_t i);

/* pattern.c: bytes of message @i, which only it has */
uint64_t pattern_key(const struct round *r, bool from_server, uint32_t qp,
		     uint32_t i);
void pattern_fill(uint8_t *buf, uint32_t size, uint64_t key);
void pattern_scatter(const struct pieces *p, const uint8_t *buf);
void pattern_gather(const struct pieces *p, uint8_t *buf);
/* An atomic on the number that the pattern begins with */
struct atomic {
	uint64_t compare_add;
	uint64_t swap;
	uint64_t result;	/* what becomes of the number */
};
struct atomic pattern_atomic(enum op op, uint64_t key, uint32_t i);
void poison(uint8_t *slot, uint32_t stride);
/* -1 or the offset of the first byte that differs */
long first_difference(const uint8_t *a, const uint8_t *b, size_t len);
/* The offset of a byte outside of all pieces that was written to, or -1. */
long guard_violation(const struct pieces *p, const uint8_t *slot,
		     uint32_t stride);

/* exchange.c: the line between client and server */
int line_listen(const char *address);
int line_connect(const char *address);
void line_send(int fd, const void *data, size_t len);
void line_recv(int fd, void *data, size_t len);
/* Both sides have come to this point. */
void line_barrier(int fd);

struct note {
	enum note_kind {
		NOTE_DONE = 1,	/* my requests up to @value are complete */
		NOTE_GRANT,	/* you may send up to @value */
		NOTE_END,	/* all is well on my side */
		NOTE_FAIL,
	} kind;
	uint32_t qp;
	uint32_t value;
};

/*
 * Returns false if the line is full. Who waited for room would not read meanwhile,
 * and neither would the peer. A UNIX socket takes a note whole or not at all.
 */
bool note_send(int fd, enum note_kind kind, uint32_t qp, uint32_t value);
/* For a side that is about to end. */
void note_failure(int fd);
/* Returns whether a note was there. */
bool note_poll(int fd, struct note *note);

/* round.c, flow.c: what went wrong is told on stderr and to the peer */
void round_run(struct port *port, int line, bool server,
	       const struct round *r);

#endif
