#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Processes: fork, vfork, posix_spawn, system(), and two that talk over pipes.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check forkexec "$PROG/forkexec"
soft_lists forkexec 6
soft_check pingpong "$PROG/pingpong" 20
soft_lists pingpong 2
