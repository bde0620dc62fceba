#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Snapshots of a real AUX area that is overwritten: each is one stream per cpu, without a hole and
# up to the moment when the cpu was frozen, as the module's numbers and counters tell; before the
# ring is full, just behind that, many times over, at rest and under load; several in one file
# and in files of their own. libipt and stock perf decode each. While it waits, nothing is written,
# memory does not grow, and nothing wakes the recorder.
# shellcheck disable=SC1091,SC2154
. "$GUEST/lib.sh"
SIZE=65536

prepare() {
	cp "$GUEST/../e2e/waiting.sh" .
}

# The recording NAME, which says its snapshots in NAME.err.
begin() {
	name=$1
	shift
	stats "$name.base"
	taken=0
	auxrec record -v -a -e intel_pt// --flight=$SIZE -o "$name.data" "$@" 2>"$name.err" &
	recorder=$!
	until_started "$name.base"
}

wait_for() {
	for _ in $(seq 200); do
		! grep -q "$1" "$name.err" || return 0
		sleep 0.05
	done
	cat "$name.err"
	fail "$name: no '$1'"
}

snapshot() {
	taken=$((taken + 1))
	stats "$name.$taken.low"
	kill -USR2 "$recorder"
	wait_for "snapshot $taken "
	stats "$name.$taken.high"
}

# The module says no more.
rest() {
	param bytes_per_tick 0
	sleep 0.1
}

# Until each cpu has written this many bytes since the recording began, then rest. By small
# steps: not much more.
write_up_to() {
	for cpu in $(cpus); do
		from=$(count "$name.base" "$cpu" bytes)
		while stats now && [ $(($(count now "$cpu" bytes) - from)) -le "$1" ]; do
			param bytes_per_tick 200
			sleep 0.02
			param bytes_per_tick 0
		done
	done
	rest
}

end() {
	kill -TERM "$recorder"
	wait "$recorder" || fail "$name: status $?"
	cat "$name.err"
}

guest() {
	param psb_bytes 2048
	rest
	begin one
	write_up_to 20000
	snapshot # not full
	write_up_to 50000
	snapshot # nor now
	write_up_to $SIZE
	snapshot # just behind the first lap
	param bytes_per_tick 8192
	sleep 0.5
	snapshot # under load, after many laps
	snapshot
	rest
	snapshot
	end

	rest
	begin own --max-snapshots=8
	write_up_to 20000
	snapshot
	write_up_to $SIZE
	snapshot
	param bytes_per_tick 8192
	sleep 0.3
	snapshot
	snapshot
	rest
	snapshot
	end

	# The first lap is not seen by anybody while it happens.
	rest
	begin lapped
	param bytes_per_tick 4096
	sleep 0.3
	snapshot
	end

	param bytes_per_tick 4096
	begin waits
	sleep 1
	. ./waiting.sh
	waited $recorder 3
	say "3 s of waiting: $bytes bytes, $wakeups wake-ups, $cpu_ms ms of cpu, $grown_kib KiB more"
	[ "$bytes" = 0 ] || fail "something was written"
	[ "$grown_kib" -le 128 ] || fail "memory grows"
	[ "$wakeups" -le 2 ] || fail "woken $wakeups times"
	snapshot
	end

	begin cheat
	param cheat 7
	sleep 0.3
	snapshot
	end
	param cheat 0
}

# decoded FILE NUMBERS: stock perf finds each of the numbers, and each once.
decoded() {
	"$PERF" script --itrace=we -F event,cpu,synth -i "$1" >"$1.events" 2>"$1.complaints"
	! grep -i 'error' "$1.events" "$1.complaints" || fail "perf complains about $1"
	sed -n 's/.*ptwrite.*payload: \(0[0-9a-fx]*\).*/\1/p' "$1.events" | sort >"$1.decoded"
	sort "$2" | cmp - "$1.decoded" || {
		wc -l "$2" "$1.decoded"
		fail "perf does not find the numbers in $1"
	}
	[ -s "$2" ] || fail "nothing was decoded of $1"
}

pt_read() {
	"$TOOLS/ptcount" "$@" >counted || { cat counted; fail "libipt does not read $*"; }
}

host() {
	check="python3 $GUEST/flight.py $SIZE"
	$check one one.data || fail "one"
	decoded one.data one.numbers
	pt_read one.*.pt
	for k in 1 2 3 4 5; do
		$check own own.$k.data $k || fail "own.$k.data"
		decoded own.$k.data own.$k.numbers
	done
	pt_read own.*.pt
	$check lapped lapped.data || fail "lapped"
	decoded lapped.data lapped.numbers
	$check waits waits.data || fail "waits"
	if $check cheat cheat.data; then
		fail "the missing numbers were not missed"
	fi
	for f in one own.1 own.5 lapped; do
		sound $f.data
		"$AUXREC" info $f.data | sed -n '/^  snapshot/,/^$/p'
		json $f.data 'len(d["snapshots"])'
		python3 "$GUEST/spans.py" $f.data info.json || fail "what $f.data spans"
	done
}

"$1"
