#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# integration/teardown.sh, 50 times each.

export TEARDOWNS=50 ROUNDS=50 CHECK_TIMEOUT=3600
exec "$(dirname "$0")/../integration/teardown.sh"
