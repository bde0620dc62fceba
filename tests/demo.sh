#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job, shown: demo.sh AUXREC PROGRAM. Record a small program, then let stock perf and
# auxrec say what is in the file. Everything stays in a temporary folder.
set -eu
auxrec=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work"

show() {
	printf '\n$ %s\n' "$*"
}

cp "$program" hello
show "auxrec record -- ./hello 1000    (a program that counts odd random numbers)"
"$auxrec" record -- ./hello 1000
show "auxrec info perf.data"
"$auxrec" info perf.data
show "auxrec check --decode perf.data    (is it sound, and does the trace decode?)"
"$auxrec" check --decode perf.data
show "perf report --itrace=b --sort=symbol --stdio    (the branches, by function)"
perf report --itrace=b --sort=symbol --stdio 2>/dev/null | grep -v '^#' | grep . |
	sed 's/ *- *- *$//' | head -n 8
show "perf script --itrace=i1i | tail    (every instruction, in order)"
perf script --itrace=i1i -F comm,tid,time,ip,sym,symoff >flow 2>/dev/null
grep ' main+' flow | tail -n 6
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
