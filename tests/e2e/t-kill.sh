#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The recorder is killed with -9 at random moments, the first of them during its start: each
# time there is either no file at all, or one that stock perf reads as it is. Twenty times
# with switches (of the whole machine, as root), and some more with a stepped program.
. "$E2E/lib.sh"
need_perf
files=0 records=0

random_ms() { # below
	n=$(od -An -N2 -tu2 /dev/urandom)
	echo $((n % $1))
}

# kill_after MS COMMAND...: the file that is left, if any, must be sound.
kill_after() {
	ms=$1
	shift
	rm -f f
	"$@" >/dev/null 2>err &
	rec=$!
	sleep "$(printf '0.%03d' "$ms")"
	kill -9 $rec
	wait $rec 2>/dev/null
	[ -e f ] || return 0
	files=$((files + 1))
	perf_accepts f
	n=$(wc -l <accepted)
	[ "$n" -gt 0 ] || fail "killed after $ms ms: a file without records"
	records=$((records + n))
	"$PERF" report -i f --stats >stats 2>&1 || { cat stats; fail "perf report --stats"; }
	! grep -i 'fail' stats || fail "perf report fails"
	"$AUXREC" info --json f >j || fail "info refuses a killed file"
	[ "$(json j 'd["finished"]')" = False ] || fail "a killed file claims to be finished"
	"$PERF" evlist -i f >evlist 2>&1
	grep -q dummy evlist || grep -q tracking evlist || { cat evlist; fail "evlist"; }
}

# Random moments: below 30 ms for the first five runs of each kind.
moment() {
	if [ "$1" -le 5 ]; then random_ms 30; else random_ms 950; fi
}

for i in $(seq 20); do
	ms=$(moment "$i")
	if is_root; then
		(sleep 0.01; exec "$PROG/pingpong" 3000 >/dev/null) &
		kill_after "$ms" "$AUXREC" record -q -a -m 64K -o f
	else
		kill_after "$ms" "$AUXREC" record -q --source=none -o f -- "$PROG/pingpong" 100000
	fi
done
wait
[ "$files" -ge 10 ] || fail "only $files files in 20 runs: nothing was tested"
echo "switches: $files files, $records records"

files=0 instructions=0
for i in 1 6 7 8 9 10; do
	kill_after "$(moment "$i")" "$AUXREC" record -q --source=soft -o f -- "$PROG/spin" 100000000
	[ -e f ] || continue
	[ "$(json j 'd["source"]')" = soft ] || fail "a killed software trace is not known as one"
	"$PERF" script -i f --itrace=i1i -F ip >flow 2>complaints || { cat complaints; fail "decode"; }
	! grep -q 'trace error' flow complaints || fail "a killed trace has decode errors"
	instructions=$((instructions + $(wc -l <flow)))
done
[ "$files" -ge 3 ] || fail "only $files software traces in 6 runs: nothing was tested"
[ "$instructions" -gt 1000 ] || fail "only $instructions instructions in $files software traces"
echo "software: $files files, $instructions instructions"
for left in *tmp*; do
	[ ! -e "$left" ] || fail "left-over: $left"
done
