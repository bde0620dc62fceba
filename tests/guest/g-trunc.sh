#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# More trace than the area holds: each cpu overflows again and again, goes on each time, and
# what is missing is told. perf record, which does not disable before it enables, goes deaf on
# these kernels (an overflow leaves the event in a state where enabling does nothing).
. "$GUEST/lib.sh"

# A command, with a file name as its argument, that takes the counters in its middle.
# shellcheck disable=SC2016 # for the shell that it is given to
halfway='sleep 1; cat /sys/kernel/debug/fakept/stats >"$0"; sleep 1'

went_on() { # file from halfway, file from the end, cpu
	[ "$(count "$1" "$3" bytes)" -lt "$(count "$2" "$3" bytes)" ]
}

guest() {
	param bytes_per_tick 65536
	record trunc -a -m 64K,32K -- sh -c "$halfway" trunc.half
	stats perf.before
	perf record -q -B -N -a -e intel_pt// -m 16,8 -o perf.data -- \
		sh -c "$halfway" perf.half >perf.out 2>&1
	stats perf.after
	for cpu in $(cpus); do
		went_on perf.half perf.after "$cpu" || echo "perf record: cpu $cpu is deaf"
		went_on trunc.half trunc.after "$cpu" || fail "cpu $cpu is deaf"
	done
}

host() {
	account trunc
	[ "$(json trunc.data 'all(q["truncated"] > 1 for q in d["aux"])')" = True ] ||
		fail "a cpu without truncations"
	[ "$(json trunc.data 'len(d["aux"])')" = "$(grep -c '' trunc.after)" ] ||
		fail "a cpu without trace"
	"$AUXREC" info trunc.data | tail -n 5
}

"$1"
