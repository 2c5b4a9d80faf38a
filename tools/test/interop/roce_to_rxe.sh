#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Interop: mainline rdma_rxe serves, roce asks.

export LINK_TYPE_A=rxe LINK_TYPE_B=roce
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
