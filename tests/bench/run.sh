#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Figures beside perf record, taken in turn in one run: run.sh BUILD. Needs root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
[ "$(id -u)" = 0 ] || { echo "make bench records the whole machine: run it as root" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work"
python3 "$here/bench.py" "$build/bin/auxrec" "${PERF:-perf}" "$build/prog"
python3 "$here/checkbench.py" "$build/bin/auxrec"
python3 "$here/softbench.py" "$build/bin/auxrec" "$build/prog"
