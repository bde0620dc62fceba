#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tracepoints beside the switches: stock perf prints their fields; both ways of seeing a
# switch agree.
. "$E2E/lib.sh"
need_root "tracepoints"
need_perf
need_tracefs

want 0 "$AUXREC" record -a -e sched:sched_switch,sched:sched_process_exec -o f -- \
	"$PROG/pingpong" 300
said 'with 2 tracepoints'
perf_accepts f
grep -qE 'sched:sched_switch: .*prev_comm=.*next_pid=[0-9]+' accepted || fail "no fields"
grep -q 'sched:sched_process_exec: filename=.*pingpong' accepted || fail "no exec tracepoint"
tp=$(grep -c 'sched:sched_switch:' accepted)
out=$(grep -c 'SWITCH_CPU_WIDE OUT' accepted)
echo "tracepoint $tp, switch records out $out"
# The two events are enabled one after the other.
diff=$((tp > out ? tp - out : out - tp))
[ "$diff" -le 4 ] ||
	fail "$tp sched_switch events, $out switch records"
"$PERF" evlist -i f | grep -qx 'sched:sched_switch' || fail "evlist"

# shellcheck disable=SC2094
"$AUXREC" record -q -a -e sched:sched_switch -o - -- true | "$PERF" script -i - 2>/dev/null |
	grep -q 'sched:sched_switch: .*prev_comm=' || fail "no tracepoint through a pipe"

want 3 "$AUXREC" record -a -e sched:no_such -o g -- true
said "cannot use tracepoint 'sched:no_such': No such file"
said 'available_events'
