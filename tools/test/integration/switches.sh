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
RUNS=(00000 11111 11100 10011 01010 00101)
[[ ${COMBINATIONS:-pairs} == pairs ]] || RUNS=({0,1}{0,1}{0,1}{0,1}{0,1})

build
ns_pair
link_pair

# set_switches NS NETDEV: as SETTING says. The kernel switches off what needs
# another one that is off.
set_switches()
{
	local mtu=1500

	[[ ${SETTING[4]} == off ]] || mtu=9000
	ip netns exec "$1" ethtool -K "$2" tx "${SETTING[2]}" sg "${SETTING[3]}" \
		gso "${SETTING[0]}" tso "${SETTING[0]}" \
		tx-udp-segmentation "${SETTING[0]}" gro "${SETTING[1]}" >/dev/null
	ip -n "$1" link set "$2" mtu "$mtu"
}

for run in "${RUNS[@]}"; do
	read -ra SETTING < <(sed 's/0/off /g; s/1/on /g' <<<"$run")
	set_switches "$NS_A" "$VETH_A"
	set_switches "$NS_B" "$VETH_B"
	check_services "segmentation ${SETTING[0]}, GRO ${SETTING[1]}, checksums \
${SETTING[2]}, scatter-gather ${SETTING[3]}, jumbo frames ${SETTING[4]}: "
done
finish
