#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Programs that nobody here wrote: perftest, librdmacm's and libibverbs'
# examples, over IPv4 and IPv6.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ns_pair
link_pair

for op in write read send; do
	check "ib_${op}_bw, 64 KiB" perftest "ib_${op}_bw" -n 100 -s 65536
	check "ib_${op}_lat, 64 bytes" perftest "ib_${op}_lat" -n 100 -s 64
done
for type in FETCH_AND_ADD CMP_AND_SWAP; do
	check "ib_atomic_bw, $type" perftest ib_atomic_bw -A $type -n 100
done
check "ib_atomic_lat" perftest ib_atomic_lat -n 100
check "ib_write_bw over UC" perftest ib_write_bw -c UC -n 100 -s 65536
check "ib_send_bw over UC" perftest ib_send_bw -c UC -n 100 -s 4096
check "ib_write_lat over UC" perftest ib_write_lat -c UC -n 100 -s 64
check "ib_write_bw over IPv6" perftest ib_write_bw -6 -n 100 -s 65536
check "ib_write_bw in both directions, 4 QPs" \
	perftest ib_write_bw -b -q 4 -n 50 -s 16384
check "ib_send_bw with events" perftest ib_send_bw -e -n 100 -s 4096
# It reads 16 completions an event, and may find all of them there already.
check "ib_send_bw with events, a deep queue" perftest ib_send_bw -e -n 1000 -t 128 -Q 1 -s 65536
check "ib_send_lat with events" perftest ib_send_lat -e -n 50 -s 4096
check "ib_write_bw with lists of 16" perftest ib_write_bw -l 16 -n 160 -s 64
check "ib_write_lat with inline data" perftest ib_write_lat -I 64 -n 100 -s 64
check "ib_send_bw with a shared receive queue, 4 QPs" \
	perftest ib_send_bw --use-srq -q 4 -n 100 -s 4096
check "ib_send_bw over UD with a shared receive queue" \
	perftest ib_send_bw --use-srq -c UD -n 100 -s 1024
check "ib_send_bw over UD" perftest ib_send_bw -c UD -n 100 -s 1024
check "ib_send_lat over UD" perftest ib_send_lat -c UD -n 100 -s 1024

# cm PROGRAM SERVER-ARGS -- CLIENT-ARGS
cm() { READY=ready_cm pair "$@"; }

for ip in "$IP4_A" "$IP6_A"; do
	check "rping to $ip" rping_pair "$ip" 10
	check "ucmatose to $ip" cm ucmatose -b "$ip" -- ucmatose -s "$ip"
	check "udaddy to $ip" cm udaddy -b "$ip" -- udaddy -s "$ip"
done
check "rping of 60000 bytes" rping_pair "$IP4_A" 10 -S 60000
check "perftest connected by librdmacm" connected_by_cm perftest ib_write_bw -R -n 50 -s 4096

# pingpong PROGRAM ARGS...
pingpong()
{
	local program=$1
	shift

	READY="ready_tcp 18515" pair "$program" -d "$DEV_A" -g "$GID4_A" "$@" -- \
		"$program" -d "$DEV_B" -g "$GID4_B" "$@" "$IP4_A"
}
check "ibv_rc_pingpong" pingpong ibv_rc_pingpong -n 100
check "ibv_rc_pingpong with events" pingpong ibv_rc_pingpong -e -n 100
check "ibv_srq_pingpong" pingpong ibv_srq_pingpong -n 100
check "ibv_uc_pingpong" pingpong ibv_uc_pingpong -n 100
check "ibv_ud_pingpong" pingpong ibv_ud_pingpong -n 100 -s 1024

finish
