# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Scenes: a network, and what happens in it, in a few lines.

    # comment
    title TEXT                      what it shows
    param NAME DEFAULT              $NAME stands for it; play NAME=VALUE sets it
    host NAME
    switch NAME                     a bridge
    router NAME                     forwards IP by the shortest way; of several, it chooses one
                                    for each flow, by a hash of addresses and ports. No host
                                    may be behind both a switch and a router.
    link A B rate=10g delay=5us     of each direction; at each end of it, if it is a
         buffer=1m                  switch's or router's, a queue of so many bytes,
         mark=5k,200k,1%            and RED with ECN: minimum, maximum, probability there
         jitter=1us                 of what goes from A to B: longer or shorter by up to that,
                                    whole microseconds
         loss=1% | loss=1/100       of what goes from A to B: at random, or each 100th
         lose=16,40                 of the packets for RoCE at B, which is a host
         reorder=1%                 of what goes from A to B comes without the delay
         late=10%                   of it comes late, by up to a round trip
         mtu=4200                   of the netdevs
    set PATH VALUE                  of each device, in /sys/class/infiniband/DEVICE
    flow NAME A B send|write|read|atomic KEY=VALUE...    see load.c; sizes and times
                                    have units: size=64k end=20ms
    tcp NAME A B bytes=100m start=0s control=cubic       one connection (tcp.py)
    at TIME HOST COMMAND            as root on that host
    run TIME samples=500            how long, and how often it looks meanwhile
    expect EXPRESSION               of Python; report.py says what it knows

A line that begins with blanks continues the one above it. A line with h[1-3] in it stands
for three lines, with h1, h2 and h3.
"""
import re
from dataclasses import dataclass, field

SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
RATES = {"k": 10 ** 3, "m": 10 ** 6, "g": 10 ** 9}
TIMES = {"ns": 1, "us": 10 ** 3, "ms": 10 ** 6, "s": 10 ** 9}
OPERATIONS = ("send", "write", "read", "atomic")


class Wrong(Exception):
    """The scene says something that cannot be."""


def with_unit(text, units):
    match = re.fullmatch(r"([0-9.]+)([a-z]*)", text)
    if not match or match[2] not in units:
        raise Wrong(f"{text}: a number and one of {', '.join(filter(None, units))}")
    return round(float(match[1]) * units[match[2]])


def to_bytes(text):
    """Bytes"""
    return with_unit(text, SIZES)


def to_bits(text):
    """Bits per second"""
    return with_unit(text, RATES)


def to_ns(text):
    """Nanoseconds"""
    return with_unit(text, TIMES)


def to_share(text):
    if not text.endswith("%"):
        raise Wrong(f"{text}: a number and %")
    return float(text[:-1]) / 100


@dataclass
class Mark:
    least: int
    most: int
    probability: float

    @classmethod
    def parse(cls, text):
        least, most, probability = text.split(",")
        return cls(to_bytes(least), to_bytes(most), to_share(probability))


@dataclass
class Link:
    a: str
    b: str
    rate: int = 10 ** 10
    delay: int = 0
    jitter: int = 0
    buffer: int = 1 << 20
    mark: Mark = None
    loss: str = ""
    lose: str = ""
    reorder: float = 0
    late: float = 0
    mtu: int = 4200

    KEYS = {"rate": to_bits, "delay": to_ns, "jitter": to_ns, "buffer": to_bytes,
            "mark": Mark.parse, "loss": str, "lose": str, "reorder": to_share, "late": to_share,
            "mtu": to_bytes}


@dataclass
class Flow:
    """What load.c is told, but for the devices"""
    name: str
    a: str
    b: str
    operation: str
    keys: dict

    KEYS = {"size": to_bytes, "start": to_ns, "end": to_ns, "receives": to_ns,
            "mtu": to_bytes} | {
        key: int for key in ("qps", "outstanding", "messages", "timeout", "retry",
                             "rnr_retry", "rnr_timer")} | {"rate": float}


@dataclass
class Tcp:
    name: str
    a: str
    b: str
    bytes: int
    start: int = 0
    control: str = "cubic"

    KEYS = {"bytes": to_bytes, "start": to_ns, "control": str}


@dataclass
class Event:
    time: int
    host: str
    command: str


@dataclass
class Scene:
    title: str = ""
    params: dict = field(default_factory=dict)
    hosts: list = field(default_factory=list)
    switches: list = field(default_factory=list)
    routers: list = field(default_factory=list)
    links: list = field(default_factory=list)
    settings: list = field(default_factory=list)
    flows: list = field(default_factory=list)
    tcps: list = field(default_factory=list)
    events: list = field(default_factory=list)
    length: int = 10 ** 7
    samples: int = 500
    expectations: list = field(default_factory=list)


def keys_of(words, kinds):
    keys = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in kinds:
            raise Wrong(f"{word}: no KEY=VALUE with one of {', '.join(kinds)}")
        keys[key] = kinds[key](value)
    return keys


def expand(line):
    """The lines that a line with ranges stands for"""
    ranges = re.findall(r"\[(\d+)-(\d+)\]", line)
    if not ranges:
        return [line]
    if len({int(end) - int(begin) for begin, end in ranges}) > 1:
        raise Wrong(f"{line}: ranges of different lengths")
    lines = []
    for step in range(int(ranges[0][1]) - int(ranges[0][0]) + 1):
        lines.append(re.sub(r"\[(\d+)-\d+\]", lambda match: str(int(match[1]) + step), line))
    return lines


class Reader:
    """Makes a Scene of lines; a method for each word that begins one"""

    def __init__(self, given):
        self.scene, self.given = Scene(), dict(given)

    def title(self, rest):
        self.scene.title = rest

    def param(self, rest):
        name, default = rest.split()
        self.scene.params[name] = self.given.pop(name, default)

    @staticmethod
    def add_new(names, rest):
        names += [name for name in rest.split() if name not in names]

    def host(self, rest):
        self.add_new(self.scene.hosts, rest)

    def switch(self, rest):
        self.add_new(self.scene.switches, rest)

    def router(self, rest):
        self.add_new(self.scene.routers, rest)

    def known(self, name, kind="host"):
        scene = self.scene
        names = scene.hosts + (scene.switches + scene.routers if kind == "node" else [])
        if name not in names:
            raise Wrong(f"no {kind} {name}")
        return name

    def check_losses(self, words, b):
        if any(word.startswith("lose=") for word in words):
            self.known(b)

    def link(self, rest):
        a, b, *words = rest.split()
        self.check_losses(words, b)
        self.scene.links.append(Link(self.known(a, "node"), self.known(b, "node"),
                                     **keys_of(words, Link.KEYS)))

    def set(self, rest):
        self.scene.settings.append(tuple(rest.split(maxsplit=1)))

    def flow(self, rest):
        name, a, b, operation, *words = rest.split()
        if operation not in OPERATIONS:
            raise Wrong(f"{operation}: none of {', '.join(OPERATIONS)}")
        self.scene.flows.append(Flow(name, self.known(a), self.known(b), operation,
                                     keys_of(words, Flow.KEYS)))

    def tcp(self, rest):
        name, a, b, *words = rest.split()
        self.scene.tcps.append(Tcp(name, self.known(a), self.known(b),
                                   **keys_of(words, Tcp.KEYS)))

    def at(self, rest):
        when, host, command = rest.split(maxsplit=2)
        self.scene.events.append(Event(to_ns(when), self.known(host, "node"), command))

    def run(self, rest):
        length, *words = rest.split()
        self.scene.length = to_ns(length)
        self.scene.samples = keys_of(words, {"samples": int}).get("samples", 500)

    def expect(self, rest):
        self.scene.expectations.append(rest)

    WORDS = {"title", "param", "host", "switch", "router", "link", "set", "flow", "tcp", "at", "run",
             "expect"}

    def replace_params(self, line):
        for name in sorted(self.scene.params, key=len, reverse=True):
            line = line.replace(f"${name}", self.scene.params[name])
        return line

    def take(self, line):
        for one in expand(self.replace_params(line)):
            word, *rest = one.split(maxsplit=1)
            if word not in self.WORDS:
                raise Wrong(f"{word}: none of {', '.join(sorted(self.WORDS))}")
            try:
                getattr(self, word)(*rest)
            except (ValueError, TypeError) as why:
                raise Wrong(f"{one}: {why}") from None


def joined(lines):
    """Without comments, and with continued lines in one"""
    whole = []
    for line in lines:
        line = line.split("#", 1)[0].rstrip()
        if line[:1].isspace() and whole and line.strip():
            whole[-1] += " " + line.strip()
        elif line.strip():
            whole.append(line)
    return whole


def read(path, given=()):
    reader = Reader(given)
    with open(path, encoding="utf-8") as file:
        for line in joined(file):
            reader.take(line)
    if reader.given:
        raise Wrong(f"no param {', '.join(reader.given)}")
    return reader.scene
