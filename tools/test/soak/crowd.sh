#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# 10,000 QPs and their end, each by itself, too; and 65,536 where the memory is there.

set -u -o pipefail
here=$(dirname "$0")/../integration
rc=0 planned=0

# crowd VARIABLE=VALUE...: crowd.sh, whose plan becomes part of ours
crowd()
{
	local output

	output=$(mktemp)
	env "$@" "$here/crowd.sh" | tee "$output" | sed -u 's/^1\.\./# &/' || rc=1
	planned=$((planned + $(sed -n 's/^1\.\.//p' "$output")))
	rm "$output"
}

crowd QPS=10000 ENDS="exit kill destroy"
# An idle QP takes some 20 KiB, and three times that where KASAN shadows it.
if (($(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) > 65536 * 64)); then
	crowd QPS=65536
else
	echo "ok - 65,536 QPs # SKIP this machine has no 4 GiB for them"
	planned=$((planned + 1))
fi
echo "1..$planned"
exit $rc
