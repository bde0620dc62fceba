#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exec by a thread that is not the leader: it goes on under the leader's number.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check threadexec "$PROG/threadexec"
soft_lists threadexec 3
