/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_AH_H
#define ROCE_AH_H

#include <linux/in6.h>
#include <net/dst.h>
#include <rdma/ib_verbs.h>

/**
 * struct roce_av - address vector: everything that is needed to reach a peer
 * @pd: protection domain of the address handle, which must be the QP's
 * @sgid_attr: our GID
 * @interface: index of the netdev (or VLAN) that had the GID when this was set up;
 *	packets leave only through it
 * @source: our address, IPv4 as ::ffff:a.b.c.d
 * @destination: the peer's address, in the same form
 * @ipv6: the addresses are IPv6
 * @traffic_class: DSCP and ECN bits of the packets
 * @hop_limit: TTL or hop limit
 * @priority: of the sk_buffs
 * @flow_label: of IPv6, and entropy of the UDP source port
 * @route: the latest route, or NULL; must be checked before use
 * @route_cookie: for checking an IPv6 route
 * @attr: attributes from the consumer, for query verbs; holds no reference
 * @rcu: address vectors of handles are found under RCU
 */
struct roce_av {
	struct ib_pd *pd;
	const struct ib_gid_attr *sgid_attr;
	int interface;
	struct in6_addr source;
	struct in6_addr destination;
	bool ipv6;
	u8 traffic_class;
	u8 hop_limit;
	u8 priority;
	u32 flow_label;
	struct dst_entry __rcu *route;
	u32 route_cookie;
	struct rdma_ah_attr attr;
	struct rcu_head rcu;
};

struct roce_ah {
	struct ib_ah ibah;
	struct roce_av *av;
	u32 number;		/* its name in work requests of user space, or 0 */
};

static inline struct roce_ah *to_roce_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct roce_ah, ibah);
}

int roce_av_init(struct roce_av *av, const struct rdma_ah_attr *attr);
void roce_av_release(struct roce_av *av);

int roce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		   struct ib_udata *udata);
int roce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int roce_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif /* ROCE_AH_H */
