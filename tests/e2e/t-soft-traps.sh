#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program that handles, blocks, awaits and ignores SIGTRAP itself, and dies of it.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check traps "$PROG/traps"
soft_lists traps 6
