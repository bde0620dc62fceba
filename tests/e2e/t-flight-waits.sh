#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Flight recording waits: while nothing happens nothing is written, memory does not grow, and the
# recorder sleeps, whatever is recorded meanwhile; with every source that needs no PMU. After a
# snapshot it runs with the priority that it had.
. "$E2E/lib.sh"
. "$E2E/waiting.sh"
SECONDS_LONG=2

# begin NAME ARGUMENT...: recorder and, until it is on, wait.
begin() {
	name=$1
	shift
	"$AUXREC" record -v --flight=256K -o "$name" "$@" 2>"$name.err" &
	recorder=$!
	for _ in $(seq 100); do
		! grep -q 'events enabled\|^auxrec: .*failed' "$name.err" || break
		sleep 0.05
	done
	for _ in $(seq 100); do # what begins takes a while
		waited $recorder 0.3
		[ "$cpu_ms" -gt 0 ] || return
	done
}

# cost MOST_WAKEUPS MOST_KIB
cost() {
	waited $recorder $SECONDS_LONG
	echo "$name: $bytes bytes, $wakeups wake-ups, $cpu_ms ms of cpu, $memory_kib KiB" \
		"(+$grown_kib) in $SECONDS_LONG s"
	[ "$bytes" = 0 ] || fail "$name: something was written"
	[ ! -e "$name" ] || fail "$name: the file is there"
	[ "$grown_kib" -le "$2" ] || fail "$name: memory grows"
	[ "$wakeups" -le "$1" ] || fail "$name: woken $wakeups times"
}

# The scheduling policy of the recorder: 0 SCHED_OTHER.
policy() {
	sed 's/.*) //' /proc/$recorder/stat | cut -d' ' -f39
}

snapshot() {
	before=$(policy)
	kill -USR2 $recorder
	for _ in $(seq 100); do
		! grep -q 'snapshot 1 ' "$name.err" || break
		sleep 0.05
	done
	grep 'snapshot 1 ' "$name.err" || { cat "$name.err"; fail "$name: no snapshot"; }
	[ "$(policy)" = "$before" ] || fail "$name: another priority than before"
	[ "$(stat -c %s "$name")" -gt 1000 ] || fail "$name: an empty snapshot"
}

# end STATUS: a command is ended, too.
end() {
	kill -TERM $recorder
	got=0
	wait $recorder || got=$?
	[ $got = "$1" ] || fail "$name: status $got"
}

# Tens of thousands of switches a second.
"$PROG/pingpong" 1000000000 &
busy=$!
trap 'kill -KILL $busy ${recorder:-} 2>/dev/null' EXIT
begin switches --source=none -p $busy
cost 2 128
snapshot
end 0
[ "$("$AUXREC" info --json switches | json /dev/stdin 'd["records"]["SWITCH"]')" -gt 1000 ] ||
	fail "few switches were recorded"
kill -KILL $busy

# A program that sleeps, stepped.
begin stepped --source=soft -- sleep 100
cost 2 128
snapshot
end 143

# What others do is told to who records everything: for each 256 KiB of that it wakes up, and
# keeps the tasks that have ended.
if is_root; then
	begin all --source=none -a
	cost 20 4096
	snapshot
	end 0
fi
