#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# auxrec ctl with a real AUX area: paused, the PMU writes nothing; what is fetched of an area is
# what a snapshot of the same moment has; threads are started and stopped one by one.
. "$GUEST/lib.sh"

ctl() {
	auxrec ctl -s s "$@"
}

# start OPTIONS...: in the background; back when it answers.
start() {
	auxrec record -q --socket=s "$@" 2>err &
	rec=$!
	for _ in $(seq 100); do
		ctl ping 2>/dev/null && return
		sleep 0.1
	done
	cat err
	fail "no answer to ping"
}

stopped() {
	ctl stop || fail "stop"
	wait "$rec" || { cat err; fail "recording ended with $?"; }
}

bytes() {
	count "$1" 0 bytes
}

flight() {
	# shellcheck disable=SC2016 # for the shell that it is given to
	taskset -c 0 sh -c 'while :; do i=$((i + 1)); done' &
	load=$!
	start -a --flight=64K -o flight.data
	sleep 1
	ctl --json status >running.json || fail "status"
	ctl pause || fail "pause"
	ctl pause || fail "pause again"
	stats one
	sleep 0.3
	stats two
	[ "$(bytes one)" = "$(bytes two)" ] || fail "paused, it wrote $(bytes one), $(bytes two)"
	ctl --json status >paused.json || fail "status"
	ctl fetch --kind traceBuffer --cpu 0 -o area0 || fail "fetch"
	ctl fetch --kind traceBuffer --cpu 1 -o area1 || fail "fetch"
	ctl fetch --kind traceBuffer --cpu 0 --offset 4K --size 100 -o part0 || fail "fetch a part"
	ctl fetch --kind perfContextSwitchTrace --cpu 0 -o switches0 || fail "fetch switches"
	ctl snapshot -o paused.data || fail "snapshot"
	stats three
	[ "$(bytes two)" = "$(bytes three)" ] || fail "asking let it go on"
	ctl resume || fail "resume"
	sleep 0.3
	stats four
	[ "$(bytes three)" -lt "$(bytes four)" ] || fail "it did not go on"
	ctl fetch --kind traceBuffer --cpu 0 -o later0 || fail "fetch while it runs"
	sleep 0.2
	stats five
	[ "$(bytes four)" -lt "$(bytes five)" ] || fail "after a fetch it did not go on"
	ctl disable intel_pt || fail "disable"
	stats six
	sleep 0.2
	stats seven
	[ "$(bytes six)" = "$(bytes seven)" ] || fail "disabled, it went on"
	ctl enable intel_pt || fail "enable"
	stopped
	kill $load
}

threads() {
	# shellcheck disable=SC2016
	sh -c 'while :; do i=$((i + 1)); done' &
	t1=$!
	# shellcheck disable=SC2016
	sh -c 'while :; do i=$((i + 1)); done' &
	t2=$!
	start --per-thread -t "$t1" -o threads.data
	echo "$t1 $t2" >tids
	sleep 0.3
	ctl thread-start "$t2" || fail "thread-start"
	sleep 0.3
	ctl thread-stop "$t1" || fail "thread-stop"
	sleep 0.3
	ctl thread-start "$t1" || fail "thread-start again"
	sleep 0.3
	stopped
	kill "$t1" "$t2"
}

guest() {
	flight
	threads
}

# Trace by cpu or thread, of a file: "CPU TID FILE" lines.
host() {
	python3 - <<'END' || fail "what was fetched"
import json, struct

def areas(name, key):
    """Trace of a file by cpu or thread, put together."""
    data = open(name, "rb").read()
    at, size = struct.unpack_from("<QQ", data, 40)
    end, found = at + size, {}
    while at < end:
        kind, _, n = struct.unpack_from("<IHH", data, at)
        if kind == 71:  # AUXTRACE: size, offset, reference, idx, tid, cpu
            more, _, _, _, tid, cpu, _ = struct.unpack_from("<QQQIIII", data, at + 8)
            found.setdefault(cpu if key == "cpu" else tid, []).append(
                data[at + n:at + n + more])
            n += more
        at += n
    return found

paused = areas("paused.data", "cpu")
for cpu in (0, 1):
    area = open(f"area{cpu}", "rb").read()
    assert len(paused[cpu]) == 1 and paused[cpu][0][:len(area)] == area, cpu
    assert not any(paused[cpu][0][len(area):]), "more in the snapshot"
area = open("area0", "rb").read()
assert len(area) == 65536
assert open("part0", "rb").read() == area[4096:4196]
assert open("later0", "rb").read() != area
running, still = json.load(open("running.json")), json.load(open("paused.json"))
assert (running["paused"], still["paused"], still["pauses"]) == (False, True, 1)
rings = {r["kind"]: r for r in still["cpus"][0]["binaryData"]}
assert rings["traceBuffer"]["size"] == rings["traceBuffer"]["capacity"] == 65536
assert rings["perfContextSwitchTrace"]["size"] == len(open("switches0", "rb").read())
conv = still["tscPerfZeroConversion"]
assert conv["timeMult"] > 0 and conv["timeZero"].isdigit()
one, two = map(int, open("tids").read().split())
threads = areas("threads.data", "tid")
assert set(threads) == {one, two} and all(sum(map(len, t)) for t in threads.values())
END
	for file in flight.data paused.data threads.data; do
		[ -e $file ] || continue
		"$AUXREC" check $file >checked
		case $? in 0 | 4) ;; *) cat checked; fail "check calls $file damaged" ;; esac
		"$PERF" script -i $file --show-switch-events >script 2>&1 || fail "perf script $file"
	done
	grep -q PERF_RECORD_SWITCH script || fail "no switches of the threads"
}

"$1"
