#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An executable below 4 GiB with its libraries far above, and a PSB every 2 KiB: perf expands
# the address of a PSB+ by the one before, so it has to be whole.
set -eu
. "$E2E/soft.sh"
soft_begin

SOFT_EVENT=intel_pt/psb_period=0/u
export SOFT_EVENT
soft_check lowcode "$PROG/lowcode"
