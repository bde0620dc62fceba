#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job, shown: record a small program, then let stock perf and auxrec say what is in
# the file. Everything stays in a temporary folder.
set -eu
auxrec=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work"

show() {
	printf '\n$ %s\n' "$*"
}

show "auxrec record -- /bin/true"
"$auxrec" record -- /bin/true
show "auxrec info perf.data"
"$auxrec" info perf.data
show "perf report --itrace=b --sort=symbol --stdio    (the branches, by function)"
perf report --itrace=b --sort=symbol --stdio 2>/dev/null | grep -v '^#' | grep . | head -n 12
show "perf script --itrace=i1i | tail    (every instruction, in order)"
perf script --itrace=i1i -F comm,tid,time,ip,sym,symoff,dso >flow 2>/dev/null
tail -n 6 flow
echo "... $(wc -l <flow) instructions in all"

if "$auxrec" record -q -a -o switches.data -- sleep 0.3 2>/dev/null; then
	show "auxrec record -a -o switches.data -- sleep 0.3"
	"$auxrec" info switches.data
	show "perf script -i switches.data --show-switch-events | tail"
	perf script -i switches.data --show-switch-events | tail -n 4
else
	echo
	echo "(context switches of the whole machine need root or perf_event_paranoid 0: skipped)"
fi
