// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keeps programs without privileges from sending to UDP port 4791.
 *
 * A RoCE receiver trusts the IP addresses of a packet, and an ordinary UDP socket
 * sends with the addresses of its host. So any local program could forge packets of
 * the host's connections: acknowledgments, CNPs, requests. Programs that may use raw
 * sockets can forge packets anyway.
 *
 * The check is at LOCAL_OUT: datagrams are not fragmented yet, no firewall has queued
 * them, and the sending program is the current process. While the module is loaded,
 * the check holds in all network namespaces, with or without a device: packets of a
 * container leave by an address of this host, too.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "recv.h"
#include "roce_wire.h"

static bool unprivileged_udp;
module_param(unprivileged_udp, bool, 0644);
MODULE_PARM_DESC(unprivileged_udp,
		 "let sockets without CAP_NET_RAW send to UDP port 4791 (default: N)");

static atomic64_t refused;

static int show_refused(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%lld\n", atomic64_read(&refused));
}

static int set_refused(const char *value, const struct kernel_param *param)
{
	return -EPERM;
}

static const struct kernel_param_ops refused_ops = {
	.set = set_refused,
	.get = show_refused,
};
module_param_cb(unprivileged_udp_refused, &refused_ops, NULL, 0444);
MODULE_PARM_DESC(unprivileged_udp_refused,
		 "how many datagrams were refused, in all network namespaces (read only)");

/* Offset of the UDP header from skb->data; negative if the packet is not UDP */
static int find_udp(const struct sk_buff *skb, u8 family)
{
	int offset = skb_network_offset(skb);
	__be16 fragment;
	u8 protocol;

	if (family == NFPROTO_IPV4)
		return ip_hdr(skb)->protocol == IPPROTO_UDP ?
		       offset + ip_hdrlen(skb) : -ENOENT;

	protocol = ipv6_hdr(skb)->nexthdr;
	offset = ipv6_skip_exthdr(skb, offset + sizeof(struct ipv6hdr),
				  &protocol, &fragment);
	return protocol == IPPROTO_UDP ? offset : -ENOENT;
}

static bool is_for_roce(const struct sk_buff *skb, u8 family)
{
	int offset = find_udp(skb, family);
	const struct udphdr *udp;
	struct udphdr buffer;

	if (offset < 0)
		return false;
	udp = skb_header_pointer(skb, offset, sizeof(buffer), &buffer);
	return udp && udp->dest == htons(ROCE_UDP_PORT);
}

/*
 * The credentials of the process that opened the socket count, as with raw sockets: the
 * socket may have been passed on. A closed socket has no credentials any more.
 */
static bool was_opened_with_privilege(struct sock *sk)
{
	struct user_namespace *user_ns = sock_net(sk)->user_ns;
	const struct socket *socket;
	bool privileged;

	read_lock_bh(&sk->sk_callback_lock);
	socket = sk->sk_socket;
	privileged = socket && socket->file &&
		     file_ns_capable(socket->file, user_ns, CAP_NET_RAW);
	read_unlock_bh(&sk->sk_callback_lock);
	return privileged;
}

/* Packets without a socket come from the kernel. */
static bool may_send_to_port(struct sock *sk)
{
	return !sk || !sk_fullsock(sk) || sk->sk_kern_sock ||
	       was_opened_with_privilege(sk);
}

static unsigned int check_sender(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	if (!is_for_roce(skb, state->pf) || READ_ONCE(unprivileged_udp) ||
	    may_send_to_port(state->sk))
		return NF_ACCEPT;

	atomic64_inc(&refused);
	pr_notice_once("roce: %s (process %d) may not send to UDP port %u: its socket was opened without CAP_NET_RAW; more such datagrams are only counted\n",
		       current->comm, task_tgid_nr(current), ROCE_UDP_PORT);
	return NF_DROP;
}

static const struct nf_hook_ops sender_hooks[] = {
	{
		.hook = check_sender,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_FIRST,
	}, {
		.hook = check_sender,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_FIRST,
	},
};

static int __net_init enter_namespace(struct net *net)
{
	return nf_register_net_hooks(net, sender_hooks, ARRAY_SIZE(sender_hooks));
}

static void __net_exit leave_namespace(struct net *net)
{
	nf_unregister_net_hooks(net, sender_hooks, ARRAY_SIZE(sender_hooks));
}

static struct pernet_operations local_users_ops = {
	.init = enter_namespace,
	.exit = leave_namespace,
};

/**
 * roce_local_users_init() - check packets to UDP port 4791 from now on
 *
 * Process context.
 *
 * Return: 0 or a negative errno.
 */
int roce_local_users_init(void)
{
	return register_pernet_subsys(&local_users_ops);
}

/** roce_local_users_exit() - undo roce_local_users_init() */
void roce_local_users_exit(void)
{
	unregister_pernet_subsys(&local_users_ops);
}
