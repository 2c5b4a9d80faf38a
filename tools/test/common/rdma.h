/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A port of a device, and a QP's way from RESET to RTS. */
#ifndef TEST_RDMA_H
#define TEST_RDMA_H

#include <stdbool.h>
#include <infiniband/verbs.h>

#define TEST_QKEY 0x11223344

struct port {
	struct ibv_context *ctx;
	struct ibv_device_attr dev;
	struct ibv_port_attr attr;
	union ibv_gid gid;
	int gid_index;
};

/* What one side must know of the other, and how the two talk. */
struct path {
	union ibv_gid gid;	/* of the peer */
	uint32_t qpn;		/* of the peer */
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint32_t mtu;		/* in bytes */
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	uint8_t rd_atomic;
	uint8_t traffic_class;
	uint32_t flow_label;	/* 0: by the QPNs */
};

void port_open(struct port *port, const char *device, int gid_index);
void port_close(struct port *port);

enum ibv_mtu mtu_enum(uint32_t bytes);
uint32_t mtu_bytes(enum ibv_mtu mtu);

bool gid_is_ipv4(const union ibv_gid *gid);
/* The GID of an IPv4 or IPv6 address */
void gid_of_address(union ibv_gid *gid, const char *address);

void fill_ah_attr(struct ibv_ah_attr *attr, const struct port *port,
		  const struct path *path);
/* Returns NULL and sets errno, as ibv_create_ah does. */
struct ibv_ah *ah_create(struct ibv_pd *pd, const struct port *port,
			 const struct path *path);

/* Each returns what ibv_modify_qp returned. */
int qp_to_init(struct ibv_qp *qp, unsigned int access);
int qp_to_rtr(struct ibv_qp *qp, const struct port *port,
	      const struct path *path);
int qp_to_rts(struct ibv_qp *qp, const struct path *path);
int qp_to_state(struct ibv_qp *qp, enum ibv_qp_state state);
enum ibv_qp_state qp_state(struct ibv_qp *qp);

const char *wc_opcode_str(enum ibv_wc_opcode opcode);
const char *qp_state_str(enum ibv_qp_state state);

#endif
