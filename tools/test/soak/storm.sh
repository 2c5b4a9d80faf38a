#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# integration/storm.sh for longer, with more threads, while a CPU comes and goes

export HOTPLUG=yes THREADS=16 PROCESSES=6
export ROUNDS=20000
[[ ! -e /proc/lockdep ]] || ROUNDS=3000
exec "$(dirname "$0")/../integration/storm.sh"
