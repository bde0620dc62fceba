#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Signals: timers, faults, handlers in handlers, restarted system calls.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check signals "$PROG/signals"
soft_lists signals 2
