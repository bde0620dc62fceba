#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Terms of the event change the packets, and no decoder what it finds: instructions, and values
# written with ptwrite. What was lost in an overflow is told, and what was not is right.
set -eu
. "$E2E/soft.sh"
soft_begin
. "$E2E/packets.sh"

same retcomp ptw,noretcomp=0,psb_period=0
same noretcomp ptw,noretcomp,fup_on_ptw,psb_period=0
[ "$(bytes retcomp)" -lt "$(bytes noretcomp)" ] || soft_fail "compressed returns are not shorter"
[ "$(grep -c ^ptwrite noretcomp/ptflow)" = 21 ] || soft_fail "not three times seven values"
has noretcomp 'PTWRITE 0x1122334455667700 IP:1' FUP 'CBR 0xa'
# Without branches there are values and times, and no addresses but theirs.
record values ptw,fup_on_ptw,branch=0,cyc
has values 'PTWRITE 0x1122334455667702 IP:1' TSC CBR FUP
! grep -aE '^\.  [0-9a-f]+:  .*  (TIP|TNT|MODE)' values/packets || soft_fail "branches"
"$PERF" script --itrace=w -i values/perf.data >values/perf 2>&1
[ "$(grep -c 'ptwrite:' values/perf)" = 21 ] || soft_fail "perf reads other values without branches"

# psb DIR SIZE: a PSB after each so many bytes, as soon as an instruction lets it in.
psb() {
	packets "$1" | tr -d "\000" | python3 -c '
import re, sys
size, base, at = int(sys.argv[1]), 0, []
for line in sys.stdin:
    m = re.search(r" PERF_RECORD_AUXTRACE .* offset: (?:0x)?([0-9a-f]+) ", line)
    base = int(m[1], 16) if m else base
    m = re.match(r"\.  ([0-9a-f]+):  .* PSB *$", line)
    at += [base + int(m[1], 16)] if m else []
gaps = [b - a for a, b in zip(at, at[1:])]
sys.exit(0 if len(gaps) > 1 and all(size <= g < size + 256 for g in gaps) else "PSB at %s" % at)
' "$2" || soft_fail "$1: not a PSB in $2 bytes"
}
for n in 0 1 2; do
	SOFT_EVENT=intel_pt/noretcomp,psb_period=$n/u soft_record "psb$n" "$PROG/spin" 30000
	psb "psb$n" $((2048 << n))
done

# A buffer that overflows: what is between is right, and everyone tells how often.
record ovf psb_period=0 --soft-overflow=1K
for mode in '' -b; do
	soft_say ovf/ptflow "$TOOLS/ptflow" $mode -o ovf/perf.data ovf/ips || soft_fail "overflows"
done
soft_say ovf/perfcmp "$E2E/perfcmp.py" -o ovf/perf.data ovf/ips || soft_fail "perf's overflows"
n=$(sed -n 's/.* \([0-9]*\) overflows.*/\1/p' ovf/ptflow)
[ "$n" -ge 2 ] || soft_fail "$n overflows"
"$PERF" script --itrace=e -i ovf/perf.data >ovf/perf 2>&1
[ "$(grep -c 'code 7: ' ovf/perf)" = "$n" ] || soft_fail "perf tells of other overflows than $n"
"$AUXREC" info --json ovf/perf.data >ovf/info
"$AUXREC" check --decode --json ovf/perf.data >ovf/check
python3 - "$n" <<'PY' || soft_fail "auxrec tells of other overflows than $n"
import json, sys
def find(o, name):
    if isinstance(o, dict):
        yield from ([o[name]] if name in o and isinstance(o[name], int) else [])
    for x in o.values() if isinstance(o, dict) else o if isinstance(o, list) else ():
        yield from find(x, name)
want = {int(sys.argv[1])}
sys.exit(set(find(json.load(open('ovf/info')), 'ovf')) != want or
         set(find(json.load(open('ovf/check')), 'overflows')) - want != set())
PY
! "$TOOLS/ptflow" ovf/perf.data ovf/ips >said || soft_fail "overflows go unnoticed"

# As without us, where the CPU does not know ptwrite; nothing is written where it is not asked for.
want=0
"$PROG/ptwrites" >out.plain 2>/dev/null || want=$?
for mode in '' --soft-step; do
	got=0
	"$AUXREC" record --source=soft ${mode:+"$mode"} -o p -- "$PROG/ptwrites" >out 2>err || got=$?
	[ "$got" = "$want" ] || soft_fail "ptwrites ends with $got, $want untraced"
	! "$PERF" script -D -i p 2>/dev/null | grep -aq '  PTWRITE ' || soft_fail "values, unasked"
done

# refused TERMS WORDS...: what cannot be is told, with what can.
refused() {
	status=0
	"$AUXREC" record --source=soft -e "intel_pt/$1/u" -o no -- true 2>said || status=$?
	[ "$status" = 2 ] || soft_fail "$1: exit status $status"
	shift
	for words; do
		grep -qF -- "$words" said || { cat said; soft_fail "not said: $words"; }
	done
	[ ! -e no ] || soft_fail "a file was made"
}
refused pwr_evt "not supported by this PMU: 'pwr_evt'"
refused psb_period=6 "value not supported by this PMU: 'psb_period'" 'psb_periods: 0 1 2 3 4 5'
refused mtc_period=16 "value out of range: 'mtc_period=16'" 'mtc_periods: 0 1 2 3'
refused cyc_thresh=16 "value out of range: 'cyc_thresh=16'" 'cycle_thresholds: 0 1 2'
refused fup_on_ptw "needs the term ptw"
refused pt=0 "needs the term pt"

# A packet that breaks is noticed by both.
"$TOOLS/ptflip" 3 noretcomp/perf.data flipped >flip || soft_fail "ptflip: $(cat flip)"
! "$TOOLS/ptflow" flipped noretcomp/ips >said || soft_fail "libipt does not see a broken packet"
! "$E2E/perfcmp.py" flipped noretcomp/ips >said || soft_fail "perf does not see a broken packet"
