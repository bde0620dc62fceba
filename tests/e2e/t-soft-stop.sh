#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SIGSTOP and SIGCONT, and a sleep that a stop interrupts.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check stopcont "$PROG/stopcont"
soft_lists stopcont 3
