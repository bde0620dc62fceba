#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `auxrec check`: its words and statuses, recordings of our own, and a file with one thing
# wrong after the other.
. "$E2E/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"

# ---- words and statuses ----
header='PERFILE2\020\0\0\0\0\0\0\0'
round='\104\0\0\0\0\0\010\0'
# shellcheck disable=SC2059
printf "$header$round" >good
# shellcheck disable=SC2059
printf "$header$round"'\011\0\0\0\0\0\0\0' >zero
# shellcheck disable=SC2059
printf "$header$round"'\110\0\0\0\0\0\150\0' >error # AUXTRACE_ERROR
head -c 96 /dev/zero >>error

want 2 "$AUXREC" check
said usage
want 2 "$AUXREC" check good good
want 0 "$AUXREC" check --help
want 1 "$AUXREC" check missing
said "cannot read 'missing'"
[ ! -s out ] || fail "a missing file leaves output"
mkdir empty
want 1 "$AUXREC" check empty
said "'empty'"

want 0 "$AUXREC" check good
[ "$(cat out)" = "good: sound" ] || fail "the verdict of a good file is $(cat out)"
want 0 "$AUXREC" check - <good
[ "$(cat out)" = "-: sound" ] || fail "the verdict of a stream is $(cat out)"
want 1 "$AUXREC" check zero
head -n 1 out | grep -q 'zero: damaged at byte 24 (0x18): found .*, expected .*' ||
	fail "the verdict of a damaged file is $(cat out)"
[ ! -s err ] || fail "a damaged file has messages: $(cat err)"
want 4 "$AUXREC" check error
grep -q '^error: sound, with losses$' out || fail "the verdict of a file with losses"
want 1 "$AUXREC" check good/
: >none
want 1 "$AUXREC" check none
echo 'no recording, but some text of a few words' >text
want 1 "$AUXREC" check text
grep -q 'expected the magic PERFILE2' out || fail "text is taken for something"

# JSON says the same.
want 1 "$AUXREC" check --json zero
[ "$(json out 'd["verdict"], d["records"], d["findings"][0]["at"]')" = "('damaged', 1, 24)" ] ||
	fail "JSON of a damaged file: $(cat out)"
want 4 "$AUXREC" check --json error
[ "$(json out 'd["verdict"], d["findings"][0]["kind"]')" = "('losses', 'aux-error')" ] ||
	fail "JSON of a file with losses: $(cat out)"

# Every finding is in the manual.
sed -nE 's/^\t\[CHECK_[A-Z_0-9]+\] = \{ "([a-z0-9-]+)", CHECK_.*/\1/p' \
	"$E2E/../../recorder/check_found.c" >kinds
[ "$(wc -l <kinds)" -gt 40 ] || fail "no kinds in the source"
while read -r kind; do
	grep -qE "^\.It Sy (.* , )?$kind( ,|\$)" "$E2E/../../man/auxrec-check.1" ||
		fail "'$kind' is not in the manual"
done <kinds

# Text of a file cannot command the terminal.
# shellcheck disable=SC2059
printf "$header"'\120\0\0\0\0\0\034\0\003\0\0\0\0\0\0\0\010\0\0\0\033[2J\033[2J' >escape
"$AUXREC" check escape >out 2>&1
grep -q "$(printf '\033')" out && fail "an escape goes through"

# ---- one thing wrong after the other ----
python3 "$E2E/omissions.py" || fail "omissions"

# ---- recordings of our own ----
# The statuses are those of the programs.
"$AUXREC" record -q --source=soft -o soft.data -- "$PROG/forkexec" >log 2>&1
if [ -s soft.data ]; then
	sound soft.data
	"$AUXREC" record -q --source=soft -z -o softz.data -- "$PROG/threadexec" >log 2>&1
	sound softz.data
	"$AUXREC" record -q --source=soft -o - -- "$PROG/threads" 2>log >pipe.data
	sound pipe.data
	# shellcheck disable=SC2002
	cat pipe.data | "$AUXREC" check - >out || fail "a stream of ours is not sound"
	# Cut anywhere behind its head it is an interrupted or a damaged one, never sound.
	for n in 5000 9000 20000; do
		head -c $n soft.data >cut.data
		want 1 "$AUXREC" check cut.data
	done
else
	echo "no soft recording here: $(head -n 1 log)"
fi
# Losses of a busy machine aside.
got=0
"$AUXREC" record -q -a --source=none -o all.data -- sleep 0.3 >log 2>&1 || got=$?
case $got in
0) sound all.data ;;
4) want 4 "$AUXREC" check all.data ;;
*) echo "no recording of all cpus here: $(head -n 1 log)" ;;
esac
