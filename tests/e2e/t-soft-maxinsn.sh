#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --max-instructions: so many are traced, to the instruction; then the program runs on as if we had
# never been there.
set -eu
. "$E2E/soft.sh"
setarch -R true 2>/dev/null || soft_skip "setarch -R is not permitted"
soft_begin

# record DIR N CMD...: DIR gets perf.data, ips/, out, err; $status is what it ended with. In equal
# environments, at equal addresses.
record() {
	dir=$1 n=$2
	shift 2
	mkdir -p "$dir/ips"
	status=0
	env -i timeout 120 setarch -R "$AUXREC" record --source=soft ${SOFT_MODE:+"$SOFT_MODE"} \
		--max-instructions "$n" --soft-ips "$dir/ips" -o "$dir/perf.data" -- "$@" \
		>"$dir/out" 2>"$dir/err" || status=$?
}

listed() {
	echo $(($(cat "$1"/ips/* | wc -c) / 8))
}

said() { # DIR WORDS
	grep -q "$2" "$1/err" || { cat "$1/err"; soft_fail "$1 does not say '$2'"; }
}

# It is the beginning of the whole list, wherever the limit meets a run.
record all 0 "$PROG/spin" 300
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
