# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The network of a scene: a namespace for each host, switch and router, veth for links.

Of each direction of a link, the sending end has the rate and the queue (tbf, which cuts
trains into packets, and RED), and the receiving end the delay and the faults (netem behind
an ifb): so what is on its way is not in the queue.
"""
import math

from hosts import add_namespace, add_veth, batch, run

HOST_BUFFER = 1 << 28
TCP_BUFFER = 1 << 26
MAX_RED_RATE = 34 * 10 ** 9	# that tc knows. RED has it for the time after an idle one.

def end_of(scene, node, peer):
    """The netdev of a node towards its neighbour"""
    return "eth0" if node in scene.hosts else peer


def address(scene, host):
    number = scene.hosts.index(host) + 1
    return f"10.0.{number >> 8}.{number & 255}"


def router_address(scene, router):
    """Of its lo: links between routers have no addresses."""
    return f"10.255.0.{scene.routers.index(router) + 1}"


def neighbours(scene, node):
    return ([link.b for link in scene.links if link.a == node] +
            [link.a for link in scene.links if link.b == node])


def distances(scene, host):
    """How many links each node is away"""
    found, queue = {host: 0}, [host]
    for node in queue:
        for peer in neighbours(scene, node):
            if peer not in found:
                found[peer] = found[node] + 1
                queue.append(peer)
    return found


def route_lines(scene, router):
    """To each host by all shortest ways"""
    lines = []
    for host in scene.hosts:
        far = distances(scene, host)
        hops = [peer for peer in neighbours(scene, router) if far[peer] < far[router]]
        target = f"route add {address(scene, host)}"
        if hops == [host]:
            lines.append(f"{target} dev {host}")
        else:
            lines.append(target + "".join(
                f" nexthop via {router_address(scene, hop)} dev {hop} onlink" for hop in hops))
    return lines


def host_lines(scene, host, peer):
    """Its address, and how it reaches others"""
    if peer not in scene.routers:
        return [f"addr add {address(scene, host)}/16 dev eth0", "link set eth0 up"]
    return [f"addr add {address(scene, host)}/32 dev eth0", "link set eth0 up",
            f"route add default via {router_address(scene, peer)} dev eth0 onlink"]


def burst_of(link):
    """Of tbf: one packet. Times are rounded to 64 ns, so at least one more of these."""
    return link.mtu + 100 + link.rate * 64 // (8 * 10 ** 9)


def queue_lines(link, end, forwards):
    """A host's queue is as long as its programs make it, and does not mark."""
    limit = link.buffer if forwards else HOST_BUFFER
    lines = [f"qdisc add dev {end} root handle 1: tbf rate {link.rate}bit "
             f"burst {burst_of(link)} limit {limit}"]
    if link.mark and forwards:
        # The average of RED follows the queue within two packets.
        burst = max(1, math.ceil(link.mark.least / link.mtu))
        lines.append(
            f"qdisc add dev {end} parent 1:1 handle 10: red limit {link.buffer} "
            f"min {link.mark.least} max {link.mark.most} avpkt {link.mtu} burst {burst} "
            f"probability {link.mark.probability} ecn nodrop "
            f"bandwidth {min(link.rate, MAX_RED_RATE)}bit")
    return lines


def microseconds(time):
    return f"{time / 1000:.3f}us"


def delay_of(link, forward):
    """
    For netem, which reorders by sending at once what it does not delay. Where some packets
    are late, the others have no delay, and those in the other direction have all of it.
    """
    if not link.late:
        jitter = f" {microseconds(link.jitter)}" if link.jitter and forward else ""
        return microseconds(link.delay) + jitter
    if not forward:
        return microseconds(2 * link.delay)
    return f"{microseconds(link.delay)} {microseconds(link.delay)} reorder {(1 - link.late) * 100}%"


def arrival_lines(link, end, forward):
    """What comes in through an end takes its time, and some of it is lost."""
    faults, action = "", ""
    if forward and link.loss.endswith("%"):
        faults += f" loss {link.loss}"
    elif forward and link.loss:
        action = f"action pipe random determ drop {link.loss.removeprefix('1/')} "
    if forward and link.reorder:
        faults += f" reorder {link.reorder * 100}%"
    return [f"qdisc add dev in-{end} root netem limit 10000000 "
            f"delay {delay_of(link, forward)}{faults}",
            f"qdisc add dev {end} clsact",
            f"filter add dev {end} ingress matchall {action}"
            f"action mirred egress redirect dev in-{end}"]


def lose(host, numbers):
    """Single packets, by their numbers, just before they reach the driver"""
    places = ", ".join(str(int(number) - 1) for number in numbers.split(","))
    run("ip", "netns", "exec", host, "nft", f"""
        table ip losses {{
            chain arrival {{
                type filter hook prerouting priority raw
                udp dport 4791 numgen inc mod 1000000000 {{ {places} }} drop
            }}
        }}""")


def mac(number):
    return f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"


def build_node(scene, node):
    add_namespace(node)
    # Its messages come at random moments.
    run("ip", "netns", "exec", node, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
        "net.ipv6.conf.default.disable_ipv6=1",
        # TCP may have under way what an RC QP may.
        f"net.ipv4.tcp_rmem=4096 131072 {TCP_BUFFER}", f"net.ipv4.tcp_wmem=4096 65536 {TCP_BUFFER}")
    if node in scene.routers:
        run("ip", "netns", "exec", node, "sysctl", "-qw", "net.ipv4.ip_forward=1",
            "net.ipv4.fib_multipath_hash_policy=1")
        batch("ip", node, [f"addr add {router_address(scene, node)}/32 dev lo"])
    if node in scene.switches:
        batch("ip", node, [
            f"link add br0 address {mac(0xffff)} mtu 9000 type bridge mcast_snooping 0",
            "link set br0 up"])


def build_link(scene, link, number):
    ends = [(link.a, end_of(scene, link.a, link.b)), (link.b, end_of(scene, link.b, link.a))]
    (a, end_a), (b, end_b) = ends
    add_veth((a, end_a, "mtu", str(link.mtu), "address", mac(2 * number)),
             (b, end_b, "mtu", str(link.mtu), "address", mac(2 * number + 1)))
    for (node, end), peer, forward in zip(ends, (link.b, link.a), (False, True)):
        lines = [f"link add in-{end} type ifb", f"link set in-{end} up"]
        if node in scene.hosts:
            lines += host_lines(scene, node, peer)
        elif node in scene.switches:
            lines += [f"link set {end} master br0", f"link set {end} up"]
        else:
            lines.append(f"link set {end} up")
        batch("ip", node, lines)
        batch("tc", node, queue_lines(link, end, node not in scene.hosts) +
                 arrival_lines(link, end, forward))
        if forward and link.lose:
            lose(node, link.lose)


def neighbour_lines(scene, node):
    """Of links to and from routers: while a neighbour is looked for, few packets wait"""
    for number, link in enumerate(scene.links):
        for place, (end, peer) in enumerate(((link.a, link.b), (link.b, link.a))):
            if end != node or not {node, peer} & set(scene.routers):
                continue
            at = router_address(scene, peer) if peer in scene.routers else address(scene, peer)
            yield (f"neigh add {at} lladdr {mac(2 * number + 1 - place)} "
                   f"dev {end_of(scene, node, peer)}")


def build(scene):
    for node in scene.hosts + scene.switches + scene.routers:
        build_node(scene, node)
    for number, link in enumerate(scene.links):
        build_link(scene, link, number)
    for router in scene.routers:
        batch("ip", router, route_lines(scene, router))
    for node in scene.hosts + scene.routers:
        lines = list(neighbour_lines(scene, node))
        if lines:
            batch("ip", node, lines)


def queues(scene):
    """Node, netdev and link of each port of a switch or router"""
    for link in scene.links:
        for node, peer in ((link.a, link.b), (link.b, link.a)):
            if node not in scene.hosts:
                yield node, end_of(scene, node, peer), link
