# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a queueing discipline counts, by netlink: tc takes too long to ask often."""
import ctypes
import os
import socket
import struct

from netlink import attributes, dump

GETQDISC = 38
STATS2, BASIC, QUEUE, APP = 7, 1, 3, 4


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
        seen = None
        for answer in dump(self.socket, GETQDISC,
                           struct.pack("BxHiIII", 0, 0, self.index, 0, 0, 0)):
            index, handle = struct.unpack_from("iI", answer, 4)
            if index == self.index and handle == self.handle:
                seen = self.parse(answer[20:])
        return seen

    @staticmethod
    def parse(data):
        stats = attributes(attributes(data)[STATS2])
        sent = struct.unpack_from("Q", stats[BASIC])[0]
        backlog, drops = struct.unpack_from("4xII", stats[QUEUE])
        # struct tc_red_xstats; others have none.
        marked = struct.unpack_from("12xI", stats[APP])[0] if len(stats.get(APP, b"")) >= 16 else 0
        return backlog, sent, drops, marked
