#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""tun.py NS-A NS-B NAME: a tun device of that name in each of the two network
namespaces, and what goes into the one comes out of the other, for as long as this
runs. It says "ready" when they are there."""
import ctypes
import fcntl
import os
import select
import struct
import sys

TUNSETIFF = 0x400454ca
IFF_TUN, IFF_NO_PI = 1, 0x1000
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def tun(namespace, name):
    with open("/run/netns/" + namespace, "rb") as target:
        if libc.setns(target.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), namespace)
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def main():
    ns_a, ns_b, name = sys.argv[1:]
    ends = [tun(ns_a, name), tun(ns_b, name)]
    print("ready", flush=True)
    while True:
        for end in select.select(ends, [], [])[0]:
            other = ends[1 - ends.index(end)]
            try:
                os.write(other, os.read(end, 65536))
            except OSError as err:  # it is down
                print(err, file=sys.stderr)


main()
