#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""console.py SOCKET COMMAND: a command to the management console of user mode linux."""
import os
import socket
import struct
import sys

MAGIC, VERSION, MAX_DATA = 0xcafebabe, 2, 512


def main():
    console, command = sys.argv[1], sys.argv[2].encode()
    answers = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    answers.bind(f"{os.path.dirname(console)}/answers")
    answers.settimeout(10)
    answers.sendto(struct.pack("=IiI", MAGIC, VERSION, len(command)) +
                   command.ljust(MAX_DATA, b"\0"), console)
    while True:
        answer = answers.recv(4096)
        _, more, length = struct.unpack_from("=iiI", answer)
        sys.stdout.write(answer[12:12 + length].decode(errors="replace"))
        if not more:
            break


if __name__ == "__main__":
    main()
