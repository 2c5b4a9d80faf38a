# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# TAP of those who check the harness, the host's side of it; to be sourced. The scripts of
# tools/test have tools/test/lib/tap.sh.

# What stands before each name, the number of results, and 1 when one of them was bad
# shellcheck disable=SC2034
subject='' total=0 failed=0

# result NAME STATUS [FILE WITH WHY]
result() {
	total=$((total + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok - $subject$1"
	else
		failed=1
		echo "not ok - $subject$1"
		[ -z "${3:-}" ] || tail -40 "$3" | sed 's/^/# /'
	fi
}
