#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program with a thread that fetches the pages of another one: neither waits for us for ever.
set -eu
. "$E2E/soft.sh"
soft_begin

status=0
"$PROG/userfaults" >/dev/null || status=$?
[ "$status" != 77 ] || soft_skip "no userfaultfd for this user"
soft_check userfaults timeout 60 "$PROG/userfaults"
soft_lists userfaults 2
