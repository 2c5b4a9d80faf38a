#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# integration/faults.sh, with more tries at each rate.

export ROUNDS=10
exec "$(dirname "$0")/../integration/faults.sh"
