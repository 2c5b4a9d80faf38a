#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The rules of the verbs: states, attributes, limits, and the right completion
# for each failure. (The assertions are in tools/test/verbs/.)

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
link_pair
check "ibv_devices lists both devices" \
	bash -c "ibv_devices | grep -w $DEV_A && ibv_devices | grep -w $DEV_B"
check "ibv_devinfo -v describes a device" a ibv_devinfo -v -d "$DEV_A"
tap_run "verbs over IPv4" \
	"$BUILD/verbs" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B"
tap_run "verbs over IPv6" \
	"$BUILD/verbs" "$DEV_A" "$GID6_A" "$DEV_B" "$GID6_B" datagrams remote
finish
