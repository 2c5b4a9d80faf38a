#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
Inside of the machine: measures roce, rdma_rxe and TCP side by side.

Each stack has two hosts (network namespaces) and a veth pair of its own, all
made alike: UDP port 4791 of a namespace belongs to one driver. The sender and
its interrupts are on CPU 0, the receiver's on CPU 1, for all of them. A
measurement is repeated, and the stacks take turns in each repetition, so that
what disturbs the machine disturbs all of them. Prints JSON.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMITS = HERE + "/build/limits"
IDLE_QPS = HERE + "/build/idle_qps"
SENDER, RECEIVER = 0, 1		# CPUs
PORT = 18515
PATH_MTU = {1500: 1024, 9000: 4096}
HEADERS = 14			# of Ethernet, which the MTU does not count
PROCESS_LIMIT = 60		# seconds beyond the measurement itself


class Failed(Exception):
    """A measurement that came to nothing."""


def log(text):
    print(text, file=sys.stderr, flush=True)


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode:
        raise Failed(f"{' '.join(command)}: {result.stdout}{result.stderr}")
    return result.stdout


class Host:
    """One end of a link."""

    def __init__(self, namespace, cpu, address):
        self.namespace, self.cpu, self.address = namespace, cpu, address
        self.device = self.gid = None

    def command(self, *command):
        return ["ip", "netns", "exec", self.namespace,
                "taskset", "-c", str(self.cpu), *command]

    def run(self, *command):
        return run(*self.command(*command))

    def start(self, *command):
        return subprocess.Popen(self.command(*command), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def is_listening(self, process, port):
        try:
            with open(f"/proc/{process.pid}/net/tcp") as sockets, \
                    open(f"/proc/{process.pid}/net/tcp6") as sockets6:
                lines = sockets.readlines() + sockets6.readlines()
        except OSError:
            return False
        return any(re.match(rf"\s*\d+: \S+:{port:04X} \S+ 0A ", line) for line in lines)

    def wait_listening(self, process, port):
        for _ in range(1000):
            if process.poll() is not None:
                raise Failed("the server ended: " + process.stdout.read())
            if self.is_listening(process, port):
                return
            time.sleep(0.01)
        raise Failed("the server does not listen")

    def counters(self):
        """They are where the device belongs: to the host, or to the machine."""
        grep = ["grep", "-r", ".",
                f"/sys/class/infiniband/{self.device}/ports/1/hw_counters"]
        for command in (self.command(*grep), grep):
            output = subprocess.run(command, capture_output=True, text=True).stdout
            if output:
                return {os.path.basename(name): int(value) for name, value in
                        (line.split(":") for line in output.split())}
        raise Failed(f"{self.device} counts nothing")

    def find_gid(self):
        """The index of the RoCE v2 GID that is our IPv4 address."""
        port = f"/sys/class/infiniband/{self.device}/ports/1"
        numbers = [int(n) for n in self.address.split(".")]
        wanted = "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x" % tuple(numbers)
        script = f"""for i in $(seq 0 15); do
                [ "$(cat {port}/gids/$i)" = {wanted} ] &&
                [ "$(cat {port}/gid_attrs/types/$i)" = "RoCE v2" ] && echo $i && exit
            done 2>/dev/null; exit 0"""
        for _ in range(50):
            found = self.run("sh", "-c", script).strip()
            if found:
                return found
            time.sleep(0.1)
        raise Failed(f"{self.device} has no GID")


class Stack:
    """What is measured: two hosts, a veth pair, and what runs over it."""

    def __init__(self, name, number):
        self.name = name
        self.mtu = None
        self.left = Host(f"{name}-left", SENDER, f"10.{number}.0.1")
        self.right = Host(f"{name}-right", RECEIVER, f"10.{number}.0.2")
        self.hosts = (self.left, self.right)
        for host in self.hosts:
            run("ip", "netns", "add", host.namespace)
        run("ip", "link", "add", "veth0", "netns", self.left.namespace,
            "type", "veth", "peer", "name", "veth0", "netns", self.right.namespace)
        for host in self.hosts:
            host.run("ip", "link", "set", "lo", "up")
            host.run("ip", "address", "add", host.address + "/24", "dev", "veth0")
            host.run("ip", "link", "set", "veth0", "up")
            host.run("sh", "-c", f"echo {1 << host.cpu:x} "
                     ">/sys/class/net/veth0/queues/rx-0/rps_cpus")
        if self.is_rdma():
            for host in self.hosts:
                host.device = host.namespace.replace("-", "_")
                host.run("rdma", "link", "add", host.device, "type", name,
                         "netdev", "veth0")
                host.gid = host.find_gid()

    def is_rdma(self):
        return self.name != "tcp"

    def set_mtu(self, mtu):
        if mtu == self.mtu:
            return
        for host in self.hosts:
            host.run("ip", "link", "set", "veth0", "mtu", str(mtu))
        self.mtu = mtu
        time.sleep(0.3)

    def set_single_packets(self, single):
        """Cut trains (and TCP's large packets) above the qdisc."""
        switch = "off" if single else "on"
        for host in self.hosts:
            host.run("ethtool", "-K", "veth0", "gso", switch, "tso", switch,
                     "tx-udp-segmentation", switch)

    def set_loss(self, percent):
        if percent:
            self.left.run("tc", "qdisc", "replace", "dev", "veth0", "root", "netem",
                          "limit", "100000", "loss", f"{percent}%")
        else:
            self.left.run("tc", "qdisc", "del", "dev", "veth0", "root")


def finish(process, seconds):
    try:
        output = process.communicate(timeout=seconds + PROCESS_LIMIT)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failed(f"no end after {seconds + PROCESS_LIMIT:.0f} s: "
                     + process.communicate()[0]) from None
    return process.returncode, output


def busy_seconds():
    """CPU time that this machine has not been idle."""
    with open("/proc/stat") as stat:
        times = [int(t) for t in stat.readline().split()[1:]]
    return (sum(times[:8]) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


class Pair:
    """A server on the right, a client on the left."""

    def __init__(self, stack, port, server, client, seconds):
        self.busy = None
        self.server = stack.right.start(*server)
        self.client = None
        try:
            stack.right.wait_listening(self.server, port)
            self.client = stack.left.start(*client)
            self.watch_cpus(seconds)
            code, self.output = finish(self.client, seconds)
            server_code, server_output = finish(self.server, seconds)
        finally:
            for process in (self.client, self.server):
                if process and process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
        if code or server_code:
            raise Failed(f"{' '.join(client)}: {self.output}{server_output}")

    def watch_cpus(self, seconds):
        """How many CPUs are busy while the transfer is under way."""
        if seconds < 2:
            return
        time.sleep(0.8)
        start, before = time.monotonic(), busy_seconds()
        time.sleep(seconds - 1)
        self.busy = (busy_seconds() - before) / (time.monotonic() - start)


def table(output):
    """The numbers of perftest's only row."""
    rows = re.findall(r"^ *#bytes.*\n(.*)", output, re.MULTILINE)
    row = rows[0].split() if rows else []
    if len(row) < 5:
        raise Failed("no result: " + output)
    return [float(word) for word in row[:8]]


def perftest(stack, tool, *options, seconds=0):
    def command(host):
        return [tool, "-d", host.device, "-x", host.gid, "-F", "-p", str(PORT),
                "-m", str(PATH_MTU[stack.mtu]), *options]

    pair = Pair(stack, PORT, command(stack.right),
                [*command(stack.left), stack.right.address], seconds)
    return table(pair.output), pair


def rdma_rate(stack, op, size, seconds, qps=1, batch=1, events=False):
    """Bytes and messages per second, busy CPUs."""
    depth = 128 if size <= 65536 else max(4, (8 << 20) // size)
    # perftest fills the queues of all QPs before it looks for completions, so
    # many QPs spend their first second or two on that.
    margin = 2 if qps > 1 else 0
    sampled = seconds
    seconds += 2 * margin
    options = ["-s", str(size), "-q", str(qps), "--report_gbits"]
    if events:
        # perftest sleeps only when it counts messages: enough of them for that
        # time at 2 Gbit/s.
        options += ["-e", "-n", str(seconds * 250_000_000 // size)]
    else:
        options += ["-D", str(seconds), "-f", str(margin)]
    if op == "read":
        # What a peer lets a requester have under way (perftest's default).
        depth = min(depth, 16)
    options += ["-t", str(depth), "-Q", str(min(depth // 2, 32) if size < 65536 else 1)]
    if batch > 1:
        options += ["-l", str(batch), "-Q", str(batch)]
    row, pair = perftest(stack, f"ib_{op}_bw", *options, seconds=seconds)
    # On a busy machine perftest cannot tell the frequency of the CPU's clock, and
    # then says 0. It has counted for the time that it was told.
    messages = row[4] * 1e6 or (0 if events else row[1] / sampled)
    if not messages:
        raise Failed("no messages, or no clock: " + pair.output)
    return messages * size, messages, pair.busy


def tcp_rate(stack, size, seconds, streams=1):
    server = ["iperf3", "-s", "-1", "-p", str(PORT)]
    client = ["iperf3", "-c", stack.right.address, "-p", str(PORT), "-J", "-t",
              str(seconds), "-l", str(min(size, 1 << 20)), "-P", str(streams)]
    pair = Pair(stack, PORT, server, client, seconds)
    received = json.loads(pair.output)["end"]["sum_received"]
    return received["bits_per_second"] / 8, None, pair.busy


def rate(stack, op, size, seconds, **options):
    if stack.is_rdma():
        return rdma_rate(stack, op, size, seconds, **options)
    return tcp_rate(stack, size, seconds, streams=options.get("qps", 1))


def trains(before, after):
    """Packets per train, out of what the counters grew by."""
    grown = {name: after[name] - before[name] for name in after}
    return {way: grown[f"{way}_packets"] / grown[f"{way}_trains"]
            for way in ("tx", "rx") if grown[f"{way}_trains"]}


class Bench:
    def __init__(self, options):
        self.options = options
        self.results, self.failures = [], []
        self.stacks = {name: Stack(name, i) for i, name in enumerate(options.stacks, 1)}

    def record(self, part, stack, value, unit, **what):
        for result in self.results:
            if (result["part"], result["stack"], result["what"]) == (part, stack, what):
                result["values"].append(value)
                return
        self.results.append({"part": part, "stack": stack, "what": what,
                             "unit": unit, "values": [value]})

    def rounds(self, part, what, measure, stacks=None, repeat=None):
        """Repeats a measurement, the stacks taking turns."""
        for _ in range(repeat or self.options.repeat):
            for name, stack in self.stacks.items():
                if stacks and name not in stacks:
                    continue
                if "mtu" in what:
                    stack.set_mtu(what["mtu"])
                begin = time.monotonic()
                try:
                    said = measure(stack)
                except Failed as why:
                    self.failures.append(f"{part} {what} {name}: {why}")
                    log(self.failures[-1])
                    continue
                log(f"{part} {' '.join(f'{k}={v}' for k, v in what.items())} {name}: "
                    f"{said} ({time.monotonic() - begin:.1f} s)")

    # --- the parts ---------------------------------------------------------

    def limits(self):
        seconds = str(self.options.seconds)

        def cpu(what):
            def measure(_):
                value = float(run("taskset", "-c", str(SENDER), LIMITS, what, seconds))
                self.record("limits", "machine", value, "B/s", limit=what)
                return f"{value / 1e9:.2f} GB/s"
            return measure

        def udp(mtu):
            def measure(stack):
                # The datagram of one packet: UDP's headers are IPv4's 20 and 8.
                size = PATH_MTU[mtu] + 16
                receiver = stack.right.start(LIMITS, "udp-receive", seconds)
                time.sleep(0.2)
                sender = stack.left.start(LIMITS, "udp-send",
                                          str(self.options.seconds + 1),
                                          stack.right.address, str(size))
                code, output = finish(receiver, self.options.seconds)
                finish(sender, self.options.seconds)
                if code:
                    raise Failed(output)
                self.record("limits", "machine", float(output), "B/s",
                            limit="udp-gso", mtu=mtu)
                return f"{float(output) / 1e9:.3f} GB/s"
            return measure

        one = [next(iter(self.stacks))]
        for what in ("memcpy", "crc32"):
            self.rounds("limits", {"limit": what}, cpu(what), one)
        for mtu in self.options.mtu:
            self.rounds("limits", {"limit": "udp-gso", "mtu": mtu}, udp(mtu), one)

    def transfer(self, part, what, op, size, stacks=None, **options):
        def measure(stack):
            before = self.roce_counters(stack)
            speed, messages, busy = rate(stack, op, size, self.options.seconds, **options)
            self.record(part, stack.name, speed, "B/s", **what)
            if before:
                for side, counters in self.roce_counters(stack).items():
                    for way, packets in trains(before[side], counters).items():
                        self.record("trains", stack.name, packets, "packets/train",
                                    side=side, way=way, **what)
            if busy and options.get("events"):
                self.record("cpu", stack.name, busy * 1e9 / speed, "s/GB", **what)
            return (f"{speed * 8 / 1e9:.3f} Gbit/s" +
                    (f" {busy:.2f} CPUs" if busy else ""))
        self.rounds(part, what, measure, stacks)

    def roce_counters(self, stack):
        if stack.name != "roce":
            return None
        return {"left": stack.left.counters(), "right": stack.right.counters()}

    def bandwidth(self):
        for mtu in self.options.mtu:
            for op in self.options.ops:
                # TCP has one way to send, measured once.
                stacks = [s for s in self.stacks if op == "write" or s != "tcp"]
                for size in self.options.sizes:
                    self.transfer("bandwidth", {"op": op, "size": size, "mtu": mtu},
                                  op, size, stacks)

    def qps(self):
        for qps in self.options.qps:
            self.transfer("qps", {"qps": qps, "mtu": 9000}, "write", 65536, qps=qps)

    def cpu(self):
        seconds = self.options.seconds
        self.options.seconds = max(3, seconds)
        for size in (65536, 1 << 20):
            # A program that polls would always be busy. perftest can sleep
            # with SEND only; TCP has one way to send.
            self.transfer("cpu-bandwidth", {"op": "send", "size": size, "mtu": 9000},
                          "send", size, list(self.stacks), events=True)
        self.options.seconds = seconds

    def messages(self):
        rdma = [s for s in self.stacks if s != "tcp"]
        for size in (8, 64):
            for batch in (1, 32):
                what = {"size": size, "list": batch, "mtu": 9000}

                def measure(stack, size=size, batch=batch, what=what):
                    before = self.roce_counters(stack)
                    _, messages, _ = rate(stack, "write", size, self.options.seconds,
                                          batch=batch)
                    self.record("messages", stack.name, messages, "1/s", **what)
                    if before:
                        for side, counters in self.roce_counters(stack).items():
                            for way, packets in trains(before[side], counters).items():
                                self.record("trains", stack.name, packets,
                                            "packets/train", side=side, way=way, **what)
                    return f"{messages:.0f}/s"
                self.rounds("messages", what, measure, rdma)

    def latency(self):
        rdma = [s for s in self.stacks if s != "tcp"]
        for op in ("write", "send"):
            for size in (8, 4096):
                what = {"op": op, "size": size, "mtu": 9000}

                def measure(stack, op=op, size=size, what=what):
                    row, _ = perftest(stack, f"ib_{op}_lat", "-s", str(size), "-n",
                                      str(self.options.iterations))
                    # bytes, iterations, least, most, median, mean, deviation, 99 %
                    self.record("latency", stack.name, row[4], "us", percentile=50, **what)
                    self.record("latency", stack.name, row[7], "us", percentile=99, **what)
                    return f"{row[4]} us, 99 % {row[7]} us"
                self.rounds("latency", what, measure, rdma)

    def loss(self):
        for stack in self.stacks.values():
            stack.set_single_packets(True)
            stack.set_loss(0.1)
        seconds = self.options.seconds
        self.options.seconds = max(4, seconds)
        for mtu in self.options.mtu:
            self.transfer("loss", {"mtu": mtu}, "write", 65536)
        self.options.seconds = seconds
        for stack in self.stacks.values():
            stack.set_loss(0)
            stack.set_single_packets(False)

    def memory(self):
        rdma = [s for s in self.stacks if s != "tcp"]
        count = self.options.idle_qps
        what = {"qps": count, "entries": 16}

        def measure(stack):
            host, peer = stack.left, stack.right
            gid = "::ffff:" + peer.address
            seconds, rings, other = map(float, host.run(
                IDLE_QPS, host.device, host.gid, gid, str(count), "16").split())
            self.record("memory", stack.name, 1 / seconds, "1/s", of="creations", **what)
            self.record("memory", stack.name, rings, "B", of="rings", **what)
            self.record("memory", stack.name, other, "B", of="rest", **what)
            return f"{rings:.0f} + {other:.0f} bytes, {1 / seconds:.0f} a second"
        self.rounds("memory", what, measure, rdma, repeat=1)


PARTS = ("limits", "bandwidth", "qps", "cpu", "messages", "latency", "loss", "memory")


def numbers(text):
    return [int(n) for n in text.split(",")]


def words(text):
    return text.split(",")


def cpu_model():
    with open("/proc/cpuinfo") as cpuinfo:
        return re.search(r"model name\s*: (.*)", cpuinfo.read()).group(1)


def main():
    parser = argparse.ArgumentParser(prog="tools/bench")
    parser.add_argument("--only", type=words, default=PARTS,
                        help="parts of " + ",".join(PARTS))
    parser.add_argument("--stacks", type=words, default=["roce", "rxe", "tcp"])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1, help="of one measurement")
    parser.add_argument("--mtu", type=numbers, default=[9000, 1500])
    parser.add_argument("--sizes", type=numbers,
                        default=[4096, 65536, 1 << 20, 8 << 20])
    parser.add_argument("--ops", type=words, default=["write", "read", "send"])
    parser.add_argument("--qps", type=numbers, default=[1, 4, 16])
    parser.add_argument("--iterations", type=int, default=1000, help="of a latency")
    parser.add_argument("--idle-qps", type=int, default=10000)
    options = parser.parse_args()
    if not set(options.only) <= set(PARTS):
        parser.error("--only: no such part")

    for module in ("roce", "rdma_rxe"):
        run("modprobe", module)
    bench = Bench(options)
    for part in PARTS:
        if part in options.only:
            getattr(bench, part)()
    json.dump({
        "kernel": os.uname().release,
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "arguments": sys.argv[1:],
        "results": bench.results,
        "failures": bench.failures,
    }, sys.stdout, indent=1)


main()
