#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The recorder is killed, its process group and all, at any moment: while it attaches, while the
# program is traced, while it lets go. The program goes on, its code is as it was, and its result
# is right in the end.
set -eu
. "$E2E/soft.sh"
. "$E2E/attach.sh"
soft_begin
attach_possible

# wait_until CONDITION...
wait_until() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 1000 ] || soft_fail "not within a while: $*"
		sleep 0.02
	done
}

attach_begin "$PROG/attached" 3 8
attach_state >before
awk 'BEGIN { srand(11); for (i = 0; i < 10; i++) print rand() * 0.4 }' >delays
traced=0
while read -r delay; do
	setsid "$AUXREC" record --source=soft -o killed.data -p "$target" >err 2>&1 3>&- &
	recorder=$!
	sleep "$delay"
	! grep -hq '^TracerPid:.*[1-9]' /proc/"$target"/task/*/status || traced=$((traced + 1))
	kill -9 "-$recorder" 2>/dev/null || kill -9 "$recorder"
	wait "$recorder" 2>/dev/null || true
	attach_freed
	kill -0 "$target" || soft_fail "the program is dead"
	attach_same
done <delays
[ "$traced" -gt 0 ] || soft_fail "nothing was traced when the recorder was killed"
echo "killed 10 times, $traced times while it traced"
attach_end 7
attach_printed 'done'

# What was recorded until then is a whole file.
attach_begin "$PROG/attached" 1 0
"$AUXREC" record --source=soft -o whole.data -p "$target" >err 2>&1 3>&- &
recorder=$!
wait_until grep -q '^TracerPid:.*[1-9]' "/proc/$target/status"
sleep 0.3
kill -9 "$recorder"
attach_freed
wait_until grep -q "wrote 'whole.data'" err
attach_end 7
soft_say sound "$AUXREC" check whole.data || soft_fail "the file of a killed recorder"

# The tracer itself is killed. Threads that compute often die with it; a program that lives is as it
# was and right in the end.
lived=0 tries_left=40
while [ $lived = 0 ] && [ $tries_left -gt 0 ]; do
	tries_left=$((tries_left - 1))
	attach_begin "$PROG/attached" 3 2
	attach_state >before
	"$AUXREC" record --source=soft -o lost.data -p "$target" >err 2>&1 3>&- &
	recorder=$!
	wait_until grep -q '^TracerPid:.*[1-9]' "/proc/$target/status"
	sleep 0.2
	kill -9 "$(tr -d ' ' <"/proc/$recorder/task/$recorder/children")"
	status=0
	wait "$recorder" || status=$?
	[ "$status" = 1 ] || soft_fail "the recorder ends with $status when its tracer is killed"
	sleep 0.1
	if kill -0 "$target" 2>/dev/null && ! grep -q '^State:.[ZX]' "/proc/$target/status"; then
		lived=1
		grep -q "out of process $target, which goes on where it was" err || soft_fail "$(cat err)"
		attach_same
		attach_end 7
		attach_printed 'done'
	else
		exec 3>&-
		wait "$target" 2>/dev/null || true
	fi
done
[ $lived = 1 ] || soft_fail "no program has lived"
echo "one has lived, after $((39 - tries_left)) that have not"

# Those that sleep find no breakpoint when they wake up, and sleep on undisturbed.
attach_begin "$PROG/attached" 0 7
attach_state >before
"$AUXREC" record --source=soft -o lost.data -p "$target" >err 2>&1 3>&- &
recorder=$!
wait_until grep -q '^TracerPid:.*[1-9]' "/proc/$target/status"
sleep 0.3
! "$E2E/samecode.py" "$target" >code || soft_fail "nothing was planted"
tracer=$(tr -d ' ' <"/proc/$recorder/task/$recorder/children")
kill -9 "$tracer"
status=0
wait "$recorder" || status=$?
[ "$status" = 1 ] || soft_fail "the recorder ends with $status when its tracer is killed"
grep -q 'breakpoints out of process' err || soft_fail "$(cat err)"
attach_same
attach_end 7
attach_printed 'done'
