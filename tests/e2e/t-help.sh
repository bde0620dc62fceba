#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --help and the manual pages say the same: commands, options with their arguments,
# operands. Pages are compared as rendered, so that their mark-up does not matter.
. "$E2E/lib.sh"
MAN=$E2E/../../man
command -v mandoc >/dev/null || skip "mandoc is not installed"
bad=0

complain() {
	echo "$*"
	bad=1
}

# section PAGE NAME: the lines of one section, without overstrikes.
section() {
	mandoc -Tascii -Owidth=300 "$MAN/$1" | sed "s/.$(printf '\b')//g" |
		sed -n "/^$2\$/,/^[A-Z]/p" | grep '^ '
}

# The first column of an option list on stdin, sorted: "-o, --output=FILE", "--json".
heads() {
	sed -nE 's/^ +((-[A-Za-z0-9], )?--[a-z][^ ]*|-[A-Za-z0-9]( [A-Z][^ ]*)?)( .*)?$/\1/p' |
		sort
}

one_line() {
	tr -s ' \n' ' ' | tr '[:upper:]' '[:lower:]' | sed 's/^ //; s/ $//'
}

# same WHAT: the files `help` and `page` agree.
same() {
	diff help page >differences && return
	complain "$1: --help (<) and the page (>) differ:"
	cat differences
}

check_command() {
	[ -e "$MAN/auxrec-$1.1" ] || {
		complain "$1: there is no man/auxrec-$1.1"
		return
	}
	"$AUXREC" "$1" --help >text || complain "auxrec $1 --help: status $?"
	"$AUXREC" "$1" -h | cmp -s - text || complain "$1: -h and --help differ"
	heads <text >help
	[ -s help ] || complain "auxrec $1 --help lists no option"
	section "auxrec-$1.1" OPTIONS | grep -E '^ {5}-' | heads >page
	same "$1, options"
	sed -n '1s/^usage: //p' text | one_line >help
	section "auxrec-$1.1" SYNOPSIS | one_line >page
	same "$1, synopsis"
	section auxrec.1 DESCRIPTION | grep -qE "^ {5}$1 " ||
		complain "auxrec.1 does not describe $1"
	section auxrec.1 'SEE ALSO' | grep -qF "auxrec-$1(1)" ||
		complain "auxrec.1 does not refer to auxrec-$1(1)"
}

"$AUXREC" --help >text || fail "auxrec --help: status $?"
commands=$(sed -nE 's/^  ([a-z]+) .*/\1/p' text)
[ -n "$commands" ] || fail "auxrec --help lists no command"
for command in $commands; do
	check_command "$command"
done

for page in "$MAN"/auxrec-*.1; do
	name=${page##*/auxrec-}
	echo "$commands" | grep -qxF "${name%.1}" ||
		complain "man/auxrec-$name is of no command"
done
for page in "$MAN"/*; do
	refs=$(sed -nE 's/^\.Xr (auxrec[a-z-]*) ([1-8]).*/\1.\2/p' "$page" | sort -u)
	for ref in $refs; do
		[ -e "$MAN/$ref" ] || complain "man/${page##*/} refers to $ref, which is missing"
	done
done
exit $bad
