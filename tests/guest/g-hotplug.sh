#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cpus leave and join while all of them are recorded: slowly, within one round, and one that
# was not there at the start. Not a byte is missing, of the others and of those that moved.
. "$GUEST/lib.sh"

CPU1=/sys/devices/system/cpu/cpu1/online
# Commands, with the `online` file as their argument.
# shellcheck disable=SC2016 # for the shells that they are given to
{
slowly='for i in 1 2 3; do
	sleep 0.5; echo 0 >"$0"; sleep 0.7; echo 1 >"$0"
done; sleep 0.7'
quickly='for i in 1 2 3 4; do
	echo 0 >"$0"; echo 1 >"$0"; sleep 0.6
done'
comes='sleep 0.5; echo 1 >"$0"; sleep 1'
leaves='sleep 0.5; echo 0 >"$0"; sleep 0.5'
}

# hot NAME COMMAND: record all cpus while that command moves cpu 1.
hot() {
	stats "$1.before"
	auxrec record --strict -a -o "$1.data" -- sh -c "$2" "$CPU1" 2>"$1.err"
	got=$?
	stats "$1.after"
	cat "$1.err"
	[ $got = 0 ] || fail "$1 ends with $got"
}

told() { # name, word, times
	got=$(grep -c "cpu 1 $2" "$1.err")
	[ "$got" = "$3" ] || fail "$1: 'cpu 1 $2' is told $got times, not $3"
}

guest() {
	[ -f $CPU1 ] || { echo "one cpu only"; exit 77; }
	param bytes_per_tick 1024
	hot slow "$slowly"
	hot quick "$quickly"
	hot leaves "$leaves"
	hot comes "$comes"
	auxrec record -q -a -o - -- sh -c "$slowly" "$CPU1" >stream.data || fail "stream"
	echo 1 >$CPU1
	auxrec record -q -a -Se -o snap.data -- sh -c "$leaves" "$CPU1" || fail "snapshot"
	echo 1 >$CPU1
	told slow "went offline" 3
	told slow "came online" 3
	told quick "went offline" 4
	told quick "came online" 4
	told leaves "went offline" 1
	told leaves "came online" 0
	told comes "went offline" 0
	told comes "came online" 1
}

# perf finds as many packets as the module wrote, and says nothing else.
accepted() { # name
	"$PERF" script --itrace=w -F event -i "$1.data" >events 2>complaints ||
		{ cat complaints; fail "$1: perf"; }
	if grep -iE 'error|fail|unknown|out of order' complaints; then
		fail "$1: perf complains"
	fi
	wanted=$(cat "$1.before" "$1.after" | sed 's/.* ptw=\([0-9]*\) .*/\1/' |
		awk '{ v[NR] = $1 } END { for (i = 1; i <= NR / 2; i++) s += v[NR / 2 + i] - v[i]
			print s }')
	got=$(grep -c ptwrite events)
	echo "$1: perf script finds $got PTWRITEs of $wanted"
	[ "$got" = "$wanted" ] || fail "$1: perf counts differently"
}

host() {
	for name in slow quick leaves comes; do
		account "$name"
		accepted "$name"
	done
	[ "$(json slow.data 'len(d["aux"])')" = "$(grep -c '' slow.after)" ] ||
		fail "slow: a queue too many or too few"
	[ "$(json snap.data 'sum(q["bytes"] > 1000 for q in d["aux"])')" = \
		"$(grep -c '' slow.after)" ] || { cat info.json; fail "snapshot of a cpu that left"; }
	# shellcheck disable=SC2002 # perf 6.1 reads a stream's file wrongly, a pipe well
	cat stream.data | "$PERF" script -i - --show-switch-events >dump 2>complaints ||
		{ cat complaints; fail "perf refuses the stream"; }
	[ "$(grep -c 'PERF_RECORD_SWITCH.*IN' dump)" -gt 10 ] || fail "stream: no switches"
}

"$1"
