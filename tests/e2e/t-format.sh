#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stock perf finds every record and every feature that format/ can write, in a file and in a
# stream, and reads the values that were put in.
. "$E2E/lib.sh"
need_perf

has() { # FILE PATTERN
	grep -qE -- "$2" "$1" || { cat "$1"; fail "no '$2' in $1"; }
}

header_is_right() { # FILE
	has "$1" '^# hostname : sample-host$'
	has "$1" '^# os release : 6\.1\.0-sample$'
	has "$1" '^# perf version : auxrec sample$'
	has "$1" '^# arch : x86_64$'
	has "$1" '^# nrcpus online : 3$'
	has "$1" '^# nrcpus avail : 4$'
	has "$1" '^# cpudesc : Sample CPU @ 3\.00GHz$'
	has "$1" '^# cpuid : GenuineIntel,6,142,10$'
	has "$1" '^# total memory : 16000000 kB$'
	has "$1" '^# cmdline : /usr/bin/auxrec record -a *$'
	has "$1" '^# event : name = intel_pt/sample/, , id = \{ 101, 102 \}, type = 8[ ,]'
	has "$1" '^# event : name = dummy:sample, , id = \{ 201, 202 \}, type = 1[ ,]'
	has "$1" '^# event : name = sample:sample_event, , id = \{? ?301'
	has "$1" '^# sibling sockets : 0-1,3$'
	has "$1" '^# sibling dies    : 3$'
	has "$1" '^# sibling threads : 0-1$'
	has "$1" '^# CPU 2: Core ID -1, Die ID -1, Socket ID -1$'
	has "$1" '^# CPU 3: Core ID 5, Die ID 1, Socket ID 0$'
	has "$1" '^# node1 meminfo  : total = 5000000 kB, free = 2000000 kB$'
	has "$1" '^# node1 cpu list : 3$'
	has "$1" '^# pmu mappings: intel_pt = 8, software = 1$'
	has "$1" '^# time of first sample : 1\.000000$'
	has "$1" '^# time of last sample : 2\.500000$'
	has "$1" '^# clockid: monotonic_raw \(4\)$'
	has "$1" '^# reference time: .*1700000000\.000000 \(TOD\) = 1\.000000000 '
	has "$1" '^# intel_pt pmu capabilities: mtc=1, psb_cyc=0$'
}

records_are_right() { # FILE
	has "$1" 'TIME_CONV'
	has "$1" 'ID_INDEX nr: 5'
	has "$1" 'id: 102  idx: 1  cpu: 1  tid: -1'
	has "$1" 'Filter string +filter 0x1000/0x100'
	has "$1" 'Cap Event Trace +0'
	has "$1" 'THREAD_MAP nr: 1 thread: -1'
	has "$1" 'CPU_MAP: 0-1,3'
	has "$1" 'MMAP -1/0: \[0xffffffff81000000\(0xe00000\) @ 0xffffffff81000000\]'
	has "$1" 'FORK\(500:500\):\(1:1\)'
	has "$1" 'NAMESPACES 500/500 - nr_namespaces: 7'
	has "$1" '0/net: 4/0xf0000075'
	has "$1" 'COMM: sample:500/500'
	has "$1" 'MMAP2 500/500: .*08:01 1234 0\]: r-xp /usr/bin/sample'
	has "$1" 'MMAP2 500/500: .*<b3b3000000000000>\]: r-xp /usr/lib/short.so'
	has "$1" 'KSYMBOL addr ffffffffc0001000 len 128 type 1 flags 0x0 name bpf_prog_sample'
	has "$1" 'RECORD_BPF_EVENT' # its fields only where perf has libbpf
	has "$1" 'FINISHED_INIT'
	has "$1" '^1 1000000000 .*ITRACE_START pid: 500 tid: 500'
	has "$1" '^1 1500000000 .*AUX offset: 0 size: 0x18 flags: 0'
	has "$1" 'LOST_SAMPLES'
	has "$1" 'EXIT\(500:500\):\(1:1\)'
	has "$1" 'AUXTRACE size: 0x18  offset: 0  ref: 0x63  idx: 1  tid: -1  cpu: 1'
	has "$1" ' PSBEND$'
	has "$1" 'FINISHED_ROUND'
}

"$TOOLS/fmtsample" >f || fail "fmtsample"
want 0 "$PERF" script -i f --header-only -I
[ ! -s err ] || { cat err; fail "perf complains about the header"; }
header_is_right out
has out '^# contains AUX area data'
has out '^#  L2 Unified +1024K \[0-1\]$'
want 0 "$PERF" evlist -i f
[ "$(grep -v '^#' out)" = "intel_pt/sample/
dummy:sample
sample:sample_event" ] || { cat out; fail "evlist"; }
want 0 "$PERF" buildid-list -i f
has out '^b1b1000000000000000000000000000000000000 +\[kernel.kallsyms\]$'
has out '^b3b3000000000000 +/usr/lib/short.so$'
want 0 "$PERF" report -D -i f
records_are_right out
# The raw data of the tracepoint, printed after the format text in TRACING_DATA.
want 0 "$PERF" script -i f -F comm,tid,event,trace
has out 'sample +500 +sample:sample_event: +value=42'

# Cut short: everything up to the last round, the tracepoint under another type.
"$TOOLS/fmtsample" --killed >k || fail "fmtsample --killed"
want 0 "$PERF" report -D -i k
records_are_right out
want 0 "$PERF" script -i k -F comm,tid,event
has out 'sample +500 +raw 0x9c41'
want 0 "$PERF" report --header-only -i k

"$TOOLS/fmtsample" --stream >s || fail "fmtsample --stream"
# perf 6.1 reads streams from a real pipe only.
via_pipe() {
	# shellcheck disable=SC2002
	cat s | "$PERF" "$@"
}
want 0 via_pipe report -i - --header-only -I
[ ! -s err ] || { cat err; fail "perf complains about the stream's header"; }
header_is_right out
want 0 via_pipe script -i - -D
records_are_right out
has out 'EVENT_UPDATE'
[ "$(grep -c 'RECORD_BUILD_ID$' out)" = 3 ] || fail "not 3 build ids in the stream"
want 0 via_pipe script -i - -F comm,tid,event,trace
has out 'sample +500 +sample:sample_event: +value=42'
