#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
report.py MEASUREMENT [--json FILE] [--svg FILE]

What measure.py saw, as a table; medians, ratios, and goals beside what was
reached. Exit status 1 if a goal is missed or a measurement failed.
"""
import argparse
import json
import shutil
import statistics
import subprocess
import sys

SIZES = {4096: "4 KiB", 65536: "64 KiB", 1 << 20: "1 MiB", 8 << 20: "8 MiB"}
STACKS = ("roce", "rxe", "tcp")


def scaled(value, factor):
    return None if value is None else value * factor


def size_name(size):
    return SIZES.get(size, f"{size} B")


def quotient(ours, theirs):
    """None if something is not known; a stack that stood still counts."""
    return ours / theirs if ours is not None and theirs else None


class Measurement:
    def __init__(self, data):
        self.data = data
        self.medians = {}
        for result in data["results"]:
            key = (result["part"], result["stack"], frozenset(result["what"].items()))
            self.medians[key] = statistics.median(result["values"])

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


# --- the table ---------------------------------------------------------------

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


def print_bandwidth(m):
    rows = []
    for what in m.whats("bandwidth"):
        tcp = {**what, "op": "write"}
        speeds = [m.get("bandwidth", "roce", **what), m.get("bandwidth", "rxe", **what),
                  m.get("bandwidth", "tcp", **tcp)]
        rows.append([f"{what['op'].upper()} {size_name(what['size'])}, MTU {what['mtu']}",
                     *(cell(scaled(speed, 8 / 1e9), "{:.3f}") for speed in speeds),
                     cell(quotient(speeds[0], speeds[1])),
                     cell(quotient(speeds[0], speeds[2])),
                     share(m, speeds[0], limit="udp-gso", mtu=what["mtu"]),
                     share(m, speeds[0], limit="crc32"),
                     share(m, speeds[0], limit="memcpy")])
    print_table("Bandwidth, Gbit/s, and roce's as a share of the others and of the limits",
                ["operation", *STACKS, "/rxe", "/tcp", "of UDP GSO", "of CRC-32",
                 "of memcpy"], rows)


def print_part(m, part, title, head, name, factor=1, text="{:.2f}", stacks=STACKS):
    rows = []
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


def print_all(m):
    data = m.data
    print(f"Linux {data['kernel']}, {data['cpus']} x {data['cpu']}, {data['date']}\n"
          f"tools/bench {' '.join(data['arguments'])}")
    print_limits(m)
    print_bandwidth(m)
    print_part(m, "qps", "Bandwidth by QPs (TCP: connections), Gbit/s", "transfer",
               transfer_name, 8 / 1e9, "{:.3f}")
    print_part(m, "cpu", "CPU seconds per GB of SEND, asleep until there is a completion", "transfer",
               transfer_name)
    print_part(m, "messages", "WRITE messages a second, thousands", "messages",
               transfer_name, 1e-3, "{:.1f}", STACKS[:2])
    print_part(m, "latency", "Latency one way, us", "operation",
               lambda what: f"{what['op'].upper()} {what['size']} B, "
               f"{'median' if what['percentile'] == 50 else '99 %'}",
               1, "{:.1f}", STACKS[:2])
    print_part(m, "loss", "Goodput with 0.1 % of single packets lost, Gbit/s", "transfer",
               transfer_name, 8 / 1e9, "{:.3f}")
    units = {"creations": "made and connected, 1/s", "rings": "rings, bytes",
             "rest": "the rest, bytes"}
    print_part(m, "memory", "An idle connected QP with rings of 16 entries", "of one QP",
               lambda what: units[what["of"]], 1, "{:.0f}", STACKS[:2])
    print_trains(m)


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

    def row(self):
        return [self.name, f"{'<=' if self.at_most else '>='} {self.wanted:g}",
                f"{self.reached:.2f}", "yes" if self.met() else "NO"]


def bandwidth_ratios(m, against, mtu):
    ratios = []
    for what in m.whats("bandwidth", "roce"):
        if what["size"] < 65536 or what["mtu"] != mtu:
            continue
        ours = m.get("bandwidth", "roce", **what)
        # TCP has one way to send.
        theirs = m.get("bandwidth", against,
                       **({**what, "op": "write"} if against == "tcp" else what))
        ratios.append(quotient(ours, theirs))
    return ratios


def memory_of(m, stack):
    values = {what["of"]: m.get("memory", stack, **what) for what in m.whats("memory", stack)}
    if not values:
        return None, None
    return values["rings"] + values["rest"], values["rest"]


def goals(m):
    one, many = (m.get("qps", "roce", qps=n, mtu=9000) for n in (1, 16))
    total, rest = memory_of(m, "roce")
    rxe_total, _ = memory_of(m, "rxe")
    latency = [m.ratio("latency", "rxe", **what) for what in m.whats("latency")
               if what["percentile"] == 50]
    every = [
        Goal("bandwidth from 64 KiB, MTU 9000, / rxe", 2, bandwidth_ratios(m, "rxe", 9000)),
        Goal("bandwidth from 64 KiB, MTU 1500, / rxe", 4, bandwidth_ratios(m, "rxe", 1500)),
        Goal("bandwidth from 64 KiB, MTU 9000, / TCP", 0.45,
             bandwidth_ratios(m, "tcp", 9000)),
        Goal("messages of 64 B / rxe", 2.5,
             [m.ratio("messages", "rxe", size=64, list=1, mtu=9000)]),
        Goal("messages of 64 B in lists of 32 / rxe", 5,
             [m.ratio("messages", "rxe", size=64, list=32, mtu=9000)]),
        Goal("latency / rxe", 0.5, latency, at_most=True),
        Goal("bandwidth of 16 QPs / one QP", 1.5, [quotient(many, one)]),
        Goal("CPU seconds per GB / rxe", 0.5,
             [m.ratio("cpu", "rxe", **what) for what in m.whats("cpu")], at_most=True),
        Goal("memory of an idle QP, KiB", 24, [scaled(total, 1 / 1024)], at_most=True),
        Goal("the same beside the rings, KiB", 6, [scaled(rest, 1 / 1024)], at_most=True),
        Goal("memory of an idle QP / rxe", 1,
             [quotient(total, rxe_total)], at_most=True),
        Goal("goodput with 0.1 % loss / rxe", 4,
             [m.ratio("loss", "rxe", **what) for what in m.whats("loss")]),
    ]
    return [goal for goal in every if goal.reached is not None]


# --- the picture -------------------------------------------------------------

def draw(m, path):
    whats = m.whats("bandwidth", "roce")
    mtus = sorted({what["mtu"] for what in whats}, reverse=True)
    if not whats:
        sys.exit("report.py: no bandwidth was measured, so there is nothing to draw")
    script = [f"set terminal svg size 1000,{360 * len(mtus)} font 'sans,11'",
              f"set output '{path}'", f"set multiplot layout {len(mtus)},1",
              "set style data histograms", "set style histogram clustered gap 1",
              "set style fill solid 0.9 border", "set yrange [0:]", "set grid ytics",
              "set ylabel 'Gbit/s'", "set key top left horizontal",
              "set xtics rotate by -20 font ',9'"]
    for mtu in mtus:
        rows = []
        for what in (what for what in whats if what["mtu"] == mtu):
            values = [m.get("bandwidth", stack, **({**what, "op": "write"}
                                                   if stack == "tcp" else what))
                      for stack in STACKS]
            rows.append(" ".join([f'"{what["op"].upper()} {size_name(what["size"])}"',
                                  *(str((value or 0) * 8 / 1e9) for value in values)]))
        script += [f"$data{mtu} << END", *rows, "END",
                   f"set title 'MTU {mtu}'",
                   "plot " + ", ".join(
                       f"$data{mtu} using {column}:xtic(1) title '{stack}'"
                       for column, stack in enumerate(STACKS, 2))]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main():
    parser = argparse.ArgumentParser(prog="report.py")
    parser.add_argument("measurement")
    parser.add_argument("--json")
    parser.add_argument("--svg")
    options = parser.parse_args()
    with open(options.measurement) as file:
        m = Measurement(json.load(file))

    print_all(m)
    reached = goals(m)
    print_table("Goals", ["goal", "wanted", "reached", "met"],
                [goal.row() for goal in reached])
    for failure in m.data["failures"]:
        print(f"\nFAILED: {failure}")
    if options.json:
        shutil.copyfile(options.measurement, options.json)
    if options.svg:
        draw(m, options.svg)
    if m.data["failures"] or not all(goal.met() for goal in reached):
        sys.exit(1)


main()
