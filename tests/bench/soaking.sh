# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# Sourced by soak.sh and its guest's half, behind tests/e2e/waiting.sh: recorders that wait side
# by side for $SOAK_SECONDS.

# Ten short processes a second, for ever.
light_load() {
	while sleep 0.1; do :; done
}

head_line() {
	echo "recorder     written  sideband   wake-ups  turns lost   cpu ms   memory KiB  grown KiB"
}

# start NAME COMMAND...
start() {
	name=$1
	shift
	"$@" >"$name.log" 2>&1 &
	echo $! >"$name.pid"
	sleep 3
}

# A recorder's counters, to see what they become.
note() {
	look "$(cat "$1.pid")"
	echo "$written $woken $preempted $ticks $rss $(size_of "$1")" >"$1.counters"
}

# Of its files, under whatever names.
size_of() {
	cat "$1".data* 2>/dev/null | wc -c
}

row() {
	read -r w1 v1 p1 t1 r1 s1 <"$1.counters"
	note "$1"
	read -r w v p t r s <"$1.counters"
	printf '%-10s %9d %9d %10d %11d %8d %12d %10d\n' "$1" $((w - w1)) $((s - s1)) $((v - v1)) \
		$((p - p1)) $(((t - t1) * 10)) "$r" $((r - r1))
}

# soak NAME...: wait, a row for each, and two snapshots of each.
soak() {
	for n; do note "$n"; done
	sleep "$SOAK_SECONDS"
	for n; do row "$n"; done
	for n; do
		kill -USR2 "$(cat "$n.pid")"
		sleep 2
		kill -USR2 "$(cat "$n.pid")"
		sleep 2
		kill -INT "$(cat "$n.pid")"
		wait "$(cat "$n.pid")" || true
		echo "$n: $(size_of "$n") bytes with two snapshots"
		! grep 'stood still' "$n.log" || :
	done
}
