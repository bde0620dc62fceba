#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Address filters: the numbers that perf makes of the same words, taken by the kernel and kept in
# the file. (The module keeps them and filters nothing: there is no code behind its packets.)
. "$GUEST/lib.sh"

# The n-th text; each with what else it takes.
texts="filter main @$PROG/pingpong
filter main @$PROG/pingpong,tracestop exit @$PROG/pingpong
filter * @$PROG/pingpong
filter 0x1000/64@$PROG/pingpong
filter vfs_read / 0x20
filter vfs_read , filter vfs_write"

target() {
	case $1 in
	*@*) echo "-e intel_pt//u" ;;
	*) echo "-a -e intel_pt//k" ;;
	esac
}

guest() {
	n=0
	echo "$texts" >texts
	while read -r text; do
		n=$((n + 1))
		# shellcheck disable=SC2046 # words
		record f$n -v $(target "$text") --filter "$text" -- "$PROG/pingpong" 200
		# shellcheck disable=SC2046 # words
		auxrec record -v $(target "$text") -o v.data --filter "$text" -- true 2>&1 |
			sed -n 's/^auxrec: address filter: //p' >f$n.ours
		# shellcheck disable=SC2046 # words
		perf record -v -B -N $(target "$text") -o p.data --filter "$text" -- true 2>&1 |
			sed -n 's/^Address filter: //p' >f$n.perf
		[ -s f$n.ours ] || fail "no filter shown for '$text'"
		tr '\n' , <f$n.perf | sed 's/,$//' >f$n.want
		[ "$(cat f$n.ours)" = "$(cat f$n.want)" ] ||
			fail "'$text': perf makes $(cat f$n.want), auxrec $(cat f$n.ours)"
	done <texts
	refused 'has 2' -a --filter 'filter 1/2 filter 3/4 filter 5/6'
	refused 'not with -a or -C' -a --filter "filter main @$PROG/pingpong"
	refused 'user space only' -e intel_pt//u --filter 'filter vfs_read'
	refused 'use filter, or tracestop' --filter 'start vfs_read'
	refused "no function 'nosuch' in the kernel" --filter 'filter nosuch'
	rm -f v.data p.data
}

refused() { # words, argument...
	what=$1
	shift
	auxrec record -o refused.data "$@" -- true 2>refused.err && fail "not refused: $*"
	grep -q -- "$what" refused.err || { cat refused.err; fail "no word of '$what'"; }
	[ ! -e refused.data ] || fail "it left a file"
}

host() {
	n=0
	while read -r text; do
		n=$((n + 1))
		account f$n
		"$PERF" script -D -i f$n.data 2>/dev/null >dump
		grep -qF "$(cat f$n.ours)" dump || fail "'$text' is not in the file"
		"$PERF" script --itrace=w -i f$n.data >ptw 2>&1 || fail "perf cannot decode f$n.data"
		[ "$(grep -c ptwrite: ptw)" -gt 0 ] || fail "perf finds no PTWRITE in f$n.data"
	done <texts
}

"$1"
