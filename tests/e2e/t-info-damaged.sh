#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exit statuses and words of `auxrec info` for files that are not whole, or no files at all.
set -eu
: "${AUXREC:?}"

fail() {
	echo "FAILED: $*"
	cat out err 2>/dev/null || :
	exit 1
}

# expect STATUS ARGS...: that status; nothing on stdout when usage is wrong.
expect() {
	want=$1
	shift
	got=0
	"$AUXREC" info "$@" >out 2>err || got=$?
	[ "$got" = "$want" ] || fail "'info $*' ends with $got, not $want"
}
says() {
	grep -q "$1" "${2:-err}" || fail "'$1' is not in ${2:-err}"
}

# A pipe with one FINISHED_ROUND record.
header='PERFILE2\020\0\0\0\0\0\0\0'
round='\104\0\0\0\0\0\010\0'
# shellcheck disable=SC2059
printf "$header$round" >good

expect 2
says usage
[ -s out ] && fail "usage errors print on stdout"
expect 2 good good
expect 2 --nonsense good
expect 0 --help
says json out

expect 1 missing
says "missing"
[ -s out ] && fail "a missing file leaves output"
expect 1 .
expect 0 good
says "1  FINISHED_ROUND" out
[ -s err ] && fail "a good file has messages"
expect 0 --json good
says '"FINISHED_ROUND": 1' out
expect 0 -- good

: >empty
expect 1 empty
says "byte 0 (0x0)"
echo 'no recording, but some text of a few words' >text
expect 1 text
says "PERFILE2"

# What never ends and cannot be a recording is refused by its beginning; fifos in a directory
# are not waited for.
endless() {
	got=0
	timeout 20 "$AUXREC" "$@" >out 2>err || got=$?
	[ $got = 1 ] || fail "'$*' ends with $got, not 1"
}
for c in info check 'check --decode' dump recover 'export --to=libipt -o x'; do
	# shellcheck disable=SC2086
	endless $c /dev/zero
done
yes PERFILE2 | tr -d '\n' | endless info -
says 'byte 8 (0x8): expected a header size'
# A file that is longer than what one read of a pipe yields is no such thing.
long=$E2E/../corpus/autofdo/perf-kernel.data
"$AUXREC" dump "$long" >as-file || fail "a long file"
# shellcheck disable=SC2002
cat "$long" | "$AUXREC" dump - >as-stream || fail "a long file as a stream"
cmp as-file as-stream || fail "a long file is cut as a stream"
mkdir fifos
mkfifo fifos/data
endless info fifos
says "'fifos' is no recording: it has no file 'data'"

# Damage is named with its place, and what stands before it is shown.
# shellcheck disable=SC2059
printf "$header$round"'\011\0\0\0\0\0\0\0' >zero
expect 1 zero
says "byte 24 (0x18)"
says "1  FINISHED_ROUND" out
# shellcheck disable=SC2059
printf "$header$round"'\011\0\0\0\0\0\020\0' >short
expect 1 --json short
says "byte 24 (0x18)"
says '"FINISHED_ROUND": 1' out
says '"at": 24' out
says '"whole_to": 24' out

# Text from a file cannot command the terminal: HEADER_FEATURE hostname "\033[2J".
# shellcheck disable=SC2059
printf "$header"'\120\0\0\0\0\0\034\0\003\0\0\0\0\0\0\0\010\0\0\0\033[2J\0\0\0\0' >escape
expect 0 escape
says 'host  *?\[2J' out
# JSON is UTF-8, whatever the file has.
# shellcheck disable=SC2059
printf "$header"'\120\0\0\0\0\0\034\0\003\0\0\0\0\0\0\0\010\0\0\0a\377b\0\0\0\0\0' >latin
expect 0 --json latin
says '"name": "a?b"' out
