#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Every end of a device, and what contends for one, 50 times each; 5 times where
# everything is checked and each takes most of a minute.

export ROUNDS=50
[[ ! -e /proc/lockdep ]] || ROUNDS=5
status=0
for script in teardown exclusive coexist contention; do
	"$(dirname "$0")/../integration/$script.sh" long || status=1
done
exit "$status"
