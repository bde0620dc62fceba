#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The simplest programs: no libc, static, and dynamically linked.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check mini "$PROG/mini"
soft_lists mini 1
soft_check spin "$PROG/spin" 500
soft_check true /bin/true
