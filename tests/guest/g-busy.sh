#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The PMU is exclusive: a second recorder is told so, by cpu and by task; the module stays while
# it is in use, and the first recording is none the worse.
. "$GUEST/lib.sh"

refused() {
	auxrec record -o second.data "$@" 2>second.err
	got=$?
	cat second.err
	[ $got = 3 ] || fail "second recorder: status $got"
	grep -q "perf_event_open failed for event 'intel_pt//'.* on cpu .*: .*busy" second.err ||
		fail "no word of the event and the cpu"
	grep -q 'PMU is exclusive' second.err || fail "no word of the reason"
	grep -q "'auxrec' (pid $first) has" second.err || fail "no word of who holds it"
	[ ! -e second.data ] || fail "it left a file"
}

guest() {
	stats first.before
	auxrec record -q -a -m 512K,16M -o first.data -- \
		sh -c 'while [ ! -e stop ]; do sleep 0.1; done' &
	first=$!
	until_started first.before
	refused -a -- true
	refused -- true
	rmmod fakept 2>rmmod.err && fail "rmmod succeeded"
	: >stop
	wait $first || fail "first recorder"
	stats first.after
	rmmod fakept || fail "rmmod afterwards"
	auxrec record -a -e intel_pt// -o none.data -- true 2>none.err
	[ $? = 3 ] || fail "status without the PMU"
	cat none.err
	insmod /mod/fakept.ko || fail "insmod"
	record again -a -- sleep 0.3
}

host() {
	account first
	account again
}

"$1"
