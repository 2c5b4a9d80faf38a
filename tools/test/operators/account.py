#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the counters of two devices must say after traffic that was captured.

    operators/account.py FOLDER [--lost-a RULE] [--lost-b RULE]
                        [--trains] [--expect SIDE:NAME=VALUE]... [--free NAME]...

FOLDER has a.pcap and b.pcap, what arrived at the netdev of each side, and
{a,b}.{before,after}, "name value" a line. A RULE is OPCODE:MODULUS:REMAINDER,
and means what nft's "numgen inc mod MODULUS == REMAINDER" drops behind the
capture among the packets of that opcode ("*": of all requests).

Every counter of both devices is looked at: it must have grown by as much as
the captures say, by what --expect says, or, if nothing says anything, not at
all. --free names those that the captures cannot tell. With --trains, a frame of
the capture is many packets.

The PSN of a gap, of a duplicate and of a retransmission are worked out here as
the specification has them (IBA volume 1, 9.7 and 9.8), from headers alone.
"""

import argparse
import collections
import struct
import sys

PORT = 4791
ETHERNET, IPV4, IPV6 = 14, 0x0800, 0x86dd
RC, UC, UD = 0x00, 0x20, 0x60
BTH, RETH, ICRC = 12, 16, 4
WINDOW = 256    # PSNs that one READ takes, at most

SEND_ENDS = {0x02, 0x03, 0x04, 0x05, 0x16, 0x17}
WRITE_BEGINS = {0x06, 0x0a, 0x0b}
WRITE_IMMEDIATE_ENDS = {0x09, 0x0b}
READ, ACKNOWLEDGE = 0x0c, 0x11
ATOMICS = {0x13, 0x14}
RESPONSES = {0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12}
NAK_SEQUENCE_ERROR = 0x60

ALIASES = {
    "sent_pkts": "tx_packets",
    "rcvd_pkts": "rx_packets",
    "sent_bytes": "tx_bytes",
    "rcvd_bytes": "rx_bytes",
    "send_err": "tx_stalled_queue",
    "retry_exceeded_err": "req_transport_retries_exceeded",
    "retry_rnr_exceeded_err": "req_rnr_retries_exceeded",
}

Packet = collections.namedtuple("Packet", "data opcode qpn psn mtu")


def psn_diff(a, b):
    """How far a is ahead of b, in 24 bits."""
    return ((a - b + 0x800000) & 0xffffff) - 0x800000


# --- captures ------------------------------------------------------------


def frames(path):
    """The UDP payloads of a capture that went to the RoCE port."""
    with open(path, "rb") as file:
        magic, *_ = struct.unpack("<I5I", file.read(24))
        if magic not in (0xa1b2c3d4, 0xa1b23c4d):
            sys.exit(f"{path}: not a pcap of this byte order")
        while True:
            head = file.read(16)
            if len(head) < 16:
                return
            kept, length = struct.unpack("<II", head[8:])
            frame = file.read(kept)
            if kept != length:
                sys.exit(f"{path}: a frame was cut short")
            payload = udp_payload(frame)
            if payload:
                yield payload


def udp_payload(frame):
    """None if it is no UDP datagram to the RoCE port."""
    ethertype, = struct.unpack_from("!H", frame, 12)
    ip = frame[ETHERNET:]
    if ethertype == IPV4 and ip[9] == 17:
        head = (ip[0] & 15) * 4
    elif ethertype == IPV6 and ip[6] == 17:
        head = 40
    else:
        return None
    port, length = struct.unpack_from("!HH", ip, head + 2)
    if port != PORT:
        return None
    return ip[head + 8:head + length]


def bth(data):
    opcode, = struct.unpack_from("!B", data)
    qpn, psn = struct.unpack_from("!II", data, 4)
    return opcode, qpn & 0xffffff, psn & 0xffffff


def follows(data, offset, before):
    """Is there, at offset, a packet for the same QP behind the one before?"""
    if offset + BTH + ICRC > len(data):
        return False
    _, qpn, psn = bth(data[offset:offset + BTH])
    _, qpn_before, psn_before = bth(data[before:before + BTH])
    return qpn == qpn_before and 0 < psn_diff(psn, psn_before) <= WINDOW


def train_segment(data):
    """
    How long a packet of this frame is. A train has no header of its own: its
    packets are equally long but for the last, and have PSNs in their order. They
    are in a row, but a READ takes as many as its response has packets.
    """
    segment = data.find(data[5:8], BTH + 5) - 5
    while segment > 0:
        offsets = range(segment, len(data), segment)
        if all(follows(data, offset, offset - segment) for offset in offsets):
            return segment
        segment = data.find(data[5:8], segment + 6) - 5
    return len(data)


def packets(frame_list, trains, mtu):
    for data in frame_list:
        segment = train_segment(data) if trains else len(data)
        for offset in range(0, len(data), segment):
            packet = data[offset:offset + segment]
            yield Packet(packet, *bth(packet), mtu)


class Lost:
    """What nft drops."""

    def __init__(self, rule):
        self.number = 0
        if rule:
            opcode, self.modulus, self.remainder = rule.split(":")
            self.opcode = None if opcode == "*" else int(opcode, 0)
            self.modulus, self.remainder = int(self.modulus), int(self.remainder)
        self.rule = rule

    def __call__(self, packet):
        if not self.rule:
            return False
        if self.opcode is None:
            if packet.opcode in RESPONSES:
                return False
        elif packet.opcode != self.opcode:
            return False
        self.number += 1
        return (self.number - 1) % self.modulus == self.remainder


# --- what the packets mean -------------------------------------------------


def span(packet):
    """How many PSNs a request takes."""
    if packet.opcode != READ:
        return 1
    length, = struct.unpack_from("!I", packet.data, BTH + 12)
    return max(1, -(-length // packet.mtu))


def is_request(packet, service=RC):
    return packet.opcode & 0xe0 == service and packet.opcode not in RESPONSES


def count_sender(sent, expected):
    """What a device counts of what it sends: also what is lost behind it."""
    limit = {}
    for packet in sent:
        expected["tx_packets"] += 1
        expected["tx_bytes"] += len(packet.data)
        is_send = packet.opcode & 0x1f in SEND_ENDS
        if not is_request(packet):
            expected["rdma_sends"] += is_send
            continue
        before = limit.get(packet.qpn, packet.psn)
        if psn_diff(packet.psn, before) < 0:
            expected["retransmitted_packets"] += 1
        else:
            expected["rdma_sends"] += is_send
        end = (packet.psn + span(packet)) & 0xffffff
        if psn_diff(end, before) > 0:
            limit[packet.qpn] = end


def execute(packet, expected):
    operation = packet.opcode & 0x1f
    expected["rdma_recvs"] += (operation in SEND_ENDS or
                               operation in WRITE_IMMEDIATE_ENDS)
    expected["rx_write_requests"] += operation in WRITE_BEGINS
    expected["rx_read_requests"] += operation == READ
    expected["rx_atomic_requests"] += operation in ATOMICS


def count_receiver(arrived, lost, expected):
    """What a device counts of what arrives: a responder's view of the PSNs."""
    next_psn, complained = {}, set()
    for packet in arrived:
        # A responder begins with the first PSN that was sent to it, lost or not.
        if is_request(packet):
            next_psn.setdefault(packet.qpn, packet.psn)
        if lost(packet):
            continue
        expected["rx_packets"] += 1
        expected["rx_bytes"] += len(packet.data)
        if packet.opcode == ACKNOWLEDGE:
            expected["rcvd_seq_err"] += \
                packet.data[BTH] == NAK_SEQUENCE_ERROR
        if packet.opcode in RESPONSES:
            continue
        if not is_request(packet):
            execute(packet, expected)
            continue
        psn = next_psn[packet.qpn]
        ahead = psn_diff(packet.psn, psn)
        if ahead > 0:
            expected["out_of_sequence"] += 1
            expected["out_of_seq_request"] += packet.qpn not in complained
            complained.add(packet.qpn)
        elif ahead < 0:
            expected["duplicate_request"] += 1
        else:
            execute(packet, expected)
            complained.discard(packet.qpn)
            next_psn[packet.qpn] = (psn + span(packet)) & 0xffffff


# --- the comparison ----------------------------------------------------------


def counters(path):
    with open(path, encoding="ascii") as file:
        return {name: int(value) for name, value in map(str.split, file)}


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("folder")
    p.add_argument("--lost-a")
    p.add_argument("--lost-b")
    p.add_argument("--mtu", type=int, default=1024)
    p.add_argument("--trains", action="store_true")
    p.add_argument("--expect", action="append", default=[])
    p.add_argument("--free", action="append", default=[])
    return p.parse_args()


def expectations(args):
    """For each side, what the captures and the command line say."""
    arrived, frame_count = {}, {}
    for side in "ab":
        frame_list = list(frames(f"{args.folder}/{side}.pcap"))
        frame_count[side] = len(frame_list)
        arrived[side] = list(packets(frame_list, args.trains, args.mtu))

    expected = {side: collections.Counter() for side in "ab"}
    for side, peer, rule in ("a", "b", args.lost_a), ("b", "a", args.lost_b):
        count_sender(arrived[peer], expected[side])
        count_receiver(arrived[side], Lost(rule), expected[side])
        if args.trains:
            expected[side]["tx_trains"] = frame_count[peer]
            expected[side]["rx_trains"] = frame_count[side]
        else:
            expected[side]["rx_trains"] = expected[side]["rx_packets"]
    for word in args.expect:
        side, name, value = word.replace("=", ":").split(":")
        expected[side][name] = int(value)
    return expected


def main():
    args = parse()
    expected = expectations(args)
    # How the device has cut trains cannot be seen once the netdev has cut them, and how
    # many acknowledgments one has replaced never.
    free = args.free + ["ack_deferred"] + ([] if args.trains else ["tx_trains"])
    wrong, moved = 0, set()
    for side in "ab":
        before = counters(f"{args.folder}/{side}.before")
        after = counters(f"{args.folder}/{side}.after")
        for name, value in after.items():
            grown = value - before[name]
            say = expected[side][ALIASES.get(name, name)]
            if name in free:
                continue
            if grown:
                moved.add(name)
            if grown != say:
                print(f"{side}: {name}: counted {grown}, expected {say}")
                wrong += 1
        for name in expected[side].keys() - after.keys():
            print(f"{side}: no counter {name}")
            wrong += 1
    packet_counts = " and ".join(str(expected[s]["rx_packets"]) for s in "ab")
    print(f"# {packet_counts} packets arrived, {len(moved)} counters moved")
    print("moved:", *sorted(moved))
    sys.exit(bool(wrong or not moved))


if __name__ == "__main__":
    main()
