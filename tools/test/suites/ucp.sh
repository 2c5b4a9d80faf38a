#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ucp.sh [DRIVER...]: UCX's own tests of UCP, its upper layer, over rc and over ud

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../ucx_gtest.sh
. "$TEST_DIR/ucx_gtest.sh"

over_driver()
{
	suite "UCX, UCP over rc" ucx 2400 'rc/*'
	suite "UCX, UCP over ud" ucx 2400 'ud/*'
}

known "rxe: UCX, UCP over rc" "Work Request Flushed Error" \
	"a flushed work request ends all"
known "rxe: UCX, UCP over ud" "Work Request Flushed Error" \
	"a flushed work request ends all"
ucx_beside "$@"
finish
