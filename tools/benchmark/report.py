#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
report.py MEASUREMENT... [--json FILE] [--svg FILE]

What measure.py saw, as tables: medians, ratios, and goals beside what was
reached. An emulated CPU gets no verdict. Exit status 1 if a goal is missed or a
measurement failed.
"""
import argparse
import json
import statistics
import subprocess
import sys

SIZES = {4096: "4 KiB", 65536: "64 KiB", 1 << 20: "1 MiB", 8 << 20: "8 MiB"}
STACKS = ("roce", "rxe", "siw", "tcp")


def scaled(value, factor):
    return None if value is None else value * factor


def size_name(size):
    return SIZES.get(size, f"{size} B")


def quotient(ours, theirs):
    """None if something is not known; a stack that stood still counts."""
    return ours / theirs if ours is not None and theirs else None


def merged(measurements):
    """One measurement out of those that were made one after the other"""
    data = dict(measurements[0])
    for other in measurements[1:]:
        for name in ("results", "failures", "skipped"):
            data[name] = data[name] + other[name]
    return data


class Measurement:
    """Medians of what was measured"""

    def __init__(self, data):
        self.data = data
        self.medians = {}
        for result in data["results"]:
            key = (result["part"], result["stack"], frozenset(result["what"].items()))
            self.medians[key] = statistics.median(result["values"])
        measured = {result["stack"] for result in data["results"]}
        self.stacks = [stack for stack in STACKS if stack in measured]

    def is_emulated(self):
        return any(m["virtualization"] == "qemu" or m["cpu"].startswith("QEMU TCG")
                   for m in self.data["machines"])

    def mtus(self, part):
        return sorted({what["mtu"] for what in self.whats(part)}, reverse=True)

    def get(self, part, stack, **what):
        return self.medians.get((part, stack, frozenset(what.items())))

    def ratio(self, part, against, **what):
        """roce's median by that of another stack."""
        ours, theirs = self.get(part, "roce", **what), self.get(part, against, **what)
        return quotient(ours, theirs)

    def whats(self, part, stack=None):
        """Everything that was measured in a part, in the order of measuring."""
        seen = []
        for result in self.data["results"]:
            if (result["part"] == part and stack in (None, result["stack"]) and
                    result["what"] not in seen):
                seen.append(result["what"])
        return seen


def known(values):
    return [value for value in values if value is not None]


# --- the tables --------------------------------------------------------------

def cell(value, text="{:.2f}"):
    return "-" if value is None else text.format(value)


def print_table(title, head, rows):
    if not rows:
        return
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    print(f"\n{title}\n")
    for row in [head, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(row[i].ljust(widths[i]) if i == 0 else
                                row[i].rjust(widths[i]) for i in range(len(head))) + " |")


def print_machine(machine):
    print(f"{machine['name']}: Linux {machine['kernel']}, "
          f"{machine['cpus']} x {machine['cpu'] or 'unknown CPU'}, "
          f"virtualization: {machine['virtualization'] or 'unknown'}")
    if not machine["netdev"]:
        return
    print(f"  {machine['netdev']}: MTU {machine['mtu']}, driver {machine['driver']}")
    for state in ("on", "off"):
        print(f"  {state}: {', '.join(machine['features_' + state]) or 'nothing'}")
    if machine["interrupts"]:
        print("  interrupts, on CPU: " +
              ", ".join(" ".join(irq.rsplit(" ", 1)) for irq in machine["interrupts"]))
    else:
        print("  interrupts: none of its own")
    print(f"  rps_cpus: {' '.join(machine['rps']) or 'none'}")


def print_limits(m):
    rows = []
    for what in m.whats("limits"):
        name = {"memcpy": "copy of 4 KiB pieces, one CPU",
                "crc32": "CRC-32 of 4 KiB pieces, one CPU",
                "udp-gso": f"UDP GSO and GRO over the link, MTU {what.get('mtu')}"}
        rows.append([name[what["limit"]],
                     cell(m.get("limits", "machine", **what) * 8 / 1e9)])
    print_table("What the machine can do", ["limit", "Gbit/s"], rows)


def share(m, speed, **limit):
    most = m.get("limits", "machine", **limit)
    return f"{100 * speed / most:.0f} %" if speed and most else "-"


def bandwidth(m, stack, what):
    """TCP has one way to send, which stands in each operation's row."""
    if stack != "tcp":
        return m.get("bandwidth", stack, **what)
    return next((m.get("bandwidth", "tcp", **{**what, "op": op})
                 for op in ("write", "read", "send")
                 if m.get("bandwidth", "tcp", **{**what, "op": op})), None)


def print_bandwidth(m):
    rows = []
    for what in m.whats("bandwidth"):
        speeds = {stack: bandwidth(m, stack, what) for stack in STACKS}
        rows.append([f"{what['op'].upper()} {size_name(what['size'])}, MTU {what['mtu']}",
                     *(cell(scaled(speeds[stack], 8 / 1e9), "{:.3f}") for stack in m.stacks),
                     *(cell(quotient(speeds["roce"], speeds[stack]))
                       for stack in ("rxe", "tcp")),
                     share(m, speeds["roce"], limit="udp-gso", mtu=what["mtu"]),
                     share(m, speeds["roce"], limit="crc32"),
                     share(m, speeds["roce"], limit="memcpy")])
    print_table("Bandwidth, Gbit/s, and roce's as a share of the others and of the limits",
                ["operation", *m.stacks, "/rxe", "/tcp", "of GSO", "of CRC-32",
                 "of memcpy"], rows)


def print_part(m, part, title, head, name, factor=1, text="{:.2f}", without=()):
    rows = []
    stacks = [stack for stack in m.stacks if stack not in without]
    for what in m.whats(part):
        values = [m.get(part, stack, **what) for stack in stacks]
        rows.append([name(what), *(cell(scaled(value, factor), text) for value in values),
                     cell(m.ratio(part, "rxe", **what))])
    print_table(title, [head, *stacks, "/rxe"], rows)


def transfer_name(what):
    if "list" in what:
        return f"{what['size']} B, lists of {what['list']}"
    if "qps" in what:
        return f"WRITE 64 KiB, MTU {what['mtu']}, {what['qps']} QPs"
    name = f"{what.get('op', 'write').upper()} {size_name(what.get('size', 65536))}"
    return f"{name}, MTU {what['mtu']}"


def latency_name(what):
    return (f"{what['op'].upper()} {what['size']} B, server {what['server']}, "
            f"{'median' if what['percentile'] == 50 else '99 %'}")


def print_trains(m):
    rows = []
    for what in m.whats("trains"):
        if (what["side"], what["way"]) != ("left", "tx"):
            continue
        row = [transfer_name(what)]
        for side, way in (("left", "tx"), ("right", "rx"), ("right", "tx"), ("left", "rx")):
            row.append(cell(m.get("trains", "roce", **{**what, "side": side, "way": way}),
                            "{:.1f}"))
        rows.append(row)
    print_table("Packets per train, of roce",
                ["transfer", "sent", "received", "sent back", "received back"], rows)


PHASES = ("post", "send", "receive", "complete", "copy", "CRC")


def engine_costs(m, load):
    """ns to send and to receive a packet beside copy and CRC, None if not measured"""
    ns = {phase: m.get("engine", "roce", load=load, phase=phase) for phase in PHASES}
    if None in ns.values():
        return None, None
    bytes_alone = ns["copy"] + ns["CRC"]
    return ns["post"] + ns["send"] - bytes_alone, ns["receive"] - bytes_alone


def print_engine(m):
    rows = []
    for load in dict.fromkeys(what["load"] for what in m.whats("engine")):
        rows.append([load, *(cell(m.get("engine", "roce", load=load, phase=phase), "{:.0f}")
                             for phase in PHASES),
                     *(cell(cost, "{:.0f}") for cost in engine_costs(m, load))])
    print_table("The engine alone, ns a packet; sent and received: beside copy and CRC",
                ["load", *PHASES, "sent", "received"], rows)


GBITS = (8 / 1e9, "{:.3f}")


def print_all(m):
    print(f"tools/bench {' '.join(m.data['arguments'])}, {m.data['date']}")
    for machine in m.data["machines"]:
        print_machine(machine)
    for skipped in m.data["skipped"]:
        print(f"not measured: {skipped}")
    print_limits(m)
    print_bandwidth(m)
    for part, title in (("ipv6", "over IPv6"), ("both", "in both directions, added"),
                        ("unsteered", "without RPS"), ("qps", "by QPs (TCP: connections)")):
        print_part(m, part, f"Bandwidth {title}, Gbit/s", "transfer", transfer_name, *GBITS)
    print_part(m, "cpu", "CPU seconds per GB of SEND, asleep until there is a completion",
               "transfer", transfer_name)
    print_part(m, "messages", "WRITE messages a second, thousands", "messages",
               transfer_name, 1e-3, "{:.1f}", ["tcp"])
    print_part(m, "latency", "Latency, us: one way, of READ there and back; the client polls",
               "operation", latency_name, 1, "{:.1f}", ["tcp"])
    print_part(m, "loss", "Goodput while single packets are lost at the receiver, Gbit/s",
               "transfer", transfer_name, *GBITS)
    print_part(m, "lost", "Share of the packets that was lost, %", "transfer",
               transfer_name, 1, "{:.3f}")
    units = {"creations": "made and connected, 1/s", "rings": "rings, bytes",
             "rest": "the rest, bytes"}
    print_part(m, "memory", "An idle connected QP with rings of 16 entries", "of one QP",
               lambda what: units[what["of"]], 1, "{:.0f}", ["siw", "tcp"])
    print_trains(m)
    print_engine(m)


# --- goals -------------------------------------------------------------------

class Goal:
    """A number that is to be at least, or at most, another one."""

    def __init__(self, name, wanted, reached, at_most=False):
        reached = known(reached)
        self.name, self.wanted, self.at_most = name, wanted, at_most
        self.reached = (max if at_most else min)(reached) if reached else None

    def met(self):
        if self.at_most:
            return self.reached <= self.wanted
        return self.reached >= self.wanted

    def row(self, verdict):
        row = [self.name, f"{'<=' if self.at_most else '>='} {self.wanted:g}",
               f"{self.reached:.2f}"]
        return [*row, "yes" if self.met() else "NO"] if verdict else row


def bandwidth_ratios(m, against, mtu, sizes):
    """Of all operations and of those sizes"""
    return [quotient(bandwidth(m, "roce", what), bandwidth(m, against, what))
            for what in m.whats("bandwidth", "roce")
            if what["mtu"] == mtu and sizes(what["size"])]


def memory_of(m, stack):
    values = {what["of"]: m.get("memory", stack, **what) for what in m.whats("memory", stack)}
    if not values:
        return None, None
    return values["rings"] + values["rest"], values["rest"]


def latency_ratios(m):
    """Pollers on all CPUs of a machine would keep rdma_rxe's workqueue from them."""
    return [m.ratio("latency", "rxe", **what) for what in m.whats("latency")
            if what["percentile"] == 50 and what["server"] == "asleep"]


def ratios(m, part, against, **wanted):
    """Of all that was measured in a part, and is what is wanted"""
    return [m.ratio(part, against, **what) for what in m.whats(part)
            if wanted.items() <= what.items()]


def goals(m):
    one, many = (m.get("qps", "roce", qps=n, mtu=9000) for n in (1, 16))
    total, rest = memory_of(m, "roce")
    rxe_total, _ = memory_of(m, "rxe")
    packet_sent, packet_received = engine_costs(m, "WRITE 256 KiB, MTU 1024")
    message_sent, message_received = engine_costs(m, "WRITE 64 B")

    def long(size):
        return size >= 65536

    def mib(size):
        return size == 1 << 20

    cpu = {"op": "send", "size": 1 << 20}
    every = [
        Goal("bandwidth from 64 KiB, MTU 9000, / rxe", 2,
             bandwidth_ratios(m, "rxe", 9000, long)),
        Goal("bandwidth from 64 KiB, MTU 1500, / rxe", 4,
             bandwidth_ratios(m, "rxe", 1500, long)),
        Goal("bandwidth of 1 MiB, MTU 9000, / TCP", 0.7,
             bandwidth_ratios(m, "tcp", 9000, mib)),
        Goal("bandwidth of 1 MiB, MTU 1500, / TCP", 0.3,
             bandwidth_ratios(m, "tcp", 1500, mib)),
        Goal("64 KiB without RPS / rxe", 3.5, ratios(m, "unsteered", "rxe")),
        Goal("messages of 64 B / rxe", 2.5, ratios(m, "messages", "rxe", size=64, list=1)),
        Goal("messages of 64 B in lists of 32 / rxe", 12,
             ratios(m, "messages", "rxe", size=64, list=32)),
        Goal("latency with the server asleep / rxe", 0.5, latency_ratios(m), at_most=True),
        Goal("bandwidth of 16 QPs / one QP", 1.5, [quotient(many, one)]),
        Goal("CPU seconds per GB of 1 MiB, MTU 9000, / rxe", 0.38,
             ratios(m, "cpu", "rxe", mtu=9000, **cpu), at_most=True),
        Goal("CPU seconds per GB of 1 MiB, MTU 9000, / TCP", 0.75,
             ratios(m, "cpu", "tcp", mtu=9000, **cpu), at_most=True),
        Goal("CPU seconds per GB of 1 MiB, MTU 1500, / rxe", 0.3,
             ratios(m, "cpu", "rxe", mtu=1500, **cpu), at_most=True),
        Goal("CPU seconds per GB of 1 MiB, MTU 1500, / TCP", 1.6,
             ratios(m, "cpu", "tcp", mtu=1500, **cpu), at_most=True),
        Goal("memory of an idle QP, KiB", 20, [scaled(total, 1 / 1024)], at_most=True),
        Goal("the same beside the rings, KiB", 6, [scaled(rest, 1 / 1024)], at_most=True),
        Goal("memory of an idle QP / rxe", 1,
             [quotient(total, rxe_total)], at_most=True),
        Goal("goodput with 0.1 % loss / rxe", 4, ratios(m, "loss", "rxe")),
        Goal("engine: ns to send a packet", 100, [packet_sent], at_most=True),
        Goal("engine: ns to receive a packet", 130, [packet_received], at_most=True),
        Goal("engine: ns to send a message of 64 B", 250, [message_sent], at_most=True),
        Goal("engine: ns to receive a message of 64 B", 200, [message_received],
             at_most=True),
    ]
    return [goal for goal in every if goal.reached is not None]


# --- the picture -------------------------------------------------------------

def draw(m, path):
    whats = m.whats("bandwidth", "roce")
    if not whats:
        sys.exit("report.py: no bandwidth was measured, so there is nothing to draw")
    mtus = m.mtus("bandwidth")
    script = [f"set terminal svg size 1000,{360 * len(mtus)} font 'sans,11'",
              f"set output '{path}'", f"set multiplot layout {len(mtus)},1",
              "set style data histograms", "set style histogram clustered gap 1",
              "set style fill solid 0.9 border", "set yrange [0:]", "set grid ytics",
              "set ylabel 'Gbit/s'", "set key top left horizontal",
              "set xtics rotate by -20 font ',9'"]
    for mtu in mtus:
        rows = []
        for what in (what for what in whats if what["mtu"] == mtu):
            values = [bandwidth(m, stack, what) for stack in m.stacks]
            rows.append(" ".join([f'"{what["op"].upper()} {size_name(what["size"])}"',
                                  *(str((value or 0) * 8 / 1e9) for value in values)]))
        script += [f"$data{mtu} << END", *rows, "END",
                   f"set title 'MTU {mtu}'",
                   "plot " + ", ".join(
                       f"$data{mtu} using {column}:xtic(1) title '{stack}'"
                       for column, stack in enumerate(m.stacks, 2))]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main():
    parser = argparse.ArgumentParser(prog="report.py")
    parser.add_argument("measurement", nargs="+")
    parser.add_argument("--json")
    parser.add_argument("--svg")
    options = parser.parse_args()
    measurements = []
    for name in options.measurement:
        with open(name, encoding="utf-8") as file:
            measurements.append(json.load(file))
    m = Measurement(merged(measurements))

    print_all(m)
    reached = goals(m)
    verdict = not m.is_emulated()
    print_table("Goals" if verdict else
                "Goals for a real CPU, and what this emulated one reached",
                ["goal", "wanted", "reached", *(["met"] if verdict else [])],
                [goal.row(verdict) for goal in reached])
    for failure in m.data["failures"]:
        print(f"\nFAILED: {failure}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(m.data, file, indent=1)
    if options.svg:
        draw(m, options.svg)
    if m.data["failures"] or verdict and not all(goal.met() for goal in reached):
        sys.exit(1)


main()
