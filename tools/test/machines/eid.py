#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""eid.py NAME: gives SMC an enterprise ID, without which version 2 of SMC-R, that of
RoCEv2, is not used. Hosts with the same one speak it."""
import socket
import struct
import sys

NETLINK_GENERIC = 16
CTRL, CTRL_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
ADD_UEID, EID_TABLE_ENTRY = 10, 1
REQUEST_AND_ACK = 5


def attribute(kind, value):
    return struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def ask(family, command, payload):
    body = struct.pack("BBH", command, 1, 0) + payload
    netlink.send(struct.pack("IHHII", 16 + len(body), family, REQUEST_AND_ACK, 1, 0) + body)
    return netlink.recv(65536)


def family_of(answer):
    """The number of the family, in the answer to CTRL_GETFAMILY."""
    attributes = answer[20:]
    while attributes:
        length, kind = struct.unpack_from("HH", attributes)
        if kind == CTRL_ATTR_FAMILY_ID:
            return struct.unpack_from("H", attributes, 4)[0]
        attributes = attributes[length + 3 & ~3:]
    sys.exit("no family number")


netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
netlink.bind((0, 0))
family = family_of(ask(CTRL, CTRL_GETFAMILY, attribute(CTRL_ATTR_FAMILY_NAME, b"SMC_GEN_NETLINK\0")))
netlink.recv(65536)  # the acknowledgment
name = sys.argv[1].encode().ljust(32) + b"\0"
error = struct.unpack_from("i", ask(family, ADD_UEID, attribute(EID_TABLE_ENTRY, name)), 16)[0]
if error:
    sys.exit(f"no enterprise ID: error {-error}")
