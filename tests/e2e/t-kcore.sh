#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --kcore: a directory that perf takes, with the kernel's code as it is in memory. What this
# machine does not have, g-kcore.sh tests in a guest.
. "$E2E/lib.sh"

# What fails leaves nothing, and says why.
want 2 "$AUXREC" record --kcore --source=none -o - -- true
said "-o - cannot be one"
mkdir letters
: >letters/letter
want 1 "$AUXREC" record --kcore --source=none -o letters -- true
said "cannot create 'letters': Is a directory"
if [ ! -r /proc/kcore ] || ! head -c 64 /proc/kcore >/dev/null 2>&1; then
	want 3 "$AUXREC" record --kcore --source=none -o d -- true
	said "cannot copy the kernel's code: '/proc/kcore'"
	[ "$(ls)" = "$(printf '%s\n' err letters out)" ] || fail "left behind: $(ls)"
	skip "/proc/kcore is not there or not readable: $(head -n 1 err)"
fi

need_perf
want 0 "$AUXREC" record --kcore --source=none -o d -- true
[ "$(stat -c %a d d/data d/kcore_dir d/kcore_dir/* | sort -u | xargs)" = "600 700" ] ||
	fail "modes: $(ls -lR d)"
perf_accepts d
"$PERF" report -i d >/dev/null 2>err || { cat err; fail "perf report refuses d"; }
want 0 "$AUXREC" info d
python3 "$E2E/kcore.py" d/kcore_dir/kcore /proc/kcore 4096 || fail "not the kernel's code"
want 0 "$AUXREC" record --kcore --source=none -o d -- true
[ -s d.old/data ] || fail "the earlier directory is not kept"
if "$PERF" record -q --kcore -e dummy -o p -- true >/dev/null 2>&1; then
	python3 "$E2E/kcore.py" d/kcore_dir/kcore p/kcore_dir/kcore 65536 || fail "not as perf's"
fi
