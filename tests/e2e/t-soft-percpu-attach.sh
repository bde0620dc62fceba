#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trace by cpu of a program that runs already: its threads are spread over the cpus as long as it is
# traced, what the decoders find of each is what it executed, and afterwards all is as it was,
# however the recording ends.
set -eu
. "$E2E/soft.sh"
. "$E2E/attach.sh"
. "$E2E/percpu.sh"
soft_begin
attach_possible

# begin DIR [OPTION...]: a recording in the background, up to when it has traced something.
begin() {
	dir=$1
	shift
	mkdir -p "$dir/ips"
	"$AUXREC" record --source=soft --per-cpu --socket="$PWD/s" --soft-ips "$dir/ips" \
		-o "$dir/perf.data" -p "$target" "$@" >"$dir/out" 2>"$dir/err" 3>&- &
	recorder=$!
	tries=0
	until "$AUXREC" ctl -s s status 2>/dev/null | grep -q '^[1-9][0-9]* instructions,'; do
		tries=$((tries + 1))
		[ "$tries" -lt 1000 ] || { cat "$dir/err"; soft_fail "$dir: nothing is traced"; }
		sleep 0.02
	done
}

# ends DIR WHAT: it has ended well.
ends() {
	wait "$recorder" || { cat "$1/err"; soft_fail "the recording ends with $? $2"; }
	! grep 'trace has gaps' "$1/err" || soft_fail "$1: not all was traced"
}

# For some turns of those that compute, in both modes; the others sleep.
attach_begin "$PROG/attached" 6 8
attach_state >before
for mode in '' --soft-step; do
	n=150000
	[ -z "$mode" ] || n=30000
	attach_record "while$mode" --per-cpu ${mode:+"$mode"} \
		--max-instructions "$n" || {
		cat "while$mode/err"
		soft_fail "record --per-cpu -p"
	}
	attach_same
	percpu_witness "while$mode"
done
percpu_switches while/perf.data "$(percpu_cpus)"
cat while/perfcmp

# SIGINT, and a command, end the recording alone.
begin int
kill -INT "$recorder"
ends int 'on SIGINT'
attach_same
percpu_witness int
begin told
"$AUXREC" ctl -s s stop >said || { cat said; soft_fail "ctl stop"; }
ends told 'when it is told to stop'
attach_same
percpu_witness told

# What sleeps wakes up under our eyes, and the end of the program is one of the recording.
begin end
echo >&3
attach_said rounds
attach_end 7
attach_printed 'done'
ends end 'with the program'
percpu_witness end
[ "$(grep -c 'same$' end/perfcmp)" -ge 12 ] || soft_fail "not all have woken up: $(cat end/perfcmp)"

# Threads that are started meanwhile, and children.
attach_begin "$PROG/offspring"
for i in 1 2 3; do
	attach_record "r$i" --per-cpu --max-instructions 60000 || {
		cat "r$i/err"
		soft_fail "record --per-cpu -p of one that starts threads"
	}
	! grep 'trace has gaps' "r$i/err" || soft_fail "r$i: not all was traced"
	soft_say code "$E2E/samecode.py" "$target" || soft_fail "code is not as it was"
	percpu_witness "r$i"
	[ "$(grep -c 'same$' "r$i/perfcmp")" -ge 3 ] || soft_fail "r$i: few threads"
done
attach_end 7
attach_printed 'done'

# The recorder is killed.
attach_begin "$PROG/attached" 3 8
attach_state >before
for delay in 0.02 0.05 0.1 0.2 0.3; do
	setsid "$AUXREC" record --source=soft --per-cpu -o killed.data -p "$target" >err 2>&1 3>&- &
	recorder=$!
	sleep "$delay"
	kill -9 "-$recorder" 2>/dev/null || kill -9 "$recorder"
	wait "$recorder" 2>/dev/null || true
	attach_freed
	kill -0 "$target" || soft_fail "the program is dead"
	attach_same
done
begin killed
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
attach_freed
attach_same
attach_end 7
attach_printed 'done'
tries=0
until grep -q "wrote 'killed/perf.data'" killed/err; do
	tries=$((tries + 1))
	[ "$tries" -lt 1000 ] || { cat killed/err; soft_fail "the file is not finished"; }
	sleep 0.02
done
percpu_witness killed
