#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec dump` and `perf script -D` of recordings made here: offsets, sizes and types line by
# line, and the fields that perf prints; text and JSON say the same.
. "$E2E/lib.sh"
need_perf
command -v python3 >/dev/null || skip "python3 is not installed"
check() {
	python3 "$E2E/dumpcheck.py" "$@" || fail "dumpcheck.py $*"
}

# perf's recordings: switches and a tracepoint of the machine where this user may; chains,
# registers and stacks of a program.
if is_root && "$PERF" record -q -o perf.data -a -e dummy:u --switch-events \
	-e sched:sched_switch -- sleep 0.2 >log 2>&1; then
	check trace perf.data
elif ! "$PERF" record -q -o perf.data -e dummy:u -- sleep 0.1 >log 2>&1; then
	skip "'$PERF' cannot record here: $(head -n 1 log)"
fi
"$PERF" record -q -o stack.data -e cpu-clock:u --call-graph dwarf,512 -- "$PROG/spin" 20000 \
	>log 2>&1 || fail "perf does not record stacks"
check perf perf.data stack.data
check lines perf.data stack.data

# A directory with a file for each of perf's threads.
if is_root && "$PERF" record -q --threads -a -o threads -e dummy:u --switch-events -- \
	sleep 0.1 >log 2>&1; then
	check perf threads
	check lines threads
	"$AUXREC" dump threads | grep -q ' part="data\.0" ' || fail "no part of a directory"
fi

# A stream, whole and as it arrives.
"$PERF" record -q -o - -e dummy:u -- sleep 0.1 >pipe.data 2>log || fail "perf to a pipe"
check perf pipe.data
want 0 "$AUXREC" dump pipe.data
mv out whole
# shellcheck disable=SC2002
cat pipe.data | "$AUXREC" dump - >out || fail "dump of a stream ends with $?"
cmp whole out || fail "a stream is dumped otherwise than a file"

# Our own: trace made by software, and all switches of the machine; compressed as well.
if "$AUXREC" record -q --source=soft -o soft -- "$PROG/spin" 200 >log 2>&1; then
	check perf soft
	check lines soft
	"$AUXREC" dump -j -t AUXTRACE soft >out
	# The bytes that --hex prints are the trace itself.
	"$AUXREC" dump -x -t AUXTRACE soft | python3 -c '
import re, sys
data = open("soft", "rb").read()
n = 0
for line in sys.stdin:
	pos, size, kind, rest = line.split(" ", 3)
	if kind == "payload":
		pos, size = int(pos, 16), int(size)
		assert rest == "data=<%s>\n" % data[pos:pos + size].hex(), line
		n += size
said = sum(int(s) for s in re.findall("\"size\":([0-9]+)", open("out").read()))
assert n == said > 0, (n, said)' || fail "--hex shows other bytes"
fi
if is_root; then
	want 0 "$AUXREC" record -q -a -z -o switches -- "$PROG/pingpong" 200
	check perf switches
	check lines switches
fi
