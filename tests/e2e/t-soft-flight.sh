#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Flight recording in software: what the window holds decodes to what was executed, to the last
# instruction, while the program is stopped and continued all the time, and over several snapshots.
# Threads that have ended do not take memory for ever.
# shellcheck disable=SC2015,SC2016
. "$E2E/soft.sh"
soft_begin
command -v pgrep >/dev/null || soft_skip "pgrep is not installed"

# flight DIR SIZE CMD...: a snapshot at the end.
flight() {
	dir=$1 size=$2
	shift 2
	mkdir -p "$dir/ips"
	# What is stopped executes nothing: there is nothing to pause, and nothing is.
	exec "$AUXREC" record --source=soft --flight=e,"$size" --pause-when-stopped \
		--soft-ips "$dir/ips" -o "$dir/perf.data" -- "$@" >"$dir/out" 2>"$dir/err"
}

status=0
"$PROG/threads" 6000 >plain || status=$?
flight stops 64M "$PROG/threads" 6000 &
recorder=$!
rounds=0
while p=$(pgrep -P $recorder) || [ $rounds = 0 ]; do
	kill -STOP "$p" && sleep 0.02 && kill -CONT "$p" && rounds=$((rounds + 1))
	[ $((rounds % 10)) != 5 ] || kill -USR2 $recorder
	sleep 0.02
done 2>/dev/null
got=0
wait $recorder || got=$?
[ "$got" = "$status" ] && cmp plain stops/out || { cat stops/err; soft_fail "status $got"; }
[ "$(grep -c ': snapshot [0-9]* (' stops/err)" -ge 3 ] && [ $rounds -ge 10 ] || {
	cat stops/err
	soft_fail "not several snapshots in $rounds stops"
}
soft_witness stops
soft_lists stops 5

# Short processes, a small window.
(flight many 16K sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "$0"; done' "$PROG/mini")
[ $? = 7 ] || { cat many/err; soft_fail "many"; }
soft_report many
