#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trace around a trigger: --pre leaves out what is older, from a PSB on; --window sizes the areas by
# the rate that the module writes at, and says that snapshots reach back so far.
. "$GUEST/lib.sh"

# flight NAME OPTION...: two seconds, with a snapshot at the end.
flight() {
	name=$1
	shift
	auxrec record -a -e intel_pt// -o "$name.data" "$@" -- sleep 2 2>"$name.err"
	got=$?
	cat "$name.err"
	[ $got = 0 ] || fail "$name: status $got"
}

guest() {
	param bytes_per_tick 4096
	flight all --flight=4M --trigger=exit
	flight pre --flight=4M --trigger=exit --pre=200ms
	flight window --flight=e --window=300ms
}

# bytes NAME: of trace.
bytes() {
	json "$1.data" 'sum(q["bytes"] for q in d["aux"])'
}

host() {
	for f in all pre window; do
		"$AUXREC" info $f.data | sed -n '1,40p'
		"$PERF" script --itrace=w -F event,cpu,time -i $f.data >$f.events 2>$f.complaints
		! grep -i 'error' $f.complaints || fail "perf complains about $f"
		[ "$(grep -c ptwrite $f.events)" -gt 20 ] || fail "perf decodes nothing of $f"
	done
	all=$(bytes all) pre=$(bytes pre)
	echo "bytes: all $all, pre $pre, window $(bytes window)"
	[ $((pre * 3)) -lt "$all" ] || fail "--pre leaves out too little"
	[ "$pre" -gt 0 ] || fail "--pre leaves out all"
	for cpu in 0 1; do
		grep -q "\[00$cpu\].*ptwrite" pre.events || fail "nothing of cpu $cpu with --pre"
	done
	grep -q 'of trace per ring for .* as measured' window.err || fail "no rate"
	grep -q 'the window of 300.0 ms is covered' window.err || fail "the window is not covered"
}

"$1"
