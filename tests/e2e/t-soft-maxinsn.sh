#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --max-instructions: so many are traced, to the instruction; then the program runs on as if we had
# never been there.
set -eu
. "$E2E/soft.sh"
soft_alike_begin
soft_begin

# record DIR N CMD...: $status is what it ended with.
record() {
	dir=$1 n=$2
	shift 2
	status=0
	soft_alike "$dir" --max-instructions "$n" -- "$@" || status=$?
}

listed() {
	echo $(($(cat "$1"/ips/* | wc -c) / 8))
}

ends() { # DIR N: so many queues, whose last packet is that of an end
	"$PERF" script -D -i "$1/perf.data" 2>/dev/null | awk '
	/ PERF_RECORD_AUXTRACE / { sub(/.* idx: /, ""); queue = $1 }
	/^\. +[0-9a-f]+: .* (TNT|TIP|FUP|PSBEND|OVF)/ { last[queue] = $0 }
	END { for (queue in last) print last[queue] }' >"$1/ends"
	{ [ "$(grep -c 'TIP.PGD' "$1/ends")" = "$2" ] && [ "$(wc -l <"$1/ends")" = "$2" ]; } ||
		{ cat "$1/ends"; soft_fail "$1: trace does not end"; }
}

said() { # DIR WORDS
	grep -q "$2" "$1/err" || { cat "$1/err"; soft_fail "$1 does not say '$2'"; }
}

# It is the beginning of the whole list, wherever the limit meets a run.
record all 1000000000 "$PROG/spin" 300
whole=$(listed all)
"$PROG/spin" 300 >plain
for SOFT_MODE in '' --soft-step; do
	for n in 1 2 777 5000 5001 5002 5003 5004 5005 "$((whole - 1))" "$whole"; do
		dir="spin$SOFT_MODE.$n"
		record "$dir" "$n" "$PROG/spin" 300
		[ "$status" = 0 ] || { cat "$dir/err"; soft_fail "$dir ends with $status"; }
		cmp plain "$dir/out" || soft_fail "$dir: other output"
		[ "$(listed "$dir")" = "$n" ] || soft_fail "$dir: $(listed "$dir") instructions"
		cmp -n $((n * 8)) all/ips/* "$dir"/ips/* || soft_fail "$dir: other instructions"
		soft_libipt "$dir"
	done
done
SOFT_MODE=
said spin.777 'the recording ends: 777 instructions are traced (--max-instructions)'
soft_witness spin.777

# Within what the CPU runs between two stops, of one thread while another one is at the same; each
# stretch of trace ends where its thread was.
for n in 110000 110001 110002 110003 110004 110005 110006 110007 110008 110009 110010; do
	record floats "$n" "$PROG/floats"
	[ "$status" = 0 ] || { cat floats/err; soft_fail "floats ends with $status"; }
	[ "$(listed floats)" = "$n" ] || soft_fail "floats: $(listed floats) instructions of $n"
	soft_libipt floats
	ends floats 2
	rm -rf floats
done

# More than there are: the usual end.
record more "$((whole + 1))" "$PROG/spin" 300
[ "$(listed more)" = "$whole" ] || soft_fail "more: $(listed more) instructions of $whole"
! grep 'the recording ends' more/err || soft_fail "it ended before its end"

# What follows runs at its own speed: stepped, it would take days.
record fast 1000 "$PROG/spin" 100000000
[ "$status" = 0 ] || soft_fail "spin ends with $status"
"$PROG/spin" 100000000 | cmp - fast/out || soft_fail "spin: other output"

# Of all threads together, and of all processes; each list is what the decoders find.
record threads 300000 "$PROG/threads"
[ "$status" = 4 ] || { cat threads/err; soft_fail "threads ends with $status"; }
[ "$(listed threads)" = 300000 ] || soft_fail "threads: $(listed threads)"
soft_witness threads
record forkexec 150000 "$PROG/forkexec"
"$PROG/forkexec" >plain && want=0 || want=$?
[ "$status" = "$want" ] || { cat forkexec/err; soft_fail "forkexec ends with $status"; }
cmp plain forkexec/out || soft_fail "forkexec: other output"
[ "$(listed forkexec)" = 150000 ] || soft_fail "forkexec: $(listed forkexec)"
soft_witness forkexec

# Whoever traces otherwise counts nothing.
! "$AUXREC" record --source=none --max-instructions 5 -o none -- true 2>err ||
	soft_fail "source none takes it"
grep -q 'only the software source' err || soft_fail "$(cat err)"
[ ! -e none ] || soft_fail "there is a file"
