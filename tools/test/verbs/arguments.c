// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a program may say to the kernel without its library: commands with a
 * driver part of any length, and attributes in any state. Each is taken or
 * refused with an errno that says why, and nothing is written behind what the
 * program has offered for the response.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "verbs.h"

#define GUARD		0xa5
#define BEYOND		8	/* bytes more than the driver's structure has */
#define MAX_COMMAND	512
#define RANDOM_MASKS	500

static struct duo duo;
static struct ibv_srq *srq;
static struct mminfo told[3];	/* the one in the middle is the driver's */

union command {
	struct ib_uverbs_get_context get_context;
	struct ib_uverbs_alloc_pd alloc_pd;
	struct ib_uverbs_reg_mr reg_mr;
	struct ib_uverbs_create_cq create_cq;
	struct ib_uverbs_resize_cq resize_cq;
	struct ib_uverbs_create_qp create_qp;
	struct ib_uverbs_modify_qp modify_qp;
	struct ib_uverbs_create_srq create_srq;
	struct ib_uverbs_modify_srq modify_srq;
	struct ib_uverbs_create_ah create_ah;
	struct {
		struct ib_uverbs_post_send command;
		struct ib_uverbs_send_wr requests[2];
	} post_send;
	uint8_t bytes[MAX_COMMAND];
};

struct request {
	struct ib_uverbs_cmd_hdr header;
	union command command;
};

static int issue(int fd, struct request *request, uint32_t number,
		 uint32_t in, uint32_t out)
{
	uint32_t size = sizeof(request->header) + in;

	request->header = (struct ib_uverbs_cmd_hdr) {
		.command = number, .in_words = size / 4, .out_words = out / 4,
	};
	return write(fd, request, size) == (ssize_t)size ? 0 : errno;
}

/* Each returns 0 or an errno; @handle is the first word of the response. */
static int destroy(uint32_t number, uint32_t handle)
{
	struct request request = { };
	struct ib_uverbs_destroy_qp_resp response[2];
	uint32_t words[] = { handle, 0 };
	uint64_t address = (uintptr_t)response;

	memcpy(request.command.bytes, &address, sizeof(address));
	memcpy(request.command.bytes + 8, words, sizeof(words));
	return issue(duo.a.port->ctx->cmd_fd, &request, number, 16,
		     number == IB_USER_VERBS_CMD_DESTROY_CQ ? 8 : 4);
}

static int destroy_plain(uint32_t number, uint32_t handle)
{
	struct request request = { };

	memcpy(request.command.bytes, &handle, sizeof(handle));
	return issue(duo.a.port->ctx->cmd_fd, &request, number, 4, 0);
}

static void fill_reg_mr(union command *c)
{
	c->reg_mr.start = (uintptr_t)duo.a.buf;
	c->reg_mr.length = 4096;
	c->reg_mr.hca_va = (uintptr_t)duo.a.buf;
	c->reg_mr.pd_handle = duo.a.pd->handle;
	c->reg_mr.access_flags = IBV_ACCESS_LOCAL_WRITE;
}

static void fill_create_cq(union command *c)
{
	c->create_cq.cqe = 10;
	c->create_cq.comp_channel = -1;
}

static void fill_resize_cq(union command *c)
{
	c->resize_cq.cq_handle = duo.a.rcq->handle;
	c->resize_cq.cqe = 100;
}

static void fill_create_qp(union command *c)
{
	c->create_qp.pd_handle = duo.a.pd->handle;
	c->create_qp.send_cq_handle = duo.a.scq->handle;
	c->create_qp.recv_cq_handle = duo.a.rcq->handle;
	c->create_qp.max_send_wr = 4;
	c->create_qp.max_recv_wr = 4;
	c->create_qp.max_send_sge = 1;
	c->create_qp.max_recv_sge = 1;
	c->create_qp.qp_type = IBV_QPT_RC;
}

static void fill_modify_qp(union command *c)
{
	c->modify_qp.qp_handle = duo.a.qp->handle;
	c->modify_qp.attr_mask = IBV_QP_STATE;
	c->modify_qp.qp_state = IBV_QPS_RESET;
}

static void fill_create_srq(union command *c)
{
	c->create_srq.pd_handle = duo.a.pd->handle;
	c->create_srq.max_wr = 4;
	c->create_srq.max_sge = 1;
}

static void fill_modify_srq(union command *c)
{
	struct rxe_modify_srq_cmd driver = {
		.mmap_info_addr = (uintptr_t)&told[1],
	};

	c->modify_srq.srq_handle = srq->handle;
	c->modify_srq.attr_mask = IBV_SRQ_MAX_WR;
	c->modify_srq.max_wr = 20;
	memcpy(c->bytes + sizeof(c->modify_srq), &driver, sizeof(driver));
}

static void fill_create_ah(union command *c)
{
	c->create_ah.pd_handle = duo.a.pd->handle;
	c->create_ah.attr.is_global = 1;
	c->create_ah.attr.port_num = 1;
	c->create_ah.attr.grh.sgid_index = duo.a.port->gid_index;
	c->create_ah.attr.grh.hop_limit = 64;
	memcpy(c->create_ah.attr.grh.dgid, &duo.b.port->gid, 16);
}

static int undo_get_context(uint32_t number, uint32_t async_fd)
{
	return close(async_fd) ? errno : 0;
}

/* The driver's part is @in bytes of the command and @out of the response. */
static const struct verb {
	const char *name;
	uint32_t number, size, response, in, out;
	void (*fill)(union command *c);
	int (*undo)(uint32_t number, uint32_t handle);
	uint32_t undo_number;
} commands[] = {
	{
		"get_context", IB_USER_VERBS_CMD_GET_CONTEXT,
		sizeof(struct ib_uverbs_get_context),
		sizeof(struct ib_uverbs_get_context_resp), 0, 0,
		NULL, undo_get_context, 0,
	}, {
		"alloc_pd", IB_USER_VERBS_CMD_ALLOC_PD,
		sizeof(struct ib_uverbs_alloc_pd),
		sizeof(struct ib_uverbs_alloc_pd_resp), 0, 0,
		NULL, destroy_plain, IB_USER_VERBS_CMD_DEALLOC_PD,
	}, {
		"reg_mr", IB_USER_VERBS_CMD_REG_MR,
		sizeof(struct ib_uverbs_reg_mr),
		sizeof(struct ib_uverbs_reg_mr_resp), 0, 0,
		fill_reg_mr, destroy_plain, IB_USER_VERBS_CMD_DEREG_MR,
	}, {
		"create_cq", IB_USER_VERBS_CMD_CREATE_CQ,
		sizeof(struct ib_uverbs_create_cq),
		sizeof(struct ib_uverbs_create_cq_resp),
		0, sizeof(struct rxe_create_cq_resp),
		fill_create_cq, destroy, IB_USER_VERBS_CMD_DESTROY_CQ,
	}, {
		"resize_cq", IB_USER_VERBS_CMD_RESIZE_CQ,
		sizeof(struct ib_uverbs_resize_cq),
		sizeof(struct ib_uverbs_resize_cq_resp),
		0, sizeof(struct rxe_resize_cq_resp),
		fill_resize_cq, NULL, 0,
	}, {
		"create_qp", IB_USER_VERBS_CMD_CREATE_QP,
		sizeof(struct ib_uverbs_create_qp),
		sizeof(struct ib_uverbs_create_qp_resp),
		0, sizeof(struct rxe_create_qp_resp),
		fill_create_qp, destroy, IB_USER_VERBS_CMD_DESTROY_QP,
	}, {
		"modify_qp", IB_USER_VERBS_CMD_MODIFY_QP,
		sizeof(struct ib_uverbs_modify_qp), 0, 0, 0,
		fill_modify_qp, NULL, 0,
	}, {
		"create_srq", IB_USER_VERBS_CMD_CREATE_SRQ,
		sizeof(struct ib_uverbs_create_srq),
		sizeof(struct ib_uverbs_create_srq_resp),
		0, sizeof(struct rxe_create_srq_resp),
		fill_create_srq, destroy, IB_USER_VERBS_CMD_DESTROY_SRQ,
	}, {
		"modify_srq", IB_USER_VERBS_CMD_MODIFY_SRQ,
		sizeof(struct ib_uverbs_modify_srq), 0,
		sizeof(struct rxe_modify_srq_cmd), 0,
		fill_modify_srq, NULL, 0,
	}, {
		"create_ah", IB_USER_VERBS_CMD_CREATE_AH,
		sizeof(struct ib_uverbs_create_ah),
		sizeof(struct ib_uverbs_create_ah_resp),
		0, sizeof(struct rxe_create_ah_resp),
		fill_create_ah, destroy_plain, IB_USER_VERBS_CMD_DESTROY_AH,
	},
};

/* A file of the device: get_context is said once to each. */
static int file_for(const struct verb *c)
{
	const struct ibv_context *context = duo.a.port->ctx;
	char path[128];

	if (c->number != IB_USER_VERBS_CMD_GET_CONTEXT)
		return context->cmd_fd;
	snprintf(path, sizeof(path), "/dev/infiniband/%s", context->device->dev_name);
	return open(path, O_RDWR | O_CLOEXEC);
}

static bool is_filled(const void *from, const void *to)
{
	const uint8_t *p;

	for (p = from; p < (const uint8_t *)to; p++)
		if (*p != GUARD)
			return false;
	return true;
}

static bool is_refusal(int err)
{
	return err == EINVAL || err == EOPNOTSUPP;
}

/* What is too short is refused, what is too long may be. */
static bool is_right(const struct verb *c, uint32_t in, uint32_t out, int err)
{
	if (in < c->in || out < c->out)
		return is_refusal(err);
	return !err || (in > c->in && is_refusal(err));
}

/* One try; false after a complaint. */
static bool issue_with(const struct verb *c, const char *name, uint32_t in,
		       uint32_t out)
{
	uint8_t response[MAX_COMMAND];
	struct request request = { };
	uint32_t handle;
	int fd, err;

	memset(response, GUARD, sizeof(response));
	memset(told, GUARD, sizeof(told));
	memset(request.command.bytes + c->size, 0xff, BEYOND + c->in);
	if (c->fill)
		c->fill(&request.command);
	if (c->response)
		request.command.alloc_pd.response = (uintptr_t)response;
	fd = file_for(c);
	err = issue(fd, &request, c->number, c->size + in, c->response + out);
	memcpy(&handle, response, sizeof(handle));
	if (!err && c->undo && c->undo(c->undo_number, handle))
		die_errno(errno, "%s: what was made cannot be undone", c->name);
	if (fd != duo.a.port->ctx->cmd_fd)
		close(fd);

	if (!is_right(c, in, out, err)) {
		tap_not_ok(name, "%u bytes in, %u out: %s", in, out,
			   err ? strerror(err) : "success");
		return false;
	}
	if (!is_filled(response + c->response + out, response + sizeof(response)) ||
	    !is_filled(told, told + 1) || !is_filled(told + 2, told + 3)) {
		tap_not_ok(name, "%u bytes in, %u out: more was written", in, out);
		return false;
	}
	return true;
}

static void any_length(const struct verb *c)
{
	uint32_t in, out;
	char name[128];

	snprintf(name, sizeof(name), "%s takes or refuses a driver part of any length",
		 c->name);
	for (in = 0; in <= c->in + BEYOND; in += 4)
		for (out = 0; out <= c->out + BEYOND; out += 4)
			if (!issue_with(c, name, in, out))
				return;
	tap_ok(name);
}

/* An extended command: its words have eight bytes. */
static void query_device_lengths(void)
{
	const char *name = "query_device_ex takes or refuses a driver part of any length";
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_ex_cmd_hdr extended;
		struct ib_uverbs_ex_query_device command;
		uint64_t driver[4];
	} request = { };
	struct ib_uverbs_ex_query_device_resp response[2];
	uint32_t in, out;
	size_t size;
	int err;

	for (in = 0; in <= 4; in++) {
		for (out = 0; out <= 4; out++) {
			memset(response, GUARD, sizeof(response));
			request.header = (struct ib_uverbs_cmd_hdr) {
				.command = IB_USER_VERBS_CMD_FLAG_EXTENDED |
					   IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
				.in_words = sizeof(request.command) / 8,
				.out_words = sizeof(response[0]) / 8,
			};
			request.extended = (struct ib_uverbs_ex_cmd_hdr) {
				.response = (uintptr_t)response,
				.provider_in_words = in,
				.provider_out_words = out,
			};
			size = offsetof(typeof(request), driver) + 8 * in;
			err = write(duo.a.port->ctx->cmd_fd, &request, size) < 0 ?
			      errno : 0;
			if (err && !is_refusal(err)) {
				tap_not_ok(name, "%u words in, %u out: %s", in,
					   out, strerror(err));
				return;
			}
			if (!is_filled((uint8_t *)(response + 1) + 8 * out,
				       response + 2)) {
				tap_not_ok(name, "%u words in, %u out: more was written",
					   in, out);
				return;
			}
		}
	}
	tap_ok(name);
}

/* --- attributes --------------------------------------------------------- */

static struct ibv_qp *qp_in_state(struct duo *d, enum ibv_qp_type type,
				  enum ibv_qp_state state, const struct path *path)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type, .send_cq = d->a.scq, .recv_cq = d->a.rcq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(d->a.pd, &init);

	if (!qp)
		die_errno(errno, "ibv_create_qp");
	if ((state > IBV_QPS_RESET && qp_to_init(qp, 0)) ||
	    (state > IBV_QPS_INIT && qp_to_rtr(qp, d->a.port, path)) ||
	    (state > IBV_QPS_RTR && qp_to_rts(qp, path)) ||
	    (state > IBV_QPS_RTS && qp_to_state(qp, state)))
		die("a QP does not get to %s", qp_state_str(state));
	return qp;
}

static struct path any_path(void)
{
	return (struct path) {
		.gid = duo.b.port->gid, .qpn = 17, .mtu = 1024, .timeout = 14,
		.retry_cnt = 7, .rd_atomic = 1, .min_rnr_timer = 1,
	};
}

/* True if it was taken. */
static bool modify_one(struct ibv_qp *qp, enum ibv_qp_state to, int mask,
		       const struct port *port, const struct path *path,
		       int *unexpected)
{
	struct ibv_qp_attr attr = {
		.qp_state = to, .cur_qp_state = qp_state(qp),
		.path_mtu = IBV_MTU_1024, .path_mig_state = IBV_MIG_MIGRATED,
		.qkey = TEST_QKEY, .dest_qp_num = 17, .port_num = 1,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1, .max_dest_rd_atomic = 1, .min_rnr_timer = 1,
	};
	struct ibv_qp_init_attr init;
	int err, query_err;

	fill_ah_attr(&attr.ah_attr, port, path);
	err = ibv_modify_qp(qp, &attr, mask);
	if (err && !is_refusal(err))
		*unexpected = err;
	query_err = ibv_query_qp(qp, &attr, mask, &init);
	if (query_err && !is_refusal(query_err))
		*unexpected = query_err;
	return !err;
}

/* A library posts by a command without requests. This one has two. */
static void failed_post(void)
{
	struct ibv_qp *qp = qp_in_state(&duo, IBV_QPT_RC, IBV_QPS_RESET, NULL);
	struct ib_uverbs_post_send_resp response = { };
	struct request request = { };

	request.command.post_send.command = (struct ib_uverbs_post_send) {
		.response = (uintptr_t)&response,
		.qp_handle = qp->handle,
		.wr_count = ARRAY_SIZE(request.command.post_send.requests),
		.wqe_size = sizeof(request.command.post_send.requests[0]),
	};
	tap_errno("a post to a QP in RESET fails", EINVAL,
		  issue(duo.a.port->ctx->cmd_fd, &request,
			IB_USER_VERBS_CMD_POST_SEND,
			sizeof(request.command.post_send), sizeof(response)));
	tap_int("with the first of its requests", 1, response.bad_wr);
	ibv_destroy_qp(qp);
}

/*
 * Each attribute alone, and with a transition: the first, which is the state
 * itself, to each state, the others to RESET and to RTS.
 */
static void any_attribute(enum ibv_qp_type type, const char *name)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
		IBV_QPS_SQD, IBV_QPS_ERR,
	};
	const struct path path = any_path();
	unsigned int from, to, bit, taken = 0;
	int unexpected = 0;
	struct ibv_qp *qp;

	for (from = 0; from < ARRAY_SIZE(states); from++) {
		qp = qp_in_state(&duo, type, states[from], &path);
		for (bit = 0; bit < 32; bit++) {
			taken += modify_one(qp, states[from], 1u << bit,
					    duo.a.port, &path, &unexpected);
			for (to = 0; to < ARRAY_SIZE(states); to += bit ? 3 : 1) {
				if (qp_state(qp) != states[from]) {
					ibv_destroy_qp(qp);
					qp = qp_in_state(&duo, type, states[from],
							 &path);
				}
				taken += modify_one(qp, states[to],
						    1u << bit | IBV_QP_STATE,
						    duo.a.port, &path, &unexpected);
			}
		}
		ibv_destroy_qp(qp);
	}
	if (unexpected)
		tap_not_ok(name, "%s", strerror(unexpected));
	else
		tap_true(name, taken);
}

static int usual_mask(enum ibv_qp_type type, enum ibv_qp_state to)
{
	bool datagrams = type == IBV_QPT_UD, reliable = type == IBV_QPT_RC;

	switch (to) {
	case IBV_QPS_INIT:
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	case IBV_QPS_RTR:
		return IBV_QP_STATE |
		       (datagrams ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU |
					IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) |
		       (reliable ? IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER : 0);
	case IBV_QPS_RTS:
		return IBV_QP_STATE | IBV_QP_SQ_PSN |
		       (reliable ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0);
	default:
		return IBV_QP_STATE;
	}
}

/* The usual ones, often with one that is missing or too many, to any state at all. */
static void any_attributes(enum ibv_qp_type type, const char *name)
{
	const struct path path = any_path();
	struct ibv_qp *qp = qp_in_state(&duo, type, IBV_QPS_RESET, &path);
	unsigned int i, taken = 0;
	uint64_t rnd = 1;
	int unexpected = 0;

	for (i = 0; i < RANDOM_MASKS; i++) {
		uint64_t r = next_random(&rnd);
		enum ibv_qp_state to = r % (IBV_QPS_ERR + 1);
		int mask = usual_mask(type, to);

		if (r & 1 << 8)
			mask ^= 1 << (r >> 16) % 32;
		if (r & 1 << 9)
			mask ^= 1 << (r >> 24) % 32;
		taken += modify_one(qp, to, mask, duo.a.port, &path, &unexpected);
	}
	ibv_destroy_qp(qp);
	if (unexpected)
		tap_not_ok(name, "%s", strerror(unexpected));
	else
		tap_true(name, taken);
}

void test_arguments(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	unsigned int i;

	duo_open(&duo, &(struct duo_options){ .unconnected = true });
	srq = ibv_create_srq(duo.a.pd, &init);
	if (!srq)
		die_errno(errno, "ibv_create_srq");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		any_length(&commands[i]);
	query_device_lengths();
	failed_post();
	ibv_destroy_srq(srq);
	duo_close(&duo);
}

void test_attribute_masks(void)
{
	duo_open(&duo, &(struct duo_options){ .unconnected = true });
	any_attribute(IBV_QPT_RC, "each attribute of an RC QP is taken or refused in each state");
	any_attribute(IBV_QPT_UC, "each attribute of a UC QP is taken or refused in each state");
	any_attribute(IBV_QPT_UD, "each attribute of a UD QP is taken or refused in each state");
	any_attributes(IBV_QPT_RC, "any attributes of an RC QP together are taken or refused");
	any_attributes(IBV_QPT_UC, "any attributes of a UC QP together are taken or refused");
	any_attributes(IBV_QPT_UD, "any attributes of a UD QP together are taken or refused");
	duo_close(&duo);
}
