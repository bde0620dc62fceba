#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec check` finds what stock perf records here sound, however it was told to record.
. "$E2E/lib.sh"
need_perf
command -v python3 >/dev/null || skip "python3 is not installed"

all=
"$PERF" record -q -o try.data -e dummy:u -a -- true >log 2>&1 && all=-a
[ -n "$all" ] || "$PERF" record -q -o try.data -e dummy:u -- true >log 2>&1 || {
	cat log
	skip "'$PERF' cannot record here: $(head -n 1 log)"
}

# judge FILE: sound. A busy machine may have lost records; nothing else may be missing.
judge() {
	got=0
	"$AUXREC" check --json "$1" >json 2>err || got=$?
	json json '[f["kind"] for f in d["findings"] if f["severity"] != "remark"
		and f["kind"] not in ("lost", "lost-samples")]' >found
	if [ "$(cat found)" != "[]" ] || { [ $got != 0 ] && [ $got != 4 ]; }; then
		cat json err
		fail "$1 of '$how' is not sound: status $got"
	fi
}

work="seq 100000"
# recorded WORDS...: what perf records with them is sound, if perf can do that.
recorded() {
	how="$*"
	rm -rf one.data
	# shellcheck disable=SC2086
	"$PERF" record -q -o one.data "$@" -- $work >/dev/null 2>log || {
		echo "not tried: $how: $(head -n 1 log)"
		return 0
	}
	tried=$((tried + 1))
	judge one.data
}

tried=0
recorded -e dummy:u
recorded -e cpu-clock -F 4000 -g
recorded -e cpu-clock -F 4000 --switch-events
recorded -e '{cpu-clock,task-clock}:S'
recorded -e cpu-clock -e task-clock --data --period
recorded -e cpu-clock --buildid-mmap
recorded -e cpu-clock -k CLOCK_MONOTONIC
recorded -e cpu-clock -z
recorded -e cpu-clock --no-bpf-event --user-regs=ip --call-graph dwarf
if [ -n "$all" ]; then
	recorded -a -e dummy:u --switch-events
	recorded -a -z -e cpu-clock -F 4000 -g --switch-events
	recorded -a -e cpu-clock --threads
	recorded -a -e cpu-clock --kcore
	recorded -a -e sched:sched_switch
	recorded -a -e cpu-clock --overwrite --tail-synthesize
	recorded -a -e cpu-clock --namespaces --all-cgroups
fi
[ "$tried" -ge 5 ] || fail "only $tried recordings were made"

# A stream, by name and as it comes.
how="a pipe"
# shellcheck disable=SC2086
"$PERF" record -q -o - -e cpu-clock --switch-events $all -- $work 2>log >pipe.data ||
	fail "perf does not record into a pipe"
judge pipe.data
# shellcheck disable=SC2002
cat pipe.data | "$AUXREC" check - >out || [ $? = 4 ] || fail "a stream is not sound"
