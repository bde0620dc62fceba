#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whatever is done to a file, stock perf reads what is recovered and finds the records that
# are whole, byte for byte; of trace that is cut it decodes what precedes the cut. FULL=1
# cuts at every byte of the first 64 KiB and at 2000 random places (make torture).
: "${AUXREC:?}" "${PROG:?}" "${E2E:?}"
# shellcheck source=tests/e2e/lib.sh
. "$E2E/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
need_perf
if [ -e "$E2E/../corpus/INDEX.tsv" ]; then
	python3 "$E2E/recover.py" corpus || exit 1
fi
# Trace in several pieces: it waits now and then.
"$AUXREC" record -q --source=soft -o soft -- "$PROG/spin" 500 5 >words 2>&1 ||
	skip "cannot record in software: $(tail -n 1 words)"
python3 "$E2E/recover.py" damage soft || exit 1
python3 "$E2E/recover.py" flow soft 5 || exit 1
python3 "$E2E/recover.py" cuts soft 10 || exit 1
[ -n "${FULL:-}" ] || exit 0
"$AUXREC" record -q --source=none -o switches -- "$PROG/pingpong" 500 >/dev/null 2>&1
"$AUXREC" record -q --source=soft -o large -- ls /usr/bin >/dev/null 2>&1
python3 "$E2E/recover.py" cuts soft all || exit 1 # trace: each byte makes another file
python3 "$E2E/recover.py" cuts switches all || exit 1
python3 "$E2E/recover.py" cuts large 2000 || exit 1
python3 "$E2E/recover.py" flow large 100
