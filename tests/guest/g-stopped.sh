#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --pause-when-stopped where the PMU counts: while the process is stopped it writes nothing on any
# cpu, in flight, too; when the process goes on, so does it; and all that it wrote is recorded, by
# its numbers, after storms of stops.
. "$GUEST/lib.sh"

bytes() {
	sed 's/.* \(bytes=[0-9]*\) .*/\1/' "$1" | tr '\n' ' '
}

# quiet, goes_on: within five seconds no cpu, and then each cpu, is written for.
quiet() {
	for _ in $(seq 25); do
		stats one
		sleep 0.2
		stats two
		[ "$(bytes one)" != "$(bytes two)" ] || return 0
	done
	fail "$name: stopped, and the trace goes on: $(bytes one), $(bytes two)"
}

goes_on() {
	for _ in $(seq 25); do
		stats now
		on=$(for cpu in $(cpus); do
			[ "$(count now "$cpu" bytes)" -le "$(count two "$cpu" bytes)" ] || echo "$cpu"
		done)
		[ "$(echo "$on" | wc -w)" -lt "$(cpus | wc -l)" ] || return 0
		sleep 0.2
	done
	fail "$name: it runs, and the trace does not: $(bytes two), $(bytes now)"
}

# start NAME OPTION...: in the background.
start() {
	name=$1
	shift
	rm -f over
	stats "$name.before"
	auxrec record -v -a -e intel_pt// --pause-when-stopped --watch="$target" -o "$name.data" \
		"$@" -- sh -c 'while [ ! -e over ]; do sleep 0.1; done' 2>"$name.err" &
	recorder=$!
	until_started "$name.before"
}

finish() {
	: >over
	wait "$recorder" || { cat "$name.err"; fail "$name: status $?"; }
	stats "$name.after"
}

stops() {
	for _ in 1 2 3 4; do
		kill -STOP "$target"
		quiet
		kill -CONT "$target"
		goes_on
	done
}

guest() {
	param bytes_per_tick 1024
	taskset -c 0 "$PROG/count" counted &
	target=$!
	start full
	stops
	for _ in $(seq 60); do # faster than anybody can follow
		kill -STOP "$target"
		kill -CONT "$target"
	done
	stats two
	goes_on
	finish
	start flight --flight=64K
	stops
	kill -STOP "$target"
	quiet
	kill -USR2 "$recorder"
	until grep -q 'snapshot 1 ' flight.err; do
		sleep 0.1
	done
	quiet # a snapshot does not end it
	kill -CONT "$target"
	goes_on
	finish
	kill -KILL "$target"
}

host() {
	for name in full flight; do
		n=$(grep -c "is stopped" $name.err)
		echo "$name: $n stops"
		[ "$n" -ge 4 ] || { cat $name.err; fail "$name: stops were not seen"; }
	done
	account full
	"$PERF" script --itrace=w -F event -i flight.data 2>complaints | grep -c ptwrite >decoded
	[ "$(cat decoded)" -gt 100 ] || fail "perf decodes nothing of the snapshot"
}

"$1"
