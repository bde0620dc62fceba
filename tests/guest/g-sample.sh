#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# AUX-area samples: each sample of a clock carries the newest bytes of its cpu's area, and
# perf decodes the packets in them; perf record's own samples are the comparison. Snapshots:
# two on a signal and one at the end, of every cpu.
. "$GUEST/lib.sh"

guest() {
	param bytes_per_tick 4096
	record sample -a -e intel_pt//,cpu-clock -F 100 --aux-sample=4096 -- sleep 2
	perf record -q -B -N -a -e '{intel_pt//,cpu-clock}' -F 100 --aux-sample=4096 \
		-o perf.data sleep 2 2>perf.err

	stats before
	auxrec record -q -a -m ,64K --snapshot=e -o snap.data -- sleep 4 2>snap.err &
	until_started before
	for _ in 1 2; do
		sleep 1
		kill -USR2 $!
	done
	wait $! || { cat snap.err; fail "snapshots"; }
}


host() {
	[ "$(json sample.data 'd["records"].get("SAMPLE", 0) > 100')" = True ] ||
		fail "hardly a sample"
	[ "$(json sample.data 'd["records"].get("AUXTRACE", 0)')" = 0 ] ||
		fail "full trace beside the samples"
	for f in sample perf; do
		"$PERF" script --itrace=w -F event,cpu -i $f.data >$f.events 2>$f.complaints
		echo "$f: $(grep -c ptwrite $f.events) PTWRITEs in samples"
	done
	for cpu in 0 1; do
		grep -q "\[00$cpu\].*ptwrite" sample.events ||
			{ head sample.complaints; fail "no packets in samples of cpu $cpu"; }
	done
	! grep -i 'error' sample.complaints || fail "perf complains"

	for cpu in 0 1; do
		[ "$(json snap.data "[q['chunks'] for q in d['aux'] if q['cpu'] == $cpu]")" = "[3]" ] ||
			{ cat info.json; fail "not three snapshots of cpu $cpu"; }
	done
	"$PERF" script --itrace=w -F event,cpu -i snap.data >snap.events 2>snap.complaints
	[ "$(grep -c ptwrite snap.events)" -gt 100 ] || fail "perf decodes no snapshot"
}

"$1"
