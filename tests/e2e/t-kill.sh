#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The recorder is killed with -9 at twenty random moments, the first of them during its
# start: each time there is either no file at all, or one that stock perf reads as it is.
. "$E2E/lib.sh"
need_root "system-wide events"
need_perf

files=0 events=0
for i in $(seq 20); do
	rm -f f
	"$AUXREC" record -q -a -m 64K -o f 2>err &
	rec=$!
	ms=$(od -An -N2 -tu2 /dev/urandom)
	if [ "$i" -le 5 ]; then ms=$((ms % 30)); else ms=$((ms % 900)); fi
	"$PROG/pingpong" 3000 >/dev/null
	sleep "$(printf '0.%03d' $ms)"
	kill -9 $rec
	wait $rec 2>/dev/null
	[ -e f ] || continue
	files=$((files + 1))
	perf_accepts f
	n=$(wc -l <accepted)
	[ "$n" -gt 0 ] || fail "killed after $ms ms: a file without records"
	events=$((events + n))
	"$PERF" report -i f --stats >stats 2>&1 || { cat stats; fail "perf report --stats"; }
	! grep -i 'fail' stats || fail "perf report fails"
	"$AUXREC" info --json f >j || fail "info refuses a killed file"
	[ "$(json j 'd["finished"]')" = False ] || fail "a killed file claims to be finished"
	"$PERF" evlist -i f >evlist 2>&1
	grep -q dummy evlist || grep -q context-switches evlist || { cat evlist; fail "evlist"; }
done
[ "$files" -ge 10 ] || fail "only $files files in 20 runs: nothing was tested"
for left in *tmp*; do
	[ ! -e "$left" ] || fail "left-over: $left"
done
echo "$files files, $events records"
