# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a queueing discipline counts, by netlink: tc takes too long to ask often."""
import ctypes
import os
import socket
import struct

GETQDISC, DUMP, DONE, ERROR = 38, 0x301, 3, 2
STATS2, BASIC, QUEUE, APP = 7, 1, 3, 4


def attributes(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        found[kind & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


class Qdisc:
    """One of a netdev in a namespace, by its handle, such as 0x100000 for 10:"""

    def __init__(self, namespace, netdev, handle):
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/self/ns/net", "rb") as here, \
                open(f"/run/netns/{namespace}", "rb") as there:
            if libc.setns(there.fileno(), 0):
                raise OSError(ctypes.get_errno(), f"setns {namespace}")
            try:
                self.index = socket.if_nametoindex(netdev)
                self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
            finally:
                libc.setns(here.fileno(), 0)
        self.handle = handle

    def read(self):
        """Bytes waiting, bytes sent, packets dropped, packets marked"""
        self.socket.send(struct.pack("IHHII", 36, GETQDISC, DUMP, 0, 0) +
                         struct.pack("BxHiIII", 0, 0, self.index, 0, 0, 0))
        seen = None
        while True:
            data = self.socket.recv(65536)
            while len(data) >= 16:
                length, kind = struct.unpack_from("IH", data)
                if kind in (DONE, ERROR):
                    return seen
                index, handle = struct.unpack_from("iI", data, 20)
                if index == self.index and handle == self.handle:
                    seen = self.parse(data[36:length])
                data = data[(length + 3) & ~3:]

    @staticmethod
    def parse(data):
        stats = attributes(attributes(data)[STATS2])
        sent = struct.unpack_from("Q", stats[BASIC])[0]
        backlog, drops = struct.unpack_from("4xII", stats[QUEUE])
        # struct tc_red_xstats; others have none.
        marked = struct.unpack_from("12xI", stats[APP])[0] if len(stats.get(APP, b"")) >= 16 else 0
        return backlog, sent, drops, marked
