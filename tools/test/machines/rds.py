#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rds.py echo ADDRESS PORT: sends each RDS message back.
rds.py ask ADDRESS PORT SERVER: sends 50 messages of 100,000 bytes, and compares."""
import socket
import sys

AF_RDS = 21
MESSAGE = 100000

role, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
rds = socket.socket(AF_RDS, socket.SOCK_SEQPACKET)
rds.bind((address, port))
if role == "echo":
    print("ready", flush=True)
    while True:
        rds.sendto(*rds.recvfrom(MESSAGE))
for number in range(50):
    message = bytes([number]) * MESSAGE
    rds.sendto(message, (sys.argv[4], port))
    if rds.recv(MESSAGE) != message:
        sys.exit(f"message {number} came back changed")
