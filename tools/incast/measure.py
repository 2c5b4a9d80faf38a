#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""An incast, inside the VM: senders -> bridge -> a slow port -> one receiver.

The port has a rate, a shallow buffer and RED with ECN. The same script of flows
runs with each stack: they join one after the other, all send for a while, the
last one joins later, and the first one leaves before the others. What devices and
the port count is read periodically. Prints JSON; report.py says what it means.
"""
import argparse
import json
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../lib"))

# pylint: disable=wrong-import-position
from hosts import Failed, Here, add_namespace, add_veth, batch, run	# noqa: E402
from qdisc import Qdisc	# noqa: E402

MTU = 4200
OUTSTANDING = 4
SWITCH = "incast-switch"
RECEIVER = "incast-receiver"
PORT = "port"
RED = 0x100000	# the handle of its qdisc
STREAM = os.path.join(HERE, "../test/build/stream")

# Flows come and go here, over a port that is slower than their line by two orders of
# magnitude: Documentation/congestion-control.md, "A slow port behind a fast line".
DCQCN = {
    "rpg_time_reset": 20000,
    "rate_reduce_monitor_period": 40000,
    "dce_tcp_rtt": 40000,
    "min_packets_per_period": 3,
    "rpg_ai_rate": 1,
    "rpg_hai_rate": 5,
    "rate_to_set_on_first_cnp": 10,
}
CNP_INTERVAL = 4000

COUNTERS = {
    "roce": ("tx_packets", "retransmitted_packets", "local_ack_timeout_err",
             "rp_cnp_handled"),
    "rxe": ("sent_pkts", "completer_retry_err"),
}
RECEIVER_COUNTERS = {
    "roce": ("np_ecn_marked_roce_packets", "np_cnp_sent"),
    "rxe": (),
}


def device(kind, index):
    return f"{kind}_{index}"


def one_cpu(namespace, netdev):
    """veth hands a packet to the CPU that sends it, and a QP may send on any: packets
    of the same flow would overtake each other, as they do on no cable."""
    run("ip", "netns", "exec", namespace, "sh", "-c",
        f"echo 1 >/sys/class/net/{netdev}/queues/rx-0/rps_cpus")


def single_packets(namespace):
    """RED takes a train for one packet: hosts cut theirs."""
    run("ip", "netns", "exec", namespace, "ethtool", "-K", "eth0",
        "tx-udp-segmentation", "off", "gso", "off")


def build_network(senders, mbit):
    for name in [SWITCH, RECEIVER] + [f"incast-{i}" for i in range(senders)]:
        add_namespace(name)
    batch("ip", SWITCH, [f"link add br0 mtu {MTU} type bridge", "link set br0 up"])
    hosts = [(f"incast-{i}", f"in{i}", 10 + i) for i in range(senders)]
    for namespace, port, number in hosts + [(RECEIVER, PORT, 1)]:
        add_veth((namespace, "eth0", "mtu", str(MTU)), (SWITCH, port, "mtu", str(MTU)))
        batch("ip", namespace, [f"addr add 10.98.0.{number}/24 dev eth0", "link set eth0 up"])
        batch("ip", SWITCH, [f"link set {port} master br0 up"])
        one_cpu(namespace, "eth0")
        one_cpu(SWITCH, port)
        single_packets(namespace)
    # As late as an emulated machine's timers may be: what the senders make up for
    # then, up to 20 ms, the port does, too.
    burst = mbit * 125 * 20
    batch("tc", SWITCH, [
        f"qdisc add dev {PORT} root handle 1: tbf rate {mbit}mbit burst {burst} limit 10000000",
        f"qdisc add dev {PORT} parent 1:1 handle 10: red limit 400000 min 8400 max 210000 "
        f"avpkt 4200 burst 3 probability 0.8 bandwidth {mbit}mbit ecn nodrop"])


def add_links(kind, senders):
    gids = []
    for i in range(senders):
        run("ip", "netns", "exec", f"incast-{i}", "rdma", "link", "add",
            device(kind, i), "type", kind, "netdev", "eth0")
        gids.append(Here().gid_index(device(kind, i), f"10.98.0.{10 + i}"))
    run("ip", "netns", "exec", RECEIVER, "rdma", "link", "add",
        device(kind, "r"), "type", kind, "netdev", "eth0")
    return gids, Here().gid_index(device(kind, "r"), "10.98.0.1")


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{value}\n")


def set_algorithm(algorithm, senders):
    for i in [*range(senders), "r"]:
        folder = f"/sys/class/infiniband/{device('roce', i)}/cc"
        write(f"{folder}/algorithm", algorithm)
        for name, value in DCQCN.items():
            write(f"{folder}/dcqcn/{name}", value)
        write(f"{folder}/np/min_time_between_cnps", CNP_INTERVAL)


class Recorder(threading.Thread):
    """Reads the queue every 25 ms, and counters every 100 ms."""

    def __init__(self, kind, senders):
        super().__init__(daemon=True)
        self.files = [[self.counter(device(kind, i), name) for name in COUNTERS[kind]]
                      for i in range(senders)]
        self.files.append([self.counter(device(kind, "r"), name)
                           for name in RECEIVER_COUNTERS[kind]])
        self.queue = Qdisc(SWITCH, PORT, RED)
        self.samples, self.backlog = [], []
        self.stop = threading.Event()
        self.begin = time.monotonic()

    @staticmethod
    def counter(name, counter):
        return f"/sys/class/infiniband/{name}/ports/1/hw_counters/{counter}"

    @staticmethod
    def read_file(path):
        with open(path, "rb", buffering=0) as file:
            return int(file.read(32))

    def run(self):
        tick = 0
        while not self.stop.is_set():
            backlog, sent, drops, marked = self.queue.read()
            now = time.monotonic() - self.begin
            self.backlog.append((round(now, 4), backlog))
            if tick % 4 == 0:
                self.samples.append({
                    "time": now, "sent": sent, "drops": drops, "marked": marked,
                    "flows": [[self.read_file(path) for path in files]
                              for files in self.files]})
            tick += 1
            self.stop.wait(0.025)


class Flow:
    """One sender: connected at once, and writing for its duration from join() on"""

    def __init__(self, kind, index, gid, receiver_gid, seconds):
        self.process = subprocess.Popen(
            [STREAM, device(kind, index), str(gid), device(kind, "r"), str(receiver_gid),
             str(seconds), str(OUTSTANDING)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def connected(self):
        return self.process.stdout.readline() == "ready\n"

    def join(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def result(self):
        """Bytes that arrived, 0 if it failed, and what it said then"""
        try:
            output, _ = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return 0, "does not end"
        if self.process.returncode:
            return 0, output[-400:]
        return int(output.split()[0]), ""


def measure(kind, label, options, gids, receiver_gid):
    senders = options.senders
    # The first one leaves early, and the last one joins late.
    step, length = options.seconds / 3, options.seconds
    joins = [0.7 * i for i in range(senders - 1)] + [step]
    leaves = [2 * step] + [length] * (senders - 1)
    flows = [Flow(kind, i, gids[i], receiver_gid, max(4, round(leaves[i] - joins[i])))
             for i in range(senders)]
    if not all(flow.connected() for flow in flows):
        sys.exit(f"{label}: no connection")
    recorder = Recorder(kind, senders)
    recorder.start()
    for i in range(senders):
        time.sleep(max(0, joins[i] - (time.monotonic() - recorder.begin)))
        flows[i].join()
    results = [flow.result() for flow in flows]
    recorder.stop.set()
    recorder.join()
    return {"label": label, "kind": kind, "counters": COUNTERS[kind],
            "receiver_counters": RECEIVER_COUNTERS[kind],
            "bytes": [result[0] for result in results],
            "errors": [result[1] for result in results],
            "samples": recorder.samples, "backlog": recorder.backlog}


def main():
    parser = argparse.ArgumentParser(description="an incast inside the VM")
    parser.add_argument("--senders", type=int, default=4)
    parser.add_argument("--mbit", type=int, default=50, help="rate of the port")
    parser.add_argument("--seconds", type=int, default=30, help="of each run")
    parser.add_argument("--stacks", default="dcqcn,none,rxe")
    options = parser.parse_args()
    if options.senders < 2 or options.senders > 32:
        parser.error("2 to 32 senders")

    build_network(options.senders, options.mbit)
    runs = []
    links = None
    for label in options.stacks.split(","):
        kind = "rxe" if label == "rxe" else "roce"
        if links is None or links[0] != kind:
            for i in [*range(options.senders), "r"] if links else []:
                run("rdma", "link", "delete", device(links[0], i))
            links = kind, add_links(kind, options.senders)
        if kind == "roce":
            set_algorithm(label, options.senders)
        print(f"{label}: {options.seconds} s ...", file=sys.stderr)
        runs.append(measure(kind, label, options, *links[1]))
    json.dump({"senders": options.senders, "mbit": options.mbit, "packet": 4096 + 58,
               "payload": 4096, "runs": runs}, sys.stdout)
    print()


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"incast: {failure}")
