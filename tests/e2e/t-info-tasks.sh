#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Times on a cpu as `auxrec info` tells them, against what the kernel accounts to a process
# that perf records.
set -u
: "${AUXREC:?}" "${E2E:?}"
. "$E2E/lib.sh"
need_perf
command -v python3 >/dev/null || skip "python3 is not installed"

cat >work.py <<'END'
# Two children that compute for a while, one after the other, and sleep in between.
import os, resource, time
spent = {}
for _ in range(2):
    pid = os.fork()
    if not pid:
        for _ in range(20):
            end = time.process_time() + .01
            while time.process_time() < end:
                pass
            time.sleep(.001)
        os._exit(0)
    _, _, used = os.wait4(pid, 0)
    spent[pid] = used.ru_utime + used.ru_stime
for pid, s in spent.items():
    print(pid, s)
END
check() { # NAME, file
	"$AUXREC" info --json "$2" >"$1.json" || fail "info ends with $?"
	python3 - "$1" <<'END' || fail "$1: times differ"
import json, sys
d = json.load(open(sys.argv[1] + '.json'))
assert 'comm' in d['tasks']['by_time'][0]
have = {t['tid']: t for t in d['tasks']['by_time']}
for line in open('spent'):
    pid, s = line.split()
    t = have[int(pid)]
    ns = t['on_cpu_ns']
    # The kernel accounts by the same switches, but what it steals for interrupts is not
    # in both, and the child's first steps before its name are.
    assert .85 * float(s) < ns / 1e9 < 1.3 * float(s) + .01, (pid, s, t)
    assert t['runs'] >= 20, t
    assert t['comm'].startswith('python3'), t
END
	"$AUXREC" info "$2" >out || fail "info as text ends with $?"
	grep -qE 'on cpu s' out || fail "no table of threads"
	grep -qE 'python3' out || fail "the thread is not in the table"
}

"$PERF" record -o own.data -e dummy:u --switch-events -- python3 work.py >spent 2>log ||
	{ cat log; skip "'$PERF' cannot record here: $(head -n 1 log)"; }
check own own.data
if "$PERF" record -a -o all.data -e dummy:u --switch-events -- python3 work.py >spent 2>log; then
	check all all.data
fi
