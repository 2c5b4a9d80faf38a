#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""wireguard.py NETDEV a|b PEER-ADDRESS: make a WireGuard netdev of this namespace one
end of a tunnel, which lets everything pass, to the other end at an IPv4 address."""
import socket
import struct
import sys

PORT = 51820
# Of X25519, for this test
KEYS = {
    "a": ("1011111111111111111111111111111111111111111111111111111111111151",
          "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13"),
    "b": ("2022222222222222222222222222222222222222222222222222222222222262",
          "0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20"),
}

# linux/genetlink.h, linux/wireguard.h
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 1, 4, 2
NLA_F_NESTED = 0x8000
WG_CMD_SET_DEVICE = 1
DEVICE_IFNAME, DEVICE_PRIVATE_KEY, DEVICE_LISTEN_PORT, DEVICE_PEERS = 2, 3, 6, 8
PEER_PUBLIC_KEY, PEER_ENDPOINT, PEER_ALLOWEDIPS = 1, 4, 9
ALLOWED_FAMILY, ALLOWED_ADDRESS, ALLOWED_MASK = 1, 2, 3


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def nest(kind, *attributes):
    return attribute(kind | NLA_F_NESTED, b"".join(attributes))


def ask(sock, family, command, data):
    message = struct.pack("=BBH", command, 1, 0) + data
    sock.send(struct.pack("=IHHII", 16 + len(message), family,
                          NLM_F_REQUEST | NLM_F_ACK, 1, 0) + message)
    answer = sock.recv(65536)
    kind = struct.unpack_from("=IH", answer)[1]
    if kind == NLMSG_ERROR:
        error = -struct.unpack_from("=i", answer, 16)[0]
        if error:
            sys.exit(f"netlink: error {error}")
    return answer


def family_id(sock, name):
    answer = ask(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                 attribute(CTRL_ATTR_FAMILY_NAME, name.encode() + b"\0"))
    offset = 20
    while offset < len(answer):
        length, kind = struct.unpack_from("=HH", answer, offset)
        if kind == CTRL_ATTR_FAMILY_ID:
            sock.recv(65536)  # the acknowledgment
            return struct.unpack_from("=H", answer, offset + 4)[0]
        offset += length + -length % 4
    sys.exit("no such family")


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

    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
    sock.bind((0, 0))
    ask(sock, family_id(sock, "wireguard"), WG_CMD_SET_DEVICE, b"".join((
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
