#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What flight recording costs while it waits, beside perf record waiting to be asked for the same,
# and what a snapshot then costs: soak.sh BUILD [SECONDS] (600). The whole machine is recorded, with
# a light load: here without a PMU, in the guest with one (tests/guest/soak.sh). Needs root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
O=$(cd "$1" && pwd)
[ "$(id -u)" = 0 ] || { echo "make soak records the whole machine: run it as root" >&2; exit 1; }
export O SOAK_SECONDS="${2:-600}" AUXREC="$O/bin/auxrec" PERF="${PERF:-perf}"
export GUEST_TIMEOUT=$((2 * SOAK_SECONDS + 400))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work"
. "$here/../e2e/waiting.sh"
. "$here/soaking.sh"

echo "== switches of all cpus, $SOAK_SECONDS s each, together"
light_load &
load=$!
head_line
start auxrec "$AUXREC" record -v -q -a --source=none --flight=4M -o auxrec.data
start perf "$PERF" record -q -a --overwrite --switch-output=signal -e dummy:u --switch-events -B -N \
	-o perf.data
soak auxrec perf
kill $load
"$here/../guest/run.sh" -k cloud61 -t soak.sh
