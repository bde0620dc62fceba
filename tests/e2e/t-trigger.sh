#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What takes a snapshot: the end and the crash of a process, tracepoints, SIGUSR2; how many there
# are, what is said of those that there are not, and how far each reaches back. Stock perf reads
# them all.
# shellcheck disable=SC2016 # $PPID is that of the command
. "$E2E/lib.sh"
need_perf

# flight NAME STATUS SNAPSHOTS OPTIONS...: record into NAME.
flight() {
	name=$1 status=$2 n=$3
	shift 3
	want "$status" "$AUXREC" record --source=none -o "$name" "$@"
	[ "$(grep -c ': snapshot [0-9]* (' err)" = "$n" ] || {
		cat err
		fail "$name: not $n snapshots"
	}
	if [ "$n" = 0 ]; then
		[ ! -e "$name" ] || fail "$name: a file without a snapshot"
	else
		perf_accepts "$name"
	fi
}

# ---- the command ----

flight exit 3 1 --flight --trigger=exit -- sh -c 'sleep 0.05; exit 3'
said 'snapshot 1 \(process [0-9]+ ended with status 3\)'
grep -q SWITCH accepted || fail "no switches of a command that has ended"
flight fine 3 0 --flight --trigger=crash -- sh -c 'exit 3'
said 'no snapshot: process [0-9]+ ended without a crash'
flight crash 139 1 --flight --trigger=crash -- sh -c 'kill -SEGV $$'
said 'snapshot 1 \(process [0-9]+ was ended by signal 11\)'
flight both 137 1 --flight=e --trigger=exit --trigger=crash -- sh -c 'kill -KILL $$'
said 'ended by signal 9'
said 'no snapshot \(at the end\): the last one was of the end'
flight thread 0 1 --flight --per-thread --trigger=exit -- sh -c 'sleep 0.05'

# ---- another process ----

sh -c 'sleep 0.4; exit 5' &
flight pid 0 1 --flight --trigger=exit -p $!
said "process $! ended with status 5"
sh -c 'sleep 0.4; kill -9 $$' &
flight pidcrash 0 1 --flight --trigger=crash -p $!
said "process $! was ended by signal 9"
sleep 0.4 &
flight pidfine 0 0 --flight --trigger=crash -p $!
said "process $! ended without a crash"

# ---- while exiting, and close together ----

flight late 0 1 --flight -- sh -c 'kill -USR2 $PPID'
flight merged 0 1 --flight --post=300ms -- sh -c 'kill -USR2 $PPID; sleep 0.1
	kill -USR2 $PPID; sleep 0.4'
said '1 more trigger came before it was taken: merged'
flight cut 143 1 --flight=e --post=60s -- sh -c 'kill -USR2 $PPID; sleep 0.2; kill -INT $PPID
	sleep 1'
said 'the recording ends before --post is over'

# A folder that is gone: no word of a snapshot that nobody can find; the next one has both.
mkdir gone
want 1 "$AUXREC" record --source=none --flight -o gone/f -- sh -c '
	rmdir gone; kill -USR2 $PPID; sleep 0.4'
said "cannot create 'gone/f': No such file"
! grep -q 'snapshot [0-9]* (' err || fail "it told of a snapshot without a name"
mkdir gone
flight gone/f 0 1 --flight -- sh -c '
	rmdir gone; kill -USR2 $PPID; sleep 0.4; mkdir gone; kill -USR2 $PPID; sleep 0.4'
said "snapshot 2 "

# ---- what is not possible ----

want 2 "$AUXREC" record --source=none --trigger=exit -o f true
said 'need --flight'
want 2 "$AUXREC" record --source=none --flight --trigger=exit -a -o f
said 'need a process'
want 2 "$AUXREC" record --flight --trigger=crush -o f true
said "bad trigger 'crush' at 'crush'"
want 2 "$AUXREC" record --flight --pre=5 -o f true
said "bad time '5' of --pre"
want 2 "$AUXREC" record --flight --watch=1 -o f true
said 'goes with --trigger'
want 3 "$AUXREC" record --source=none --flight --trigger=exit --watch=4194304 -a -o f true
said 'process 4194304: No such process'
[ ! -e f ] || fail "a refused start left a file"

# ---- tracepoints, and the whole machine ----

is_root || exit 0
grep -q . /sys/kernel/tracing/events/sched/sched_process_exec/id 2>/dev/null || exit 0
want 3 "$AUXREC" record --source=none --flight --trigger=sched:nosuch -o f true
said "cannot use tracepoint 'sched:nosuch'"

ping=sched:sched_process_exec
flight exec 0 2 --flight --trigger=$ping --filter='filename ~ "*/sleep"' -- \
	sh -c 'sleep 0.2; true; sleep 0.2; /bin/true'
said "snapshot 2 \($ping in process [0-9]+\)"

sleep 1 &
flight watched 0 1 --flight --trigger=exit --watch=$! -a -- sleep 2
said "process $! ended with status 0"

# Only what happened shortly before and after: of a second, 200 ms.
flight around 0 1 --flight --pre=100ms --post=100ms --trigger=$ping \
	--filter='filename ~ "*/true"' -a -- sh -c 'sleep 0.5; /bin/true; sleep 0.5'
"$PERF" script -i around --show-switch-events -F cpu,time,event 2>/dev/null |
	python3 -c '
import re, sys
cpus = {}
for line in sys.stdin:
    m = re.search(r"\[(\d+)\]\s+(\d+\.\d+): PERF_RECORD_SWITCH", line)
    if m:
        cpus.setdefault(m.group(1), []).append(float(m.group(2)))
# The first of each cpu is the last before the time asked for: on an idle one long before.
t = [v for times in cpus.values() for v in times[1:]]
span = max(t) - min(t)
# The machine may be slow to wake us.
sys.exit(not (0.1 < span < 0.45) and "%d switches over %.3f s" % (len(t), span))' ||
	fail "--pre and --post"
