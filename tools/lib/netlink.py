# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the kernel lists by netlink."""
import os
import struct

REQUEST_DUMP, ERROR, DONE = 0x301, 2, 3
HEADER = "=IHHII"
HEADER_SIZE = struct.calcsize(HEADER)


def dump(sock, kind, request=b""):
    """The answers to such a request, without their headers"""
    sock.send(struct.pack(HEADER, HEADER_SIZE + len(request), kind, REQUEST_DUMP, 0, 0) + request)
    while True:
        data = sock.recv(65536)
        while data:
            length, kind, *_ = struct.unpack_from(HEADER, data)
            if kind == DONE:
                return
            if kind == ERROR:
                error = -struct.unpack_from("=i", data, HEADER_SIZE)[0]
                raise OSError(error, os.strerror(error))
            yield data[HEADER_SIZE:length]
            data = data[(length + 3) & ~3:]


def attributes(data):
    """Of an answer, or of an attribute, by their numbers"""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found
