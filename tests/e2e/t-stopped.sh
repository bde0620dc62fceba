#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is traced is stopped and goes on, many times: the trace pauses meanwhile, of other tasks
# nothing is recorded then, and what the user asked for stays as it is.
# shellcheck disable=SC2016 # the command's own $$
. "$E2E/lib.sh"
need_perf

storm() {
	python3 "$E2E/storm.py" "$@" || fail "storm.py $1"
}

# until COMMAND...: within ten seconds.
until_so() {
	for _ in $(seq 100); do
		"$@" && return
		sleep 0.1
	done
	cat err
	fail "never: $*"
}

# ---- what does not go together ----

want 2 "$AUXREC" record --source=none -a --pause-when-stopped -o f
said 'need a process'
want 2 "$AUXREC" record --source=none --trigger=stop -o f true
said 'need --flight'
want 3 "$AUXREC" record --source=soft --flight --trigger=stop -o f true
said 'the software source stops the command all the time'
want 0 "$AUXREC" record --source=none --pause-when-stopped -o f true
said 'nothing to pause'

# ---- a user without tracepoints: the command's own stops ----

make_user
cat >as_child <<'END'
echo $$ >pid
while [ -e pid ]; do sleep 0.1; done
END
touch pid; chmod 666 pid
as_user "$AUXREC" record --source=none --flight --trigger=stop -v -o child -- sh ./as_child \
	>out 2>err &
rec=$!
until_so test -s pid
sleep 0.1
storm signals "$(cat pid)" 1 200 >/dev/null
rm pid
wait $rec || { cat err; fail "as a user: status $?"; }
said 'snapshot 1 \(process [0-9]+ was stopped\)'
as_user cat child >ours && perf_accepts ours

# ---- whole cpus ----

is_root || exit 0
grep -q . /sys/kernel/tracing/events/sched/sched_waking/id 2>/dev/null || exit 0

# Somebody who switches all the time, and a program that is stopped.
pids=
trap 'kill -KILL $pids 2>/dev/null; kill -CONT $pids 2>/dev/null
	drop_user' EXIT
python3 -c 'import time
while True: time.sleep(0.001)' &
pids=$!
"$PROG/count" counted 2 &
counting=$!
pids="$pids $counting"

# start FILE OPTIONS...: until a file says that it is over.
start() {
	file=$1
	shift
	rm -f over
	: >err # none of the one before
	"$AUXREC" record --source=none -a -k monotonic --pause-when-stopped --watch=$counting \
		-v -o "$file" "$@" -- sh -c 'while [ ! -e over ]; do sleep 0.1; done' 2>err &
	rec=$!
	until_so grep -q 'events enabled' err
	sleep 0.2
}

finish() {
	: >over
	wait $rec || { cat err; fail "status $?"; }
}

for how in signals debugger; do
	start "$how.data"
	storm $how $counting 10 80 >spans
	finish
	"$PERF" script -i $how.data --show-switch-events -F time,event 2>/dev/null |
		grep SWITCH >switches
	storm check spans switches
	[ "$(grep -c "process $counting is stopped" err)" -ge 10 ] || fail "$how: stops not seen"
	[ "$(grep -c "process $counting goes on" err)" -ge 10 ] || fail "$how: it did not go on"
done

# A storm without pauses: it runs at the end, and so does the trace.
start quick.data
storm signals $counting 150 1 >/dev/null
sleep 0.3
from=$(python3 -c 'import time; print(time.clock_gettime(time.CLOCK_MONOTONIC))')
sleep 0.3
finish
"$PERF" script -i quick.data --show-switch-events -F time,event 2>/dev/null |
	awk -v from="$from" '$1 + 0 > from { n++ } END { exit n < 100 }' ||
	fail "no records after a storm"

# Paused from the start: a stop and its end change nothing, the user's word does.
mkfifo ctl ack
start paused.data --start-paused --control fifo:ctl,ack
storm signals $counting 3 50 >/dev/null
sleep 0.3
at=$(python3 -c 'import time; print(time.clock_gettime(time.CLOCK_MONOTONIC))')
printf 'enable\n' >ctl
[ "$(head -c 3 ack)" = ack ] || fail "no answer"
sleep 0.3
finish
"$PERF" script -i paused.data --show-switch-events -F time,event 2>/dev/null |
	awk -v at="$at" '/SWITCH/ { n++; early += $1 + 0 < at } END { exit n < 100 || early }' ||
	fail "records before the word, or none after it"

# A snapshot for each stop.
start stops.data --flight --trigger=stop
storm signals $counting 3 200 >/dev/null
finish
[ "$(grep -c 'snapshot [0-9]* (process [0-9]* was stopped)' err)" = 3 ] || {
	cat err
	fail "not three snapshots"
}
perf_accepts stops.data
