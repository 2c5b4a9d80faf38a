#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What a device tells of itself, and what can be changed of that.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
link_pair

DESCRIPTION=/sys/class/infiniband/$DEV_A/node_desc
OTHER=/sys/class/infiniband/$DEV_B/node_desc

# describe TEXT: as rdma-ndd does
describe() { printf %s "$1" >"$DESCRIPTION" && [[ $(<"$DESCRIPTION") == "$1" ]]; }

check "a device takes a node description" describe "rack 7, node 3, $DEV_A"
check "and another one in its place" describe "node 3"
check "of 64 bytes at most" describe "$(printf '%064d' 7)"
check "other devices keep theirs" [ "$(<"$OTHER")" = roce ]

# Scripts for rdma_rxe look for both.
SYSFS=/sys/class/infiniband/$DEV_A
check "it tells its netdev in the file parent" [ "$(a cat "$SYSFS/parent")" = "$VETH_A" ]
check "it is a virtual device" \
	[ "$(a realpath "$SYSFS")" = "/sys/devices/virtual/infiniband/$DEV_A" ]
for name in sent_bytes rcvd_bytes ack_deferred send_err; do
	check "it has the counter $name" counter "$DEV_A" $name
done

# 6.12 tells it, 6.1 does not: udev leaves a name alone that a user has chosen.
if name_type=$("$TEST_DIR/operators/name_type.py" "$DEV_A"); then
	check "its name was chosen by a user" [ "$name_type" = user ]
else
	skip "its name was chosen by a user" "this kernel does not tell"
fi
finish
