#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Code that a program makes: all decoders find what ran, from the files beside the recording, and
# perf inject --jit finds the jitdump among them, from which perf decodes the same with names.
set -eu
. "$E2E/soft.sh"
soft_begin

# sound DIR: our own decoder misses nothing, and decodes as many instructions as are listed.
sound() {
	"$AUXREC" check --decode --json "$1/perf.data" >"$1/check" || soft_fail "$1: check ends with $?"
	python3 - "$1" <<'PY' || soft_fail "$1: check --decode tells something else"
import glob, json, os, sys
d = json.load(open(sys.argv[1] + '/check'))
d = d.get('decode', d)
listed = sum(os.path.getsize(n) for n in glob.glob(sys.argv[1] + '/ips/*')) // 8
assert d['instructions'] == listed and not d['missing'], (d['instructions'], listed, d['missing'])
PY
}

# injected DIR: what perf makes of the jitdump files.
injected() {
	"$PERF" inject --jit -i "$1/perf.data" -o "$1/injected" >"$1/inject" 2>&1 ||
		{ cat "$1/inject"; soft_fail "$1: perf inject --jit"; }
	soft_say "$1/perfcmp-j" "$E2E/perfcmp.py" "$1/injected" "$1/ips" ||
		soft_fail "$1: perf decodes other instructions from the jitdump"
	"$PERF" script -i "$1/injected" --itrace=i1i -F ip,sym,dso >"$1/script" 2>/dev/null
	grep -q ' code-[0-9a-f]*000\.[0-9]* .*/jitted-' "$1/script" || soft_fail "$1: no names"
	! grep -q 'perf.data.jit/code-' "$1/script" || soft_fail "$1: not all code is named"
}

for how in rwx wx memfd; do
	soft_check "$how" "$PROG/jit" "$how"
	soft_lists "$how" 2
	injected "$how"
	for dir in "$how" "$how.step"; do
		sound "$dir"
		grep -q "code that is in no file: .* in '.*/$dir/perf.data.jit'" "$dir/err" ||
			soft_fail "$dir: not told"
	done
done

# It is the user's alone, as the recording.
[ "$(stat -c %a rwx/perf.data.jit)" = 700 ] || soft_fail "others may look into perf.data.jit"

# What was moved together is still found by us.
mkdir -p moved elsewhere
"$AUXREC" record --source=soft --soft-ips moved -o r.data -- "$PROG/jit" >/dev/null 2>err ||
	soft_fail "r.data"
mv r.data r.data.jit elsewhere
"$AUXREC" check --decode elsewhere/r.data >said || { cat said; soft_fail "moved, and not found"; }
(cd elsewhere && "$AUXREC" check --decode r.data >said) || soft_fail "not found from there"
rm elsewhere/r.data.jit/code-*
! "$AUXREC" check --decode elsewhere/r.data >said || soft_fail "decoded out of nothing"

# Other bytes are noticed, and so is their absence.
cp -R rwx other
for code in other/perf.data.jit/code-*; do
	python3 - "$PWD/rwx/perf.data.jit/${code##*/}" <<'PY'
import sys
with open(sys.argv[1], 'r+b') as f:
    f.seek(4096)
    rest = bytearray(f.read())
    for i in range(len(rest)):
        rest[i] = 0xc3 if rest[i] == 0x74 else rest[i]  # jz becomes ret
    f.seek(4096)
    f.write(rest)
PY
done
! "$TOOLS/ptflow" rwx/perf.data rwx/ips >said || soft_fail "libipt does not see other code"
! "$E2E/perfcmp.py" rwx/perf.data rwx/ips >said || soft_fail "perf does not see other code"
rm -rf rwx/perf.data.jit
! "$TOOLS/ptflow" rwx/perf.data rwx/ips >said || soft_fail "libipt needs no code"
status=0
"$AUXREC" check --decode rwx/perf.data >said || status=$?
[ "$status" = 4 ] || soft_fail "check ends with $status without the code"
grep -q 'perf.data.jit/code-.*no such file' said || { cat said; soft_fail "not told as missing"; }

# The code goes with a recording that becomes the old one; what went before goes away, but nothing
# that is not ours.
again() {
	rm -rf again-ips
	mkdir again-ips
	"$AUXREC" record --source=soft --soft-ips again-ips -o again -- "$@" >/dev/null 2>err ||
		soft_fail "again: $(cat err)"
}
again "$PROG/jit"
first=$(ls again.jit)
again "$PROG/jit"
[ "$(ls again.old.jit)" = "$first" ] || soft_fail "the old recording's code: $(ls again*)"
second=$(ls again.jit)
[ "$(echo "$second" | wc -l)" = "$(echo "$first" | wc -l)" ] || soft_fail "left there: $second"
for file in again again.old; do
	"$AUXREC" check --decode "$file" >said || { cat said; soft_fail "$file, its code was moved"; }
done
again true
[ ! -e again.jit ] || soft_fail "code of a recording that has none"
[ "$(ls again.old.jit)" = "$second" ] || soft_fail "an older recording's: $(ls again.old.jit)"
"$AUXREC" check --decode again.old >said || { cat said; soft_fail "again.old"; }
again "$PROG/jit"
[ ! -e again.old.jit ] || soft_fail "code of an old recording that has none"
mkdir again.old.jit
touch again.old.jit/mine again.old.jit/code-1x
again true
[ "$(ls again.old.jit)" = "$(printf 'code-1x\nmine')" ] || soft_fail "removed what is not ours"
"$AUXREC" check --decode again.old >said || { cat said; soft_fail "its code is not where it was"; }

# A flight's snapshot has the code that it needs.
mkdir -p flight/ips
"$AUXREC" record --source=soft --flight=e,64K --soft-ips flight/ips -o flight/perf.data -- \
	"$PROG/jit" >/dev/null 2>flight/err || soft_fail "flight"
sound flight

# A program that tells of its code itself is left alone; a stream has no place.
soft_record own "$PROG/jit" own || soft_fail "own: ends with $?"
! "$TOOLS/ptflow" own/perf.data own/ips >said || soft_fail "nobody has its code, and all decode it"
[ ! -e own/perf.data.jit ] || soft_fail "a second jitdump"
"$AUXREC" record --source=soft -o - -- "$PROG/jit" 2>err | cat >stream
grep -q 'was not kept: met [0-9]* times (a stream has no place for it)' err ||
	{ cat err; soft_fail "a stream: not told"; }

# A real one, where it is there.
HOME=$PWD
export HOME
"$E2E/vdso.py" "$HOME" || soft_skip "no vdso"
if echo abab | grep -qP '^(ab)+$' 2>/dev/null; then
	seq 1 40 >numbers
	soft_check pcre grep -cP '^(1|2)+(\d)\2$' numbers
	sound pcre
fi
