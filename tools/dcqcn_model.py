#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A model of DCQCN's reaction point, and the vectors that KUnit compares with.

    tools/dcqcn_model.py >kunit/dcqcn_vectors.h

Written from the equations, in floating point, with a clock that stops at every
end of a period; the driver computes in integers, and only when somebody looks.
Rates are in bit/s, times in nanoseconds. R_T, R_C and alpha are those of the paper
(Zhu et al., SIGCOMM 2015); Documentation/congestion-control.md says what the
parameters mean.
"""
import random

INFINITY = float("inf")
US = 1e3
MBIT = 1e6
SILENCE = 1e9

DEFAULTS = {
    "clamp_tgt_rate": 1,
    "clamp_tgt_rate_after_time_inc": 1,
    "rpg_time_reset": 300,
    "rpg_byte_reset": 32767,
    "rpg_threshold": 1,
    "rpg_max_rate": 0,
    "rpg_ai_rate": 5,
    "rpg_hai_rate": 50,
    "rpg_gd": 11,
    "rpg_min_dec_fac": 50,
    "rpg_min_rate": 1,
    "rate_to_set_on_first_cnp": 0,
    "dce_tcp_g": 1008,
    "dce_tcp_rtt": 50,
    "initial_alpha_value": 1023,
    "rate_reduce_monitor_period": 50,
    "min_packets_per_period": 10,
}


class ReactionPoint:
    """One flow. limited is False while it may send as fast as it can."""

    def __init__(self, line_rate, packet_bytes, **parameters):
        self.p = dict(DEFAULTS, **parameters)
        self.line_rate = line_rate
        self.packet_bytes = packet_bytes
        self.total = 0
        self.sent_at = 0.0
        self.limited = False
        self.now = 0.0
        self.alpha = 0.0

    # A period ends after its time, and after some packets, and after the time in which
    # 32 flows could have sent as many over the line. They are counted in bytes, and a
    # period is [when it began, what had been sent then].

    def new_period(self):
        return [self.now, self.total]

    def end(self, period, name):
        start, sent = period
        least = self.p["min_packets_per_period"] * self.packet_bytes
        if self.total - sent < least:
            return INFINITY
        of_32_flows = 32 * least * 8 * 1e9 // self.top()  # whole nanoseconds
        return max(start + max(self.p[name] * US, of_32_flows), self.sent_at)

    def alpha_end(self):
        return self.end(self.alpha_period, "dce_tcp_rtt")

    def increase_end(self):
        return self.end(self.increase_period, "rpg_time_reset")

    def cut_end(self):
        if not self.cut_due:
            return INFINITY
        return self.end(self.cut_period, "rate_reduce_monitor_period")

    def top(self):
        if self.p["rpg_max_rate"]:
            return min(self.p["rpg_max_rate"] * MBIT, self.line_rate)
        return self.line_rate

    # The equations

    def raise_alpha(self):
        g = 1 - self.p["dce_tcp_g"] / 1024
        self.alpha = (1 - g) * self.alpha + g

    def lower_alpha(self):
        g = 1 - self.p["dce_tcp_g"] / 1024
        self.alpha = (1 - g) * self.alpha

    def cut(self):
        # gd is the logarithm of what alpha * 1024 is divided by.
        share = self.alpha * 1024 / 2 ** self.p["rpg_gd"]
        share = min(share, 1 - self.p["rpg_min_dec_fac"] / 100)
        clamp = self.p["clamp_tgt_rate"] or self.bc > 0
        if self.p["clamp_tgt_rate_after_time_inc"] and self.t > 0:
            clamp = True
        if clamp:
            self.r_t = self.r_c
        self.r_c = max(self.r_c * (1 - share), self.least())
        self.cut_period = self.new_period()
        self.cut_due = False
        self.restart()

    def restart(self):
        self.t = self.bc = 0
        self.bytes = 0
        self.increase_period = self.new_period()

    def increase(self):
        threshold = self.p["rpg_threshold"]
        if min(self.t, self.bc) > threshold:
            self.r_t += self.p["rpg_hai_rate"] * MBIT
        elif max(self.t, self.bc) >= threshold:
            self.r_t += self.p["rpg_ai_rate"] * MBIT
        self.r_t = min(self.r_t, self.top())
        self.r_c = (self.r_c + self.r_t) / 2
        if self.r_c + self.top() / 1024 >= self.top():
            self.limited = False

    # Events

    def at(self, time):
        """Everything that happens by itself until then"""
        while self.limited:
            time_of_next = min(self.alpha_end(), self.cut_end(), self.increase_end())
            if time_of_next > time:
                break
            self.now = time_of_next
            if time_of_next == self.alpha_end():
                if self.notified:
                    self.raise_alpha()
                else:
                    self.lower_alpha()
                self.notified = False
                self.alpha_period = self.new_period()
            elif time_of_next == self.cut_end():
                self.cut()
            else:
                self.increase()
                self.t += 1
                self.increase_period = self.new_period()
        self.now = time

    def look(self, time):
        self.at(time)
        if self.limited and time - self.sent_at >= SILENCE:
            self.limited = False

    def least(self):
        return min(self.p["rpg_min_rate"] * MBIT, self.top())

    def begin(self):
        first = self.p["rate_to_set_on_first_cnp"] * MBIT
        self.limited = True
        rate = min(first, self.top()) if first else self.top()
        self.r_c = self.r_t = max(rate, self.least())
        self.alpha = self.p["initial_alpha_value"] / 1024
        self.notified = self.cut_due = False
        self.sent_at = self.now
        self.alpha_period = self.new_period()
        self.cut_period = self.new_period()
        self.restart()

    def cnp(self, time):
        self.look(time)
        if not self.limited:
            self.begin()
            if not self.p["rate_to_set_on_first_cnp"]:
                self.cut()
            return
        self.notified = self.cut_due = True
        self.at(time)

    def sent(self, time, count):
        self.look(time)
        if not self.limited:
            return
        self.total += count
        self.sent_at = time
        self.at(time)
        limit = self.p["rpg_byte_reset"] * 64
        if not self.limited or not limit:
            return
        self.bytes += count
        while self.limited and self.bytes >= limit:
            self.bytes -= limit
            self.increase()
            self.bc += 1

    def lost(self, time, timeout):
        self.look(time)
        if not self.limited:
            self.begin()
        self.alpha = max(self.alpha, self.p["initial_alpha_value"] / 1024)
        self.alpha_period = self.new_period()
        self.cut()
        if timeout:
            self.r_t = self.r_c


# Scenarios: a name, the flow, and events (microseconds, kind, bytes)


def cnps(*times):
    return [(time, "CNP", 0) for time in times]


def looks(*times):
    return [(time, "LOOK", 0) for time in times]


def steady(start, end, step, kind="CNP"):
    return [(time, kind, 0) for time in range(start, end, step)]


def sending(start, end, step, count):
    return [(time, "SENT", count) for time in range(start, end, step)]


def poisson(seed, end, mean):
    source, time, events = random.Random(seed), 0, []
    while time < end:
        time += 1 + int(source.expovariate(1 / mean))
        events.append((time, "CNP", 0))
    return events


PAPER = dict(clamp_tgt_rate=1, rpg_time_reset=55, rpg_threshold=4, rpg_ai_rate=40,
             rpg_hai_rate=200, dce_tcp_g=1020, dce_tcp_rtt=55,
             rate_reduce_monitor_period=50, min_packets_per_period=1)
CONNECTX = dict(clamp_tgt_rate=0, dce_tcp_g=1019, dce_tcp_rtt=1,
                rate_reduce_monitor_period=4, min_packets_per_period=1)
G = 1e9

# Bytes that a train has at full speed
TRAIN = 60000

SCENARIOS = [
    ("one CNP halves the rate, and then it recovers", 10 * G, 1090, {},
     cnps(10) + sending(60, 9000, 90, TRAIN)),
    ("CNPs that come too fast count once a period", 100 * G, 4154, {},
     steady(5, 400, 7) + sending(12, 900, 9, TRAIN)),
    ("the paper's coupling", 40 * G, 1090, PAPER,
     steady(10, 2000, 60) + sending(15, 4000, 24, 8 * 1090)),
    ("ConnectX's timers", 25 * G, 1090, CONNECTX,
     steady(10, 200, 3) + sending(11, 400, 1, 1090)),
    ("CNPs at random", 100 * G, 4154, {},
     poisson(1, 5000, 300) + sending(1, 5000, 17, TRAIN)),
    ("CNPs at random, the paper", 40 * G, 1090, PAPER,
     poisson(2, 4000, 200) + sending(1, 4000, 21, 20 * 1090)),
    ("bytes bring about increases", 100 * G, 4154, dict(rpg_byte_reset=1000),
     cnps(10) + sending(20, 290, 4, 12000)),
    ("hyper increase needs time and bytes", 100 * G, 4154, dict(rpg_byte_reset=4000),
     cnps(10, 100, 200) + sending(20, 6000, 30, TRAIN)),
    ("no byte counter", 100 * G, 4154, dict(rpg_byte_reset=0),
     cnps(10) + sending(20, 2000, 30, TRAIN)),
    ("the threshold holds the target", 100 * G, 4154, dict(rpg_threshold=5),
     cnps(10, 100, 200) + sending(20, 6000, 50, TRAIN)),
    ("the target stays where two cuts follow each other", 100 * G, 4154,
     dict(clamp_tgt_rate=0), cnps(10, 100, 200) + sending(20, 2000, 25, TRAIN)),
    ("a cut behind an increase by time", 100 * G, 4154,
     dict(clamp_tgt_rate=0, clamp_tgt_rate_after_time_inc=0),
     cnps(10, 400, 800) + sending(20, 2500, 25, TRAIN)),
    ("alpha is divided by gd", 100 * G, 4154, dict(rpg_gd=10, rpg_min_dec_fac=0,
     initial_alpha_value=300), cnps(10, 500, 1000) + sending(20, 1100, 25, TRAIN)),
    ("no cut takes more than min_dec_fac leaves", 100 * G, 4154, dict(rpg_min_dec_fac=80),
     cnps(10, 100, 200) + sending(20, 400, 25, TRAIN)),
    ("no cut goes below the least rate", 10 * G, 1090, dict(rpg_min_rate=3000),
     steady(10, 800, 90) + sending(20, 900, 25, TRAIN)),
    ("the first CNP sets a rate", 100 * G, 4154, dict(rate_to_set_on_first_cnp=7000),
     cnps(10, 306) + sending(20, 700, 25, TRAIN)),
    ("the first CNP sets no rate below the least one", 100 * G, 4154,
     dict(rate_to_set_on_first_cnp=10, rpg_min_rate=100),
     cnps(10, 306) + sending(20, 700, 25, TRAIN)),
    ("the limit ends at the greatest rate", 100 * G, 4154, dict(rpg_max_rate=9000),
     cnps(10) + sending(20, 6000, 60, TRAIN)),
    ("a slow flow has longer periods", 10 * G, 4154, {},
     steady(10, 1500, 60) + sending(20, 60000, 300, 4154)),
    ("a flow that sends nothing neither forgets nor grows", 10 * G, 4154, {},
     cnps(10) + sending(20, 200, 10, TRAIN) + looks(10000, 100000, 900000)),
    ("a flow that was silent for a second begins anew", 10 * G, 4154, {},
     cnps(10) + sending(20, 200, 10, TRAIN) + looks(1000000, 1000190, 1000200)),
    ("800 Gbit/s", 800 * G, 4154, dict(rpg_ai_rate=800, rpg_hai_rate=8000),
     cnps(10, 100, 200) + sending(20, 9000, 40, 65000)),
    ("100 Mbit/s", 0.1 * G, 1090, dict(rpg_ai_rate=1, rpg_hai_rate=10),
     cnps(10, 3000, 90000) + sending(20, 300000, 1000, 1090)),
    ("a slow line stretches all periods", 1 * G, 4154, dict(rpg_ai_rate=1, rpg_hai_rate=10),
     cnps(10, 8000, 30000) + sending(20, 120000, 400, 3 * 4154)),
    ("the greatest rate stands for the line", 100 * G, 4154,
     dict(rpg_max_rate=500, rpg_ai_rate=1, rpg_hai_rate=10),
     cnps(10, 8000, 30000, 90000) + sending(20, 200000, 900, 3 * 4154)),
    ("a loss is the worst of CNPs", 100 * G, 4154, {},
     [(10, "NAK", 0), (900, "NAK", 0)] + sending(20, 1800, 25, TRAIN)),
    ("nothing is recovered after a timeout", 100 * G, 4154, {},
     [(10, "NAK", 0), (900, "TIMEOUT", 0)] + sending(20, 1800, 25, TRAIN)),
]


def run(line_rate, packet_bytes, parameters, events):
    point = ReactionPoint(line_rate, packet_bytes, **parameters)
    for time, kind, count in sorted(events, key=lambda event: event[0]):
        nanoseconds = time * US
        if kind == "CNP":
            point.cnp(nanoseconds)
        elif kind == "SENT":
            point.sent(nanoseconds, count)
        elif kind == "LOOK":
            point.look(nanoseconds)
        else:
            point.lost(nanoseconds, kind == "TIMEOUT")
        rate = round(point.r_c) if point.limited else 0
        yield time, kind, count, rate, round(point.alpha * 2 ** 20)


def main():
    print("/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */")
    print("/* Made by tools/dcqcn_model.py; not to be edited. */")
    print("static const struct step dcqcn_steps[] = {")
    table, first = [], 0
    for name, line_rate, packet_bytes, parameters, events in SCENARIOS:
        count = 0
        for time, kind, size, rate, alpha in run(line_rate, packet_bytes, parameters, events):
            print(f"\t{{ {time}, {kind}, {size}, {rate}ull, {alpha} }},")
            count += 1
        table.append((name, line_rate, packet_bytes, parameters, first, count))
        first += count
    print("};\n\nstatic const struct scenario dcqcn_scenarios[] = {")
    for name, line_rate, packet_bytes, parameters, first, count in table:
        print(f'\t{{\n\t\t"{name}",\n\t\t{int(line_rate)}ull, {packet_bytes},')
        print(f"\t\t{first}, {count}, {{")
        for key, value in dict(DEFAULTS, **parameters).items():
            print(f"\t\t\t[DCQCN_{key.upper()}] = {value},")
        print("\t\t}\n\t},")
    print("};")


main()
