#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who reads trace core by core finds in an exported recording by cpu what each thread executed: libipt
# with side bands, by the lines that are exported; and LLDB, where there is one that reads traces.
set -eu
. "$E2E/soft.sh"
. "$E2E/percpu.sh"
soft_begin
mkdir bin
ln -s "$TOOLS/ptlines" bin/ptxed
ln -s "$TOOLS/ptlines" bin/ptdump

# record DIR CMD...: and its export.
record() {
	dir=$1
	shift
	mkdir -p "$dir/ips" "$dir/x" "$dir/cpus"
	"$AUXREC" record --source=soft --per-cpu --soft-ips "$dir/ips" -o "$dir/perf.data" -- "$@" \
		>"$dir/out" 2>"$dir/err" || true # they end with a status of their own
	"$AUXREC" export --to=libipt -o "$dir/x/e" "$dir/perf.data" 2>"$dir/err2" || {
		cat "$dir/err" "$dir/err2"
		soft_fail "$dir: export"
	}
}

# libipt DIR: what it finds of each cpu is what perf finds there, one address behind the other; and
# that is, thread by thread, what was executed.
libipt() {
	PATH=$PWD/bin:$PATH PTLINES_IPS=$PWD/$1/cpus sh "$1/x/e.cmds.txt" >"$1/said" 2>&1 || {
		cat "$1/said"
		soft_fail "$1: the lines of e.cmds.txt fail"
	}
	"$PERF" script -i "$1/perf.data" --itrace=i1i -F pid,tid,cpu,ip >"$1/perf" 2>"$1/words" ||
		soft_fail "$1: perf script"
	python3 - "$1" <<'END' || soft_fail "$1: libipt disagrees"
import array, json, os, re, sys
folder = sys.argv[1]
cpus, threads = {}, {}
for line in open(folder + '/perf'):
    pid, tid, cpu, ip = re.match(r'\s*(\d+)/(\d+)\s+\[(\d+)\]\s+([0-9a-f]+)', line).groups()
    cpus.setdefault(int(cpu), array.array('Q')).append(int(ip, 16))
    threads.setdefault(f'{pid}.{tid}', array.array('Q')).append(int(ip, 16))
queues = json.load(open(folder + '/x/e.json'))['queues']
for q in queues:
    got = open(f"{folder}/cpus/{q['file']}", 'rb').read()
    if q['tid'] is not None or got != cpus[q['cpu']].tobytes():
        sys.exit(f"cpu {q['cpu']}: {len(got) // 8} instructions, perf {len(cpus[q['cpu']])}")
    print('cpu', q['cpu'], len(got) // 8, 'instructions')
for name in os.listdir(folder + '/ips'):
    want = open(f'{folder}/ips/{name}', 'rb').read()
    if want and threads[name].tobytes() != want:
        sys.exit(f'{name}: perf {len(threads[name])}, listed {len(want) // 8}')
sys.exit(len(queues) != len(cpus) or not cpus)
END
}

record turns "$PROG/turns" 6 30
libipt turns
percpu_switches turns/perf.data "$(percpu_cpus)"
for p in forkexec threads; do
	record $p "$PROG/$p"
	libipt $p
done

# An lldb that knows such traces tells their schema.
for lldb in "${LLDB:-}" lldb lldb-22 lldb-23 ''; do
	[ -z "$lldb" ] || ! timeout 60 "$lldb" --no-lldbinit -b -o 'trace schema intel-pt' 2>/dev/null |
		grep -q contextSwitchTrace || break
done
if [ -z "$lldb" ]; then
	echo "no lldb here reads traces of Intel PT: without it"
	exit 0
fi
"$E2E/lldbbundle.py" turns/x/e
soft_say lldb "$E2E/lldbcmp.py" "$lldb" turns/x/e.lldb.json turns/ips || soft_fail "lldb disagrees"
cat lldb
# The negative control: of another recording.
! "$E2E/lldbcmp.py" "$lldb" turns/x/e.lldb.json threads/ips >/dev/null 2>&1 ||
	soft_fail "any list is right"
