#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Children made with CLONE_UNTRACED are traced like others, and none of them, nor their parent, can
# tell.
set -eu
. "$E2E/soft.sh"
soft_begin

soft_check untraced "$PROG/untraced"
soft_lists untraced 3
