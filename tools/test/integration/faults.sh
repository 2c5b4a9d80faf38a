#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Want of memory: allocations that the driver makes fail, one in ten. What is on
# its way arrives nevertheless; verbs and links fail with ENOMEM or work; and
# nothing is left over, of which kmemleak is the judge when the machine ends.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

FAILSLAB=/sys/kernel/debug/failslab
PAGES=/sys/kernel/debug/fail_page_alloc
ROUNDS=${ROUNDS:-10}

if [[ ! -d $FAILSLAB ]]; then
	skip "want of memory" "this kernel has no fault injection"
	finish
fi

build
ns_pair
link_pair

# faults PERCENT: of the allocations that have the driver in their call stack
faults()
{
	local start size folder

	start=$(</sys/module/roce/sections/.text)
	size=$(awk '$1 == "roce" { print $2 }' /proc/modules)
	for folder in "$FAILSLAB" "$PAGES"; do
		echo 0 >"$folder/probability"
		echo "$start" >"$folder/require-start"
		printf '%#x' $((start + size)) >"$folder/require-end"
		echo 32 >"$folder/stacktrace-depth"
		echo 0 >"$folder/verbose"
		echo -1 >"$folder/times"
		echo N >"$folder/ignore-gfp-wait"
		echo "$1" >"$folder/probability"
	done
	echo 0 >"$PAGES/min-order"
}

no_faults()
{
	echo 0 >"$FAILSLAB/probability"
	echo 0 >"$PAGES/probability"
}

# How often there was no memory for a train, on both sides
wants()
{
	echo $(($(counter "$DEV_A" tx_stalled_memory) + $(counter "$DEV_B" tx_stalled_memory)))
}

traffic_goes_on()
{
	local before

	before=$(wants)
	background_traffic --bytes 3m
	faults 10
	wait "$TRAFFIC" || { no_faults; cat "$TMP/traffic"; return 1; }
	no_faults
	echo "$(($(wants) - before)) times there was no memory for a train"
	(($(wants) > before))
}
check "what is on its way arrives, though every tenth allocation fails" traffic_goes_on

# either COMMAND...: it works, or says that memory is wanting
either()
{
	local said

	if said=$("$@" 2>&1); then
		worked=$((worked + 1))
	elif [[ $said == *"Cannot allocate memory"* || $said == *"went away"* ]]; then
		failed=$((failed + 1))
	else
		no_faults
		echo "$said"
		return 1
	fi
}

verbs_fail_well()
{
	local worked=0 failed=0 i

	faults 2
	for ((i = 0; i < ROUNDS; i++)); do
		either integrity_pair --ops mix --sizes 300 --count 7
	done
	no_faults
	echo "$worked runs worked, $failed failed"
	((failed > 0))
}
check "verbs work, or fail with ENOMEM" verbs_fail_well

links_fail_well()
{
	local worked=0 failed=0 i

	b ip link add spare type dummy
	b ip link set spare up
	for ((i = 0; i < ROUNDS; i++)); do
		faults 5
		either b rdma link add spare_link type roce netdev spare
		no_faults
		link_gone spare_link || b rdma link delete spare_link
	done
	b ip link del spare
	echo "$worked links were added, $failed not"
	((failed > 0))
}
check "links are added, or fail with ENOMEM" links_fail_well
check "and all is well when there is memory" integrity_pair --ops mix --sizes 5000 --count 28
finish
