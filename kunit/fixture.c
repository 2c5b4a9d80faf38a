// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test-bug.h>
#include <linux/crc32.h>
#include <linux/inet.h>
#include <linux/prandom.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>

#include "fixture.h"
#include "payload.h"
#include "verbs.h"

/*
 * An entry of the core's GID table: the core expects the reference count in front of
 * the attribute. The test never drops its own reference.
 */
struct gid_entry {
	struct kref kref;
	struct work_struct del_work;
	struct ib_gid_attr attr;
	void *rest_of_what_the_core_has[4];
};

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int send_nothing(struct roce_qp *qp, struct roce_av *av,
			struct roce_train *train)
{
	train->sent = train->packets;
	roce_train_drop(train);
	return 0;
}

/**
 * fixture_set_send() - where the trains of a device go
 * @dev: a device of fixture_device()
 * @send: what is called instead of roce_send()
 */
void fixture_set_send(struct roce_device *dev, fixture_send_fn send)
{
	dev_set_drvdata(&dev->ibdev.dev, send);
}

int __wrap_roce_send(struct roce_qp *qp, struct roce_av *av, struct roce_train *train)
{
	fixture_send_fn send = dev_get_drvdata(&qp->dev->ibdev.dev);

	return (send ?: __real_roce_send)(qp, av, train);
}

static bool memory_is_withheld;

void *__wrap_roce_engine_alloc(size_t size)
{
	return READ_ONCE(memory_is_withheld) ? NULL : __real_roce_engine_alloc(size);
}

static void grant_memory(void *context)
{
	WRITE_ONCE(memory_is_withheld, false);
}

/** fixture_withhold_memory() - engines find no memory, until the end of the test at most */
void fixture_withhold_memory(struct kunit *test)
{
	WRITE_ONCE(memory_is_withheld, true);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, grant_memory, NULL));
}

/** fixture_grant_memory() - end fixture_withhold_memory() */
void fixture_grant_memory(struct kunit *test)
{
	kunit_release_action(test, grant_memory, NULL);
}

static bool requests_are_taken_back;

int __wrap_roce_request_post(struct roce_qp *qp, const struct ib_send_wr *wr)
{
	int err = __real_roce_request_post(qp, wr);

	if (!err && READ_ONCE(requests_are_taken_back))
		memset((void *)wr, 0x5a, sizeof(*wr));
	return err;
}

static void leave_requests(void *context)
{
	WRITE_ONCE(requests_are_taken_back, false);
}

/**
 * fixture_take_requests_back() - overwrite each send request of a kernel consumer when it is
 *	posted, as a consumer may that sees its completion on another CPU
 * @test: until its end
 */
void fixture_take_requests_back(struct kunit *test)
{
	WRITE_ONCE(requests_are_taken_back, true);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, leave_requests, NULL));
}

static void free_device(void *context)
{
	struct roce_device *dev = context;

	roce_egress_close(dev);
	roce_cc_device_destroy(dev);
	roce_key_table_destroy(dev);
	xa_destroy(&dev->address_vectors);
	free_percpu(dev->counters);
	dev->ibdev.port_data = NULL;
	ib_dealloc_device(&dev->ibdev);
}

/**
 * fixture_device() - make a device on the loopback netdev
 * @test: the test
 *
 * Its packets are dropped, unless the test calls fixture_set_send().
 */
struct roce_device *fixture_device(struct kunit *test)
{
	struct ib_port_data *ports;
	struct roce_device *dev;

	ports = kunit_kcalloc(test, 2, sizeof(*ports), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ports);
	ports[1].immutable.core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;

	dev = ib_alloc_device(roce_device, ibdev);
	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev_set_name(&dev->ibdev.dev, "kunit");
	dev->counters = alloc_percpu(struct roce_counters);
	KUNIT_ASSERT_TRUE(test, !!dev->counters);
	KUNIT_ASSERT_EQ(test, roce_key_table_init(dev), 0);
	xa_init_flags(&dev->qp_counters, XA_FLAGS_ALLOC1);
	mutex_init(&dev->port_counters.lock);
	KUNIT_ASSERT_EQ(test, roce_cc_device_init(dev), 0);
	xa_init_flags(&dev->address_vectors, XA_FLAGS_ALLOC1);
	dev->net = &init_net;
	KUNIT_ASSERT_EQ(test, roce_egress_open(dev), 0);
	dev->netdev = init_net.loopback_dev;
	fixture_set_send(dev, send_nothing);

	ib_set_device_ops(&dev->ibdev, &roce_device_ops);
	dev->ibdev.ops.dealloc_driver = NULL;
	dev->ibdev.ops.get_link_layer = get_link_layer;
	dev->ibdev.phys_port_cnt = 1;
	dev->ibdev.num_comp_vectors = 1;
	dev->ibdev.port_data = ports;

	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, free_device, dev));
	return dev;
}

/**
 * fixture_next_packet() - roce_run_next(), as a softirq calls it
 * @skb: of the run
 * @qp: that receives it
 * @packet: filled in
 *
 * Return: false at the end of the run.
 */
bool fixture_next_packet(struct sk_buff *skb, struct roce_qp *qp,
			 struct roce_packet *packet)
{
	bool taken;

	local_bh_disable();
	taken = roce_run_next(skb, qp, packet);
	local_bh_enable();
	return taken;
}

/**
 * fixture_counter() - read a counter of a device
 * @dev: the device
 * @counter: the counter
 */
u64 fixture_counter(struct roce_device *dev, enum roce_counter counter)
{
	static DECLARE_BITMAP(moved, ROCE_COUNTER_COUNT);
	struct kunit *test = kunit_get_current_test();
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(dev->counters, cpu)->value[counter];
	/* For tools/test/unmoved, once per counter */
	if (sum && test && !test_and_set_bit(counter, moved))
		kunit_info(test, "moved: %s\n", roce_counter_name(counter));
	return sum;
}

static void free_pd(void *context)
{
	struct roce_pd *pd = context;

	roce_dealloc_pd(&pd->ibpd, NULL);
}

struct roce_pd *fixture_pd(struct kunit *test, struct roce_device *dev)
{
	struct roce_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pd);
	pd->ibpd.device = &dev->ibdev;
	KUNIT_ASSERT_EQ(test, roce_alloc_pd(&pd->ibpd, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_pd, pd), 0);
	return pd;
}

static void free_mr(void *context)
{
	struct roce_mr *mr = context;

	roce_dereg_mr(&mr->ibmr, NULL);
}

struct roce_mr *fixture_dma_mr(struct kunit *test, struct roce_pd *pd, int access)
{
	struct ib_mr *ibmr = roce_get_dma_mr(&pd->ibpd, access);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibmr);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_mr,
							   to_roce_mr(ibmr)));
	return to_roce_mr(ibmr);
}

static void free_mw(void *context)
{
	struct roce_mw *mw = context;

	roce_dealloc_mw(&mw->ibmw);
}

struct roce_mw *fixture_mw(struct kunit *test, struct roce_pd *pd,
			   enum ib_mw_type type)
{
	struct roce_mw *mw = kunit_kzalloc(test, sizeof(*mw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mw);
	mw->ibmw.device = pd->ibpd.device;
	mw->ibmw.pd = &pd->ibpd;
	mw->ibmw.type = type;
	KUNIT_ASSERT_EQ(test, roce_alloc_mw(&mw->ibmw, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_mw, mw), 0);
	return mw;
}

static void free_cq(void *context)
{
	struct roce_cq *cq = context;

	roce_destroy_cq(&cq->ibcq, NULL);
}

struct roce_cq *fixture_cq(struct kunit *test, struct roce_device *dev, int cqe)
{
	struct roce_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	struct ib_cq_init_attr attr = { .cqe = cqe };

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ibcq.device = &dev->ibdev;
	KUNIT_ASSERT_EQ(test, roce_create_cq(&cq->ibcq, &attr, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_cq, cq), 0);
	return cq;
}

static void free_srq(void *context)
{
	struct roce_srq *srq = context;

	roce_destroy_srq(&srq->ibsrq, NULL);
}

/**
 * fixture_srq() - make a shared receive queue of a kernel consumer
 * @test: the test
 * @pd: its protection domain
 * @attr: max_wr and max_sge
 */
struct roce_srq *fixture_srq(struct kunit *test, struct roce_pd *pd,
			     struct ib_srq_attr attr)
{
	struct roce_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct ib_srq_init_attr init = { .attr = attr };

	KUNIT_ASSERT_NOT_NULL(test, srq);
	srq->ibsrq.device = pd->ibpd.device;
	srq->ibsrq.pd = &pd->ibpd;
	KUNIT_ASSERT_EQ(test, roce_create_srq(&srq->ibsrq, &init, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_srq, srq), 0);
	return srq;
}

static void free_qp(void *context)
{
	struct roce_qp *qp = context;

	roce_destroy_qp(&qp->ibqp, NULL);
}

/**
 * fixture_bare_qp() - make a QP that can only count, with its device
 * @test: the test
 * @dev: the device
 */
struct roce_qp *fixture_bare_qp(struct kunit *test, struct roce_device *dev)
{
	struct roce_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->dev = dev;
	qp->counters = dev->counters;
	return qp;
}

/**
 * fixture_flush_engine() - wait until a scheduled engine has run
 * @engine: of a QP
 */
void fixture_flush_engine(struct roce_engine *engine)
{
	while (test_bit(ROCE_ENGINE_SCHEDULED, &engine->flags) ||
	       atomic_read(&engine->runs))
		usleep_range(50, 100);
}

static void schedule_engine(void *engine)
{
	roce_engine_schedule(engine);
}

/* So that an earlier test does not delay the engines of this one. */
static void renew_budgets(struct roce_engine *engine)
{
	int cpu;

	for_each_online_cpu(cpu) {
		smp_call_function_single(cpu, schedule_engine, engine, 1);
		fixture_flush_engine(engine);
	}
}

/**
 * fixture_qp() - make a QP of a kernel consumer, in the RESET state
 * @test: the test
 * @pd: its protection domain
 * @attr: wanted attributes
 */
struct roce_qp *fixture_qp(struct kunit *test, struct roce_pd *pd,
			   const struct fixture_qp_attr *attr)
{
	struct roce_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct ib_qp_init_attr init = {
		.qp_type = attr->type,
		.send_cq = &attr->send_cq->ibcq,
		.recv_cq = &attr->recv_cq->ibcq,
		.srq = attr->srq ? &attr->srq->ibsrq : NULL,
		.cap = attr->cap,
		.port_num = 1,
		.sq_sig_type = attr->signal_all ? IB_SIGNAL_ALL_WR :
						  IB_SIGNAL_REQ_WR,
	};

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->ibqp.device = pd->ibpd.device;
	qp->ibqp.pd = &pd->ibpd;
	qp->ibqp.qp_type = init.qp_type;
	qp->ibqp.send_cq = init.send_cq;
	qp->ibqp.recv_cq = init.recv_cq;
	qp->ibqp.srq = init.srq;
	qp->ibqp.event_handler = attr->event_handler;
	qp->ibqp.qp_context = attr->context;
	KUNIT_ASSERT_EQ(test, roce_create_qp(&qp->ibqp, &init, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_qp, qp), 0);
	renew_budgets(&qp->requester.engine);
	return qp;
}

/**
 * fixture_make_user() - let the test be the program that owns a QP
 * @test: the test
 * @qp: new
 *
 * Its send queue becomes a ring, which the test fills as a program would.
 */
void fixture_make_user(struct kunit *test, struct roce_qp *qp)
{
	size_t room = max_t(size_t, qp->cap.max_send_sge * sizeof(struct rxe_sge),
			    qp->cap.max_inline_data);

	KUNIT_ASSERT_EQ(test, 0,
			roce_ring_init(&qp->requester.ring, qp->cap.max_send_wr,
				       sizeof(struct rxe_send_wqe) + room,
				       false, NULL, NULL));
	/* The driver only checks that it is not NULL. */
	qp->ibqp.uobject = kunit_kzalloc(test, 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->ibqp.uobject);
}

static void parse_address(struct kunit *test, const char *text,
			  struct in6_addr *address)
{
	u8 ipv4[4];

	if (in4_pton(text, -1, ipv4, -1, NULL))
		ipv6_addr_set_v4mapped(get_unaligned((__be32 *)ipv4), address);
	else
		KUNIT_ASSERT_TRUE(test, in6_pton(text, -1, address->s6_addr, -1,
						 NULL));
}

/**
 * fixture_gid() - make a GID of a device
 * @test: the test
 * @dev: the device
 * @address: IPv4 or IPv6
 */
struct ib_gid_attr *fixture_gid(struct kunit *test, struct roce_device *dev,
				const char *address)
{
	struct gid_entry *entry = kunit_kzalloc(test, sizeof(*entry), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, entry);
	kref_init(&entry->kref);
	entry->attr.device = &dev->ibdev;
	entry->attr.port_num = 1;
	entry->attr.gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	RCU_INIT_POINTER(entry->attr.ndev, init_net.loopback_dev);
	parse_address(test, address, (struct in6_addr *)entry->attr.gid.raw);
	return &entry->attr;
}

/**
 * fixture_datagram() - make a received datagram, as UDP gives it to a tunnel
 * @test: the test
 * @ip: bytes from the IP header on
 * @length: number of bytes
 *
 * Return: the sk_buff, which the caller must free or pass on.
 */
struct sk_buff *fixture_datagram(struct kunit *test, const void *ip, u32 length)
{
	u32 header = *(const u8 *)ip >> 4 == 6 ? sizeof(struct ipv6hdr) :
						 sizeof(struct iphdr);
	struct sk_buff *skb = alloc_skb(length, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, ip, length);
	skb_reset_network_header(skb);
	skb_pull(skb, header);
	skb_reset_transport_header(skb);
	return skb;
}

/**
 * fixture_packet() - make a datagram of one packet
 * @test: fails if there is no memory
 * @av: path
 * @source_port: of UDP
 * @packet: description of the packet
 * @payload: its payload
 */
struct sk_buff *fixture_packet(struct kunit *test, const struct roce_av *av,
			       u16 source_port, const struct roce_packet *packet,
			       const void *payload)
{
	struct sk_buff *skb = NULL;
	struct roce_train train;
	int err;

	local_bh_disable();
	err = roce_train_of_one(&train, av, source_port, packet, payload);
	if (!err)
		skb = roce_train_finish(&train);
	local_bh_enable();
	KUNIT_ASSERT_EQ(test, err, 0);
	return skb;
}

/* Return a datagram of one packet. */
static noinline_for_stack struct sk_buff *build_packet(struct kunit *test,
						       const struct roce_access *access)
{
	struct roce_packet packet = {
		.info = roce_opcode_info(ROCE_SEND_MIDDLE),
		.payload = access->length,
	};
	struct roce_train train;
	struct roce_av av = {};

	roce_train_open(&train, &av, 0);
	KUNIT_EXPECT_EQ(test, 0, roce_train_begin_packets(&train, &packet, 1));
	KUNIT_EXPECT_EQ(test, 0, roce_payload_read(access, &train));
	KUNIT_EXPECT_EQ(test, train.bytes, sizeof(struct roce_bth) + access->length);
	return roce_train_finish(&train);
}

/**
 * fixture_send_bytes() - build a packet of the memory of an access
 * @test: the test
 * @access: the memory
 * @bytes: set to the payload of the packet, as long as @access
 */
void fixture_send_bytes(struct kunit *test, const struct roce_access *access, void *bytes)
{
	struct sk_buff *skb;

	local_bh_disable();
	rcu_read_lock();
	skb = build_packet(test, access);
	skb_copy_bits(skb, skb->len - access->length, bytes, access->length);
	kfree_skb(skb);
	rcu_read_unlock();
	local_bh_enable();
}

/**
 * fixture_receive_bytes() - place the payload of a packet but for its first byte
 * @test: the test
 * @access: the memory that gets it
 * @bytes: after the first one
 * @length: number of these bytes
 *
 * Return: that of roce_payload_write().
 */
int fixture_receive_bytes(struct kunit *test, const struct roce_access *access,
			  const void *bytes, u32 length)
{
	const u32 headers = 10;
	struct sk_buff *skb = alloc_skb(headers + 1 + length, GFP_KERNEL);
	struct roce_packet packet = { .skb = skb, .offset = headers };
	int err;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, headers + 1);
	skb_put_data(skb, bytes, length);
	rcu_read_lock();
	err = roce_payload_write(access, &packet, 1);
	rcu_read_unlock();
	kfree_skb(skb);
	return err;
}

static u32 segment_size(const struct sk_buff *skb, u32 payload)
{
	return skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : payload;
}

/**
 * fixture_nth_packet() - get one packet of a train, as on the wire
 * @train: returned by roce_train_finish()
 * @n: its number
 *
 * Return: a new datagram, or NULL if the train has fewer packets.
 */
struct sk_buff *fixture_nth_packet(const struct sk_buff *train, u32 n)
{
	bool ipv6 = roce_is_ipv6(train);
	u32 ip = ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	u32 front = ip + sizeof(struct udphdr);
	u32 from, size, segment = segment_size(train, train->len - front);
	struct sk_buff *skb;

	if (n * segment >= train->len - front)
		return NULL;
	from = front + n * segment;
	size = min(segment, train->len - from);

	skb = alloc_skb(front + size, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_copy_bits(train, 0, skb_put(skb, front), front);
	skb_copy_bits(train, from, skb_put(skb, size), size);
	skb_reset_network_header(skb);
	skb_pull(skb, ip);
	skb_reset_transport_header(skb);
	udp_hdr(skb)->len = htons(skb->len);
	if (ipv6) {
		ipv6_hdr(skb)->payload_len = htons(skb->len);
	} else {
		ip_hdr(skb)->tot_len = htons(skb->len + ip);
		if (!(skb_shinfo(train)->gso_type & SKB_GSO_TCP_FIXEDID))
			be16_add_cpu(&ip_hdr(skb)->id, n);
	}
	return skb;
}

/* One byte as the ICRC sees it: ones where it is masked */
static u8 icrc_byte(const u8 *packet, u32 at)
{
	bool ipv6 = packet[0] >> 4 == 6;
	u32 udp = ipv6 ? 40 : 20;

	if (ipv6 && at == 0)
		return 0x6f;
	if (ipv6 && (at <= 3 || at == 7))
		return 0xff;
	if (!ipv6 && (at == 1 || at == 8 || at == 10 || at == 11))
		return 0xff;
	if (at == udp + 6 || at == udp + 7 || at == udp + 8 + 4)
		return 0xff;
	return packet[at];
}

/**
 * fixture_icrc() - compute the ICRC of a packet without code of the driver
 * @ip: the packet, from its IP header on
 * @length: bytes, with those of the ICRC
 */
__le32 fixture_icrc(const u8 *ip, u32 length)
{
	static const u8 ones[8] = { [0 ... 7] = 0xff };
	u32 crc = crc32_le(~0, ones, sizeof(ones));
	u32 at;

	for (at = 0; at < length - ROCE_ICRC_SIZE; at++) {
		u8 byte = icrc_byte(ip, at);

		crc = crc32_le(crc, &byte, 1);
	}
	return cpu_to_le32(~crc);
}

/**
 * fixture_seal() - write the right ICRC after a packet was tampered with
 * @ip: the packet, from its IP header on
 * @length: bytes, with those of the ICRC
 */
void fixture_seal(u8 *ip, u32 length)
{
	__le32 icrc = fixture_icrc(ip, length);

	memcpy(ip + length - sizeof(icrc), &icrc, sizeof(icrc));
}

/**
 * fixture_fill() - fill a buffer with bytes that differ everywhere
 * @buffer: the buffer
 * @size: bytes
 * @seed: another seed gives other bytes
 */
void fixture_fill(u8 *buffer, size_t size, u32 seed)
{
	struct rnd_state state;

	prandom_seed_state(&state, seed);
	prandom_bytes_state(&state, buffer, size);
}

static void free_buffer(void *buffer)
{
	vfree(buffer);
}

/**
 * fixture_buffer() - allocate zeroed memory that starts and ends at a page
 * @test: the test
 * @size: bytes
 */
void *fixture_buffer(struct kunit *test, size_t size)
{
	void *buffer = vzalloc(size);

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_buffer,
							   buffer));
	return buffer;
}
