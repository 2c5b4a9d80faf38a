#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""wireguard.py NETDEV a|b PEER-ADDRESS: make a WireGuard netdev of this namespace one
end of a tunnel, which lets everything pass, to the other end at an IPv4 address."""
import os
import socket
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../lib"))

# pylint: disable=wrong-import-position
from netlink import Family, attribute	# noqa: E402

PORT = 51820
# Of X25519, for this test
KEYS = {
    "a": ("1011111111111111111111111111111111111111111111111111111111111151",
          "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13"),
    "b": ("2022222222222222222222222222222222222222222222222222222222222262",
          "0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20"),
}

# linux/netlink.h, linux/wireguard.h
NLA_F_NESTED = 0x8000
WG_CMD_SET_DEVICE = 1
DEVICE_IFNAME, DEVICE_PRIVATE_KEY, DEVICE_LISTEN_PORT, DEVICE_PEERS = 2, 3, 6, 8
PEER_PUBLIC_KEY, PEER_ENDPOINT, PEER_ALLOWEDIPS = 1, 4, 9
ALLOWED_FAMILY, ALLOWED_ADDRESS, ALLOWED_MASK = 1, 2, 3


def nest(kind, *attributes):
    return attribute(kind | NLA_F_NESTED, b"".join(attributes))


def everything(family, size):
    return nest(0, attribute(ALLOWED_FAMILY, struct.pack("=H", family)),
                attribute(ALLOWED_ADDRESS, bytes(size)),
                attribute(ALLOWED_MASK, b"\0"))


def main():
    netdev, side, peer = sys.argv[1:]
    private = bytes.fromhex(KEYS[side][0])
    public = bytes.fromhex(KEYS["b" if side == "a" else "a"][1])
    endpoint = struct.pack("=H", socket.AF_INET) + struct.pack("!H", PORT) + \
        socket.inet_aton(peer) + bytes(8)

    Family("wireguard").ask(WG_CMD_SET_DEVICE, b"".join((
        attribute(DEVICE_IFNAME, netdev.encode() + b"\0"),
        attribute(DEVICE_PRIVATE_KEY, private),
        attribute(DEVICE_LISTEN_PORT, struct.pack("=H", PORT)),
        nest(DEVICE_PEERS, nest(
            0,
            attribute(PEER_PUBLIC_KEY, public),
            attribute(PEER_ENDPOINT, endpoint),
            nest(PEER_ALLOWEDIPS, everything(socket.AF_INET, 4),
                 everything(socket.AF_INET6, 16)))))))


main()
