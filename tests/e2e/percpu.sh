# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the tests of trace by cpu share, beside soft.sh.

# percpu_cpus: on how many cpus threads will be, two at most.
percpu_cpus() {
	python3 -c 'import os; print(min(2, len(os.sched_getaffinity(0))))'
}

# percpu_found FILE: what check has said is nothing but that tasks which come while a snapshot is
# taken are told once more by the next.
percpu_found() {
	! grep -E '^(damage|loss|remark)' "$1" | grep -vE '^remark +backwards ' ||
		soft_fail "check finds something"
}

# percpu_libipt DIR: of each thread it finds as many instructions as the thread executed.
percpu_libipt() {
	"$AUXREC" check --decode "$1/perf.data" >"$1/found" || {
		cat "$1/found"
		soft_fail "$1: check ends with an error"
	}
	percpu_found "$1/found"
	python3 - "$1" <<'END' || { cat "$1/found"; soft_fail "$1: libipt disagrees"; }
import os, re, sys
listed = {tuple(map(int, n.split('.'))): os.path.getsize(f'{sys.argv[1]}/ips/{n}') // 8
          for n in os.listdir(sys.argv[1] + '/ips')}
rows = open(sys.argv[1] + '/found').read().split(' command\n')[1]
found = {(int(p), int(t)): int(n) for p, t, n in re.findall(r'(?m)^ +(\d+) +(\d+) +(\d+)', rows)}
sys.exit(f'{found}, not {listed}' if found != {k: n for k, n in listed.items() if n} else 0)
END
}

# percpu_switches FILE CPUS: of each cpu they take turns, their times rise, nobody comes who was not
# named, and no thread changes its cpu; threads are on so many cpus at least.
percpu_switches() {
	"$PERF" script -i "$1" --no-itrace --ns --show-switch-events \
		-F pid,tid,cpu,time >switches 2>complaints || soft_fail "$1: perf script"
	python3 - switches "$2" <<'END' || soft_fail "$1: its switches are no kernel's"
import re, sys
last, threads = {}, {}
for line in open(sys.argv[1]):
    m = re.search(r'(\d+)/(\d+) +\[(\d+)\] +(\d+)\.(\d+): PERF_RECORD_SWITCH_CPU_WIDE (IN|OUT).*'
                  r'pid/tid: +(\d+)/(\d+)', line)
    if not m:
        continue
    pid, tid, cpu, s, ns, kind, opid, otid = (x if x in ('IN', 'OUT') else int(x) for x in m.groups())
    at = s * 10**9 + ns
    before = last.get(cpu)
    if before and (at <= before[0] or kind == before[1]):
        sys.exit(f'not in turn: {line}')
    if kind == 'IN' and (tid, otid) != (before[3], before[2]):
        sys.exit(f'not who was named: {line}')
    if kind == 'OUT' and before and tid != before[2]:
        sys.exit(f'not who came: {line}')
    last[cpu] = at, kind, tid, otid
    if tid:
        threads.setdefault(tid, set()).add(cpu)
used = {c for on in threads.values() for c in on}
print(f'{len(threads)} threads on {len(used)} cpus')
if len(used) < int(sys.argv[2]) or any(len(on) > 1 for on in threads.values()):
    sys.exit(f'not spread: {threads}')
END
}

# percpu_witness DIR: perf finds each address that was executed, for the thread that did, libipt as
# many; and the switches by which they do are such as a kernel writes.
percpu_witness() {
	percpu_libipt "$1"
	soft_say "$1/perfcmp" "$E2E/perfcmp.py" "$1/perf.data" "$1/ips" ||
		soft_fail "$1: perf disagrees"
	percpu_switches "$1/perf.data" 1
}
