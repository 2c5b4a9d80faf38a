# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the kernel lists by netlink, and commands of generic netlink."""
import os
import socket
import struct

REQUEST_DUMP, REQUEST_ACK, ERROR, DONE = 0x301, 5, 2, 3
HEADER = "=IHHII"
HEADER_SIZE = struct.calcsize(HEADER)

NETLINK_GENERIC = 16
GENERIC_HEADER = "=BBH"
GENERIC_HEADER_SIZE = struct.calcsize(GENERIC_HEADER)
CONTROL, GET_FAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2


def error_of(message):
    return -struct.unpack_from("=i", message, HEADER_SIZE)[0]


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
                error = error_of(data)
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


def attribute(kind, data):
    """For a request"""
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


class Family:
    """A family of generic netlink, by its name"""

    def __init__(self, name):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.sock.bind((0, 0))
        self.number = CONTROL
        answer = self.ask(GET_FAMILY, attribute(FAMILY_NAME, name.encode() + b"\0"))
        self.number = struct.unpack("=H", attributes(answer)[FAMILY_ID])[0]

    def ask(self, command, request):
        """The attributes of the answer, if there is one"""
        message = struct.pack(GENERIC_HEADER, command, 1, 0) + request
        self.sock.send(struct.pack(HEADER, HEADER_SIZE + len(message), self.number,
                                   REQUEST_ACK, 0, 0) + message)
        answer = b""
        while True:
            data = self.sock.recv(65536)
            if struct.unpack_from(HEADER, data)[1] != ERROR:
                answer = data[HEADER_SIZE + GENERIC_HEADER_SIZE:]
                continue
            error = error_of(data)
            if error:
                raise OSError(error, os.strerror(error))
            return answer
