#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""report.py [--svg FILE] [FILE]: what a scene was like, and whether that was expected.

FILE is what play has printed. Prints tables; the exit status is 1 if an expectation of the
scene does not hold. In these expressions

    NAME            is a flow, with
                    messages, bytes, goodput (Gbit/s, from its start to its last message),
                    first, last (when messages completed, us),
                    p50, p99, longest (completion times, us),
                    failed (when, us; or None), status,
                    rate(BEGIN, END) (Gbit/s of what completed between, ms)
    tcp.NAME        has bytes, goodput and retransmits
    queue["s>h"]    is that of switch or router s towards h, with mean, p99, longest (bytes),
                    drops, marks, utilization (from first to last message of any flow)
    sum("COUNTER")  is that of all devices, count("HOST", "COUNTER") that of one
    flows, jain, goodput    a list, fairness of their goodputs, and the sum of these
    fairness(BEGIN, END)    of what completed between (ms)
    fair(MS)        from when on each window of that length has a Jain's index of 0.95 (ms)
    near(A, B, SHARE)       A is B, but for that share of it
"""
import argparse
import bisect
import json
import subprocess
import sys
from types import SimpleNamespace

DRAWN = 12	# flows and queues
WINDOWS = 200	# of a picture


def percentile(values, part):
    """The smallest one that so many are not above; 0 of none"""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0


def jain(values):
    squares = len(values) * sum(value * value for value in values)
    return sum(values) ** 2 / squares if squares else 0.0


def near(value, wanted, part):
    return abs(value - wanted) <= part * wanted


class Flow:
    """What its messages were like; microseconds and Gbit/s"""

    def __init__(self, name, seen):
        self.name, self.seen = name, seen
        times = [when for when, _ in seen["done"]]
        latencies = [latency / 1e3 for _, latency in seen["done"]]
        self.messages = len(times)
        self.bytes = self.messages * seen["size"]
        self.first, self.last = (times[0] / 1e3, times[-1] / 1e3) if times else (0, 0)
        lasted = (times[-1] - seen["start"]) if times else 0
        self.goodput = 8 * self.bytes / lasted if lasted else 0
        self.p50, self.p99 = percentile(latencies, 0.5), percentile(latencies, 0.99)
        self.longest = max(latencies, default=0)
        failed = seen["failed"]
        self.failed, self.status = (failed[0][0] / 1e3, failed[0][1]) if failed else (None, "")

    def rate(self, begin, end):
        times = [when for when, _ in self.seen["done"]]
        count = bisect.bisect_right(times, end * 1e6) - bisect.bisect_right(times, begin * 1e6)
        return 8e-6 * self.seen["size"] * count / (end - begin)


class Queue:
    """What waited in front of a link while flows were there"""

    def __init__(self, rate, samples, name):
        looks = [(sample["time"], *sample["queues"][name]) for sample in samples]
        waiting = [look[1] for look in looks]
        self.mean = sum(waiting) / max(1, len(waiting))
        self.p99, self.longest = percentile(waiting, 0.99), max(waiting, default=0)
        self.drops = looks[-1][3] - looks[0][3]
        self.marks = looks[-1][4] - looks[0][4]
        self.bytes = looks[-1][2] - looks[0][2]
        nanoseconds = looks[-1][0] - looks[0][0]
        self.utilization = 8e9 * self.bytes / nanoseconds / rate if nanoseconds else 0


def within(samples, begin, end):
    """Those from the last one before the begin on, to the first one behind the end"""
    before = [sample for sample in samples if sample["time"] <= begin][-1:]
    inside = [sample for sample in samples if begin < sample["time"] < end]
    behind = [sample for sample in samples if sample["time"] >= end][:1]
    return (before + inside + behind) or samples


class Report:
    """All that a scene has shown"""

    def __init__(self, seen):
        self.seen = seen
        self.flows = [Flow(name, flow) for name, flow in seen["flows"].items()]
        starts = [flow.seen["start"] for flow in self.flows]
        ends = [flow.last * 1e3 for flow in self.flows if flow.messages]
        self.samples = within(seen["samples"], min(starts, default=0),
                              max(ends, default=seen["length"]))
        self.queues = {name: Queue(queue["rate"], self.samples, name)
                       for name, queue in seen["queues"].items()}
        self.tcps = {name: SimpleNamespace(
            bytes=tcp["bytes"], retransmits=tcp["retransmits"], seconds=tcp["seconds"],
            goodput=8e-9 * tcp["bytes"] / tcp["seconds"]) for name, tcp in seen["tcps"].items()}

    def count(self, host, name):
        return self.seen["counters"][host].get(name, 0)

    def sum(self, name):
        return sum(self.count(host, name) for host in self.seen["counters"])

    def fairness(self, begin, end):
        """Jain's index between two times in ms"""
        return jain([flow.rate(begin, end) for flow in self.flows])

    def fair(self, window):
        """None if the last window is not"""
        since, end = None, 0
        while (end + window) * 1e6 <= self.seen["length"]:
            begin, end = end, end + window
            if self.fairness(begin, end) < 0.95:
                since = None
            elif since is None:
                since = begin
        return since

    def names(self):
        goodputs = [flow.goodput for flow in self.flows]
        return {flow.name: flow for flow in self.flows} | {
            "flows": self.flows, "queue": self.queues, "tcp": SimpleNamespace(**self.tcps),
            "sum": self.sum, "count": self.count, "near": near, "jain": jain(goodputs),
            "goodput": sum(goodputs), "fair": self.fair, "fairness": self.fairness,
            "all": all, "any": any, "max": max, "min": min, "abs": abs, "len": len}

    def expectations(self):
        for expression in self.seen["expectations"]:
            try:
                # The scene is a file of ours, as this program is.
                held = eval(expression, self.names() | {"__builtins__": {}})	# pylint: disable=eval-used
            except (NameError, KeyError, AttributeError, TypeError, SyntaxError) as why:
                held, expression = False, f"{expression} ({why})"
            yield expression, bool(held)

    def print(self):
        params = " ".join(f"{key}={value}" for key, value in self.seen["params"].items())
        print(self.seen["title"] + (f" ({params})" if params else ""))
        self.print_flows()
        self.print_tcps()
        self.print_queues()
        self.print_counters()

    def print_flows(self):
        if not self.flows:
            return
        print(f"\n{'flow':12}{'messages':>9}{'Gbit/s':>9}{'first us':>11}{'last us':>12}"
              f"{'p50 us':>11}{'p99 us':>11}{'longest':>11}")
        for flow in self.flows:
            print(f"{flow.name:12}{flow.messages:9}{flow.goodput:9.3f}{flow.first:11.3f}"
                  f"{flow.last:12.3f}{flow.p50:11.3f}{flow.p99:11.3f}{flow.longest:11.3f}" +
                  (f"  failed at {flow.failed:.3f}: {flow.status}" if flow.status else ""))
        names = self.names()
        print(f"{'all':12}{sum(flow.messages for flow in self.flows):9}"
              f"{names['goodput']:9.3f}  Jain {names['jain']:.4f}")

    def print_tcps(self):
        for name, tcp in self.tcps.items():
            print(f"{name:12}{tcp.bytes:9} bytes in {tcp.seconds:.6f} s, {tcp.goodput:.3f} Gbit/s,"
                  f" {tcp.retransmits} retransmissions")

    def print_queues(self):
        used = {name: queue for name, queue in self.queues.items() if queue.longest}
        if used:
            print(f"\n{'queue':12}{'mean':>9}{'p99':>9}{'longest':>9}{'drops':>8}{'marks':>8}"
                  f"{'used':>8}")
        for name, queue in used.items():
            print(f"{name:12}{queue.mean:9.0f}{queue.p99:9}{queue.longest:9}{queue.drops:8}"
                  f"{queue.marks:8}{queue.utilization:8.1%}")

    def print_counters(self):
        hosts = self.seen["counters"]
        print()
        for name in sorted({name for host in hosts.values() for name in host}):
            print(f"{name:32}{self.sum(name):12}")

    # --- The picture ----------------------------------------------------------------

    def windows(self):
        """Begin and end, and the samples at these moments: fewer than there are"""
        looks = self.samples[::max(1, len(self.samples) // WINDOWS)]
        return [(before["time"], after["time"], before, after)
                for before, after in zip(looks, looks[1:])]

    def rates(self, flow):
        """(ms, Gbit/s) of what completed in a window"""
        return [(end / 1e6, flow.rate(begin / 1e6, end / 1e6))
                for begin, end, *_ in self.windows()]

    def growth(self, value):
        """(ms, by how much it grew in a window)"""
        return [(end / 1e6, value(after) - value(before))
                for _, end, before, after in self.windows()]

    def completions(self, flow):
        """(ms, us) of the slowest one in a window"""
        slowest = {}
        ends = [end for _, end, *_ in self.windows()]
        for when, latency in flow.seen["done"]:
            end = bisect.bisect_left(ends, when)
            slowest[end] = max(slowest.get(end, 0), latency)
        return [(ends[end] / 1e6, latency / 1e3) for end, latency in sorted(slowest.items())
                if end < len(ends)]

    def panels(self):
        """(label of the y axis, [(name, points)])"""
        drawn = self.flows[:DRAWN]
        busiest = [name for name, queue in self.queues.items()
                   if queue.longest and (queue.marks or queue.drops or
                                         queue.longest > 50000)][:DRAWN]
        yield "goodput, Gbit/s", [(flow.name, self.rates(flow)) for flow in drawn]
        yield "queue, KiB", [(name, [(sample["time"] / 1e6, sample["queues"][name][0] / 1024)
                                     for sample in self.samples]) for name in busiest]
        yield "marks, CNPs", [
            ("marks", self.growth(lambda s: sum(queue[3] for queue in s["queues"].values()))),
            ("CNPs", self.growth(lambda s: sum(s["cnps"].values())))]
        yield "slowest completion, us", [(flow.name, self.completions(flow)) for flow in drawn]

    def draw(self, path):
        panels = [(label, [curve for curve in curves if curve[1]]) for label, curves in
                  self.panels()]
        panels = [(label, curves) for label, curves in panels if curves]
        lines = [f"set terminal svg size 900,{220 * len(panels)} font 'sans,11' background 'white'",
                 f"set output '{path}'", "set key outside right",
                 f"set multiplot layout {len(panels)},1 title \"{self.seen['title']}\"",
                 "set lmargin 10", "set rmargin 16", "set yrange [0:*]"]
        for label, curves in panels:
            lines.append(f"set ylabel '{label}'")
            if label == panels[-1][0]:
                lines.append("set xlabel 'ms'")
            lines.append("plot " + ", ".join(
                f"'-' with lines title '{name}' noenhanced" for name, _ in curves))
            for _, points in curves:
                lines += [f"{x:.6f} {y:.6f}" for x, y in points] + ["e"]
        subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True, check=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--svg")
    parser.add_argument("file", nargs="?")
    options = parser.parse_args()
    if options.file:
        with open(options.file, encoding="utf-8") as file:
            report = Report(json.load(file))
    else:
        report = Report(json.load(sys.stdin))
    report.print()
    wrong = 0
    for expression, held in report.expectations():
        print(f"{'ok' if held else 'not ok'} - {expression}")
        wrong += not held
    if options.svg:
        report.draw(options.svg)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
