#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A flight recording is killed with -9 at random moments while it writes one snapshot after the
# other. Of one file with all of them, stock perf reads it, and each that was told of is in it; of
# files of their own, all but the newest are finished, and perf reads that one, too.
. "$E2E/lib.sh"
need_perf
files=0 taken=0

# killed NAME COMMAND...: a recording that says its snapshots in err; n: how many it told of.
killed() {
	rm -f "$1" "$1".*
	: >err # none of the one before
	shift
	"$@" >/dev/null 2>err &
	rec=$!
	for _ in $(seq 100); do
		! grep -q 'events enabled' err || break
		sleep 0.02
	done
	while kill -USR2 $rec 2>/dev/null; do sleep 0.003; done &
	asking=$!
	sleep "$(printf '0.%03d' $(($(od -An -N2 -tu2 /dev/urandom) % 500)))"
	kill -9 $rec || { cat err; fail "it had ended by itself"; }
	wait $rec $asking
	n=$(grep -c ': snapshot [0-9]* (' err)
	taken=$((taken + n))
}

# rounds FILE: how many are marked as whole, by the bytes.
rounds() {
	python3 -B - "$1" <<'END' || fail "$1 cannot be walked"
import os, sys
sys.path.insert(0, os.environ["E2E"])
from rawperf import File, u32
print(sum(u32(rec, 0) == 68 for rec, _ in File(sys.argv[1]).records()))
END
}

finished() {
	"$AUXREC" info --json "$1" >j || fail "info $1"
	json j 'd["finished"]'
}

# one COMMAND...: with all snapshots in f.
one() {
	killed f "$@"
	[ -e f ] || {
		[ "$n" = 0 ] || fail "$n snapshots and no file"
		return 0
	}
	files=$((files + 1))
	perf_accepts f
	[ -s accepted ] || fail "nothing in f"
	whole=$(rounds f)
	[ "$whole" -ge "$n" ] || fail "it told of $n snapshots, and $whole are there"
	[ "$(finished f)" = False ] || fail "a killed file claims to be finished"
}

# several COMMAND...: the newest three in files g.N.data.
several() {
	killed g "$@"
	newest=$(in_order g | tail -n 1)
	for f in $(in_order g); do
		files=$((files + 1))
		perf_accepts "$f"
		[ -s accepted ] || fail "nothing in $f"
		[ "$(rounds "$f")" = 1 ] || fail "$f has not its snapshot"
		[ "$f" = "$newest" ] || [ "$(finished "$f")" = True ] ||
			fail "$f is not complete, and there are newer ones"
	done
	have=$(in_order g | wc -l)
	[ "$have" -le 4 ] || fail "$have files are left"
	[ "$n" = 0 ] || [ "$have" -ge $((n < 3 ? n : 3)) ] ||
		fail "it told of $n snapshots, and $have are there"
}

# of_switches one|several OPTION...
of_switches() {
	how=$1
	shift
	if is_root; then
		$how "$AUXREC" record -v -a --source=none --flight=256K "$@" -- sleep 3
	else
		$how "$AUXREC" record -v --source=none --flight=256K "$@" -- \
			"$PROG/pingpong" 100000000
	fi
}

"$PROG/pingpong" 100000000 >/dev/null &
load=$!
trap 'kill $load 2>/dev/null' EXIT
for _ in 1 2 3 4; do
	of_switches one -o f
	of_switches several -o g --max-snapshots=3
done
kill $load
echo "switches: $files files, $taken snapshots"
{ [ "$files" -ge 6 ] && [ "$taken" -ge 20 ]; } || fail "nothing was tested"

files=0 taken=0
for _ in 1 2; do
	one "$AUXREC" record -v --source=soft --flight=8K -o f -- "$PROG/spin" 100000000
	[ ! -e f ] || {
		"$PERF" script -i f --itrace=i100ie -F ip >flow 2>complaints || fail "decode"
		! grep -q 'trace error' flow complaints || fail "a killed trace has decode errors"
		[ "$n" = 0 ] || [ "$(wc -l <flow)" -gt 10 ] || fail "hardly an instruction"
	}
	several "$AUXREC" record -v --source=soft --flight=8K -o g --max-snapshots=3 -- \
		"$PROG/spin" 100000000
done
echo "software: $files files, $taken snapshots"
{ [ "$files" -ge 2 ] && [ "$taken" -ge 3 ]; } || fail "nothing was tested"
for left in *tmp*; do
	[ ! -e "$left" ] || fail "left-over: $left"
done
