// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * load: flows of RDMA operations, for a clock that may stand still while code runs.
 *
 * Reads flows from its standard input, a line each, times in nanoseconds:
 *
 *	flow NAME from=DEVICE,GID_INDEX to=DEVICE,GID_INDEX operation=send|write|read|atomic
 *	     size=BYTES qps=N outstanding=N start=TIME end=TIME messages=N rate=PER_SECOND
 *	     mtu=BYTES timeout=CODE retry=N rnr_retry=N rnr_timer=CODE receives=TIME
 *
 * A flow sends until its end, or so many messages (0: no limit). Each QP has so many
 * messages outstanding, as fast as they complete; or they come at random (Poisson), with
 * that rate in all. Receives of SENDs are posted at that time.
 *
 * When all are connected it prints "begin TIME", the moment 0 of all times, by
 * CLOCK_MONOTONIC. In the end it prints what completed, in its order, times from 0:
 *
 *	done NAME TIME LATENCY
 *	failed NAME TIME STATUS
 *
 * Everybody sleeps until there is something to do: whoever polls stops such a clock.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "rdma.h"
#include "util.h"

#define NSEC_PER_SEC	1000000000ll
#define NEVER		INT64_MAX
#define SET_UP		1000000ll	/* between "begin" and 0 */
#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* One QP at each end */
struct pair {
	struct ibv_qp *a, *b;
	int64_t *asked_at;	/* of what is outstanding, a ring */
	uint32_t head, outstanding;
};

/* @arrivals: of messages that wait for a QP, a ring that grows */
struct flow {
	char name[32], from[64], to[64], operation[16];
	int64_t size, qps, outstanding, start, end, messages;
	int64_t mtu, timeout, retry, rnr_retry, rnr_timer, receives;
	double rate;
	enum ibv_wr_opcode opcode;
	bool sends, failed, started, has_receives;
	struct port a, b;
	struct ibv_pd *pd_a, *pd_b;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *target_cq;
	struct ibv_mr *mr_a, *mr_b;
	uint8_t *memory_a, *memory_b;
	struct pair *pairs;
	int64_t posted, next_arrival;
	uint64_t random;
	int64_t *arrivals, first_arrival, last_arrival, room;
};

struct result {
	const struct flow *flow;
	int64_t time, latency;
	enum ibv_wc_status status;
};

static struct flow *flows;
static unsigned int flow_count;
static struct result *results;
static size_t result_count, result_room;
static int64_t zero;

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec - zero;
}

static void must(const char *what, int err)
{
	if (err)
		die_errno(err, "%s", what);
}

/* --- Flows, as they are told --------------------------------------------------- */

static const struct operation {
	const char *name;
	enum ibv_wr_opcode opcode;
} operations[] = {
	{ "send", IBV_WR_SEND },
	{ "write", IBV_WR_RDMA_WRITE },
	{ "read", IBV_WR_RDMA_READ },
	{ "atomic", IBV_WR_ATOMIC_FETCH_AND_ADD },
};

static void set_number(struct flow *flow, const char *key, const char *value)
{
	const struct { const char *key; int64_t *number; } numbers[] = {
		{ "size", &flow->size }, { "qps", &flow->qps },
		{ "outstanding", &flow->outstanding }, { "start", &flow->start },
		{ "end", &flow->end }, { "messages", &flow->messages },
		{ "mtu", &flow->mtu }, { "timeout", &flow->timeout },
		{ "retry", &flow->retry }, { "rnr_retry", &flow->rnr_retry },
		{ "rnr_timer", &flow->rnr_timer }, { "receives", &flow->receives },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers) && strcmp(numbers[i].key, key); i++)
		;
	if (i == ARRAY_SIZE(numbers) || sscanf(value, "%" SCNd64, numbers[i].number) != 1)
		die("flow %s: %s=%s", flow->name, key, value);
}

static void set(struct flow *flow, const char *key, const char *value)
{
	if (!strcmp(key, "from"))
		snprintf(flow->from, sizeof(flow->from), "%s", value);
	else if (!strcmp(key, "to"))
		snprintf(flow->to, sizeof(flow->to), "%s", value);
	else if (!strcmp(key, "operation"))
		snprintf(flow->operation, sizeof(flow->operation), "%s", value);
	else if (!strcmp(key, "rate"))
		flow->rate = atof(value);
	else
		set_number(flow, key, value);
}

static void find_operation(struct flow *flow)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(operations); i++)
		if (!strcmp(operations[i].name, flow->operation))
			break;
	if (i == ARRAY_SIZE(operations))
		die("flow %s: no operation %s", flow->name, flow->operation);
	flow->opcode = operations[i].opcode;
	flow->sends = flow->opcode == IBV_WR_SEND;
}

static void read_flow(char *line)
{
	char *word = strtok(line, " \n"), *value;
	struct flow *flow;

	if (!word)
		return;
	if (strcmp(word, "flow"))
		die("not a flow: %s", word);
	flows = realloc(flows, (flow_count + 1) * sizeof(*flows));
	flow = &flows[flow_count++];
	*flow = (struct flow) {
		.operation = "write", .size = 65536, .qps = 1, .outstanding = 1,
		.end = NEVER, .mtu = 4096, .timeout = 14, .retry = 7, .rnr_retry = 7,
		.rnr_timer = 12, .random = flow_count,
	};
	word = strtok(NULL, " \n");
	snprintf(flow->name, sizeof(flow->name), "%s", word ?: "");
	while ((word = strtok(NULL, " \n"))) {
		value = strchr(word, '=');
		if (!value)
			die("flow %s: %s is not KEY=VALUE", flow->name, word);
		*value = '\0';
		set(flow, word, value + 1);
	}
	find_operation(flow);
}

/* --- Connecting ---------------------------------------------------------------- */

static void open_port(struct port *port, char *place)
{
	char *comma = strchr(place, ',');

	if (!comma)
		die("%s is not DEVICE,GID_INDEX", place);
	*comma = '\0';
	port_open(port, place, atoi(comma + 1));
}

static uint8_t *new_memory(size_t size)
{
	void *memory;

	if (posix_memalign(&memory, 4096, size))
		die("out of memory");
	memset(memory, 0, size);
	return memory;
}

static struct ibv_qp *new_qp(struct flow *flow, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = flow->outstanding,
			.max_recv_wr = 2 * flow->outstanding,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp)
		die_errno(errno, "ibv_create_qp");
	return qp;
}

static void connect_qp(struct flow *flow, struct ibv_qp *qp, struct port *port,
		       struct ibv_qp *peer, struct port *peer_port)
{
	struct path path = {
		.gid = peer_port->gid,
		.qpn = peer->qp_num,
		.mtu = min(flow->mtu, min(mtu_bytes(port->attr.active_mtu),
					  mtu_bytes(peer_port->attr.active_mtu))),
		.timeout = flow->timeout,
		.retry_cnt = flow->retry,
		.rnr_retry = flow->rnr_retry,
		.min_rnr_timer = flow->rnr_timer,
		.rd_atomic = 16,
	};

	must("to INIT", qp_to_init(qp, ACCESS));
	must("to RTR", qp_to_rtr(qp, port, &path));
	must("to RTS", qp_to_rts(qp, &path));
}

static void connect_pair(struct flow *flow, struct pair *pair)
{
	pair->a = new_qp(flow, flow->pd_a, flow->cq);
	pair->b = new_qp(flow, flow->pd_b, flow->target_cq);
	pair->asked_at = zalloc(flow->outstanding * sizeof(*pair->asked_at));
	pair->a->qp_context = pair;
	connect_qp(flow, pair->a, &flow->a, pair->b, &flow->b);
	connect_qp(flow, pair->b, &flow->b, pair->a, &flow->a);
}

static void open_flow(struct flow *flow)
{
	struct ibv_comp_channel *target_channel;
	uint32_t entries, i;

	open_port(&flow->a, flow->from);
	open_port(&flow->b, flow->to);
	flow->pd_a = ibv_alloc_pd(flow->a.ctx);
	flow->pd_b = ibv_alloc_pd(flow->b.ctx);
	flow->channel = ibv_create_comp_channel(flow->a.ctx);
	target_channel = ibv_create_comp_channel(flow->b.ctx);
	entries = flow->qps * flow->outstanding;
	flow->cq = ibv_create_cq(flow->a.ctx, entries, flow, flow->channel, 0);
	flow->target_cq = ibv_create_cq(flow->b.ctx, 2 * entries, flow, target_channel, 0);
	if (!flow->pd_a || !flow->pd_b || !flow->cq || !flow->target_cq)
		die_errno(errno, "flow %s: PD or CQ", flow->name);
	flow->memory_a = new_memory(flow->size);
	flow->memory_b = new_memory(flow->size);
	flow->mr_a = ibv_reg_mr(flow->pd_a, flow->memory_a, flow->size, ACCESS);
	flow->mr_b = ibv_reg_mr(flow->pd_b, flow->memory_b, flow->size, ACCESS);
	if (!flow->mr_a || !flow->mr_b)
		die_errno(errno, "flow %s: ibv_reg_mr", flow->name);
	flow->pairs = zalloc(flow->qps * sizeof(*flow->pairs));
	for (i = 0; i < flow->qps; i++)
		connect_pair(flow, &flow->pairs[i]);
	must("ibv_req_notify_cq", ibv_req_notify_cq(flow->cq, 0));
	must("ibv_req_notify_cq", ibv_req_notify_cq(flow->target_cq, 0));
}

/* --- Messages ------------------------------------------------------------------ */

static void add_result(const struct flow *flow, int64_t latency, enum ibv_wc_status status)
{
	if (result_count == result_room) {
		result_room = 2 * result_room + 1024;
		results = realloc(results, result_room * sizeof(*results));
	}
	results[result_count++] = (struct result) {
		.flow = flow, .time = now(), .latency = latency, .status = status,
	};
}

/* @asked_at: when the program wanted it, which may be before it is posted */
static void post(struct flow *flow, struct pair *pair, int64_t asked_at)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)flow->memory_a, .length = flow->size,
		.lkey = flow->mr_a->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = pair - flow->pairs, .sg_list = &sge, .num_sge = 1,
		.opcode = flow->opcode,
	};

	if (flow->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)flow->memory_b;
		wr.wr.atomic.rkey = flow->mr_b->rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)flow->memory_b;
		wr.wr.rdma.rkey = flow->mr_b->rkey;
	}
	pair->asked_at[(pair->head + pair->outstanding++) % flow->outstanding] = asked_at;
	flow->posted++;
	must("ibv_post_send", ibv_post_send(pair->a, &wr, &bad));
}

static void post_receive(struct flow *flow, struct pair *pair)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)flow->memory_b, .length = flow->size,
		.lkey = flow->mr_b->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = pair - flow->pairs, .sg_list = &sge, .num_sge = 1,
	};

	must("ibv_post_recv", ibv_post_recv(pair->b, &wr, &bad));
}

static bool wants_more(const struct flow *flow, int64_t time)
{
	return !flow->failed && time < flow->end &&
	       (!flow->messages || flow->posted < flow->messages);
}

static void fill_closed_loop(struct flow *flow, struct pair *pair)
{
	while (pair->outstanding < flow->outstanding && wants_more(flow, now()))
		post(flow, pair, now());
}

/* Messages that came at random go to the QP that has the fewest. */
static void hand_out_arrivals(struct flow *flow)
{
	struct pair *pair, *least;

	while (flow->first_arrival != flow->last_arrival && !flow->failed) {
		least = flow->pairs;
		for (pair = flow->pairs; pair < flow->pairs + flow->qps; pair++)
			if (pair->outstanding < least->outstanding)
				least = pair;
		if (least->outstanding == flow->outstanding)
			return;
		post(flow, least, flow->arrivals[flow->first_arrival++ % flow->room]);
	}
}

static void add_arrival(struct flow *flow, int64_t time)
{
	int64_t i, room = 2 * flow->room + 64, *larger;

	if (flow->last_arrival - flow->first_arrival == flow->room) {
		larger = zalloc(room * sizeof(*larger));
		for (i = flow->first_arrival; i < flow->last_arrival; i++)
			larger[i % room] = flow->arrivals[i % flow->room];
		free(flow->arrivals);
		flow->arrivals = larger;
		flow->room = room;
	}
	flow->arrivals[flow->last_arrival++ % flow->room] = time;
}

/* Nanoseconds to the next one: exponential, so that arrivals are a Poisson process */
static int64_t gap(struct flow *flow)
{
	double uniform = ((next_random(&flow->random) >> 11) + 0.5) / (1ull << 53);

	return -log(uniform) / flow->rate * NSEC_PER_SEC;
}

static bool arrivals_go_on(const struct flow *flow)
{
	return flow->rate && !flow->failed && flow->next_arrival < flow->end &&
	       (!flow->messages || flow->last_arrival < flow->messages);
}

static void start(struct flow *flow)
{
	uint32_t i;

	flow->started = true;
	flow->next_arrival = flow->start + (flow->rate ? gap(flow) : 0);
	for (i = 0; i < flow->qps && !flow->rate; i++)
		fill_closed_loop(flow, &flow->pairs[i]);
}

static void post_receives(struct flow *flow)
{
	uint32_t i, n;

	flow->has_receives = true;
	for (i = 0; i < flow->qps && flow->sends; i++)
		for (n = 0; n < 2 * flow->outstanding; n++)
			post_receive(flow, &flow->pairs[i]);
}

static void completed(struct flow *flow, const struct ibv_wc *wc)
{
	struct pair *pair = &flow->pairs[wc->wr_id];
	int64_t asked_at = pair->asked_at[pair->head++ % flow->outstanding];

	pair->outstanding--;
	/* The first one tells; what is flushed behind it does not. */
	if (wc->status && flow->failed)
		return;
	add_result(flow, now() - asked_at, wc->status);
	flow->failed |= !!wc->status;
	if (flow->rate)
		hand_out_arrivals(flow);
	else
		fill_closed_loop(flow, pair);
}

static void reap(struct ibv_cq *cq)
{
	struct flow *flow = cq->cq_context;
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		if (cq == flow->cq)
			completed(flow, &wc);
		else if (!wc.status)
			post_receive(flow, &flow->pairs[wc.wr_id]);
	}
}

static void take_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(channel, &cq, &context))
		die_errno(errno, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	must("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0));
	reap(cq);
}

/* --- Time ---------------------------------------------------------------------- */

/* When the flow has something to do by itself */
static int64_t next_time(const struct flow *flow)
{
	int64_t next = flow->has_receives ? NEVER : flow->receives;

	if (!flow->started)
		return min(next, flow->start);
	return arrivals_go_on(flow) ? min(next, flow->next_arrival) : next;
}

static void pass_time(struct flow *flow, int64_t time)
{
	if (!flow->has_receives && time >= flow->receives)
		post_receives(flow);
	if (!flow->started && time >= flow->start)
		start(flow);
	while (flow->started && arrivals_go_on(flow) && time >= flow->next_arrival) {
		add_arrival(flow, flow->next_arrival);
		flow->next_arrival += gap(flow);
	}
	hand_out_arrivals(flow);
}

static bool is_over(const struct flow *flow)
{
	uint32_t i;

	if (!flow->started || (arrivals_go_on(flow) ||
			       (flow->first_arrival != flow->last_arrival && !flow->failed)))
		return false;
	for (i = 0; i < flow->qps; i++)
		if (flow->pairs[i].outstanding)
			return false;
	return true;
}

static void set_timer(int timer, int64_t time)
{
	struct itimerspec when = {
		.it_value.tv_sec = (time + zero) / NSEC_PER_SEC,
		.it_value.tv_nsec = (time + zero) % NSEC_PER_SEC,
	};

	if (time == NEVER)
		when = (struct itimerspec) {};
	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL))
		die_errno(errno, "timerfd_settime");
}

/* Returns when the next flow has something to do, and whether all are over. */
static int64_t look_at_flows(bool *over)
{
	int64_t next = NEVER;
	struct flow *flow;

	*over = true;
	for (flow = flows; flow < flows + flow_count; flow++) {
		pass_time(flow, now());
		next = min(next, next_time(flow));
		*over = *over && is_over(flow);
	}
	return next;
}

static void watch(int epoll, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die_errno(errno, "epoll_ctl");
}

static void run(void)
{
	int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	struct epoll_event event;
	uint64_t expirations;
	struct flow *flow;
	bool over;

	watch(epoll, timer, NULL);
	for (flow = flows; flow < flows + flow_count; flow++) {
		watch(epoll, flow->channel->fd, flow->channel);
		watch(epoll, flow->target_cq->channel->fd, flow->target_cq->channel);
	}
	for (;;) {
		set_timer(timer, look_at_flows(&over));
		if (over)
			return;
		if (epoll_wait(epoll, &event, 1, -1) != 1)
			die_errno(errno, "epoll_wait");
		if (event.data.ptr)
			take_event(event.data.ptr);
		else if (read(timer, &expirations, sizeof(expirations)) < 0)
			die_errno(errno, "timerfd");
	}
}

static void print_results(void)
{
	const struct result *result;

	for (result = results; result < results + result_count; result++)
		if (result->status)
			printf("failed %s %" PRId64 " %s\n", result->flow->name, result->time,
			       ibv_wc_status_str(result->status));
		else
			printf("done %s %" PRId64 " %" PRId64 "\n", result->flow->name,
			       result->time, result->latency);
}

int main(void)
{
	struct flow *flow;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0)
		read_flow(line);
	free(line);
	for (flow = flows; flow < flows + flow_count; flow++)
		open_flow(flow);
	zero = now() + SET_UP;
	printf("begin %" PRId64 "\n", zero);
	fflush(stdout);
	run();
	print_results();
	return 0;
}
