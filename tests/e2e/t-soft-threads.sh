#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Threads: locks, a condition variable, code that another thread has just mapped.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check threads "$PROG/threads"
soft_lists threads 5
