/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tests of the verbs' rules share: TAP, and a duo, that is two
 * connected QPs with memory, both driven by this one process.
 */
#ifndef VERBS_H
#define VERBS_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "util.h"
#include "rdma.h"
#include "tap.h"

#define PAGE 4096
#define BUF_SIZE 65536

void tap_errno(const char *name, int expected, int seen);
/* A pointer that should be NULL with errno set, or not be NULL. */
void tap_refused(const char *name, int expected_errno, const void *object);
void tap_state(const char *name, enum ibv_qp_state expected, struct ibv_qp *qp);
/* The next completion of @cq has this status and wr_id. */
bool tap_wc(const char *name, struct ibv_cq *cq, uint64_t wr_id,
	    enum ibv_wc_status status);
/* Completions first..last come in order, all with this status. */
void tap_wcs(const char *name, struct ibv_cq *cq, uint64_t first, uint64_t last,
	     enum ibv_wc_status status);
void tap_no_wc(const char *name, struct ibv_cq *cq, unsigned int ms);

struct duo_options {
	enum ibv_qp_type type;		/* RC */
	uint32_t wr;			/* 16 */
	uint32_t sge;			/* 4 */
	uint32_t inline_data;
	int cqe;			/* 64 */
	bool extended_cq;		/* a's scq is made by ibv_create_cq_ex() */
	bool no_remote_access;		/* of the QPs */
	uint8_t timeout;		/* 17: 0.5 s */
	uint8_t retry_cnt;		/* 3 */
	uint8_t rnr_retry;		/* 0 */
	bool unconnected;		/* leave the QPs in RESET */
	bool infinite_timeout;		/* timeout 0 */
	struct ibv_srq *srq;		/* where b receives, if not in its QP */
};

struct end {
	struct port *port;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *scq, *rcq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_ah *ah;	/* UD: to the other end */
	struct path path;
	uint8_t *buf;
};

/* Requests go from a to b unless a test says otherwise. */
struct duo {
	struct duo_options opt;
	struct end a, b;
};

void duo_ports(struct port *a, struct port *b);
void duo_open(struct duo *d, const struct duo_options *opt);
void duo_connect(struct duo *d);
void duo_close(struct duo *d);

bool wait_wc(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms);
bool wait_async(struct ibv_context *ctx, enum ibv_event_type type,
		unsigned int ms);
void drain_async(struct ibv_context *ctx);

struct ibv_sge sge_of(const struct end *e, uint32_t offset, uint32_t len);
/* Posts of one sge; all signaled; what ibv_post_* returned. */
int post_rdma(struct duo *d, enum ibv_wr_opcode opcode, uint64_t wr_id,
	      struct ibv_sge sge, uint64_t addr, uint32_t rkey);
int post_send(struct end *e, uint64_t wr_id, struct ibv_sge sge,
	      unsigned int flags);
int post_recv(struct end *e, uint64_t wr_id, struct ibv_sge sge);

/* The rereg_mr verb with IBV_REREG_MR_* flags; errno's value or 0 */
int rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *start,
	  size_t length, uint64_t iova, int access);
/* Deregisters what this process has no struct of; errno's value or 0 */
int dereg_handle(struct ibv_context *ctx, uint32_t handle);

/* Both ends live and move a message: the test before did no harm. */
void tap_alive(const char *name, struct duo *d);

void test_remote_errors(void);
void test_local_errors(void);
void test_retries(void);
void test_neglect(void);
void test_states(void);
void test_attributes(void);
void test_arguments(void);
void test_attribute_masks(void);
void test_limits(void);
void test_regions(void);
void test_memory(void);
void test_fork(void);
void test_windows(void);
void test_dmabuf(void);
void test_moving_dmabuf(void);
void test_atomic_write(void);
void test_flush(void);
void test_reregistration(void);
void test_contention(void);
void test_completion_queues(void);
void test_shared_receive_queues(void);
void test_datagrams(void);
void test_changing_mtu(void);
void test_multicast(void);
void test_objects(void);
void test_in_flight(void);
void test_counters(void);

#endif
