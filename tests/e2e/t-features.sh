#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stock perf prints every feature of the header, and they are those of this machine.
. "$E2E/lib.sh"
need_perf

want 0 "$AUXREC" record --source=none -o f -- "$PROG/pingpong" 20
"$PERF" script -i f --header-only -I >h 2>complaints || { cat complaints; fail "header"; }
[ ! -s complaints ] || { cat complaints; fail "perf complains about the header"; }

has() {
	grep -qE "$1" h || { cat h; fail "no '$1' in the header"; }
}
has "^# hostname : $(uname -n)\$"
has "^# os release : $(uname -r)\$"
has '^# perf version : auxrec [0-9.]+ \(source: none\)'
has "^# arch : $(uname -m)\$"
has "^# nrcpus online : $(nproc --all | sed 's/.*/[0-9]+/')\$"
has '^# nrcpus avail : [0-9]+'
has "^# cpudesc : $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1 | tr -s ' ')\$"
has '^# cpuid : [A-Za-z]+,[0-9]+,[0-9]+,[0-9]+'
has "^# total memory : $(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) kB"
has '^# cmdline : .*auxrec record --source=none -o f -- .*pingpong 20'
has '^# event : name = context-switches,'
has '^# event : name = tracking,'
has 'context_switch = 1'
has '^# sibling (sockets|cores) *: '
has '^# node0 meminfo'
has '^# pmu mappings: .*software = 1'
has '^# sample duration :'
# The lines that perf itself would have written about this machine.
"$PERF" record -q -e dummy:u -o p true >/dev/null 2>&1 &&
	"$PERF" script -i p --header-only -I >hp 2>/dev/null &&
	for line in hostname 'os release' arch 'nrcpus online' 'nrcpus avail' cpudesc cpuid \
		'total memory' 'sibling sockets' 'sibling threads' 'CPU 0:' 'node0 cpu list' \
		'sibling dies' 'CPU cache info'; do
		[ "$(grep "^# $line" h)" = "$(grep "^# $line" hp)" ] ||
			fail "perf has '$(grep "^# $line" hp)', we have '$(grep "^# $line" h)'"
	done

# perf lists the PMUs in the order of the directory; 6.12 adds a core PMU where there is none.
pmus() {
	sed -n 's/^# pmu mappings: //p' "$1" | tr -d ' ' | tr , '\n' | grep -v '^cpu=4$' | sort
}
[ ! -s hp ] || [ "$(pmus h)" = "$(pmus hp)" ] || fail "pmu mappings: $(pmus h), perf: $(pmus hp)"

# Build ids: perf's list, and what the file itself says.
"$PERF" buildid-list -i f >ids 2>&1
grep -q '/pingpong$' ids || "$PERF" buildid-list -i f --with-hits >ids 2>&1
"$PERF" script -i f --show-mmap-events 2>/dev/null | grep -q 'MMAP2.*pingpong' || fail "no MMAP2"
id=$(readelf -n "$PROG/pingpong" | sed -n 's/.*Build ID: //p')
"$PERF" script -i f --show-mmap-events 2>/dev/null | grep 'MMAP2.*pingpong' | grep -q "$id" ||
	fail "the build id of pingpong is not $id in its MMAP2 record"
grep -q "$id" ids || { cat ids; fail "the build id of pingpong is not in the BUILD_ID feature"; }
"$PERF" evlist -v -i f >ev 2>&1 || { cat ev; fail evlist; }
grep -q 'sample_id_all: 1' ev || fail "sample_id_all"
