#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole cpus, at two rates, with areas that last for a while on a busy host, and once more with
# compressed records: nothing is lost, and perf counts as many packets as there are.
. "$GUEST/lib.sh"

guest() {
	auxrec list >list || fail "list"
	grep -q 'default source *kernel for a command, kernel for all' list ||
		{ cat list; fail "the PMU is not taken for a kernel source"; }
	param bytes_per_tick 512
	record slow -a -- sleep 2
	param bytes_per_tick 8192
	record fast -a -m 512K,32M -- sleep 2
	param bytes_per_tick 512
	record zipped -z -a -- sleep 2
}

check() { # name
	account "$1"
	[ "$status" = 0 ] || fail "$1: check misses something"
	[ "$(json "$1.data" 'd["source"], d["clock"], d["finished"]')" = \
		"('kernel', 'perf', True)" ] || { cat info.json; fail "$1: info"; }
	[ "$(json "$1.data" 'sum(q["truncated"] for q in d["aux"])')" = 0 ] ||
		fail "$1: truncated"
	# The dump stops early: it would print each byte.
	"$PERF" script -D -i "$1.data" 2>/dev/null | grep -m 1 'Cap Time Zero *1' ||
		fail "$1: no conversion from TSC to time"
}

# perf_counts NAME: as many PTWRITEs as the module made, whose number is printed.
perf_counts() {
	wanted=$(cat "$1.before" "$1.after" | tr ' ' '\n' | sed -n 's/^ptw=//p' |
		awk '{ n[NR] = $1 } END { for (i = 1; i <= NR / 2; i++) s += n[i + NR / 2] - n[i]
			print s }')
	"$PERF" script --itrace=w -F event -i "$1.data" >events 2>complaints
	got=$(grep -c ptwrite events)
	echo "perf script finds $got PTWRITEs of $wanted in $1.data"
	[ "$got" = "$wanted" ] || { head complaints; fail "perf counts differently"; }
}

host() {
	check slow
	check fast
	check zipped
	[ "$(json zipped.data 'd["records_inflated"]["AUX"] > 0')" = True ] ||
		fail "no AUX records in COMPRESSED ones"
	perf_counts zipped
	perf_counts slow
	mkdir -p queues
	"$TOOLS/auxcheck" -x queues slow.data >/dev/null || fail "no queues"
	"$TOOLS/ptcount" queues/* >packets || { cat packets; fail "libipt complains"; }
	got=$(sed -n 's/.* ptw=\([0-9]*\) .*/\1/p' packets | awk '{ s += $1 } END { print s }')
	echo "libipt finds $got"
	[ "$got" = "$wanted" ] || fail "libipt counts differently"
}

"$1"
