#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Who has chosen the name of an RDMA device, as the kernel tells it to udev.

    operators/name_type.py DEVICE

Prints "user" or "unknown". The exit status is 2 if the kernel does not tell.
"""

import os
import socket
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../lib"))

# pylint: disable=wrong-import-position
from netlink import attributes, dump	# noqa: E402

NETLINK_RDMA = 20
NLDEV_GET = 5 << 10 | 1         # client and command: what "rdma dev" asks
DEV_NAME, NAME_ASSIGN_TYPE = 2, 101
TYPES = {0: "unknown", 1: "user"}


def main():
    name = sys.argv[1].encode() + b"\0"
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
    for device in dump(sock, NLDEV_GET):
        found = attributes(device)
        if found.get(DEV_NAME) == name:
            if NAME_ASSIGN_TYPE not in found:
                sys.exit(2)
            print(TYPES[found[NAME_ASSIGN_TYPE][0]])
            return
    sys.exit(f"there is no {sys.argv[1]}")


if __name__ == "__main__":
    main()
