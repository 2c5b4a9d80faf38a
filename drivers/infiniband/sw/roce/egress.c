// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Limits the packets of a device in the queues of its own host: in a qdisc, in the ring
 * of a NIC, in the backlog of a CPU to which packets are steered.
 *
 * A window limits the packets in flight of one QP, but a hundred QPs have a hundred
 * windows. So each CPU counts the sk_buffs that it has sent for the device and that
 * are still in the host, and their bytes. Above a limit of sk_buffs, which is below the
 * capacity of these queues, or of bytes, which keeps the queues short, engines wait for
 * a turn. A timer runs while engines wait, at least twice in the time that the line
 * needs for what is in the queues. It checks how much has left, and gives turns to as
 * many engines. A turn is good for one train.
 *
 * A socket, which otherwise only tells IP to use the MTU of the netdev, is charged with
 * the memory of each sk_buff, as that of a program is. The stack knows such charges: it
 * gives them back when the sk_buff is freed, or when the IP layer of a peer on this host
 * receives it, earlier if it is sent through lo, and keeps them right where it cuts an
 * sk_buff, copies it, or adds something to it. An sk_buff that is kept for long, by a
 * queue of netfilter for example, keeps the socket, but neither the device nor this
 * module, and is not counted after a while. A destructor that wakes engines would be
 * quicker than the timer, but would keep the module.
 *
 * Number and bytes follow from the memory: the sk_buffs in the queues are the latest ones.
 */
#include <linux/in.h>
#include <linux/net.h>
#include <linux/percpu.h>
#include <net/ip.h>
#include <net/sock.h>

#include "compat.h"
#include "counters.h"
#include "egress.h"
#include "engine.h"
#include "qp.h"
#include "train_limits.h"

/* Bounds of the time between two ticks */
#define MIN_TICK	(10 * NSEC_PER_USEC)
#define MAX_TICK	(100 * NSEC_PER_USEC)

/* The latest sk_buffs, whose sizes are known. More than may be in the queues. */
#define HISTORY		(2 * ROCE_EGRESS_LIMIT)

/*
 * sk_buffs that stay for so long, while no other one with a turn leaves, are not counted
 * any more. Only time in which the host ran counts: it may be a virtual machine that stood
 * still.
 */
#define STUCK_TIME	(50 * NSEC_PER_MSEC)

/**
 * struct roce_charge - what some sk_buffs amount to, each modulo 2^32
 * @bytes: that go over the line
 * @memory: bytes with which the socket is charged
 */
struct roce_charge {
	u32 bytes;
	u32 memory;
};

/**
 * struct roce_egress - the sk_buffs that one CPU has sent for a device
 * @dev: the device
 * @socket: is charged with the memory of the sk_buffs in the host's queues
 * @sent: number of sk_buffs sent
 * @total: of all sk_buffs sent
 * @passed: memory of those that were sent without a turn, modulo 2^32
 * @before: @total before each of the latest sk_buffs, by its number
 * @stuck: memory in the queues that is not counted
 * @lock: guards the fields below, and waiting turns
 * @waiting: turns, in their order
 * @left: memory that had left at the latest progress, see memory_left()
 * @ticked_at: time of the latest tick of @timer, ns
 * @quiet: time since the latest progress, ns
 * @interval: time between two ticks, ns
 * @timer: runs while there are waiting turns
 *
 * The numbers of sk_buffs and bytes belong to the CPU, with BH disabled.
 */
struct roce_egress {
	struct roce_device *dev;
	struct socket *socket;
	u64 sent;
	struct roce_charge total;
	u32 passed;
	struct roce_charge before[HISTORY];
	u32 stuck;
	spinlock_t lock;		/* see @lock above */
	struct list_head waiting;
	u32 left;
	u64 ticked_at;
	u64 quiet;
	u64 interval;
	struct hrtimer timer;
};

/* Memory of the sk_buffs in the host's queues */
static u32 in_queues(const struct roce_egress *egress)
{
	return sk_wmem_alloc_get(egress->socket->sk);
}

/* What the latest @count sk_buffs amount to; @count is at most HISTORY */
static struct roce_charge of_latest(const struct roce_egress *egress, u32 count)
{
	const struct roce_charge *before = &egress->total;

	if (count)
		before = &egress->before[(egress->sent - count) % HISTORY];
	return (struct roce_charge) {
		.bytes = egress->total.bytes - before->bytes,
		.memory = egress->total.memory - before->memory,
	};
}

/* Number of the latest sk_buffs that have so much memory, or all whose memory is known */
static u32 count_latest(const struct roce_egress *egress, u32 memory)
{
	u32 least = 1, most = min_t(u64, egress->sent, HISTORY);

	if (!memory)
		return 0;
	while (least < most) {
		u32 middle = (least + most) / 2;

		if (of_latest(egress, middle).memory < memory)
			least = middle + 1;
		else
			most = middle;
	}
	return most;
}

/* Number of trains that may be sent. BH disabled, on the CPU of @egress. */
static u32 room(struct roce_egress *egress)
{
	u32 present = in_queues(egress);
	u32 count, bytes;

	egress->stuck = min(egress->stuck, present);
	count = count_latest(egress, present - egress->stuck);
	bytes = of_latest(egress, count).bytes;
	if (count >= ROCE_EGRESS_LIMIT || bytes >= ROCE_EGRESS_BYTES)
		return 0;
	return min(ROCE_EGRESS_LIMIT - count,
		   DIV_ROUND_UP(ROCE_EGRESS_BYTES - bytes, ROCE_TRAIN_MAX_BYTES));
}

/* Half of the time that the line needs for what is in the queues, ns */
static u64 next_interval(const struct roce_egress *egress)
{
	u64 rate = READ_ONCE(egress->dev->congestion.line_rate);
	u32 count = count_latest(egress, in_queues(egress));
	u64 bits = of_latest(egress, count).bytes * 8ull;
	u64 drained = div64_u64(bits * NSEC_PER_SEC / 2, rate);

	return max_t(u64, clamp(drained, MIN_TICK, MAX_TICK), hrtimer_resolution);
}

/*
 * Memory of the sk_buffs with a turn that have left, modulo 2^32: it grows when one leaves.
 * Those without a turn lower it while they are in the queues, but may leave past the others.
 */
static u32 memory_left(const struct roce_egress *egress)
{
	return egress->total.memory - egress->passed - in_queues(egress);
}

/* Stop counting sk_buffs that are stuck for too long. */
static void look_for_progress(struct roce_egress *egress)
{
	u32 left = memory_left(egress);
	u64 now = ktime_get_ns();

	lockdep_assert_held(&egress->lock);
	/* A late tick counts like one in time. */
	egress->quiet += min(now - egress->ticked_at, egress->interval);
	egress->ticked_at = now;
	if ((s32)(left - egress->left) > 0) {
		egress->left = left;
		egress->quiet = 0;
	} else if (egress->quiet > STUCK_TIME) {
		egress->stuck = in_queues(egress);
	}
}

/*
 * An engine may run on any CPU as soon as its turn is off the list. If it is destroyed
 * then, roce_egress_turn_cancel() waits for the lock.
 */
static void grant(struct roce_egress *egress, u32 turns)
{
	struct roce_turn *turn, *next;

	lockdep_assert_held(&egress->lock);
	list_for_each_entry_safe(turn, next, &egress->waiting, node) {
		if (!turns--)
			return;
		WRITE_ONCE(turn->granted, true);
		list_del_init_careful(&turn->node);
		roce_engine_schedule(container_of(turn, struct roce_engine,
						  turn));
	}
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct roce_egress *egress = container_of(timer, struct roce_egress,
						  timer);
	enum hrtimer_restart again = HRTIMER_NORESTART;

	spin_lock_bh(&egress->lock);
	look_for_progress(egress);
	grant(egress, room(egress));
	if (!list_empty(&egress->waiting)) {
		egress->interval = next_interval(egress);
		hrtimer_forward_now(timer, ns_to_ktime(egress->interval));
		again = HRTIMER_RESTART;
	}
	spin_unlock_bh(&egress->lock);
	return again;
}

static void begin_to_tick(struct roce_egress *egress)
{
	lockdep_assert_held(&egress->lock);
	egress->left = memory_left(egress);
	egress->ticked_at = ktime_get_ns();
	egress->quiet = 0;
	egress->interval = next_interval(egress);
	hrtimer_start(&egress->timer, ns_to_ktime(egress->interval),
		      ROCE_WAIT_MODE);
}

/* @first: the turn was granted, but others have used the room since. */
static void wait_in_line(struct roce_egress *egress, struct roce_turn *turn,
			 bool first)
{
	struct roce_egress *before = turn->egress;

	/* The CPU that granted the last turn may still hold the lock there. */
	if (before && before != egress) {
		spin_lock_bh(&before->lock);
		spin_unlock_bh(&before->lock);
	}
	turn->egress = egress;
	spin_lock_bh(&egress->lock);
	if (list_empty(&egress->waiting))
		begin_to_tick(egress);
	if (first)
		list_add(&turn->node, &egress->waiting);
	else
		list_add_tail(&turn->node, &egress->waiting);
	spin_unlock_bh(&egress->lock);
}

/**
 * roce_egress_take_turn() - ask whether one more train may be sent
 * @qp: the QP
 * @engine: its engine, owned by the caller
 *
 * BH disabled, RCU read side, on the CPU that will send the train. A single
 * acknowledgment or CNP is sent without asking.
 *
 * Return: false if too many sk_buffs of this CPU are in the host's queues, or other
 * engines wait. The engine is scheduled when it gets its turn.
 */
bool roce_egress_take_turn(struct roce_qp *qp, struct roce_engine *engine)
{
	struct roce_egress *egress = this_cpu_ptr(qp->dev->egress);
	struct roce_turn *turn = &engine->turn;
	bool granted;

	if (!list_empty_careful(&turn->node))
		return false;
	granted = READ_ONCE(turn->granted);
	WRITE_ONCE(turn->granted, false);
	if ((granted || list_empty_careful(&egress->waiting)) && room(egress)) {
		turn->waited = granted;
		return true;
	}
	if (!granted)
		roce_count(qp, tx_held_back);
	wait_in_line(egress, turn, granted);
	return false;
}

/**
 * roce_egress_charge() - count an sk_buff until it has left the host
 * @dev: the sender
 * @skb: owned by the caller alone
 * @turn: it has taken a turn
 *
 * BH disabled.
 */
void roce_egress_charge(struct roce_device *dev, struct sk_buff *skb, bool turn)
{
	struct roce_egress *egress = this_cpu_ptr(dev->egress);

	egress->before[egress->sent++ % HISTORY] = egress->total;
	egress->total.bytes += skb->len;
	egress->total.memory += skb->truesize;
	if (!turn)
		egress->passed += skb->truesize;
	skb_set_owner_w(skb, egress->socket->sk);
}

/**
 * roce_egress_turn_init() - initialize the turn of an engine, not waiting
 * @turn: to be filled in
 */
void roce_egress_turn_init(struct roce_turn *turn)
{
	turn->egress = NULL;
	INIT_LIST_HEAD(&turn->node);
	turn->granted = false;
	turn->waited = false;
}

/**
 * roce_egress_turn_cancel() - stop waiting for a turn
 * @turn: of an engine that does not run any more
 *
 * Process context.
 */
void roce_egress_turn_cancel(struct roce_turn *turn)
{
	struct roce_egress *egress = turn->egress;

	if (!egress)
		return;
	spin_lock_bh(&egress->lock);
	list_del_init(&turn->node);
	spin_unlock_bh(&egress->lock);
}

/*
 * The ends of a connection have agreed on the path MTU. A smaller MTU of a route would
 * not make packets smaller: IP would drop them. ICMP packet-too-big messages are ignored,
 * too: anyone can forge them. So packets have the MTU of the netdev.
 */
static void ignore_routes_mtu(struct sock *sk)
{
	ip_sock_set_mtu_discover(sk, IP_PMTUDISC_INTERFACE);
	if (sk->sk_family == AF_INET6)
		inet6_sk(sk)->pmtudisc = IPV6_PMTUDISC_INTERFACE;
}

/* An IPv6 socket also works for IPv4. */
static int open_egress_socket(struct net *net, struct socket **socket)
{
	int err;

	err = sock_create_kern(net, AF_INET6, SOCK_DGRAM, IPPROTO_UDP, socket);
	if (err == -EAFNOSUPPORT)
		err = sock_create_kern(net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
				       socket);
	if (err)
		return err;
	ignore_routes_mtu((*socket)->sk);
	/* Nobody waits for it to become writable. */
	sock_set_flag((*socket)->sk, SOCK_USE_WRITE_QUEUE);
	return 0;
}

/**
 * roce_egress_open() - set up the sending side of a device
 * @dev: its namespace is known
 *
 * Process context.
 *
 * Return: 0, -ENOMEM, or an error of creating a socket.
 */
int roce_egress_open(struct roce_device *dev)
{
	int cpu, err;

	dev->egress = alloc_percpu(struct roce_egress);
	if (!dev->egress)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		struct roce_egress *egress = per_cpu_ptr(dev->egress, cpu);

		egress->dev = dev;
		spin_lock_init(&egress->lock);
		INIT_LIST_HEAD(&egress->waiting);
		hrtimer_setup(&egress->timer, tick, CLOCK_MONOTONIC,
			      ROCE_WAIT_MODE);
	}
	for_each_possible_cpu(cpu) {
		err = open_egress_socket(dev->net,
					 &per_cpu_ptr(dev->egress, cpu)->socket);
		if (err) {
			roce_egress_close(dev);
			return err;
		}
	}
	return 0;
}

/**
 * roce_egress_close() - undo roce_egress_open()
 * @dev: without QPs
 *
 * Process context. Packets in the host's queues are still sent.
 */
void roce_egress_close(struct roce_device *dev)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct roce_egress *egress = per_cpu_ptr(dev->egress, cpu);

		hrtimer_cancel(&egress->timer);
		if (egress->socket)
			sock_release(egress->socket);
	}
	free_percpu(dev->egress);
}
