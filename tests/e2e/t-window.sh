#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rings by time: measured of what runs, assumed of a command; each snapshot says whether its rings
# reach back so far, and stock perf finds that they do.
# shellcheck disable=SC2016
. "$E2E/lib.sh"
need_perf

want 2 "$AUXREC" record --window=200ms -o f true
said 'needs --flight'
want 2 "$AUXREC" record --flight=1M --window=200ms -o f true
said 'no SIZE of --flight'
want 2 "$AUXREC" record --flight --window=200 -o f true
said "bad time '200' of --window"

want 0 "$AUXREC" record --source=none --flight=e --window=300ms -o command -- sleep 0.1
said 'window of 300.0 ms: 512.0 KiB of records per ring for 500.0 ms, which is 1.0 MiB .*assumed'
said 'the window of 300.0 ms is covered'
perf_accepts command

# Measured while it is busy: the newest 300 ms of a second are there.
"$PROG/pingpong" 100000000 &
busy=$!
trap 'kill -KILL $busy' EXIT
want 0 "$AUXREC" record --source=none --flight=e --window=300ms -o busy -p $busy -- sleep 1
said 'a second, as measured'
if grep -q 'is covered' err; then
	"$PERF" script -i busy --show-switch-events -F time,event 2>/dev/null | python3 -c '
import re, sys
t = [float(m.group(1)) for m in (re.search(r"(\d+\.\d+): PERF_RECORD_SWITCH", l)
	for l in sys.stdin) if m]
sys.exit(max(t) - min(t) < 0.25 and "%d switches over %.3f s" % (len(t), max(t) - min(t)))' ||
		fail "the window is not covered"
else
	said 'rings hold less than the window' # it got a cpu of its own meanwhile
fi

# Measured while it slept: that was too little, and the snapshot says so.
sh -c 'sleep 2; exec "$0" 100000000' "$PROG/pingpong" &
late=$!
trap 'kill -KILL $busy $late' EXIT
want 0 "$AUXREC" record --source=none --flight=e --window=300ms -o late -p $late -- sleep 4
said '16.0 KiB of records per ring for .* as measured'
said '[0-9]+ of [0-9]+ rings hold less than the window of 300.0 ms'
perf_accepts late
