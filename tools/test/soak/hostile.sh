#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# integration/hostile.sh with 10^5 rounds and 10^6 packets, a tenth of these where
# everything is checked, from a seed of the day, which it prints.

export SEED=${SEED:-$(date +%j)} ROUNDS=100000 FLOOD=1000000
[[ ! -e /proc/lockdep ]] || FLOOD=100000
exec "$(dirname "$0")/../integration/hostile.sh"
