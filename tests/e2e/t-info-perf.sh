#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec info` counts what stock perf counts, in files and in pipes that perf wrote.
set -eu
: "${AUXREC:?}"
PERF=${PERF:-perf}

skip() {
	echo "$*"
	exit 77
}
fail() {
	echo "FAILED: $*"
	exit 1
}

command -v python3 >/dev/null || skip "python3 is not installed"
"$PERF" version >/dev/null 2>&1 || skip "'$PERF' does not run"

# The whole machine where this user may, else one program.
if "$PERF" record -o file.data -e dummy:u --switch-events -a -- sleep 0.2 >log 2>&1; then
	all=-a
elif "$PERF" record -o file.data -e dummy:u -- sleep 0.2 >log 2>&1; then
	all=
else
	cat log
	skip "'$PERF' cannot record here: $(head -n 1 log)"
fi

# "NAME count" of each type: the first block of `perf report --stats`. perf has names of its
# own for two of the pipe's records.
perf_counts() {
	awk '/ stats:/ { block++ }
		block == 1 && $2 == "events:" && $1 != "TOTAL" {
			sub(/^(ATTR|FEATURE)$/, "HEADER_&", $1)
			if ($3) print $1, $3
		}' "$1" | sort
}

json() {
	python3 -c '
import json, sys
j = json.load(open(sys.argv[1]))
for key in "file bytes finished source time events records aux lost".split():
	assert key in j, key
for name, n in sorted(j["records"].items()):
	print(name, n)' "$1" | sort
}

field() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' \
		"$1" "$2"
}

compare() {
	perf_counts "$1.perf" >"$1.want"
	json "$1.json" >"$1.got"
	[ -s "$1.want" ] || { cat "$1.perf"; fail "perf counts nothing in $1"; }
	diff "$1.want" "$1.got" || fail "counts of $1 differ (perf: <, info: >)"
}

"$PERF" report --stats -i file.data >file.perf 2>/dev/null
"$AUXREC" info --json file.data >file.json || fail "info of a file ends with $?"
compare file
[ "$(field file.json finished)" = True ] || fail "a finished file is not called so"
[ "$(field file.json source)" = none ] || fail "a file without trace has a source"
[ "$(field file.json bytes)" = "$(($(wc -c <file.data)))" ] || fail "bytes differ"
"$AUXREC" info file.data >file.txt || fail "info as text ends with $?"
grep -q 'dummy:u' file.txt || fail "the event's name is not in the text"

# shellcheck disable=SC2086
"$PERF" record -o - -e dummy:u ${all:+--switch-events} $all -- sleep 0.2 >pipe.data 2>log ||
	fail "perf does not record into a pipe"
# perf 6.1 reads a pipe's bytes from a real pipe only, so it is given one.
# shellcheck disable=SC2002
cat pipe.data | "$PERF" report --stats -i - >pipe.perf 2>/dev/null
# shellcheck disable=SC2002
cat pipe.data | "$AUXREC" info --json - >pipe.json || fail "info of a pipe ends with $?"
compare pipe
"$AUXREC" info --json - <file.data >stdin.json || fail "info of a file on stdin ends with $?"
json stdin.json >stdin.got
cmp file.got stdin.got || fail "a file on stdin is read otherwise than by name"

# A killed perf leaves data.size 0: the same records, no features, not finished.
python3 - <<'END'
import struct
b = bytearray(open("file.data", "rb").read())
at, size = struct.unpack_from("<QQ", b, 40)
del b[at + size:]
struct.pack_into("<Q", b, 48, 0)
open("killed.data", "wb").write(b)
END
"$AUXREC" info --json killed.data >killed.json || fail "info of a killed file ends with $?"
json killed.json >killed.got
cmp file.got killed.got || fail "a killed file has other records"
[ "$(field killed.json finished)" = False ] || fail "a killed file is called finished"
