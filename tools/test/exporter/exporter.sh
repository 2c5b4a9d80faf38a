#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Regions of dma-bufs whose exporter moves them when nobody has pinned them: nothing is
# used after it was freed, and what cannot be pinned or mapped is refused without a word of
# the kernel. I/O memory can be written and read. exporter.ko comes from tools/test/exporter/build.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
insmod "$BUILD/exporter-$ROCE_KERNEL/exporter.ko"
ns_pair
link_pair
tap_run "dma-bufs that move" "$BUILD/verbs" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" moving_dmabuf
finish
