/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KUNIT_FIXTURE_H
#define KUNIT_FIXTURE_H

#include <kunit/test.h>

#include "access.h"
#include "answer.h"
#include "compat.h"
#include "device.h"
#include "egress.h"
#include "fast_mr.h"
#include "mcast.h"
#include "mr.h"
#include "mw.h"
#include "packet.h"
#include "pd.h"
#include "qp.h"
#include "receive.h"
#include "recv.h"
#include "request.h"
#include "roce.h"
#include "run.h"
#include "send.h"
#include "sge.h"
#include "train.h"

typedef int (*fixture_send_fn)(struct roce_qp *qp, struct roce_av *av,
			       struct roce_train *train);

/*
 * The linker lets the driver call __wrap_roce_send() instead of roce_send(). KUnit's own
 * stubs belong to the task of a test, and trains are sent in softirqs.
 */
int __wrap_roce_send(struct roce_qp *qp, struct roce_av *av, struct roce_train *train);
int __real_roce_send(struct roce_qp *qp, struct roce_av *av, struct roce_train *train);
void fixture_set_send(struct roce_device *dev, fixture_send_fn send);

/* The same, for roce_engine_alloc() */
void *__wrap_roce_engine_alloc(size_t size);
void *__real_roce_engine_alloc(size_t size);
void fixture_withhold_memory(struct kunit *test);
void fixture_grant_memory(struct kunit *test);

/* The same, for roce_request_post() */
int __wrap_roce_request_post(struct roce_qp *qp, const struct ib_send_wr *wr);
int __real_roce_request_post(struct roce_qp *qp, const struct ib_send_wr *wr);
void fixture_take_requests_back(struct kunit *test);

/*
 * Verbs objects without a network, made by the driver's own verbs for a device that is
 * never registered. They are freed at the end of the test.
 */
struct roce_device *fixture_device(struct kunit *test);
u64 fixture_counter(struct roce_device *dev, enum roce_counter counter);
#define fixture_count(dev, name) fixture_counter(dev, ROCE_COUNTER_##name)

/* Count an event of a device or a QP, as a softirq does */
#define fixture_add(owner, name, amount) do { \
	local_bh_disable(); \
	roce_count_add(owner, name, amount); \
	local_bh_enable(); \
} while (0)

bool fixture_next_packet(struct sk_buff *skb, struct roce_qp *qp,
			 struct roce_packet *packet);

struct roce_pd *fixture_pd(struct kunit *test, struct roce_device *dev);
struct roce_mr *fixture_dma_mr(struct kunit *test, struct roce_pd *pd, int access);
struct roce_mw *fixture_mw(struct kunit *test, struct roce_pd *pd,
			   enum ib_mw_type type);
struct roce_cq *fixture_cq(struct kunit *test, struct roce_device *dev, int cqe);

struct roce_srq *fixture_srq(struct kunit *test, struct roce_pd *pd,
			     struct ib_srq_attr attr);

/**
 * struct fixture_qp_attr - wanted attributes of a QP
 * @type: IB_QPT_RC or IB_QPT_UD
 * @send_cq: of send completions
 * @recv_cq: of receive completions
 * @srq: shared receive queue, or NULL
 * @cap: queue sizes
 * @signal_all: every send request generates a completion
 * @event_handler: of asynchronous events, or NULL
 * @context: of @event_handler
 */
struct fixture_qp_attr {
	enum ib_qp_type type;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_srq *srq;
	struct ib_qp_cap cap;
	bool signal_all;
	void (*event_handler)(struct ib_event *event, void *context);
	void *context;
};

struct roce_qp *fixture_bare_qp(struct kunit *test, struct roce_device *dev);
struct roce_qp *fixture_qp(struct kunit *test, struct roce_pd *pd,
			   const struct fixture_qp_attr *attr);
void fixture_flush_engine(struct roce_engine *engine);
void fixture_make_user(struct kunit *test, struct roce_qp *qp);

struct ib_gid_attr *fixture_gid(struct kunit *test, struct roce_device *dev,
				const char *address);

struct sk_buff *fixture_datagram(struct kunit *test, const void *ip, u32 length);
struct sk_buff *fixture_packet(struct kunit *test, const struct roce_av *av,
			       u16 source_port, const struct roce_packet *packet,
			       const void *payload);
struct sk_buff *fixture_nth_packet(const struct sk_buff *train, u32 n);
void fixture_send_bytes(struct kunit *test, const struct roce_access *access, void *bytes);
int fixture_receive_bytes(struct kunit *test, const struct roce_access *access,
			  const void *bytes, u32 length);
__le32 fixture_icrc(const u8 *ip, u32 length);
void fixture_seal(u8 *ip, u32 length);
void fixture_fill(u8 *buffer, size_t size, u32 seed);
void *fixture_buffer(struct kunit *test, size_t size);

#endif /* KUNIT_FIXTURE_H */
