#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What tools/test/exporter/run has the VM run; exporter.ko is loaded.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
link_pair
tap_run "dma-bufs that move" "$BUILD/verbs" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" moving_dmabuf
finish
