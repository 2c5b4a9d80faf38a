# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
Stacks to compare, each between a left host, which sends, and a right one: two
network namespaces of this machine for each stack (Namespaces), or two machines
on which the stacks take turns (Machines).
"""
import ipaddress
import json
import os
import sys
import time

from hosts import Failed, Here, Machine, Namespace, join, run

MODULES = {"roce": "roce", "rxe": "rdma_rxe", "siw": "siw", "tcp": None}
PROGRAMS = ("ib_write_bw", "iperf3", "ip", "rdma", "nft", "ethtool", "taskset", "ss")


def log(text):
    print(text, file=sys.stderr, flush=True)


def missing_programs(host):
    """In words, or None"""
    missing = host.shell('for p; do command -v "$p" >/dev/null || echo "$p"; done',
                         *PROGRAMS).split()
    return f"{host.name}: these programs are missing: {' '.join(missing)}" if missing else None


class Modules:
    """Loads modules, and removes those again that were not there."""

    def __init__(self, command):
        self.command = command		# runs a command where the modules belong
        self.loaded = []

    def load(self, module):
        try:
            self.command("test", "-d", "/sys/module/" + module)
        except Failed:
            self.command("modprobe", module)
            self.loaded.append(module)

    def remove(self):
        while self.loaded:
            try:
                self.command("rmmod", self.loaded.pop())
            except Failed as why:
                log(f"remains loaded: {why}")


class Stack:
    """What is measured: a sender on the left, a receiver on the right."""

    def __init__(self, name, left, right):
        self.name, self.left, self.right = name, left, right
        self.hosts = (left, right)

    def is_rdma(self):
        return self.name != "tcp"

    def is_iwarp(self):
        """No GIDs that perftest could connect with: by rdma_cm only."""
        return self.name == "siw"

    def device(self, host):
        return f"{self.name}_{'left' if host is self.left else 'right'}"

    def add_links(self):
        for host in self.hosts:
            host.run("rdma", "link", "add", self.device(host), "type", self.name,
                     "netdev", host.netdev)

    def wait_gids(self):
        if self.is_rdma() and not self.is_iwarp():
            for host in self.hosts:
                host.gid_index(self.device(host), host.address)

    def remove_links(self):
        for host in self.hosts:
            try:
                host.run("rdma", "link", "delete", self.device(host))
            except Failed:
                pass		# It was not added, or went with its netdev.

    def prepare(self, mtu):
        """Before a measurement"""


class NamespaceStack(Stack):
    """
    Its own two hosts and veth pair: UDP port 4791 of a namespace belongs to one
    driver. The softirq of received packets is on the CPU of the host's program.
    """

    def __init__(self, name, number, cpus):
        super().__init__(name, *(
            Namespace(f"bench-{name}-{side}", "veth0", f"10.{number}.0.{i}", cpus[i - 1])
            for i, side in ((1, "left"), (2, "right"))))
        self.address6 = {host: f"fd00:{number}::{i}" for i, host in enumerate(self.hosts, 1)}
        self.mtu = None

    def create(self):
        join(self.left, self.right)
        for host in self.hosts:
            host.run("ip", "address", "add", host.address + "/24", "dev", host.netdev)
            host.run("ip", "address", "add", self.address6[host] + "/64", "nodad",
                     "dev", host.netdev)
            host.run("ip", "link", "set", host.netdev, "up")
        self.steer(True)
        if self.is_rdma():
            self.add_links()
            self.wait_gids()

    def destroy(self):
        self.remove_links()
        for host in self.hosts:
            try:
                run("ip", "netns", "delete", host.name)
            except Failed as why:
                log(str(why))

    def prepare(self, mtu):
        if mtu == self.mtu:
            return
        for host in self.hosts:
            host.run("ip", "link", "set", host.netdev, "mtu", str(mtu))
        self.mtu = mtu
        time.sleep(0.3)

    def steer(self, on):
        """
        Receive packet steering to the CPU of the program, or none. A kernel for one
        CPU does not have it.
        """
        for host in self.hosts:
            host.shell('file="/sys/class/net/$2/queues/rx-0/rps_cpus"; '
                       '[ ! -e "$file" ] || echo "$1" >"$file"',
                       f"{1 << host.cpu if on else 0:x}", host.netdev)

    def lose(self, share):
        """
        Of the packets that arrive on the right, that share is lost. The netdevs cut
        trains, and TCP's large packets, before they leave the left host, so that a
        loss is one packet of each stack alike.
        """
        for host in self.hosts:
            host.run("ethtool", "-K", host.netdev, "tx-udp-segmentation", "off",
                     "gso", "off", "tso", "off", "gro", "off")
        self.right.run("nft", f"""
            table inet loss {{
                counter arrived {{ }}
                counter dropped {{ }}
                chain received {{
                    type filter hook prerouting priority raw;
                    iifname "{self.right.netdev}" counter name arrived
                    iifname "{self.right.netdev}" meta random < {int(share * 2**32)} \
                        counter name dropped drop
                }}
            }}""")

    def lose_nothing(self):
        self.right.run("nft", "delete", "table", "inet", "loss")
        for host in self.hosts:
            host.run("ethtool", "-K", host.netdev, "gso", "on", "tso", "on",
                     "tx-udp-segmentation", "on")

    def losses(self):
        """Packets and bytes that arrived, and packets that were lost of these"""
        said = json.loads(self.right.run("nft", "-j", "list", "counters"))["nftables"]
        counters = {c["counter"]["name"]: c["counter"] for c in said if "counter" in c}
        return {"arrived": counters["arrived"]["packets"],
                "bytes": counters["arrived"]["bytes"],
                "lost": counters["dropped"]["packets"]}


class Namespaces:
    """Two namespaces of this machine for each stack; the stacks alternate."""

    alternate = True

    def __init__(self, cpus):
        self.cpus = cpus
        self.modules = Modules(run)
        self.created = []

    @staticmethod
    def refusal():
        """Why nothing can be measured here, or None"""
        if os.geteuid():
            return "needs root: it creates network namespaces and RDMA links"
        old = [n for n in os.listdir("/run/netns") if n.startswith("bench-")] \
            if os.path.isdir("/run/netns") else []
        if old:
            return ("namespaces of another run are there (ip netns delete NAME): "
                    + " ".join(sorted(old)))
        return missing_programs(Here())

    def add(self, name, number):
        """A stack; Failed if this kernel does not have it"""
        try:
            if MODULES[name]:
                self.modules.load(MODULES[name])
        except Failed as why:
            hint = " (make && make install, or insmod roce.ko)" if name == "roce" else ""
            raise Failed(f"{why}{hint}") from None
        stack = NamespaceStack(name, number, self.cpus)
        self.created.append(stack)
        stack.create()
        return stack

    def drop(self, stack):
        self.created.remove(stack)
        stack.destroy()

    def machines(self, stacks):
        """Hosts, one of each machine"""
        return [stacks[0].left]

    def close(self):
        for stack in list(self.created):
            self.drop(stack)
        self.modules.remove()


class MachineStack(Stack):
    """A stack whose links are there only while it is measured"""

    def __init__(self, name, left, right, lab):
        super().__init__(name, left, right)
        self.lab = lab

    def prepare(self, mtu):
        self.lab.switch(self)


class Machines:
    """
    Two machines behind ssh. roce and rdma_rxe cannot share the UDP port, so each
    stack makes all its repetitions before the next one has its turn.
    """

    alternate = False

    def __init__(self, names, addresses, netdevs, cpus):
        self.hosts = [Machine(name) for name in names]
        self.active = None
        self.modules = [Modules(host.run) for host in self.hosts]
        for i, host in enumerate(self.hosts):
            host.address = addresses[i] if addresses else self.resolve(i)
        for i, host in enumerate(self.hosts):
            host.netdev = netdevs[i] if netdevs else self.route(i)
            host.cpu = cpus[i] if cpus else None
        self.mtu = min(int(host.run("cat", f"/sys/class/net/{host.netdev}/mtu"))
                       for host in self.hosts)

    def resolve(self, i):
        """The address by which the other host knows this one"""
        host, peer = self.hosts[i], self.hosts[1 - i]
        name = host.name.rpartition("@")[2]
        found = peer.run("getent", "ahostsv4", name).split()[0]
        if ipaddress.ip_address(found).is_loopback:
            raise Failed(f"{peer.name} takes {name} for itself: say --addresses")
        return found

    def route(self, i):
        host, peer = self.hosts[i], self.hosts[1 - i]
        route = json.loads(host.run("ip", "-j", "route", "get", peer.address,
                                    "from", host.address))[0]
        return route["dev"]

    def refusal(self):
        for host in self.hosts:
            if host.run("id", "-u").strip() != "0":
                return f"{host.name}: needs root: it adds and deletes RDMA links"
        return next(filter(None, map(missing_programs, self.hosts)), None)

    def add(self, name, _):
        stack = MachineStack(name, *self.hosts, self)
        self.switch(stack)
        return stack

    def drop(self, _):
        self.switch(None)

    def switch(self, stack):
        """Leaves the links of one stack on the machines, and of no other."""
        if stack is self.active:
            return
        if self.active:
            self.active.remove_links()
            for modules in self.modules:
                modules.remove()
        self.active = stack
        if not stack or not stack.is_rdma():
            return
        for modules in self.modules:
            modules.load(MODULES[stack.name])
        try:
            stack.add_links()
        except Failed as why:
            there = "; ".join(f"{host.name}: {host.run('rdma', 'link').strip()}"
                              for host in self.hosts)
            raise Failed(f"{why}; links that are there already: {there}") from None
        stack.wait_gids()

    def machines(self, _):
        return self.hosts

    def close(self):
        self.switch(None)
