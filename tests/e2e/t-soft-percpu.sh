#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trace by cpu, made in software: by the switches of its cpus perf, and a decoder on libipt, find for
# each thread what it executed; the threads are spread over the cpus, and the file is one that the
# kernel could have written.
# shellcheck disable=SC2015
. "$E2E/lib.sh"
. "$E2E/soft.sh"
. "$E2E/percpu.sh"
soft_begin

# by_cpu DIR CMD...: as soft_record.
by_cpu() {
	dir=$1
	shift
	want=0 status=0
	"$@" >plain 2>/dev/null || want=$?
	mkdir -p "$dir/ips"
	"$AUXREC" record -v --source=soft --per-cpu --soft-ips "$dir/ips" -o "$dir/perf.data" \
		-- "$@" >"$dir/out" 2>"$dir/err" || status=$?
	[ "$status" = "$want" ] && cmp plain "$dir/out" || {
		cat "$dir/err"
		soft_fail "$*: status $status, not $want, or other output"
	}
}

for p in threads threadexec; do
	by_cpu $p "$PROG/$p"
	percpu_libipt $p
	soft_say $p/perfcmp "$E2E/perfcmp.py" $p/perf.data $p/ips || soft_fail "$p: perf disagrees"
	soft_report $p
	percpu_switches $p/perf.data "$(percpu_cpus)"
	"$AUXREC" info $p/perf.data | grep -q 'pairs of switches that the tracer made' ||
		soft_fail "$p: nothing is said of what was left out"
done

# As the kernel has it: a queue for each cpu, an id for each, one beginning.
"$AUXREC" dump threads/perf.data >dump
grep -q ' per_cpu_mmaps=0x1 ' dump && grep -q ' have_sched_switch=0x3 ' dump ||
	soft_fail "AUXTRACE_INFO does not say what this is"
queues=$(sed -n 's/.* AUXTRACE .* idx=\([0-9]*\) tid=-1 cpu=\([0-9]*\)$/\1 \2/p' dump | sort -u)
[ "$(echo "$queues" | wc -l)" = "$(grep -c ' ITRACE_START ' dump)" ] ||
	soft_fail "not one ITRACE_START for each queue"
[ "$(sed -n 's/.* AUX .* cpu=\([0-9]*\) .*/\1/p' dump | sort -u)" = \
	"$(echo "$queues" | cut -d' ' -f2 | sort)" ] || soft_fail "AUX records of other cpus"

# Each, from its birth on, may run on the cpu of its trace, and on no other one: says the kernel.
# shellcheck disable=SC2016
"$AUXREC" record --source=soft --per-cpu -o born.data -- sh -c 'for i in 1 2 3 4; do (
	while read -r k v; do case $k in
	Pid:) pid=$v ;;
	Cpus_allowed_list:) echo "$pid $v" ;;
	esac; done </proc/self/status
); done' >out 2>err || { cat err; soft_fail "born ends with $?"; }
percpu_switches born.data "$(percpu_cpus)"
awk '/SWITCH_CPU_WIDE IN/ { split($1, who, "/"); print who[1], substr($2, 2) + 0 }' switches |
	sort -u >where
sort out | comm -23 - where >elsewhere
{ [ "$(wc -l <out)" = 4 ] && ! [ -s elsewhere ]; } || { cat out where; soft_fail "born elsewhere"; }

# The negative control.
! "$E2E/perfcmp.py" threads/perf.data threadexec/ips >/dev/null 2>&1 || soft_fail "any list is right"

# In flight, and across files.
mkdir fips
"$AUXREC" record --source=soft --per-cpu --flight=e,64M --soft-ips fips -o f.data -- "$PROG/forkexec" \
	>/dev/null 2>err || :
soft_say perfcmp "$E2E/perfcmp.py" f.data fips || soft_fail "flight: perf disagrees"
mkdir rips
"$AUXREC" record --source=soft --per-cpu --switch-output=1K --soft-ips rips -o r -- \
	"$PROG/pingpong" 3000 >/dev/null 2>err || { cat err; soft_fail "files"; }
for f in r.*.data; do
	"$AUXREC" check --decode "$f" >found || { cat found; soft_fail "$f"; }
	! grep -E '^(damage|loss)' found || soft_fail "$f: check finds something"
done
[ -e r.2.data ] || soft_fail "one file only"
# shellcheck disable=SC2046
soft_say cmp "$E2E/perfcmp.py" $(in_order r) rips || soft_fail "files: perf disagrees"

for bad in --per-thread --no-switch-events; do
	status=0
	"$AUXREC" record --source=soft --per-cpu $bad -o no.data -- true 2>err || status=$?
	[ $status = 2 ] || soft_fail "--per-cpu $bad: status $status"
done
