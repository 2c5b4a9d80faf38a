#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# integration/hostile.sh with 10^5 rounds, from a seed of the day, which it
# prints.

export SEED=${SEED:-$(date +%j)} ROUNDS=100000 CHECK_TIMEOUT=3600
exec "$(dirname "$0")/../integration/hostile.sh"
