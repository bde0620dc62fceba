#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# record -z: stock perf finds in the file, in the stream and in what a killed recorder and a
# full disk leave, what is in it by libzstd's account; so does auxrec. A software trace
# decodes as one without -z.
. "$E2E/lib.sh"
need_perf
"$PERF" version --build-options 2>/dev/null | grep -q 'zstd.*on' || skip "perf has no zstd"
python3 -c 'import ctypes; ctypes.CDLL("libzstd.so.1")' 2>/dev/null || skip "no libzstd.so.1"

# bytes FILE: by libzstd's account. Counts end up in the file `counts`.
bytes() {
	python3 "$E2E/compress.py" "$1" >counts || { cat counts; fail "$1 is not as it should be"; }
}

# inside TYPE, outside TYPE: how many records, from `counts`.
inside() {
	awk -v t="$1" '$1 == "in" && $2 == t { n = $3 } END { print n + 0 }' counts
}

outside() {
	awk -v t="$1" '$1 == t { n = $2 } END { print n + 0 }' counts
}

# perf_finds FILE: every record inside, in a file by path, in a stream through a pipe.
perf_finds() {
	set -- "$1" --show-switch-events --show-task-events --show-mmap-events
	case $1 in
	stream*) # shellcheck disable=SC2002 # a pipe is the point
		cat "$1" | "$PERF" script -i - "$2" "$3" "$4" >found 2>complaints ;;
	*) "$PERF" script -i "$@" >found 2>complaints ;;
	esac || { cat complaints; fail "perf script refuses $1"; }
	! grep -iE 'fail|decompress|error|out of order' complaints || fail "perf complains of $1"
	for kind in 3:COMM 4:EXIT 7:FORK 10:MMAP2 14:SWITCH 15:SWITCH_CPU_WIDE; do
		want=$(($(inside "${kind%:*}") + $(outside "${kind%:*}")))
		got=$(grep -cE "PERF_RECORD_${kind#*:}([ (:]|$)" found)
		[ "$got" = "$want" ] || fail "$1: perf finds $got ${kind#*:}, there are $want"
	done
}

# we_find FILE: the same by auxrec's reader, all types.
we_find() {
	"$AUXREC" info --json "$1" >j || fail "info $1"
	json j '"\n".join(f"{n} {k}" for k, n in sorted(d["records_inflated"].items()))' >ours
	awk '$1 == "in" { print $3, $2 }' counts >theirs
	[ "$(cut -d' ' -f1 ours | sort)" = "$(cut -d' ' -f1 theirs | sort)" ] || {
		cat ours theirs
		fail "$1: info finds other records inside"
	}
}

all_agree() {
	bytes "$1"
	perf_finds "$1"
	we_find "$1"
}

# The command line.
for bad in -z0 -z23 -z-1 -zx -z9x -z= --compression-level=0 --compression-level=; do
	want 2 "$AUXREC" record $bad --source=none -o f -- true
	said "bad compression level '.*': 1 \(fast\) to 22 \(small\)"
	[ ! -e f ] || fail "$bad left a file"
done
want 2 "$AUXREC" record -z -e intel_pt//u,cpu-clock:u --aux-sample -o f -- true
said '-z and --aux-sample exclude each other'

# One program's switches in a file, at two levels.
for level in -z=3 --compression-level=22; do
	want 0 "$AUXREC" record $level --source=none -o one.data -- "$PROG/pingpong" 3000
	said 'of records compressed to .* to 1\)'
	counted=$(sed -n 's/.* in .* s, \([0-9]*\) records (.*/\1/p' err)
	all_agree one.data
	[ "$(inside 14)" -ge 6000 ] || fail "only $(inside 14) switches in $level"
	[ "$(outside 14)" = 0 ] || fail "switches outside of COMPRESSED records"
	got=$(awk '$1 == "in" { n += $3 } END { print n }' counts)
	[ "$got" = "$counted" ] || fail "$got records are inside, the rings gave $counted"
	# shellcheck disable=SC2046 # two numbers
	set -- $(sed -n 's/^bytes //p' counts)
	[ "$1" -gt $((5 * $2)) ] || fail "$level: $1 bytes became $2"
done
"$PERF" report -i one.data --header-only -I 2>/dev/null |
	grep -qE '^# compressed : Zstd, level = 22, ratio = [0-9]+$' || fail "the feature in perf's words"
# What perf counts itself: all types, inside and out.
"$PERF" report -i one.data --stats >stats 2>complaints || { cat complaints; fail "--stats"; }
got=$(awk '/TOTAL events/ { print $3 }' stats)
want=$(awk '$1 == "in" { n += $3 } $1 ~ /^[0-9]/ { n += $2 } END { print n }' counts)
[ "$got" = "$want" ] || fail "perf counts $got records, there are $want"

# A stream, through a pipe.
"$AUXREC" record -q -z --source=none -o - -- "$PROG/pingpong" 3000 >stream 2>err
all_agree stream
[ "$(inside 14)" -ge 6000 ] || fail "only $(inside 14) switches in the stream"

# Killed: what is there reads as it is.
kill_one() { # arguments of record
	"$AUXREC" record -q -z -o killed.data "$@" >/dev/null 2>&1 &
	sleep 1
	kill -9 $!
	wait $! 2>/dev/null
	all_agree killed.data
	[ "$(json j 'd["finished"]')" = False ] || fail "a killed file claims to be finished"
}
if is_root; then
	(sleep 0.4; exec "$PROG/pingpong" 10000 >/dev/null) &
	kill_one -a --source=none
	wait
	[ "$(inside 15)" -ge 10000 ] || fail "only $(inside 15) switches in the killed file"
else
	# shellcheck disable=SC2016 # for that shell
	kill_one --source=none -- sh -c 'echo $$ >pid; exec "$0" 100000000' "$PROG/pingpong"
	kill "$(cat pid)" # killing the recorder did not end it
	[ "$(inside 14)" -ge 10000 ] || fail "only $(inside 14) switches in the killed file"
fi

# A software trace: its bytes stay outside, and decode to what was executed.
decodes() { # FILE
	"$PERF" script -i "$1" --itrace=i1i -F ip >flow 2>complaints ||
		{ cat complaints; fail "perf script --itrace"; }
	! grep -i 'error' flow complaints || fail "$1: decode errors"
	wc -l <flow
}
mkdir ips
"$AUXREC" record -q -z --source=soft --soft-ips ips -o soft.data -- "$PROG/spin" 1000 >/dev/null 2>err
if [ -e soft.data ]; then
	all_agree soft.data
	[ "$(outside 71)" -gt 0 ] || fail "where is the trace?"
	got=$(decodes soft.data)
	want=$(($(cat ips/* | wc -c) / 8))
	[ "$want" -gt 10000 ] || fail "only $want instructions were executed"
	[ "$got" = "$want" ] || fail "perf decodes $got instructions of $want"
	rm -f killed.data
	kill_one --source=soft -- "$PROG/spin" 100000000
	[ "$(decodes killed.data)" -gt 1000 ] || fail "a killed trace hardly decodes"
else
	echo "no software trace here: $(tail -n 1 err)"
fi

# A full disk takes back the round, and the command goes on.
want 1 sh -c "ulimit -f 60; exec '$AUXREC' record -z1 --source=none -m 64K -o full.data -- \
	sh -c '\"$PROG/pingpong\" 60000; echo went on'"
said "writing 'full.data' failed: File too large"
grep -q 'went on' out || fail "the command did not go on"
all_agree full.data
[ "$(inside 14)" -ge 1000 ] || fail "only $(inside 14) switches in what a full disk left"
