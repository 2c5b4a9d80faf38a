#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""tcp.py receive PORT | tcp.py send ADDRESS PORT BYTES CONTROL

One TCP connection, for a clock that stands still while code runs: both ends block, where
iperf3 looks at the clock until it has moved. The sender prints JSON.
"""
import json
import socket
import struct
import sys
import time

PIECE = 1 << 20


def receive(port):
    with socket.create_server(("", port)) as listener:
        print("listening", flush=True)
        peer, _ = listener.accept()
        while peer.recv(PIECE):
            pass
        peer.close()


def total_retransmissions(connection):
    """tcpi_total_retrans"""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return struct.unpack_from("I", info, 100)[0]


def send(address, port, length, control):
    data = bytes(PIECE)
    connection = socket.create_connection((address, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    start = time.monotonic_ns()
    for left in range(length, 0, -PIECE):
        connection.sendall(data[:left])
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)	# until the peer has all
    nanoseconds = time.monotonic_ns() - start
    print(json.dumps({"bytes": length, "seconds": nanoseconds / 1e9,
                      "retransmits": total_retransmissions(connection)}))


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(int(sys.argv[2]))
    else:
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
