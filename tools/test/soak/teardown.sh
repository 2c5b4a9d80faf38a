#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# integration/teardown.sh, 50 times each.

TEARDOWNS=50 ROUNDS=50 exec "$(dirname "$0")/../integration/teardown.sh"
