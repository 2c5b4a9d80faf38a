#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Who has chosen the name of an RDMA device, as the kernel tells it to udev.

    operators/name_type.py DEVICE

Prints "user" or "unknown". The exit status is 2 if the kernel does not tell.
"""

import socket
import struct
import sys

NETLINK_RDMA = 20
NLDEV_GET = 5 << 10 | 1         # client and command: what "rdma dev" asks
NLM_F_REQUEST, NLM_F_DUMP = 1, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
DEV_NAME, NAME_ASSIGN_TYPE = 2, 101
TYPES = {0: "unknown", 1: "user"}
HEADER = "=IHHII"


def messages():
    """What the kernel answers to a dump of all devices."""
    size = struct.calcsize(HEADER)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA) as sock:
        sock.sendto(struct.pack(HEADER, size, NLDEV_GET,
                                NLM_F_REQUEST | NLM_F_DUMP, 1, 0), (0, 0))
        while True:
            data = sock.recv(65536)
            while data:
                length, kind, *_ = struct.unpack_from(HEADER, data)
                if kind == NLMSG_DONE:
                    return
                if kind == NLMSG_ERROR:
                    sys.exit("the kernel refuses to list devices")
                yield data[size:length]
                data = data[(length + 3) & ~3:]


def attributes(message):
    """Of a message, by their numbers."""
    found = {}
    while len(message) >= 4:
        length, kind = struct.unpack_from("=HH", message)
        found[kind & 0x3fff] = message[4:length]
        message = message[(length + 3) & ~3:]
    return found


def main():
    name = sys.argv[1].encode() + b"\0"
    for message in messages():
        found = attributes(message)
        if found.get(DEV_NAME) == name:
            if NAME_ASSIGN_TYPE not in found:
                sys.exit(2)
            print(TYPES[found[NAME_ASSIGN_TYPE][0]])
            return
    sys.exit(f"there is no {sys.argv[1]}")


if __name__ == "__main__":
    main()
