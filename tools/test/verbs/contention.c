// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Two threads at the same object: each sees it as one of them left it. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

#define ROUNDS	1000
#define PATIENCE 20	/* seconds, where rounds take long */

/*
 * @run in a thread of its own, again and again, until @over. What it does is done
 * under @lock, for who wants to look at it at rest.
 */
struct rival {
	void (*run)(struct rival *rival);
	struct duo d;
	pthread_t thread;
	pthread_mutex_t lock;
	atomic_bool over;
	atomic_uint turns;
	struct ibv_mr *mr;
};

static void *rival_thread(void *arg)
{
	struct rival *rival = arg;

	while (!rival->over) {
		pthread_mutex_lock(&rival->lock);
		rival->run(rival);
		rival->turns++;
		pthread_mutex_unlock(&rival->lock);
		usleep(1 + rival->turns % 32);
	}
	return NULL;
}

static void rival_begin(struct rival *rival)
{
	pthread_mutex_init(&rival->lock, NULL);
	rival->over = false;
	rival->turns = 0;
	if (pthread_create(&rival->thread, NULL, rival_thread, rival))
		die("pthread_create");
}

static void rival_end(struct rival *rival)
{
	rival->over = true;
	pthread_join(rival->thread, NULL);
	pthread_mutex_destroy(&rival->lock);
}

/* What may change in SQD, small or large; the core finds the hop limit by itself. */
static void fill_whole(struct rival *rival, struct ibv_qp_attr *attr, uint8_t value)
{
	memset(attr, 0, sizeof(*attr));
	fill_ah_attr(&attr->ah_attr, rival->d.a.port, &rival->d.a.path);
	attr->ah_attr.grh.flow_label = value;
	attr->ah_attr.grh.traffic_class = value << 2;
	attr->timeout = value;
	attr->min_rnr_timer = value;
	attr->retry_cnt = value & 7;
	attr->rnr_retry = value & 7;
}

static void modify(struct rival *rival)
{
	const int mask = IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER |
			 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
	struct ibv_qp_attr attr;
	int err;

	fill_whole(rival, &attr, rival->turns % 2 ? 31 : 1);
	err = ibv_modify_qp(rival->d.a.qp, &attr, mask);
	if (err)
		die_errno(err, "ibv_modify_qp in SQD");
}

static bool is_whole(struct rival *rival, const struct ibv_qp_attr *seen)
{
	struct ibv_qp_attr attr;

	fill_whole(rival, &attr, seen->timeout);
	return seen->ah_attr.grh.flow_label == attr.ah_attr.grh.flow_label &&
	       seen->ah_attr.grh.traffic_class == attr.ah_attr.grh.traffic_class &&
	       seen->min_rnr_timer == attr.min_rnr_timer &&
	       seen->retry_cnt == attr.retry_cnt &&
	       seen->rnr_retry == attr.rnr_retry;
}

static void query_and_modify(void)
{
	struct rival rival = { .run = modify };
	unsigned int i, torn = 0, small = 0;
	double end = seconds() + PATIENCE;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	duo_open(&rival.d, NULL);
	if (qp_to_state(rival.d.a.qp, IBV_QPS_SQD))
		die("no way to SQD");
	modify(&rival);
	rival_begin(&rival);
	for (i = 0; rival.turns < ROUNDS && seconds() < end; i++) {
		if (ibv_query_qp(rival.d.a.qp, &attr, IBV_QP_AV, &init))
			die("ibv_query_qp");
		torn += !is_whole(&rival, &attr);
		small += attr.timeout == 1;
	}
	rival_end(&rival);
	tap_true("a QP can be queried while it is modified to and fro",
		 small > 0 && small < i);
	tap_int("a query tells what one modification left, never parts of two", 0, torn);
	duo_close(&rival.d);
}

#define ADDRESS 0x10000000

/* Where the region is after so many turns: at ADDRESS, or in other memory elsewhere */
static bool is_at_address(unsigned int turns)
{
	return turns % 2 == 0;
}

static void move_region(struct rival *rival)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	bool back = is_at_address(rival->turns + 1);
	int err;

	err = rereg(rival->mr, IBV_REREG_MR_CHANGE_TRANSLATION, rival->d.b.pd,
		    rival->d.b.buf + (back ? 0 : 4 * PAGE), 2 * PAGE,
		    back ? ADDRESS : 2 * ADDRESS, access);
	/* It stays where a window is. */
	if (err == EBUSY)
		rival->turns--;
	else if (err)
		die_errno(err, "rereg_mr");
}

static enum ibv_wc_status bind(struct rival *rival, struct ibv_mw *mw, uint64_t length)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = rival->mr,
			.addr = ADDRESS,
			.length = length,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		},
	};
	struct ibv_wc wc;

	if (ibv_bind_mw(rival->d.b.qp, mw, &bind) ||
	    !wait_wc(rival->d.b.scq, &wc, PATIENCE_MS))
		die("a window is neither bound nor refused");
	return wc.status;
}

/* Through a window that is bound: the region is at its address, and stays there. */
static bool write_arrives(struct rival *rival, struct ibv_mw *mw)
{
	struct duo *d = &rival->d;
	struct ibv_wc wc;

	memset(d->a.buf, 0x42, PAGE);
	memset(d->b.buf, 0, BUF_SIZE);
	if (post_rdma(d, IBV_WR_RDMA_WRITE, 1, sge_of(&d->a, 0, PAGE), ADDRESS,
		      mw->rkey) ||
	    !wait_wc(d->a.scq, &wc, PATIENCE_MS) || wc.status)
		return false;
	return is_at_address(rival->turns) && !memcmp(d->b.buf, d->a.buf, PAGE) &&
	       !d->b.buf[PAGE];
}

static struct ibv_mw *new_window(struct duo *d)
{
	struct ibv_mw *mw = ibv_alloc_mw(d->b.pd, IBV_MW_TYPE_1);

	if (!mw)
		die_errno(errno, "ibv_alloc_mw");
	return mw;
}

/* After a bind that was refused the provider has another key than the window. */
static void begin_again(struct duo *d, struct ibv_mw **mw)
{
	ibv_dealloc_mw(*mw);
	*mw = new_window(d);
	if (qp_to_state(d->a.qp, IBV_QPS_RESET) || qp_to_state(d->b.qp, IBV_QPS_RESET))
		die("no way to RESET");
	duo_connect(d);
}

/* Whether a window that could be bound was at its place, and could be taken off */
static bool bound_well(struct rival *rival, struct ibv_mw *mw)
{
	bool well;

	pthread_mutex_lock(&rival->lock);
	well = write_arrives(rival, mw) && bind(rival, mw, 0) == IBV_WC_SUCCESS;
	pthread_mutex_unlock(&rival->lock);
	return well;
}

static void bind_and_reregister(void)
{
	unsigned int bound = 0, well = 0, other = 0;
	struct rival rival = { .run = move_region };
	double end = seconds() + PATIENCE;
	struct ibv_mw *mw;

	duo_open(&rival.d, NULL);
	rival.mr = ibv_reg_mr_iova(rival.d.b.pd, rival.d.b.buf, 2 * PAGE, ADDRESS,
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	if (!rival.mr)
		die_errno(errno, "ibv_reg_mr_iova");
	mw = new_window(&rival.d);
	rival_begin(&rival);
	while (bound < ROUNDS / 10 && bound == well && seconds() < end) {
		switch (bind(&rival, mw, PAGE)) {
		case IBV_WC_SUCCESS:
			bound++;
			well += bound_well(&rival, mw);
			break;
		case IBV_WC_MW_BIND_ERR:
			begin_again(&rival.d, &mw);
			break;
		default:
			other++;
			begin_again(&rival.d, &mw);
		}
	}
	rival_end(&rival);
	tap_true("a window can be bound while its region moves to and fro", bound > 0);
	tap_int("only where the region is, and writes go there", bound, well);
	tap_int("and is refused as one that cannot be bound else", 0, other);
	ibv_dealloc_mw(mw);
	ibv_dereg_mr(rival.mr);
	duo_close(&rival.d);
}

void test_contention(void)
{
	query_and_modify();
	bind_and_reregister();
}
