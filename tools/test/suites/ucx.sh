#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ucx.sh [DRIVER...]: UCX's own tests, those that use a device. build-ucx builds them.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../ucx_gtest.sh
. "$TEST_DIR/ucx_gtest.sh"

over_driver()
{
	suite "UCX, transport rc_verbs" ucx 160 'rc_verbs/*'
	suite "UCX, transport ud_verbs" ucx 112 'ud_verbs/*'
	suite "UCX, connections of rdmacm" ucx 114 'rdmacm/*'
	suite "UCX, memory domain of ib" ucx 8 'ib/test_*md*'
}

known "rxe: UCX, transport rc_verbs" "status != UCS_ERR_CANCELED" \
	"an assertion ends all"
known "rxe: UCX, transport ud_verbs" "Work Request Flushed Error" \
	"a flushed work request ends all"
left_out "rxe: UCX, connections of rdmacm" "it never ends"
ucx_beside "$@"
finish
