#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tasks instead of cpus: a command with children, a process that runs already, one thread; all
# of them moved from cpu to cpu while they are recorded.
. "$GUEST/lib.sh"

# A load that moves itself and a child about.
# shellcheck disable=SC2016 # for the shell that it is given to
wander='
spin() { i=0; while [ $i -lt $1 ]; do i=$((i + 1)); done; }
(for c in 1 0 1; do taskset -p -c $c $(exec sh -c "echo \$PPID"); spin 3000; done) &
for c in 0 1 0 1; do taskset -p -c $c $$; spin 3000; done
wait'

guest() {
	param bytes_per_tick 8192
	record command -- sh -c "$wander" >moves
	record thread --per-thread -- sh -c "$wander" >>moves

	stats idle
	sh -c 'while [ ! -e go ]; do :; done; '"$wander" >>moves &
	walker=$!
	(until_started idle; : >go) &
	record pid -p $walker
	wait
}

host() {
	for name in command thread pid; do
		account "$name"
		for cpu in 0 1; do
			[ "$(count "$name.before" $cpu ptw)" -lt "$(count "$name.after" $cpu ptw)" ] ||
				fail "$name: nothing from cpu $cpu"
		done
	done
	[ "$(json thread.data '[q["cpu"] for q in d["aux"]]')" = "[-1]" ] ||
		fail "per thread: a queue of a cpu"
	[ "$(json command.data '[q["tid"] for q in d["aux"]]')" = "[-1, -1]" ] ||
		fail "per cpu: a queue of a thread"
}

"$1"
