#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Commands, processes and threads: the process tree is followed from the first instruction,
# other tasks stay out, and the end of the target ends the recording.
. "$E2E/lib.sh"
need_perf

# A command and its children, with the exec of the command itself.
want 7 "$AUXREC" record --source=none -o f -- sh -c 'sleep 0.05; /bin/echo hi; exit 7'
grep -qx hi out || fail "the command's output"
perf_accepts f
for comm in sh sleep echo; do
	grep -q "PERF_RECORD_COMM exec: $comm:" accepted || fail "no exec of $comm"
done
grep -q 'PERF_RECORD_SWITCH' accepted || fail "no switches"
! grep -q 'SWITCH_CPU_WIDE' accepted || fail "cpu-wide switches in task mode"
first=$(grep -n 'PERF_RECORD_COMM exec: sh:' accepted | head -n 1 | cut -d: -f1)
sed "1,${first}d" accepted | grep -q 'MMAP2.*x.*/ld-linux' ||
	fail "the mappings of the exec are missing"

# Signals come out as 128 + n.
want 143 "$AUXREC" record --source=none -o f -- sh -c 'kill -TERM $$'

# A running process: its threads, and its end.
"$PROG/spin" 400000000 >/dev/null &
pid=$!
want 0 timeout 60 "$AUXREC" record -p $pid -o p
wait $pid
perf_accepts p
grep -q "spin *$pid " accepted || fail "the process is not in the file"
! grep 'PERF_RECORD_SWITCH' accepted | grep -v "spin" || fail "somebody else's switches"

# A thread, stopped by SIGINT.
sleep 30 &
pid=$!
"$AUXREC" record -t $pid -o t 2>err &
rec=$!
sleep 0.5
kill -INT $rec
wait $rec || fail "SIGINT: status $?"
kill $pid
said "wrote 't'"
perf_accepts t
grep -q "sleep:$pid/$pid" accepted || fail "the thread's name is not in the file"

# Ended before -D was over: nothing was recorded, for no time.
"$AUXREC" record -a --source=none -D 600000 -o d 2>err &
rec=$!
sleep 0.5
kill -INT $rec
wait $rec || fail "SIGINT before the delay was over: status $?"
said "in 0.00 s"

# One ring per thread.
want 0 "$AUXREC" record --per-thread --source=none -o pt -- "$PROG/pingpong" 50
perf_accepts pt
grep -q 'PERF_RECORD_SWITCH' accepted || fail "no switches per thread"

# SIGTERM ends the recording and the command.
"$AUXREC" record --source=none -o k -- sleep 60 2>err &
rec=$!
sleep 0.5
kill -TERM $rec
wait $rec
[ $? = 143 ] || fail "SIGTERM"
perf_accepts k
