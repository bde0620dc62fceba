#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every context switch of a machine: what auxrec says, what its info says, and what stock perf
# finds in the file are the same; and a load with known switches shows as such.
. "$E2E/lib.sh"
need_root "system-wide events"
need_perf

rounds=20000
want 0 "$AUXREC" record -a -o f -- taskset -c 0 "$PROG/pingpong" $rounds
said 'recording context switches of all tasks on cpus .*source none'
said_switches=$(sed -n "s/.*records (\([0-9]*\) switches.*/\1/p" err)
perf_accepts f
perf_switches=$(grep -c 'PERF_RECORD_SWITCH_CPU_WIDE' accepted)
"$AUXREC" info --json f >j || fail "info"
info_switches=$(json j 'd["records"]["SWITCH_CPU_WIDE"]')
echo "auxrec $said_switches, perf $perf_switches, info $info_switches"
[ "$said_switches" = "$perf_switches" ] || fail "auxrec and perf count differently"
[ "$said_switches" = "$info_switches" ] || fail "auxrec and info count differently"

# On one cpu each message of a ping-pong is a switch out and a switch in of either side.
pid_outs=$(grep -c 'pingpong.*SWITCH_CPU_WIDE OUT' accepted)
lost=$(json j 'd["lost"]["records"]')
[ $((pid_outs + lost)) -ge $((2 * rounds)) ] ||
	fail "$pid_outs switches out of pingpong and $lost lost for $rounds rounds"
[ "$(json j 'd["finished"]')" = True ] || fail "not finished"
[ "$(json j 'd["source"]')" = none ] || fail "source"

# One cpu only.
last=$(($(nproc --all) - 1))
want 0 "$AUXREC" record -C $last -o one -- taskset -c $last "$PROG/pingpong" 50
"$AUXREC" info --json one >j || fail "info"
perf_accepts one
! grep 'SWITCH_CPU_WIDE' accepted | grep -v "\[0*$last\]" || fail "another cpu than $last"
grep -q 'SWITCH_CPU_WIDE' accepted || fail "nothing recorded on cpu $last"
