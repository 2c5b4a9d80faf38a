#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# integration/switches.sh, with each combination of them.

export COMBINATIONS=all
exec "$(dirname "$0")/../integration/switches.sh"
