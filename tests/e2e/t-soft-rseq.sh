#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Restartable sequences with branches in them come to their end, and decode. (Step by step they
# never do: the kernel begins them anew at each stop.)
set -eu
. "$E2E/soft.sh"
soft_begin
status=0
soft_record rseqs timeout 60 "$PROG/rseqs" || status=$?
[ "$status" = 9 ] || { cat rseqs/err; soft_fail "status $status"; }
[ "$(cat rseqs/out)" = "counted to 300" ] || soft_fail "counted otherwise"
soft_witness rseqs
