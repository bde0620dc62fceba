#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same load beside perf record in one boot, in one table: bytes that the PMU produced, bytes
# in the file, cpus that still trace at the end, CPU seconds of the recorder per GB. Once with
# areas that suffice, once with areas that overflow.
. "$GUEST/lib.sh"

# shellcheck disable=SC2016 # for the shell that it is given to
halfway='sleep 1; cat /sys/kernel/debug/fakept/stats >"$0"; sleep 1'

# measure NAME COMMAND...: the counters around it, and its times.
measure() {
	name=$1
	shift
	stats "$name.before"
	busybox time -p -o "$name.time" "$@" -- sh -c "$halfway" "$name.half" >"$name.out" 2>&1 ||
		{ cat "$name.out"; fail "$name"; }
	stats "$name.after"
}

guest() {
	param bytes_per_tick 8192
	measure auxrec-fits auxrec record -q -a -m 512K,8M -o auxrec-fits.data
	measure perf-fits perf record -q -B -N -a -e intel_pt// -m 512K,8M -o perf-fits.data
	param bytes_per_tick 65536
	measure auxrec-over auxrec record -q -a -m 64K,64K -o auxrec-over.data
	measure perf-over perf record -q -B -N -a -e intel_pt// -m 64K,64K -o perf-over.data
}

sum() { # file counter
	tr ' ' '\n' <"$1" | sed -n "s/^$2=//p" | awk '{ s += $1 } END { printf "%d", s }'
}

alive() { # name
	n=0
	for cpu in 0 1; do
		if [ "$(count "$1.half" $cpu bytes)" -lt "$(count "$1.after" $cpu bytes)" ]; then
			n=$((n + 1))
		fi
	done
	echo $n
}

host() {
	printf '%-12s %12s %12s %6s %12s\n' recorder produced recorded alive 'CPU s/GB'
	for name in auxrec-fits perf-fits auxrec-over perf-over; do
		produced=$(($(sum $name.after bytes) - $(sum $name.before bytes)))
		recorded=$(json $name.data 'sum(q["bytes"] for q in d["aux"])')
		cpu=$(awk '/^user|^sys/ { s += $2 } END { print s }' $name.time)
		printf '%-12s %12d %12d %6d %12s\n' $name $produced "$recorded" "$(alive $name)" \
			"$(awk "BEGIN { printf \"%.2f\", $cpu * 1e9 / $recorded }")"
	done
	[ "$(alive auxrec-over)" = 2 ] || fail "a cpu of auxrec is deaf"
}

"$1"
