// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Drives a round: polls or sleeps, and hands completions and notes around. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "side.h"

#define POLL_BATCH 16
/* Milliseconds: how late an event is that does not come at all */
#define EVENT_PATIENCE 60000
/* Milliseconds until late receives are posted */
#define RECEIVE_DELAY 100

struct flow *flow_of(struct side *s, uint32_t qp_num)
{
	uint32_t i;

	for (i = 0; i < s->r->qps; i++)
		if (s->flows[i].qp->qp_num == qp_num)
			return &s->flows[i];
	fail(s, "a completion for QP %#x, which is not ours", qp_num);
}

void check_success(struct side *s, const struct ibv_wc *wc, const char *queue)
{
	bool gone = wc->status == IBV_WC_RETRY_EXC_ERR ||
		    wc->status == IBV_WC_WR_FLUSH_ERR;

	if (wc->status == IBV_WC_SUCCESS)
		return;
	fail_as(s, gone ? EXIT_GONE : EXIT_WRONG,
		"%s completion wr_id %#lx qp %#x: expected success, seen %s (vendor %#x)",
		queue, wc->wr_id, wc->qp_num, ibv_wc_status_str(wc->status),
		wc->vendor_err);
}

void fill_sges(struct ibv_sge *sge, const struct pieces *p, uint32_t lkey)
{
	int k;

	for (k = 0; k < p->n; k++)
		sge[k] = (struct ibv_sge) {
			.addr = (uintptr_t)p->addr[k],
			.length = p->len[k],
			.lkey = lkey,
		};
}

void check_bytes(struct side *s, struct flow *f, const char *what, uint32_t i,
		 const struct pieces *p, const uint8_t *slot, uint32_t skip,
		 uint32_t slack, uint64_t key)
{
	uint32_t size = round_size(s->r, i);

	pattern_fill(s->expected, size, key);
	poison(s->expected + size, slack);
	check_expected(s, f, what, i, p, slot, skip, slack);
}

void check_expected(struct side *s, struct flow *f, const char *what, uint32_t i,
		    const struct pieces *p, const uint8_t *slot, uint32_t skip,
		    uint32_t slack)
{
	uint32_t size = round_size(s->r, i);
	long bad;

	pattern_gather(p, s->seen);
	bad = first_difference(s->expected, s->seen + skip, size + slack);
	if (bad >= 0)
		fail(s, "%s of message %u on flow %u: byte %ld of %u: expected %#x, seen %#x%s",
		     what, i, f->index, bad, size, s->expected[bad],
		     s->seen[skip + bad],
		     s->seen[skip + bad] == POISON ? " (never written)" : "");
	bad = guard_violation(p, slot, s->stride);
	if (bad >= 0)
		fail(s, "%s of message %u on flow %u: a byte outside of it was written, at %ld of the slot: %#x",
		     what, i, f->index, bad, slot[bad]);
}

static bool poll_cq(struct side *s, struct ibv_cq *cq,
		    void (*handle)(struct side *, const struct ibv_wc *))
{
	struct ibv_wc wc[POLL_BATCH];
	int n = ibv_poll_cq(cq, POLL_BATCH, wc);
	int i;

	if (n < 0)
		fail(s, "ibv_poll_cq: %d", n);
	for (i = 0; i < n; i++)
		handle(s, &wc[i]);
	s->completions += n;
	return n;
}

static bool handle_notes(struct side *s, bool *ended)
{
	struct note note;
	bool any = false;

	while (!*ended && note_poll(s->line, &note)) {
		any = true;
		if (note.kind == NOTE_END)
			*ended = true;
		else if (note.kind == NOTE_DONE)
			s->flows[note.qp].rx.announced = note.value;
		else if (note.kind == NOTE_GRANT)
			s->flows[note.qp].tx.credit = note.value;
		if (note.kind == NOTE_DONE)
			s->flows[note.qp].rx.last = seconds();
	}
	return any;
}

/* The peer sees sends arrive by itself; of the rest it has to be told. */
static bool needs_announcement(const struct round *r)
{
	return r->flags & ROUND_LOSSY || r->op >= OP_MIX ||
	       !op_takes_recv(r->op);
}

static bool serve_tx(struct side *s, struct flow *f, uint32_t completed)
{
	uint32_t posted = f->tx.posted;

	if (f->tx.completed != f->tx.announced && needs_announcement(s->r) &&
	    tell(s, f, NOTE_DONE, f->tx.completed))
		f->tx.announced = f->tx.completed;
	tx_post(s, f);
	return f->tx.posted != posted || f->tx.completed != completed;
}

static bool step(struct side *s, bool *ended)
{
	uint32_t completed[s->r->qps], i;
	bool any;

	for (i = 0; i < s->r->qps; i++)
		completed[i] = s->flows[i].tx.completed;
	s->line_full = false;
	any = handle_notes(s, ended);
	any |= poll_cq(s, s->scq, tx_completion);
	any |= poll_cq(s, s->rcq, rx_completion);
	for (i = 0; i < s->r->qps; i++) {
		any |= rx_process(s, &s->flows[i]);
		any |= serve_tx(s, &s->flows[i], completed[i]);
	}
	return any;
}

static bool finished(struct side *s)
{
	uint32_t i;

	if (s->line_full)
		return false;
	for (i = 0; i < s->r->qps; i++) {
		struct flow *f = &s->flows[i];

		if (f->tx.active && f->tx.completed < s->r->count)
			return false;
		if (!rx_finished(s, f))
			return false;
	}
	return true;
}

/* The device is taken away, a QP is broken: say so instead of waiting. */
static void check_async(struct side *s)
{
	struct pollfd pfd = { .fd = s->port->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (poll(&pfd, 1, 0) > 0 &&
	       !ibv_get_async_event(s->port->ctx, &event)) {
		ibv_ack_async_event(&event);
		switch (event.event_type) {
		case IBV_EVENT_COMM_EST:
		case IBV_EVENT_PORT_ACTIVE:
		case IBV_EVENT_PORT_ERR:
		case IBV_EVENT_GID_CHANGE:
		case IBV_EVENT_CLIENT_REREGISTER:
			break;
		default:
			fail_as(s, event.event_type == IBV_EVENT_DEVICE_FATAL ?
				EXIT_GONE : EXIT_WRONG, "asynchronous event: %s",
				ibv_event_type_str(event.event_type));
		}
	}
}

static void check_deadline(struct side *s)
{
	struct flow *f = &s->flows[0];

	if (seconds() < s->begin + s->r->seconds)
		return;
	fail(s, "stuck after %u s: tx posted %u completed %u credit %u, rx posted %u received %u announced %u verified %u of %u, QP is in %s",
	     s->r->seconds, f->tx.posted, f->tx.completed, f->tx.credit,
	     f->rx.posted, f->rx.received, f->rx.announced, f->rx.next,
	     s->r->count, qp_state_str(qp_state(f->qp)));
}

static bool arm(struct side *s)
{
	int err;

	if (s->scq_armed && s->rcq_armed)
		return false;
	err = ibv_req_notify_cq(s->scq, 0);
	if (!err)
		err = ibv_req_notify_cq(s->rcq,
					!!(s->r->flags & ROUND_SOLICITED));
	if (err)
		fail_verb(s, "ibv_req_notify_cq", err);
	s->scq_armed = true;
	s->rcq_armed = true;
	return true;
}

static void take_event(struct side *s)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(s->channel, &cq, &context))
		fail_verb(s, "ibv_get_cq_event", errno);
	if (cq == s->scq) {
		s->scq_events++;
		s->scq_armed = false;
	} else {
		s->rcq_events++;
		s->rcq_armed = false;
	}
}

/* Nothing to do: sleep until a completion event or a note. */
static void wait_event(struct side *s, bool *ended)
{
	struct pollfd fds[] = {
		{ .fd = s->channel->fd, .events = POLLIN },
		{ .fd = s->line, .events = POLLIN },
	};
	bool lossy = s->r->flags & ROUND_LOSSY;
	unsigned int completions;

	/* What came before the CQ was armed makes no event. */
	if (arm(s) && step(s, ended))
		return;
	if (s->line_full)
		fds[1].events |= POLLOUT;
	if (poll(fds, 2, lossy ? 100 : 3000) > 0) {
		if (fds[0].revents)
			take_event(s);
		return;
	}
	if (s->r->flags & ROUND_SOLICITED || lossy)
		return;
	completions = s->completions;
	step(s, ended);
	/* The event of one that has just come may follow. */
	if (s->completions != completions && poll(fds, 1, EVENT_PATIENCE) <= 0)
		fail(s, "a completion without an event: the wakeup was lost");
}

static void idle(struct side *s, bool *ended)
{
	check_async(s);
	check_deadline(s);
	if (s->r->flags & ROUND_EVENTS)
		wait_event(s, ended);
	else
		sched_yield();
}

/* After the last message: no completion too many, the QPs still alive. */
static void check_rest(struct side *s)
{
	struct ibv_wc wc;
	uint32_t i;

	if (ibv_poll_cq(s->scq, 1, &wc))
		fail(s, "a send completion too many, wr_id %#lx", wc.wr_id);
	if (ibv_poll_cq(s->rcq, 1, &wc))
		fail(s, "a receive completion too many, wr_id %#lx", wc.wr_id);
	for (i = 0; i < s->r->qps; i++)
		if (qp_state(s->flows[i].qp) != IBV_QPS_RTS)
			fail(s, "QP is in %s after the round",
			     qp_state_str(qp_state(s->flows[i].qp)));
}

static void post_first(struct side *s)
{
	uint32_t i;

	for (i = 0; i < s->r->qps; i++)
		rx_post_first(s, &s->flows[i]);
}

/* The receives of an RNR round come when requests are on their way already. */
static void prepare(struct side *s)
{
	bool late = s->r->flags & ROUND_RNR;
	uint32_t i;

	for (i = 0; i < s->r->qps; i++)
		rx_prepare(s, &s->flows[i]);
	if (!late)
		post_first(s);
	line_barrier(s->line);
	if (late && s->flows[0].rx.active) {
		sleep_ms(RECEIVE_DELAY);
		post_first(s);
	}
}

static uint32_t count_lost(struct side *s)
{
	uint32_t lost = 0, i;

	for (i = 0; i < s->r->qps; i++)
		lost += s->flows[i].rx.lost;
	return lost;
}

/* As many messages may be missing as the link is said to lose. */
static void check_lost(struct side *s)
{
	uint32_t lost = count_lost(s), sent = s->r->count * s->r->qps;

	if (!lost)
		return;
	if ((uint64_t)lost * 100 > (uint64_t)sent * s->r->may_lose)
		fail(s, "%u of %u messages are lost, which is more than %u%%",
		     lost, sent, s->r->may_lose);
	printf("# lost %u of %u\n", lost, sent);
}

void round_run(struct port *port, int line, bool server, const struct round *r)
{
	struct side s = {
		.port = port, .line = line, .server = server, .r = r,
	};
	bool told = false, ended = false;

	side_create(&s);
	s.begin = seconds();
	prepare(&s);
	for (;;) {
		bool any = step(&s, &ended);

		if (finished(&s))
			break;
		if (!any)
			idle(&s, &ended);
	}
	while (!told || !ended) {
		check_deadline(&s);
		told = told || note_send(line, NOTE_END, 0, 0);
		if (!handle_notes(&s, &ended))
			sched_yield();
	}
	check_rest(&s);
	check_lost(&s);
	side_destroy(&s);
}
