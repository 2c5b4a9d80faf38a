#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Everything arrives whatever a netdev offloads: each pair of settings of five
# switches in six runs, or with COMBINATIONS=all each combination.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Segmentation, merging (GRO), checksums, scatter-gather, jumbo frames: 1 for on.
# The columns of the last five rows are different choices of three out of five,
# so any two columns have all four pairs of settings.
PAIRS=(00000 11111 11100 10011 01010 00101)
ALL=({0,1}{0,1}{0,1}{0,1}{0,1})
[[ ${COMBINATIONS:-pairs} == pairs ]] || PAIRS=("${ALL[@]}")

build
ns_pair
link_pair

on_off() { if [[ $1 == 1 ]]; then echo on; else echo off; fi; }

# set_switches BITS: what needs another switch that is off is off as well
set_switches()
{
	local bits=$1 mtu=1500 ns netdev

	[[ ${bits:4:1} == 0 ]] || mtu=9000
	for ns in "$NS_A:$VETH_A" "$NS_B:$VETH_B"; do
		netdev=${ns#*:} ns=${ns%:*}
		ip netns exec "$ns" ethtool -K "$netdev" \
			tx "$(on_off "${bits:2:1}")" sg "$(on_off "${bits:3:1}")" \
			gso "$(on_off "${bits:0:1}")" tso "$(on_off "${bits:0:1}")" \
			tx-udp-segmentation "$(on_off "${bits:0:1}")" \
			gro "$(on_off "${bits:1:1}")" >/dev/null
		ip -n "$ns" link set "$netdev" mtu "$mtu"
	done
}

name_of()
{
	local bits=$1

	echo "segmentation $(on_off "${bits:0:1}"), GRO $(on_off "${bits:1:1}")," \
		"checksums $(on_off "${bits:2:1}")," \
		"scatter-gather $(on_off "${bits:3:1}"), jumbo frames $(on_off "${bits:4:1}")"
}

for bits in "${PAIRS[@]}"; do
	set_switches "$bits"
	for family in -4 -6; do
		check "$(name_of "$bits"): RC (IPv${family#-})" \
			integrity_pair $family --ops all --sizes 100,mtu+1,60000 \
			--layouts odd,uneven --qps 2 --flags bidir --count 36
	done
	check "$(name_of "$bits"): UD" \
		integrity_pair -6 --types ud --ops send,send_imm --sizes 0,1,mtu-1,mtu \
		--count 20
done
finish
