#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The software source across files: each decodes alone without a byte left over, and together
# they have every instruction once.
# shellcheck disable=SC2016
set -eu
. "$E2E/lib.sh"
. "$E2E/soft.sh"
soft_begin

mkdir ips
want=0
set -- sh -c 'for i in 1 2 3; do "$0" 1000; sleep 0.3; done; exec "$0" 1000' "$PROG/threads"
"$@" >plain || want=$?
status=0
"$AUXREC" record --source=soft --soft-ips ips --switch-output=1K -o r -- "$@" \
	>out 2>err || status=$?
[ "$status" = "$want" ] || { cat err; soft_fail "record ended with $status, not $want"; }
n=$(find . -name 'r.*.data' | wc -l)
[ "$n" -ge 3 ] || soft_fail "only $n files"
for f in $(in_order r); do
	"$AUXREC" check --decode "$f" >found || { cat found; soft_fail "$f does not decode"; }
	! grep -q AUXTRACE found || soft_fail "$f"
	awk '/undecodable/ { on = 1; next } !NF { on = 0 } on && $5 { bad = 1 } END { exit bad }' \
		found || { cat found; soft_fail "$f has bytes that cannot be decoded"; }
	"$AUXREC" info --json "$f" >j
	python3 -c 'import json, sys
d = json.load(open("j"))
sys.exit(not d["finished"])' || soft_fail "$f is not finished"
	"$AUXREC" dump "$f" >dump
	[ "$(grep -c ' ITRACE_START ' dump)" = \
		"$(sed -n 's/.* AUXTRACE .* tid=\([0-9]*\).*/\1/p' dump | sort -u | wc -l)" ] ||
		soft_fail "$f: not one ITRACE_START for each queue"
done
# shellcheck disable=SC2046
soft_say joined "$E2E/rotated.py" $(in_order r) || soft_fail "the streams do not join"
# shellcheck disable=SC2046
soft_say cmp "$E2E/perfcmp.py" $(in_order r) ips || soft_fail "perf disagrees"
! "$E2E/perfcmp.py" r.1.data ips >/dev/null || soft_fail "the first file has all: nothing was tested"
grep -c same cmp

# Snapshots in files of their own: each has what the queues hold, whoever had it before.
"$AUXREC" record --source=soft --flight=e,64K --max-snapshots=2 -o f -- sh -c "
	for i in 1 2 3; do
		'$PROG/mini'
		kill -USR2 \$PPID
		until [ -e f.\$i.data ]; do sleep 0.05; done
	done
	'$PROG/mini'
	exit 0" \
	>out 2>err || { cat err; soft_fail "record --flight"; }
[ "$(find . -name 'f.*.data' | wc -l)" = 2 ] || soft_fail "not two files"
for f in f.3.data f.4.data; do
	"$AUXREC" check --decode "$f" >found || { cat found; soft_fail "$f does not decode"; }
	[ "$(grep -c ' mini$' found)" -ge 3 ] || { cat found; soft_fail "$f has not all of it"; }
done
