#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trace by cpu that pauses, and that ends by a count: what comes before and after is there, for the
# thread that executed it; each stretch ends where its thread was, also of those whose turn it was not.
set -eu
. "$E2E/soft.sh"
. "$E2E/attach.sh"
. "$E2E/percpu.sh"
soft_begin

# record DIR STATUS OPTION... -- CMD...
record() {
	dir=$1 want=$2
	shift 2
	mkdir -p "$dir/ips"
	status=0
	timeout 120 "$AUXREC" record -v --source=soft --per-cpu --soft-ips "$dir/ips" \
		-o "$dir/perf.data" "$@" >"$dir/out" 2>"$dir/err" || status=$?
	[ "$status" = "$want" ] || { cat "$dir/err"; soft_fail "$dir ends with $status"; }
	! grep 'trace has gaps' "$dir/err" || soft_fail "$dir: not all was traced"
}

listed() {
	echo $(($(cat "$1"/ips/* | wc -c) / 8))
}

# ---- by words that the program sends; threads beside it are not in the kernel then ----

"$PROG/phases" >plain && soft_fail "phases ends with 0"
for option in --strict --start-paused --soft-step; do
	dir=by$option
	mkdir "$dir"
	mkfifo "$dir/ctl" "$dir/ack"
	record "$dir" 8 "$option" --control "fifo:$dir/ctl,$dir/ack" -- \
		"$PROG/phases" "$dir/ctl" "$dir/ack"
	cmp plain "$dir/out" || soft_fail "$dir: other output"
	percpu_witness "$dir"
	[ "$(grep -c 'same$' "$dir/perfcmp")" = 6 ] || soft_fail "$dir: not six threads"
done

# ---- a count, which is one of all threads ----

for n in 1 777 5001 60000; do
	record "count.$n" 6 --max-instructions "$n" -- "$PROG/turns" 6 40
	[ "$(listed "count.$n")" = "$n" ] || soft_fail "$(listed "count.$n") of $n"
	percpu_witness "count.$n"
done
record delay 0 -D 100 --max-instructions 5000 -- "$PROG/spin" 500000000
[ "$(listed delay)" = 5000 ] || soft_fail "delay: $(listed delay)"
percpu_witness delay

# ---- by ctl, threads that compute and others that sleep; and snapshots while it is paused ----

# instructions: so far.
instructions() {
	"$AUXREC" ctl -s s status 2>/dev/null | sed -n 's/^\([0-9]*\) instructions,.*/\1/p'
}

# more THAN: wait until more are traced.
more() {
	tries=0
	until so_far=$(instructions) && [ "${so_far:-0}" -gt "$1" ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 1000 ] || { cat "$dir/err"; soft_fail "$dir: nothing is traced"; }
		sleep 0.02
	done
}

word() {
	"$AUXREC" ctl -s s "$@" >said || { cat said; soft_fail "ctl $*"; }
}

# untouched: paused, it has its code and its cpus.
untouched() {
	tries=0
	until "$E2E/samecode.py" "$target" >code && attach_state | grep Cpus >now &&
		grep Cpus before | cmp -s - now; do
		tries=$((tries + 1))
		[ "$tries" -lt 1000 ] || { cat code now; soft_fail "$dir: it is not as it was"; }
		sleep 0.02
	done
}

attach_possible
attach_begin "$PROG/attached" 6 8
attach_state >before
for dir in rings flight; do
	option=
	[ "$dir" = rings ] || option=--flight=e,64M
	mkdir -p "$dir/ips"
	"$AUXREC" record --source=soft --per-cpu --socket="$PWD/s" --soft-ips "$dir/ips" $option \
		-o "$dir/perf.data" -p "$target" >"$dir/out" 2>"$dir/err" 3>&- &
	recorder=$!
	for i in 1 2 3 4 5; do
		more "${so_far:-0}"
		word pause
		paused=$(instructions)
		[ "$dir" = rings ] || word -o "$PWD/shot.$i.$paused" snapshot
		[ "$i" != 3 ] || untouched
		[ "$(instructions)" = "$paused" ] || soft_fail "$dir: it is not paused"
		word resume
	done
	word stop
	wait "$recorder" || { cat "$dir/err"; soft_fail "$dir ends with $?"; }
	so_far=0
	attach_same
	percpu_witness "$dir"
	[ "$(grep -c 'same$' "$dir/perfcmp")" -ge 2 ] || soft_fail "$dir: few threads"
done
attach_end 7
attach_printed 'done'

# Each of these has all that had been traced when it was taken, to the last instruction.
for shot in shot.*; do
	soft_say beginning "$E2E/perfcmp.py" -b "$shot" flight/ips || soft_fail "$shot: perf disagrees"
	found=$(sed -n 's/.*: perf \([0-9]*\), .*/\1/p' beginning | awk '{ n += $1 } END { print n + 0 }')
	[ "$found" = "${shot##*.}" ] || soft_fail "$shot has $found instructions"
done
