#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check --decode of trace put together by hand: threads that take turns on cpus, snapshots and
# samples that overlap, a kernel's code. How many instructions each thread ran is known.
# shellcheck source=tests/e2e/lib.sh
. "$E2E/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"

counts() {
	"$AUXREC" check --decode --json "$1" >report.json
	json report.json '({str(t["tid"]): t["instructions"] for t in d["decode"]["threads"]} ==
		json.load(open("want")), d["decode"]["undecodable"], d["decode"]["errors"])'
}

for scenario in switch sample snapshot kernel; do
	mkdir $scenario
	python3 "$E2E/ptmake.py" $scenario $scenario >want || fail "cannot make $scenario"
	file=$scenario/perf.data
	[ -e $file ] || file=$scenario
	[ "$(counts $file)" = "(True, 0, [])" ] || { cat want report.json; fail "$scenario"; }
done

# stock perf as a witness: samples and snapshots it cuts apart in another way
if "$PERF" --version >/dev/null 2>&1; then
	python3 "$E2E/ptmake.py" switch switch >want
	"$PERF" script -i switch/perf.data --itrace=i1i -F tid 2>/dev/null |
		python3 -c 'import collections, json, sys
n = collections.Counter(sys.stdin.read().split())
sys.exit(dict(n) != json.load(open("want")))' || fail "perf counts other instructions"
fi

# Without the code of one program its thread's instructions are missing, and no others.
mv switch/c kept
"$AUXREC" check --decode --json switch/perf.data >report.json
[ "$(json report.json '[m["name"].rsplit("/", 1)[1] for m in d["decode"]["missing"]]')" = "['c']" ] ||
	fail "not the program that is missing"
[ "$(json report.json 'json.load(open("want"))["700"] > sum(t["instructions"]
	for t in d["decode"]["threads"] if t["tid"] == 700)')" = True ] ||
	fail "instructions without code"
mv kept switch/c

# Real trace of another machine: nothing of its code is here.
file=$E2E/../corpus/quipper/perf.data.piped.intel_pt-4.14
want 4 "$AUXREC" check --decode --json "$file"
mv out report.json
[ "$(json report.json '[(q["bytes"], q["psb"]) for q in d["decode"]["queues"]]')" = \
	"[(76400, 5), (68192, 5)]" ] || fail "other queues"
[ "$(json report.json 'sorted(m["name"] for m in d["decode"]["missing"])')" = \
	"['/lib64/ld-2.23.so', '[kernel.kallsyms]']" ] || fail "other code is missing"
[ "$(json report.json '{e["code"] for e in d["decode"]["errors"]}')" = "{13}" ] ||
	fail "other errors than missing code"
