#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --control: perf's words, on FIFOs and on descriptors, and what they do. Beside perf record:
# the same words get the same answers, but where perf is silent or acknowledges a failure.
. "$E2E/lib.sh"
need_root "records all cpus"
need_tracefs

words() {
	python3 "$E2E/ctlwords.py" "$@" || fail "ctlwords.py $1"
}

# until COMMAND...: within ten seconds.
until_so() {
	for _ in $(seq 100); do
		"$@" && return
		sleep 0.1
	done
	fail "never: $*"
}

rec='' load=
# start FILE OPTIONS...: in the background, with its FIFOs; back when it listens.
start() {
	rm -f ctl ack
	mkfifo ctl ack
	file=$1
	shift
	"$AUXREC" record -a -o "$file" --control fifo:ctl,ack "$@" 2>err &
	rec=$!
	trap 'kill $rec $load 2>/dev/null' EXIT
	[ "$(words words . ping)" = "ping: 'ack\n\x00'" ] || fail "no answer to ping"
}

stopped() {
	[ "$(words words . stop)" = "stop: 'ack\n\x00'" ] || fail "no answer to stop"
	wait $rec || { cat err; fail "stop: status $?"; }
	rec=
}

# ---- what is not of the form, or cannot be opened ----

for bad in fifo: fifo:,a fd: fd:x fd:1,2,3 fd:-1 pipe:a ''; do
	want 2 "$AUXREC" record --control "$bad" -o f true
	said "bad control '$bad'"
done
want 1 "$AUXREC" record --control fifo:missing -o f true
said "'fifo:missing': No such file"
want 1 "$AUXREC" record --control fd:77 -o f true
said "Bad file descriptor"
mkfifo one
want 1 "$AUXREC" record --control fifo:one,one -o f true
: >plain
want 1 "$AUXREC" record --control fifo:plain -o f true
said "not supported"
want 1 "$AUXREC" record --control fifo:one,missing -o f true
said "about 'missing'"
[ ! -e f ] || fail "a refused start left a file"

# ---- answers ----

start f --source=none
words words . ping enable disable evlist 'evlist -v' 'evlist -g' 'evlist -F' 'ping ' \
	'' >ours
words words . 'enable nosuch' 'evlist -x' enablefoo 'disable tracking' snapshot dance \
	Ping >refused
words bytes . >pieces
stopped
cat >expected <<'END'
enable nosuch: "error no event 'nosuch'\n\x00"
evlist -x: "error evlist takes -v, -g or -F, not '-x'\n\x00"
enablefoo: "error unknown word 'enablefoo'\n\x00"
disable tracking: "error 'tracking' stays on: without it the trace cannot be read\n\x00"
snapshot: 'error no flight recording: everything is written anyway\n\x00'
dance: "error unknown word 'dance'\n\x00"
Ping: "error unknown word 'Ping'\n\x00"
END
diff expected refused || fail "other words than expected"
cat >expected <<'END'
ack
ack
ack
error a word of more than 255 bytes
error no event '?[2Jz'
error unknown word 'ping?'
END
diff expected pieces || fail "pieces of words"
grep -qx 'context-switches' err || fail "evlist did not list"
grep -q '^tracking: type: SOFTWARE, size: 1.*config: 0x9.*mmap2' err || fail "evlist -v"
grep -qx 'tracking: sample_period=1' err || fail "evlist -F"

if "$PERF" --version >/dev/null 2>&1; then
	rm -f ctl ack
	mkfifo ctl ack
	"$PERF" record -a -e dummy:u --switch-events -o p --control fifo:ctl,ack \
		>perf.out 2>&1 &
	rec=$!
	until_so test -s p
	words words . ping enable disable evlist 'evlist -v' 'evlist -g' 'evlist -F' 'ping ' \
		'' >perfs
	words words . stop >/dev/null
	wait $rec
	rec=
	diff perfs ours || fail "perf (<) answers otherwise"
	perf_accepts f
fi

# ---- what they do ----

python3 -c 'import time
while True:
    time.sleep(0.001)' &
load=$!
cp "$PROG/mini" ghost

# gap BEGAN ENDED KIND [KIND]: of the first kind of record nothing in between, but before
# and after; of the second something in between, and the program that ran then was seen.
gap() {
	python3 - "$@" <<'END' || fail "not so: gap $*"
import re, sys
began, ended, gone = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
stays = sys.argv[4] if len(sys.argv) > 4 else "COMM"
at = {}
ghost = False
for line in open("records"):
    t = re.search(r" at=(\d+)\.(\d{9})", line)
    if not t:
        continue
    t, kind = int(t[1] + t[2]), line.split()[2]
    at.setdefault(kind, []).append(t)
    ghost |= kind == "COMM" and "ghost" in line and began < t < ended
inside = [t for t in at[gone] if began < t < ended]
assert not inside, (gone, len(inside))
assert any(t < began for t in at[gone]) and any(t > ended for t in at[gone]), gone
assert any(began < t < ended for t in at[stays]), stays
assert ghost
END
}

start g -k monotonic --source=none -e sched:sched_switch
all=$(words pause . disable enable ./ghost)
one=$(words pause . 'disable sched:sched_switch' 'enable sched:sched_switch' ./ghost)
stopped
"$AUXREC" dump g >records || fail "dump g"
# shellcheck disable=SC2086 # two numbers
{
	gap $all SWITCH_CPU_WIDE
	gap $all SAMPLE
	gap $one SAMPLE SWITCH_CPU_WIDE
}

# In flight: a snapshot for a word, and none of what was paused.
start i -k monotonic --source=none --flight=4M
times=$(words pause . disable enable ./ghost)
[ ! -e i ] || fail "flight wrote before it was asked"
[ "$(words words . snapshot)" = "snapshot: 'ack\n\x00'" ] || fail "no snapshot"
[ -s i ] || fail "acknowledged before it was written"
stopped
"$AUXREC" dump i >records || fail "dump i"
# shellcheck disable=SC2086
gap $times SWITCH_CPU_WIDE

# ---- descriptors, and readers that do not read ----

kill $load
load=
rm -f ctl ack
mkfifo ctl ack
exec 8<>ctl 9<>ack
"$AUXREC" record -a --source=none -o j --control fd:8,9 2>err &
rec=$!
[ "$(words words . ping)" = "ping: 'ack\n\x00'" ] || fail "fd: no answer"
words flood .
words words . stop >/dev/null
wait $rec || { cat err; fail "flooded: status $?"; }
rec=
said "nobody reads the answers"
exec 8>&- 9>&-
perf_accepts j

# The other end of a pipe goes away: what it said last counts, and recording goes on.
{ sleep 0.5; printf 'evlist\nping'; } |
	timeout 60 "$AUXREC" record -a --source=none -o k --control fd:0 sleep 1 2>err ||
	fail "pipe: status $?"
grep -qx tracking err || fail "pipe: nothing came"
{ sleep 0.5; printf stop; } | timeout 60 "$AUXREC" record -q -a --source=none -o l --control fd:0 ||
	fail "stop without an end: status $?"
