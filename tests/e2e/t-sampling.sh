#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Samples of generic events: stock perf finds them where the time went, in the number that
# auxrec says.
. "$E2E/lib.sh"
need_perf

want 0 "$AUXREC" record -e cpu-clock:u -F 500 -o f -- "$PROG/spin" 100000000
said "with samples of 'cpu-clock:u'"
samples=$(sed -n 's/.* \([0-9]*\) samples).*/\1/p' err)
[ "$samples" -gt 10 ] || fail "$samples samples"
perf_accepts f
[ "$(grep -c 'cpu-clock:u:' accepted)" = "$samples" ] || fail "perf finds another number"
grep 'cpu-clock:u:' accepted | grep -q ' main+' || fail "no sample in main"
"$PERF" report -i f --stdio 2>/dev/null | grep -v '^#' | grep . | head -n 1 | grep -q 'main' ||
	fail "the time did not go into main"

want 0 "$AUXREC" record --source=none -e page-faults:u -c 1 -o g -- true
perf_accepts g
grep -q 'page-faults:u: ' accepted || fail "no page faults"

want 2 "$AUXREC" record -e cpu-clock:x -- true
said "unknown modifier"
want 2 "$AUXREC" record -e cpu-clock --aux-sample=61K -- true
said "bad --aux-sample size '61K'"
if [ ! -e /sys/bus/event_source/devices/intel_pt ]; then
	want 3 "$AUXREC" record -e cpu-clock --aux-sample -- true
	said 'needs an AUX event of the kernel'
fi
exit 0
