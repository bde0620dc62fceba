#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Branches that fault, that push where there is no stack yet, that threads come to while another
# one is stepped over them.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check branches "$PROG/branches"
soft_check threads "$PROG/branches" 8
soft_lists threads 9
