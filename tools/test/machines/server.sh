#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# server.sh DRIVER: serves the client's programs until the client has ended.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=network.sh
. "$TEST_DIR/machines/network.sh"

join "$IP4_A" "$IP6_A" "$1"
begin "$TMP/rds" python3 "$TEST_DIR/machines/rds.py" echo "$IP4_A" "$RDS_PORT"
wait_for grep -q ready "$TMP/rds"
begin "$TMP/iperf" over_smc iperf -s -p "$TCP_PORT"
python3 -c 'import socket, sys; socket.create_server(("", int(sys.argv[1]))).accept()' "$END_PORT"
finish
