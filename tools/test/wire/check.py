#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What every RoCE packet on a wire must look like. TAP on stdout.

    wire/check.py CAPTURE.pcap [4|6]...

Packets of each family named (of both, if none is) must be there.
IPv4 ICRCs are computed by scapy, IPv6 ones here: neither by the driver.
"""

import collections
import os
import sys

from scapy.compat import raw
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.utils import PcapReader

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "hostile"))
from packets import icrc  # noqa: E402

assertions = failures = 0


def tap(name, bad, total):
    """An assertion on all packets; @bad lists those it does not hold for."""
    global assertions, failures
    assertions += 1
    if not total:
        bad = ["there was no packet to look at"]
    print(f"{'not ok' if bad else 'ok'} - {name} ({total} packets)")
    failures += bool(bad)
    for what in bad[:5]:
        print("#", what)
    if len(bad) > 5:
        print(f"# ... {len(bad)} in all")


def scapy_icrc(packet):
    """scapy's own computation: it fills in what is None."""
    ip = packet[IP].copy()
    bth = ip[UDP].payload
    if not isinstance(bth, BTH):
        return None
    bth.icrc = None
    ip.chksum = packet[IP].chksum
    ip[UDP].chksum = packet[UDP].chksum
    return raw(ip)[-4:]


def may_agree(bth):
    """Only these have the bits of Documentation/reliability.md, and only these values."""
    code = bth[8] & 15
    if bth[0] >> 5 or code == 0:
        return code == 0
    if bth[0] in (0x0d, 0x0f, 0x10, 0x11, 0x12):
        return code == 0xa
    return bth[8] & 0x80 and code in (3, 5)


def main():
    v4, v6, all_packets = [], [], []
    for n, packet in enumerate(PcapReader(sys.argv[1]), 1):
        if UDP not in packet or packet[UDP].dport != 4791:
            continue
        ip = packet[IP] if IP in packet else packet[IPv6]
        length = ip.len if IP in packet else ip.plen + 40
        data = bytes(ip.original)[:length]
        head = (data[0] & 15) * 4 if IP in packet else 40
        entry = (n, packet, data, data[head + 8:])
        all_packets.append(entry)
        (v4 if IP in packet else v6).append(entry)

    families = sys.argv[2:] or ["4", "6"]
    if "4" in families:
        tap("IPv4: scapy computes the same ICRC",
            [f"packet {n}: opcode {bth[0]:#x}" for n, p, data, bth in v4
             if scapy_icrc(p) != data[-4:]], len(v4))
        tap("IPv4: don't fragment is set",
            [f"packet {n}: flags {p[IP].flags}" for n, p, _, _ in v4
             if "DF" not in p[IP].flags or "MF" in p[IP].flags or p[IP].frag],
            len(v4))
    if "6" in families:
        tap("IPv6: the ICRC is right",
            [f"packet {n}: opcode {bth[0]:#x}" for n, p, data, bth in v6
             if icrc(data) != data[-4:]], len(v6))
    tap("TTL and hop limit are 64 or more, or the 1 of a link local address",
        [f"packet {n}" for n, p, _, _ in all_packets
         if (p[IP].ttl if IP in p else p[IPv6].hlim) < 64 and not
         (IPv6 in p and p[IPv6].dst.startswith("fe80"))], len(all_packets))
    tap("the UDP source port is 0xc000 or above",
        [f"packet {n}: {p[UDP].sport}" for n, p, _, _ in all_packets
         if p[UDP].sport < 0xc000], len(all_packets))
    tap("the UDP length is the IP payload's",
        [f"packet {n}: {p[UDP].len}" for n, p, data, bth in all_packets
         if p[UDP].len != len(bth) + 8], len(all_packets))
    tap("packets are whole words long: the pad is right",
        [f"packet {n}: {len(bth)} bytes" for n, _, _, bth in all_packets
         if len(bth) % 4], len(all_packets))
    tap("transport header version is 0 and the P_Key 0xffff",
        [f"packet {n}" for n, _, _, bth in all_packets
         if bth[1] & 15 or bth[2:4] != b"\xff\xff"], len(all_packets))
    tap("MigReq is 1, as RNICs have it",
        [f"packet {n}: opcode {bth[0]:#x}" for n, _, _, bth in all_packets
         if not bth[1] & 0x40 and bth[0] != 0x81], len(all_packets))
    tap("reserved bits are 0, but for the agreement on selective repeat",
        [f"packet {n}" for n, _, _, bth in all_packets
         if bth[4] & 0x3f or bth[8] & 0x70 or not may_agree(bth)], len(all_packets))
    ports = collections.defaultdict(set)
    for _, p, _, bth in all_packets:
        if bth[0] >> 5 == 0:
            ports[bth[5:8]].add(p[UDP].sport)
    tap("all packets to an RC QP have one source port",
        [f"QPN {qpn.hex()}: {sorted(s)}" for qpn, s in ports.items()
         if len(s) > 1], len(all_packets))
    seen = collections.Counter(bth[0] for _, _, _, bth in all_packets)
    print("# opcodes:", " ".join(f"{o:#04x}:{n}" for o, n in sorted(seen.items())))
    print(f"1..{assertions}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
