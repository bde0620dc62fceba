#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --socket and auxrec ctl: every command and its error, threads, clients that misbehave.
. "$E2E/lib.sh"
need_root "records all cpus"
need_tracefs

sock() {
	python3 "$E2E/ctlsock.py" "$@"
}

ctl() {
	"$AUXREC" ctl -s s "$@"
}

rec='' load=
# start OPTIONS...: in the background, with a socket s; back when it answers.
start() {
	"$AUXREC" record --socket=s "$@" 2>err &
	rec=$!
	trap 'kill $rec $load 2>/dev/null; drop_user' EXIT
	for _ in $(seq 200); do
		ctl ping 2>/dev/null && return
		sleep 0.05
	done
	cat err
	fail "no answer to ping"
}

stopped() {
	ctl stop || fail "stop: status $?"
	wait $rec || { cat err; fail "the recording ended with status $?"; }
	rec=
	[ ! -e s ] || fail "the socket is still there"
}

# status EXPRESSION over the answer d.
status() {
	ctl --json status >d.json || fail "status"
	json d.json "$1"
}

is() {
	got=$(status "$1")
	[ "$got" = "$2" ] || fail "$1 is $got, not $2"
}

# ---- command lines, and nobody there ----

want 3 ctl status
said "no recording listens on 's'"
: >plain
want 3 "$AUXREC" ctl -s plain status
want 1 "$AUXREC" record --socket=plain -o f true
said "cannot make the socket 'plain': File exists"
for bad in "" dance "pause now" "pause -o f" "status --cpu 1" thread-start "thread-stop x" \
	"thread-stop -1" "enable a b" fetch "fetch --kind x --json"; do
	# shellcheck disable=SC2086 # words
	want 2 ctl $bad
done
want 2 "$AUXREC" ctl -s "$(printf '%0200d' 0)" status
XDG_RUNTIME_DIR=$PWD want 3 "$AUXREC" ctl status
said "'$PWD/auxrec.sock'"

# ---- a flight: state, snapshots, bytes ----

start -a --source=none --flight=1M -o f -e sched:sched_process_exec
want 1 "$AUXREC" record -a --source=none --socket=s -o g true
said "another recording listens there"
[ "$(stat -c %a s)" = 600 ] || fail "mode $(stat -c %a s)"
is 'd["version"], d["mode"], d["source"], d["paused"], d["enabled"]' \
	"(1, 'flight', 'none', False, True)"
is 'd["output"]' "$PWD/f"
is '[c["id"] for c in d["cpus"]] == list(range(len(d["cpus"])))' True
is '[b["kind"] for c in d["cpus"] for b in c["binaryData"]] == ["perfContextSwitchTrace"] * len(d["cpus"])' True
is 'all(0 < b["size"] <= b["capacity"] == 1 << 20 and b["records"] for c in d["cpus"] for b in c["binaryData"])' True
is 'd["processBinaryData"][0]["size"]' "$(wc -c </proc/cpuinfo)"
is 'd["tasks"]["processes"] > 1 and d["diskLeft"] > 0 and d["secondsUntilFull"] is None' True
is 'd["tracedThreads"], d["warnings"], d["written"], d["snapshots"]' "([], [], 0, 0)"
want 0 ctl status
grep -q '^flight recording into' out || fail "status as text"

for _ in 1 2; do
	want 0 ctl pause
	is 'd["paused"], d["pausedBy"], d["pauses"]' "(True, ['asked'], 1)"
done
is '[e["counts"] for e in d["events"]]' "[False, True, False]"
before=$(status '[b["records"] for c in d["cpus"] for b in c["binaryData"]]')
sleep 0.2
is '[b["records"] for c in d["cpus"] for b in c["binaryData"]]' "$before"
want 0 ctl fetch --kind perfContextSwitchTrace --cpu 0 -o once.raw
want 0 ctl fetch --kind perfContextSwitchTrace --cpu 0 -o twice.raw
cmp once.raw twice.raw || fail "a paused ring went on"
is 'd["paused"]' True
for _ in 1 2; do
	want 0 ctl resume
	is 'd["paused"], d["pausedBy"]' "(False, [])"
done
is '[b["rate"] > 0 for c in d["cpus"] for b in c["binaryData"]][0]' True
want 0 ctl disable context-switches
want 0 ctl pause
want 0 ctl resume
is '[e["counts"] for e in d["events"]]' "[False, True, True]"
want 0 ctl enable
is '[e["counts"] for e in d["events"]]' "[True, True, True]"
want 1 ctl disable tracking
said "'tracking' stays on"
want 1 ctl enable nosuch
said "no event 'nosuch'"

# What is fetched: whole records, the oldest first; parts of it are parts of it.
want 0 ctl pause
want 0 ctl fetch --kind perfContextSwitchTrace --cpu 0 -o all.raw
want 0 ctl fetch --kind perfContextSwitchTrace --cpu 0 --offset 100 --size 1K -o part.raw
ctl fetch --kind perfContextSwitchTrace --cpu 0 --offset 100 2>/dev/null >rest.raw ||
	fail "fetch to stdout"
want 0 ctl fetch --kind procfsCpuInfo -o cpuinfo --json
grep -q '"total"' out || fail "fetch --json"
ctl resume
python3 - <<'END' || fail "fetched bytes"
import struct
data = open("all.raw", "rb").read()
assert open("part.raw", "rb").read() == data[100:1124]
assert open("rest.raw", "rb").read() == data[100:]
pos = last = n = 0
while pos < len(data):
    kind, misc, size = struct.unpack_from("<IHH", data, pos)
    assert size >= 8 and pos + size <= len(data), pos
    if kind == 15:  # SWITCH_CPU_WIDE, the time 24 bytes from its end
        t, = struct.unpack_from("<Q", data, pos + size - 24)
        assert t >= last, pos
        last, n = t, n + 1
    pos += size
assert n > 10
cpuinfo = open("cpuinfo").read()
assert cpuinfo.count("processor\t") == open("/proc/cpuinfo").read().count("processor\t")
END
want 1 ctl fetch --kind traceBuffer --cpu 0 -o x
said "no traceBuffer in this recording"
want 1 ctl fetch --kind perfContextSwitchTrace --cpu 4000 -o x
said "cpu 4000 has no ring"
want 1 ctl fetch --kind perfContextSwitchTrace -o x
said "of one cpu or of one thread"
want 1 ctl fetch --kind perfContextSwitchTrace --cpu 0 --tid 1 -o x
want 1 ctl fetch --kind perfContextSwitchTrace --cpu 0 --offset 1G -o x
said "offset 1073741824 is behind"
want 1 ctl fetch --kind nonsense --cpu 0 -o x
[ ! -e x ] || fail "a refused fetch left a file"
want 1 ctl thread-start 1
said "only with --per-thread"
want 1 ctl thread-stop 1
want 1 ctl rotate
said "written by snapshots"

# A file of its own lies where the client is, and is whole though the other one has its part.
[ ! -e f ] || fail "flight wrote unasked"
cp /bin/true shortlived
./shortlived # has ended when the first snapshot is taken, and the second has its switches again
want 0 ctl snapshot
grep -q '^snapshot 1 taken' out || fail "snapshot"
mkdir sub
(cd sub && "$AUXREC" ctl -s ../s snapshot -o own) >out || fail "snapshot -o"
[ -s sub/own ] || fail "no sub/own"
want 1 ctl snapshot -o .
said "not a regular file"
want 1 ctl snapshot -o nowhere/f
said "No such file"
for own in f sub/../f; do
	want 1 ctl snapshot -o $own
	said "is the recording's own file"
done
want 0 ctl snapshot
is 'd["snapshots"]' 3
stopped
grep -q '^auxrec: wrote 1 snapshot by name: ' err || fail "the summary lacks sub/own"
said_bytes=$(sed -n "s/^auxrec: wrote 'f': \([0-9.]*\) \([KM]\)iB .*/\1 \2/p" err |
	awk '{ print int($1 * ($2 == "M" ? 1048576 : 1024)) }')
[ $((said_bytes * 10)) -lt $(($(stat -c %s f) * 11)) ] || # without sub/own, rounded
	fail "f has $(stat -c %s f) bytes, not $said_bytes"
for file in f sub/own; do
	perf_accepts $file
	# That switches are missing where it was paused is so.
	"$AUXREC" check $file >out 2>&1
	grep -q "^$file: sound" out || { cat out; fail "check $file"; }
	! grep outside-time out || fail "times of $file"
done
"$AUXREC" dump --json f | grep -c SWITCH_CPU_WIDE >f.n
"$AUXREC" dump --json sub/own | grep -c SWITCH_CPU_WIDE >own.n
[ "$(cat own.n)" -gt "$(($(cat f.n) / 2))" ] || fail "sub/own has $(cat own.n), f $(cat f.n)"
for file in f sub/own; do
	"$PERF" script -i $file --show-task-events >tasks 2>/dev/null
	[ "$(grep -c 'PERF_RECORD_COMM.* shortlived:' tasks)" = 1 ] ||
		fail "$file does not name once who had ended"
done

# ---- requests by hand; other users; clients that hold others up ----

start -a --source=none -o g
sock ask s '{"cmd":"ping","id":[1,"x"]}' '{"cmd":"dance"}' '[1]' 'nonsense' '{}' \
	'{"cmd":"fetch","kind":7}' '{"cmd":"fetch","kind":"procfsCpuInfo","offset":-1}' \
	'{"cmd":"snapshot"}' '{"cmd":"rotate"}' '{"cmd":"snapshot","output":"here"}' \
	'{"cmd":"thread-start"}' | sed 's/\(not a JSON object\).*/\1"}/' >out
cat >expected <<'END'
{"ok":true,"id":[1,"x"]}
{"ok":false,"error":"unknown command 'dance'"}
{"ok":false,"error":"a request is a JSON object"}
{"ok":false,"error":"not a JSON object"}
{"ok":false,"error":"a request has a \"cmd\", which is a text"}
{"ok":false,"error":"\"kind\" is a text"}
{"ok":false,"error":"\"offset\" is a number from 0 to 9223372036854775807"}
{"ok":false,"error":"no flight recording: everything is written anyway"}
{"ok":false,"error":"the recording was begun without --switch-output: it has one file"}
{"ok":false,"error":"\"output\" is a path that begins with /"}
{"ok":false,"error":"\"tid\" is missing"}
END
diff expected out || fail "answers by hand"
chmod 666 s # what the mode keeps out, the recorder does, too
make_user
trap 'kill $rec $load 2>/dev/null; drop_user' EXIT
got=$(as_user "$AUXREC" ctl -s "$PWD/s" status 2>&1)
status=$?
case $status:$got in
1:*another\ user*) ;;
*) fail "another user got $status: $got" ;;
esac

mkfifo hold
sock held s <hold >ready &
bad=$!
exec 7>hold
for _ in $(seq 100); do
	grep -q ready ready && break
	sleep 0.1
done
one=$(status 'd["written"]')
sleep 1
two=$(status 'd["written"]')
[ "$two" -gt "$one" ] || fail "bad clients hold the recording up: $one, $two"
exec 7>&-
wait $bad
sock fuzz s 600 1 >out || fail "an answer that is no JSON object"
[ "$(cat out)" -gt 400 ] || fail "junk ended connections: $(cat out) answers"
stopped
perf_accepts g

# ---- threads of a per-thread recording ----

"$PROG/pingpong" 100000000 &
load=$!
sleep 0.2
other=$(pgrep -P $load)
start --per-thread --source=none -t $load -k monotonic -o h
mono() { python3 -c 'import time; print(time.monotonic_ns())'; }
sleep 0.1
is '[t["tid"] for t in d["tracedThreads"]]' "[$load]"
want 0 ctl thread-start "$other"
started=$(mono)
want 0 ctl thread-start "$other"
is '[t["tid"] for t in d["tracedThreads"]]' "[$load, $other]"
ctl status | grep -qx "threads: $load, $other" || fail "status as text lacks the threads"
sleep 0.2
want 0 ctl thread-stop $load
ended=$(mono)
want 0 ctl thread-stop $load
is '[t["tid"] for t in d["tracedThreads"]]' "[$other]"
sleep 0.2
again=$(mono)
want 0 ctl thread-start $load
sleep 0.2
want 1 ctl thread-start 999999999
said "there is no thread"
want 1 ctl thread-stop 1
said "thread 1 is not recorded"
stopped
perf_accepts h
"$AUXREC" check h >out 2>&1 || { cat out; fail "check h"; }
"$AUXREC" dump h >records || fail "dump h"
python3 - $load "$other" "$started" "$ended" "$again" <<'END' || fail "threads that come and go"
import re, sys
first, other, started, ended, again = map(int, sys.argv[1:])
at = {first: [], other: []}
told = set()
for line in open("records"):
    t = re.search(r" at=(\d+)\.(\d{9})", line)
    tid = int((re.search(r"s_tid=(\d+)", line) or [0, 0])[1])
    kind = line.split()[2]
    if kind == "SWITCH" and tid in at:
        at[tid].append(int(t[1] + t[2]))
    if kind == "MMAP2":
        told.add(int(re.search(r" pid=(\d+)", line)[1]))
assert {first, other} <= told, told
assert min(at[first]) < started and max(at[first]) > again
assert not [t for t in at[first] if ended < t < again], "recorded while it was stopped"
assert min(at[other]) > min(at[first])
assert [t for t in at[other] if ended < t < again]
END

# With a greatest size for all rings.
start --per-thread --source=none -t $load -m 64 --max-total-buffer 500K -o i
want 1 ctl thread-start "$other"
said "max-total-buffer"
stopped
