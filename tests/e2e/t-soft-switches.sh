#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Context switches of programs traced in software: those that stopping them makes, and no others,
# are left out and counted. perf, which records all of them at the same time, is the witness, and
# programs that know how often they sleep.
# shellcheck disable=SC2015
. "$E2E/soft.sh"
soft_begin

# Both recorders by one clock: else their times, and the program's, cannot be compared.
"$AUXREC" info begin/perf.data | grep -q '^clock *monotonic_raw' ||
	soft_skip "the software source follows the TSC here, not a clock that programs can read"
if [ "$(id -u)" = 0 ]; then pages=1024; else pages=64; fi

# both DIR CMD...: DIR gets perf.data and raw.data.
both() {
	dir=$1
	shift
	mkdir -p "$dir"
	want=0
	"$@" >"$dir/out" 2>&1 || want=$?
	status=0
	"$PERF" record -q -k CLOCK_MONOTONIC_RAW -e dummy:u --switch-events -m "$pages" \
		-o "$dir/raw.data" "$AUXREC" record -v --source=soft -o "$dir/perf.data" -- "$@" \
		>"$dir/out" 2>"$dir/err" || status=$?
	[ "$status" = "$want" ] || { cat "$dir/err"; soft_fail "$*: status $status, not $want"; }
	"$PERF" report -i "$dir/raw.data" --stats >"$dir/stats" 2>&1
	! grep 'LOST' "$dir/stats" || soft_skip "perf has lost records on this busy machine"
	soft_say "$dir/found" "$AUXREC" check "$dir/perf.data" || soft_fail "$*: check"
	! grep -E '^(loss|damage)' "$dir/found" || soft_fail "$*: check finds something"
}

# pairs DIR [N]: of all threads, as many as there were stops, but for those of job control, 1 to N.
pairs() {
	stops=$(sed -n 's/^auxrec:  *\([0-9]*\) stops:.*/\1/p' "$1/err")
	left=$("$AUXREC" info --json "$1/perf.data" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["tasks"]["switches_left_out"])')
	{ [ "$stops" -ge $((left + (${2-0} > 0))) ] && [ "$stops" -le $((left + ${2-0})) ]; } ||
		soft_fail "$1: $stops stops, but $left pairs are left out"
}

both waits "$PROG/waits" 40
"$E2E/softswitches.py" waits/perf.data "$AUXREC" raw=waits/raw.data waits/out 40 ||
	soft_fail "waits"
pairs waits
for p in forkexec "pingpong 50"; do
	# shellcheck disable=SC2086
	both "${p% *}" "$PROG"/$p
	"$E2E/softswitches.py" "${p% *}/perf.data" "$AUXREC" "raw=${p% *}/raw.data" || soft_fail "$p"
	pairs "${p% *}"
done

# The negative control: with other threads, or a sleep less, this test fails.
! "$E2E/softswitches.py" waits/perf.data "$AUXREC" raw=forkexec/raw.data >/dev/null 2>&1 ||
	soft_fail "the switches of another program are the same"
! "$E2E/softswitches.py" waits/perf.data "$AUXREC" waits/out 41 >/dev/null 2>&1 ||
	soft_fail "any number of sleeps is right"

# What job control stops waits by itself: that stays.
both stopcont "$PROG/stopcont"
"$E2E/softswitches.py" stopcont/perf.data "$AUXREC" raw=stopcont/raw.data || soft_fail "stopcont"
pairs stopcont 2

# Beside instructions.
"$PERF" script -i waits/perf.data --itrace=i1000i --show-switch-events >all 2>err ||
	soft_fail "perf script ends with $?"
grep -q 'PERF_RECORD_SWITCH' all && grep -q 'instructions' all || soft_fail "perf script shows not all"
soft_report waits

# Without.
"$AUXREC" record --source=soft --no-switch-events -o none.data -- "$PROG/mini" 2>err || :
"$AUXREC" info none.data >info
! grep -Ew 'SWITCH|READ|context-switches|left out' info || soft_fail "--no-switch-events"
status=0
"$AUXREC" record --source=none --no-switch-events -o no.data -- true 2>err || status=$?
[ $status = 2 ] || soft_fail "--no-switch-events without a software source: status $status"
