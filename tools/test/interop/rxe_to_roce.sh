#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Interop: roce serves, mainline rdma_rxe asks.

export LINK_TYPE_A=roce LINK_TYPE_B=rxe
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
