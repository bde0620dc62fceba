#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# aux-action: a trace that starts paused, goes on at one system call and pauses at another. A
# kernel that knows nothing of it is named.
. "$GUEST/lib.sh"

S=syscalls:sys_enter
events="intel_pt/aux-action=start-paused/,${S}_sethostname/aux-action=resume/,${S}_sync/aux-action=pause/"

# Bytes of cpu 0 at four moments.
# shellcheck disable=SC2016 # for the shell that it is given to
steps='
moment() { sleep 0.3; cat /sys/kernel/debug/fakept/stats >"$1"; }
moment one; moment two
taskset -c 0 hostname fakept
moment three; moment four
taskset -c 0 sync
moment five; moment six'

can_pause() {
	case $(uname -r) in
	6.1.*) false ;;
	esac
}

guest() {
	if ! can_pause; then
		auxrec record -C 0 -e "$events" -o refused.data -- true 2>refused.err &&
			fail "not refused"
		cat refused.err
		grep -q "this kernel, $(uname -r), cannot pause" refused.err || fail "no words"
		[ ! -e refused.data ] || fail "it left a file"
		return
	fi
	record pause -C 0 -e "$events" -- sh -c "$steps"
	[ "$(count one 0 bytes)" = "$(count two 0 bytes)" ] || fail "it did not start paused"
	[ "$(count three 0 bytes)" -lt "$(count four 0 bytes)" ] || fail "it did not go on"
	[ "$(count five 0 bytes)" = "$(count six 0 bytes)" ] || fail "it did not pause"
}

host() {
	[ -e pause.data ] || exit 0
	account pause
	"$PERF" script -i pause.data --show-switch-events >script 2>&1 || fail "perf script"
	grep -q sys_enter_sync script || fail "no sample of the event that pauses"
}

"$1"
