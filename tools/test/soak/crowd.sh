#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# 10,000 QPs and their end, each by itself, too; and 65,536 where the memory is there.

set -u
here=$(dirname "$0")/../integration
rc=0
QPS=10000 ENDS="exit kill destroy" "$here/crowd.sh" || rc=1
# An idle QP takes some 20 KiB, and three times that where KASAN shadows it.
if (($(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) > 65536 * 64)); then
	QPS=65536 "$here/crowd.sh" || rc=1
else
	echo "ok - 65,536 QPs # SKIP this machine has no 4 GiB for them"
fi
exit $rc
