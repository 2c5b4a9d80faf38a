/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One side of a round: its memory, queues, and the flows over its QPs. */
#ifndef INTEGRITY_SIDE_H
#define INTEGRITY_SIDE_H

#include <errno.h>
#include <string.h>

#include "round.h"

/* The stream of requests that leaves through a QP. */
struct tx {
	bool active;
	uint32_t posted;
	uint32_t completed;
	uint32_t announced;	/* the peer knows that those below are complete */
	uint32_t credit;	/* the peer is ready for messages below this */
};

/* The stream that arrives. */
struct rx {
	bool active;
	uint32_t posted;	/* receives are posted for messages below */
	uint32_t received;	/* completions have come for messages below */
	uint32_t announced;	/* the peer saw its requests below complete */
	uint32_t next;		/* the next message to verify */
	uint32_t granted;
	uint32_t lost;		/* unreliable service only */
	double last;		/* when something came */
};

struct flow {
	uint32_t index;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct path path;
	uint32_t remote_qpn;
	uint64_t remote_addr;	/* of the peer's rx slots */
	uint32_t remote_rkey;
	uint32_t own_psn;
	struct tx tx;
	struct rx rx;
};

struct side {
	struct port *port;
	const struct round *r;
	int line;
	bool line_full;		/* a note waits until the peer has read others */
	bool server;
	double begin;

	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *scq, *rcq;
	bool scq_armed, rcq_armed;
	unsigned int scq_events, rcq_events;
	unsigned int completions;	/* of both CQs */
	struct ibv_mr *tx_mr, *rx_mr;
	uint8_t *tx_mem, *rx_mem;
	uint32_t stride;
	size_t mem_size;
	uint8_t *expected, *seen;	/* a message in one piece */
	struct flow *flows;
};

/* What went wrong is told on stderr and to the peer; ends the program. */
void fail_as(struct side *s, int status, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
#define fail(s, ...) fail_as(s, EXIT_WRONG, __VA_ARGS__)
/* A verb has failed with an errno. */
#define fail_verb(s, verb, err) \
	fail_as(s, device_is_gone(err) ? EXIT_GONE : EXIT_WRONG, "%s: %s", \
		verb, strerror(err))

static inline uint8_t *tx_slot(struct side *s, struct flow *f, uint32_t i)
{
	return s->tx_mem +
	       (size_t)(f->index * s->r->depth + i % s->r->depth) * s->stride;
}

static inline uint8_t *rx_slot(struct side *s, struct flow *f, uint32_t i)
{
	return s->rx_mem +
	       (size_t)(f->index * s->r->depth + i % s->r->depth) * s->stride;
}

/* side.c */
void side_create(struct side *s);
void side_destroy(struct side *s);
/* Sends a note; without room for it false: to be tried again in the next step. */
bool tell(struct side *s, struct flow *f, enum note_kind kind, uint32_t value);

/* tx.c */
void tx_post(struct side *s, struct flow *f);
void tx_completion(struct side *s, const struct ibv_wc *wc);

/* rx.c */
/* The memory first, for a write may land before its receive is posted. */
void rx_prepare(struct side *s, struct flow *f);
void rx_post_first(struct side *s, struct flow *f);
void rx_completion(struct side *s, const struct ibv_wc *wc);
/* Verifies what can be verified; returns whether there was something. */
bool rx_process(struct side *s, struct flow *f);
bool rx_finished(struct side *s, struct flow *f);

/* grh.c: NULL, or what is wrong with a UD receive's first 40 bytes */
const char *grh_check(const uint8_t *grh, const union ibv_gid *from,
		      const union ibv_gid *to, uint32_t payload, bool imm);

/* shared by tx.c and rx.c */
struct flow *flow_of(struct side *s, uint32_t qp_num);
void check_success(struct side *s, const struct ibv_wc *wc, const char *queue);
void fill_sges(struct ibv_sge *sge, const struct pieces *p, uint32_t lkey);
/* The message lies in @p as it should, and nothing around it was touched. */
void check_bytes(struct side *s, struct flow *f, const char *what, uint32_t i,
		 const struct pieces *p, const uint8_t *slot, uint32_t skip,
		 uint32_t slack, uint64_t key);
/* Likewise, of bytes in s->expected. */
void check_expected(struct side *s, struct flow *f, const char *what, uint32_t i,
		    const struct pieces *p, const uint8_t *slot, uint32_t skip,
		    uint32_t slack);

#endif
