#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Crafted packets against a RoCE device, most of them with a right ICRC.

    hostile/packets.py NETDEV OWN_IP OWN_MAC TARGET_IP TARGET_MAC [--qpn N]...
                       [--rounds N] [--seed N] [--only GROUP]

Every packet leaves through a raw socket. The QPNs are live connections of somebody else:
their owner says whether they lost anything; this program only sends, and
prints what it sent, one "group count" a line.
"""

import argparse
import binascii
import random
import socket
import struct
import sys

PORT = 4791
ALL_OPCODES = range(256)


def icrc(ip):
    """The invariant CRC of a raw IP packet whose last 4 bytes are for it."""
    p = bytearray(ip)
    if p[0] >> 4 == 4:
        head = (p[0] & 15) * 4
        p[1] = p[8] = p[10] = p[11] = 0xff
    else:
        head = 40
        p[0] |= 0x0f
        p[1] = p[2] = p[3] = p[7] = 0xff
    p[head + 6] = p[head + 7] = 0xff
    if len(p) > head + 12:
        p[head + 12] = 0xff
    return struct.pack("<I", binascii.crc32(b"\xff" * 8 + bytes(p[:-4])))


def checksum(data):
    """The Internet checksum."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data[:len(data) & ~1]))
    if len(data) & 1:
        total += data[-1] << 8
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Sender:
    """A raw socket on one netdev, towards one target.

    The bytes are put together by hand: scapy takes 30 ms a packet where the
    CPU is emulated. That the ICRC is right is asserted against scapy's.
    """

    def __init__(self, args):
        self.args = args
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.socket.bind((args.netdev, 0))
        self.sent = 0
        self.v6 = ":" in args.target_ip
        self.ethernet = bytes.fromhex(
            (args.target_mac + args.own_mac).replace(":", "")) + \
            (b"\x86\xdd" if self.v6 else b"\x08\x00")

    def frame(self, ip_packet):
        """Sends an IP packet as it is."""
        self.socket.send((self.ethernet + bytes(ip_packet))[:1514])
        self.sent += 1

    def addresses(self, back=False):
        """Source and destination; of the target's own packets if back."""
        family = socket.AF_INET6 if self.v6 else socket.AF_INET
        pair = [socket.inet_pton(family, self.args.own_ip),
                socket.inet_pton(family, self.args.target_ip)]
        return b"".join(reversed(pair) if back else pair)

    def ip_header(self, length, protocol=17, back=False):
        """Of an IP packet with so many bytes behind the header."""
        if self.v6:
            return struct.pack("!IHBB", 6 << 28, length, protocol, 64) + \
                self.addresses(back)
        head = bytearray(struct.pack(
            "!BBHHHBBH", 0x45, 0, 20 + length, random.getrandbits(16), 0x4000,
            64, protocol, 0) + self.addresses(back))
        head[10:12] = struct.pack("!H", checksum(head))
        return bytes(head)

    def fragment_header(self, whole, length, offset, more):
        """Of so many bytes from that offset of a packet's payload on."""
        if self.v6:
            return self.ip_header(8 + length, 44) + \
                struct.pack("!BBHI", 17, 0, offset | more, 7)
        head = whole[:20]
        head[2:4] = struct.pack("!H", 20 + length)
        head[6:8] = struct.pack("!H", more << 13 | offset // 8)
        head[10:12] = bytes(2)
        head[10:12] = struct.pack("!H", checksum(head))
        return head

    def build(self, data, right_icrc=True, udp_length=None):
        """An IP packet with this UDP payload; its last 4 bytes: the ICRC."""
        length = 8 + len(data)
        head = self.ip_header(length)
        udp = bytearray(struct.pack("!HHHH", random.randint(0xc000, 0xffff),
                                    PORT, udp_length or length, 0))
        packet = bytearray(head + udp + bytes(data))
        if right_icrc and len(data) >= 4:
            packet[-4:] = icrc(packet)
        if self.v6:
            # The checksum is masked in the ICRC, and covers it.
            pseudo = self.addresses() + struct.pack("!II", length, 17)
            packet[46:48] = struct.pack(
                "!H", checksum(pseudo + packet[40:]) or 0xffff)
        return packet

    def payload(self, data, right_icrc=True):
        self.frame(self.build(data, right_icrc))

    def check_against_scapy(self):
        """An independent opinion on how the ICRC is computed."""
        if self.v6:
            return
        # All of scapy takes most of a minute to load where the CPU is emulated.
        from scapy.compat import raw
        from scapy.contrib.roce import BTH
        from scapy.layers.inet import IP
        ours = bytes(self.build(bth(0x04, 17, 5) + filler(64) + ICRC))
        theirs = IP(ours)
        theirs[BTH].icrc = None
        if raw(theirs)[-4:] != ours[-4:]:
            sys.exit("scapy computes another ICRC")


def bth(opcode, qpn, psn, pad=0, tver=0, pkey=0xffff, flags=0, ack=True):
    """12 bytes of BTH."""
    return struct.pack("!BBHII", opcode & 0xff,
                       (flags & 0xc0) | (pad & 3) << 4 | (tver & 15), pkey,
                       qpn & 0xffffff | (flags & 0x3f) << 24,
                       (ack << 31) | psn & 0xffffff)


def reth(addr, rkey, length):
    return struct.pack("!QII", addr & (1 << 64) - 1, rkey & 0xffffffff,
                       length & 0xffffffff)


def aeth(syndrome, msn):
    return struct.pack("!I", (syndrome & 0xff) << 24 | msn & 0xffffff)


def filler(n):
    return random.randbytes(n)


ICRC = b"\0\0\0\0"


def any_psn():
    return random.choice([0, 1, 0x7fffff, 0x800000, 0xffffff,
                          random.getrandbits(24)])


# --- groups: each takes a sender and a QPN ----------------------------------

def truncated(s, qpn):
    """Every length from nothing to a whole WRITE ONLY."""
    whole = bth(0x0a, qpn, any_psn()) + reth(0, 0, 64) + filler(64) + ICRC
    for n in range(0, len(whole) + 1, 3):
        s.payload(whole[:n])


def short_headers(s, qpn):
    """Each opcode with too little behind the BTH for its headers."""
    for opcode in ALL_OPCODES:
        s.payload(bth(opcode, qpn, any_psn()) + filler(4 * random.randint(0, 3))
                  + ICRC)


def oversized(s, qpn):
    """More payload than any path MTU that fits a frame of 1500."""
    for opcode in (0, 1, 2, 4, 6, 7, 8, 0x0a, 0x0d, 0x0e, 0x0f, 0x10, 0x64):
        s.payload(bth(opcode, qpn, any_psn()) + filler(1400) + ICRC)


def wrong_pad(s, qpn):
    """A pad that is longer than the payload, or makes no sense."""
    for pad in range(4):
        for n in range(0, 6):
            s.payload(bth(0x04, qpn, any_psn(), pad=pad) + filler(n) + ICRC)
            s.payload(bth(0x11, qpn, any_psn(), pad=pad) + aeth(0, 0)
                      + filler(n) + ICRC)


def every_opcode(s, qpn):
    """Each opcode, whole, with a PSN from anywhere."""
    for opcode in ALL_OPCODES:
        s.payload(bth(opcode, qpn, any_psn()) + filler(64) + ICRC)


def reth_overflow(s, qpn):
    """Ranges that wrap, lengths that lie."""
    for addr in (0, 1, (1 << 64) - 1, (1 << 64) - 4096, 1 << 63):
        for length in (0, 1, 64, 1 << 31, (1 << 31) + 1, (1 << 32) - 1):
            for opcode in (0x06, 0x0a, 0x0b, 0x0c):
                body = b"" if opcode == 0x0c else filler(64)
                s.payload(bth(opcode, qpn, any_psn()) +
                          reth(addr, random.getrandbits(32), length) + body
                          + ICRC)


def unsent_acks(s, qpn):
    """ACKs, NAKs, RNR NAKs and read responses for what was never sent."""
    for syndrome in (0x00, 0x1f, 0x20, 0x3f, 0x60, 0x61, 0x62, 0x63, 0x64,
                     0x7f, 0x40, 0x80, 0xff):
        s.payload(bth(0x11, qpn, any_psn()) + aeth(syndrome, any_psn()) + ICRC)
        s.payload(bth(0x10, qpn, any_psn()) + aeth(syndrome, any_psn())
                  + filler(64) + ICRC)
        s.payload(bth(0x12, qpn, any_psn()) + aeth(syndrome, any_psn())
                  + filler(8) + ICRC)


def spoofed_cnps(s, qpn):
    """CNPs, right and wrong."""
    for _ in range(10):
        s.payload(bth(0x81, qpn, 0, flags=0x40, ack=False) + bytes(16) + ICRC)
        s.payload(bth(0x81, qpn, 0, ack=False) + filler(3) + ICRC)


def bad_icrc(s, qpn):
    """RC packets that are right in all but the ICRC."""
    # A READ request is a RETH, an acknowledgment an AETH and nothing more.
    for opcode, length in ((0x00, 64), (0x04, 64), (0x0a, 64), (0x0c, 16),
                           (0x11, 4)):
        for _ in range(4):
            s.payload(bth(opcode, qpn, any_psn()) + filler(length) + ICRC,
                      False)


def bad_version(s, qpn):
    for tver in range(1, 16):
        s.payload(bth(0x04, qpn, any_psn(), tver=tver) + filler(64) + ICRC)


def wrong_pkey(s, qpn):
    for pkey in (0, 1, 0x7ffe, 0x8000, 0x1234):
        s.payload(bth(0x04, qpn, any_psn(), pkey=pkey) + filler(64) + ICRC)


def other_qpns(s, qpn):
    """QP 0, the GSI with rubbish, multicast, and QPNs that are not there."""
    for other in (0, 1, 2, 0xffffff, 0xfffffe, qpn + 1000, 0x800000):
        s.payload(bth(0x64, other, any_psn()) +
                  struct.pack("!II", 0x80010000, 1) + filler(256) + ICRC)
        s.payload(bth(0x64, other, any_psn()) + filler(4) + ICRC)
        s.payload(bth(0x04, other, any_psn()) + filler(64) + ICRC)


def wrong_source(s, qpn):
    """From an address that the QP is not connected with: not its peer."""
    own = s.args.own_ip
    s.args.own_ip = "fd00:99::66" if s.v6 else "10.99.0.66"
    for opcode in (0x04, 0x0a, 0x11):
        for _ in range(20):
            s.payload(bth(opcode, qpn, any_psn()) + filler(64) + ICRC)
    s.args.own_ip = own


def fragments(s, qpn):
    """A datagram in pieces."""
    whole = s.build(bth(0x04, qpn, any_psn()) + filler(1000) + ICRC)
    if not s.v6:
        whole[6:8] = bytes(2)    # may be fragmented
        whole[-4:] = icrc(whole)
    first = 40 if s.v6 else 20
    for offset in range(first, len(whole), 400):
        piece = whole[offset:offset + 400]
        more = offset + 400 < len(whole)
        s.frame(s.fragment_header(whole, len(piece), offset - first, more) + piece)


def too_big(s, qpn):
    """A router says that what the target has sent did not fit its next link."""
    for mtu in (0, 68, 600, 1280):
        for port in (PORT, 0xc000, random.randint(0xc000, 0xffff)):
            quoted = s.ip_header(1072, back=True) + \
                struct.pack("!HHHH", port, PORT, 1072, 0) + \
                bth(0x04, qpn, any_psn())
            if s.v6:
                message = bytearray(struct.pack("!BBHI", 2, 0, 0, mtu) + quoted)
                protocol = 58
                pseudo = s.addresses() + struct.pack("!II", len(message), 58)
            else:
                message = bytearray(struct.pack("!BBHI", 3, 4, 0, mtu) + quoted)
                protocol = 1
                pseudo = b""
            message[2:4] = struct.pack("!H", checksum(pseudo + message))
            s.frame(s.ip_header(len(message), protocol) + message)


def lying_lengths(s, qpn):
    """IP and UDP lengths that do not agree with the bytes."""
    data = bth(0x04, qpn, any_psn()) + filler(64) + ICRC
    for n in (1, 4, 7, 8, 9, 20, 24, 60, 200, 65535):
        s.frame(s.build(data, udp_length=n))


def anything(s, qpn):
    """Random bytes behind a BTH that is nearly right."""
    for _ in range(100):
        s.payload(bth(random.getrandbits(8), qpn, any_psn(),
                      pad=random.getrandbits(2),
                      flags=random.getrandbits(8),
                      ack=bool(random.getrandbits(1)))
                  + filler(random.randint(0, 200)) + ICRC)


GROUPS = [truncated, short_headers, oversized, wrong_pad, every_opcode,
          reth_overflow, unsent_acks, spoofed_cnps, bad_icrc, bad_version,
          wrong_pkey, other_qpns, wrong_source, fragments, too_big,
          lying_lengths, anything]


def parse():
    p = argparse.ArgumentParser()
    for name in ("netdev", "own_ip", "own_mac", "target_ip", "target_mac"):
        p.add_argument(name)
    p.add_argument("--qpn", action="append", default=[],
                   type=lambda x: int(x, 0))
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", action="append", default=[])
    return p.parse_args()


def main():
    args = parse()
    random.seed(args.seed)
    sender = Sender(args)
    if not args.only:
        sender.check_against_scapy()
    groups = [g for g in GROUPS if not args.only or g.__name__ in args.only]
    if not groups:
        sys.exit("no such group")
    for group in groups:
        before = sender.sent
        for _ in range(args.rounds):
            for qpn in args.qpn or [0x11]:
                group(sender, qpn)
        print(group.__name__, sender.sent - before, flush=True)
    print("total", sender.sent)


if __name__ == "__main__":
    main()
