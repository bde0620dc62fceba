#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Flights of trace by cpu, and recordings of it in several files: however much is forgotten of the
# switches, those stay by which readers know whose each piece of trace is. What is in a snapshot, or
# in a file, is found for the threads that executed it, without a byte that cannot be decoded behind
# the first PSB.
# shellcheck disable=SC2016
set -eu
. "$E2E/lib.sh"
. "$E2E/soft.sh"
. "$E2E/attach.sh"
. "$E2E/percpu.sh"
soft_begin

# record DIR OPTION... -- CMD...
record() {
	dir=$1
	shift
	mkdir -p "$dir/ips"
	"$AUXREC" record --source=soft --per-cpu --soft-ips "$dir/ips" -o "$dir/perf.data" "$@" \
		>"$dir/out" 2>"$dir/err" || { cat "$dir/err"; soft_fail "$dir ends with $?"; }
}

# piece FILE DIR OPTION...: FILE has pieces of the lists, and nothing else that could be trace.
piece() {
	file=$1 dir=$2
	shift 2
	"$AUXREC" check --decode "$file" >found || { cat found; soft_fail "$file: check"; }
	percpu_found found
	grep -q ' instructions, 0 errors$' found || { cat found; soft_fail "$file: libipt has errors"; }
	soft_say cmp "$E2E/perfcmp.py" "$@" "$file" "$dir/ips" || soft_fail "$file: perf disagrees"
	# Both have the same, in all.
	perf=$(sed -n 's/.*: perf \([0-9]*\), .*/\1/p' cmp | awk '{ n += $1 } END { print n }')
	grep -q " $perf instructions, 0 errors" found || { cat cmp found; soft_fail "$file: not as many"; }
}

# two WHERE: at least two threads of one cpu have trace there.
two() {
	[ "$(grep -c ': perf [1-9].*same$' cmp)" -gt "$(percpu_cpus)" ] || {
		cat cmp
		soft_fail "$1: not two threads of one cpu"
	}
}

# Switches by the thousand, and a window that holds few of them: sh was on each cpu before the
# others, or is there with one of them.
record small --flight=e,16K -- sh -c '"$0" 1000; "$0" 20' "$PROG/pingpong"
piece small/perf.data small -e
two small
! "$E2E/perfcmp.py" small/perf.data small/ips >/dev/null || soft_fail "all is there: nothing was tested"
percpu_switches small/perf.data 1
kept=$("$AUXREC" dump small/perf.data | grep -c ' SWITCH_CPU_WIDE ')
[ "$kept" -lt 2500 ] || soft_fail "$kept switches: nothing was forgotten"

# Several snapshots in one file: threads that take turns, all of it.
record several --flight=e,64M -- sh -c '
	for n in 40 60 20; do "$0" 6 $n && exit 1; kill -USR2 $PPID; done; exit 0' "$PROG/turns"
[ "$(grep -c ': snapshot [0-9]* (' several/err)" -ge 3 ] || soft_fail "not several snapshots"
percpu_witness several

# As many as there can be, while a process on another cpu than the recorder leaves it and comes back.
mkdir -p often/ips
"$AUXREC" record --source=soft --per-cpu --flight=e,64M --soft-ips often/ips -o often/perf.data -- \
	sh -c '"$0" 5000 300; exit 0' "$PROG/naps" >often/out 2>often/err &
recorder=$!
until grep -q 'hundreds of times' often/err; do sleep 0.05; done
while kill -USR2 $recorder 2>/dev/null; do sleep 0.002; done
wait $recorder || { cat often/err; soft_fail "often ends with $?"; }
[ "$(grep -c ': snapshot [0-9]* (' often/err)" -ge 100 ] || soft_fail "not many snapshots"
percpu_witness often

# Each in a file of its own, which has what others have, too.
record own --flight=e,16K --max-snapshots=9 -- sh -c '
	for i in 1 2 3; do
		"$0" 100
		kill -USR2 $PPID
		until [ -e own/perf.$i.data ]; do sleep 0.05; done
	done
	"$0" 100' "$PROG/pingpong"
files=$(in_order own/perf)
[ "$(echo "$files" | wc -l)" = 4 ] || soft_fail "not four files: $(ls own)"
for file in $files; do
	piece "$file" own -b -e
	percpu_switches "$file" 1
done
two own

# From some moment on.
record late --flight=64M --pre=20ms -- sh -c '"$0" 6 200; kill -USR2 $PPID; "$0" 6 10; exit 0' \
	"$PROG/turns"
piece late/perf.data late -b -e
two late
whole=$(($(cat late/ips/* | wc -c) / 8))
[ "$perf" -lt $((whole / 2)) ] || soft_fail "late: $perf of $whole"

# Of a program that runs already.
attach_possible
attach_begin "$PROG/attached" 6 8
record running --flight=e,4K --max-instructions 500000 -p "$target"
attach_end 7
piece running/perf.data running -e
two running
percpu_switches running/perf.data 1

# ---- in files that follow each other ----

mkdir files files/ips
"$AUXREC" record --source=soft --per-cpu --switch-output --soft-ips files/ips -o files/r -- sh -c '
	for i in 2 3 4; do
		"$0" 6 30
		kill -USR2 $PPID
		until [ -e files/r.$i.data ]; do sleep 0.02; done
	done
	exit 0' "$PROG/turns" >out 2>err || { cat err; soft_fail "files: $?"; }
files=$(in_order files/r)
[ "$(echo "$files" | wc -l)" = 4 ] || soft_fail "not four files"
for file in $files; do
	piece "$file" files -b -e
done
# shellcheck disable=SC2086 # names
soft_say cmp "$E2E/perfcmp.py" $files files/ips || soft_fail "files: perf disagrees"
two files
