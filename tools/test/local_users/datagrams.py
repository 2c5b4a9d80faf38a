#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""datagrams.py OPENER SENDER sent|refused IPV4 IPV6: sends to UDP port 4791

OPENER and SENDER are user ids: that of the process when it opens a socket, and when
it sends. Each way of sending that a program without privileges has is tried, one
datagram each, and must be refused with EPERM, or not. The output is TAP.
"""

import os
import socket
import struct
import sys

PORT = 4791
UDP_SEGMENT = 103
IPV6_RTHDR = 57
SHORT = b"datagram"  # too short for a RoCE packet, so the receiver says so
LONG = bytes(8000)  # fragments


def udp(family):
    return socket.socket(family, socket.SOCK_DGRAM)


def mapped(ipv4):
    return "::ffff:" + ipv4


def plain(sock, to):
    sock.sendto(SHORT, (to, PORT))


def connected(sock, to):
    sock.connect((to, PORT))
    sock.send(SHORT)


def vector(sock, to):
    sock.sendmsg([SHORT[:3], SHORT[3:]], [], 0, (to, PORT))


def segments(sock, to):
    size = struct.pack("H", len(SHORT))
    sock.sendmsg([3 * SHORT], [(socket.IPPROTO_UDP, UDP_SEGMENT, size)], 0, (to, PORT))


def fragments(sock, to):
    sock.sendto(LONG, (to, PORT))


def corked(sock, to):
    sock.sendto(SHORT[:3], socket.MSG_MORE, (to, PORT))
    sock.sendto(SHORT[3:], (to, PORT))


def ipv4_options(sock, to):
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([1, 1, 1, 0]))
    sock.sendto(SHORT, (to, PORT))


def ipv6_routing_header(sock, to):
    # Type 4, the only segment is the destination
    header = bytes([0, 2, 4, 0, 0, 0, 0, 0]) + socket.inet_pton(socket.AF_INET6, to)
    sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RTHDR, header)
    sock.sendto(SHORT, (to, PORT))


def ways(ipv4, ipv6):
    both = [plain, connected, vector, segments, fragments, corked]
    for way in both + [ipv4_options]:
        yield "IPv4", way, socket.AF_INET, ipv4
    for way in both + [ipv6_routing_header]:
        yield "IPv6", way, socket.AF_INET6, ipv6
    yield "IPv4 from a socket of IPv6", plain, socket.AF_INET6, mapped(ipv4)


def attempt(way, opener, sender, family, to):
    os.seteuid(opener)
    with udp(family) as sock:
        os.seteuid(0)
        os.seteuid(sender)
        try:
            way(sock, to)
        except PermissionError:
            return "refused"
        finally:
            os.seteuid(0)
    return "sent"


def main():
    opener, sender = int(sys.argv[1]), int(sys.argv[2])
    expected = sys.argv[3]
    failed = 0
    tests = list(ways(*sys.argv[4:6]))
    print(f"1..{len(tests)}")
    for name, way, family, to in tests:
        seen = attempt(way, opener, sender, family, to)
        failed += seen != expected
        verdict = "ok" if seen == expected else "not ok"
        print(f"{verdict} - opened by {opener}, used by {sender}: {way.__name__} ({name}) is {expected}")
    sys.exit(failed > 0)


main()
