#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# -G records the tasks of a control group and no others; mappings and names of all.
. "$E2E/lib.sh"

want 2 "$AUXREC" record -o f --source=none -G some -- true
said '-G needs -a or -C'
want 2 "$AUXREC" record -o f --source=none -G a,b -a -- true
said '2 cgroups for 0 events'
root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)perf_event(,|$)/ { print $2; exit }' /proc/mounts)
[ -n "$root" ] || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -z "$root" ]; then
	want 3 "$AUXREC" record -o f --source=none -G some -a -- true
	said 'no cgroup file system that has perf events is mounted'
	said 'mount -t cgroup2'
	skip "no cgroup file system is mounted"
fi
want 3 "$AUXREC" record -o f --source=none -G no/such -a -- true
said "no cgroup 'no/such' below '$root'"
want 3 "$AUXREC" record -o f --source=none -G cgroup.procs -a -- true
[ ! -e f ] || fail "a file was made"

is_root || skip "making a cgroup needs root"
need_perf
group=auxrec-test-$$
mkdir "$root/$group" 2>/dev/null || skip "cannot make a cgroup in $root"
trap 'rmdir "$root/$group"' EXIT
"$PERF" stat -a -e dummy -G "$group" -- true 2>/dev/null || skip "this kernel has no perf cgroups"

# Two pairs that switch all the time, one of them in the group. The shell prints its pid, which
# its command keeps.
# shellcheck disable=SC2016 # for the shells that they are given to
"$AUXREC" record -q -o f --source=none -a -G "$group" -- sh -c '
	sh -c "echo \$\$ >outside; exec $0/pingpong" >/dev/null &
	sh -c "echo \$\$ >$1/cgroup.procs; echo \$\$ >inside; exec $0/pingpong" >/dev/null
	wait' "$PROG" "$root/$group" || fail record
perf_accepts f
"$PERF" script -i f --show-switch-events -F pid 2>/dev/null |
	sed -n 's/^ *\([0-9]*\) .*PERF_RECORD_SWITCH.*/\1/p' | sort -u >pids
grep -qxF "$(cat outside)" pids && fail "switches of a task outside the group"
grep -qxF "$(cat inside)" pids || fail "no switches of the task inside"
"$PERF" script -i f --show-task-events 2>/dev/null | grep -q "($(cat outside):" ||
	fail "no fork or comm of the task outside"
exit 0
