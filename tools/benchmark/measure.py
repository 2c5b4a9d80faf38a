#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
Measures roce, rdma_rxe, siw and TCP side by side, on the running kernel or
between two machines. Prints JSON; report.py says what it means.
"""
import argparse
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../lib"))

# pylint: disable=wrong-import-position
from hosts import Failed, Here, run			# noqa: E402
from stacks import MODULES, Machines, Modules, Namespaces, log	# noqa: E402

LIMITS = HERE + "/build/limits"
IDLE_QPS = HERE + "/build/idle_qps"
PORT = 18515
PROCESS_LIMIT = 300	# seconds beyond the measurement, until it is ended
LOSS = 0.001
ROCE_HEADERS = 84	# IPv6, UDP, BTH, RETH, immediate data and ICRC

RDMA = ("roce", "rxe", "siw")
# idle_qps connects its QPs itself, which iWARP does not have.
ROCE = ("roce", "rxe")


def path_mtu(mtu):
    return max(n for n in (256, 512, 1024, 2048, 4096) if n + ROCE_HEADERS <= mtu)


def finish(process, seconds):
    try:
        output = process.communicate(timeout=seconds + PROCESS_LIMIT)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failed(f"no end after {seconds + PROCESS_LIMIT:.0f} s: "
                     + process.communicate()[0]) from None
    return process.returncode, output


class Pair:
    """A server on the right and a client on the left, from begin to end"""

    def __init__(self, stack, server, client, seconds=0, machines=()):
        self.busy = None
        self.client = None
        stack.right.wait_closed(PORT)
        self.server = stack.right.start(*server)
        try:
            stack.right.wait_listening(PORT, self.server)
            self.client = stack.left.start(*client)
            self.watch_cpus(seconds, machines)
            code, self.output = finish(self.client, seconds)
            server_code, server_output = finish(self.server, seconds)
        finally:
            for process in (self.client, self.server):
                if process and process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
        if code or server_code:
            raise Failed(f"{' '.join(client)}: {self.output}{server_output}")

    def watch_cpus(self, seconds, machines):
        """How many CPUs are busy while the transfer is under way."""
        if seconds < 2 or not machines:
            return
        time.sleep(0.8)
        start, before = time.monotonic(), sum(m.busy_seconds() for m in machines)
        time.sleep(seconds - 1)
        self.busy = ((sum(m.busy_seconds() for m in machines) - before) /
                     (time.monotonic() - start))


def table(output):
    """The numbers of perftest's only row."""
    rows = re.findall(r"^ *#bytes.*\n(.*)", output, re.MULTILINE)
    row = rows[0].split() if rows else []
    if len(row) < 5:
        raise Failed("no result: " + output)
    return [float(word) for word in row[:8]]


def perftest(stack, tool, *options, mtu, seconds=0, ipv6=False, server_options=(),
             machines=()):
    def command(host):
        address = stack.address6[host] if ipv6 else host.address
        connect = ["-R"] if stack.is_iwarp() else [
            "-x", host.gid_index(stack.device(host), address), "-m", str(path_mtu(mtu))]
        return [tool, "-d", stack.device(host), *connect, "-F", "-p", str(PORT), *options]

    pair = Pair(stack, [*command(stack.right), *server_options],
                [*command(stack.left), stack.right.address], seconds, machines)
    return table(pair.output), pair


def queues(size):
    """Options: the size of messages, the depth of the queue, completions by size"""
    depth = 128 if size <= 65536 else max(4, (8 << 20) // size)
    return ["-s", str(size), "--report_gbits", "-t", str(depth),
            "-Q", str(min(depth // 2, 32) if size < 65536 else 1)]


def rdma_rate(stack, op, size, seconds, mtu, qps=1, batch=1, both=False, **options):
    """Bytes and messages per second, busy CPUs. READs under way: the device's most."""
    # perftest fills the queues of all QPs before it looks for completions, so
    # many QPs spend their first second or two on that.
    margin = 2 if qps > 1 else 0
    words = ["-D", str(seconds + 2 * margin), "-f", str(margin), "-q", str(qps),
             *queues(size), *(["-l", str(batch), "-Q", str(batch)] if batch > 1 else []),
             *(["-b"] if both else [])]
    row, pair = perftest(stack, f"ib_{op}_bw", *words, mtu=mtu,
                         seconds=seconds + 2 * margin, **options)
    # On a busy machine perftest cannot tell the frequency of the CPU's clock, and
    # then says 0. It has counted for the time that it was told.
    messages = row[4] * 1e6 or row[1] / seconds
    if not messages:
        raise Failed("no messages: " + pair.output)
    return messages * size, messages, pair.busy


def asleep_rate(stack, op, size, seconds, mtu, **options):
    """
    The same, of programs that sleep until there is a completion. perftest does so
    only when it counts messages: as many as take that time.
    """
    wanted = 250e6
    while True:
        row, pair = perftest(stack, f"ib_{op}_bw", "-e", "-n",
                             str(max(5, int(seconds * wanted / size))), *queues(size),
                             mtu=mtu, seconds=seconds, **options)
        speed = row[4] * 1e6 * size
        if not speed:
            raise Failed("no messages, or no clock: " + pair.output)
        if speed < 1.3 * wanted:
            return speed, row[4] * 1e6, pair.busy
        wanted = speed


def latency_row(stack, op, *words, **options):
    """On a busy machine perftest may not tell the frequency of the CPU's clock."""
    for _ in range(3):
        row, _ = perftest(stack, f"ib_{op}_lat", *words, **options)
        # bytes, iterations, least, most, median, mean, deviation, 99 %
        if all(map(math.isfinite, row)) and row[4] > 0:
            return row
    raise Failed("perftest cannot tell the frequency of the CPU's clock")


def tcp_rate(stack, size, seconds, streams=1, both=False, ipv6=False, machines=()):
    server = ["iperf3", "-s", "-1", "-p", str(PORT)]
    client = ["iperf3", "-c", stack.address6[stack.right] if ipv6 else stack.right.address,
              "-p", str(PORT), "-J", "-t", str(seconds), "-l", str(min(size, 1 << 20)),
              "-P", str(streams), *(["--bidir"] if both else [])]
    pair = Pair(stack, server, client, seconds, machines)
    end = json.loads(pair.output)["end"]
    bits = sum(end[name]["bits_per_second"] for name in
               ("sum_received", "sum_received_bidir_reverse") if name in end)
    return bits / 8, None, pair.busy


def rate(stack, op, size, seconds, mtu, events=False, **options):
    if not stack.is_rdma():
        options.pop("batch", None)
        return tcp_rate(stack, size, seconds, options.pop("qps", 1), **options)
    return (asleep_rate if events else rdma_rate)(stack, op, size, seconds, mtu, **options)


def trains(before, after):
    """Packets per train, out of what the counters grew by."""
    grown = {name: after[name] - before[name] for name in after}
    return {way: grown[f"{way}_packets"] / grown[f"{way}_trains"]
            for way in ("tx", "rx") if grown[f"{way}_trains"]}


class Bench:
    """Runs the parts, and keeps what they measured."""

    def __init__(self, options, lab):
        self.options, self.lab = options, lab
        self.results, self.failures, self.skipped = [], [], []
        self.stacks = {}
        # Of the parts that are measured with one MTU
        self.mtu = max(options.mtu)
        for number, name in enumerate(options.stacks, 1):
            self.add_stack(name, number)

    def add_stack(self, name, number):
        stack = None
        try:
            stack = self.lab.add(name, number)
            if stack.is_rdma():
                # Some kernels have the link, but not in a namespace.
                stack.prepare(self.mtu)
                perftest(stack, "ib_send_bw", "-s", "64", "-n", "10", mtu=self.mtu)
        except Failed as why:
            if stack:
                self.lab.drop(stack)
            if name == "roce":
                raise
            self.skip(name, " ".join(str(why).split())[-300:])
            return
        self.stacks[name] = stack

    def skip(self, what, why):
        self.skipped.append(f"{what}: {why}")
        log("not measured: " + self.skipped[-1])

    def record(self, part, stack, value, unit, **what):
        for result in self.results:
            if (result["part"], result["stack"], result["what"]) == (part, stack, what):
                result["values"].append(value)
                return
        self.results.append({"part": part, "stack": stack, "what": what,
                             "unit": unit, "values": [value]})

    def turns(self, stacks, repeat):
        """Which stack is measured when"""
        if stacks is not None:
            stacks = [name for name in self.stacks if name in stacks]
        else:
            stacks = list(self.stacks)
        if self.lab.alternate:
            # What disturbs the machine disturbs all of them.
            return [name for _ in range(repeat) for name in stacks]
        return [name for name in stacks for _ in range(repeat)]

    def rounds(self, part, what, measure, stacks=None, repeat=None):
        """Repeats a measurement of each stack."""
        for name in self.turns(stacks, repeat or self.options.repeat):
            stack = self.stacks[name]
            begin = time.monotonic()
            try:
                stack.prepare(what.get("mtu", self.mtu))
                said = measure(stack)
            except Failed as why:
                self.failures.append(f"{part} {what} {name}: {why}")
                log(self.failures[-1])
                continue
            log(f"{part} {' '.join(f'{k}={v}' for k, v in what.items())} {name}: "
                f"{said} ({time.monotonic() - begin:.1f} s)")

    def counters(self, stack):
        """Of both of roce's devices"""
        if stack.name != "roce":
            return {}
        return {side: host.counters(stack.device(host))
                for side, host in zip(("left", "right"), stack.hosts)}

    def count_trains(self, stack, before, what):
        for side, counters in self.counters(stack).items():
            for way, packets in trains(before[side], counters).items():
                self.record("trains", stack.name, packets, "packets/train",
                            side=side, way=way, **what)

    def transfer(self, part, what, op, size, seconds=None, **options):
        """A way to measure bandwidth"""
        seconds = max(self.options.seconds, seconds or 0)
        machines = self.lab.machines(list(self.stacks.values()))

        def measure(stack):
            before = self.counters(stack)
            speed, _, busy = rate(stack, op, size, seconds, what["mtu"],
                                  machines=machines, **options)
            self.record(part, stack.name, speed, "B/s", **what)
            if part in ("bandwidth", "qps"):
                self.count_trains(stack, before, what)
            if busy and part == "cpu-bandwidth":
                self.record("cpu", stack.name, busy * 1e9 / speed, "s/GB", **what)
            return (f"{speed * 8 / 1e9:.3f} Gbit/s" +
                    (f" {busy:.2f} CPUs" if busy else ""))
        return measure

    # --- the parts ---------------------------------------------------------

    def limits(self):
        """What the machine can do"""
        seconds = str(self.options.seconds)
        name, stack = next(iter(self.stacks.items()))

        def cpu(what):
            def measure(stack):
                value = float(stack.left.run(LIMITS, what, seconds))
                self.record("limits", "machine", value, "B/s", limit=what)
                return f"{value / 1e9:.2f} GB/s"
            return measure

        def udp(mtu):
            def measure(stack):
                # The datagram of one packet: UDP's headers are IPv4's 20 and 8.
                size = path_mtu(mtu) + 16
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

        for what in ("memcpy", "crc32"):
            self.rounds("limits", {"limit": what}, cpu(what), [name])
        for mtu in self.options.mtu:
            self.rounds("limits", {"limit": "udp-gso", "mtu": mtu}, udp(mtu), [stack.name])

    def bandwidth(self):
        """WRITE, READ and SEND. TCP has one way to send, measured once."""
        for mtu, op, size in itertools.product(self.options.mtu, self.options.ops,
                                               self.options.sizes):
            stacks = [s for s in self.stacks if op == self.options.ops[0] or s != "tcp"]
            what = {"op": op, "size": size, "mtu": mtu}
            self.rounds("bandwidth", what, self.transfer("bandwidth", what, op, size), stacks)

    def one_write(self, part, **options):
        """WRITE of 64 KiB with each MTU"""
        for mtu in self.options.mtu:
            what = {"mtu": mtu}
            self.rounds(part, what, self.transfer(part, what, "write", 65536, **options))

    def ipv6(self):
        self.one_write("ipv6", ipv6=True)

    def both(self):
        """Both directions at once, added"""
        self.one_write("both", both=True)

    def unsteered(self):
        """Without RPS: the CPU that sends a packet also receives it."""
        for stack in self.stacks.values():
            stack.steer(False)
        self.one_write("unsteered")
        for stack in self.stacks.values():
            stack.steer(True)

    def qps(self):
        for qps in self.options.qps:
            what = {"qps": qps, "mtu": self.mtu}
            self.rounds("qps", what, self.transfer("qps", what, "write", 65536, qps=qps))

    def cpu(self):
        """
        A program that polls would always be busy. perftest can sleep with SEND
        only.
        """
        for mtu, size in itertools.product(self.options.mtu, (65536, 1 << 20)):
            what = {"op": "send", "size": size, "mtu": mtu}
            self.rounds("cpu-bandwidth", what, self.transfer(
                "cpu-bandwidth", what, "send", size, seconds=3, events=True))

    def messages(self):
        for size, batch in itertools.product((8, 64), (1, 32)):
            what = {"size": size, "list": batch, "mtu": self.mtu}

            def measure(stack, size=size, batch=batch, what=what):
                before = self.counters(stack)
                _, messages, _ = rate(stack, "write", size, self.options.seconds,
                                      self.mtu, batch=batch)
                self.record("messages", stack.name, messages, "1/s", **what)
                self.count_trains(stack, before, what)
                return f"{messages:.0f}/s"
            self.rounds("messages", what, measure, RDMA)

    def latency(self):
        """
        The client polls. The server of SEND sleeps or polls; READ has none. With
        pollers on all CPUs of a machine rdma_rxe's workqueue has to wait for one.
        """
        for op, server in (("send", "asleep"), ("read", "asleep"),
                           ("send", "polling"), ("write", "polling")):
            sleep = ["-e"] if (op, server) == ("send", "asleep") else []
            for size in (8, 4096):
                what = {"op": op, "size": size, "server": server, "mtu": self.mtu}

                def measure(stack, op=op, size=size, what=what, sleep=sleep):
                    row = latency_row(stack, op, "-s", str(size), "-n",
                                      str(self.options.iterations), mtu=self.mtu,
                                      server_options=sleep)
                    self.record("latency", stack.name, row[4], "us", percentile=50, **what)
                    self.record("latency", stack.name, row[7], "us", percentile=99, **what)
                    return f"{row[4]} us, 99 % {row[7]} us"
                self.rounds("latency", what, measure, RDMA)

    def loss(self):
        """Single packets are lost at the receiver, which is verified."""
        for stack in self.stacks.values():
            stack.prepare(self.mtu)
            stack.lose(LOSS)
        for mtu in self.options.mtu:
            what = {"mtu": mtu}
            transfer = self.transfer("loss", what, "write", 65536, seconds=4)

            def measure(stack, mtu=mtu, what=what, transfer=transfer):
                before = stack.losses()
                said = transfer(stack)
                grown = {name: value - before[name] for name, value in stack.losses().items()}
                mean = grown["bytes"] / grown["arrived"]
                if mean > mtu:
                    raise Failed(f"packets of {mean:.0f} bytes arrive: trains are whole")
                self.record("lost", stack.name, 100 * grown["lost"] / grown["arrived"],
                            "%", **what)
                return (f"{said}, lost {grown['lost']} of {grown['arrived']} packets "
                        f"of {mean:.0f} bytes")
            self.rounds("loss", what, measure)
        for stack in self.stacks.values():
            stack.lose_nothing()

    def memory(self):
        count = self.options.idle_qps
        what = {"qps": count, "entries": 16}

        def measure(stack):
            host, peer = stack.left, stack.right
            device = stack.device(host)
            seconds, rings, other, _left = map(float, host.run(
                IDLE_QPS, device, host.gid_index(device, host.address),
                "::ffff:" + peer.address, str(count), "16").split())
            self.record("memory", stack.name, 1 / seconds, "1/s", of="creations", **what)
            self.record("memory", stack.name, rings, "B", of="rings", **what)
            self.record("memory", stack.name, other, "B", of="rest", **what)
            return f"{rings:.0f} + {other:.0f} bytes, {1 / seconds:.0f} a second"
        self.rounds("memory", what, measure, ROCE, repeat=1)


PARTS = ("limits", "bandwidth", "ipv6", "both", "unsteered", "qps", "cpu", "messages",
         "latency", "loss", "memory")
# They change, or run programs of ours on, the hosts.
LOCAL_PARTS = ("limits", "ipv6", "unsteered", "loss", "memory")
BUILT = {"limits": LIMITS, "memory": IDLE_QPS}


def why_not(part, options):
    """Why a part cannot be measured, or None"""
    if options.hosts and part in LOCAL_PARTS:
        return "not between two machines"
    if part in BUILT and not os.access(BUILT[part], os.X_OK):
        return ("tools/benchmark is not built: it needs make, gcc, libibverbs-dev "
                "and libisal-dev")
    return None


def engine_results():
    """
    What kunit/engine_bench.c prints when the module is loaded: nanoseconds of a
    packet, or of a message of one packet
    """
    if os.path.isdir("/sys/module/roce"):
        raise Failed("roce is loaded already: the engine is measured when it is loaded")
    modules = Modules(run)
    modules.load("roce")
    modules.remove()
    results = []
    for load, phases in re.findall(r"# measure: (\S.*?) +(post .*) ns a packet",
                                   run("dmesg")):
        for phase, ns in re.findall(r"(\w+) (\d+)", phases):
            results.append({"part": "engine", "stack": "roce", "unit": "ns",
                            "what": {"load": load, "phase": phase},
                            "values": [float(ns)]})
    if not results:
        raise Failed("this roce.ko has no benchmark of the engine (make KUNIT=bench), "
                     "or the kernel has no KUnit")
    return results


def numbers(text):
    return [int(n) for n in text.split(",")]


def words(text):
    return text.split(",")


def two(text):
    if text.count(",") != 1:
        raise argparse.ArgumentTypeError("two, with a comma between them")
    return text.split(",")


def parse():
    parser = argparse.ArgumentParser(
        prog="tools/bench", description="Options of the measurement. Those of tools/bench "
        "itself: --here measures on the running kernel, --json FILE and --svg FILE keep "
        "the results.")
    parser.add_argument("--only", type=words, metavar="PART,...",
                        help="parts of " + ",".join((*PARTS, "engine")))
    parser.add_argument("--stacks", type=words, default=["roce", "rxe", "siw", "tcp"],
                        metavar="STACK,...", help="(default: roce,rxe,siw,tcp)")
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    parser.add_argument("--seconds", type=int, default=1, help="of one measurement")
    parser.add_argument("--mtu", type=numbers, metavar="N,...",
                        help="of the veth pairs (default: 9000,1500)")
    parser.add_argument("--sizes", type=numbers, metavar="N,...",
                        default=[4096, 65536, 1 << 20, 8 << 20])
    parser.add_argument("--ops", type=words, default=["write", "read", "send"],
                        metavar="OP,...")
    parser.add_argument("--qps", type=numbers, default=[1, 4, 16], metavar="N,...")
    parser.add_argument("--iterations", type=int, default=1000, help="of a latency")
    parser.add_argument("--idle-qps", type=int, default=10000)
    parser.add_argument("--cpus", type=two, metavar="LEFT,RIGHT",
                        help="of the sender and the receiver (default: 0,1; any CPU "
                        "between two machines)")
    parser.add_argument("--hosts", nargs=2, metavar=("A", "B"),
                        help="two machines, as ssh knows them, instead of namespaces")
    parser.add_argument("--addresses", type=two, metavar="A,B",
                        help="of the machines' netdevs (default: those of their names)")
    parser.add_argument("--netdevs", type=two, metavar="A,B",
                        help="of the machines (default: those of the route)")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()

    for name, allowed in (("only", (*PARTS, "engine")), ("stacks", MODULES),
                          ("ops", ("write", "read", "send"))):
        wrong = set(getattr(options, name) or ()) - set(allowed)
        if wrong:
            parser.error(f"--{name}: no {', '.join(sorted(wrong))}; there are "
                         + ", ".join(allowed))
    for name in ("repeat", "seconds", "iterations", "idle_qps"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')}: at least 1")
    if min(options.mtu or [1500]) < 256 + ROCE_HEADERS:
        parser.error(f"--mtu: at least {256 + ROCE_HEADERS}")
    if options.only and "engine" in options.only and len(options.only) > 1:
        parser.error("--only: the engine is measured alone")
    if not options.hosts and (options.addresses or options.netdevs):
        parser.error("--addresses and --netdevs are for --hosts")
    if options.hosts and options.mtu:
        parser.error("--mtu: between two machines it is the netdevs'")
    try:
        options.cpus = numbers(",".join(options.cpus)) if options.cpus else None
    except ValueError:
        parser.error("--cpus: two numbers")
    return options


def make_lab(options):
    """Where to measure. Sets what depends on it."""
    if options.hosts:
        lab = Machines(options.hosts, options.addresses, options.netdevs, options.cpus)
        options.mtu = [lab.mtu]
    else:
        allowed = sorted(os.sched_getaffinity(0))
        options.cpus = options.cpus or allowed[:2]
        if len(options.cpus) < 2 or not set(options.cpus) <= set(allowed):
            raise Failed(f"sender and receiver need a CPU each, and there are {allowed} "
                         "(--cpus 0,0: both on one)")
        lab = Namespaces(options.cpus)
        options.mtu = options.mtu or [9000, 1500]
    refusal = lab.refusal()
    if refusal:
        raise Failed(refusal)
    return lab


def measure_all(options):
    """What the parts measured, and where"""
    lab = make_lab(options)
    try:
        bench = Bench(options, lab)
        if not bench.stacks:
            raise Failed("none of the stacks can be measured")
        machines = [host.describe() for host in lab.machines(list(bench.stacks.values()))]
        for part in PARTS:
            if part not in (options.only or PARTS):
                continue
            reason = why_not(part, options)
            if reason:
                bench.skip(part, reason)
                continue
            getattr(bench, part)()
    finally:
        lab.close()
    return {"machines": machines, "results": bench.results,
            "failures": bench.failures, "skipped": bench.skipped}


def measure_engine():
    return {"machines": [Here().describe()], "results": engine_results(),
            "failures": [], "skipped": []}


def main():
    options = parse()
    if options.check:
        return
    # What was set up is taken down again.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    try:
        data = measure_engine() if options.only == ["engine"] else measure_all(options)
    except Failed as why:
        sys.exit(f"tools/bench: {why}")
    except KeyboardInterrupt:
        sys.exit("tools/bench: interrupted")
    json.dump({"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
               "arguments": sys.argv[1:], **data}, sys.stdout, indent=1)


main()
