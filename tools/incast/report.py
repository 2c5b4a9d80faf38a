#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What an incast was like: a table, goals beside what was reached, a picture.

report.py MEASUREMENT --svg FILE [--json FILE]; exit status 1 if a goal is missed.
"""
import argparse
import json
import subprocess
import sys

# Seconds behind a join or a leave until rates count as settled
SETTLE = 3.0
# How long behind a join a loss is nobody's fault, and what sampling adds to that
JOIN_LOSS = 0.2
SAMPLE = 0.15

SENT, RETRANSMITTED, TIMEOUTS, CNPS = range(4)	# measure.py: COUNTERS


def jain(rates):
    squares = len(rates) * sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / squares if squares else 0.0


def percentile(values, share):
    return sorted(values)[int(share * (len(values) - 1))] if values else 0


class Run:
    """One run, and what can be derived from its samples"""

    def __init__(self, data, measured):
        self.data, self.label = data, data["label"]
        self.samples, self.backlog = data["samples"], data["backlog"]
        self.flows = range(measured["senders"])
        self.packet, self.payload = measured["packet"], measured["payload"]
        self.rate = measured["mbit"] * 1e6
        self.is_roce = data["kind"] == "roce"
        self.joins = [self.moment(flow, 1) for flow in self.flows]
        self.leaves = [self.moment(flow, -1) for flow in self.flows]

    def counter(self, sample, flow, which):
        return sample["flows"][flow][which]

    def moment(self, flow, direction):
        """When a flow sent first, or last"""
        samples = self.samples[::direction]
        at_end = self.counter(samples[0], flow, SENT)
        for sample in samples:
            if self.counter(sample, flow, SENT) != at_end:
                return sample["time"]
        return None

    def window(self, begin, end):
        inside = [s for s in self.samples if begin <= s["time"] <= end]
        return (inside[0], inside[-1]) if len(inside) > 1 else None

    def delivered(self, before, after, flow):
        """Payload sent for the first time, bits per second"""
        packets = self.counter(after, flow, SENT) - self.counter(before, flow, SENT)
        if self.is_roce:
            packets -= (self.counter(after, flow, RETRANSMITTED) -
                        self.counter(before, flow, RETRANSMITTED))
        return packets * self.payload * 8 / (after["time"] - before["time"])

    def phases(self):
        """Begin, end and flows of what lies between joins and leaves, settled"""
        if None in self.joins:
            return []
        changes = sorted(self.joins + self.leaves)
        for begin, end in zip(changes, changes[1:]):
            active = [f for f in self.flows
                      if self.joins[f] <= begin and self.leaves[f] >= end]
            window = self.window(begin + SETTLE, end - 0.2)
            if end - begin > 2 * SETTLE and len(active) > 1 and window:
                yield (*window, active)

    def total(self, which):
        last = self.samples[-1]
        return sum(self.counter(last, f, which) -
                   self.counter(self.samples[0], f, which) for f in self.flows)

    def near_join(self, time):
        return any(join is not None and -SAMPLE <= time - join <= JOIN_LOSS + SAMPLE
                   for join in self.joins)

    def growth_outside_joins(self, value):
        return sum(value(after) - value(before)
                   for before, after in zip(self.samples, self.samples[1:])
                   if not self.near_join(after["time"]))

    def retransmitted(self, sample):
        return sum(self.counter(sample, f, RETRANSMITTED) for f in self.flows)

    def goodput(self):
        """As the programs saw it: bits, over the time that somebody sent"""
        bits = 8 * sum(self.data["bytes"])
        ends = [end for end in self.leaves if end is not None]
        begins = [begin for begin in self.joins if begin is not None]
        return bits / (max(ends) - min(begins)) if ends else 0.0

    def summary(self):
        phases = [{
            "flows": len(active), "begin": before["time"], "end": after["time"],
            "utilization": (after["sent"] - before["sent"]) * 8 /
                           (after["time"] - before["time"]) / self.rate,
            "jain": jain([self.delivered(before, after, f) for f in active]),
        } for before, after, active in self.phases()]
        waiting = [bytes_ for _, bytes_ in self.backlog]
        first, last = self.samples[0], self.samples[-1]
        result = {
            "goodput": self.goodput(), "failed": self.data["bytes"].count(0),
            "phases": phases,
            "utilization": min((p["utilization"] for p in phases), default=0),
            "jain": min((p["jain"] for p in phases), default=0),
            "packets": self.total(SENT),
            "drops": last["drops"] - first["drops"],
            "marked": last["marked"] - first["marked"],
            "queue_mean": sum(waiting) / max(1, len(waiting)),
            "queue_p99": percentile(waiting, 0.99),
            "drops_outside_joins": self.growth_outside_joins(lambda s: s["drops"]),
        }
        if self.is_roce:
            result |= {
                "retransmitted": self.total(RETRANSMITTED),
                "timeouts": self.total(TIMEOUTS), "cnps": self.total(CNPS),
                "retransmitted_outside_joins":
                    self.growth_outside_joins(self.retransmitted),
            }
        else:
            # rxe counts times that it went back: what was sent beyond need is known.
            needed = self.goodput() / 8 / self.payload * (
                max(filter(None, self.leaves), default=0) -
                min(filter(None, self.joins), default=0))
            result["retransmitted"] = max(0, round(result["packets"] - needed))
        return result


def goals(summaries):
    ours = summaries.get("dcqcn")
    if not ours:
        return
    yield "every flow ends well", ours["failed"] == 0, ours["failed"]
    yield "utilization >= 0.90, settled", ours["utilization"] >= 0.9, round(ours["utilization"], 3)
    yield "Jain's index >= 0.95, settled", ours["jain"] >= 0.95, round(ours["jain"], 3)
    yield ("no drop but within 200 ms of a join", ours["drops_outside_joins"] == 0,
           ours["drops_outside_joins"])
    yield ("no retransmission but within 200 ms of a join",
           ours["retransmitted_outside_joins"] == 0, ours["retransmitted_outside_joins"])
    for other in ("none", "rxe"):
        if other in summaries:
            theirs = summaries[other]
            yield (f"more goodput than {other}", ours["goodput"] > theirs["goodput"],
                   f"{ours['goodput'] / 1e6:.1f} and {theirs['goodput'] / 1e6:.1f} Mbit/s")
            yield (f"a tenth of the retransmissions of {other}, or less",
                   ours["retransmitted"] * 10 <= theirs["retransmitted"],
                   f"{ours['retransmitted']} and {theirs['retransmitted']}")


ROWS = (
    ("goodput, Mbit/s", lambda s: f"{s['goodput'] / 1e6:.1f}"),
    ("utilization, settled", lambda s: f"{s['utilization']:.3f}"),
    ("Jain's index, settled", lambda s: f"{s['jain']:.3f}"),
    ("packets sent", lambda s: s["packets"]),
    ("dropped by the port", lambda s: s["drops"]),
    ("retransmitted", lambda s: s["retransmitted"]),
    ("timeouts", lambda s: s.get("timeouts", "-")),
    ("marked by the port", lambda s: s["marked"]),
    ("CNPs handled", lambda s: s.get("cnps", "-")),
    ("queue, mean, bytes", lambda s: round(s["queue_mean"])),
    ("queue, p99, bytes", lambda s: s["queue_p99"]),
    ("flows that failed", lambda s: s["failed"]),
)


def table(summaries):
    print(f"{'':24}" + "".join(f"{label:>12}" for label in summaries))
    for name, show in ROWS:
        print(f"{name:24}" + "".join(f"{show(s):>12}" for s in summaries.values()))


def rates(run, flow, width=0.5):
    """Mbit/s on the wire, over windows"""
    before = run.samples[0]
    for sample in run.samples[1:]:
        if sample["time"] - before["time"] < width:
            continue
        packets = run.counter(sample, flow, SENT) - run.counter(before, flow, SENT)
        yield sample["time"], packets * run.packet * 8e-6 / (sample["time"] - before["time"])
        before = sample


def block(name, points):
    return f"${name} << END\n" + "".join(f"{x:.3f} {y}\n" for x, y in points) + "END\n"


def picture(runs, path):
    script, plots = [], []
    for column, run in enumerate(runs):
        for flow in run.flows:
            script.append(block(f"rate_{column}_{flow}", rates(run, flow)))
        script.append(block(f"queue_{column}", [(t, b / 1000) for t, b in run.backlog]))
        cnps = [(s["time"], sum(run.counter(s, f, CNPS) - run.counter(run.samples[0], f, CNPS)
                                for f in run.flows) if run.is_roce else 0)
                for s in run.samples]
        script.append(block(f"cnps_{column}", cnps))
    end = max(run.samples[-1]["time"] for run in runs)
    most = max(y for run in runs for f in run.flows for _, y in rates(run, f))
    rows = (("Mbit/s on the wire, each flow", f"[0:{most * 1.1:.1f}]",
             lambda c, run: ", ".join(f"$rate_{c}_{f} with lines lw 2 title 'flow {f + 1}'"
                                      for f in run.flows)),
            ("queue, kB", "[0:*]", lambda c, run: f"$queue_{c} with lines lc 'gray40' notitle"),
            ("CNPs so far", "[0:*]", lambda c, run: f"$cnps_{c} with lines lc 'red' lw 2 notitle"))
    for title, span, draw in rows:
        for column, run in enumerate(runs):
            plots.append(f"set title '{run.label}: {title}'\nset yrange {span}\n"
                         f"plot {draw(column, run)}\n")
    script.append(f"set terminal svg size {480 * len(runs)},900 background 'white'\n"
                  f"set output '{path}'\nset xrange [0:{end:.1f}]\nset grid\n"
                  "set xlabel 's'\nset key top right\n"
                  f"set multiplot layout 3,{len(runs)}\n")
    subprocess.run(["gnuplot"], input="".join(script + plots) + "unset multiplot\n",
                   text=True, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("measurement")
    parser.add_argument("--svg")
    parser.add_argument("--json")
    options = parser.parse_args()
    with open(options.measurement, encoding="ascii") as file:
        measured = json.load(file)
    runs = [Run(data, measured) for data in measured["runs"]]
    summaries = {run.label: run.summary() for run in runs}

    print(f"{measured['senders']} senders, one port of {measured['mbit']} Mbit/s\n")
    table(summaries)
    print()
    missed = 0
    for name, reached, seen in goals(summaries):
        missed += not reached
        print(f"{'reached' if reached else 'MISSED ':8} {name}: {seen}")
    if options.svg:
        picture(runs, options.svg)
        print(f"\nRates, queue and CNPs over time: {options.svg}")
    if options.json:
        with open(options.json, "w", encoding="ascii") as file:
            json.dump({"senders": measured["senders"], "mbit": measured["mbit"],
                       "runs": summaries, "goals_missed": missed}, file, indent=1)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
