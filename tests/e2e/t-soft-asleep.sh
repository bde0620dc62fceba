#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Threads that sleep when they are let go. Of a program that ignores SIGTRAP, which traps have made
# the kernel forget, one is woken to say so again; of what a recorded command leaves behind, all
# are. They sleep on as if nothing had been.
set -eu
. "$E2E/soft.sh"
. "$E2E/attach.sh"
soft_begin
attach_possible

for n in '0 1' '0 7' '0 8'; do
	# shellcheck disable=SC2086
	attach_begin env ATTACHED_IGNORES=1 "$PROG/attached" $n
	attach_state >before
	for again in 1 2; do
		attach_record "sleeping$again" -- sleep 0.3 || soft_fail "record -p"
		attach_same
		kill -TRAP "$target"
	done
	echo >&3
	attach_said rounds
	attach_end 7
	attach_printed 'rounds .* trap ignored .*'
done

# asleep: has it gone to sleep, in another call than at first?
asleep() {
	grep -q '^State:.S' "/proc/$target/status" && ! grep -q '^0 0x0 .*' "/proc/$target/syscall"
}

# One thread, in each kind of call, when the recording ends.
for kind in nanosleep poll ppoll epoll sigtimedwait read; do
	attach_begin "$PROG/dozes" $kind
	attach_state >before
	"$AUXREC" record --source=soft -o doze.data -p "$target" 2>err 3>&- &
	recorder=$!
	until grep -q '^TracerPid:.*[1-9]' "/proc/$target/status"; do sleep 0.05; done
	echo >&3
	[ $kind = read ] || until asleep || ! kill -0 "$target"; do sleep 0.02; done
	sleep 0.2
	kill -INT "$recorder"
	wait "$recorder" || soft_fail "the recording ends with $?: $(cat err)"
	kill -0 "$target" || soft_fail "$kind: it has ended before it could be let go"
	attach_same
	attach_end 7
	attach_printed "$kind right trap ignored"
done

# A child that outlives its command, which ends the recording.
mkfifo left.in
# shellcheck disable=SC2016
"$AUXREC" record --source=soft -o left.data -- sh -c '
	"$0" 0 7 <left.in >left.out 2>&1 &
	echo $! >left.pid
	until grep -q ready left.out; do sleep 0.1; done
	sleep 0.5' "$PROG/attached" 2>err &
recorder=$!
exec 3>left.in
wait "$recorder" || soft_fail "the recording ends with $?: $(cat err)"
! grep -hqs '^TracerPid:.*[1-9]' /proc/"$(cat left.pid)"/task/*/status || soft_fail "still traced"
echo >&3
until grep -q rounds left.out; do sleep 0.05; done
exec 3>&-
until ! kill -0 "$(cat left.pid)" 2>/dev/null; do sleep 0.05; done
grep -qx 'done' left.out || soft_fail "$(cat left.out)"
