#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# client.sh DRIVER: programs over SMC-R and RDS; both fall back to TCP or fail silently
# where they cannot use RDMA, so their QPs are looked at.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=network.sh
. "$TEST_DIR/machines/network.sh"

# qp_of WHO: a connection of that user of the kernel is established
qp_of() { rdma resource show qp | found "type RC state RTS.*comm \[$1\]"; }

smc()
{
	over_smc iperf -c "$IP4_A" -p "$TCP_PORT" -n 4M
	qp_of smc
}

rds()
{
	timeout 300 python3 "$TEST_DIR/machines/rds.py" ask "$IP4_B" "$RDS_PORT" "$IP4_A"
	qp_of rdma_cm
}

reached() { (: >"/dev/tcp/$IP4_A/$1") 2>/dev/null; }

put_back() { reached "$END_PORT"; }

join "$IP4_B" "$IP6_B" "$1"
wait_for reached "$TCP_PORT"
check "$1: SMC-R: iperf 2" smc
check "$1: RDS: 50 messages there and back" rds
finish
