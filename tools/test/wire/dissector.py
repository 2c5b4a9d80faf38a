#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Does tools/wireshark/roce_sack.lua show what is on the wire? TAP on stdout.

    wire/dissector.py CAPTURE.pcap

The capture has selective acknowledgments, probes of paths and answers to them, of both
families (Documentation/reliability.md). What tshark shows of each of these packets is
compared with its bytes.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "..", "..", "wireshark", "roce_sack.lua")

SACK, PROBE, ANSWER = 0xe1, 0xe2, 0xe3
BTH, SETH, ICRC = 12, 4, 4
PSNS = 1 << 24
INFO = {PROBE: "RC probe of a path ", ANSWER: "RC answer to the probe of a path "}

Packet = namedtuple("Packet", "family source target bytes info code psn probe version lost ranges")


def tshark(options):
    """What it prints. Wireshark 4.6 loads no script for root."""
    nobody = {"user": "nobody", "group": "nogroup", "extra_groups": []} if not os.getuid() else {}
    with tempfile.TemporaryDirectory() as home, open(sys.argv[1], "rb") as capture:
        os.chmod(home, 0o755)
        script = shutil.copy(SCRIPT, home)
        os.chmod(script, 0o644)
        command = ["tshark", "-X", f"lua_script:{script}", "-n", "-r", "-", *options]
        return subprocess.run(command, check=True, stdin=capture, stdout=subprocess.PIPE,
                              text=True, env=os.environ | {"HOME": home}, **nobody).stdout


def shown():
    """All packets, with the fields of the dissector as they are printed

    The field of the info column is older than what a script writes into the column.
    """
    fields = ("ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "udp.payload", "roce_sack.code",
              "roce_sack.psn", "roce_sack.probe", "roce_sack.version", "roce_sack.lost",
              "roce_sack.range")
    options = ["-T", "fields", "-E", "separator=|"]
    for field in fields:
        options += ["-e", field]
    infos = tshark(["-o", 'gui.column.format:"Info","%i"']).splitlines()
    for line, info in zip(tshark(options).splitlines(), infos, strict=True):
        source, source6, target, target6, payload, *rest = line.split("|")
        yield Packet(6 if source6 else 4, source or source6, target or target6,
                     bytes.fromhex(payload.replace(":", "")), info, *rest)


def number(packet):
    """Where others have their PSN"""
    return int.from_bytes(packet.bytes[9:12], "big")


def ranges(packet):
    """As they are to be shown"""
    words = packet.bytes[BTH + SETH:-ICRC]
    for at in range(0, len(words), 4):
        begin, end = (int.from_bytes(words[at + n:at + n + 2], "big") for n in (0, 2))
        yield f"{(number(packet) + begin) % PSNS}..{(number(packet) + end - 1) % PSNS}"


def wrong_of_sack(packet):
    version, lost = packet.bytes[BTH], int.from_bytes(packet.bytes[BTH + 2:BTH + 4], "big")
    wanted = (str(number(packet)), str(version), str((number(packet) + lost) % PSNS),
              ",".join(ranges(packet)), "")
    seen = (packet.psn, packet.version, packet.lost, packet.ranges, packet.probe)
    return seen != wanted


def wrong_of_probe(packet):
    wanted = (str(number(packet)), INFO[packet.bytes[0]] + str(number(packet)), "", "")
    return (packet.probe, packet.info, packet.psn, packet.ranges) != wanted


def unasked(packets):
    """Answers to probes that did not come from the other end before"""
    asked, bad = set(), []
    for packet in packets:
        if packet.bytes[0] == PROBE:
            asked.add((packet.source, packet.target, packet.probe))
        elif not packet.probe or (packet.target, packet.source, packet.probe) not in asked:
            bad.append(packet)
    return bad


def tap(name, bad, packets):
    """An assertion on all packets, of which there are some of each family"""
    missing = {4, 6} - {packet.family for packet in packets}
    failed = bool(bad or missing)
    print(f"{'not ok' if failed else 'ok'} - {name} ({len(packets)} packets)")
    for family in missing:
        print(f"# there was none over IPv{family}")
    for packet in bad[:5]:
        print("#", packet)
    return failed


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    packets = list(shown())
    of = {opcode: [packet for packet in packets if packet.bytes[0] == opcode]
          for opcode in (SACK, PROBE, ANSWER)}
    print("1..4")
    failed = tap("tshark shows what selective acknowledgments say",
                 list(filter(wrong_of_sack, of[SACK])), of[SACK])
    failed |= tap("tshark shows probes of paths, with their numbers",
                  list(filter(wrong_of_probe, of[PROBE])), of[PROBE])
    failed |= tap("and their answers", list(filter(wrong_of_probe, of[ANSWER])), of[ANSWER])
    failed |= tap("each of these has the number of a probe",
                  unasked([packet for packet in packets if packet.bytes[0] != SACK]), of[ANSWER])
    sys.exit(failed)


if __name__ == "__main__":
    main()
