#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The software source where the kernel converts the TSC: its packets then hold the processor's
# own count. Instructions and times must fit, for libipt and for perf.
. "$GUEST/lib.sh"

guest() {
	mkdir ips
	auxrec record --source=soft --soft-ips ips -o soft.data -- "$PROG/mini" 2>soft.err
	got=$?
	cat soft.err
	[ $got = 7 ] || fail "status $got, not mini's 7"
}

# Every instruction's time lies between exec and exit.
sane_times() {
	"$PERF" script --itrace=i0ns --show-task-events --ns -F comm,time,event,ip -i soft.data \
		2>/dev/null >script
	awk '/PERF_RECORD_COMM exec/ { begin = $2 + 0; next }
	     /PERF_RECORD_EXIT/ { end = $2 + 0; next }
	     /instructions/ { t = $2 + 0; if (!n++) first = t; if (t < last) back++; last = t }
	     END {
		printf "exec %.6f, instructions %.6f to %.6f, exit %.6f, %d back\n",
			begin, first, last, end, back
		exit !(n && begin && begin <= first && last <= end && !back)
	     }' script
}

host() {
	[ "$(json soft.data 'd["source"], d["clock"]')" = "('soft', 'perf')" ] ||
		{ cat info.json; fail "info"; }
	"$PERF" script -D -i soft.data 2>/dev/null | grep -m 1 'Cap Time Zero *1' ||
		fail "no conversion from TSC to time"
	"$TOOLS/ptflow" soft.data ips || fail "libipt's instruction decoder disagrees"
	"$TOOLS/ptflow" -b soft.data ips || fail "libipt's block decoder disagrees"
	"$GUEST/../e2e/perfcmp.py" soft.data ips || fail "perf disagrees"
	sane_times || { head -n 20 script; fail "times"; }
}

"$1"
